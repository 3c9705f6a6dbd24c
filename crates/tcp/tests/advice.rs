//! What advice does to a sender, where no scheme is needed to show it.

use segue_tcp::profile::RFC;
use segue_tcp::segment::{CarriedOption, SackList, Timestamps};
use segue_tcp::{Advice, Advisor, Nanos, Segment, Sender, View};

const MS: Nanos = 1_000_000;

/// Ignores every RTT sample once told to.
#[derive(Clone, Default)]
struct Deaf(bool);

impl Advisor for Deaf {
    fn listening(&self) -> bool {
        self.0
    }
    fn on_rtt_sample(&mut self, _view: &View, _seq: u32) -> Advice {
        Advice { ignore_sample: true, ..Advice::default() }
    }
}

fn ack(next: u32, now: Nanos, echo_ms: u32) -> Segment {
    Segment {
        seq: 1,
        ack: next,
        window: 1000,
        payload: 0,
        syn: false,
        has_ack: true,
        sack: SackList::default(),
        timestamps: Some(Timestamps { value: (now / MS) as u32, echo: echo_ms }),
        option: CarriedOption::default(),
    }
}

fn drain(sender: &mut Sender<Deaf>, now: Nanos) -> u32 {
    std::iter::from_fn(|| sender.poll_transmit(now)).count() as u32
}

/// Karn and RFC 6298, section 5: only a sample that counts ends the back-off. A sender whose
/// samples are ignored must not fall back to its short RTO at each ACK.
#[test]
fn an_ignored_sample_does_not_end_the_back_off() {
    for ignores in [false, true] {
        let mut sender = Sender::new(&RFC, 0, Deaf::default());
        sender.open(100);
        drain(&mut sender, 0);
        sender.on_segment(100 * MS, &ack(1, 100 * MS, 1));
        let sent = drain(&mut sender, 100 * MS);
        assert_eq!(sent, RFC.initial_window);
        let expiry = sender.deadline().expect("a running timer");
        assert!(sender.on_timer(expiry));
        drain(&mut sender, expiry);
        let (_, backed_off, floor) = sender.timing();
        assert_eq!(backed_off, 2 * floor, "doubled, RFC 6298, 5.5");

        sender.advisor().0 = ignores;
        let now = expiry + 500 * MS;
        sender.on_segment(now, &ack(2, now, (expiry / MS) as u32));
        let (_, rto, floor) = sender.timing();
        if ignores {
            assert_eq!(rto, backed_off);
        } else {
            assert!(rto < backed_off && rto >= floor);
        }
    }
}
