//! The mobile alone (docs/reference/mobile.md): schemes for senders that know nothing of handoffs. The sender is
//! regular TCP and hears no notice. The mobile has it resume after an outage (`mobile-resume`), bounds its windows on a
//! slower link (`mobile-window`), or does both (`mobile`). When it does what is `segue_mobile`, which the agent runs,
//! too.

use crate::mobile::{AloneRule, MobileRule};
use crate::notice::Notice;
use crate::scheme::{Entry, HandoffScheme, SchemeError, SettingInfo, Settings, described, set_all};
use segue_policy::Kind;
use segue_tcp::{Advice, Advisor};

pub use segue_mobile::{early, echo, resume, window};

/// Acts of the mobile, and their results at the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// A message about the sender's packet of this number leaves, or is lost before the uplink.
    Message {
        /// The packet that it quotes.
        seq: u32,
        /// It was lost.
        lost: bool,
    },
    /// It was lost on the way.
    MessageLost {
        /// The packet that it quotes.
        seq: u32,
    },
    /// It has come to the sender.
    MessageHeard {
        /// The packet that it quotes.
        seq: u32,
        /// The timer was taken back; else it was ignored.
        heeded: bool,
    },
    /// A copy of the last ACK leaves, or is lost before the uplink.
    LastAck {
        /// Its number.
        ack: u32,
        /// It was lost.
        lost: bool,
    },
    /// An ACK of one octet of a packet leaves, or is lost before the uplink.
    Octet {
        /// The packet.
        seq: u32,
        /// It was lost.
        lost: bool,
    },
    /// An ACK leaves without the stamp that it would echo.
    NotEchoed {
        /// Its number.
        ack: u32,
    },
    /// New data in order have been acknowledged: nothing more is sent.
    Resumed,
    /// Data have come from a sender that was reminded of its notice: nothing more is sent.
    Answered,
    /// Nothing new has come, and nothing more is sent.
    LeftAlone,
    /// The connection's window is bounded, in packets.
    Bounded {
        /// The bound.
        window: u32,
        /// More has come than the link was taken to carry.
        raised: bool,
    },
    /// It is bounded no more.
    Unbounded,
    /// An ACK with a bounded window leaves by the old link, or is lost before it.
    EarlyAck {
        /// Its number.
        ack: u32,
        /// It was lost.
        lost: bool,
    },
}

/// In a clause.
impl std::fmt::Display for Act {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fate = |lost: bool| if lost { ", and is lost" } else { "" };
        match *self {
            Self::Message { seq, lost } => write!(f, "sends host unreachable about {seq}{}", fate(lost)),
            Self::MessageLost { seq } => write!(f, "loses host unreachable about {seq}"),
            Self::MessageHeard { seq, heeded: true } => {
                write!(f, "receives host unreachable about {seq}: one back-off of the timer is taken back")
            }
            Self::MessageHeard { seq, heeded: false } => {
                write!(f, "receives host unreachable about {seq}, and ignores it")
            }
            Self::LastAck { ack, lost } => write!(f, "sends its last ACK again, {ack}{}", fate(lost)),
            Self::Octet { seq, lost } => write!(f, "acknowledges one octet of {seq}{}", fate(lost)),
            Self::NotEchoed { ack } => {
                write!(f, "does not echo a stamp from before the outage with ACK {ack}")
            }
            Self::Resumed => write!(f, "has acknowledged new data: the sender has resumed"),
            Self::Answered => write!(f, "has received data: the sender needs no more reminders"),
            Self::LeftAlone => write!(f, "has said all, and nothing new has come"),
            Self::Bounded { window, raised: false } => write!(f, "bounds its window to {window}"),
            Self::Bounded { window, raised: true } => {
                write!(f, "bounds its window to {window}: the link carries more than it was taken to")
            }
            Self::EarlyAck { ack, lost } => {
                write!(f, "tells of its window over the old link, too, with ACK {ack}{}", fate(lost))
            }
            Self::Unbounded => write!(f, "bounds its window no more: something else limits"),
        }
    }
}

