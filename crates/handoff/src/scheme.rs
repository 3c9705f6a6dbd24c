//! The trait of a scheme. [`crate::registry`] lists all of them.

use crate::claim::Claim;
use crate::clock::Clock;
use crate::group::Group;
use crate::hn_option::Start;
use crate::mobile::MobileRule;
use crate::notice::Notice;
use crate::router::RouterRule;
use segue_policy::Rule;
use segue_tcp::linux::cc::CcName;
use segue_tcp::{Advice, Advisor, Nanos, StackProfile, View};

/// A scheme as the user sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// The stack it runs on unless told otherwise.
    pub stack: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

/// A setting of a scheme as the user sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingInfo {
    /// Key of `--set`.
    pub name: &'static str,
    /// Value unless set.
    pub default: String,
    /// Section of algorithms.md that leaves it open.
    pub section: &'static str,
    /// One line.
    pub meaning: &'static str,
}

/// The stack that a scheme needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Needs {
    /// Any.
    #[default]
    Any,
    /// A kernel's.
    Kernel,
    /// A kernel's whose congestion control leaves cwnd to recovery, and grows it by ACKs.
    Window,
    /// A kernel's, with this congestion control.
    Control(CcName),
}

impl Needs {
    /// Whether a stack is such a one.
    pub fn met_by(self, stack: &StackProfile) -> bool {
        let control = stack.kernel.map(|kernel| kernel.control);
        match self {
            Self::Any => true,
            Self::Kernel => control.is_some(),
            Self::Window => matches!(control, Some(CcName::Cubic | CcName::Reno)),
            Self::Control(needed) => control == Some(needed),
        }
    }

    /// The one congestion control that will do, if it is one.
    pub fn control(self) -> Option<CcName> {
        match self {
            Self::Control(control) => Some(control),
            Self::Any | Self::Kernel | Self::Window => None,
        }
    }

    /// Such stacks, for a message.
    pub fn expected(self) -> String {
        match self {
            Self::Any => "any stack".to_string(),
            Self::Kernel => "linux-6.12 or linux-6.18".to_string(),
            Self::Window => "linux-6.12 or linux-6.18 with cubic or reno".to_string(),
            Self::Control(control) => format!("linux-6.12/{0} or linux-6.18/{0}", control.name()),
        }
    }
}

/// Why a scheme cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemeError {
    /// No scheme of that name.
    #[error("unknown scheme `{name}`; expected {expected}{hint}")]
    Unknown {
        /// The word.
        name: String,
        /// The names that could stand there.
        expected: String,
        /// The most similar valid word, in words; empty if none is.
        hint: String,
    },
    /// A setting that the scheme does not have, or a bad value.
    #[error("setting of scheme `{scheme}`: {problem}")]
    Setting {
        /// The scheme.
        scheme: String,
        /// The fault, and what was expected.
        problem: String,
    },
}

/// The form of a setting that is a time.
pub(crate) const TIME: &str = "a time such as 200ms or 0.2s";

/// A setting that is a time, up to 4000 s.
pub(crate) fn time(text: &str) -> Option<Nanos> {
    segue_words::quantity::setting_time(text).filter(|&time| time <= 4_000_000_000_000)
}

