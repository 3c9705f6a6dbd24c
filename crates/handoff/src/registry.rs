//! The list of all schemes, and what can be asked of any of them.

use crate::claim::Claim;
use crate::clock::Clock;
use crate::group::Group;
use crate::hn_option::Start;
use crate::mobile::MobileRule;
use crate::notice::Notice;
use crate::router::RouterRule;
use crate::scheme::{Entry, HandoffScheme, Needs, SchemeError, SettingInfo};
use segue_policy::Rule;
use segue_tcp::{Advice, Advisor, Nanos, View};

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

            /// The stack that the scheme of that name needs.
            pub fn needs(name: &str) -> Needs {
                $(if <$type>::matches(name) { return <$type>::NEEDS; })+
                Needs::Any
            }

            /// Whether it is TCP without a scheme, which others are compared with.
            pub fn is_regular(&self) -> bool {
                match self { $(Self::$variant(_) => <$type>::IS_REGULAR),+ }
            }

            /// Whether the mobile should report duplicates once it has sent a notice.
            pub fn needs_dsack(&self) -> bool {
                match self { $(Self::$variant(scheme) => scheme.needs_dsack()),+ }
            }

            /// The mobile's part at a handoff.
            pub fn mobile(&self) -> MobileRule {
                match self { $(Self::$variant(scheme) => scheme.mobile()),+ }
            }

            /// The access routers' part at a handoff, if the scheme has one for them.
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

            /// It tells the host's other flows how far it is behind, and learns how far they are.
            pub fn meet(&mut self, group: &mut Group) {
                match self { $(Self::$variant(scheme) => scheme.meet(group)),+ }
            }

            /// Whether its answer asks for an ICMP (RFC 6069).
            pub fn asks_icmp(&self) -> bool {
                match self { $(Self::$variant(scheme) => scheme.asks_icmp()),+ }
            }

            /// A handoff is expected, as the segment tells that is about to be processed.
            pub fn expect(&mut self, view: &View, notice: &Notice) {
                match self { $(Self::$variant(scheme) => scheme.expect(view, notice)),+ }
            }

            /// A notice has come with the segment that is about to be processed; whether it is answered there.
            pub fn pend(&mut self, view: &View, notice: &Notice) -> bool {
                match self { $(Self::$variant(scheme) => scheme.pend(view, notice)),+ }
            }

            /// The notice that is answered so.
            pub fn pending(&self) -> Option<Notice> {
                match self { $(Self::$variant(scheme) => scheme.pending()),+ }
            }

            /// State that all flows of a mobile share at a host from the first notice on, if any.
            pub fn claim(&self) -> Option<Claim> {
                match self { $(Self::$variant(scheme) => scheme.claim()),+ }
            }

            /// Whether it needs to have been at the sender from the start of the connection.
            pub fn remembers(&self) -> bool {
                match self { $(Self::$variant(scheme) => scheme.remembers()),+ }
            }

            /// Whether what it remembers is what `other` would.
            pub fn remembers_as(&self, other: &Self) -> bool {
                match (self, other) {
                    $((Self::$variant(own), Self::$variant(other)) => own.remembers_as(other),)+
                    _ => false,
                }
            }

            /// Whether it acts from the start of the connection, told or not.
            pub fn attends(&self) -> bool {
                match self { $(Self::$variant(scheme) => scheme.attends()),+ }
            }

            /// How long before each handoff the sender reads of it in a schedule, if it has one.
            pub fn schedule(&self) -> Option<Nanos> {
                match self { $(Self::$variant(scheme) => scheme.schedule()),+ }
            }

            /// The schedule has a handoff that begins at `at`.
            pub fn on_schedule(&mut self, at: Nanos) {
                match self { $(Self::$variant(scheme) => scheme.on_schedule(at)),+ }
            }

            /// From `now` on packets go over a link that is reconfigured by this clock, if it is.
            pub fn on_link(&mut self, now: Nanos, clock: Option<Clock>) {
                match self { $(Self::$variant(scheme) => scheme.on_link(now, clock)),+ }
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
            fn on_mark(&mut self, view: &View) -> Advice {
                match self { $(Self::$variant(scheme) => scheme.on_mark(view)),+ }
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
            #[inline]
            fn watching(&self) -> bool {
                match self { $(Self::$variant(scheme) => scheme.watching()),+ }
            }
            fn on_ack(&mut self, view: &View) -> Advice {
                match self { $(Self::$variant(scheme) => scheme.on_ack(view)),+ }
            }
            fn hides_slow_start(&self, recovers: bool) -> bool {
                match self { $(Self::$variant(scheme) => scheme.hides_slow_start(recovers)),+ }
            }
            fn on_undo(&mut self, view: &View, cwnd: u32) -> u32 {
                match self { $(Self::$variant(scheme) => scheme.on_undo(view, cwnd)),+ }
            }
            fn on_open(&mut self, view: &View) -> Option<u32> {
                match self { $(Self::$variant(scheme) => scheme.on_open(view)),+ }
            }
            fn on_loss(&mut self) {
                match self { $(Self::$variant(scheme) => scheme.on_loss()),+ }
            }
            fn on_cut(&mut self, view: &View) -> Advice {
                match self { $(Self::$variant(scheme) => scheme.on_cut(view)),+ }
            }
            #[inline]
            fn claims(&self) -> bool {
                match self { $(Self::$variant(scheme) => scheme.claims()),+ }
            }
            fn before_sending(&mut self, view: &View) -> Advice {
                match self { $(Self::$variant(scheme) => scheme.before_sending(view)),+ }
            }
            fn rto_bound_ms(&self) -> Option<u32> {
                match self { $(Self::$variant(scheme) => scheme.rto_bound_ms()),+ }
            }
            fn kept(&self, before: u32, cut: u32, prior_cwnd: u32) -> u32 {
                match self { $(Self::$variant(scheme) => scheme.kept(before, cut, prior_cwnd)),+ }
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
    /// The mobile alone.
    Alone(crate::alone::Alone),
    /// FMIPv6 Handoff Notification.
    HandoffNotification(crate::hn::HandoffNotification),
    /// Buffers at routers.
    Buffered(crate::buffered::Buffered),
    /// RLCI.
    Rlci(crate::header::OneHeader<crate::rlci::Rlci>),
    /// One clock for all flows.
    Near(crate::near::Near),
    /// The back-off alone.
    BackoffReset(crate::backoff_reset::BackoffReset),
    /// QUIC's connection migration.
    QuicReset(crate::quic_reset::QuicReset),
    /// Remembered values of the new path.
    CarefulResume(crate::careful_resume::CarefulResume),
    /// A schedule of handoffs.
    Satcp(crate::satcp::Satcp),
    /// The same, and a control that measures anew.
    Leocc(crate::leocc::Leocc),
    /// Detectors of longer paths.
    RttJump(crate::rtt_jump::RttJump),
}

impl Scheme {
    fn unknown(name: &str) -> SchemeError {
        let names: Vec<&str> = Self::entries().iter().map(|entry| entry.name).collect();
        SchemeError::Unknown {
            name: name.to_string(),
            expected: format!("one of {}", names.join(", ")),
            hint: match name.to_lowercase().as_str() {
                "quic" => "; all senders here are TCP's: quic-reset does what QUIC does on a new path".into(),
                "mptcp" => "; all senders here are TCP's, with one path at a time".into(),
                _ => segue_words::did_you_mean(name, names),
            },
        }
    }
}
