//! The rules of docs/reference/near.md, slot by slot: a claim and flows that note what they are told.
//!
//! All handoffs lead to 1200kbit/50ms, where a packet takes 10 ms and an ACK of 40 bytes 0.267 ms. The old path is as
//! long as the notice says, so nothing lies beyond the access links. An ACK needs 50.267 ms, a packet 60 ms, and 12
//! packets fill the path.

use proptest::prelude::*;
use segue_handoff::claim::{Claim, FlowState};
use segue_handoff::{Notice, Scheme};
use segue_policy::Link;
use segue_tcp::segment::SackList;
use segue_tcp::{Nanos, Segment};

const MS: Nanos = 1_000_000;
const NEW: Link = Link { rate_kbps: 1200, delay_us: 50_000 };
const SLOW: Link = Link { rate_kbps: 120, delay_us: 100_000 };
/// When the notice of a handoff that completes at 1 s is heard.
const HEARD: Nanos = 1_000 * MS + 50_266_666;

/// A flow: when its packets were sent, from `una` on.
#[derive(Clone, Debug, Default)]
struct Flow {
    una: u32,
    sent: Vec<Nanos>,
    silent: bool,
    closed: bool,
    /// It has nothing new.
    idle: bool,
    /// It has a control that can go on, and the window of that.
    controls: bool,
    window: Option<u32>,
    reduces: bool,
    paced: Option<u64>,
    stamped: bool,
}

impl Flow {
    /// It has sent packets from 100 on at these times, in ms.
    fn of(sent: &[Nanos]) -> Self {
        Self { una: 100, sent: sent.iter().map(|at| at * MS).collect(), ..Self::default() }
    }
}

impl FlowState for Flow {
    fn is_open(&self) -> bool {
        !self.closed
    }
    fn snd_una(&self) -> u32 {
        self.una
    }
    fn snd_max(&self) -> u32 {
        self.una + self.sent.len() as u32
    }
    fn sent_at(&self, _now: Nanos, seq: u32) -> Nanos {
        self.sent[(seq - self.una) as usize]
    }
    fn is_sacked(&self, _seq: u32) -> bool {
        false
    }
    fn min_rtt(&self) -> Option<Nanos> {
        None
    }
    fn has_new(&self) -> bool {
        !self.closed && !self.idle
    }
    fn has_timestamps(&self) -> bool {
        self.stamped
    }
    fn packet_bytes(&self) -> u32 {
        1500
    }
    fn silence(&mut self, _now: Nanos) {
        self.silent = true;
    }
    fn goes_on(&mut self, _now: Nanos, packets: u32, _packet: Nanos, _rtt: Nanos) -> bool {
        self.window = self.controls.then_some(packets);
        self.controls
    }
    fn window(&self) -> u32 {
        self.window.expect("its control goes on")
    }
    fn packets_per_second(&self) -> Option<u64> {
        self.paced
    }
    fn reduces(&self) -> bool {
        self.reduces
    }
    fn loses_one(&mut self, _now: Nanos) {}
    fn loses_all(&mut self, _now: Nanos) {}
}

fn notice(old_link: Link, flows: u32, disconnected: u32) -> Notice {
    Notice { old_link, new_link: NEW, flows, disconnected }
}

fn ack(ack: u32, blocks: &[(u32, u32)]) -> Segment {
    let mut sack = SackList::default();
    blocks.iter().for_each(|&(left, right)| assert!(sack.push(left, right)));
    Segment {
        seq: 1,
        ack,
        window: 10_000,
        payload: 0,
        syn: false,
        push: false,
        has_ack: true,
        detail: Default::default(),
        ecn: Default::default(),
        sack,
        timestamps: None,
        option: Default::default(),
    }
}

/// Packets sent until `until`: when, by which flow, which packet.
fn sent(claim: &mut Claim, flows: &mut [Flow], until: Nanos) -> Vec<(Nanos, usize, u32)> {
    sent_from(claim, flows, 0, until)
}

