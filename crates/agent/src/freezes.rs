//! Breaks that are foreseen, beside peers that run nothing of ours. Before a break this host closes its windows
//! (Freeze-TCP), so that nothing is under way when the link goes. No sockets, no clock.
//!
//! A window opens when the link is back, when somebody says that there is no break, or after the break's time at the
//! latest. The kernel's program ends it after that time, too, if its agent is gone.

use ipnet::IpNet;
use std::collections::BTreeMap;

/// Nanoseconds of a millisecond.
const MS: u64 = 1_000_000;
/// A break begins so long after its announcement at the latest, ns. The peer needs a round trip to stop, and what is
/// queued needs its time to leave.
pub(super) const LEAD: u64 = 500 * MS;

/// A prefix whose windows are closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frozen {
    /// Packets that leave by this device tell a window of zero.
    pub(super) device: u32,
    /// When it ends by itself, ns.
    pub(super) opens: u64,
    /// kbit/s from this host.
    pub(super) up_kbps: u32,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Freezes {
    all: BTreeMap<IpNet, Frozen>,
}

impl Freezes {
    /// Windows told to this prefix are closed from now on, for a break of `gap` ns. Until when.
    pub(super) fn close(&mut self, now: u64, watch: IpNet, device: u32, gap: u64, up_kbps: u32) -> u64 {
        let opens = now.saturating_add(LEAD).saturating_add(gap);
        self.all.insert(watch, Frozen { device, opens, up_kbps });
        opens
    }

    /// They are open again, if they were closed.
    pub(super) fn open(&mut self, watch: &IpNet) -> Option<Frozen> {
        self.all.remove(watch)
    }

    /// Prefixes whose windows are closed.
    pub(super) fn watches(&self) -> Vec<IpNet> {
        self.all.keys().copied().collect()
    }

    /// One whose time is over.
    pub(super) fn due(&self, now: u64) -> Option<IpNet> {
        self.all.iter().find(|(_, frozen)| frozen.opens <= now).map(|(watch, _)| *watch)
    }

    /// When the next one's time is over.
    pub(super) fn deadline(&self) -> Option<u64> {
        self.all.values().map(|frozen| frozen.opens).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_closed_for_a_break_and_half_a_second_at_most() {
        let nets = ["0.0.0.0/0", "::/0"].map(|net| net.parse::<IpNet>().expect("a prefix"));
        let mut freezes = Freezes::default();
        assert_eq!(freezes.close(1000 * MS, nets[0], 2, 300 * MS, 1000), 1800 * MS);
        assert_eq!(freezes.close(1000 * MS, nets[1], 3, 100 * MS, 1000), 1600 * MS);
        assert_eq!((freezes.deadline(), freezes.due(1599 * MS)), (Some(1600 * MS), None));
        assert_eq!(freezes.due(1600 * MS), Some(nets[1]));
        assert_eq!(freezes.open(&nets[1]).map(|frozen| frozen.device), Some(3));
        assert_eq!((freezes.due(1600 * MS), freezes.open(&nets[1])), (None, None), "once");
        // Announced again: the later time counts.
        freezes.close(1700 * MS, nets[0], 2, 300 * MS, 1000);
        assert_eq!((freezes.watches(), freezes.deadline()), (vec![nets[0]], Some(2500 * MS)));
    }
}
