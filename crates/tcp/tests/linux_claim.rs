//! Programs that say before packets leave how many may be out, and how fast they leave (`min_tso_segs`). And a sender for
//! which somebody else sends.

use crate::ack::ack_of;
use segue_tcp::advice::{KernelAdvice, Pace};
use segue_tcp::linux::{LinuxSender, LinuxSettings};
use segue_tcp::profile::LINUX_6_12;
use segue_tcp::{Advice, Advisor, Nanos, View};

const MS: Nanos = 1_000_000;
const RTT: Nanos = 50 * MS;
/// Segments have 1448 bytes of payload: one in 10 ms.
const PACE: u64 = 144_800;

/// Claims so many packets.
#[derive(Clone, Default)]
struct Claims(Option<u32>);

fn with_pace(pace: Pace) -> Advice {
    KernelAdvice { pace: Some(pace), ..KernelAdvice::default() }.into()
}

impl Advisor for Claims {
    fn claims(&self) -> bool {
        self.0.is_some()
    }
    fn before_sending(&mut self, _view: &View) -> Advice {
        let cwnd = self.0.map(|packets| packets * 256);
        Advice { cwnd, ..with_pace(Pace::At(PACE)) }
    }
}

/// No faster than a bound (`SO_MAX_PACING_RATE`), although cwnd / SRTT is more; afterwards nothing is paced.
#[test]
fn a_bound_of_the_pace_paces_and_ends() {
    let (mut sender, mut echo) = grown(false);
    let now = 4 * RTT;
    sender.enact(now, &with_pace(Pace::AtMost(PACE)));
    sender.on_segment(now, &ack_of(sender.snd_max(), 10_000, Some(echo)));
    let paced = leave(&mut sender, now, now + 40 * MS);
    assert_eq!(paced, [0, 5, 15, 25, 35], "one in 10 ms; idle time takes half of the first gap");
    let later = now + 40 * MS;
    sender.enact(later, &with_pace(Pace::Ends));
    echo += 200;
    sender.on_segment(later, &ack_of(sender.snd_max(), 10_000, Some(echo)));
    let unpaced = leave(&mut sender, later, later + MS);
    assert!(unpaced.len() >= 5 && unpaced.iter().all(|&at| at == 0), "{unpaced:?}");
}

/// A sender after four round trips, and the last time stamp that it sent.
fn grown(bursts: bool) -> (LinuxSender<Claims>, u32) {
    let settings = LinuxSettings { bursts, ..LINUX_6_12.kernel.expect("a kernel's settings") };
    let mut sender = LinuxSender::new(&LINUX_6_12, settings, Claims::default());
    sender.open(100_000);
    let mut echo = 0;
    for round in 0..4 {
        let now = round * RTT;
        if round > 0 {
            sender.on_segment(now, &ack_of(sender.snd_max(), 10_000, Some(echo)));
        }
        while let Some(sent) = sender.poll_transmit(now) {
            echo = sent.segment.timestamps.expect("a time stamp").value;
        }
    }
    (sender, echo)
}

/// Times, ms after `now`, at which packets leave until `until`.
fn leave(sender: &mut LinuxSender<Claims>, now: Nanos, until: Nanos) -> Vec<Nanos> {
    let (mut times, mut at) = (Vec::new(), now);
    loop {
        while sender.poll_transmit(at).is_some() {
            times.push((at - now) / MS);
        }
        match sender.deadline() {
            Some(deadline) if deadline < until => at = deadline,
            _ => return times,
        }
        sender.on_timer(at);
    }
}

/// 15 packets in 10 ms each, although cwnd was another one and slow start would have sent them at once. Idle time takes
/// half of the first gap (`tcp_update_skb_after_send`). The first ten packets of a connection are not paced, which are
/// long over. Afterwards no packet is.
#[test]
fn a_claim_sets_window_and_pace_and_ends() {
    let (mut sender, echo) = grown(false);
    assert_eq!(claimed(&mut sender, echo), one_by_one());
    *sender.advisor() = Claims::default();
    let later = 4 * RTT + 190 * MS;
    sender.enact(later, &with_pace(Pace::Ends));
    sender.on_segment(later, &ack_of(sender.snd_max(), 10_000, Some(echo)));
    let unpaced = leave(&mut sender, later, later + MS);
    assert!(unpaced.len() >= 15 && unpaced.iter().all(|&at| at == 0), "{unpaced:?}");
}

/// Programs answer `min_tso_segs` with 1 as long as a claim lasts, although the device takes several packets as one.
#[test]
fn packets_of_a_claim_leave_one_by_one() {
    let (mut sender, echo) = grown(true);
    assert_eq!(claimed(&mut sender, echo), one_by_one());
}

/// Times, ms, at which the packets of a claim of 15 leave.
fn claimed(sender: &mut LinuxSender<Claims>, echo: u32) -> Vec<Nanos> {
    let now = 4 * RTT;
    sender.enact(now, &with_pace(Pace::Begins));
    *sender.advisor() = Claims(Some(15));
    sender.on_segment(now, &ack_of(sender.snd_max(), 10_000, Some(echo)));
    leave(sender, now, now + 190 * MS)
}

fn one_by_one() -> Vec<Nanos> {
    std::iter::once(0).chain((0..14).map(|packet| 5 + 10 * packet)).collect()
}

/// Somebody else sends for it: 40 packets are in flight, the first is lost, and the others are SACKed one by one. Each
/// packet that is sent counts for PRR, as if it had sent it itself. So the window falls to 0.7 of 40, Cubic's ssthresh.
#[test]
fn a_suspended_sender_reduces_its_window_by_what_is_sent_for_it() {
    let (mut sender, echo) = grown(false);
    let (mut now, first) = (4 * RTT, sender.snd_max());
    sender.enact(now, &Advice { suspend: true, ..Advice::default() });
    sender.on_segment(now, &ack_of(first, 10_000, Some(echo)));
    sender.goes_on(now, 40, MS, RTT);
    let mut end = first;
    while end < first + 40 {
        sender.send(now, end).expect("a packet");
        end += 1;
    }
    now += RTT;
    sender.loses_one(now);
    sender.send(now, first).expect("the lost packet");
    for sacked in first + 1..first + 40 {
        now += MS;
        let mut ack = ack_of(first, 10_000, Some(echo));
        assert!(ack.sack.push(first + 1, sacked + 1));
        sender.on_segment(now, &ack);
        let in_flight = end - sacked; // the lost one was sent again
        assert!(sender.window() <= in_flight + 1, "{} of {in_flight}", sender.window());
        if in_flight < sender.window() {
            sender.send(now, end).expect("a packet");
            end += 1;
        }
    }
    assert!((27..=28).contains(&sender.window()), "{}", sender.window());
}
