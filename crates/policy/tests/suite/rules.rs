//! Every rule tells when it acts: one story per rule, and no rule without a story.

use crate::common::*;
use segue_policy::rules::{ETCP_RULES, Rule};
use segue_policy::{Action, Settings};

/// Indices into `ETCP_RULES`, which are also the bits.
fn told(act: Action) -> Vec<usize> {
    (0..ETCP_RULES.len()).filter(|&index| act.rules & ETCP_RULES[index].bit != 0).collect()
}

/// Packets 100 to 138 are under way to a path that holds 11.
fn reduced() -> (Settings, segue_policy::Etcp, Action) {
    let settings = scheme("etcp:a2");
    let (act, flow) = hear(&settings, &sender(39), &mbb("6400/9", "200/300"));
    (settings, flow, act)
}

/// 2000/50 to 54000/2: phase (c) of Figure 3, D-SACKs not yet in.
fn reordering() -> (Settings, segue_policy::Etcp, [Action; 2]) {
    let settings = scheme("etcp-v1");
    let tcp = sender(12);
    let (heard, mut flow) = hear(&settings, &tcp, &mbb("2000/50", "54000/2"));
    (0..3).for_each(|_| assert_eq!(flow.on_dup_ack(&settings, &tcp).rules, 0));
    let held = flow.on_fast_retransmit(&settings, &tcp);
    (settings, flow, [heard, held])
}

/// All that the stories below tell, by rule.
fn stories() -> Vec<(usize, Action)> {
    let mut told = Vec::new();
    // 2.1: RTO 200 ms is less than the ACKs' way; then 440 ms in recovery; then 850 ms
    let slow = |rto_us, tcp| segue_policy::Sender { rto_us, ..tcp };
    let a1 = scheme("etcp:a1");
    told.push((0, hear(&a1, &sender(21), &mbb("6400/9", "200/300")).0));
    told.push((1, hear(&a1, &slow(440_000, in_fast_recovery(sender(23))), &mbb("1600/75", "1600/300")).0));
    told.push((2, hear(&a1, &slow(850_000, sender(21)), &mbb("1600/75", "200/300")).0));
    let (_, mut flow) = hear(&a1, &sender(21), &mbb("6400/9", "200/300"));
    told.push((3, flow.on_new_ack(&a1, &acked_to(sender(21), 121))));
    told.push((4, flow.on_rtt_sample(&a1, &sender(21), 121)));
    // 2.2, 2.3
    let (settings, mut flow, act) = reduced();
    told.push((6, act));
    told.push((7, hear(&scheme("etcp:a5"), &sender(39), &mbb("6400/9", "200/300")).0));
    told.push((8, flow.on_fast_retransmit(&settings, &sender(39))));
    told.push((9, flow.on_timeout(&settings, &sender(39))));
    // 2.4, 2.5
    told.push((10, hear(&scheme("etcp:a3"), &in_rto(sender(5)), &bbm("6400/9", "200/300")).0));
    let (act, mut flow) = hear(&scheme("etcp:a4"), &sender(5), &mbb("200/300", "6400/9"));
    told.push((11, act));
    told.push((5, flow.on_rtt_sample(&scheme("etcp:a4"), &sender(5), 104)));
    // 3.1, 3.2
    told.push((12, hear(&scheme("etcp:fig1"), &sender(39), &mbb("6400/9", "200/300")).0));
    told.push((13, hear(&scheme("etcp:fig2"), &in_rto(sender(5)), &bbm("6400/9", "200/300")).0));
    // 3.3
    told.push((14, hear(&scheme("etcp:fig3"), &sender(40), &mbb("1600/75", "3200/18")).0));
    let (settings, mut flow, [heard, held]) = reordering();
    told.push((15, heard));
    told.push((16, held));
    let tcp = in_fast_recovery(sender(12));
    told.push((17, flow.on_dup_ack(&settings, &tcp)));
    flow.on_dsack(&settings, 100, 101);
    let halved = segue_policy::Sender { cwnd: packets(6), ..acked_to(tcp, 112) };
    let drained = flow.on_new_ack(&settings, &halved);
    told.push((19, drained));
    told.push((20, drained));
    let (settings, mut flow, _) = reordering();
    let last = (0..40).map(|_| flow.on_dup_ack(&settings, &tcp)).find(|act| act.rules & (1 << 18) != 0);
    told.push((18, last.expect("more duplicate ACKs than 27")));
    // 3.5
    told.push((21, hear(&scheme("etcp:convergence"), &sender(5), &mbb("6400/9", "200/300")).0));
    told
}

#[test]
fn every_rule_tells_when_it_acts() {
    let stories = stories();
    for (index, act) in &stories {
        let Rule { name, section, says, .. } = ETCP_RULES[*index];
        assert!(told(*act).contains(index), "{name} ({section}): {says}: told {:?}", told(*act));
    }
    for (index, rule) in ETCP_RULES.iter().enumerate() {
        assert_eq!(rule.bit, 1 << index);
        assert!(stories.iter().any(|(told, _)| *told == index), "no story of rule {index}, {}", rule.name);
    }
}

/// A rule that does not act is not told of.
#[test]
fn silence_is_silence() {
    assert_eq!(hear(&scheme("etcp"), &sender(21), &mbb("6400/9", "6400/9")).0.rules, 0);
    let (settings, mut flow, _) = reduced();
    let tcp = acked_to(sender(39), 139);
    assert_eq!(told(flow.on_new_ack(&settings, &tcp)), []);
    assert_eq!(told(flow.on_fast_retransmit(&settings, &segue_policy::Sender { snd_una: 139, ..tcp })), []);
}
