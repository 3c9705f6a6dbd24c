//! The sender on the host whose link changes: no notice need come, for its agent knows of the handoff. `bpf/sender/local_handoff.h`.

use super::attach::{Cgroup, check_around, configure, free_name, kernel_name};
use super::{Around, Error, Options, Policy, status};
use crate::host;
use crate::layouts::{segue_local_order, segue_local_verdict};
use crate::lent::Lent;
use crate::skeleton::sender::SenderSkelBuilder;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle};
use segue_policy::Notice;
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
use std::path::Path;
use zerocopy::IntoBytes;

/// `SEGUE_LOCAL_CUBIC`, `SEGUE_LOCAL_BBR`
const NAMES: [&str; 2] = ["sgup_", "sgub_"];
/// Flows of hosts are not counted here, N comes with the handoff: the table may be small.
const HOSTS: u32 = 128;

/// The policy on this host's own flows. Dropped: they go back to cubic or bbr. All of it must be used in one network
/// namespace.
#[derive(Debug)]
pub struct LocalPolicy {
    handoff: Link,
    let_go: Link,
    orders: MapHandle,
    round: u32,
    congestion_controls: Vec<Link>,
    /// Whether the kernel lent bbr.
    bbr: Lent,
}

/// The result of a handoff: numbers of flows that send, or have a window that has grown by sending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Governed {
    /// The policy has decided.
    pub governed: u32,
    /// They have a congestion control other than cubic and bbr, and are left alone.
    pub left: u32,
    /// Among both, and among flows that are closed: their queue, with nothing under way, has been sent.
    pub pushed: u32,
}

impl LocalPolicy {
    /// Loads the programs, for the flows of the cgroup's processes. `scope`: the map of remote prefixes that move with
    /// the handoff ([`crate::mobile::Mobile::scope`]). No flow is touched before the first handoff, but those that an
    /// agent governed which was killed.
    ///
    /// # Errors
    /// The kernel lends no cubic, or refuses.
    pub fn attach(cgroup: &Path, policy: Policy, scope: BorrowedFd<'_>) -> Result<Self, Error> {
        check_around(Around::Cubic)?;
        let folder = Cgroup::open(cgroup)?;
        let quiet = host::quiet_libbpf();
        let refused = |what: &'static str| {
            let quiet = &quiet;
            move |error: libbpf_rs::Error| Error::kernel(what, quiet.explain(&error))
        };
        let mut storage = MaybeUninit::uninit();
        let mut open = SenderSkelBuilder::default()
            .open(&mut storage)
            .map_err(refused("reading the programs for uploads"))?;
        let options = Options {
            cgroup: cgroup.to_owned(),
            name: free_name(NAMES[0]),
            around: Around::Cubic,
            policy,
            icmp: false,
            listeners: false,
            pin: None,
        };
        configure(&mut open, &options, &folder)?;
        let progs = &mut open.progs;
        for prog in
            [&mut progs.sender_sockops, &mut progs.mark_listeners, &mut progs.list_flows, &mut progs.let_go]
        {
            prog.set_autoload(false);
        }
        let chosen = refused("choosing what uploads need");
        let bbr = Around::Bbr.lend();
        if bbr == Lent::Now {
            let name = kernel_name(&free_name(NAMES[1]));
            open.struct_ops.around_bbr_mut().name = name;
            open.maps.around_bbr.set_autocreate(true).map_err(&chosen)?;
            if let Some(constants) = open.maps.rodata_data.as_mut() {
                constants.local_bbr_name = name;
            }
        }
        open.maps.about.set_autocreate(false).map_err(&chosen)?;
        open.maps.hosts.set_max_entries(HOSTS).map_err(&chosen)?;
        open.maps.scope.reuse_fd(scope).map_err(&chosen)?;
        let mut skel = open.load().map_err(refused("loading the programs for uploads"))?;
        let registered = refused("registering the congestion control of uploads");
        let mut congestion_controls = vec![skel.maps.around_cubic.attach_struct_ops().map_err(&registered)?];
        if bbr == Lent::Now {
            congestion_controls.push(skel.maps.around_bbr.attach_struct_ops().map_err(&registered)?);
        }
        let program = refused("attaching a program over the sockets");
        let let_go = skel.progs.local_let_go.attach().map_err(&program)?;
        status::run(&let_go)?;
        Ok(Self {
            handoff: skel.progs.local_handoff.attach().map_err(&program)?,
            let_go,
            orders: MapHandle::try_from(&skel.maps.local_orders).map_err(&program)?,
            round: 0,
            congestion_controls,
            bbr,
        })
    }

    /// Whether flows of bbr are left alone until its module is loaded; the programs are to be attached anew then.
    pub fn awaits_bbr(&self) -> bool {
        self.bbr == Lent::OnceLoaded
    }

    /// They are left alone for good.
    pub fn leave_bbr(&mut self) {
        self.bbr = Lent::Never;
    }

    /// Whether what they await is there.
    pub fn bbr_has_come(&self) -> bool {
        self.awaits_bbr() && Around::Bbr.is_loaded()
    }

    /// A handoff has completed: the policy acts on the flows in scope. The notice's N flows are all of this host;
    /// `disconnected` is also true of a flow whose timer has expired.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn handoff(&mut self, notice: &Notice) -> Result<Governed, Error> {
        self.round = self.round.wrapping_add(1).max(1);
        self.orders
            .update(&0u32.to_ne_bytes(), order(notice, self.round).as_bytes(), MapFlags::ANY)
            .map_err(|error| Error::kernel("telling the handoff to uploads", error))?;
        let verdicts = status::run(&self.handoff)?;
        let with = |bit: segue_local_verdict| {
            let count = verdicts.iter().filter(|verdict| u32::from(**verdict) & bit.0 != 0).count();
            u32::try_from(count).unwrap_or(u32::MAX)
        };
        Ok(Governed {
            governed: with(segue_local_verdict::SEGUE_LOCAL_GOVERNED),
            left: with(segue_local_verdict::SEGUE_LOCAL_LEFT),
            pushed: with(segue_local_verdict::SEGUE_LOCAL_PUSHED),
        })
    }
}

impl Drop for LocalPolicy {
    fn drop(&mut self) {
        let _ = status::run(&self.let_go);
        self.congestion_controls.clear();
    }
}

fn order(notice: &Notice, round: u32) -> segue_local_order {
    let Notice { old_link, new_link, flows, disconnected } = *notice;
    segue_local_order { old_link: old_link.into(), new_link: new_link.into(), flows, disconnected, round }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names are strings of the preprocessor, which the build does not write in Rust.
    #[test]
    fn names_begin_as_the_programs_have_it() {
        let header = include_str!("../../../../bpf/sender/local_handoff.h");
        for (constant, name) in ["CUBIC", "BBR"].into_iter().zip(NAMES) {
            assert!(header.contains(&format!("#define SEGUE_LOCAL_{constant} \"{name}\"")));
        }
    }
}
