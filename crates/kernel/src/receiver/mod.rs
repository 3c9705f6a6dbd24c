//! The receiver beside peers that run nothing of ours: Freeze-TCP and PHAS by what this host says in its ACKs.
//!
//! [`attach`] puts a program of `bpf/receiver/receiver.bpf.c` at the egress of a device (tc, clsact, direct action).
//! [`load`] and [`Receiver::enter`] do so for a device that is still to come, or goes and comes again. There it
//!
//! * tells a window of zero while the link is about to go ([`Receiver::close`]) and the true one when it is back
//!   ([`Receiver::open`]): Freeze-TCP (algorithms.md, 4.5);
//! * drops ACKs of forwarded packets ([`Receiver::hold`], [`Receiver::release`]): PHAS (6.2).
//!
//! Both end by themselves after the time that was given with them, so that connections live on when the owner is
//! killed. [`detach`] takes away what the owner leaves at the device. ACKs are made to leave at once by a trigger as in
//! [`crate::mobile`]: the kernel's own, with the socket's congestion control started anew.

mod announced;
mod records;

pub use crate::sender::Error;
pub use announced::{Act, Announced, Gaps};

use crate::egress::{Device, TcSlot};
use crate::host;
use crate::layouts::{
    mapped, segue_receiver_counter as Counter, segue_receiver_orders, segue_receiver_state, segue_tuple,
};
use crate::sender::namespace::Namespace;
use crate::sender::{free_name, kernel_name};
use crate::skeleton::receiver::types::bss;
use crate::skeleton::receiver::{ReceiverSkel, ReceiverSkelBuilder};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Iter, Link, MapCore, MapFlags, MapHandle, OpenObject};
use nix::time::{ClockId, clock_gettime};
use std::io::Read;
use std::mem::MaybeUninit;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::time::Duration;
use zerocopy::{FromBytes, IntoBytes};

const PLACE: TcSlot = TcSlot { priority: 0x5e60, handle: 1, program: "receiver_egress" };
/// The map of its orders, as the kernel cuts names.
const ORDERS: &str = "receiver_orders";
/// ACKs that open the window: three copies of the last (9.22).
const OPENING: u8 = 3;
/// Nobody foresees more; and a mistake in a time ends after it.
const MOST: Duration = Duration::from_secs(300);

/// The peers concerned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Peers {
    /// All that leave by the device.
    #[default]
    All,
    /// Those with these peers, at most 1024.
    Only(Vec<IpAddr>),
}

/// A receiver to be attached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The device, of the caller's network namespace.
    pub device: String,
    /// The peers concerned.
    pub peers: Peers,
    /// Whether ACKs may be held back: the program then keeps the last ACK of each connection.
    pub phas: bool,
}

/// Counters of the programs since they were attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Segments whose window became zero.
    pub closed: u64,
    /// ACKs that were dropped.
    pub dropped: u64,
    /// Connections that were made to send ACKs, each time.
    pub triggered: u64,
    /// How many of these lost their congestion control, which vanished in that moment.
    pub unrestored: u64,
}

/// The programs at work; detached when dropped.
pub struct Receiver {
    skel: ReceiverSkel<'static>,
    trigger: Link,
    _acks: Link,
    name: String,
    /// Where the filter is.
    device: Option<Device>,
    orders: segue_receiver_orders,
    namespace: Namespace,
}

/// Attaches the programs to the device.
///
/// # Errors
/// There is no such device, it has a receiver already, or the kernel refuses.
pub fn attach(options: &Options) -> Result<Receiver, Error> {
    Device::named(&options.device)?;
    let mut receiver = load(options)?;
    receiver.enter()?;
    Ok(receiver)
}

/// Loads the programs; the device need not be there. The next steps need CAP_NET_ADMIN alone.
///
/// # Errors
/// The kernel refuses.
pub fn load(options: &Options) -> Result<Receiver, Error> {
    host::require_iterator()?;
    let namespace = Namespace::current()?;
    let quiet = host::quiet_libbpf();
    let refused = |what: &'static str| {
        let quiet = &quiet;
        move |error: libbpf_rs::Error| Error::kernel(what, quiet.explain(&error))
    };
    // A few bytes, for as long as the process lives: a skeleton cannot own its object.
    let object: &'static mut MaybeUninit<OpenObject> = Box::leak(Box::new(MaybeUninit::uninit()));
    let mut open =
        ReceiverSkelBuilder::default().open(object).map_err(refused("reading the receiver's programs"))?;
    let name = kernel_name(&free_name("sgack_"));
    open.struct_ops.receiver_acks_mut().name = name;
    let constants = open.maps.rodata_data.as_mut().ok_or_else(|| {
        Error::Machine("the receiver's programs have no constants: a wrong build".to_owned())
    })?;
    constants.trigger_name = name;
    constants.filters = u32::from(options.phas);
    constants.chosen_peers = u32::from(matches!(options.peers, Peers::Only(_)));
    let mut skel = open.load().map_err(refused("loading the receiver's programs"))?;
    if let Peers::Only(peers) = &options.peers {
        for &peer in peers {
            let choose = skel.maps.peers.update(&mapped(peer), &[1], MapFlags::ANY);
            choose.map_err(refused("choosing peers"))?;
        }
    }
    let acks =
        skel.maps.receiver_acks.attach_struct_ops().map_err(refused("registering a congestion control"))?;
    let trigger =
        skel.progs.receiver_trigger.attach().map_err(refused("attaching a program over the sockets"))?;
    let name = options.device.clone();
    Ok(Receiver {
        skel,
        trigger,
        _acks: acks,
        name,
        device: None,
        orders: segue_receiver_orders::default(),
        namespace,
    })
}

