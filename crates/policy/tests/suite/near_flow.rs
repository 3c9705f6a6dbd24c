//! Section 8 of docs/reference/near.md: claims of one flow that decides alone (`policy/near_flow.h`).

use crate::common::near_vectors::{
    NearAnswer, NearEvent, near_expected, near_flow, near_rate_probe, near_sender, near_shares, near_spare,
};
use crate::common::*;
use proptest::prelude::*;
use segue_policy::headers::{ClaimEnd, Flow, near};
use segue_policy::{Action, Link, Notice, Out, Sender, What, grant};

/// The lists that `crates/kernel/tests/vectors.rs` plays in a loaded program.
#[test]
fn one_flow_alone() {
    let mut flow = near().start();
    let all = [near_flow(), near_rate_probe(), near_shares(), near_spare(), near_expected()].concat();
    for (step, (event, answer)) in all.into_iter().enumerate() {
        let found = match event {
            NearEvent::Notice(notice, flight) => {
                NearAnswer::of(&flow.on_notice(&near_sender(100, flight), &notice))
            }
            NearEvent::Expected(notice, flight) => {
                NearAnswer::of(&flow.on_expected(&near_sender(100, flight), &notice))
            }
            NearEvent::NewAck(una) => NearAnswer::of(&flow.on_new_ack(&near_sender(una, 5))),
            NearEvent::FastRetransmit(una) => NearAnswer::of(&flow.on_fast_retransmit(&near_sender(una, 5))),
            NearEvent::Timeout(una) => NearAnswer::of(&flow.on_timeout(&near_sender(una, 5))),
            NearEvent::Send(out) => flow.claim(&out).map_or_else(NearAnswer::Ends, NearAnswer::Lasts),
        };
        assert_eq!(found, answer, "step {step}: {event:?}");
    }
}

/// 8.8: the first reduction ends a claim, except on an oversubscribed path: there the flows overflow a short queue by
/// themselves. A window that was raised without a disconnection is refuted by it in any case.
#[test]
fn a_reduction_ends_no_claim_on_an_oversubscribed_path() {
    let goes_on = |notice: &Notice, flows, cwnd| {
        let mut flow = near().start();
        let sender = Sender { cwnd: packets(cwnd), ..near_sender(100, 0) };
        flow.on_notice(&sender, &Notice { flows, ..*notice });
        flow.listens()
    };
    let short = bbm("6400/9", "200/9");
    // W is 2: two flows have 2 * (1 + 2) packets out, and 4 fill the path and a queue as long.
    assert_eq!([1, 2, 8].map(|flows| goes_on(&short, flows, 1)), [false, true, true]);
    // W is 11: four flows have 4 * (3 + 2) of 22, eight have 8 * (2 + 2).
    let long = bbm("6400/9", "6400/9");
    assert_eq!([4, 8].map(|flows| goes_on(&long, flows, 1)), [false, true]);
    let unbroken = mbb("200/9", "6400/9");
    assert_eq!([1, 2].map(|cwnd| goes_on(&unbroken, 8, cwnd)), [false, true]);
}

/// 8.5: 25.565 ms show no competing traffic. Every other round trip is 10 ms longer than the rest, so that the mean is
/// 5 ms above the least. A quarter of the reported 19.94 ms counts, at most.
#[test]
fn jitter_shows_no_competing_traffic() {
    let goes_on = |round_trips: [u32; 2]| {
        let mut flow = near().start();
        flow.on_notice(&near_sender(100, 0), &bbm("6400/9", "6400/9"));
        (1..400).zip(round_trips.into_iter().cycle()).all(|(elapsed_ms, rtt_us)| {
            let now_us = 1000 * elapsed_ms;
            flow.claim(&Out { snd_una: 100, unit: 1, elapsed_ms, now_us, rtt_us, ..Out::default() }).is_ok()
        })
    };
    assert!(goes_on([25_565; 2]) && !goes_on([27_000; 2]));
    assert!(goes_on([27_000, 37_000]) && goes_on([30_500, 40_500]));
    assert!(!goes_on([31_000, 41_000]));
}

