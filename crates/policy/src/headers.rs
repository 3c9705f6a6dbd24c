//! Policies that are one header of `policy/` each (`policy/table.h`): one function here per header, made by
//! `build.rs`.
#![allow(unsafe_code)]

use crate::{Action, Notice, Sender};

/// `struct segue_flow`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Words([u32; 8]);

type OnEvent = extern "C" fn(&mut Words, &Sender, &mut Action);

/// `struct segue_table`.
#[repr(C)]
struct Table {
    on_notice: Option<extern "C" fn(&mut Words, &Sender, &Notice, &mut Action)>,
    on_new_ack: Option<OnEvent>,
    on_dup_ack: Option<OnEvent>,
    on_fast_retransmit: Option<OnEvent>,
    on_timeout: Option<OnEvent>,
    on_rtt_sample: Option<extern "C" fn(&mut Words, &Sender, u32, u32, &mut Action)>,
}

/// What a header decides.
#[derive(Clone, Copy)]
pub struct Policy(&'static Table);

/// One flow under the policy of a header. Before its first notice it asks for nothing.
#[derive(Clone, Copy)]
pub struct Flow {
    policy: Policy,
    words: Words,
    heard: bool,
}

impl Policy {
    /// The state of a new flow.
    pub fn start(self) -> Flow {
        Flow { policy: self, words: Words::default(), heard: false }
    }
}

impl Flow {
    /// Whether there is anything to tell it but notices.
    pub const fn is_listening(&self) -> bool {
        self.heard
    }

    /// A handoff has completed.
    pub fn on_notice(&mut self, tcp: &Sender, notice: &Notice) -> Action {
        self.heard = true;
        let mut act = Action::NOTHING;
        if let Some(answer) = self.policy.0.on_notice {
            answer(&mut self.words, tcp, notice, &mut act);
        }
        act
    }

    /// `snd_una` has advanced.
    pub fn on_new_ack(&mut self, tcp: &Sender) -> Action {
        self.ask(self.policy.0.on_new_ack, tcp)
    }

    /// A duplicate ACK.
    pub fn on_dup_ack(&mut self, tcp: &Sender) -> Action {
        self.ask(self.policy.0.on_dup_ack, tcp)
    }

    /// A fast retransmit is about to cut the window.
    pub fn on_fast_retransmit(&mut self, tcp: &Sender) -> Action {
        self.ask(self.policy.0.on_fast_retransmit, tcp)
    }

    /// The timer has expired, and the window is about to be cut.
    pub fn on_timeout(&mut self, tcp: &Sender) -> Action {
        self.ask(self.policy.0.on_timeout, tcp)
    }

    /// A valid RTT sample, us, of the packet with this sequence number.
    pub fn on_rtt_sample(&mut self, tcp: &Sender, sample_seq: u32, rtt_us: u32) -> Action {
        let mut act = Action::NOTHING;
        if let (true, Some(answer)) = (self.heard, self.policy.0.on_rtt_sample) {
            answer(&mut self.words, tcp, sample_seq, rtt_us, &mut act);
        }
        act
    }

    fn ask(&mut self, answer: Option<OnEvent>, tcp: &Sender) -> Action {
        let mut act = Action::NOTHING;
        if let (true, Some(answer)) = (self.heard, answer) {
            answer(&mut self.words, tcp, &mut act);
        }
        act
    }
}

impl std::fmt::Debug for Flow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Flow").field("words", &self.words.0).field("heard", &self.heard).finish()
    }
}

include!(concat!(env!("OUT_DIR"), "/headers.rs"));
