//! Schemes that act before a handoff (algorithms.md, 4.5 and 6.1). The mobile of the bench acts with its window, the
//! access routers with its packets. Senders are told. All this comes some time before the break.

use crate::access::AccessLink;
use crate::bench::{Experiment, WIRED_DELAY};
use crate::routers;
use crate::words::{Address, Kind, NoticeMode};
use segue_handoff::{Holder, Lead, Scheme, StartRule, WindowRule};
use segue_netsim::Nanos;

/// Hops between the correspondent node and the access link.
const WIRED_HOPS: Nanos = 2;

/// Steps before T, or at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Early {
    /// The mobile closes its window.
    WindowCloses,
    /// The access routers get a buffer and a tunnel.
    RoutersPrepare,
    /// The mobile tells the senders (algorithms.md, 5.2).
    HandoffStarts,
    /// The same of a handoff without an outage (near.md, 8.13).
    HandoffExpected,
    /// The senders read of it in their schedule (algorithms.md, 11.4).
    ScheduleRead,
    /// Nothing: the scheme has been there from the start (algorithms.md, 11.5).
    Attended,
}

/// The scheme's rule for the mobile's window; a handoff without a break needs none.
pub(crate) fn window_rule(experiment: &Experiment, scheme: &Scheme) -> Option<WindowRule> {
    match experiment.kind {
        _ if experiment.address == Address::New => None,
        Kind::Bbm(_) => scheme.mobile().window,
        Kind::Mbb | Kind::Soft(_) | Kind::PingPong(_) => None,
    }
}

/// The mobile's announcement before a disconnection, unless nobody is to be told.
pub(crate) fn start_rule(experiment: &Experiment, scheme: &Scheme) -> Option<StartRule> {
    match experiment.kind {
        _ if experiment.address == Address::New => None,
        Kind::Bbm(_) if experiment.notice != NoticeMode::Withheld => scheme.mobile().foretells,
        _ => None,
    }
}

/// How long before a handoff without an outage the mobile announces it, unless nobody is to be told in band. Where that
/// is at completion, there is no announcement, and only a copy of the notice takes the old link.
pub(crate) fn expects(experiment: &Experiment, scheme: &Scheme) -> Option<Lead> {
    let in_band = matches!(experiment.notice, NoticeMode::InBand { .. });
    match experiment.kind {
        Kind::Mbb if in_band && experiment.address == Address::Keep => scheme.mobile().expects,
        _ => None,
    }
}

/// The same of an announcement that there is.
pub(crate) fn announces(experiment: &Experiment, scheme: &Scheme) -> Option<Lead> {
    expects(experiment, scheme).filter(|&lead| lead != Lead::Time(0))
}

/// How long before a handoff the senders read of it in their schedule; where all knowledge is withheld there is none.
pub(crate) fn schedule(notice: NoticeMode, scheme: &Scheme) -> Option<Nanos> {
    scheme.schedule().filter(|_| notice != NoticeMode::Withheld)
}

/// Early steps, and how long before T each is. Connections that end with the handoff have none.
pub(crate) fn early(experiment: &Experiment, scheme: &Scheme) -> Vec<(Early, Lead)> {
    if experiment.address == Address::New {
        return Vec::new();
    }
    let window = window_rule(experiment, scheme).filter(|rule| rule.foresees(experiment.before + 1));
    let window = window.map(|rule| (Early::WindowCloses, rule.closes));
    let routers = routers::rule(experiment, scheme).map(|rule| match rule.holder {
        Holder::Previous => (Early::RoutersPrepare, Lead::Time(0)),
        Holder::New => (Early::RoutersPrepare, Lead::Time(experiment.routers.hint)),
    });
    let start =
        start_rule(experiment, scheme).map(|_| (Early::HandoffStarts, Lead::Time(experiment.routers.hint)));
    let expected = announces(experiment, scheme).map(|lead| (Early::HandoffExpected, lead));
    let schedule = schedule(experiment.notice, scheme).map(|lead| (Early::ScheduleRead, Lead::Time(lead)));
    let attended = scheme.attends().then_some((Early::Attended, Lead::Time(0)));
    let early = window.into_iter().chain(routers).chain(start).chain(expected);
    early.chain(schedule).chain(attended).collect()
}

/// When something is done before a handoff at `at`.
pub(crate) fn acts_at(experiment: &Experiment, lead: Lead, at: Nanos) -> Nanos {
    at.saturating_sub(lead.on_path(round_trip(&experiment.old, at)))
}

/// Propagation both ways between correspondent node and mobile over this link, of what is sent at `at`.
pub(crate) fn round_trip(link: &AccessLink, at: Nanos) -> Nanos {
    link.round_trip_at(at) + 2 * WIRED_HOPS * WIRED_DELAY
}
