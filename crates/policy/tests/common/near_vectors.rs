//! The vectors of near.md, section 8: what one flow hears, and what it must answer. They are played where those of
//! `vectors.rs` are.

use super::{bbm, mbb, sender, with_flows};
use segue_policy::headers::ClaimEnd;
use segue_policy::{Action, Claim, Notice, Out, Sender, What};

/// An event of `near` in one flow (`policy/near_flow.h`).
#[derive(Clone, Copy, Debug)]
pub enum NearEvent {
    /// With so many packets under way, the first of them 100.
    Notice(Notice, u32),
    /// The same, of a handoff that is expected.
    Expected(Notice, u32),
    /// snd_una advances to this.
    NewAck(u32),
    FastRetransmit(u32),
    Timeout(u32),
    /// Packets are about to leave.
    Send(Out),
}

/// Answers of `near`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NearAnswer {
    /// A claim: cwnd and ssthresh in packets.
    Claims([u32; 2]),
    /// The same, and the head is sent again.
    Resumes([u32; 2]),
    /// Only the pace is bounded from now on.
    Paces,
    /// Nothing is cut.
    Keeps,
    /// The stack does as ever.
    Nothing,
    /// The claim lasts.
    Lasts(Claim),
    /// It does not.
    Ends(ClaimEnd),
}

impl NearAnswer {
    /// The answer in these words.
    pub fn of(act: &Action) -> Self {
        let windows = [act.cwnd / 256, act.ssthresh / 256];
        let claims = What::CLAIM | What::SET_CWND | What::SET_SSTHRESH;
        let resumes = What::RETRANSMIT_HEAD | What::CLEAR_BACKOFF | What::REARM_TIMER;
        match act.what {
            what if what == claims => Self::Claims(windows),
            what if what == claims | resumes => Self::Resumes(windows),
            What::KEEP_WINDOW | What::KEEP_SSTHRESH => Self::Keeps,
            What::CLAIM => Self::Paces,
            What::NOTHING => Self::Nothing,
            what => panic!("{what:?}"),
        }
    }
}

/// A sender with packets `una..una + flight` under way.
pub fn near_sender(una: u32, flight: u32) -> Sender {
    Sender { snd_una: una, snd_max: una + flight, flight, ..sender(flight) }
}