/// Takes away what an owner that was killed has left at a device of the caller's network namespace. Whether there was
/// something.
///
/// # Errors
/// There is no such device, or the kernel refuses.
pub fn detach(device: &str) -> Result<bool, Error> {
    let device = Device::named(device)?;
    match attached(device)? {
        Some(orders) => PLACE.remove(device, orders.made_clsact != 0).map(|()| true),
        None => Ok(false),
    }
}

/// The orders of the receiver that is attached to a device.
fn attached(device: Device) -> Result<Option<segue_receiver_orders>, Error> {
    let Some(program) = PLACE.attached(device)? else { return Ok(None) };
    let maps = program.map_ids.into_iter().filter_map(|id| MapHandle::from_map_id(id).ok());
    let orders = maps.filter(|map| map.name() == ORDERS).find_map(|map| {
        let octets = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()??;
        segue_receiver_orders::read_from_bytes(&octets).ok()
    });
    // Another version attached it: its qdisc stays.
    Ok(Some(orders.unwrap_or_default()))
}

/// The clock of the orders: it goes on while the machine sleeps.
fn now() -> Result<Duration, Error> {
    let now = clock_gettime(ClockId::CLOCK_BOOTTIME).map_err(|error| Error::io("CLOCK_BOOTTIME", error))?;
    Ok(now.into())
}

/// The instant that is `time` from now, ns.
fn until(time: Duration) -> Result<u64, Error> {
    if time > MOST {
        return Err(Error::User(format!("{} s; expected at most {} s", time.as_secs_f64(), MOST.as_secs())));
    }
    Ok(u64::try_from((now()? + time).as_nanos()).unwrap_or(u64::MAX))
}

impl Receiver {
    /// Puts the filter at the device of its name, and takes it away from where it was. The caller must be in the
    /// network namespace in which the filter was loaded.
    ///
    /// # Errors
    /// There is no such device, it has a receiver already, or the kernel refuses.
    pub fn enter(&mut self) -> Result<(), Error> {
        self.leave();
        let device = Device::named(&self.name)?;
        if attached(device)?.is_some() {
            return Err(Error::User(format!("device {}: a receiver is attached to it already", self.name)));
        }
        self.orders.made_clsact = device.lacks_clsact()?.into();
        self.give(&self.orders)?;
        let variables = self.variables()?;
        variables.device = device.index;
        variables.link_header = device.link_header;
        PLACE.attach(device, self.skel.progs.receiver_egress.as_fd(), || {
            Error::User(format!(
                "device {0}: our place at its egress is taken; expected none there: tc filter del dev {0} egress pref {1}",
                self.name, PLACE.priority
            ))
        })?;
        self.device = Some(device);
        Ok(())
    }

    /// Takes the filter from its device.
    pub fn leave(&mut self) {
        let Some(device) = self.device.take() else { return };
        // With its device the filter is gone, too.
        let _ = self.namespace.run(|| PLACE.remove(device, false));
    }

    /// The device is gone, and its filter with it.
    pub fn forget(&mut self) {
        if let Some(device) = self.device.take() {
            device.forget();
        }
    }

    /// Index of the device that the filter is at.
    pub fn device(&self) -> Option<u32> {
        self.device.map(|device| device.index)
    }

    /// Freeze-TCP: from now on every ACK tells a window of zero. An ACK leaves each connection at once, so that the
    /// peers wait with the cwnd that they have. It ends with [`open`](Self::open), at the latest after `at_most` (300 s
    /// or less). How many connections have sent an ACK.
    ///
    /// # Errors
    /// `at_most` is too long, or the kernel refuses.
    pub fn close(&mut self, at_most: Duration) -> Result<u64, Error> {
        self.orders.closed_until = until(at_most)?;
        self.give(&self.orders)?;
        self.trigger(1, false)
    }

