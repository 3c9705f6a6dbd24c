//! The bench of docs/reference/bench.md, against times worked out by hand.
//!
//! The bench is looked at from outside: a handoff at T = 0 puts everything on the new link, and
//! `after-ack` with P packets tells when the cumulative ACK of packet P reaches the sender. The SYN is
//! packet 0. Times are in ms; the comments add them up hop by hop. A packet of 1500 bytes takes
//! 0.12 ms on a wired hop and 0.024 ms on the last one, one of 40 bytes 0.0032 and 0.00064 ms.

use crate::support::*;
use segue_netsim::{Nanos, SECOND};
use segue_world::{Definition, Experiment, Kind, NoticeMode, WarmRun};

/// Two wired hops for 40 bytes.
const WIRED_ACK: f64 = 2.0 * (2.0 + 0.0032);
/// Two wired hops for 1500 bytes.
const WIRED_DATA: f64 = 2.0 * (2.0 + 0.12);
const LAST_ACK: f64 = 0.00064;
const LAST_DATA: f64 = 0.024;
/// The ACK of the SYN is delayed like any other.
const DELAYED: f64 = 100.0;

/// When the cumulative ACK covers `packets` packets, the SYN among them, if all goes over `new`.
fn acked(new: &str, flows: usize, packets: u32) -> Nanos {
    let all_new =
        Experiment { definition: Definition::AfterAck, packets, flows, ..experiment("300kbit/7ms", new) };
    run(&all_new, 0, &scheme("sack")).transfer.expect("it ends")
}

/// From T to the cumulative ACK of `packets` more packets.
fn more(experiment: &Experiment, at: f64, packets: u32) -> Nanos {
    let experiment = Experiment { definition: Definition::AfterAck, packets, ..experiment.clone() };
    run(&experiment, ms(at), &scheme("sack")).transfer.expect("it ends")
}

// ------------------------------------------------------------------------- hops, delayed ACK

/// 200 kbit/s, 300 ms: 60 ms a packet, 1.6 ms an ACK.
#[test]
fn first_packets_on_a_slow_link() {
    let new = "200kbit/300ms";
    let way = WIRED_ACK + 1.6 + 300.0 + LAST_ACK; // 305.60704, either way
    let established = way + DELAYED + way;
    assert_eq!(ms(established), 711_214_080);
    assert_eq!(acked(new, 1, 1), ms(established));

    // Three packets at once, an ACK for the first two when the second arrives 60 ms after the first.
    let first = established + WIRED_DATA + 60.0 + 300.0 + LAST_DATA;
    let second = first + 60.0;
    assert_eq!(acked(new, 1, 2), ms(second + way));
    assert_eq!(acked(new, 1, 3), ms(second + way));
    // The third waits for a fourth that is not yet sent.
    let third = second + 60.0;
    assert_eq!(acked(new, 1, 4), ms(third + DELAYED + way));
    // The first ACK has opened the window to four: packets 4, 5 and 6 leave when it arrives.
    let second_round = second + way;
    let fifth = second_round + WIRED_DATA + 2.0 * 60.0 + 300.0 + LAST_DATA;
    assert_eq!(acked(new, 1, 5), ms(fifth + way));
    assert_eq!(acked(new, 1, 6), ms(fifth + way));
}

/// 6400 kbit/s, 9 ms: 1.875 ms a packet, 0.05 ms an ACK.
#[test]
fn first_packets_on_a_fast_link() {
    let new = "6400kbit/9ms";
    let way = WIRED_ACK + 0.05 + 9.0 + LAST_ACK; // 13.05704
    let established = way + DELAYED + way;
    assert_eq!(acked(new, 1, 1), ms(established));
    let second = established + WIRED_DATA + 2.0 * 1.875 + 9.0 + LAST_DATA;
    assert_eq!(acked(new, 1, 2), ms(second + way));
    assert_eq!(acked(new, 1, 3), ms(second + way));
}

#[test]
fn flows_start_a_millisecond_apart() {
    let new = "6400kbit/9ms";
    let established = 2.0 * (WIRED_ACK + 0.05 + 9.0 + LAST_ACK) + DELAYED;
    for flows in 1..=4 {
        // 1 ms is more than a SYN takes anywhere, so nobody waits.
        assert_eq!(acked(new, flows, 1), ms(established + (flows - 1) as f64));
    }
}