/// docs/reference/near.md, section 8: a packet has 1500 bytes, an ACK 52. Two packets always come on top of the window.
/// The first packets of a claim are a rate probe, at double speed.
pub fn near_flow() -> Vec<(NearEvent, NearAnswer)> {
    use NearAnswer::{Claims, Ends, Keeps, Lasts, Nothing};
    use NearEvent::{FastRetransmit, NewAck, Notice as Receives, Send, Timeout};
    let at = |snd_una, elapsed_ms: u32| {
        let now_us = 1000 * elapsed_ms;
        Out { snd_una, unit: 1, granted: 200, elapsed_ms, now_us, ..Out::default() }
    };
    let send = |snd_una, marked, elapsed_ms| Send(Out { marked, ..at(snd_una, elapsed_ms) });
    // The last blocks, behind empty ones.
    let sacked = |snd_una, elapsed_ms, marked, blocks: &[[u32; 2]]| {
        let mut sacks = [[0; 2]; 4];
        sacks[4 - blocks.len()..].copy_from_slice(blocks);
        Send(Out { marked, sacks, ..at(snd_una, elapsed_ms) })
    };
    let measured = |snd_una, elapsed_ms, rtt_us| Send(Out { rtt_us, ..at(snd_una, elapsed_ms) });
    let lasts =
        |extra: u32, kbps| Lasts(Claim { extra_packets: extra + 2, kbps, weight: 256, ..Claim::default() });
    let over = Ends(ClaimEnd::default());
    // Half of the window and so many is left.
    let competing = |extra_packets| Ends(ClaimEnd { competing_traffic: true, extra_packets });
    let four = |notice| with_flows(notice, 4);
    // The three others are in the group, and as far.
    let complete = |event| match event {
        Send(out) => Send(Out { others: 3, others_weight: 3 * 256, ..out }),
        other => other,
    };
    vec![
        // No notice: no claim.
        (send(100, 0, 0), over),
        // 2 * 9 + 1.94 ms hold 10.6 slots of 1.875 ms: W = 11. The notice was 9.065 ms under way, in which the old link
        // has delivered no packet (60 ms). So one at most of the twelve is new, the last.
        (Receives(mbb("200/300", "6400/9"), 12), Claims([11, 11])),
        (send(100, 0, 0), lasts(11, 12_800)),
        // 106 to 111 are left, 111 on the new link, two of the others SACKed or lost.
        (NewAck(106), Nothing),
        (send(106, 2, 5), lasts(3, 12_800)),
        // Those two are 112 and 113: the blocks say so. With 109 and 110 two of four are of the old link; a duplicate
        // within a block is no packet more.
        (sacked(106, 5, 2, &[[112, 114]]), lasts(5, 12_800)),
        (sacked(106, 5, 4, &[[109, 111], [112, 114]]), lasts(3, 12_800)),
        (sacked(106, 5, 4, &[[109, 111], [112, 114], [113, 114]]), lasts(3, 12_800)),
        // 111 is on the new link, too.
        (sacked(106, 5, 3, &[[111, 114]]), lasts(5, 12_800)),
        // Packets that no block reports are taken for old, and acknowledged ones count no more.
        (sacked(106, 5, 4, &[[113, 114]]), lasts(2, 12_800)),
        (sacked(106, 5, 1, &[[102, 104], [112, 113]]), lasts(5, 12_800)),
        (FastRetransmit(106), Keeps),
        (Timeout(106), Keeps),
        // A round trip, 19.94 ms, after the notice 111 has arrived or is lost. The rate probe was not
        // sent in four slots.
        (send(106, 0, 19), lasts(5, 6400)),
        (send(106, 0, 20), lasts(6, 6400)),
        (send(100, 0, 20), lasts(12, 6400)),
        (sacked(106, 20, 3, &[[111, 114]]), lasts(5, 6400)),
        // All are waited for for 2 * 19.94 + 11 * 1.875 + 200 = 260.5 ms. Sending them again and the old link take 12 *
        // (1.875 + 60) ms, in all 1003 ms. The next round probes again.
        (send(106, 0, 1003), lasts(6, 12_800)),
        (NewAck(112), Nothing),
        (FastRetransmit(112), Nothing),
        (Timeout(112), Nothing),
        // Lost packets of before are waited for no longer.
        (Receives(mbb("200/300", "6400/9"), 12), Claims([11, 11])),
        (send(106, 0, 1004), over),
        // All of before is acknowledged: it goes on by rounds of 100 ms while the least round trip of one is at most
        // 25.565 ms. That is 19.94 + 1.875 of the old link + 2 * 1.875. The excess over the told one, 5.625 ms, holds
        // three packets more. In later rounds only a shorter one counts: 23.69 ms hold two.
        (Receives(bbm("6400/9", "6400/9"), 12), Claims([11, 11])),
        (NewAck(112), Nothing),
        (send(112, 0, 0), lasts(0, 12_800)),
        (measured(112, 99, 25_565), lasts(3, 6400)),
        (send(112, 0, 100), lasts(3, 12_800)),
        (measured(112, 150, 23_690), lasts(2, 6400)),
        (send(112, 0, 201), lasts(2, 12_800)),
        // One round with a longer one may be chance, two in a row are not.
        (measured(112, 250, 25_566), lasts(2, 6400)),
        (send(112, 0, 302), lasts(2, 6400)),
        (measured(112, 350, 25_565), lasts(2, 6400)),
        (send(112, 0, 403), lasts(2, 6400)),
        (measured(112, 450, 25_566), lasts(2, 6400)),
        (send(112, 0, 504), lasts(2, 6400)),
        (measured(112, 550, 25_566), lasts(2, 6400)),
        // 25.566 ms hold 13.6 slots instead of 10.6.
        (send(112, 0, 605), competing(3)),
        (send(112, 0, 0), over),
        // While old packets are missing, a round trip may be longer by the reported one: 25.565 + 19.94 = 45.505 ms. At
        // the end no more than two reported ones count, which hold 21.3 slots.
        (Receives(bbm("6400/9", "6400/9"), 12), Claims([11, 11])),
        (NewAck(106), Nothing),
        (send(106, 0, 0), lasts(6, 12_800)),
        (measured(106, 99, 45_505), lasts(9, 6400)),
        (send(106, 0, 100), lasts(6, 12_800)),
        (measured(106, 150, 45_505), lasts(9, 6400)),
        (send(106, 0, 201), lasts(6, 12_800)),
        (Receives(bbm("6400/9", "6400/9"), 12), Claims([11, 11])),
        (NewAck(106), Nothing),
        (send(106, 0, 0), lasts(6, 12_800)),
        (measured(106, 99, 45_506), lasts(9, 6400)),
        (send(106, 0, 100), lasts(6, 6400)),
        (measured(106, 150, 45_506), lasts(9, 6400)),
        (send(106, 0, 201), competing(11)),
        // Alone it goes on for ten seconds more.
        (Receives(bbm("6400/9", "6400/9"), 0), Claims([11, 11])),
        (send(100, 0, 100), lasts(0, 12_800)),
        (send(100, 0, 10_098), lasts(0, 6400)),
        (send(100, 0, 10_198), lasts(0, 6400)),
        (send(100, 0, 10_199), over),
        // A quarter of the slots; 19.94 / 7.5. A rate probe would have two packets, which is none. Each of the four may have 3 + 2 packets in flight: 20 * 1.875 + 1.875 = 39.375 ms. These
        // hold 5.25 slots of 7.5 ms, and 19.94 ms hold 2.7.
        (Receives(four(bbm("6400/9", "6400/9")), 12), Claims([3, 3])),
        (complete(send(100, 0, 0)), lasts(12, 1600)),
        (NewAck(112), Nothing),
        (measured(112, 99, 39_375), lasts(3, 1600)),
        (send(112, 0, 100), lasts(3, 1600)),
        (measured(112, 150, 39_376), lasts(3, 1600)),
        (send(112, 0, 201), lasts(3, 1600)),
        (measured(112, 250, 39_376), lasts(3, 1600)),
        (send(112, 0, 302), competing(3)),
        // 8.8: 80.08 ms hold 1.3 slots of 60 ms, W = 2. Four flows with a packet and two each are more than four:
        // oversubscribed. A reduction slows one of them by an eighth of 50 kbit/s, at most by four; a round of eight
        // slots gives one back.
        (Receives(four(bbm("6400/9", "200/9")), 0), Claims([1, 1])),
        (complete(send(100, 0, 0)), lasts(0, 50)),
        (FastRetransmit(100), Nothing),
        (send(100, 0, 1), lasts(0, 43)),
        (FastRetransmit(100), Nothing),
        (FastRetransmit(100), Nothing),
        (FastRetransmit(100), Nothing),
        (FastRetransmit(100), Nothing),
        (send(100, 0, 1920), lasts(0, 25)),
        (send(100, 0, 1921), lasts(0, 31)),
        (send(100, 0, 3842), lasts(0, 37)),
        (send(100, 0, 5763), lasts(0, 43)),
        (send(100, 0, 7684), lasts(0, 50)),
        // It has too few packets for a rate probe. No packet waits for another if its round trip is at most 80.08 +
        // 60 ms. The second such round, and each that follows, makes the slot 4/5. A round without a round trip is none.
        (measured(100, 9604, 140_080), lasts(0, 50)),
        (send(100, 0, 9605), lasts(0, 50)),
        (measured(100, 9606, 140_080), lasts(0, 50)),
        (send(100, 0, 11_526), lasts(0, 62)),
        (measured(100, 11_527, 140_081), lasts(0, 62)),
        (send(100, 0, 13_447), lasts(0, 62)),
        // A reduction undoes steps first.
        (FastRetransmit(100), Nothing),
        (send(100, 0, 13_448), lasts(0, 50)),
        // There a claim goes on for 256 slots of 240 ms from the end of its first round on.
        (send(100, 0, 63_361), over),
        // 2 * 300 + 62.08 ms hold 11.03 slots of 60 ms. ACKs were on the old link for 9.065 ms, in which it delivers
        // 4.8 packets: five at most of the twenty are new. Those that follow come over the new link, behind the notice.
        // All are waited for for 2 * 662.08 + 12 * 60 + 200 ms and 20 * (60 + 1.875) ms: 3481.7 ms.
        (Receives(mbb("6400/9", "200/300"), 20), Claims([12, 12])),
        (send(100, 0, 662), lasts(15, 400)),
        (send(110, 0, 662), lasts(5, 400)),
        (send(110, 0, 663), lasts(10, 400)),
        (send(116, 0, 3481), lasts(4, 200)),
        (send(116, 0, 3482), over),
        // A dead link holds nothing that the new one would have to carry.
        (Receives(bbm("6400/9", "6400/9"), 20), Claims([11, 11])),
        (send(100, 0, 0), lasts(20, 12_800)),
        (send(100, 20, 0), lasts(0, 12_800)),
        // Jitter (8.12): the round trip jumps from 20 to 34 ms. Their mean excess is 1.8, 3.3, 4.6 and 5.8 ms then. More
        // than three slots hide what a rate probe shows, and 20 + 2 * 5.76 ms hold six packets more.
        (Receives(bbm("6400/9", "6400/9"), 12), Claims([11, 11])),
        (NewAck(112), Nothing),
        (measured(112, 40, 20_000), lasts(0, 12_800)),
        (measured(112, 50, 34_000), lasts(0, 6400)),
        (measured(112, 60, 34_000), lasts(0, 6400)),
        (measured(112, 70, 34_000), lasts(0, 6400)),
        (measured(112, 80, 34_000), lasts(6, 6400)),
    ]
}