/// A claim of 6400kbit/9ms -> 6400kbit/9ms or another handoff, with a round trip in each millisecond. Extra packets and
/// pace by then; the last entry is the packets that the claim's end leaves beside the window, if it ends.
fn claims(notice: &Notice, round_trips: impl IntoIterator<Item = u32>) -> Vec<Result<(u32, u32), ClaimEnd>> {
    let mut flow = near().start();
    flow.on_notice(&near_sender(100, 0), notice);
    let mut answers = Vec::new();
    for (elapsed_ms, rtt_us) in (1..).zip(round_trips) {
        let now_us = 1000 * elapsed_ms + 500_000;
        let out = Out {
            snd_una: 100,
            unit: 1,
            granted: 200,
            elapsed_ms,
            now_us,
            sent_us: now_us - rtt_us,
            rtt_us,
            ..Out::default()
        };
        answers.push(flow.claim(&out).map(|claim| (claim.extra_packets, claim.kbps)));
        if answers.last().is_some_and(Result::is_err) {
            break;
        }
    }
    answers
}

/// 8.12: the round trip jumps from 20 to 34 ms. It stays at 30 ms, so that the mean excess approaches 10 ms. The window is
/// that of 20 + 20 ms: 20.9 packets instead of 10.6. A queue that grows by a packet in each slot does not jump.
#[test]
fn a_link_with_jitter_has_a_larger_window() {
    let extra = |notice: &Notice, round_trips: &mut dyn Iterator<Item = u32>| {
        let answers = claims(notice, round_trips.take(60));
        answers.last().expect("some").expect("it lasts").0
    };
    let path = bbm("6400/9", "6400/9");
    let jumps = || [20_000, 34_000].into_iter().chain(std::iter::repeat(30_000));
    assert_eq!(extra(&path, &mut std::iter::repeat(20_000)), 2);
    assert_eq!(extra(&path, &mut jumps()), 10 + 2);
    assert_eq!(extra(&path, &mut (0..).map(|packet| 20_000 + packet * 1_875)), 2);
    // 9 ms are 4.8 slots. They are four ticks of the clock, one of which does not count: 6.1 ms.
    assert_eq!(extra(&path, &mut [20_000, 29_000].into_iter().cycle()), 2);
    // The notice has raised the window without an outage.
    let raised = mbb("200/300", "6400/9");
    assert_eq!(extra(&raised, &mut jumps()), 2);
}

/// 8.12: rounds of 100 ms without competing traffic. The second in a row lets the clock take a step, and so does each that
/// follows.
#[test]
fn a_link_with_jitter_is_looked_at_by_rounds() {
    let answers = claims(&bbm("6400/9", "6400/9"), [20_000, 34_000].into_iter().cycle().take(420));
    let pace = |ms: usize| answers[ms - 1].expect("it lasts").1;
    assert_eq!([99, 150, 250, 350].map(pace), [6400, 6400, 8000, 10_000]);
}

/// 8.12: competing traffic slows the flow down by an eighth in each of four rounds. The fifth ends the claim. It leaves the
/// packets of 39.88 ms, which are two reported round trips, and of twice the jitter of 29 ms: 52 instead of 10.
#[test]
fn competing_traffic_slows_down_before_it_ends_a_claim_with_jitter() {
    let round_trips = || std::iter::once(60_000).chain(std::iter::repeat_n(90_000, 9));
    let answers = claims(&bbm("6400/9", "6400/9"), std::iter::repeat_with(round_trips).flatten().take(600));
    let pace = |ms: usize| answers[ms - 1].expect("it lasts").1;
    assert_eq!([150, 250, 350, 450].map(pace), [7, 6, 5, 4].map(|eighths| 6400 * eighths / 8));
    assert_eq!(answers.len(), 504);
    let end = *answers.last().expect("some");
    assert_eq!(end, Err(ClaimEnd { competing_traffic: true, extra_packets: 42 }));
}

/// 8.5: round trips that nothing explains end a claim after two rounds of 100 ms. One of 39.88 ms, two round trips of the
/// path, is enough where the notice has raised the window without an outage. A receiver that lies would gain by more.
#[test]
fn a_raise_without_an_outage_is_refuted_by_one_round() {
    let ends = |notice: &Notice, cwnd| {
        let mut flow = near().start();
        flow.on_notice(&Sender { cwnd: packets(cwnd), ..near_sender(100, 0) }, notice);
        (1..400).find(|&elapsed_ms| {
            let now_us = 1000 * elapsed_ms;
            flow.claim(&Out { snd_una: 100, unit: 1, elapsed_ms, now_us, rtt_us: 90_000, ..Out::default() })
                .is_err()
        })
    };
    let [unbroken, outage] = [mbb("200/9", "6400/9"), bbm("200/9", "6400/9")];
    assert_eq!(ends(&unbroken, 10), Some(40));
    assert_eq!(ends(&unbroken, 11), Some(201));
    assert_eq!(ends(&outage, 10), Some(201));
}