#[test]
fn other_seeds_start_within_20_ms() {
    let established = ms(2.0 * (WIRED_ACK + 0.05 + 9.0 + LAST_ACK) + DELAYED);
    let mut starts: Vec<Nanos> = (2..12)
        .map(|seed| {
            let e = Experiment {
                definition: Definition::AfterAck,
                packets: 1,
                seed,
                ..experiment("wlan", "6400kbit/9ms")
            };
            run(&e, 0, &scheme("sack")).transfer.expect("it ends") - established
        })
        .collect();
    assert!(starts.iter().all(|&start| start < 20 * MS));
    starts.sort_unstable();
    starts.dedup();
    assert!(starts.len() == 10 && starts[9] - starts[0] > 5 * MS, "{starts:?}");
}

#[test]
fn fast_access_raises_the_wired_hops() {
    let hops = |old: &str, new: &str| experiment(old, new).fixed_hops();
    assert_eq!(
        (hops("80mbit/1ms", "wlan").wired, hops("80mbit/1ms", "wlan").last),
        (100_000_000, 500_000_000)
    );
    // Either link counts, before and after the handoff.
    for (old, new) in [("100mbit/1ms", "wlan"), ("wlan", "100mbit/1ms")] {
        assert_eq!(hops(old, new).wired, 1_000_000_000);
    }
    // 40 bytes: 0.00032 ms on a hop of 1 Gbit/s, 0.0032 on the access link.
    let fast = experiment("wlan", "100mbit/1ms");
    let last = 40.0 * 8.0 / (fast.fixed_hops().last as f64 / 1000.0);
    let way = 2.0 * (2.0 + 0.00032) + 0.0032 + 1.0 + last;
    assert_eq!(acked("100mbit/1ms", 1, 1), ms(2.0 * way + DELAYED));
}

// ----------------------------------------------------------------------------------- queues

/// Ten packets in the queue of 200kbit/300ms, the one being sent included: the last that gets in waits
/// for what is left of nine.
#[test]
fn the_queue_holds_its_limit_with_the_packet_being_sent() {
    let record = run(&experiment("6400kbit/9ms", "200kbit/300ms"), 8200 * MS, &scheme("sack"));
    assert!(!record.data_drops.is_empty());
    let longest = record.queue_delays.iter().max().copied().expect("data went over it");
    assert!(8 * 60 * MS < longest && longest <= 9 * 60 * MS, "{longest}");
}

/// Each flow sends three packets at once; three flows fit into ten places, four do not. At T = 0.
#[test]
fn what_finds_the_queue_full_is_dropped() {
    for (flows, drops) in [(3, 0), (4, 2)] {
        let e = Experiment {
            flows,
            definition: Definition::AfterAck,
            packets: 2,
            ..experiment("wlan", "200kbit/300ms")
        };
        let mut twin = Twin::hand_over(&e, 0);
        twin.run_until(ms(711.21408 + 50.0)); // before anything is sent again
        let dropped = twin.drops();
        assert_eq!(dropped.len(), drops, "{flows} flows: {dropped:?}");
        for (at, flow, seq) in dropped {
            // The first of all is being sent since 4.24 ms after it left, the next eleven came within
            // 60 ms: only the last flow's last two find ten there.
            assert_eq!(flow, 3);
            assert!(seq == 2 || seq == 3);
            assert!(at < ms(711.21408 + 60.0));
        }
    }
}

#[test]
fn delays_behind_a_burst_grow_packet_by_packet() {
    let e =
        Experiment { definition: Definition::AfterAck, packets: 3, ..experiment("wlan", "200kbit/300ms") };
    let record = run(&e, 0, &scheme("sack"));
    // SYN, then three packets that come 0.12 ms apart.
    assert_eq!(record.queue_delays[..4], [0, 0, ms(60.0 - 0.12), ms(120.0 - 0.24)]);
}

// -------------------------------------------------------------------------------- handoffs

/// At 0.8 s three packets are on 200kbit/300ms. They are delivered, and acknowledged over the new link.
#[test]
fn mbb_delivers_what_is_on_the_old_link() {
    let e = experiment("200kbit/300ms", "6400kbit/9ms");
    let way = WIRED_ACK + 0.05 + 9.0 + LAST_ACK;
    let sent = 711.21408;
    let second = sent + WIRED_DATA + 2.0 * 60.0 + 300.0 + LAST_DATA;
    assert_eq!(more(&e, 800.0, 2), ms(second + way - 800.0));
    let record = run(&e, 800 * MS, &scheme("sack"));
    assert_eq!((record.completion, record.lost_in_disconnection, record.drops), (800 * MS, 0, 0));
    assert_eq!(record.timeouts.len(), 0);
    // A packet that the first ACK releases overtakes the third packet, which is therefore sent again.
    let resent: Vec<_> = record.fast_retransmits.iter().map(|f| f.2).collect();
    assert_eq!((resent, record.retransmissions), (vec![3], 1));
}

