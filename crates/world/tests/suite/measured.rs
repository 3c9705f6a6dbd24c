//! Measured links, against times worked out by hand as in [`super::bench`].

use super::bench::{LAST_ACK, LAST_DATA, WIRED_ACK, acked};
use crate::support::*;
use segue_netsim::Nanos;
use segue_world::{Experiment, Kind};

/// An opportunity every 10 ms, both ways, 20 ms of delay.
#[test]
fn a_measured_link_sends_at_its_opportunities() {
    let path = file("every10.down", "10\n");
    let new = format!("trace:{path},delay=20ms");
    // SYN at the router at 4.0064; opportunity at 10; at the mobile at 30.00064. Its ACK at 130.00064, at the uplink
    // 0.00064 later; opportunity at 140.
    let established = 140.0 + 20.0 + WIRED_ACK;
    assert_eq!(acked(&new, 1, 1), ms(established)); // 164.0064
    // Three packets at the router from 168.2464 on: 170, 180, 190. The second's ACK goes at 210.
    assert_eq!(acked(&new, 1, 2), ms(210.0 + 20.0 + WIRED_ACK)); // 234.0064
    // The third would wait until 310.024. Packet 4, sent at 234.0064, goes at 240 and ends the wait at 260.024: the ACK
    // of both leaves at 270.
    assert_eq!(acked(&new, 1, 4), ms(270.0 + 20.0 + WIRED_ACK));
    assert_eq!(acked(&new, 1, 5), ms(270.0 + 20.0 + WIRED_ACK));
}

/// Two SYNs share the opportunity at 10 ms; the next one would come at 1000 ms. `up` has its own trace.
#[test]
fn small_packets_share_an_opportunity() {
    let down = file("two.down", "10\n1000\n");
    let up = file("fine.up", "1\n");
    let new = format!("trace:{down},up={up},delay=20ms");
    // Flow 1's SYN follows flow 0's on the last hop. Its ACK goes at 131 like the other's and follows it over the first
    // wired hop.
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
    // Data are at the router at 188.2464 + 0.12 k. They leave at 190 (40 ms), 200 and 210 (20 ms). The one that left
    // first is not overtaken: all arrive from 230 on. ACK of the second at 240.
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