/// Section 8.9: flows of a group share 11 packets and 6400 kbit/s by how far they are behind. The notice counts four.
pub fn near_shares() -> Vec<(NearEvent, NearAnswer)> {
    use NearAnswer::{Claims, Lasts};
    use NearEvent::{Notice as Receives, Send};
    let told = || Receives(with_flows(bbm("6400/9", "6400/9"), 4), 60);
    // All packets from before the notice have arrived, or so many are lost. So many new ones have left.
    let out = |lost: u32, new: u32, (others, others_behind, others_weight)| {
        let snd_una = if lost > 0 { 100 } else { 160 };
        let out =
            Out { snd_una, unit: 1, granted: 200, marked: 60, lost, snd_max: 160 + new, ..Out::default() };
        Out { others, others_behind, others_weight, now_us: 1_000_000, ..out }
    };
    let first = Out { now_us: 0, ..out(60, 0, (1, 20, 206)) };
    let send = |lost, new, others| Send(out(lost, new, others));
    let lasts = |more: i32, kbps, (behind, weight)| {
        let (extra_packets, withheld_packets) =
            (2 + more.max(0).unsigned_abs(), (-more).max(0).unsigned_abs());
        Lasts(Claim { extra_packets, withheld_packets, kbps, behind, weight, competing_traffic: 0 })
    };
    vec![
        // The weights are 256 + 256 * (60 - 40) / (64 + 40) = 305, and 206. So the shares are 64 + 192 * 2 * 305 / 511 =
        // 293 of 256, and 218. 19.94 ms hold 3.04 and 2.3 of their slots, and 2.7 of an even share's.
        (told(), Claims([3, 3])),
        // Three packets are enough for a rate probe, which something else then holds back.
        (Send(first), lasts(1, 2 * 1831, (60, 305))),
        (send(60, 0, (1, 20, 206)), lasts(1, 1831, (60, 305))),
        (send(20, 0, (1, 60, 305)), lasts(0, 1362, (20, 206))),
        // All four are there: 256 + 256 * (60 - 20) / (64 + 20) = 377, and 169 of each of the others.
        (send(60, 0, (3, 20, 507)), lasts(2, 2443, (60, 377))),
        // Flows that are equally far, and one flow alone: even shares.
        (send(20, 0, (1, 20, 256)), lasts(0, 1600, (20, 256))),
        (send(0, 10, (1, -10, 256)), lasts(0, 1600, (-10, 256))),
        (send(60, 0, (0, 0, 0)), lasts(0, 1600, (60, 256))),
        // Five flows of four have four fifths of that, 204 of 256. Four of them are even.
        (send(20, 0, (4, 80, 4 * 256)), lasts(0, 1275, (20, 256))),
        // New packets count against it: 256 - 256 * (10 + 40) / (64 + 10) = 83.
        (send(0, 40, (1, 60, 600)), lasts(-1, 687, (-40, 83))),
        // A quarter is left to it, and to each of the others.
        (send(0, 200, (3, -30, 1200)), lasts(-2, 400, (-200, 1))),
        (send(0, 0, (3, -60_000, 3)), lasts(6, 5193, (0, 60_256))),
        // More new packets do not count.
        (send(0, 100_000, (1, -32_767, 256)), lasts(0, 1600, (-32_767, 256))),
    ]
}