/// 8.7: a round waits for the rate probe that it began. To 200kbit/300ms the round has 662.08 ms, and the fifth packet
/// leaves two slots of 60 ms later. Where no round trip decides, the limit of 8.5, 783.955 ms, and four slots have passed.
#[test]
fn a_round_waits_for_its_rate_probe() {
    let second_round = |fifth_arrives: bool| {
        let mut flow = near().start();
        flow.on_notice(&near_sender(100, 0), &bbm("6400/9", "200/300"));
        let mut pace = |elapsed_ms, sent, sample: Option<(u32, u32)>| {
            let now_us = 1000 * elapsed_ms + 5_000_000;
            let (sent_ms, rtt_us) = sample.unwrap_or_default();
            let sent_us = 1000 * sent_ms + 5_000_000;
            let out =
                Out { snd_una: 100, unit: 1, elapsed_ms, now_us, sent, rtt_us, sent_us, ..Out::default() };
            flow.claim(&out).expect("it lasts").kbps
        };
        // The first round has two round trips, in which nothing has left.
        assert_eq!([pace(0, 0, None), pace(241, 0, None)], [400, 200]);
        assert_eq!([pace(1324, 0, None), pace(1325, 0, None)], [200, 400]);
        for packet in 1..6 {
            assert_eq!(pace(1325 + 30 * packet, packet, None), if packet < 5 { 400 } else { 400 / 7 });
        }
        assert_eq!(pace(1505, 6, None), 200);
        let round_trip = |sent_ms| Some((sent_ms, 662_080));
        assert_eq!(pace(1988, 6, round_trip(1325)), 200);
        if fifth_arrives {
            vec![pace(2108, 6, round_trip(1445))]
        } else {
            vec![pace(2348, 6, None), pace(2349, 6, None)]
        }
    };
    // It has not waited: three steps, and the next six packets probe.
    assert_eq!(second_round(true), [780]);
    // It has been retransmitted. The next round probes.
    assert_eq!(second_round(false), [200, 400]);
}

/// 8.7: six packets probe. ACKs come for the first and the sixth, which are two slots and a half apart. With two flows
/// the other may have sent nothing in the half, so that two slots count. At the reported rate a packet waits for a packet
/// of the link longer in each. With three flows the others could have sent two packets in the half, or none.
#[test]
fn half_a_slot_decides_for_one_flow_or_two() {
    let passes = |flows: u32, limit_us: u32| {
        let slot_us = 60_000 * flows;
        let mut flow = near().start();
        flow.on_notice(&near_sender(100, 0), &Notice { flows, ..bbm("6400/9", "200/300") });
        let mut pace = |now_us: u32, sent, sent_us, rtt_us| {
            let elapsed_ms = now_us / 1000;
            let out =
                Out { snd_una: 100, unit: 1, elapsed_ms, now_us, sent, sent_us, rtt_us, ..Out::default() };
            flow.claim(&out).expect("it lasts").kbps
        };
        pace(0, 0, 0, 0);
        let last_us = 5 * slot_us / 2;
        pace(last_us, 6, 0, 0);
        pace(662_080, 6, 0, 662_080);
        pace(last_us + 662_080 + limit_us, 6, last_us, 662_080 + limit_us) > 200 / flows
    };
    assert_eq!([74_999, 75_000].map(|more_us| passes(1, more_us)), [true, false]);
    assert_eq!([59_999, 60_000].map(|more_us| passes(2, more_us)), [true, false]);
    assert!(!passes(3, 0));
}

