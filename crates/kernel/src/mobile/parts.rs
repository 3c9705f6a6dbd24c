//! The parts that the mobile's programs have. A kernel that lacks a type of program lacks the part that needs it; the
//! others go on.

use libbpf_rs::ProgramType;

/// Parts to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// Notices in the kernel's own ACKs (struct_ops).
    pub(super) triggers: bool,
    /// Capability and reports (sock_ops).
    pub(super) negotiates: bool,
    /// Segments that no link would take stay with the socket (cgroup_skb).
    pub(super) refuses: bool,
    /// Packets that leave by devices are seen (sched_cls).
    pub(super) follows: bool,
}

impl Parts {
    /// All, those of an agent with them or not.
    pub(super) fn all(agent: bool) -> Self {
        Self { triggers: true, negotiates: true, refuses: agent, follows: agent }
    }

    /// Those whose types of program this kernel has.
    pub(super) fn supported(self) -> Self {
        // Where it cannot be found out, loading tells.
        let has = |kind: ProgramType| kind.is_supported().unwrap_or(true);
        Self {
            triggers: self.triggers && has(ProgramType::StructOps),
            negotiates: self.negotiates && has(ProgramType::SockOps),
            refuses: self.refuses && has(ProgramType::CgroupSkb),
            follows: self.follows && has(ProgramType::SchedCls),
        }
    }

    /// The wanted parts that these lack, in a line each: the type of program, and what does not work.
    pub(super) fn lacking(self, wanted: Self) -> Vec<&'static str> {
        let lines = [
            (
                wanted.negotiates && !self.negotiates,
                "sock_ops: connections do not negotiate, and no peer is notified",
            ),
            (
                wanted.refuses && !self.refuses,
                "cgroup_skb: data written without a link wait for their timers",
            ),
            (
                wanted.follows && !self.follows,
                "sched_cls: peers that have not negotiated are not helped, and stamps from before an outage are echoed",
            ),
        ];
        lines.into_iter().filter_map(|(lacks, line)| lacks.then_some(line)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lacking_is_said_once_each() {
        let all = Parts::all(true);
        assert_eq!(all.lacking(all), [""; 0]);
        let some = Parts { triggers: false, follows: false, ..all };
        assert_eq!(some.lacking(all).len(), 1, "the trigger has a line of its own");
        assert!(some.lacking(all)[0].starts_with("sched_cls: "));
        let none = Parts { triggers: false, negotiates: false, refuses: false, follows: false };
        assert_eq!(none.lacking(all).len(), 3);
        // A test sender has no use for two of them.
        assert_eq!(none.lacking(Parts::all(false)).len(), 1);
    }
}