/// The same, where it is `from` now.
fn sent_from(claim: &mut Claim, flows: &mut [Flow], from: Nanos, until: Nanos) -> Vec<(Nanos, usize, u32)> {
    let mut all = Vec::new();
    while let Some(now) = claim.deadline(flows).map(|at| at.max(from)).filter(|&at| at < until) {
        claim.on_time(now, flows);
        while let Some((flow, seq)) = claim.next(now, flows) {
            all.push((now, flow, seq));
            let place = (seq - flows[flow].una) as usize;
            match flows[flow].sent.get_mut(place) {
                Some(at) => *at = now,
                None => flows[flow].sent.push(now),
            }
        }
        let next = claim.deadline(flows);
        assert!(next.is_none_or(|at| at > now), "it asks for {next:?} at {now}");
    }
    all
}

fn claimed(flows: &mut [Flow], notice: &Notice) -> Claim {
    let mut claim = Claim::default();
    let una = flows[0].una;
    claim.on_notice(HEARD, 0, notice, Some(&ack(una, &[])), flows);
    claim
}

fn slots(from: Nanos, packets: &[(usize, u32)]) -> Vec<(Nanos, usize, u32)> {
    packets.iter().zip(0..).map(|(&(flow, seq), slot)| (from + slot * 10 * MS, flow, seq)).collect()
}

/// New packets of flow `flow` from `seq` on: six leave half a slot apart, and what that saves is waited for (6.3).
fn train(from: Nanos, flow: usize, seq: u32, packets: u32) -> Vec<(Nanos, usize, u32)> {
    let at = |n: u32| from + Nanos::from(if n < 6 { 5 * n } else { 10 * n }) * MS;
    (0..packets).map(|n| (at(n), flow, seq + n)).collect()
}

/// Flow 0 has all up to `upto` acknowledged at `now`.
fn acknowledged(claim: &mut Claim, flows: &mut [Flow], now: Nanos, upto: u32) {
    claim.on_ack(now, 0, &ack(upto, &[]), flows);
    let flow = &mut flows[0];
    flow.sent.drain(..(upto - flow.una) as usize);
    flow.una = upto;
}

#[test]
fn the_scheme_has_a_claim() {
    let scheme = Scheme::build("near", &[]).expect("a scheme");
    assert!(scheme.claim().is_some());
    assert!(Scheme::build("sack", &[]).expect("a scheme").claim().is_none());
}

/// 3.2, 3.3, 4.1: what the disconnection has lost, then new packets, a slot apart.
#[test]
fn a_disconnection_loses_all_that_is_not_acknowledged() {
    let mut flows = [Flow::of(&[10, 20, 30])];
    let mut claim = claimed(&mut flows, &notice(SLOW, 1, 1));
    assert!(flows[0].silent);
    let mut five = slots(HEARD, &[(0, 100), (0, 101), (0, 102)]);
    five.extend(train(HEARD + 30 * MS, 0, 103, 2));
    assert_eq!(sent(&mut claim, &mut flows, HEARD + 39 * MS), five);
}

/// 4.1: what the ACK with the notice reports is not sent again.
#[test]
fn what_the_notice_acknowledges_is_not_lost() {
    let mut flows = [Flow::of(&[10, 20, 30])];
    let mut claim = Claim::default();
    claim.on_notice(HEARD, 0, &notice(SLOW, 1, 1), Some(&ack(100, &[(101, 102)])), &mut flows);
    assert_eq!(sent(&mut claim, &mut flows, HEARD + 25 * MS), slots(HEARD, &[(0, 100), (0, 102), (0, 103)]));
}

/// 3.2: packets 102 and 103, sent after completion, are on the new link until 1.030 s; the clock begins there.
#[test]
fn the_clock_begins_behind_what_the_stack_has_sent() {
    let mut flows = [Flow::of(&[10, 20, 1_001, 1_002, 1_003, 1_004, 1_005, 1_006])];
    let mut claim = claimed(&mut flows, &notice(SLOW, 1, 1));
    // Six packets of 10 ms from 1.001 s on.
    assert_eq!(sent(&mut claim, &mut flows, 1_075 * MS), slots(1_061 * MS, &[(0, 100), (0, 101)]));
}

