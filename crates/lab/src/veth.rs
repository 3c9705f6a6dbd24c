//! The two hosts side by side: a veth pair and no emulator, so that what limits a flow is the machine.

use super::Error;
use super::host::{DEVICE, Host, Role, SenderSettings};
use super::namespace::Namespace;
use super::netlink::Netlink;
use nix::net::if_::if_nametoindex;

/// Makes server and mobile; the server is set as told.
///
/// # Errors
/// What the kernel refuses.
pub fn hosts(settings: &SenderSettings<'_>) -> Result<[Host; 2], Error> {
    let (server, mobile) = (Namespace::create()?, Namespace::create()?);
    server.within(|| Netlink::open()?.veth(DEVICE, mobile.file()))?;
    let host = |namespace: Namespace, role: Role, settings: &SenderSettings<'_>| {
        namespace.within(|| {
            settings.apply()?;
            let index = if_nametoindex(DEVICE).map_err(Error::system("index of a veth device"))?;
            role.connect(index, None, settings)
        })?;
        Ok(Host { namespace, role })
    };
    Ok([host(server, Role::Server, settings)?, host(mobile, Role::Mobile, &SenderSettings::default())?])
}