/// 8.7: a flow that was notified lately, too, begins no rate probe, and takes no step where nothing has waited (8.8).
#[test]
fn a_flow_that_was_notified_lately_looks_for_no_more() {
    let paces = |notified_lately, notice: &Notice| {
        let mut flow = near().start();
        let tcp = Sender { notified_lately, cwnd: packets(100), ..near_sender(100, 0) };
        flow.on_notice(&tcp, notice);
        [0, 2000, 4000, 6000].map(|elapsed_ms| {
            let now_us = 1000 * elapsed_ms + 500_000;
            let sent_us = now_us - 80_080;
            let out =
                Out { snd_una: 100, unit: 1, elapsed_ms, now_us, sent_us, rtt_us: 80_080, ..Out::default() };
            flow.claim(&out).expect("it lasts").kbps
        })
    };
    let probes = mbb("6400/9", "6400/39");
    assert_eq!([0, 1].map(|lately| paces(lately, &probes)[0]), [12_800, 6400]);
    assert_eq!(paces(1, &probes), [6400; 4]);
    let too_few = Notice { flows: 4, ..mbb("6400/9", "200/9") };
    assert!(paces(0, &too_few)[3] > 50);
    assert_eq!(paces(1, &too_few), [50; 4]);
}

/// 8.6: a notice without an outage follows another one in ten seconds, and reports a larger window than cwnd. It asks for
/// nothing and ends a claim. If that had raised the window without an outage, it ends as by competing traffic.
#[test]
fn a_flow_that_was_notified_lately_claims_nothing() {
    let out = Out { snd_una: 100, unit: 1, elapsed_ms: 10, ..Out::default() };
    for (cwnd, raised) in [(10, true), (11, false)] {
        let mut flow = near().start();
        let tcp = Sender { cwnd: packets(cwnd), ..near_sender(100, 0) };
        assert!(flow.on_notice(&tcp, &mbb("200/9", "6400/9")).has(What::CLAIM));
        assert!(flow.claim(&out).is_ok());
        let again = flow.on_notice(&Sender { notified_lately: 1, ..tcp }, &mbb("6400/9", "50000/9"));
        assert_eq!(again, Action::NOTHING);
        assert_eq!(flow.claim(&out), Err(ClaimEnd { competing_traffic: raised, extra_packets: 0 }));
    }
    // An old raise counts no more where a handoff is expected, and a notice comes that says nothing.
    let mut flow = near().start();
    flow.on_notice(&near_sender(100, 0), &mbb("200/9", "6400/9"));
    flow.on_expected(&near_sender(100, 0), &mbb("6400/9", "200/9"));
    let tcp = Sender { notified_lately: 1, cwnd: packets(1), ..near_sender(100, 0) };
    flow.on_notice(&tcp, &mbb("6400/9", "200/9"));
    assert_eq!(flow.claim(&out), Err(ClaimEnd::default()));
}

/// 8.5: old packets of 1 kbit/s are waited for, however long they take: here for more than 2^32 ms.
#[test]
fn old_packets_are_waited_for_however_long_they_take() {
    let mut flow = near().start();
    let slow = Link { rate_kbps: 1, delay_us: 0 };
    flow.on_notice(
        &near_sender(100, 44_739),
        &Notice { old_link: slow, new_link: slow, flows: 4, disconnected: 0 },
    );
    assert!(flow.claim(&Out { snd_una: 100, unit: 1, ..Out::default() }).is_ok());
}

/// 8.5: 20 packets are in flight, the queue has a second of others, and a notice of 6400kbit/9ms raises the window. A round
/// ends after 25.565 + 19.94 ms and a slot of 1.875 ms. No old packet has arrived, and no new one. That shows competing
/// traffic. Nothing is known if no new packet has left, if all old ones have arrived, or if the window was as large before.
#[test]
fn a_raise_that_hears_nothing_has_met_a_queue() {
    let ends = |cwnd, new: u32, acked: u32| {
        let mut flow = near().start();
        let tcp = Sender { cwnd: packets(cwnd), ..near_sender(100, 20) };
        flow.on_notice(&tcp, &mbb("6400/9", "6400/9"));
        (1..100).find_map(|elapsed_ms| {
            let (snd_una, snd_max) = (100 + acked, 120 + new);
            let out =
                Out { snd_una, snd_max, unit: 1, elapsed_ms, now_us: 1000 * elapsed_ms, ..Out::default() };
            flow.claim(&out).err().map(|end| (elapsed_ms, end.competing_traffic))
        })
    };
    assert_eq!(ends(10, 5, 0), Some((60, true)));
    assert_eq!([ends(10, 0, 0), ends(10, 5, 20), ends(20, 5, 0)], [None; 3]);
}