/// 3.3, 6.3: after a train the flow with the fewest new packets is next.
#[test]
fn slots_go_round() {
    let mut flows = [Flow::of(&[]), Flow::of(&[10])];
    let mut claim = claimed(&mut flows, &notice(SLOW, 2, 0));
    // Without a disconnection both are told at once (4.6); packet 100 of flow 1 is still awaited.
    let mut all = train(HEARD, 0, 100, 6);
    let six = [(1, 101), (1, 102), (1, 103), (1, 104), (1, 105), (1, 106)];
    all.extend(slots(HEARD + 60 * MS, &six));
    all.extend(slots(HEARD + 120 * MS, &[(0, 106), (1, 107)]));
    assert_eq!(sent(&mut claim, &mut flows, HEARD + 135 * MS), all);
}

/// 4.6: after a disconnection the others are told when 2 (N - 1) ACKs have had time to come.
#[test]
fn one_notice_tells_all_flows() {
    let mut flows = [Flow::of(&[10]), Flow::of(&[10])];
    let mut claim = claimed(&mut flows, &notice(SLOW, 2, 1));
    assert!(flows[0].silent && !flows[1].silent);
    // 2 * 40 * 8 / 1200 ms later; the loss of flow 1 has the next slot.
    let three = [(0, 100), (1, 100), (0, 101)];
    assert_eq!(sent(&mut claim, &mut flows, HEARD + 25 * MS), slots(HEARD, &three));
    assert!(flows[1].silent);
}

/// A flow that opens later joins with its first ACK. Until then this host has one flow of two, and every second slot.
#[test]
fn a_flow_that_opens_later_joins() {
    let mut flows = [Flow::of(&[]), Flow { closed: true, una: 1, ..Flow::default() }];
    let mut claim = claimed(&mut flows, &notice(SLOW, 2, 0));
    assert_eq!(sent(&mut claim, &mut flows, HEARD + MS), slots(HEARD, &[(0, 100)]));
    flows[1].closed = false;
    claim.on_ack(HEARD + 2 * MS, 1, &ack(1, &[]), &mut flows);
    assert!(flows[1].silent);
    // The second packet of the train comes after half of that host's slot, the others after half of the link's. The
    // time saved, 10 + 5 * 5 ms, is waited for behind it.
    let mut then: Vec<_> = (0..5).map(|n| (HEARD + (10 + 5 * n) * MS, 0, 101 + n as u32)).collect();
    then.push((HEARD + 70 * MS, 1, 1));
    assert_eq!(sent(&mut claim, &mut flows, HEARD + 75 * MS), then);
}

/// 4.3, 4.4: packets 100 to 102 come over the old link at 1.1, 1.2 and 1.3 s. Two windows of new data take until 1.05 + 24 *
/// 0.01 + 0.06 = 1.35 s: all are awaited.
#[test]
fn what_comes_in_time_is_awaited() {
    let mut flows = [Flow::of(&[900, 910, 920])];
    let mut claim = claimed(&mut flows, &notice(SLOW, 1, 0));
    assert_eq!(sent(&mut claim, &mut flows, HEARD + MS), slots(HEARD, &[(0, 103)]));
}

/// 4.4: packet 100 + n of thirty comes at 1.16 + n / 10 s. The k-th copy from the end, of n = 29 - k, is there at
/// 1.05 + (30 + k) / 100 + 0.06 s. That is sooner up to k = 24, which is packet 105.
#[test]
fn what_comes_too_late_is_sent_again() {
    let mut flows = [Flow::of(&(0..30).map(|n| 960 + n).collect::<Vec<_>>())];
    let mut claim = claimed(&mut flows, &notice(SLOW, 1, 0));
    assert_eq!(sent(&mut claim, &mut flows, HEARD + 15 * MS), slots(HEARD, &[(0, 105), (0, 106)]));
}