/// MBB: an ACK that is on the old link arrives over it; one made after T goes over the new link.
#[test]
fn mbb_delivers_acks_of_the_old_link_too() {
    // The ACK of the SYN leaves the mobile at 405.60704 ms.
    let e = experiment("200kbit/300ms", "6400kbit/9ms");
    assert_eq!(more(&e, 405.7, 1), ms(711.21408 - 405.7), "over the old link");
    let new_way = WIRED_ACK + 0.05 + 9.0 + LAST_ACK;
    assert_eq!(more(&e, 405.6, 1), ms(405.60704 + new_way - 405.6), "over the new link");
}

/// At 0.8 s three packets are on the old link: all come out after T and are lost. The RTO after one
/// sample of 71 ticks is 71 + 4 * 35.5 = 213 ticks; the timer has run since 0.711 s.
#[test]
fn bbm_loses_what_comes_out_afterwards() {
    let e = Experiment { kind: Kind::Bbm(500 * MS), ..experiment("200kbit/300ms", "6400kbit/9ms") };
    let record = run(&e, 800 * MS, &scheme("sack"));
    assert_eq!((record.completion, record.lost_in_disconnection), (1300 * MS, 3));
    let first = record.timeouts[0];
    assert_eq!((first.at, first.head, first.spurious), (ms(711.21408) + 2130 * MS, 1, false));
    let mut twin = Twin::hand_over(&e, 800 * MS);
    twin.finish();
    let lost: Vec<_> = twin.events().filter(|e| matches!(e.2, What::Lost { .. })).collect();
    let out = |n: f64| ms(711.21408 + WIRED_DATA + n * 60.0 + 300.0);
    let data = |seq| What::Lost { seq, data: true };
    assert_eq!(lost, [(out(1.0), 0, data(1)), (out(2.0), 0, data(2)), (out(3.0), 0, data(3))]);
}

/// The ACK of the SYN comes out of the old link at 707.20768 ms.
#[test]
fn bbm_loses_acks_too_and_only_what_comes_out_after_t() {
    let e = Experiment { kind: Kind::Bbm(500 * MS), ..experiment("200kbit/300ms", "6400kbit/9ms") };
    let record = run(&e, ms(707.2), &scheme("sack"));
    assert_eq!(record.lost_in_disconnection, 1, "the ACK");
    // The SYN's timer is 3 s; the SYN had arrived, so the timeout is spurious.
    let first = record.timeouts[0];
    assert_eq!((first.at, first.head, first.spurious), (3 * SECOND, 0, true));

    let record = run(&e, ms(707.21), &scheme("sack"));
    assert_eq!(record.lost_in_disconnection, 3, "the ACK gets through, three packets follow it in vain");
    assert_eq!(record.timeouts[0].head, 1);
}

/// Nothing moves to the new link before T + D, everything after.
#[test]
fn bbm_moves_to_the_new_link_at_completion() {
    let e =
        Experiment { kind: Kind::Bbm(1000 * MS), flows: 2, ..experiment("6400kbit/9ms", "1600kbit/20ms") };
    let mut twin = Twin::hand_over(&e, 3000 * MS);
    twin.finish();
    for (at, _, what) in twin.events() {
        if let What::Arrived { over_new, .. } = what {
            assert!(at < ms(3000.0 + 0.1) || at > 4000 * MS, "arrived at {at}");
            assert_eq!(over_new, at > 4000 * MS);
        }
    }
}

// ----------------------------------------------------------------------------------- bound

/// The ACK's way over 200kbit/300ms.
const ACK_WAY_SLOW: f64 = LAST_ACK + 1.6 + 300.0 + WIRED_ACK;