/// 8.1: 601.94 ms at 6400 kbit/s hold 321 packets, and 40 ms hold 21. A notice that has raised the window without an
/// outage is not believed that the path is so long.
#[test]
fn a_long_delay_that_raised_the_window_is_found_out() {
    let withheld = |cwnd, rtt_us| {
        let mut flow = near().start();
        flow.on_notice(&Sender { cwnd: packets(cwnd), ..near_sender(100, 400) }, &mbb("200/300", "6400/300"));
        let now_us = 1_000_000;
        let out = Out {
            snd_una: 100,
            unit: 1,
            granted: 322,
            elapsed_ms: 50,
            now_us,
            sent_us: now_us - rtt_us,
            rtt_us,
            ..Out::default()
        };
        flow.claim(&out).expect("it lasts").withheld_packets
    };
    assert_eq!(withheld(10, 40_000), 321 - 21);
    assert_eq!([(10, 601_940), (400, 40_000)].map(|(cwnd, rtt_us)| withheld(cwnd, rtt_us)), [0; 2]);
}

/// 8.11: 24.04 ms at 300 Mbit/s hold 601 packets. A claim begins with 256, or with what was in flight. Each new packet that
/// has arrived lets one more leave, also if a block reports it while old ones are missing.
#[test]
fn a_claim_grows_by_what_arrives() {
    let withheld = |granted, flight, acked, sacked| {
        let mut flow = near().start();
        let act = flow.on_notice(&near_sender(100, flight), &bbm("200/300", "300000/12"));
        assert_eq!([act.cwnd, act.ssthresh], [packets(602); 2]);
        let since = 100 + flight;
        let snd_una = if acked > 0 { since + acked } else { 100 };
        let sacks = [[since, since + sacked], [0; 2], [0; 2], [0; 2]];
        let out = Out { snd_una, unit: 1, marked: sacked, granted, sacks, ..Out::default() };
        flow.claim(&out).expect("it lasts").withheld_packets
    };
    assert_eq!(withheld(602, 12, 0, 0), 602 - 256);
    assert_eq!(withheld(602, 400, 0, 0), 602 - 400);
    assert_eq!(withheld(602, 12, 100, 0), 602 - 356);
    assert_eq!(withheld(602, 12, 0, 30), 602 - 286);
    assert_eq!(withheld(602, 12, 346, 0), 0);
    // A trial has left 20 packets: nothing of these is taken.
    assert_eq!([0, 60].map(|acked| withheld(20, 12, acked, 0)), [0; 2]);
}

/// 8.11: a refuted notice has left five packets, and the next one claims 10 Gbit/s and 18 ms, which hold 15,001. Round
/// trips of 23 ms have room for 4,167 more at that rate. One of these is granted, in the proportion of 5 to 15,001.
#[test]
fn an_earlier_refutation_bounds_the_whole_claim() {
    let window = |granted| {
        let mut flow = near().start();
        flow.on_notice(&near_sender(100, 10), &bbm("6400/9", "10000000/9"));
        let times = Out { elapsed_ms: 50, now_us: 90_000, sent_us: 60_000, rtt_us: 23_000, ..Out::default() };
        let claim = flow.claim(&Out { snd_una: 120, unit: 1, granted, ..times }).expect("it lasts");
        granted + claim.extra_packets - claim.withheld_packets
    };
    assert_eq!(window(15_002), 256 + 10 + 2);
    assert_eq!(window(5), 5 + 1 + 2);
}

/// 8.11: without an outage a claim that raises the window begins with 32 packets, and an arrival lets four more leave.
/// One that leaves the window as it was begins as after an outage.
#[test]
fn a_raise_without_an_outage_begins_with_less() {
    let withheld = |cwnd, flight, arrived| {
        let mut flow = near().start();
        let tcp = Sender { cwnd: packets(cwnd), ..near_sender(100, flight) };
        flow.on_notice(&tcp, &mbb("200/300", "300000/12"));
        let snd_una = 100 + flight + arrived;
        let out = Out { snd_una, unit: 1, granted: 602, ..Out::default() };
        flow.claim(&out).expect("it lasts").withheld_packets
    };
    assert_eq!(withheld(12, 12, 0), 602 - 32);
    assert_eq!(withheld(12, 12, 100), 602 - 432);
    assert_eq!(withheld(100, 100, 0), 602 - 100);
    assert_eq!(withheld(700, 12, 0), 602 - 256);
}

