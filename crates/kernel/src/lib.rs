//! Segue in the kernel: the policies of the simulator, run by an unmodified Linux through eBPF. This crate loads,
//! attaches and pins the programs of `bpf/`, and reads what they say.
//!
//! * [`host`]: what this machine can do, and what is missing.
//! * [`sender`]: the congestion control and the programs that hear notices; attach, status, detach.
//! * [`mobile`]: the host whose access link changes; it negotiates, reports and notifies.
//! * [`receiver`]: what the mobile can do by its ACKs alone, beside peers that run nothing of ours.
//! * [`tunnel`]: what a tunnel leaves of the link below it.
//!
//! It uses only `policy/` beside these.

mod egress;
mod holder;
pub mod host;
mod layouts;
mod lent;
pub mod mobile;
pub mod receiver;
mod running;
pub mod sender;
pub mod tunnel;

/// The programs of `bpf/`, compiled into the binary.
#[allow(missing_docs, clippy::all, unsafe_code, unused_imports)]
mod skeleton {
    /// `bpf/sender/sender.bpf.c`
    pub mod sender {
        include!(concat!(env!("OUT_DIR"), "/sender.skel.rs"));
    }
    /// `bpf/mobile/mobile.bpf.c`
    pub mod mobile {
        include!(concat!(env!("OUT_DIR"), "/mobile.skel.rs"));
    }
    /// `bpf/receiver/receiver.bpf.c`
    pub mod receiver {
        include!(concat!(env!("OUT_DIR"), "/receiver.skel.rs"));
    }
}