/// At 127 ms three packets are on their way to R (the connection stands since 126.11408 ms): the new
/// link can be busy at once and carries those and a hundred more.
#[test]
fn bound_towards_a_slow_link_with_packets_at_the_router() {
    let record = run(&experiment("6400kbit/9ms", "200kbit/300ms"), 127 * MS, &scheme("sack"));
    let bound = 103.0 * 60.0 + 300.0 + LAST_DATA + ACK_WAY_SLOW;
    assert_eq!(record.bound, ms(bound));
}

/// At 150 ms those three have been delivered and nobody has more to send: the link must first be
/// reached, 4 ms.
#[test]
fn bound_towards_a_slow_link_when_nothing_is_under_way() {
    let e = experiment("6400kbit/9ms", "200kbit/300ms");
    let record = run(&e, 150 * MS, &scheme("sack"));
    let bound = 4.0 + 100.0 * 60.0 + 300.0 + LAST_DATA + ACK_WAY_SLOW;
    assert_eq!(record.bound, ms(bound));
    // Two flows, 200 packets.
    let record = run(&Experiment { flows: 2, ..e.clone() }, 150 * MS, &scheme("sack"));
    assert_eq!(record.bound, ms(bound + 100.0 * 60.0));
    // In BBM the same from completion on, as nothing was under way.
    let record = run(&Experiment { kind: Kind::Bbm(10 * MS), ..e }, 150 * MS, &scheme("sack"));
    assert_eq!((record.completion, record.bound), (160 * MS, ms(bound)));
}

/// BBM: what the old link loses must go over the new one. Nothing reaches R before the sender's
/// next packet.
#[test]
fn bound_counts_what_a_disconnection_loses() {
    let e = Experiment { kind: Kind::Bbm(500 * MS), ..experiment("200kbit/300ms", "6400kbit/9ms") };
    let record = run(&e, 800 * MS, &scheme("sack"));
    let bound = 4.0 + 103.0 * 1.875 + 9.0 + LAST_DATA + (LAST_ACK + 0.05 + 9.0 + WIRED_ACK);
    assert_eq!(record.bound, ms(bound));
}

/// 200kbit/300ms to 6400kbit/9ms at 0.8 s: three packets arrive over the old link at 1075.478,
/// 1135.478 and 1195.478 ms. Design: the later of the last of them plus its ACK's way, 408.5 ms, and of
/// a hundred packets, 213.6 ms. But nobody is bound to wait: with all three sent again over the new link
/// it is 219.2 ms (bound.rs says why that is the bound).
#[test]
fn bound_towards_a_fast_link_may_bypass_the_old_one() {
    let e = experiment("200kbit/300ms", "6400kbit/9ms");
    let ack_way = LAST_ACK + 0.05 + 9.0 + WIRED_ACK;
    let bypass = 4.0 + 103.0 * 1.875 + 9.0 + LAST_DATA + ack_way;
    let record = run(&e, 800 * MS, &scheme("sack"));
    assert_eq!(record.bound, ms(bypass));
    // With 500 packets the old link no longer matters.
    let record = run(&Experiment { packets: 500, ..e.clone() }, 800 * MS, &scheme("sack"));
    assert_eq!(record.bound, ms(4.0 + 500.0 * 1.875 + 9.0 + LAST_DATA + ack_way));
    // after-ack: the three count towards the hundred.
    let record = run(&Experiment { definition: Definition::AfterAck, ..e }, 800 * MS, &scheme("sack"));
    assert_eq!(record.bound, ms(4.0 + 100.0 * 1.875 + 9.0 + LAST_DATA + ack_way));
}

/// 6400kbit/9ms to 200kbit/300ms at 150 ms: the ACK of the first two packets is on the old link. The sender hears it at
/// 156.18512 ms and sends three packets; the first ACK over the new link finds that link idle, with 97 packets to go.
#[test]
fn bound_given_the_notice_counts_what_is_sent_before_it() {
    let notice = NoticeMode::InBand { lost: 0 };
    let e = Experiment { notice, ..experiment("6400kbit/9ms", "200kbit/300ms") };
    let behind = 300.0 + LAST_DATA + ACK_WAY_SLOW;
    let (physical, told) = (4.0 + 100.0 * 60.0 + behind, ACK_WAY_SLOW + 4.0 + 97.0 * 60.0 + behind);
    let record = run(&e, 150 * MS, &scheme("sack"));
    assert_eq!((record.bound, record.bound_told), (ms(physical), ms(told)));
    // A copy that is lost makes no difference to what could be; without a notice there is but the physical bound.
    let lost = Experiment { notice: NoticeMode::InBand { lost: 1 }, ..e.clone() };
    assert_eq!(run(&lost, 150 * MS, &scheme("sack")).bound_told, ms(told));
    let withheld = Experiment { notice: NoticeMode::Withheld, ..e.clone() };
    assert_eq!(run(&withheld, 150 * MS, &scheme("sack")).bound_told, ms(physical));
    // An instant notice that is 20 ms late comes when those three keep the link busy.
    let late = Experiment { notice: NoticeMode::Instant, notice_delay: 20 * MS, ..e };
    let heard = 126.11408 + WIRED_DATA + 2.0 * 1.875 + 9.0 + LAST_DATA + LAST_ACK + 0.05 + 9.0 + WIRED_ACK;
    assert_eq!(ms(heard), 156_185_120);
    let told = heard - 150.0 + WIRED_DATA + 100.0 * 60.0 + behind;
    assert_eq!(run(&late, 150 * MS, &scheme("sack")).bound_told, ms(told));
}

