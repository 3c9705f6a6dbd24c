//! The tables of `policy/table.h`: one function here per policy, made by `build.rs`.
#![allow(unsafe_code)]

use crate::{Action, Claim, Notice, Out, Sender};
use std::ffi::c_void;
use std::marker::PhantomData;

/// `struct segue_flow`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Words([u32; 11]);

type OnEvent = unsafe extern "C" fn(*const c_void, *mut c_void, &Sender, &mut Action);
type OnNotice = unsafe extern "C" fn(*const c_void, *mut c_void, &Sender, &Notice, &mut Action);
type OnSample = unsafe extern "C" fn(*const c_void, *mut c_void, &Sender, u32, u32, &mut Action);

/// `struct segue_table`.
#[repr(C)]
struct Table {
    on_notice: Option<OnNotice>,
    on_expected: Option<OnNotice>,
    on_new_ack: Option<OnEvent>,
    on_dup_ack: Option<OnEvent>,
    on_fast_retransmit: Option<OnEvent>,
    on_timeout: Option<OnEvent>,
    on_rtt_sample: Option<OnSample>,
    on_dsack: Option<unsafe extern "C" fn(*mut c_void, u32, u32)>,
    listens: Option<unsafe extern "C" fn(*const c_void) -> u32>,
    link_window: Option<unsafe extern "C" fn(*const c_void, &Notice) -> u32>,
    claim: Option<unsafe extern "C" fn(*mut c_void, &Out, &mut Claim) -> u32>,
    sample_seq: u32,
}

/// No claim lasts, or the one that did is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClaimEnd {
    /// There is competing traffic.
    pub competing_traffic: bool,
    /// Packets that may be out in addition to the granted window.
    pub extra_packets: u32,
}

/// The decisions of a header.
#[derive(Clone, Copy)]
pub struct Policy(&'static Table);

/// A policy with the settings and the state of one flow.
pub(crate) struct Bound<'a> {
    table: &'static Table,
    set: *const c_void,
    flow: *mut c_void,
    lifetime: PhantomData<&'a mut ()>,
}

impl Policy {
    /// The state of a new flow, of a policy without settings.
    pub fn start(self) -> Flow {
        Flow { policy: self, words: Words::default(), heard: false }
    }

    /// # Safety
    /// Both are the structures of the policy's header; every value of their fields is valid.
    pub(crate) const unsafe fn bind<'a, Set, State>(self, set: &'a Set, flow: &'a mut State) -> Bound<'a> {
        let (set, flow) = (std::ptr::from_ref(set).cast(), std::ptr::from_mut(flow).cast());
        Bound { table: self.0, set, flow, lifetime: PhantomData }
    }
}

// SAFETY, of the calls below: the table is that of the header, which reads its settings and reads and writes its state.
// `Policy::bind` has taken references to both. Nothing is kept.
impl Bound<'_> {
    /// A handoff has completed.
    pub(crate) fn on_notice(&mut self, tcp: &Sender, notice: &Notice) -> Action {
        let mut act = Action::NOTHING;
        if let Some(answer) = self.table.on_notice {
            unsafe { answer(self.set, self.flow, tcp, notice, &mut act) };
        }
        act
    }

    /// A handoff without an outage is expected.
    pub(crate) fn on_expected(&mut self, tcp: &Sender, notice: &Notice) -> Action {
        let mut act = Action::NOTHING;
        if let Some(answer) = self.table.on_expected {
            unsafe { answer(self.set, self.flow, tcp, notice, &mut act) };
        }
        act
    }

    /// `snd_una` has advanced.
    pub(crate) fn on_new_ack(&mut self, tcp: &Sender) -> Action {
        self.ask(self.table.on_new_ack, tcp)
    }

    /// A duplicate ACK.
    pub(crate) fn on_dup_ack(&mut self, tcp: &Sender) -> Action {
        self.ask(self.table.on_dup_ack, tcp)
    }

    /// A fast retransmit is about to cut the window.
    pub(crate) fn on_fast_retransmit(&mut self, tcp: &Sender) -> Action {
        self.ask(self.table.on_fast_retransmit, tcp)
    }

    /// The timer has expired, and the window is about to be cut.
    pub(crate) fn on_timeout(&mut self, tcp: &Sender) -> Action {
        self.ask(self.table.on_timeout, tcp)
    }

    /// A valid RTT sample, us, of the packet with this sequence number.
    pub(crate) fn on_rtt_sample(&mut self, tcp: &Sender, sample_seq: u32, rtt_us: u32) -> Action {
        let mut act = Action::NOTHING;
        if let Some(answer) = self.table.on_rtt_sample {
            unsafe { answer(self.set, self.flow, tcp, sample_seq, rtt_us, &mut act) };
        }
        act
    }

    /// A DSACK block `left..right`.
    pub(crate) fn on_dsack(&mut self, left: u32, right: u32) {
        if let Some(heed) = self.table.on_dsack {
            unsafe { heed(self.flow, left, right) };
        }
    }

    /// Whether ACKs and cuts may ask for something now.
    pub(crate) fn listens(&self) -> bool {
        self.table.listens.is_none_or(|listens| unsafe { listens(self.flow) } != 0)
    }

    /// Packets are about to leave: what is claimed.
    pub(crate) fn claim(&mut self, out: &Out) -> Result<Claim, ClaimEnd> {
        let mut claim = Claim::default();
        let lasts = self.table.claim.is_some_and(|answer| unsafe { answer(self.flow, out, &mut claim) } != 0);
        if lasts {
            Ok(claim)
        } else {
            Err(ClaimEnd {
                competing_traffic: claim.competing_traffic != 0,
                extra_packets: claim.extra_packets,
            })
        }
    }

    fn ask(&mut self, answer: Option<OnEvent>, tcp: &Sender) -> Action {
        let mut act = Action::NOTHING;
        if let Some(answer) = answer {
            unsafe { answer(self.set, self.flow, tcp, &mut act) };
        }
        act
    }
}

