//! A sender of Linux with a scheme, and a receiver that says what the test wants.

#![allow(dead_code)] // each test has its part

use segue_handoff::{Link, Notice, Scheme};
use segue_tcp::advice::KernelView;
use segue_tcp::linux::LinuxSender;
use segue_tcp::profile::StackProfile;
use segue_tcp::segment::{SackList, Timestamps};
use segue_tcp::{Nanos, Segment};

pub const MS: Nanos = 1_000_000;
/// Base of the time stamps, so that none is negative.
const STAMP_BASE: Nanos = 16_384 * MS;

pub struct Line {
    pub sender: LinuxSender<Scheme>,
    pub now: Nanos,
    /// One beyond the last packet that was acknowledged.
    pub una: u32,
}

impl Line {
    /// Established after a round trip of so many ms, with endless data; the first window is out.
    pub fn new(stack: &str, name: &str, settings: &[(&str, &str)], rtt: Nanos) -> Self {
        let profile = StackProfile::named(stack).expect("a stack");
        let settings: Vec<_> = settings.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        let scheme = Scheme::build(name, &settings).expect("a scheme");
        let sender = LinuxSender::new(&profile, profile.kernel.expect("a kernel"), scheme);
        let mut line = Self { sender, now: 0, una: 0 };
        line.sender.open(1_000_000);
        line.drain();
        line.now = rtt;
        line.hear(Segment { syn: true, seq: 0, ..line.segment(1, &[], rtt) });
        line
    }

    fn segment(&self, ack: u32, sacks: &[(u32, u32)], age: Nanos) -> Segment {
        let mut sack = SackList::default();
        for &(left, right) in sacks {
            sack.push(left, right);
        }
        let stamp = |at: Nanos| (at / MS) as u32;
        let value = stamp(self.now + STAMP_BASE);
        Segment {
            seq: 1,
            ack,
            window: 10_000,
            payload: 0,
            syn: false,
            push: false,
            has_ack: true,
            detail: Default::default(),
            sack,
            timestamps: Some(Timestamps { value, echo: stamp(self.now + STAMP_BASE - age) }),
            option: Default::default(),
            ecn: Default::default(),
        }
    }

    fn hear(&mut self, segment: Segment) {
        self.una = segment.ack;
        self.sender.on_segment(self.now, &segment);
    }

    /// Numbers of the packets that leave now, and whether they are sent again.
    pub fn drain(&mut self) -> Vec<(u32, bool)> {
        std::iter::from_fn(|| self.sender.poll_transmit(self.now))
            .map(|packet| (packet.segment.seq, packet.retransmission))
            .collect()
    }

    /// An ACK after `wait` that echoes a stamp as old as `age`.
    pub fn ack(&mut self, wait: Nanos, ack: u32, sacks: &[(u32, u32)], age: Nanos) -> Vec<(u32, bool)> {
        self.now += wait;
        let segment = self.segment(ack, sacks, age);
        self.hear(segment);
        self.drain()
    }

    /// The sender waits for its timers until `until`; what leaves, and when.
    pub fn wait(&mut self, until: Nanos) -> Vec<(Nanos, u32)> {
        let mut left = Vec::new();
        while let Some(at) = self.sender.deadline().filter(|&at| at <= until) {
            self.now = self.now.max(at);
            self.sender.on_timer(self.now);
            left.extend(self.drain().into_iter().map(|(seq, _)| (self.now, seq)));
        }
        self.now = until;
        left
    }

    /// A notice, and what leaves on it.
    pub fn notice(&mut self, old: Link, new: Link, disconnected: bool) -> Vec<(u32, bool)> {
        let notice = Notice { old_link: old, new_link: new, flows: 1, disconnected: disconnected.into() };
        let view = self.sender.view();
        let advice = self.sender.advisor().on_notice(&view, &notice);
        self.sender.enact(self.now, &advice);
        self.drain()
    }

    /// Acknowledges everything packet by packet a round trip later, all at once; rounds until cwnd is that much.
    pub fn rounds_until(&mut self, window: u32, rtt: Nanos) -> u32 {
        for rounds in 0.. {
            if self.sender.view().cwnd / 256 >= window {
                return rounds;
            }
            let next = self.sender.snd_max();
            self.now += rtt;
            for ack in self.una + 1..=next {
                self.ack(0, ack, &[], rtt);
            }
        }
        unreachable!("slow start doubles")
    }
}

pub fn link(rate_kbps: u32, delay_ms: u32) -> Link {
    Link { rate_kbps, delay_us: delay_ms * 1000 }
}

/// The programs' view of a connection on which nothing has happened; tests change the fields that they need.
pub fn unused() -> KernelView {
    KernelView {
        is_calm: true,
        is_full: true,
        cwnd: 10,
        ssthresh: 0x7fff_ffff,
        mss: 1448,
        initial_window: 10,
        ..KernelView::default()
    }
}