/// At 127 ms three packets are on their way to R: the new link has sent them long before the notice is there, and
/// carries the hundred that follow.
#[test]
fn bound_given_the_notice_counts_what_is_under_way() {
    let notice = NoticeMode::InBand { lost: 0 };
    let e = Experiment { notice, ..experiment("6400kbit/9ms", "200kbit/300ms") };
    let record = run(&e, 127 * MS, &scheme("sack"));
    let bound = 4.0 + 100.0 * 60.0 + 300.0 + LAST_DATA + ACK_WAY_SLOW;
    assert_eq!(record.bound_told, ms(ACK_WAY_SLOW + bound));
}

/// BBM from 200kbit/300ms: the notice over 6400kbit/9ms is there after 13.06 ms, and nothing has been sent meanwhile.
/// Packets that the old link has lost are sent then.
#[test]
fn bound_given_the_notice_counts_what_a_disconnection_loses() {
    let notice = NoticeMode::InBand { lost: 0 };
    let e = Experiment { kind: Kind::Bbm(500 * MS), notice, ..experiment("200kbit/300ms", "6400kbit/9ms") };
    let record = run(&e, 800 * MS, &scheme("sack"));
    let ack_way = LAST_ACK + 0.05 + 9.0 + WIRED_ACK;
    assert_eq!(record.bound_told, ms(ack_way + 4.0 + 103.0 * 1.875 + 9.0 + LAST_DATA + ack_way));
    assert!(record.transfer.is_some_and(|time| time >= record.bound_told));
}

fn outage_on_linux() -> Experiment {
    let stack = segue_tcp::StackProfile::named("linux-6.12").expect("a stack");
    Experiment { kind: Kind::Bbm(10_000 * MS), stack, ..experiment("6400kbit/9ms", "6400kbit/9ms") }
}

/// A scheme that acts before completion needs no notice: Freeze-TCP's bound is the physical one.
#[test]
fn bound_given_the_notice_is_for_those_who_wait_for_it() {
    let notice = NoticeMode::InBand { lost: 0 };
    let e = Experiment { kind: Kind::Bbm(500 * MS), notice, ..experiment("200kbit/300ms", "6400kbit/9ms") };
    let handoff = WarmRun::new(e).fork(3000 * MS).complete();
    let (freeze, sack) = (handoff.run(&scheme("freeze")), handoff.run(&scheme("sack")));
    assert_eq!(freeze.bound_told, freeze.bound);
    assert!(sack.bound_told > sack.bound);
    // A mobile alone waits for no notice, however late.
    let e = Experiment { notice: NoticeMode::Instant, notice_delay: 2000 * MS, ..outage_on_linux() };
    let mobile = WarmRun::new(e).fork(3000 * MS).complete().run(&scheme("mobile"));
    assert!(mobile.transfer.is_some_and(|time| time >= mobile.bound_told), "{mobile:?}");
}

// ---------------------------------------------------------------------------------- traces