/// Settings as a table: key, default, meaning.
pub(crate) type Settings<const N: usize> = [(&'static str, &'static str, &'static str); N];

/// Sets each of the user's settings; `set` knows the keys of the table, and says what a bad value should have been.
pub(crate) fn set_all<const N: usize>(
    (name, table): (&str, &Settings<N>),
    settings: &[(String, String)],
    mut set: impl FnMut(&str, &str) -> Option<Result<(), &'static str>>,
) -> Result<(), SchemeError> {
    let keys = table.map(|(key, ..)| key);
    for (key, value) in settings {
        let done = set(key, value).ok_or_else(|| SchemeError::no_such_setting(name, key, &keys))?;
        done.map_err(|expected| SchemeError::Setting {
            scheme: name.to_string(),
            problem: format!("`{value}` is no value of {key}; expected {expected}"),
        })?;
    }
    Ok(())
}

/// The table as a user sees it; `section` leaves these points open.
pub(crate) fn described<const N: usize>(table: &Settings<N>, section: &'static str) -> Vec<SettingInfo> {
    let info = |(name, default, meaning): (_, &str, _)| SettingInfo {
        name,
        default: default.to_string(),
        section,
        meaning,
    };
    table.map(info).to_vec()
}

impl SchemeError {
    pub(crate) fn no_such_setting(scheme: &str, key: &str, names: &[&str]) -> Self {
        let expected = if names.is_empty() {
            "it has none".to_string()
        } else {
            format!("expected one of {}", names.join(", "))
        };
        Self::Setting { scheme: scheme.to_string(), problem: format!("unknown key `{key}`; {expected}") }
    }
}

/// One flow's scheme at the sender.
pub trait HandoffScheme: Advisor + Sized {
    /// The names under which it is known.
    const ENTRIES: &'static [Entry];
    /// Whether it is TCP without a scheme, which others are compared with.
    const IS_REGULAR: bool = false;
    /// The stack that it needs.
    const NEEDS: Needs = Needs::Any;

    /// Whether `name` is one of this scheme's.
    fn matches(name: &str) -> bool {
        Self::ENTRIES.iter().any(|entry| entry.name == name)
    }

    /// Fresh state, with settings as keys and values.
    fn build(name: &str, settings: &[(String, String)]) -> Result<Self, SchemeError>;

    /// All its settings, with the defaults of `name`.
    fn settings(name: &str) -> Vec<SettingInfo>;

    /// Whether the mobile should report duplicates (RFC 2883) once it has sent a notice.
    fn needs_dsack(&self) -> bool {
        false
    }

    /// The mobile's part at a handoff; unless a scheme says otherwise it tells the senders.
    fn mobile(&self) -> MobileRule {
        MobileRule::default()
    }

    /// The access routers' part at a handoff; unless a scheme says otherwise, the scenario's.
    fn router(&self) -> Option<RouterRule> {
        None
    }

    /// A handoff has completed.
    fn on_notice(&mut self, view: &View, notice: &Notice) -> Advice;

    /// The mobile has told, over the link in use, that it will move to the new link of this notice. It comes with a segment
    /// that the sender is about to process, and is answered there.
    fn expect(&mut self, _view: &View, _notice: &Notice) {}

    /// A notice has come with a segment that the sender, which stands as `view` shows, is about to process. Whether the
    /// scheme answers it while it is processed ([`Advisor::on_ack`]), as the programs of a kernel do.
    fn pend(&mut self, _view: &View, _notice: &Notice) -> bool {
        false
    }

    /// The notice that is answered so.
    fn pending(&self) -> Option<Notice> {
        None
    }

    /// The flow is about to act, or has acted. It tells the host's other flows how far it is behind, and learns how far
    /// they are.
    fn meet(&mut self, _group: &mut Group) {}

    /// Whether its answer to the segment that has just been processed asks for an ICMP, which makes a kernel try its
    /// head at once (RFC 6069).
    fn asks_icmp(&self) -> bool {
        false
    }

    /// State that all flows of a mobile share at a host from the first notice on, if the scheme has them send
    /// together.
    fn claim(&self) -> Option<Claim> {
        None
    }

    /// Whether it needs to have been at the sender from the start of the connection.
    fn remembers(&self) -> bool {
        false
    }

    /// Whether what it remembers is what `_other` would.
    fn remembers_as(&self, _other: &Self) -> bool {
        true
    }

    /// Whether it acts from the start of the connection, told of handoffs or not; it [remembers](Self::remembers), too.
    fn attends(&self) -> bool {
        false
    }

    /// How long before each handoff the sender reads of it in a schedule, if it has one.
    fn schedule(&self) -> Option<Nanos> {
        None
    }

    /// The schedule has a handoff that begins at `_at`.
    fn on_schedule(&mut self, _at: Nanos) {}

    /// From `_now` on packets go over a link that is reconfigured by this clock, if it is.
    fn on_link(&mut self, _now: Nanos, _clock: Option<Clock>) {}

    /// The mobile has told that a handoff is about to begin.
    fn on_start(&mut self, _now: Nanos, _view: &View, _start: &Start) -> Advice {
        Advice::default()
    }

    /// The mobile has told that it is over.
    fn on_finish(&mut self, _view: &View) -> Advice {
        Advice::default()
    }

    /// The rules behind its last answer, for those who explain.
    fn applied(&self) -> Vec<Rule> {
        Vec::new()
    }
}