/// Section 8.10: a notice counts more flows than the group has had.
pub fn near_spare() -> Vec<(NearEvent, NearAnswer)> {
    use NearAnswer::{Claims, Ends, Lasts};
    use NearEvent::{Notice as Receives, Send};
    let measured = |elapsed_ms: u32, rtt_us| {
        let now_us = 1000 * elapsed_ms;
        Out { snd_una: 100, unit: 1, granted: 200, elapsed_ms, now_us, rtt_us, ..Out::default() }
    };
    // So many others are in the group, and as far.
    let beside = |others, elapsed_ms, rtt_us| {
        Send(Out { others, others_weight: 256 * others, ..measured(elapsed_ms, rtt_us) })
    };
    let alone = |elapsed_ms, rtt_us| beside(0, elapsed_ms, rtt_us);
    let lasts =
        |extra: u32, kbps| Lasts(Claim { extra_packets: extra + 2, kbps, weight: 256, ..Claim::default() });
    let four = |notice| Receives(with_flows(notice, 4), 0);
    vec![
        // No packet has waited if its round trip is at most 80.08 ms, a packet of each link, and a delayed ACK. These are
        // 80.08 + 1.875 + 60 + 44 ms. Three steps follow at the end of the first round: 50 kbit/s by 1.25^3. 185.955 ms
        // hold 1.5 packets then.
        (four(bbm("6400/9", "200/9")), Claims([1, 1])),
        (alone(1920, 185_955), lasts(0, 50)),
        (alone(1921, 0), lasts(1, 96)),
        // The next round has three slots of 240 ms. One of its packets has waited.
        (alone(2641, 185_956), lasts(1, 96)),
        (alone(2642, 0), lasts(1, 96)),
        // All four are in the group, and so they stay: 140.08 ms, two rounds, and one step. Each but the present one has
        // eight slots.
        (beside(3, 2650, 140_080), lasts(1, 96)),
        (alone(3363, 0), lasts(1, 96)),
        (alone(5283, 140_080), lasts(1, 96)),
        (alone(5284, 0), lasts(1, 120)),
        // Two of four have half of the link, and after three steps all of it. The round that follows is short, too. Then a
        // round has eight slots, and makes one step. Three have more than half.
        (four(bbm("6400/9", "200/9")), Claims([1, 1])),
        (beside(1, 1920, 140_080), lasts(0, 50)),
        (beside(1, 1921, 0), lasts(1, 96)),
        (beside(1, 2642, 140_080), lasts(1, 120)),
        (beside(1, 4562, 140_080), lasts(1, 120)),
        (beside(1, 4563, 0), lasts(1, 150)),
        (four(bbm("6400/9", "200/9")), Claims([1, 1])),
        (beside(2, 1920, 140_080), lasts(0, 50)),
        (beside(2, 1921, 0), lasts(0, 50)),
        // A slot of 7.5 ms delays no ACK. The limit of 39.375 ms, less three packets, is 33.75 ms, which hold 4.5 packets.
        // At 3125 kbit/s they hold 8.8, and the path five, which are enough for a rate probe.
        (four(bbm("6400/9", "6400/9")), Claims([3, 3])),
        (alone(99, 33_750), lasts(2, 1600)),
        (alone(100, 0), lasts(6, 6250)),
        (four(bbm("6400/9", "6400/9")), Claims([3, 3])),
        (alone(99, 33_751), lasts(2, 1600)),
        (alone(100, 0), lasts(2, 1600)),
        // One flow of two has a slot of 3.75 ms, and can probe. Each may have 6 + 2 packets in flight: 16 * 1.875 + 1.875 =
        // 31.875 ms. The round after the first lasts for 31.875 + 4 * 3.75 ms, and 100 ms at least. 31.876 ms hold 8.5
        // slots, and 19.94 ms hold 5.3.
        (Receives(with_flows(bbm("6400/9", "6400/9"), 2), 0), Claims([6, 6])),
        (alone(99, 0), lasts(0, 6400)),
        (alone(100, 0), lasts(0, 6400)),
        (alone(150, 31_876), lasts(3, 3200)),
        (alone(201, 0), lasts(3, 3200)),
        (alone(250, 31_876), lasts(3, 3200)),
        (alone(302, 0), Ends(ClaimEnd { competing_traffic: true, extra_packets: 3 })),
    ]
}