/// 4.5: the old link was to deliver the packet 100 + 100 ms after it was sent. It is waited for 50.267 ms for the ACK, two
/// slots of the old link and 10 ms more, and then sent again.
#[test]
fn what_does_not_come_is_sent_again() {
    let mut flows = [Flow { idle: true, ..Flow::of(&[995]) }];
    let mut claim = claimed(&mut flows, &notice(SLOW, 1, 0));
    let due = 995 * MS + 200 * MS + 50_266_666 + 210 * MS;
    assert_eq!(sent(&mut claim, &mut flows, due + 30 * MS), [(due, 0, 100)]);
}

/// 4.2: the old link is first in, first out: what it has not delivered before a later packet is lost, and costs no window.
#[test]
fn what_a_later_packet_has_overtaken_is_lost() {
    let mut flows = [Flow::of(&[700, 710, 720])];
    let mut claim = claimed(&mut flows, &notice(SLOW, 1, 0));
    sent(&mut claim, &mut flows, HEARD + 5 * MS);
    let now = HEARD + 6 * MS;
    claim.on_ack(now, 0, &ack(100, &[(101, 102)]), &mut flows);
    assert_eq!(sent_from(&mut claim, &mut flows, now, now + 14 * MS), slots(now, &[(0, 100), (0, 104)]));
}

/// 4.2: packets 101 and 102 left before completion is taken to have been. They come no more than 16 ms later, and over the
/// old link it takes 200 ms. So they say nothing of packet 100, which is still awaited.
#[test]
fn what_comes_too_early_for_the_old_link_was_on_the_new_one() {
    let mut flows = [Flow::of(&[900, 990, 995])];
    let mut claim = claimed(&mut flows, &notice(SLOW, 1, 0));
    let now = HEARD + 6 * MS;
    let mut all = sent(&mut claim, &mut flows, now);
    claim.on_ack(now, 0, &ack(100, &[(101, 102)]), &mut flows);
    claim.on_ack(now, 0, &ack(100, &[(101, 103)]), &mut flows);
    all.extend(sent_from(&mut claim, &mut flows, now, HEARD + 14 * MS));
    assert_eq!(all, train(HEARD, 0, 103, 3));
}

/// 4.2: of what left with such a packet or later, three later copies show a loss on the new link.
#[test]
fn what_left_after_a_packet_on_the_new_link_was_on_it_too() {
    let mut flows = [Flow::of(&[900, 990, 995])];
    let mut claim = claimed(&mut flows, &notice(SLOW, 1, 0));
    sent(&mut claim, &mut flows, HEARD + 50 * MS);
    claim.on_ack(HEARD + 6 * MS, 0, &ack(100, &[(101, 102)]), &mut flows);
    let now = HEARD + 111 * MS;
    claim.on_ack(now, 0, &ack(100, &[(101, 102), (103, 106)]), &mut flows);
    assert_eq!(sent_from(&mut claim, &mut flows, now, now + MS), slots(now, &[(0, 102)]));
}

/// 4.2, 5.4: the ACK of one flow says so of the other's packets, too. These are taken for lost if nothing is heard of them.
#[test]
fn the_other_flow_is_not_forgotten_then() {
    let mut flows = [Flow::of(&[900, 990]), Flow { idle: true, ..Flow::of(&[995]) }];
    let mut claim = claimed(&mut flows, &notice(SLOW, 2, 0));
    let mut now = HEARD + 6 * MS;
    sent(&mut claim, &mut flows, now);
    claim.on_ack(now, 0, &ack(100, &[(101, 102)]), &mut flows);
    flows[0].closed = true;
    let again = sent_from(&mut claim, &mut flows, now, now + 2_000 * MS);
    assert!(again.iter().any(|&(_, flow, seq)| (flow, seq) == (1, 100)), "{again:?}");
    now = again.last().expect("a packet").0;
    assert!(claim.deadline(&flows).is_none_or(|at| at > now));
}

