//! What a scheme is, and the list of all schemes.

use crate::hn_option::Start;
use crate::mobile::MobileRule;
use crate::notice::Notice;
use crate::router::RouterRule;
use segue_policy::Rule;
use segue_tcp::{Advice, Advisor, Nanos, View};

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

/// Why a scheme cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemeError {
    /// No scheme of that name.
    #[error("unknown scheme `{name}`; expected {expected}{}", nearest.as_ref().map(|n| format!("; did you mean `{n}`?")).unwrap_or_default())]
    Unknown {
        /// The word.
        name: String,
        /// What could stand there.
        expected: String,
        /// The most similar valid word.
        nearest: Option<String>,
    },
    /// A setting that the scheme does not have, or a bad value.
    #[error("setting of scheme `{scheme}`: {problem}")]
    Setting {
        /// The scheme.
        scheme: String,
        /// What is wrong, and what was expected.
        problem: String,
    },
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

    /// What the mobile does at a handoff; unless a scheme says otherwise it tells the senders.
    fn mobile(&self) -> MobileRule {
        MobileRule::default()
    }

    /// What the access routers do at a handoff; unless a scheme says otherwise, what the scenario says.
    fn router(&self) -> Option<RouterRule> {
        None
    }

    /// A handoff has completed.
    fn on_notice(&mut self, view: &View, notice: &Notice) -> Advice;

    /// Whether it needs to have been at the sender from the start of the connection.
    fn remembers(&self) -> bool {
        false
    }

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

macro_rules! schemes {
    ($($(#[$doc:meta])* $variant:ident($type:ty)),+ $(,)?) => {
        /// Any scheme, dispatched statically.
        #[derive(Clone, Debug)]
        pub enum Scheme { $($(#[$doc])* $variant($type)),+ }

        impl Scheme {
            /// Everything that can be named, in the order of registration.
            pub fn entries() -> Vec<Entry> {
                let mut all = Vec::new();
                $(all.extend_from_slice(<$type>::ENTRIES);)+
                all
            }

            /// All settings of the family that knows `name`.
            pub fn settings_of(name: &str) -> Vec<SettingInfo> {
                $(if <$type>::matches(name) { return <$type>::settings(name); })+
                Vec::new()
            }

            /// The entry that describes `name`, which may be a sum such as `etcp:a1+a3`.
            pub fn entry_of(name: &str) -> Option<Entry> {
                $(if <$type>::matches(name) {
                    let exact = <$type>::ENTRIES.iter().find(|entry| entry.name == name);
                    return exact.or(<$type>::ENTRIES.first()).copied();
                })+
                None
            }

            /// The scheme of that name, fresh; `settings` are keys and values.
            pub fn build(name: &str, settings: &[(String, String)]) -> Result<Self, SchemeError> {
                $(if <$type>::matches(name) { return Ok(Self::$variant(<$type>::build(name, settings)?)); })+
                Err(Self::unknown(name))
            }

            /// Whether the mobile should report duplicates once it has sent a notice.
            pub fn needs_dsack(&self) -> bool {
                match self { $(Self::$variant(scheme) => scheme.needs_dsack()),+ }
            }

            /// What the mobile does at a handoff.
            pub fn mobile(&self) -> MobileRule {
                match self { $(Self::$variant(scheme) => scheme.mobile()),+ }
            }

            /// What the access routers do at a handoff, if the scheme says so.
            pub fn router(&self) -> Option<RouterRule> {
                match self { $(Self::$variant(scheme) => scheme.router()),+ }
            }

            /// The rules behind its last answer.
            pub fn applied(&self) -> Vec<Rule> {
                match self { $(Self::$variant(scheme) => scheme.applied()),+ }
            }

            /// A handoff has completed.
            pub fn on_notice(&mut self, view: &View, notice: &Notice) -> Advice {
                match self { $(Self::$variant(scheme) => scheme.on_notice(view, notice)),+ }
            }

            /// Whether it needs to have been at the sender from the start of the connection.
            pub fn remembers(&self) -> bool {
                match self { $(Self::$variant(scheme) => scheme.remembers()),+ }
            }

            /// The mobile has told that a handoff is about to begin.
            pub fn on_start(&mut self, now: Nanos, view: &View, start: &Start) -> Advice {
                match self { $(Self::$variant(scheme) => scheme.on_start(now, view, start)),+ }
            }

            /// The mobile has told that it is over.
            pub fn on_finish(&mut self, view: &View) -> Advice {
                match self { $(Self::$variant(scheme) => scheme.on_finish(view)),+ }
            }
        }

        impl Advisor for Scheme {
            #[inline]
            fn listening(&self) -> bool {
                match self { $(Self::$variant(scheme) => scheme.listening()),+ }
            }
            #[inline]
            fn on_dsack(&mut self, left: u32, right: u32) {
                match self { $(Self::$variant(scheme) => scheme.on_dsack(left, right)),+ }
            }
            fn on_new_ack(&mut self, view: &View) -> Advice {
                match self { $(Self::$variant(scheme) => scheme.on_new_ack(view)),+ }
            }
            fn on_dup_ack(&mut self, view: &View) -> Advice {
                match self { $(Self::$variant(scheme) => scheme.on_dup_ack(view)),+ }
            }
            fn on_fast_retransmit(&mut self, view: &View) -> Advice {
                match self { $(Self::$variant(scheme) => scheme.on_fast_retransmit(view)),+ }
            }
            fn on_timeout(&mut self, view: &View) -> Advice {
                match self { $(Self::$variant(scheme) => scheme.on_timeout(view)),+ }
            }
            #[inline]
            fn deadline(&self) -> Option<Nanos> {
                match self { $(Self::$variant(scheme) => scheme.deadline()),+ }
            }
            fn on_deadline(&mut self, now: Nanos, view: &View) -> Advice {
                match self { $(Self::$variant(scheme) => scheme.on_deadline(now, view)),+ }
            }
            fn on_rtt_sample(&mut self, view: &View, seq: u32, rtt: Nanos) -> Advice {
                match self { $(Self::$variant(scheme) => scheme.on_rtt_sample(view, seq, rtt)),+ }
            }
        }
    };
}

// The registration: one line per scheme.
schemes! {
    /// Regular TCP.
    Regular(crate::regular::Regular),
    /// Enhanced TCP.
    Etcp(crate::etcp::Etcp),
    /// TCP-HO.
    TcpHo(crate::tcp_ho::TcpHo),
    /// Freeze-TCP.
    Freeze(crate::freeze::Freeze),
    /// FMIPv6 Handoff Notification.
    HandoffNotification(crate::hn::HandoffNotification),
    /// Buffers at routers.
    Buffered(crate::buffered::Buffered),
    /// RLCI.
    Rlci(crate::header::OneHeader<crate::rlci::Rlci>),
}

impl Scheme {
    fn unknown(name: &str) -> SchemeError {
        let names: Vec<&str> = Self::entries().iter().map(|entry| entry.name).collect();
        let nearest = names
            .iter()
            .map(|candidate| (strsim::jaro_winkler(name, candidate), *candidate))
            .filter(|(similarity, _)| *similarity > 0.6)
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, candidate)| candidate.to_string());
        SchemeError::Unknown {
            name: name.to_string(),
            expected: format!("one of {}", names.join(", ")),
            nearest,
        }
    }
}
