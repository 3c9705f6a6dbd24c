//! Numbers are worked by hand from `tcp_cong.c` and `tcp_input.c`.

use super::super::CongestionRules;
use super::*;
use crate::profile::LINUX;
use crate::segment::{CarriedOption, SackList, Segment};
use crate::{Sender, StackProfile};

fn at(cwnd: u32, ssthresh: u32) -> Reno {
    Reno { cwnd, ssthresh, count: 0, prior: None }
}

fn windows_after(reno: &mut Reno, delivered: &[u32]) -> Vec<u32> {
    let window = |&delivered: &u32| {
        reno.on_ack(&Ack::of(delivered));
        reno.window()
    };
    delivered.iter().map(window).collect()
}

/// Slow start takes what it needs to reach ssthresh, without a limit per ACK; the rest is counted.
#[test]
fn an_ack_that_crosses_ssthresh_is_divided() {
    let mut reno = at(4, 10);
    assert_eq!(windows_after(&mut reno, &[4]), [8]);
    // 2 of 6 reach ssthresh, 4 count; 6 more make 10.
    assert_eq!(windows_after(&mut reno, &[6, 5, 1]), [10, 10, 11]);
}

/// `delta = snd_cwnd_cnt / w`: 25 of 10 are 2, and 5 stay; 7 more are a window of 12.
#[test]
fn one_ack_may_open_the_window_by_several() {
    assert_eq!(windows_after(&mut at(10, 2), &[25, 6, 1]), [12, 12, 13]);
}

/// 15 count at 20 packets; at 10 they give one packet and no more, and the ACK of one counts anew.
#[test]
fn credits_of_a_larger_window_are_applied_gently() {
    let mut reno = at(20, 2);
    assert_eq!(windows_after(&mut reno, &[15]), [20]);
    reno.set_window(Some(10 * PACKET), None);
    assert_eq!(windows_after(&mut reno, &[1, 9, 1]), [11, 11, 12]);
}

#[test]
fn growth_is_by_packets_that_no_ack_has_reported_before() {
    let mut reno = at(4, 100);
    reno.on_ack(&Ack { newly_delivered: 1, ..Ack::of(30) });
    assert_eq!(reno.window(), 5);
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    for ssthresh in [2, 100] {
        let mut reno = at(10, ssthresh);
        reno.on_ack(&Ack { cwnd_limited: false, ..Ack::of(10) });
        assert_eq!((reno.window(), reno.count), (10, 0));
    }
}

/// `max(snd_cwnd >> 1, 2)`, whatever is outstanding.
#[test]
fn a_cut_halves_the_window() {
    for (cwnd, half) in [(21, 10), (20, 10), (5, 2), (3, 2), (1, 2)] {
        let mut reno = at(cwnd, NO_SSTHRESH);
        reno.on_congestion(Congestion::FastRetransmit, 100, 0);
        assert_eq!((reno.window(), reno.ssthresh), (half, half));
    }
}

#[test]
fn a_segment_that_is_lost_again_cuts_no_more() {
    let mut reno = at(20, NO_SSTHRESH);
    reno.on_congestion(Congestion::Timeout { repeated: false }, 20, 0);
    assert_eq!((reno.window(), reno.ssthresh), (1, 10));
    reno.on_congestion(Congestion::Timeout { repeated: true }, 20, 0);
    assert_eq!((reno.window(), reno.ssthresh), (1, 10));
}

/// 20 packets, ssthresh 4: the undo brings back max(4, 20/2 + 20/4); a second one brings back nothing.
#[test]
fn undo_restores_window_and_threshold_once() {
    let mut reno = at(20, 4);
    reno.on_congestion(Congestion::Timeout { repeated: false }, 20, 0);
    reno.on_congestion(Congestion::Timeout { repeated: true }, 20, 0);
    reno.on_spurious();
    assert_eq!((reno.window(), reno.ssthresh), (20, 15));
    reno.set_window(Some(3 * PACKET), None);
    reno.on_spurious();
    assert_eq!((reno.window(), reno.ssthresh), (3, 15));
}

/// Growth beyond what was there before the cut stays.
#[test]
fn undo_never_closes_the_window() {
    let mut reno = at(4, NO_SSTHRESH);
    reno.on_congestion(Congestion::FastRetransmit, 4, 0);
    windows_after(&mut reno, &[10, 10, 10, 10]);
    let window = reno.window();
    assert!(window > 4);
    reno.on_spurious();
    assert_eq!((reno.window(), reno.ssthresh()), (window, INFINITE));
}

#[test]
fn advice_gives_back_what_it_was_shown() {
    let mut reno = at(7, NO_SSTHRESH);
    let (cwnd, ssthresh) = (reno.cwnd(), reno.ssthresh());
    reno.set_window(Some(cwnd), Some(ssthresh));
    assert_eq!((reno.cwnd(), reno.ssthresh()), (7 * PACKET, INFINITE));
}

/// A sender into a receiver's window of 100 packets, all of a round trip acknowledged at once. cwnd doubles while it is
/// full (`is_cwnd_limited`); 160 and 260 packets are not, but slow start goes on below twice the 100 that were used.
#[test]
fn the_receivers_window_ends_the_growth() {
    let profile = StackProfile { congestion: CongestionRules::Reno, receive_window: 100, ..LINUX };
    let mut sender = Sender::new(&profile, 0, ());
    sender.open(10_000);
    let mut round = |now: Nanos| {
        while sender.poll_transmit(now).is_some() {}
        let ack = Segment {
            seq: 1,
            ack: sender.snd_max(),
            window: 100,
            payload: 0,
            syn: false,
            push: false,
            has_ack: true,
            detail: Default::default(),
            ecn: Default::default(),
            sack: SackList::default(),
            timestamps: None,
            option: CarriedOption::default(),
        };
        sender.on_segment(now + 1_000_000, &ack);
        sender.window()
    };
    let windows: Vec<u32> = (0..8).map(|k| round(k * 1_000_000)).collect();
    assert_eq!(windows, [10, 20, 40, 80, 160, 260, 260, 260]);
}