/// Section 8.13: a handoff that is expected. Until its notice, or for a second, the flow is no faster than its share of the
/// new link. Nothing else of it is the policy's.
pub fn near_expected() -> Vec<(NearEvent, NearAnswer)> {
    use NearAnswer::{Claims, Ends, Lasts, Nothing, Paces};
    use NearEvent::{Expected, FastRetransmit, NewAck, Notice as Receives, Send, Timeout};
    let send = |elapsed_ms, now_us| {
        Send(Out { snd_una: 100, unit: 1, elapsed_ms, now_us, sent: 7, ..Out::default() })
    };
    let paced = |kbps| Lasts(Claim { kbps, ..Claim::default() });
    let claims =
        |extra: u32, kbps| Lasts(Claim { extra_packets: extra + 2, kbps, weight: 256, ..Claim::default() });
    let slower = mbb("6400/9", "200/300");
    let once = [
        (Expected(slower, 20), Paces),
        // The second begins with the first packet, close to the end of the clock.
        (send(9_000, 4_294_900_000), paced(200)),
        (NewAck(105), Nothing),
        (FastRetransmit(105), Nothing),
        (Timeout(105), Nothing),
        (send(9_999, 932_704), paced(200)),
        (send(9_999, 932_705), Ends(ClaimEnd::default())),
        (send(9_999, 932_706), Ends(ClaimEnd::default())),
    ];
    // One of four; another announcement, of a faster link, takes its place.
    let four = with_flows(slower, 4);
    let faster = with_flows(mbb("200/300", "6400/9"), 4);
    let again = [
        (Expected(four, 20), Paces),
        (send(0, 0), paced(50)),
        (Expected(faster, 20), Paces),
        (send(0, 900_000), paced(1_600)),
        (send(0, 1_900_000), paced(1_600)),
        (send(0, 1_900_001), Ends(ClaimEnd::default())),
    ];
    // An ACK takes 9.065 ms, in which five packets leave for the new link at 1.875 ms each. Where the handoff was expected
    // it is one, at 60 ms.
    let surprise = [(Receives(slower, 20), Claims([12, 12])), (send(0, 0), claims(15, 400))];
    let notice = |held_us, old| {
        [
            (Expected(slower, 20), Paces),
            (send(0, 0), paced(200)),
            (send(0, held_us), paced(200)),
            (Receives(slower, 20), Claims([12, 12])),
            (send(0, 20_000), claims(old, 400)),
        ]
    };
    // If it was expected for 5 ms, two packets have left in the 4.065 ms before, and three in all.
    let (all, shortly) = (notice(9_065, 19), notice(5_000, 17));
    // The time was over: it was no longer expected.
    let late = [
        (Expected(slower, 20), Paces),
        (send(0, 0), paced(200)),
        (send(0, 1_000_001), Ends(ClaimEnd::default())),
    ];
    // To a faster link the old one decides how many left: 9.065 ms are less than a packet of 60 ms.
    let fast = [
        (Expected(mbb("200/300", "6400/9"), 20), Paces),
        (send(0, 0), paced(6_400)),
        (Receives(mbb("200/300", "6400/9"), 20), Claims([11, 11])),
        (send(0, 1_000), claims(19, 12_800)),
    ];
    [&once[..], &again, &surprise, &all, &shortly, &late, &surprise, &fast].concat()
}