    /// The window is the true one again, and each connection tells it in three ACKs (9.22).
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn open(&mut self) -> Result<u64, Error> {
        self.orders.closed_until = 0;
        self.give(&self.orders)?;
        self.trigger(OPENING, false)
    }

    /// Does what an announcement asks for now.
    ///
    /// # Errors
    /// As of [`close`](Self::close) and [`open`](Self::open).
    pub fn perform(&mut self, act: Act, announced: &Announced) -> Result<u64, Error> {
        match act {
            Act::Close => self.close(announced.closed_for()),
            Act::Open => self.open(),
        }
    }

    /// PHAS: the old access router begins to forward. ACKs of new data are dropped until one covers the last forwarded
    /// packet, or [`release`](Self::release), at the latest for `at_most` (300 s or less).
    ///
    /// # Errors
    /// The program was attached without PHAS, `at_most` is too long, or the kernel refuses.
    pub fn hold(&mut self, at_most: Duration) -> Result<(), Error> {
        self.must_filter()?;
        self.orders.round = self.orders.round.wrapping_add(1);
        self.orders.held_until = until(at_most)?;
        self.give(&self.orders)
    }

    /// The last forwarded packet of a connection is known before it has come: `behind` is the sequence number of the
    /// octet behind it. Whether the filter knows this connection.
    ///
    /// # Errors
    /// The program was attached without PHAS, or the kernel refuses.
    pub fn last(&mut self, local: SocketAddr, remote: SocketAddr, behind: u32) -> Result<bool, Error> {
        self.must_filter()?;
        let (flows, key) = (&self.skel.maps.flows, segue_tuple::from((local, remote)));
        let refused = |error| Error::kernel("telling the filter the last forwarded packet", error);
        let kept = flows.lookup(key.as_bytes(), MapFlags::ANY).map_err(refused)?;
        let state = kept.and_then(|octets| segue_receiver_state::read_from_bytes(&octets).ok());
        let Some(mut state) = state else { return Ok(false) };
        // L, as the number of the octet behind it
        (state.last, state.round) = (behind, self.orders.round);
        (state.last_known, state.done) = (1, 0);
        flows.update(key.as_bytes(), state.as_bytes(), MapFlags::EXIST).map_err(refused)?;
        Ok(true)
    }

    /// The end of forwarding: the filter is off, and each connection whose last ACK was dropped sends it (9.39). How
    /// many these are.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn release(&mut self) -> Result<u64, Error> {
        self.orders.held_until = 0;
        self.give(&self.orders)?;
        self.trigger(1, true)
    }

    /// The counters of the programs.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn counts(&self) -> Result<Counts, Error> {
        let count = |index: Counter| {
            let value = self.skel.maps.counters.lookup(&index.0.to_ne_bytes(), MapFlags::ANY);
            let value = value.map_err(|error| Error::kernel("reading the receiver's counters", error))?;
            Ok(value.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_ne_bytes))
        };
        Ok(Counts {
            closed: count(Counter::SEGUE_COUNT_CLOSED)?,
            dropped: count(Counter::SEGUE_COUNT_DROPPED)?,
            triggered: count(Counter::SEGUE_COUNT_TRIGGERED)?,
            unrestored: count(Counter::SEGUE_COUNT_UNRESTORED)?,
        })
    }

    fn must_filter(&self) -> Result<(), Error> {
        let filters = self.skel.maps.rodata_data.as_ref().is_some_and(|constants| constants.filters != 0);
        if filters { Ok(()) } else { Err(Error::User("the receiver was attached without PHAS".to_owned())) }
    }

    fn variables(&mut self) -> Result<&mut bss, Error> {
        self.skel.maps.bss_data.as_deref_mut().ok_or_else(|| {
            Error::Machine("the receiver's programs have no variables: a wrong build".to_owned())
        })
    }

    fn give(&self, orders: &segue_receiver_orders) -> Result<(), Error> {
        let given =
            self.skel.maps.receiver_orders.update(&0u32.to_ne_bytes(), orders.as_bytes(), MapFlags::ANY);
        given.map_err(|error| Error::kernel("telling the receiver's programs", error))
    }

    /// Has connections send so many ACKs.
    fn trigger(&mut self, acks: u8, held_only: bool) -> Result<u64, Error> {
        let before = self.counts()?.triggered;
        let asked = self.variables()?;
        asked.trigger_acks = u32::from(acks.min(records::ACKS));
        asked.trigger_held_only = u32::from(held_only);
        let trigger = &self.trigger;
        self.namespace.run(|| {
            Iter::new(trigger)
                .map_err(|error| Error::kernel("starting a program over the sockets", error))?
                .read_to_end(&mut Vec::new())
                .map_err(|problem| Error::io("running a program over the sockets", problem))
        })?;
        Ok(self.counts()?.triggered - before)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.leave();
    }
}
