//! The mobile node's part of a fast handover (RFC 5568, 3 and 4).

use super::{FBU_RETRIES, Message, Outbox, Party, RTSOLPR_RETRIES, Retry};
use segue_tcp::Nanos;

/// How the handover went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// FBack came over the old link: NAR held what came (RFC 5568, 3.2).
    Predictive,
    /// The MN knew NAR, but had no FBack: FBU goes over the new link (RFC 5568, 3.3).
    Reactive,
    /// No PrRtAdv came: the MN had to find NAR by itself (RFC 4862), and PAR is told nothing.
    Unassisted,
}

/// Events that the host has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MobileEvent {
    /// PrRtAdv came: so many bytes are kept at NAR. The time for HO Start (algorithms.md, 5.2, step 2).
    Granted(u64),
    /// FBack came over the old link: the MN may leave.
    MayLeave,
    /// The MN has told NAR that it is there: the time for HO Finish (5.2, step 6).
    Arrived(Mode),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// On the old link, no handover in sight.
    Idle,
    /// RtSolPr is out.
    Soliciting,
    /// FBU is out.
    Updating,
    /// FBack has come.
    Acknowledged,
    /// On the new link without an address there, until then.
    Configuring(Nanos),
    /// On the new link.
    Arrived,
}

/// The mobile node.
#[derive(Clone, Debug)]
pub struct FastMobile {
    state: State,
    /// Time to find a router and configure an address where PAR has not told.
    configuration: Nanos,
    /// RtSolPr or FBU.
    fast: Option<Retry>,
    binding: Option<Retry>,
    out: Outbox,
}

impl FastMobile {
    /// A mobile node that takes so long to configure an address unassisted (RFC 4862: duplicate address detection).
    pub fn new(configuration: Nanos) -> Self {
        Self { state: State::Idle, configuration, fast: None, binding: None, out: Outbox::default() }
    }

    /// L2 hint: the link is about to go.
    pub fn on_hint(&mut self, now: Nanos) {
        self.state = State::Soliciting;
        self.out.put(Party::Previous, Message::RtSolPr);
        self.fast = Some(Retry::fast(now, Message::RtSolPr, RTSOLPR_RETRIES));
    }

    /// The old link is gone: nothing can be sent until the MN is attached again.
    pub fn on_link_down(&mut self) {
        self.fast = None;
        self.out = Outbox::default();
    }

    /// The MN is on NAR's link.
    pub fn on_link_up(&mut self, now: Nanos) -> Option<MobileEvent> {
        match self.state {
            State::Acknowledged => Some(self.arrive(now, Mode::Predictive)),
            State::Updating => Some(self.arrive(now, Mode::Reactive)),
            State::Idle | State::Soliciting => {
                self.state = State::Configuring(now + self.configuration);
                None
            }
            State::Configuring(_) | State::Arrived => None,
        }
    }

    fn arrive(&mut self, now: Nanos, mode: Mode) -> MobileEvent {
        self.state = State::Arrived;
        self.out.put(Party::New, Message::Una);
        if mode == Mode::Reactive {
            self.out.put(Party::Previous, Message::Fbu);
            self.fast = Some(Retry::fast(now, Message::Fbu, FBU_RETRIES));
        }
        self.out.put(Party::HomeAgent, Message::Bu);
        self.binding = Some(Retry::binding(now));
        MobileEvent::Arrived(mode)
    }

    /// A message has come.
    pub fn on_message(&mut self, now: Nanos, message: Message) -> Option<MobileEvent> {
        match (self.state, message) {
            (State::Soliciting, Message::PrRtAdv { buffer }) => {
                self.state = State::Updating;
                self.out.put(Party::Previous, Message::Fbu);
                self.fast = Some(Retry::fast(now, Message::Fbu, FBU_RETRIES));
                Some(MobileEvent::Granted(buffer))
            }
            (State::Updating, Message::FBack) => {
                self.state = State::Acknowledged;
                self.fast = None;
                Some(MobileEvent::MayLeave)
            }
            (State::Arrived, Message::FBack) => {
                self.fast = None;
                None
            }
            (State::Arrived, Message::BAck) => {
                self.binding = None;
                None
            }
            _ => None, // repeated or late
        }
    }

    /// The clock has reached [`Self::deadline`].
    pub fn on_timer(&mut self, now: Nanos) -> Option<MobileEvent> {
        if let State::Configuring(until) = self.state
            && until <= now
        {
            return Some(self.arrive(now, Mode::Unassisted));
        }
        if let Some(message) = self.fast.as_mut().and_then(|retry| retry.again(now)) {
            self.out.put(Party::Previous, message);
        }
        if let Some(message) = self.binding.as_mut().and_then(|retry| retry.again(now)) {
            self.out.put(Party::HomeAgent, message);
        }
        None
    }

    /// When [`Self::on_timer`] wants to be called.
    pub fn deadline(&self) -> Option<Nanos> {
        let configured = match self.state {
            State::Configuring(until) => Some(until),
            _ => None,
        };
        let retries = [self.fast, self.binding].into_iter().flatten().filter_map(|retry| retry.deadline());
        retries.chain(configured).min()
    }

    /// The next message to send.
    pub fn poll(&mut self) -> Option<(Party, Message)> {
        self.out.0.pop_front()
    }
}