/// One flow under a policy without settings. Before its first notice it asks for nothing.
#[derive(Clone, Copy)]
pub struct Flow {
    policy: Policy,
    words: Words,
    heard: bool,
}

impl Flow {
    /// Whether there is anything to tell it but notices.
    pub const fn is_listening(&self) -> bool {
        self.heard
    }

    /// A handoff has completed.
    pub fn on_notice(&mut self, tcp: &Sender, notice: &Notice) -> Action {
        self.heard = true;
        self.bound().on_notice(tcp, notice)
    }

    /// A handoff without an outage is expected.
    pub fn on_expected(&mut self, tcp: &Sender, notice: &Notice) -> Action {
        self.heard = true;
        self.bound().on_expected(tcp, notice)
    }

    /// `snd_una` has advanced.
    pub fn on_new_ack(&mut self, tcp: &Sender) -> Action {
        self.heard(|flow| flow.on_new_ack(tcp))
    }

    /// A duplicate ACK.
    pub fn on_dup_ack(&mut self, tcp: &Sender) -> Action {
        self.heard(|flow| flow.on_dup_ack(tcp))
    }

    /// A fast retransmit is about to cut the window.
    pub fn on_fast_retransmit(&mut self, tcp: &Sender) -> Action {
        self.heard(|flow| flow.on_fast_retransmit(tcp))
    }

    /// The timer has expired, and the window is about to be cut.
    pub fn on_timeout(&mut self, tcp: &Sender) -> Action {
        self.heard(|flow| flow.on_timeout(tcp))
    }

    /// A valid RTT sample, us, of the packet with this sequence number.
    pub fn on_rtt_sample(&mut self, tcp: &Sender, sample_seq: u32, rtt_us: u32) -> Action {
        self.heard(|flow| flow.on_rtt_sample(tcp, sample_seq, rtt_us))
    }

    /// Whether ACKs and cuts may ask for something now.
    pub fn listens(&self) -> bool {
        let mut flow = *self;
        self.heard && flow.bound().listens()
    }

    /// Packets are about to leave: what is claimed.
    pub fn claim(&mut self, out: &Out) -> Result<Claim, ClaimEnd> {
        self.bound().claim(out)
    }

    const fn bound(&mut self) -> Bound<'_> {
        // SAFETY: the state of every policy fits into these words (SEGUE_FITS), and it has no settings.
        unsafe { self.policy.bind(&(), &mut self.words) }
    }

    fn heard(&mut self, event: impl FnOnce(&mut Bound<'_>) -> Action) -> Action {
        if self.heard { event(&mut self.bound()) } else { Action::NOTHING }
    }
}

impl std::fmt::Debug for Flow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Flow").field("words", &self.words.0).field("heard", &self.heard).finish()
    }
}

include!(concat!(env!("OUT_DIR"), "/headers.rs"));
