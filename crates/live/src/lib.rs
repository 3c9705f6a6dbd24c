//! Segue on Linux: the same policies as the simulator's, run by an unmodified kernel.
//!
//! * [`host`]: what this machine can do, and what is missing.
//! * [`sender`]: the congestion control and the programs that hear notices; attach, status, detach.
//! * [`mobile`]: the host whose access link changes; it negotiates, reports and notifies.
//! * [`agent`]: watches that host's links, and does so by itself.
//! * [`receiver`]: what the mobile can do by its ACKs alone, beside peers that run nothing of ours.
//! * [`tunnel`]: what a tunnel leaves of the link below it.
//! * [`lab`]: two hosts in namespaces, a link emulator between them, real programs on them.
//!
//! It knows of the rest only `policy/`; it hands up records, and the roof makes tables of them.

pub mod agent;
pub mod host;
pub mod lab;
pub mod mobile;
pub mod receiver;
pub mod sender;
pub mod tunnel;

/// The programs of `bpf/`, compiled into the binary.
#[allow(missing_docs, clippy::all, unsafe_code, unused_imports)]
mod skeleton {
    /// `bpf/sender.bpf.c`
    pub mod sender {
        include!(concat!(env!("OUT_DIR"), "/sender.skel.rs"));
    }
    /// `bpf/mobile.bpf.c`
    pub mod mobile {
        include!(concat!(env!("OUT_DIR"), "/mobile.skel.rs"));
    }
    /// `bpf/receiver.bpf.c`
    pub mod receiver {
        include!(concat!(env!("OUT_DIR"), "/receiver.skel.rs"));
    }
}