/// Section 8.7: the rate probe. A slot has 1.875 ms. Six packets leave 0.9375 ms apart, the next one 3.5 slots
/// behind the last of them.
pub fn near_rate_probe() -> Vec<(NearEvent, NearAnswer)> {
    use NearAnswer::{Claims, Lasts};
    use NearEvent::{Notice as Receives, Send};
    let sends = |sent, now_us| {
        let elapsed_ms = now_us / 1000;
        Out { snd_una: 100, unit: 1, granted: 200, elapsed_ms, now_us, sent, ..Out::default() }
    };
    let leaves = |sent, now_us| Send(sends(sent, now_us));
    // The packet that left at `sent_us` has arrived, which took so long.
    let sample = |sent_us, rtt_us, now_us| Send(Out { sent_us, rtt_us, ..sends(13, now_us) });
    let lasts =
        |extra: u32, kbps| Lasts(Claim { extra_packets: extra + 2, kbps, weight: 256, ..Claim::default() });
    let probe = [
        (Receives(bbm("6400/9", "6400/9"), 0), Claims([11, 11])),
        (leaves(7, 0), lasts(0, 12_800)),
        (leaves(11, 3_750), lasts(0, 12_800)),
        (leaves(12, 4_687), lasts(0, 12_800 / 7)),
        (leaves(13, 11_250), lasts(0, 6400)),
        // The first has met no queue. The second and the fourth do not decide.
        (sample(0, 19_940, 19_940), lasts(0, 6400)),
        (sample(937, 19_940, 20_877), lasts(0, 6400)),
        (sample(2_812, 19_940, 22_752), lasts(0, 6400)),
    ];
    // The fifth would have waited for two slots. One is no sign of a faster link, and the next rate probe follows
    // after eight rounds. The first ends at 100 ms.
    let failed = (sample(3_750, 21_815, 25_565), lasts(0, 6400));
    let rounds = (100..807).step_by(101).map(|ms| (leaves(13, 1000 * ms), lasts(0, 6400)));
    let no = [vec![failed], rounds.collect(), vec![(leaves(13, 807_000), lasts(0, 12_800))]].concat();
    // Less is: three steps, 6400 * 1.25^3, at which the path holds 20.8 packets in place of 10.6. The next six
    // probe again.
    let yes = [
        (sample(3_750, 21_814, 25_564), lasts(10, 25_000)),
        (leaves(13, 100_000), lasts(10, 12_500)),
        // A queue undoes two steps: 8000 kbit/s, 13.3 packets.
        (sample(101_000, 30_000, 131_000), lasts(10, 12_500)),
        (leaves(13, 201_000), lasts(3, 8000)),
    ];
    // One that left later than all of them: they were sent again, and there is no sample. The next round probes.
    let again = [(sample(9_000, 19_940, 28_940), lasts(0, 6400)), (leaves(13, 100_000), lasts(0, 12_800))];
    // 19.94 ms have one slot of each of eight flows, 15 ms, and none of sixteen: they probe nothing.
    let alone = [(8, [2, 2], 800), (16, [1, 1], 400)].map(|(flows, windows, kbps)| {
        let sample = sample(400, 19_940, 29_000);
        let told = Receives(with_flows(bbm("6400/9", "6400/9"), flows), 0);
        [(told, Claims(windows)), (leaves(7, 0), lasts(0, kbps)), (sample, lasts(0, kbps))]
    });
    // A slot of one of three has 5.625 ms, and a rate probe three packets, half a slot apart. At the clock's rate one
    // waits for a slot of the link, 1.875 ms, longer than the second before it; half decides.
    let three = [
        (Receives(with_flows(bbm("6400/9", "6400/9"), 3), 0), Claims([4, 4])),
        (leaves(7, 0), lasts(0, 4266)),
        (leaves(9, 5_625), lasts(0, 4266 / 4)),
        (leaves(10, 15_000), lasts(0, 2133)),
    ];
    // One between them does not: the others have sent nothing since the first, or two.
    let (first, between) = ((0, 19_940, 19_940), (2_812, 25_000, 27_812));
    let third = |rtt_us| sample(5_625, rtt_us, 5_625 + rtt_us);
    let [first, between] = [first, between].map(|(sent, rtt, now)| (sample(sent, rtt, now), lasts(0, 2133)));
    let no_3 = [first, between, (third(20_877), lasts(0, 2133)), (leaves(13, 100_000), lasts(0, 2133))];
    let yes_3 = [first, between, (third(20_876), lasts(3, 8330))];
    // One ACK for the first two: the third does not decide, and the next round probes. 25 ms would hold a packet more.
    let late =
        [(between.0, lasts(1, 2133)), (third(20_000), lasts(0, 2133)), (leaves(13, 100_000), lasts(0, 4266))];
    // A packet from before the notice comes over the old link when the first has: its round trip is no sign.
    let older = [(sample(0, 300_000, 19_940), lasts(3, 2133)), (third(20_876), lasts(0, 2133))];
    // The queue of others drains while those leave: more than 3 * (4 + 2) * 1.875 + 1.875 = 35.625 ms.
    let queue = [(sample(0, 35_500, 35_500), lasts(3, 2133)), (third(35_626), lasts(3, 2133))];
    let of_three =
        [&three[..], &no_3, &three, &yes_3, &three, &late, &three, &older, &three, &queue].concat();
    [&probe[..], &no, &probe, &yes, &probe, &again, &alone.concat(), &of_three].concat()
}