/// 4.2: an instant notice comes before ACKs that are still on the old uplink. These say nothing of the new link.
#[test]
fn an_ack_of_before_the_handoff_has_not_come_over_the_new_link() {
    let mut flows = [Flow::of(&[700, 710, 720])];
    let mut claim = Claim::default();
    claim.on_notice(1_000 * MS, 0, &notice(SLOW, 1, 0), None, &mut flows);
    let now = 1_020 * MS;
    let mut all = sent(&mut claim, &mut flows, now);
    claim.on_ack(now, 0, &ack(100, &[(101, 102)]), &mut flows);
    all.extend(sent_from(&mut claim, &mut flows, now, now + 14 * MS));
    // Packet 101 came over the old link: 100 is lost, and 102 is awaited.
    assert!(all.iter().any(|&(.., seq)| seq == 100) && !all.iter().any(|&(.., seq)| seq == 102), "{all:?}");
}

/// 4.7: packet 100 is lost, and 102 and 103 come over the old link. It delivers the last at 1.3 s, or a slot of 100 ms
/// later. Would 100 come before, the mobile would refuse them. So it leaves 60 ms earlier. Without time stamps nothing is
/// refused.
#[test]
fn the_first_packet_waits_for_what_would_be_refused() {
    let first = |stamped| {
        let mut flows = [Flow { stamped, idle: true, ..Flow::of(&[700, 710, 720, 730]) }];
        let mut claim = claimed(&mut flows, &notice(SLOW, 1, 0));
        let now = HEARD + MS;
        sent(&mut claim, &mut flows, now);
        claim.on_ack(now, 0, &ack(100, &[(101, 102)]), &mut flows);
        let all = sent_from(&mut claim, &mut flows, now, 1_400 * MS);
        all.into_iter().find(|&(.., seq)| seq == 100).map(|(at, ..)| at)
    };
    assert_eq!(first(false), Some(HEARD + MS));
    assert_eq!(first(true), Some(1_340 * MS));
}

/// 3.1: twelve packets fill the path, and two more cover delayed ACKs.
#[test]
fn no_more_than_the_window_is_out() {
    let mut flows = [Flow::of(&[])];
    let mut claim = claimed(&mut flows, &notice(SLOW, 1, 1));
    let all = sent(&mut claim, &mut flows, HEARD + 400 * MS);
    assert_eq!(all.len(), 14);
    // 5.4: nothing is heard for 2 * 110.267 + 12 * 10 + 200 ms: all are lost, one packet goes out.
    let expires = HEARD + 2 * 110_266_666 + 320 * MS;
    let again = sent(&mut claim, &mut flows, expires + 200 * MS);
    assert_eq!(again.first().map(|&(at, _, seq)| (at, seq)), Some((expires, 100)));
    assert_eq!(again.len(), 1 + 2, "a window of one, and delayed ACKs");
}

/// 5.1, 5.2: three later copies have arrived: the packet is sent again, and the window is halved: six and two are out.
#[test]
fn a_loss_on_the_new_link_halves_the_window() {
    let mut flows = [Flow::of(&[])];
    let mut claim = claimed(&mut flows, &notice(SLOW, 1, 1));
    assert_eq!(sent(&mut claim, &mut flows, HEARD + 120 * MS).len(), 12);
    // Packet 102 was sent 10 ms after the notice: W is 12, as told.
    let now = HEARD + 121 * MS;
    claim.on_ack(now, 0, &ack(100, &[(101, 103)]), &mut flows);
    claim.on_ack(now, 0, &ack(100, &[(101, 104)]), &mut flows);
    // Nine are still out, of which one is lost.
    assert_eq!(sent(&mut claim, &mut flows, HEARD + 160 * MS), []);
    let now = HEARD + 161 * MS;
    claim.on_ack(now, 0, &ack(100, &[(101, 108)]), &mut flows);
    assert_eq!(sent_from(&mut claim, &mut flows, now, now + MS), [(now, 0, 100), (now, 0, 112)]);
}

