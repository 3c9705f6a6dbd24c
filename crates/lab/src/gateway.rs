//! A router before the server: a NAT and a stateful firewall, by nftables. IPv4 alone.
//!
//! The emulator's end is a device of the router. The server sees the router's address in place of the mobile's.

use super::Error;
use super::host::{DEVICE, DEVICE_QUEUE, DEVICES, Host, Role, SenderSettings, device, index, set};
use super::namespace::Namespace;
use super::netlink::{LOOPBACK, Netlink};
use super::veth::carrier_is_known;
use nix::net::if_::if_nametoindex;
use segue_words::lab::Family;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::process::{Command, Stdio};
use tun_rs::SyncDevice;

/// The router as the server sees it (RFC 5737).
const OUTSIDE: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 1));
/// The router's device towards the mobile.
const INSIDE: &str = DEVICES[1];

/// The mobile's side may open connections; what belongs to one may pass, ICMP about it included.
const RULES: &str = "\
    table ip nat {
        chain after { type nat hook postrouting priority 100; oifname \"segue0\" masquerade; }
    }
    table ip wall {
        chain through {
            type filter hook forward priority 0; policy drop;
            ct state invalid drop
            ct state established,related accept
            iifname \"segue1\" ct state new accept
        }
    }
";

/// Makes a server behind such a router, and the router's device for the emulator.
pub(super) fn server(settings: &SenderSettings<'_>) -> Result<(Host, SyncDevice), Error> {
    let (server, router) = (Namespace::create()?, Namespace::create()?);
    router.within(|| Netlink::open()?.veth(DEVICE, server.file()))?;
    let of_pair = || if_nametoindex(DEVICE).map_err(Error::system("index of a veth device"));
    let own = Role::Server.address(Family::Ipv4);
    server.within(|| {
        settings.apply()?;
        let (netlink, pair) = (Netlink::open()?, of_pair()?);
        netlink.up(LOOPBACK, None)?;
        netlink.up(pair, None)?;
        netlink.address(pair, own)?;
        netlink.route(pair, OUTSIDE, settings.congestion_control)
    })?;
    let inside = router.within(|| {
        SenderSettings::default().apply()?;
        set("ipv4/ip_forward", "1")?;
        let (netlink, pair) = (Netlink::open()?, of_pair()?);
        let inside = device(INSIDE)?;
        let number = index(&inside)?;
        netlink.up(LOOPBACK, None)?;
        netlink.up(pair, None)?;
        netlink.up(number, Some(DEVICE_QUEUE))?;
        netlink.address(pair, OUTSIDE)?;
        netlink.route(pair, own, None)?;
        netlink.route(number, Role::Mobile.address(Family::Ipv4), None)?;
        rules()?;
        carrier_is_known()?;
        Ok(inside)
    })?;
    server.within(carrier_is_known)?;
    Ok((Host { namespace: server, role: Role::Server, _router: Some(router) }, inside))
}

/// Gives them to nftables of the current namespace.
fn rules() -> Result<(), Error> {
    let mut nft = Command::new("nft")
        .args(["-f", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(Error::system("nft"))?;
    let written = nft.stdin.take().map_or(Ok(()), |mut input| input.write_all(RULES.as_bytes()));
    let output = nft.wait_with_output().and_then(|output| written.map(|()| output));
    let output = output.map_err(Error::system("nft"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().replace('\n', " ");
    Err(Error::Program { program: "nft".into(), what: "refused the router's rules".into(), said })
}
