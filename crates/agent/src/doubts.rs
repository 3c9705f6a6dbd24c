//! Connections whose packets a handoff without a known outage may have lost (docs/reference/mobile.md, 1.10): which they
//! are, and which of them have been heard since.
//!
//! The sockets themselves are asked. Packets that leave by the device do not tell of an ACK that nothing follows, nor of
//! data that are still to be acknowledged.

use super::links::Links;
use super::order::Outage;
use ipnet::IpNet;
use segue_kernel::mobile::{Mobile, Waiting};
use std::collections::BTreeMap;
use std::time::Duration;

/// A list is as good as new for so long, ns: with many silent connections each has its turn soon after the other.
const FRESH: u64 = 20_000_000;

/// How the connections of a prefix stood.
struct Listed {
    at: u64,
    watch: IpNet,
    all: Vec<Waiting>,
}

#[derive(Default)]
pub(super) struct Doubts {
    /// Handoffs whose connections are still to be listed.
    changes: Vec<Outage>,
    /// Connections of each prefix may wait on which something has come since then.
    since: BTreeMap<IpNet, u64>,
    lately: Option<Listed>,
}

impl Doubts {
    /// A handoff has completed, and no outage is known. Its connections are listed when notices have left.
    pub(super) fn push(&mut self, change: Outage) {
        self.changes.push(change);
    }

    /// The next handoff whose connections are to be listed.
    pub(super) fn pop(&mut self) -> Option<Outage> {
        (!self.changes.is_empty()).then(|| self.changes.remove(0))
    }

    /// Its connections that may wait, as they stand now.
    pub(super) fn list(&mut self, change: &Outage, links: &Links, mobile: &mut Mobile) -> Vec<Waiting> {
        self.since.insert(change.watch, change.since);
        self.lately = None;
        let mut all = list(&change.watch, change.since, links, mobile);
        all.retain(|waiting| waiting.resumes && !waiting.negotiated && !waiting.closed);
        all
    }

    /// Whether something has come on this connection since it was listed; or it is at its end.
    pub(super) fn has_heard(
        &mut self,
        now: u64,
        watch: &IpNet,
        waiting: &Waiting,
        links: &Links,
        mobile: &mut Mobile,
    ) -> bool {
        let fresh = |listed: &&Listed| listed.watch == *watch && now < listed.at + FRESH;
        if self.lately.as_ref().filter(fresh).is_none() {
            let since = self.since.get(watch).copied().unwrap_or_default();
            self.lately = Some(Listed { at: now, watch: *watch, all: list(watch, since, links, mobile) });
        }
        let all = self.lately.iter().flat_map(|listed| &listed.all);
        let stands = all.into_iter().find(|other| other.is(waiting));
        stands.is_none_or(|stands| waiting.has_heard(stands))
    }
}

/// Connections of this prefix on which something has come since then, or whose peers were told of a closed window.
pub(super) fn list(watch: &IpNet, since: u64, links: &Links, mobile: &mut Mobile) -> Vec<Waiting> {
    let all = mobile.waiting_of(&links.scope(watch), Duration::from_nanos(since));
    all.unwrap_or_else(|error| {
        tracing::error!(%error, "connections whose peers have not negotiated are not known");
        Vec::new()
    })
}