/// An opportunity every 10 ms, both ways, 20 ms of delay.
#[test]
fn a_measured_link_sends_at_its_opportunities() {
    let path = file("every10.down", "10\n");
    let new = format!("trace:{path},delay=20ms");
    // SYN at the router at 4.0064; opportunity at 10; at the mobile at 30.00064; its ACK at 130.00064,
    // at the uplink 0.00064 later; opportunity at 140.
    let established = 140.0 + 20.0 + WIRED_ACK;
    assert_eq!(acked(&new, 1, 1), ms(established)); // 164.0064
    // Three packets at the router from 168.2464 on: 170, 180, 190. The second's ACK goes at 210.
    assert_eq!(acked(&new, 1, 2), ms(210.0 + 20.0 + WIRED_ACK)); // 234.0064
    // The third would wait until 310.024; packet 4, sent at 234.0064, goes at 240 and ends the wait at
    // 260.024: the ACK of both leaves at 270.
    assert_eq!(acked(&new, 1, 4), ms(270.0 + 20.0 + WIRED_ACK));
    assert_eq!(acked(&new, 1, 5), ms(270.0 + 20.0 + WIRED_ACK));
}

/// Two SYNs share the opportunity at 10 ms; the next one would come at 1000 ms. `up` has its own trace.
#[test]
fn small_packets_share_an_opportunity() {
    let down = file("two.down", "10\n1000\n");
    let up = file("fine.up", "1\n");
    let new = format!("trace:{down},up={up},delay=20ms");
    // Flow 1's SYN follows flow 0's on the last hop; its ACK goes at 131 like the other's and follows it
    // over the first wired hop.
    assert_eq!(acked(&new, 1, 1), ms(131.0 + 20.0 + WIRED_ACK));
    assert_eq!(acked(&new, 2, 1), ms(131.0 + 20.0 + WIRED_ACK + 0.0032));
    // Data fill an opportunity each: 1000, 1010 and 2000. The delayed ACK of the first two: 1011.
    let first_two = 1010.0 + 20.0 + LAST_DATA;
    assert_eq!(acked(&new, 1, 2), ms(1031.0 + 20.0 + WIRED_ACK));
    assert!(first_two + LAST_ACK < 1031.0);
}

/// Trace time is t + start, for both directions, and the trace repeats at its end.
#[test]
fn a_trace_starts_where_it_is_told_and_wraps() {
    let down = file("wrap.down", "10\n100\n");
    let up = file("wrap.up", "40\n100\n");
    let new = format!("trace:{down},up={up},start=50ms,delay=20ms");
    // Trace time 100, 110, 200, 210, ... is t = 50, 60, 150, 160, ...; up: t = 50, 90, 150, 190.
    // SYN at 4.0064 -> 50; mobile at 70.00064; ACK at 170.00128 -> 190.
    assert_eq!(acked(&new, 1, 1), ms(190.0 + 20.0 + WIRED_ACK));
    // The same from the trace's beginning: down 10, 100, 110, ...; up 40, 100, 140, ...
    let new = format!("trace:{down},up={up},delay=20ms");
    // SYN -> 10; mobile at 30.00064; ACK at 130.00128 -> 140.
    assert_eq!(acked(&new, 1, 1), ms(140.0 + 20.0 + WIRED_ACK));
}

/// 20 ms in the first tenth of a second, 40 ms in the next, and so on: of what leaves at t.
#[test]
fn a_delay_trace_is_followed() {
    let path = file("every10b.down", "10\n");
    let delays = file("steps.delay", &("20\n".repeat(10) + &"40\n".repeat(10)));
    let new = format!("trace:{path},delay-trace={delays}");
    // SYN leaves at 10 (20 ms), its ACK at 140 (40 ms).
    assert_eq!(acked(&new, 1, 1), ms(140.0 + 40.0 + WIRED_ACK));
    // Data are at the router at 188.2464 + 0.12 k: they leave at 190 (40 ms), 200 and 210 (20 ms); the
    // one that left first is not overtaken: all arrive from 230 on. ACK of the second at 240.
    assert_eq!(acked(&new, 1, 2), ms(240.0 + 20.0 + WIRED_ACK));
    // `start` shifts both: the delay at t is that of t + 100 ms.
    let shifted = format!("trace:{path},delay-trace={delays},start=100ms");
    // SYN leaves at 10 (40 ms), mobile at 50.00064, ACK at 150.00128 -> 160 (20 ms).
    assert_eq!(acked(&shifted, 1, 1), ms(160.0 + 20.0 + WIRED_ACK));
}

#[test]
fn queues_of_measured_links() {
    let path = file("every2.down", "2\n"); // 6 Mbit/s
    let queue = |options: &str| link(&format!("trace:{path}{options}")).queue;
    assert_eq!(queue(",delay=20ms"), 20); // 6 Mbit/s * 40 ms = 20 packets
    assert_eq!(queue(""), 20); // 20 ms is what mahimahi users take
    assert_eq!(queue(",delay=1ms"), 5);
    assert_eq!(queue(",delay=20ms,queue=100p"), 100);
    assert_eq!(queue(",queue=7"), 7);
}

