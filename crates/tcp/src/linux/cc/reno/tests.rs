use super::*;

fn sock(cwnd: u32, ssthresh: u32) -> Sock {
    let mut sk = Sock::new(250, 1448);
    (sk.snd_cwnd, sk.snd_ssthresh, sk.is_cwnd_limited) = (cwnd, ssthresh, true);
    sk
}

/// Slow start takes what it needs to reach ssthresh, congestion avoidance the rest.
#[test]
fn an_ack_across_ssthresh_serves_both() {
    let mut sk = sock(8, 10);
    Reno.cong_avoid(&mut sk, 7); // 2 for slow start, 5 of 10 for the next packet
    assert_eq!((sk.snd_cwnd, sk.snd_cwnd_cnt), (10, 5));
    Reno.cong_avoid(&mut sk, 5);
    assert_eq!((sk.snd_cwnd, sk.snd_cwnd_cnt), (11, 0));
}

/// Credit gathered at a larger window is worth one packet, then counting starts anew.
#[test]
fn old_credit_is_worth_one_packet() {
    let mut sk = sock(10, 5);
    sk.snd_cwnd_cnt = 35;
    Reno.cong_avoid(&mut sk, 3);
    assert_eq!((sk.snd_cwnd, sk.snd_cwnd_cnt), (11, 3));
}

/// An ACK of several windows opens several packets (`delta`), at the window before it.
#[test]
fn a_stretched_ack_counts_whole() {
    let mut sk = sock(10, 5);
    Reno.cong_avoid(&mut sk, 25);
    assert_eq!((sk.snd_cwnd, sk.snd_cwnd_cnt), (12, 5));
}

/// TV-15: growth with an ACK for every two packets, by how many of cwnd 10 were sent.
#[test]
fn a_window_that_is_not_used_does_not_grow() {
    for (sent, windows) in [(9, &[12, 14, 16, 18, 18][..]), (6, &[12, 12, 12]), (5, &[10, 10, 10])] {
        let mut sk = sock(10, super::super::INFINITE_SSTHRESH);
        (sk.is_cwnd_limited, sk.max_packets_out) = (false, sent);
        for (k, &window) in windows.iter().enumerate() {
            Reno.cong_avoid(&mut sk, (sent - 2 * k as u32).min(2));
            assert_eq!(sk.snd_cwnd, window, "{sent} sent, ACK {k}");
        }
    }
}

/// Half, at least 2.
#[test]
fn a_loss_halves() {
    for (cwnd, ssthresh) in [(100, 50), (21, 10), (3, 2), (1, 2)] {
        assert_eq!(Reno.ssthresh(&sock(cwnd, 1)), ssthresh);
    }
}

/// The larger of cwnd and what it was.
#[test]
fn undo_restores_what_was_cut() {
    let mut sk = sock(7, 10);
    sk.prior_cwnd = 20;
    assert_eq!(Reno.undo_cwnd(&sk), 20);
    sk.snd_cwnd = 25;
    assert_eq!(Reno.undo_cwnd(&sk), 25);
}
