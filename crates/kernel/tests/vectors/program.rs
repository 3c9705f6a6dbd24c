//! The loaded program, which answers one event at a time, and numbers for it.

use crate::common::vectors::GrantEvent;
use crate::skeleton::{VectorsSkel, types};
use libbpf_rs::ProgramInput;
use segue_policy::headers::ClaimEnd;
use segue_policy::{Action, Claim, Grant, Link, Notice, Out, Sender};

/// `enum segue_vector`, less the events behind `Grants`, which are those of [`GrantEvent`].
#[derive(Clone, Copy, Debug)]
pub enum Event {
    Forget,
    Notice,
    Expected,
    NewAck,
    Dsack,
    DupAck,
    FastRetransmit,
    Timeout,
    Sample,
    DecodeReport,
    EncodeReport,
    DecodeCapability,
    EncodeCapability,
    Accept,
    Believe,
    WholePackets,
    Windows,
    AnswerNow,
    Claim,
    Grants,
}

/// `enum segue_scheme`.
pub const ETCP: u32 = 1;
pub const TCP_HO: u32 = 2;
pub const NEAR_FLOW: u32 = 3;

pub struct Program<'a>(pub VectorsSkel<'a>);

impl Program<'_> {
    pub fn globals(&mut self) -> &mut types::bss {
        self.0.maps.bss_data.as_deref_mut().expect("globals")
    }

    pub fn choose(&mut self, scheme: u32, settings: &[u32]) {
        let globals = self.globals();
        globals.scheme = scheme;
        globals.settings[..settings.len()].copy_from_slice(settings);
    }

    pub fn run(&mut self, event: Event) {
        self.run_number(event as u32);
    }

    fn run_number(&mut self, event: u32) {
        self.globals().event = event;
        self.0.progs.vector.test_run(ProgramInput::default()).expect("it runs");
    }

    pub fn ask(&mut self, event: Event, tcp: &Sender, arguments: [u32; 2]) -> Action {
        let globals = self.globals();
        globals.argument[..2].copy_from_slice(&arguments);
        let to = &mut globals.sender;
        to.snd_una = tcp.snd_una;
        to.snd_max = tcp.snd_max;
        to.flight = tcp.flight;
        to.cwnd = tcp.cwnd;
        to.ssthresh = tcp.ssthresh;
        to.rto_us = tcp.rto_us;
        to.ssthresh_saved = tcp.ssthresh_saved;
        to.srtt_before_us = tcp.srtt_before_us;
        to.timeouts_since_ack = tcp.timeouts_since_ack;
        to.in_fast_recovery = tcp.in_fast_recovery;
        to.in_rto_recovery = tcp.in_rto_recovery;
        to.notified_lately = tcp.notified_lately;
        self.run(event);
        self.answered()
    }

    /// The answer to a question about a granted window.
    pub fn grant(&mut self, event: GrantEvent, arguments: [u32; 4]) -> u32 {
        self.globals().argument = arguments;
        self.run_number(Event::Grants as u32 + event as u32);
        self.globals().answer
    }

    /// The part of a policy's answer that is believed.
    pub fn believe(
        &mut self,
        tcp: &Sender,
        disconnected: u32,
        proven: u32,
        asked: Action,
    ) -> (Action, Grant) {
        let act = &mut self.globals().action;
        (act.what, act.cwnd, act.ssthresh) = (asked.what.0, asked.cwnd, asked.ssthresh);
        (act.min_rto_us, act.dupthresh, act.rules) = (asked.min_rto_us, asked.dupthresh, asked.rules);
        let act = self.ask(Event::Believe, tcp, [disconnected, proven]);
        (act, if self.globals().answer == 0 { Grant::Nothing } else { Grant::Unproven })
    }

    /// Packets are about to leave; the claim, if it lasts.
    pub fn claim(&mut self, out: &Out) -> Result<Claim, ClaimEnd> {
        let to = &mut self.globals().out;
        (to.snd_una, to.unit, to.marked, to.elapsed_ms) = (out.snd_una, out.unit, out.marked, out.elapsed_ms);
        (to.lost, to.snd_max, to.granted) = (out.lost, out.snd_max, out.granted);
        (to.others, to.others_behind, to.others_weight) = (out.others, out.others_behind, out.others_weight);
        (to.rtt_us, to.sent_us, to.now_us, to.sent) = (out.rtt_us, out.sent_us, out.now_us, out.sent);
        for (to, [start, end]) in to.sacks.iter_mut().zip(out.sacks) {
            (to.start, to.end) = (start, end);
        }
        let claim = &mut self.globals().claim;
        (claim.extra_packets, claim.competing_traffic) = (0, 0);
        (claim.withheld_packets, claim.behind, claim.weight) = (0, 0, 0);
        self.run(Event::Claim);
        let globals = self.globals();
        let types::segue_claim {
            extra_packets,
            withheld_packets,
            kbps,
            behind,
            weight,
            competing_traffic,
            ..
        } = globals.claim;
        match globals.answer {
            0 => Err(ClaimEnd { competing_traffic: competing_traffic != 0, extra_packets }),
            _ => Ok(Claim { extra_packets, withheld_packets, kbps, behind, weight, competing_traffic }),
        }
    }

    pub fn answered(&mut self) -> Action {
        let act = &self.globals().action;
        Action {
            what: segue_policy::What(act.what),
            cwnd: act.cwnd,
            ssthresh: act.ssthresh,
            min_rto_us: act.min_rto_us,
            dupthresh: act.dupthresh,
            rules: act.rules,
        }
    }

    pub fn tell(&mut self, notice: &Notice) {
        let to = &mut self.globals().notice;
        for (to, from) in [(&mut to.old_link, notice.old_link), (&mut to.new_link, notice.new_link)] {
            to.rate_kbps = from.rate_kbps;
            to.delay_us = from.delay_us;
        }
        to.flows = notice.flows;
        to.disconnected = notice.disconnected;
    }
}

/// xorshift64: the same numbers each time.
pub struct Draw(pub u64);

impl Draw {
    pub fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32
    }

    pub fn below(&mut self, limit: u32) -> u32 {
        self.next() % limit
    }

    /// Mostly ordinary, sometimes at the edges.
    pub fn value(&mut self, ordinary: u32) -> u32 {
        match self.below(16) {
            0 => 0,
            1 => u32::MAX,
            2 => self.next(),
            _ => self.below(ordinary),
        }
    }

    pub fn link(&mut self) -> Link {
        Link { rate_kbps: self.value(60_000), delay_us: self.value(400_000) }
    }

    pub fn sender(&mut self) -> Sender {
        let snd_una = self.value(1 << 20);
        let flight = self.value(200);
        Sender {
            snd_una,
            snd_max: snd_una.wrapping_add(flight),
            flight,
            cwnd: self.value(200 * 256),
            ssthresh: self.value(200 * 256),
            rto_us: self.value(4_000_000),
            ssthresh_saved: self.value(100 * 256),
            srtt_before_us: self.value(1_000_000),
            timeouts_since_ack: self.value(4),
            in_fast_recovery: (self.below(3) == 0).into(),
            in_rto_recovery: (self.below(3) == 0).into(),
            notified_lately: (self.below(3) == 0).into(),
            pad: 0,
        }
    }
}
