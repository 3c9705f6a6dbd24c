//! The new access router's part of a fast handover (RFC 5568, 3 and 6).

use super::{Message, Outbox, Party};

/// The new access router, for one mobile node.
#[derive(Clone, Debug, Default)]
pub struct NewRouter {
    /// HI has come: what comes for the MN is held until it is there.
    expected: bool,
    attached: bool,
    /// An FBack waits for the MN.
    acknowledgement: bool,
    out: Outbox,
}

impl NewRouter {
    /// Whether what comes for the MN is to be held.
    pub fn holds(&self) -> bool {
        self.expected && !self.attached
    }

    /// Whether the MN is on the link.
    pub fn is_attached(&self) -> bool {
        self.attached
    }

    /// A message has come, of the MN or for it. Says whether what is held is to be released now.
    pub fn on_message(&mut self, message: Message) -> bool {
        match message {
            Message::Hi => {
                self.expected = true;
                self.out.put(Party::Previous, Message::HAck);
                false
            }
            Message::FBack if self.attached => {
                self.out.put(Party::MobileAtNew, Message::FBack);
                false
            }
            Message::FBack => {
                self.acknowledgement = true;
                false
            }
            Message::Una => self.on_mobile_seen(),
            _ => false,
        }
    }

    /// Something came from the MN over the link: it is there, even if its UNA was lost (RFC 4861, 7.3.1: reachability
    /// is confirmed by what comes). Says whether what is held is to be released now.
    pub fn on_mobile_seen(&mut self) -> bool {
        let first = !std::mem::replace(&mut self.attached, true);
        if first && std::mem::take(&mut self.acknowledgement) {
            self.out.put(Party::MobileAtNew, Message::FBack);
        }
        first
    }

    /// The next message to send.
    pub fn poll(&mut self) -> Option<(Party, Message)> {
        self.out.0.pop_front()
    }
}