impl Act {
    /// The word for it in results.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Message { .. } => "message",
            Self::MessageLost { .. } => "message_lost",
            Self::MessageHeard { .. } => "message_heard",
            Self::LastAck { .. } => "last_ack",
            Self::Octet { .. } => "octet",
            Self::NotEchoed { .. } => "not_echoed",
            Self::Resumed => "resumed",
            Self::Answered => "answered",
            Self::LeftAlone => "left_alone",
            Self::Bounded { .. } => "bounded",
            Self::Unbounded => "unbounded",
            Self::EarlyAck { .. } => "early_ack",
        }
    }

    /// The rule behind it.
    pub fn rule(&self) -> &'static str {
        match self {
            Self::Message { .. } | Self::MessageLost { .. } => "segue explain mobile 1.2, 1.4; RFC 6069",
            Self::MessageHeard { .. } => "segue explain mobile 3; RFC 6069, 4",
            Self::LastAck { .. } => "segue explain mobile 1.3, 1.5",
            Self::Octet { .. } => "segue explain mobile 1.3; RFC 5682",
            Self::NotEchoed { .. } => "segue explain mobile 1.1; RFC 7323",
            Self::Resumed => "segue explain mobile 1.6",
            Self::Answered => "segue explain mobile 1.9",
            Self::LeftAlone => "segue explain mobile 1.5",
            Self::Bounded { raised: false, .. } => "segue explain mobile 2.1, 2.2",
            Self::Bounded { raised: true, .. } => "segue explain mobile 2.4",
            Self::Unbounded => "segue explain mobile 2.5",
            Self::EarlyAck { .. } => "segue explain mobile 2.7",
        }
    }

    /// Whether it happens at the sender.
    pub fn at_sender(&self) -> bool {
        matches!(self, Self::MessageHeard { .. })
    }
}

/// A mobile beside regular TCP.
#[derive(Clone, Debug)]
pub struct Alone {
    rule: AloneRule,
}

/// Nobody advises the sender.
impl Advisor for Alone {}

const SOURCE: &str = "RFC 6069, 7323; segue explain mobile";

impl Alone {
    const SETTINGS: Settings<2> = [
        (
            "alone-lost",
            "0",
            "packets of the scheme, of each connection and handoff, that are lost before the uplink, or all",
        ),
        (
            "alone-queue",
            "link",
            "packets that the new link's queue is taken to hold, or link: what it does hold",
        ),
    ];

    fn set(&mut self, key: &str, value: &str) -> Option<Result<(), &'static str>> {
        Some(match (key, value) {
            ("alone-lost", "all") => {
                self.rule.lost = u32::MAX;
                Ok(())
            }
            ("alone-lost", count) => {
                Kind::Count.parse(count).map(|lost| self.rule.lost = lost).ok_or("a whole number, or all")
            }
            ("alone-queue", "link") => {
                self.rule.queue = None;
                Ok(())
            }
            ("alone-queue", count) => Kind::Count
                .parse(count)
                .map(|queue| self.rule.queue = Some(queue))
                .ok_or("a whole number of packets, or link"),
            _ => return None,
        })
    }
}

impl HandoffScheme for Alone {
    const ENTRIES: &'static [Entry] = &[
        Entry {
            name: "mobile",
            stack: "ns2-sack1",
            summary: "the mobile alone: mobile-resume and mobile-window; nothing at the sender",
            source: SOURCE,
        },
        Entry {
            name: "mobile-resume",
            stack: "ns2-sack1",
            summary: "the mobile has the sender resume after an outage, by ICMP and ACKs",
            source: SOURCE,
        },
        Entry {
            name: "mobile-window",
            stack: "ns2-sack1",
            summary: "the mobile bounds its windows on a slower link",
            source: SOURCE,
        },
    ];

    fn build(name: &str, settings: &[(String, String)]) -> Result<Self, SchemeError> {
        let (resumes, bounds) = (name != "mobile-window", name != "mobile-resume");
        let mut made = Self { rule: AloneRule { resumes, bounds, lost: 0, queue: None } };
        set_all((name, &Self::SETTINGS), settings, |key, value| made.set(key, value))?;
        Ok(made)
    }

    fn settings(_name: &str) -> Vec<SettingInfo> {
        described(&Self::SETTINGS, "mobile.md")
    }

    fn mobile(&self) -> MobileRule {
        MobileRule { announces: false, alone: Some(self.rule), ..MobileRule::default() }
    }

    fn on_notice(&mut self, _view: &segue_tcp::View, _notice: &Notice) -> Advice {
        Advice::default()
    }
}