/// 3.2: the queue of the new link is taken to hold twelve packets. The last four of sixteen sent at once are lost.
#[test]
fn what_the_new_queue_cannot_hold_is_lost() {
    let mut flows = [Flow::of(&[1_001; 16])];
    let mut claim = claimed(&mut flows, &notice(SLOW, 1, 1));
    claim.on_ack(HEARD + 100 * MS, 0, &ack(110, &[]), &mut flows);
    flows[0].una = 110;
    flows[0].sent.drain(..10);
    let now = HEARD + 101 * MS;
    let first = sent_from(&mut claim, &mut flows, now, now + 25 * MS);
    assert_eq!(first.first().map(|&(.., seq)| seq), Some(112), "{first:?}");
}

/// 6.3: six packets leave half a slot apart. They come back without having waited for each other, so the link is twice
/// as fast. The clock runs three steps faster, and the next six ask again.
#[test]
fn a_train_asks_whether_the_link_is_faster() {
    let mut flows = [Flow::of(&[])];
    let mut claim = claimed(&mut flows, &notice(SLOW, 1, 1));
    assert_eq!(sent(&mut claim, &mut flows, HEARD + 110 * MS), train(HEARD, 0, 100, 11));
    for pair in 1..=3 {
        let now = HEARD + (105 + 10 * u64::from(pair)) * MS;
        acknowledged(&mut claim, &mut flows, now, 100 + 2 * pair);
    }
    let now = HEARD + 135 * MS;
    let next = sent_from(&mut claim, &mut flows, now, now + 8 * MS);
    let gaps: Vec<_> = next.windows(2).map(|two| two[1].0 - two[0].0).collect();
    // A slot is 5.12 ms.
    assert_eq!(gaps, [2_560_000; 3]);
}

/// 6.3: each comes back half a slot later than the one before, for the link is as told. The clock stays.
#[test]
fn a_train_that_waits_leaves_the_clock_alone() {
    let mut flows = [Flow::of(&[])];
    let mut claim = claimed(&mut flows, &notice(SLOW, 1, 1));
    sent(&mut claim, &mut flows, HEARD + 110 * MS);
    for pair in 1..=3 {
        let now = HEARD + (100 + 20 * u64::from(pair)) * MS;
        acknowledged(&mut claim, &mut flows, now, 100 + 2 * pair);
    }
    let now = HEARD + 160 * MS;
    let next = sent_from(&mut claim, &mut flows, now, now + 35 * MS);
    let gaps: Vec<_> = next.windows(2).map(|two| two[1].0 - two[0].0).collect();
    assert_eq!(gaps, [0, 10 * MS, 10 * MS, 10 * MS], "two may leave at once (7.3)");
}

/// 6.1: the first round trip is 125 ms instead of 110.267, which no competing traffic has to explain (7.2). Then 13 packets
/// fill the path. One of 250 ms leaves it at 12, and shows competing traffic.
#[test]
fn the_path_may_be_longer_than_reported() {
    let window = |first: Nanos| {
        let mut flows = [Flow { controls: true, ..Flow::of(&[]) }];
        let mut claim = claimed(&mut flows, &notice(NEW, 1, 1));
        sent(&mut claim, &mut flows, HEARD + 119 * MS);
        acknowledged(&mut claim, &mut flows, HEARD + (5 + first) * MS, 102);
        flows[0].window
    };
    assert_eq!(window(125), Some(13));
    assert_eq!(window(250), Some(6));
}