/// The bound follows the trace: a hundred packets at 10 ms each, from the first opportunity on.
#[test]
fn bound_follows_a_trace() {
    let path = file("every10c.down", "10\n");
    let e = experiment("6400kbit/9ms", &format!("trace:{path},delay=20ms"));
    let record = run(&e, 151 * MS, &scheme("sack"));
    // The link can be reached at 155; opportunities at 160, ..., 1150; mobile at 1170.024; its ACK
    // leaves at 1180.
    assert_eq!(record.bound, ms(1180.0 + 20.0 + WIRED_ACK - 151.0));
}

/// The notice carries the old link's mean rate of the second before and the new one's of the second after.
#[test]
fn a_notice_reports_measured_rates() {
    // One opportunity per ms up to 1 s, then one every 10 ms up to 3 s.
    let mut stamps: Vec<u32> = (1..=1000).collect();
    stamps.extend((1010..=3000).step_by(10));
    let text: String = stamps.iter().map(|stamp| format!("{stamp}\n")).collect();
    let trace = format!("trace:{},delay=30ms", file("fall.down", &text));
    let of = |e: &Experiment, at: Nanos| {
        let notice = Twin::hand_over(e, at).notice();
        [notice.old_link, notice.new_link].map(|link| (link.rate_kbps, link.delay_us))
    };
    let e = experiment(&trace, &trace);
    // [0, 1 s): 999 opportunities of 12,000 bit (that of 1 s itself belongs to the next).
    assert_eq!(of(&e, 1000 * MS), [(11_988, 30_000), (1_200, 30_000)]);
    assert_eq!(of(&e, 2000 * MS), [(1_200, 30_000), (1_200, 30_000)]);
    // BBM completes half a second later.
    let e = Experiment { kind: Kind::Bbm(500 * MS), ..e };
    assert_eq!(of(&e, 1000 * MS), [(501 * 12 + 49 * 12, 30_000), (1_200, 30_000)]);

    // And the bench says what the twin says: A1 with a trace on either side.
    for (old, new) in [(trace.as_str(), "200kbit/300ms"), ("6400kbit/9ms", trace.as_str())] {
        let e = experiment(old, new);
        for at in [900, 1000, 1700, 2500] {
            for name in ["etcp:a1", "etcp", "etcp-v1"] {
                both(&e, at * MS, name);
            }
        }
    }
}

// -------------------------------------------------------------------------- in-band notices

/// When the mobile has sent its first report and waits for nothing, and no ACK is on its way.
const IDLE: f64 = 1700.0;

fn idle_moment() -> Experiment {
    Experiment { notice: NoticeMode::InBand { lost: 0 }, ..experiment("200kbit/300ms", "6400kbit/9ms") }
}

/// Two bare ACKs of 40 bytes: last hop 0.00064, access link 0.05 + 9, wired hops.
#[test]
fn an_in_band_notice_takes_its_way_over_the_new_link() {
    let heard = ms(IDLE + LAST_ACK + 0.05 + 9.0 + WIRED_ACK);
    for copies in [2, 1] {
        let mut twin = Twin::hand_over(&idle_moment(), ms(IDLE)).equip(&scheme("etcp")).announce(copies);
        twin.finish();
        assert_eq!(twin.picked(|what| (what == What::Notice).then_some(())), [(heard, 0, ())]);
        let notice = NoticeMode::InBand { lost: 2 - copies };
        let record = run(&Experiment { notice, ..idle_moment() }, ms(IDLE), &scheme("etcp"));
        twin.agrees_with(&record);
        assert_eq!(Some(twin.sim.net.now() - twin.completion), record.transfer);
    }
}

/// The second copy repeats the first, for every flow.
#[test]
fn both_copies_of_a_notice_are_one() {
    let e = Experiment { flows: 3, ..experiment("1600kbit/37ms", "200kbit/300ms") };
    let mut twin = Twin::hand_over(&e, 4000 * MS).equip(&scheme("etcp-v1")).announce(2);
    twin.finish();
    let heard = twin.picked(|what| (what == What::Notice).then_some(()));
    assert_eq!(heard.iter().map(|h| h.1).collect::<Vec<_>>(), [0, 1, 2]);
    // Six ACKs of 40 bytes or more share the new uplink, two of each flow in a row.
    let least = ms(4000.0 + LAST_ACK + 300.0 + WIRED_ACK);
    for (flow, heard) in heard.iter().enumerate() {
        assert!(heard.0 >= least + ms(1.6 * (2 * flow + 1) as f64), "{heard:?}");
    }
}

