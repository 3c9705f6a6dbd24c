//! Rights of the agent. Loading programs takes many of root's rights, notifying peers three.

use super::Error;
use caps::{CapSet, Capability, CapsHashSet};

/// Kept: maps and iterators; options of sockets; crafted ACKs.
const KEPT: [Capability; 3] = [Capability::CAP_BPF, Capability::CAP_NET_ADMIN, Capability::CAP_NET_RAW];

/// Gives up all other capabilities of the calling thread, for good: also programs that it would start have no more.
/// `loads`: programs are still to be loaded, which takes CAP_PERFMON, too.
///
/// # Errors
/// The three are not there, or the kernel refuses.
pub fn drop_all_others(loads: bool) -> Result<(), Error> {
    let kept: CapsHashSet = KEPT.into_iter().chain(loads.then_some(Capability::CAP_PERFMON)).collect();
    let failed = |error| Error::Rights(format!("cannot give up capabilities: {error}"));
    let has = caps::read(None, CapSet::Permitted).map_err(failed)?;
    if let Some(missing) = kept.iter().find(|capability| !has.contains(capability)) {
        return Err(Error::Rights(format!("{missing} missing; run as root or grant it")));
    }
    // Bounding set first, while we may.
    if has.contains(&Capability::CAP_SETPCAP) {
        for capability in caps::all().difference(&kept) {
            // Those that this kernel does not know it cannot drop.
            if caps::has_cap(None, CapSet::Bounding, *capability).unwrap_or(false) {
                caps::drop(None, CapSet::Bounding, *capability).map_err(failed)?;
            }
        }
    }
    caps::clear(None, CapSet::Ambient).map_err(failed)?;
    caps::clear(None, CapSet::Inheritable).map_err(failed)?;
    caps::set(None, CapSet::Effective, &kept).map_err(failed)?;
    caps::set(None, CapSet::Permitted, &kept).map_err(failed)?;
    rustix::thread::set_no_new_privs(true).map_err(Error::system("give up new rights"))
}