/// 7.1 to 7.3: after a round trip each flow has its part of the path, and what its own control makes of it counts.
#[test]
fn after_the_claim_the_flows_own_controls_go_on() {
    let mut flows = [Flow { controls: true, ..Flow::of(&[10]) }];
    let mut claim = claimed(&mut flows, &notice(SLOW, 1, 1));
    sent(&mut claim, &mut flows, HEARD + 109 * MS);
    acknowledged(&mut claim, &mut flows, HEARD + 109 * MS, 101);
    assert_eq!(flows[0].window, None, "the claim lasts a round trip of 110.267 ms");
    acknowledged(&mut claim, &mut flows, HEARD + 126 * MS, 103);
    assert_eq!(flows[0].window, Some(12));
    let out = flows[0].sent.len();
    flows[0].window = Some(out as u32 + 1);
    // It goes by that window, and two for a delayed ACK.
    let now = HEARD + 127 * MS;
    assert_eq!(sent_from(&mut claim, &mut flows, now, now + 150 * MS).len(), 3);
    // In a recovery there are none for a delayed ACK.
    flows[0].reduces = true;
    let now = HEARD + 140 * MS;
    acknowledged(&mut claim, &mut flows, now, 104);
    let out = flows[0].sent.len();
    flows[0].window = Some(out as u32);
    assert_eq!(sent_from(&mut claim, &mut flows, now, now + 20 * MS), []);
}

