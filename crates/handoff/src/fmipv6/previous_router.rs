//! The previous access router's part of a fast handover (RFC 5568, 3 and 6).

use super::{HI_RETRIES, Message, Outbox, Party, Retry};
use segue_tcp::Nanos;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The MN is here.
    Idle,
    /// HI is out.
    Initiating,
    /// HAck has come: what comes for the MN goes through the tunnel.
    Forwarding,
}

/// The previous access router, for one mobile node.
#[derive(Clone, Debug)]
pub struct PreviousRouter {
    state: State,
    /// Bytes that NAR keeps for the MN.
    granted: u64,
    initiate: Option<Retry>,
    out: Outbox,
}

impl PreviousRouter {
    /// A router whose neighbour grants so many bytes.
    pub fn new(granted: u64) -> Self {
        Self { state: State::Idle, granted, initiate: None, out: Outbox::default() }
    }

    /// Whether what comes for the MN goes through the tunnel to NAR.
    pub fn forwards(&self) -> bool {
        self.state == State::Forwarding
    }

    /// A message has come.
    pub fn on_message(&mut self, now: Nanos, message: Message) {
        match (self.state, message) {
            (_, Message::RtSolPr) => {
                self.out.put(Party::MobileAtPrevious, Message::PrRtAdv { buffer: self.granted });
            }
            (State::Idle, Message::Fbu) => {
                self.state = State::Initiating;
                self.out.put(Party::New, Message::Hi);
                self.initiate = Some(Retry::fast(now, Message::Hi, HI_RETRIES));
            }
            // A repeated FBU where HI has been given up starts it anew.
            (State::Initiating, Message::Fbu) if self.deadline().is_none() => {
                self.out.put(Party::New, Message::Hi);
                self.initiate = Some(Retry::fast(now, Message::Hi, HI_RETRIES));
            }
            (State::Initiating, Message::HAck) => {
                self.state = State::Forwarding;
                self.initiate = None;
                self.acknowledge();
            }
            (State::Forwarding, Message::Fbu) => self.acknowledge(), // FBack was lost
            _ => {}
        }
    }

    /// To the MN wherever it is by now (RFC 5568, 3.2: on both links).
    fn acknowledge(&mut self) {
        self.out.put(Party::MobileAtPrevious, Message::FBack);
        self.out.put(Party::MobileAtNew, Message::FBack);
    }

    /// The clock has reached [`Self::deadline`].
    pub fn on_timer(&mut self, now: Nanos) {
        if let Some(message) = self.initiate.as_mut().and_then(|retry| retry.again(now)) {
            self.out.put(Party::New, message);
        }
    }

    /// When [`Self::on_timer`] wants to be called.
    pub fn deadline(&self) -> Option<Nanos> {
        self.initiate.as_ref().and_then(Retry::deadline)
    }

    /// The next message to send.
    pub fn poll(&mut self) -> Option<(Party, Message)> {
        self.out.0.pop_front()
    }
}