/// A stalled flow resumes at once, with its part of the path.
#[test]
fn one_flow_alone_in_rto_recovery() {
    let stalled = in_rto(near_sender(100, 20));
    let act = near().start().on_notice(&stalled, &bbm("6400/9", "6400/9"));
    assert_eq!(NearAnswer::of(&act), NearAnswer::Resumes([11, 11]));
}

proptest! {
    /// Notices of any sort: a claim ends by itself. Its extra packets are never more than those in flight at the notice,
    /// and two.
    #[test]
    fn one_flow_alone_is_bounded(
        links in [(1u32.., 0u32..), (1u32.., 0u32..)],
        flows: u32,
        disconnected in 0u32..2,
        flight in 0u32..100_000,
        outs in prop::collection::vec((0u32.., 0u32..3000, 0u32..1000, any::<[[u32; 2]; 4]>()), 0..20),
    ) {
        let [old_link, new_link] = links.map(|(rate_kbps, delay_us)| Link { rate_kbps, delay_us });
        let notice = Notice { old_link, new_link, flows, disconnected };
        let mut flow = near().start();
        let act = flow.on_notice(&near_sender(100, flight), &notice);
        prop_assert_eq!(act.cwnd, act.ssthresh);
        prop_assert!(act.cwnd >= 256);
        for (snd_una, unit, marked, sacks) in outs {
            let claim = flow.claim(&Out { snd_una, unit, marked, sacks, ..Out::default() });
            prop_assert!(claim.expect("it lasts").extra_packets <= flight + 2);
        }
        let late = Out { elapsed_ms: u32::MAX, rtt_us: u32::MAX, ..Out::default() };
        prop_assert!(flow.claim(&late).is_err_and(|end| !end.competing_traffic));
        prop_assert_eq!(flow.claim(&Out { elapsed_ms: 0, ..late }), Err(ClaimEnd::default()));
    }
}

proptest! {
    /// 8.9: however far flows are behind, together they send no faster than without shares, and no slower but for
    /// rounding. Each has a quarter of an even share. One that is further behind has no less than another.
    #[test]
    fn shares_are_those_of_the_link(
        parts in prop::collection::vec((0u32..2000, 0u32..200_000), 2..9),
        rate_kbps in 200u32..50_000,
    ) {
        let count = parts.len() as u32;
        let new_link = Link { rate_kbps, delay_us: 9_000 };
        let notice = Notice { new_link, flows: count, ..bbm("6400/9", "6400/9") };
        let sends = |(lost, new), (others, others_behind, others_weight)| {
            let mut flow = near().start();
            flow.on_notice(&near_sender(100, 2_000), &notice);
            let out = Out { snd_una: 100, unit: 1, lost, snd_max: 2_100 + new, ..Out::default() };
            let out = Out { others, others_behind, others_weight, ..out };
            // A rate probe may begin, and something else holds it back.
            flow.claim(&out).expect("it lasts");
            flow.claim(&Out { now_us: u32::MAX / 4, ..out }).expect("it lasts")
        };
        let behind: Vec<i32> = parts.iter().map(|&part| sends(part, (0, 0, 0)).behind).collect();
        let all: i32 = behind.iter().sum();
        let others = |own: i32, weight| (count - 1, all - own, weight);
        let weights: Vec<u32> = parts.iter().zip(&behind).map(|(&part, &own)| sends(part, others(own, 0)).weight).collect();
        let sum: u32 = weights.iter().sum();
        let of = |index: usize| sends(parts[index], others(behind[index], sum - weights[index])).kbps;
        let rates: Vec<u32> = (0..parts.len()).map(of).collect();
        let (total, even) = (rates.iter().sum::<u32>(), rate_kbps / count);
        prop_assert!(total <= even * count, "{rates:?}");
        prop_assert!(total + 2 * count + rate_kbps / 128 >= even * count, "{rates:?}");
        prop_assert!(rates.iter().all(|&rate| rate >= even / 4));
        for (one, two) in (0..parts.len()).flat_map(|one| (0..parts.len()).map(move |two| (one, two))) {
            prop_assert!(behind[one] < behind[two] || rates[one] >= rates[two], "{behind:?}: {rates:?}");
        }
    }
}

/// One flow of Linux during its claim: what its stack counts, and what of it is on the new link.
struct Sending {
    flow: Flow,
    /// `cwnd` without the extra packets of the claim.
    window: u32,
    una: u32,
    nxt: u32,
    /// `snd_max` at the notice.
    since: u32,
    /// So many packets before it are marked lost, and so many of these have been sent again.
    lost: u32,
    again: u32,
    /// So many are SACKed, the last ones. All before `arrived` are that left since then.
    sacked: u32,
    arrived: u32,
}