/// 7.3, 7.5: twelve packets fill the path. A window of 30 lets no more out while their own queue stands, which 14 in flight
/// and two explain up to 160 ms. If it does not drain, it is not theirs. Beside others the window alone counts, and a slot is 5/6 as long.
#[test]
fn a_queue_of_ones_own_drains() {
    let with_pace = |paced: Option<u64>, rtt: Nanos, last: u32| {
        let mut flows = [Flow { controls: true, paced, ..Flow::of(&[]) }];
        let mut claim = claimed(&mut flows, &notice(SLOW, 1, 1));
        sent(&mut claim, &mut flows, HEARD + 119 * MS);
        // The rate probe does not pass.
        for pair in 1..=3 {
            acknowledged(&mut claim, &mut flows, HEARD + (100 + 20 * u64::from(pair)) * MS, 100 + 2 * pair);
        }
        flows[0].window = Some(30);
        let mut now = HEARD + 161 * MS;
        sent_from(&mut claim, &mut flows, now, now + 39 * MS);
        for pair in 4..=last {
            let next = now.max(flows[0].sent[1] + rtt);
            sent_from(&mut claim, &mut flows, now, next);
            now = next;
            acknowledged(&mut claim, &mut flows, now, 100 + 2 * pair);
        }
        flows[0].window = Some(60);
        let more = sent_from(&mut claim, &mut flows, now, now + 200 * MS);
        (flows[0].sent.len(), more.windows(2).map(|two| two[1].0 - two[0].0).collect::<Vec<_>>())
    };
    let after = |rtt, last| with_pace(None, rtt, last);
    assert!(after(112 * MS, 7).0 > 20, "no queue: {:?}", after(112 * MS, 7));
    assert_eq!(after(135 * MS, 7).0, 12);
    assert!(after(135 * MS, 30).0 > 20, "it does not drain: {:?}", after(135 * MS, 30));
    let (_, gaps) = after(400 * MS, 4);
    assert!(gaps.len() > 5 && gaps[2..].iter().all(|&gap| gap == 8_333_333), "{gaps:?}");
    // A control that paces 50 packets a second.
    let (_, gaps) = with_pace(Some(50), 400 * MS, 4);
    assert!(gaps.len() > 5 && gaps[2..].iter().all(|&gap| gap == 20 * MS), "{gaps:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// 3.1: whatever the flows have sent before and whenever ACKs come, no more than W + 2 n copies are out during the
    /// claim. An ACK for one packet does not measure the path (6.1), so that W stays.
    #[test]
    fn never_more_than_the_window_and_two_for_each_flow(
        before in prop::collection::vec(prop::collection::vec(0u64..1_000, 0..40), 1..5),
        acks in prop::collection::vec((0usize..5, 1u64..60), 1..80),
    ) {
        let own = before.len();
        let mut flows: Vec<Flow> = before.iter().map(|sent| {
            let mut sent = sent.clone();
            sent.sort_unstable();
            Flow::of(&sent)
        }).collect();
        let mut claim = claimed(&mut flows, &notice(SLOW, own as u32, 1));
        let mut now = HEARD;
        // Packets that the claim has sent and that are not acknowledged, by flow.
        let mut out = vec![std::collections::BTreeSet::new(); own];
        for (index, wait) in acks {
            for (_, flow, seq) in sent_from(&mut claim, &mut flows, now, now + wait * MS) {
                out[flow].insert(seq);
                let all: usize = out.iter().map(std::collections::BTreeSet::len).sum();
                prop_assert!(all <= 12 + 2 * own, "{all} are out at {now}");
            }
            now += wait * MS;
            if now > HEARD + 110 * MS {
                break;
            }
            let index = index % own;
            let flow = &mut flows[index];
            // It acknowledges what has been sent since.
            let Some(&last) = out[index].first() else { continue };
            if last != flow.una {
                continue;
            }
            claim.on_ack(now, index, &ack(last + 1, &[]), &mut flows);
            let flow = &mut flows[index];
            flow.sent.drain(..(last + 1 - flow.una) as usize);
            flow.una = last + 1;
            out[index] = out[index].split_off(&(last + 1));
        }
    }

    /// Nothing goes wrong with any notice at any time, nor with any ACKs: no packet is sent that the flow lacks.
    #[test]
    fn any_notice_is_borne(
        links in any::<[(u32, u32); 2]>(), n: u32, disconnected in 0u32..2, at in 0u64..10_000_000_000,
        before in prop::collection::vec(0u64..1_000, 0..60),
        acks in prop::collection::vec((0u64..300_000_000, 0u32..6, 0u32..40, 0u32..8), 0..40),
    ) {
        let [old_link, new_link] = links.map(|(rate_kbps, delay_us)| Link { rate_kbps, delay_us });
        let told = Notice { old_link, new_link, flows: n, disconnected };
        let mut before = before;
        before.sort_unstable();
        let flow = Flow { controls: n % 2 == 0, stamped: n % 3 == 0, reduces: n % 5 == 0, ..Flow::of(&before) };
        let mut flows = [flow, Flow { controls: n % 2 == 0, ..Flow::of(&before[..before.len() / 2]) }];
        let mut claim = Claim::default();
        let mut now = at.max(1_000 * MS);
        claim.on_notice(now, 0, &told, Some(&ack(100, &[])), &mut flows);
        for (wait, more, left, length) in acks {
            // A clock of nonsense has a slot in every nanosecond.
            let mut sends = 0;
            while sends < 50 && claim.deadline(&flows).is_some_and(|at| at <= now + wait) {
                let due = claim.deadline(&flows).map_or(now, |at| at.max(now));
                claim.on_time(due, &mut flows);
                if let Some((flow, seq)) = claim.next(due, &flows) {
                    let flow = &mut flows[flow];
                    prop_assert!((flow.una..=flow.snd_max()).contains(&seq));
                    match flow.sent.get_mut((seq - flow.una) as usize) {
                        Some(sent) => *sent = due,
                        None => flow.sent.push(due),
                    }
                } else {
                    let next = claim.deadline(&flows);
                    prop_assert!(next.is_none_or(|at| at > due), "it asks for {next:?} at {due}");
                }
                sends += 1;
            }
            now += wait;
            let flow = &mut flows[0];
            let upto = (flow.una + more).min(flow.snd_max());
            let left = (upto + 1 + left).min(flow.snd_max());
            let right = (left + length).min(flow.snd_max());
            let blocks = [(left, right)];
            let blocks = if left < right { &blocks[..] } else { &[] };
            claim.on_ack(now, 0, &ack(upto, blocks), &mut flows);
            let flow = &mut flows[0];
            flow.sent.drain(..(upto - flow.una) as usize);
            flow.una = upto;
        }
    }
}
