//! Effects of the application's writing on Linux's sender beside the amount of data.

use crate::ack::ack_of;
use segue_tcp::Nanos;
use segue_tcp::linux::{LinuxSender, LinuxSettings};
use segue_tcp::profile::{LINUX_6_12, LINUX_6_12_BBR};

const RTT: Nanos = 50_000_000;

/// An application that writes when all is sent was the one that held the sender back. Later samples say so, and BBR
/// does not take a low rate for the path's (`tcp_sendmsg_locked`, `tcp_rate_check_app_limited`).
#[test]
fn writing_after_a_pause_marks_the_samples() {
    let mut sender = LinuxSender::new(&LINUX_6_12_BBR, LINUX_6_12_BBR.kernel.expect("a kernel"), ());
    let drain = |sender: &mut LinuxSender<()>, now| while sender.poll_transmit(now).is_some() {};
    sender.open(5);
    drain(&mut sender, 0);
    sender.on_segment(RTT, &ack_of(1, 1_000, None));
    drain(&mut sender, RTT);
    // The mark that writing left at the start has come back with the ACK.
    sender.on_segment(2 * RTT, &ack_of(6, 1_000, None));
    assert_eq!((sender.sock().delivered, sender.sock().app_limited), (6, 0));
    sender.open(8);
    drain(&mut sender, 20 * RTT);
    assert_eq!((sender.sock().app_limited, sender.in_flight()), (6, 3));
    // More, while what came before still waits for cwnd, does not.
    let mut busy = LinuxSender::new(&LINUX_6_12_BBR, LINUX_6_12_BBR.kernel.expect("a kernel"), ());
    busy.open(1_000);
    drain(&mut busy, 0);
    busy.on_segment(RTT, &ack_of(1, 1_000, None));
    drain(&mut busy, RTT);
    let mark = busy.sock().app_limited;
    busy.open(2_000);
    drain(&mut busy, RTT + 1);
    assert_eq!(busy.sock().app_limited, mark);
}

/// cwnd before and after two packets that are written a second after the last ACK.
fn windows_around_a_pause(slow_start_after_idle: bool) -> (u32, u32) {
    let settings = LinuxSettings { slow_start_after_idle, ..LINUX_6_12.kernel.expect("a kernel") };
    let mut sender = LinuxSender::new(&LINUX_6_12, settings, ());
    let drain = |sender: &mut LinuxSender<()>, now| while sender.poll_transmit(now).is_some() {};
    sender.open(70);
    drain(&mut sender, 0);
    // The SYN, then windows of 10, 20 and 40.
    for (round, packet) in [1, 11, 31, 71].into_iter().enumerate() {
        let now = (round as Nanos + 1) * RTT;
        sender.on_segment(now, &ack_of(packet, 1_000, None));
        drain(&mut sender, now);
    }
    let before = sender.window();
    sender.open(72);
    drain(&mut sender, 4 * RTT + 1_000_000_000);
    assert_eq!(sender.in_flight(), 2);
    (before, sender.window())
}

/// With `tcp_slow_start_after_idle` cwnd falls in a pause of several RTOs. Without it the window stays, although the
/// application uses little of it (`tcp_cwnd_validate`).
#[test]
fn a_pause_leaves_the_window_where_the_host_says_so() {
    let (before, after) = windows_around_a_pause(true);
    assert!(before > 20 && after == 10, "{before}, {after}");
    let (before, after) = windows_around_a_pause(false);
    assert!(before > 20 && after == before, "{before}, {after}");
}