/// `snd_una` at the notice.
const UNA: u32 = 100;

impl Sending {
    fn told(notice: &Notice, flight: u32) -> Self {
        let mut flow = near().start();
        let act = flow.on_notice(&near_sender(UNA, flight), notice);
        let window = grant::claim_window(act.cwnd / packets(1));
        let since = UNA + flight;
        Self { flow, window, una: UNA, nxt: since, since, lost: 0, again: 0, sacked: 0, arrived: since }
    }

    /// ACKs come in order, of what is marked, too. Others report more SACKed packets; RACK marks more of the old ones.
    fn acknowledge(&mut self, acked: u32, sacked: u32, arrived: u32, lost: u32) {
        self.una += acked.min(self.nxt - self.una);
        self.arrived = (self.arrived + arrived).min(self.nxt);
        let left = self.since.saturating_sub(self.una);
        self.sacked = (self.sacked + sacked).min(left);
        self.lost = (self.lost + lost).min(left - self.sacked);
        self.again = self.again.min(self.lost);
    }

    /// Copies on the new link.
    fn on_new_link(&self) -> u32 {
        self.nxt - self.una.max(self.arrived) + self.again
    }

    /// `sacked_out + lost_out`.
    fn marked(&self) -> u32 {
        self.lost + self.sacked + self.arrived.saturating_sub(self.una.max(self.since))
    }

    /// `tcp_packets_in_flight`.
    fn in_flight(&self) -> u32 {
        self.nxt - self.una - self.marked() + self.again
    }

    /// Sends all that the claim lets out, lost packets first. ACKs have room for the first SACKed packets or not.
    fn sends(&mut self, elapsed_ms: u32, room: bool) -> bool {
        let first = if room { self.since - self.sacked } else { self.arrived.saturating_sub(1) };
        let sacks = [[0; 2], [0; 2], [self.una, self.una], [first, self.arrived]];
        for _ in 0..10_000 {
            let marked = self.marked();
            let out = Out { snd_una: self.una, unit: 1, marked, sacks, elapsed_ms, ..Out::default() };
            let Ok(claim) = self.flow.claim(&out) else { return false };
            if self.in_flight() >= self.window + claim.extra_packets {
                return true;
            }
            if self.again < self.lost { self.again += 1 } else { self.nxt += 1 }
        }
        panic!("there is no end");
    }
}

proptest! {
    /// 3.1 and 8.1 to 8.3: the claims of N flows have at most W + 2 N packets out on the new link. The path must show
    /// no more than was told. N - 1 come on top, because each flow has whole packets. Packets out at the notice count
    /// if they left after completion.
    #[test]
    fn flows_alone_have_no_more_out_than_the_window_and_two_each(
        links in [(64u32..20_000, 1u32..400), (64u32..20_000, 1u32..400)],
        flights in prop::collection::vec(0u32..60, 1..9),
        disconnected in 0u32..2,
        steps in prop::collection::vec((0usize..9, 0u32..40, prop::array::uniform4(0u32..6), any::<bool>()), 0..60),
    ) {
        let [old_link, new_link] =
            links.map(|(rate_kbps, delay_ms)| Link { rate_kbps, delay_us: 1000 * delay_ms });
        let n = flights.len() as u32;
        let notice = Notice { old_link, new_link, flows: n, disconnected };
        // The window that one flow would have for itself.
        let whole = near().start().on_notice(&near_sender(UNA, 0), &Notice { flows: 1, ..notice });
        let most = whole.cwnd / packets(1) + n - 1 + 2 * n;
        let mut all: Vec<_> = flights.iter().map(|flight| Sending::told(&notice, *flight)).collect();
        let mut elapsed_ms = 0;
        for (index, wait, [acked, sacked, arrived, lost], room) in steps {
            elapsed_ms += wait;
            let index = index % all.len();
            all[index].acknowledge(acked, sacked, arrived, lost);
            if !all[index].sends(elapsed_ms, room) {
                return Ok(());
            }
            let out: u32 = all.iter().map(Sending::on_new_link).sum();
            prop_assert!(out <= most, "{out} of {most} are out after {elapsed_ms} ms");
        }
    }
}
