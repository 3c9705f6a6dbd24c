//! PHAS (algorithms.md, 6.2): which ACKs pass, one receiver and its filter alone.

use proptest::prelude::*;
use segue_handoff::{Phas, Scheme};
use segue_tcp::profile::NS2_NEWRENO;
use segue_tcp::{Receiver, Segment, Sender};

/// A mobile: what it hears, what leaves it.
struct Mobile {
    receiver: Receiver,
    filter: Phas,
    packet: Segment,
    /// Cumulative ACKs that left.
    sent: Vec<u32>,
}

impl Mobile {
    /// One that has packets 0 to `before` - 1, and has acknowledged them.
    fn new(before: u32, extra_dup: bool) -> Self {
        let mut receiver = Receiver::new(&NS2_NEWRENO);
        let mut sender = Sender::new(&NS2_NEWRENO, 0, ());
        sender.open(10);
        let mut packet = sender.poll_transmit(0).expect("a SYN").segment;
        receiver.on_segment(0, &packet);
        receiver.poll_transmit();
        (packet.syn, packet.payload) = (false, NS2_NEWRENO.mss);
        let mut mobile =
            Self { filter: Phas::new(extra_dup, receiver.last_ack()), receiver, packet, sent: Vec::new() };
        (1..before).for_each(|seq| mobile.hears(seq, false));
        mobile.sent.clear();
        mobile
    }

    fn hears(&mut self, seq: u32, forwarded: bool) {
        self.filter.on_packet(forwarded);
        self.packet.seq = seq;
        self.receiver.on_segment(0, &self.packet);
        if let Some((ack, _)) = self.receiver.poll_transmit()
            && self.filter.on_ack(ack.ack)
        {
            self.sent.push(ack.ack);
        }
    }

    fn hears_the_end(&mut self) {
        for _ in 0..self.filter.on_end() {
            self.receiver.announce_window(0);
            let (ack, _) = self.receiver.poll_transmit().expect("an ACK");
            self.sent.push(ack.ack);
        }
    }
}

/// The paper's example (section III-B): packets 1 to 8 are held, packet 1 has been sent again behind them.
#[test]
fn two_acks_for_the_last_packet() {
    let mut mobile = Mobile::new(1, false);
    (1..=8).for_each(|seq| mobile.hears(seq, true));
    assert!(mobile.sent.is_empty(), "all suppressed");
    mobile.hears(1, true);
    mobile.hears_the_end();
    assert_eq!(mobile.sent, [9, 9]);
    mobile.hears(9, false);
    assert_eq!(mobile.sent, [9, 9, 10], "the filter has ended");
}

#[test]
fn without_a_timeout_one_ack_covers_all() {
    for (extra_dup, sent) in [(false, vec![9]), (true, vec![9, 9])] {
        let mut mobile = Mobile::new(1, extra_dup);
        (1..=8).for_each(|seq| mobile.hears(seq, true));
        mobile.hears_the_end();
        assert_eq!(mobile.sent, sent);
    }
}

/// FCFD has dropped packets 1 to 3: every packet behind the gap is answered, and so is what fills it.
#[test]
fn duplicates_and_the_repair_pass() {
    let mut mobile = Mobile::new(1, false);
    (4..=8).for_each(|seq| mobile.hears(seq, true));
    mobile.hears_the_end();
    assert_eq!(mobile.sent, [1; 5]);
    (1..=3).for_each(|seq| mobile.hears(seq, false));
    assert_eq!(mobile.sent[5..], [2, 3, 9], "partial ACKs pass");
}

/// The notice is lost: ACKs of packets that come directly pass, and say all that was suppressed.
#[test]
fn a_lost_notice_costs_one_ack() {
    let mut mobile = Mobile::new(1, false);
    (1..=8).for_each(|seq| mobile.hears(seq, true));
    mobile.hears(1, false); // the timer's
    assert_eq!(mobile.sent, [9], "a duplicate passes");
    mobile.hears(9, false);
    mobile.hears(10, false);
    assert_eq!(mobile.sent, [9, 10, 11]);
}

#[test]
fn only_the_schemes_with_phas_filter() {
    for entry in Scheme::entries() {
        let scheme = Scheme::build(entry.name, &[]).expect(entry.name);
        assert_eq!(scheme.mobile().phas, entry.name.ends_with("+phas").then_some(false), "{}", entry.name);
        let buffers = entry.name.starts_with("buffer-") || entry.name == "hn";
        assert_eq!(scheme.router().is_some(), buffers, "{}", entry.name);
    }
    let on = [("extra-dup".to_string(), "on".to_string())];
    assert_eq!(Scheme::build("buffer-lcfd+phas", &on).expect("a setting").mobile().phas, Some(true));
    for (name, value) in [("buffer-lcfd", "on"), ("buffer-lcfd+phas", "maybe")] {
        assert!(
            Scheme::build(name, &[("extra-dup".to_string(), value.to_string())]).is_err(),
            "{name} {value}"
        );
    }
}

proptest! {
    /// Any packets in any order, some forwarded, with a notice or without. An ACK is dropped exactly if its packet was
    /// forwarded and it is no duplicate. The last dropped ACK is sent at the notice, if nothing newer was made. The
    /// first packet that comes directly says whatever has been suppressed.
    #[test]
    fn exactly_the_acks_that_must_pass(
        packets in prop::collection::vec((1u32..30, any::<bool>(), prop::bool::weighted(0.1)), 1..120),
        extra_dup: bool,
    ) {
        let mut mobile = Mobile::new(1, extra_dup);
        let (mut held, mut last) = (None, 1);
        for (seq, forwarded, end) in packets {
            let before = mobile.sent.len();
            if end {
                let due = if held == Some(last) { 1 + usize::from(extra_dup) } else { 0 };
                mobile.hears_the_end();
                prop_assert_eq!(&mobile.sent[before..], &vec![last; due]);
                held = None;
                continue;
            }
            mobile.hears(seq, forwarded);
            let ack = mobile.receiver.rcv_nxt();
            let passes = !forwarded || ack == last;
            prop_assert_eq!(mobile.sent.len() - before, usize::from(passes));
            if passes {
                prop_assert_eq!(mobile.sent.last(), Some(&ack));
            } else {
                held = Some(ack);
            }
            last = ack;
        }
        mobile.hears(1, false);
        prop_assert_eq!(mobile.sent.last(), Some(&mobile.receiver.rcv_nxt()), "nothing stays unsaid");
    }
}
