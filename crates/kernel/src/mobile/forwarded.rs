//! Connections that this host forwards (`bpf/mobile/forwarded.h`), which an agent on a router helps.
//!
//! The addresses are those of the uplink, behind a NAT of this host.

use super::exit::Exit;
use super::notify::give;
use super::records::Ends;
use super::resume::{Waiting, newest_first};
use super::{Error, Mobile};
use crate::layouts::{segue_forwarded, segue_tuple};
use libbpf_rs::{MapCore, MapFlags};
use std::time::Duration;
use zerocopy::{FromBytes, IntoBytes};

/// Connections of one question to the kernel (`FORWARDED_FLOWS`).
const AT_ONCE: u32 = 4096;
/// An established connection has acknowledged data that came since its first segment.
const PROVEN: u32 = 2;

impl Mobile {
    /// Whether connections that this host forwards are followed, at the devices of [`Mobile::follow`].
    ///
    /// # Errors
    /// The programs are gone.
    pub fn follow_forwarded(&mut self, yes: bool) -> Result<(), Error> {
        self.orders.forwarded = yes;
        give(&self.skel, &self.orders)
    }

    /// Those of them that may be helped: established ones on which something has come, or was sent by the near end,
    /// since then, by CLOCK_MONOTONIC.
    ///
    /// # Errors
    /// The programs are gone.
    pub fn forwarded_waiting(&self, since: Duration) -> Result<Vec<Waiting>, Error> {
        let since = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        let all = self.skel.maps.forwarded.lookup_batch(AT_ONCE, MapFlags::ANY, MapFlags::ANY);
        let all = all.map_err(Error::kernel("list what is forwarded"))?;
        let waiting = |(key, value): (Vec<u8>, Vec<u8>)| {
            let flow = segue_forwarded::read_from_bytes(&value).ok()?;
            let may_wait = flow.known >= PROVEN && flow.window > 0 && flow.heard >= since;
            let tuple = segue_tuple::read_from_bytes(&key).ok()?;
            may_wait.then(|| self::waiting(tuple, &flow))
        };
        Ok(all.filter_map(waiting).collect())
    }

    /// How packets about such connections leave from now on; `None`: as packets that this host makes itself, which a
    /// NAT of this host may change.
    ///
    /// # Errors
    /// These programs are not loaded.
    pub fn forward_by(&mut self, exit: Option<Exit>) -> Result<(), Error> {
        self.resume()?.exit = exit;
        Ok(())
    }

    /// The exit of [`Mobile::forward_by`].
    pub fn exit(&self) -> Option<&Exit> {
        self.resume.as_ref()?.exit.as_ref()
    }

    /// The newest ACK number; none: the connection is at its end, or forgotten.
    pub(super) fn newest_forwarded(&self, tuple: &segue_tuple) -> Result<Option<u32>, Error> {
        let octets = self.skel.maps.forwarded.lookup(tuple.as_bytes(), MapFlags::ANY);
        let octets = octets.map_err(Error::kernel("read what is forwarded"))?;
        let flow = octets.and_then(|octets| segue_forwarded::read_from_bytes(&octets).ok());
        Ok(flow.map(|flow| flow.acks[0]))
    }
}

fn waiting(tuple: segue_tuple, flow: &segue_forwarded) -> Waiting {
    let (local, remote) = tuple.into();
    Waiting {
        ends: Ends { remote, local, mark: 0, device: 0 },
        seq: flow.seq,
        ack: flow.acks[0],
        stamp: (flow.stamped != 0).then_some(flow.tsval),
        window: flow.window,
        forwarded: true,
        closed: false,
        resumes: true,
        negotiated: false,
        packets: 0,
        una: 0,
        mss: 0,
        own_mss: 0,
        under_way: true,
        heard: Duration::from_nanos(flow.heard),
        acks: newest_first(&flow.acks, flow.known, flow.acks[0]),
        rtt: None,
    }
}
