//! The two hosts side by side: a veth pair and no emulator, so that what limits a flow is the machine.

use super::host::{DEVICE, Host, Role, SenderSettings};
use super::namespace::Namespace;
use super::netlink::Netlink;
use super::{Error, interrupt};
use nix::net::if_::if_nametoindex;
use std::time::Duration;

/// More than a busy machine takes.
const LIMIT: Duration = Duration::from_secs(300);

/// Makes server and mobile; the server is set as told.
///
/// # Errors
/// The kernel's refusal.
pub fn hosts(settings: &SenderSettings<'_>) -> Result<[Host; 2], Error> {
    let (server, mobile) = (Namespace::create()?, Namespace::create()?);
    server.within(|| Netlink::open()?.veth(DEVICE, mobile.file()))?;
    let host = |namespace: Namespace, role: Role, settings: &SenderSettings<'_>| {
        namespace.within(|| {
            settings.apply()?;
            let index = if_nametoindex(DEVICE).map_err(Error::system("index of a veth device"))?;
            role.connect(index, None, settings)
        })?;
        Ok(Host { namespace, role, _router: None })
    };
    let hosts =
        [host(server, Role::Server, settings)?, host(mobile, Role::Mobile, &SenderSettings::default())?];
    hosts.iter().try_for_each(|host| host.namespace.within(carrier_is_known))?;
    Ok(hosts)
}

/// Waits until packets may leave. The kernel notices a carrier in a task of its own, and drops what is sent before.
pub(super) fn carrier_is_known() -> Result<(), Error> {
    let index = if_nametoindex(DEVICE).map_err(Error::system("index of a veth device"))?;
    let netlink = Netlink::open()?;
    let up = interrupt::wait(LIMIT, Duration::from_millis(1), || Ok(netlink.is_up(index)?.then_some(())))?;
    up.ok_or_else(|| Error::Fault(format!("a veth device has no carrier after {} s", LIMIT.as_secs())))
}