/// The new uplink's queue of five holds four notices and the one being sent: a third flow's are lost.
#[test]
fn a_notice_is_subject_to_the_queue() {
    let e = Experiment { flows: 4, ..experiment("1600kbit/37ms", "200kbit/10ms") };
    let mut twin = Twin::hand_over(&e, 4000 * MS).equip(&scheme("etcp")).announce(2);
    twin.run_until(4200 * MS);
    let dropped = twin.picked(|what| matches!(what, What::AckDropped { on_new: true, .. }).then_some(()));
    assert!(dropped.len() >= 3, "eight ACKs, five link_ids: {dropped:?}");
    let heard = twin.picked(|what| (what == What::Notice).then_some(()));
    assert_eq!(
        heard.iter().map(|h| h.1).collect::<Vec<_>>(),
        [0, 1, 2],
        "the third flow's first copy is the fifth"
    );
}

/// Two notices in a row repeat an ACK: a scheme that has nothing to do at this handoff shows that they
/// count as no duplicate ACKs, or limited transmit would send two packets more.
#[test]
fn a_notice_is_no_duplicate_ack() {
    let mut compared = 0;
    for at in (1700..9000).step_by(20) {
        // A notice is a cumulative ACK all the same, so only where it brings no news.
        let mut twin = Twin::hand_over(&idle_moment(), at * MS);
        let received = twin.mn().flows[0].receiver.rcv_nxt();
        if twin.sender(0).snd_una() != received || twin.view(0).in_fast_recovery {
            continue;
        }
        compared += 1;
        let [plain, told] = ["sack", "etcp:a3"].map(|name| run(&idle_moment(), at * MS, &scheme(name)));
        let heads =
            |record: &segue_world::RunRecord| record.fast_retransmits.iter().map(|f| f.2).collect::<Vec<_>>();
        assert_eq!((told.timeouts.len(), heads(&told)), (plain.timeouts.len(), heads(&plain)), "{at}");
        assert_eq!(told.retransmissions, plain.retransmissions, "{at}");
        // 0.1 ms of the uplink is all it costs.
        assert!(
            told.transfer.expect("it ends").abs_diff(plain.transfer.expect("it ends")) <= ms(0.1),
            "{at}"
        );
    }
    assert!(compared > 5, "{compared}");
    // On an idle way back not even a time changes.
    let plain = run(&idle_moment(), ms(IDLE), &scheme("sack"));
    assert_eq!(run(&idle_moment(), ms(IDLE), &scheme("etcp:a3")), plain);
}

/// The option that opens a connection's conversation about links changes nothing for anybody.
#[test]
fn the_first_report_changes_nothing() {
    for flows in 1..=6 {
        for at in [1, 3, 5] {
            for new in ["200kbit/300ms", "300kbit/20ms", "6400kbit/9ms"] {
                let e = Experiment { flows, ..experiment("250kbit/100ms", new) };
                let mut with = Twin::new(&e);
                let mut without = Twin::new(&e);
                without.mn().flows.iter_mut().for_each(|flow| flow.first_report = None);
                with.run_until(at * SECOND);
                without.run_until(at * SECOND);
                let events = |twin: &Twin| twin.events().collect::<Vec<_>>();
                assert_eq!(events(&with), events(&without), "{flows} flows to {at} s");
            }
        }
    }
}

/// An instant notice may be told later (algorithms.md, 9.15).
#[test]
fn an_instant_notice_may_be_late() {
    let e = Experiment {
        notice_delay: 304 * MS,
        kind: Kind::Bbm(500 * MS),
        ..experiment("6400kbit/9ms", "6400kbit/300ms")
    };
    let scheme = scheme("etcp:a3");
    let record = run(&e, 7000 * MS, &scheme);
    let mut twin = Twin::hand_over(&e, 7000 * MS).equip(&scheme);
    twin.run_until(7804 * MS);
    let mut twin = twin.notify();
    assert_eq!(Some(twin.finish()), record.transfer);
    twin.agrees_with(&record);
}
