//! `policy/` inside a loaded kernel program (`bpf/vectors.bpf.c`), a call at a time: the tests hold it against the
//! same text in user space.

use crate::skeleton::vectors::{VectorsSkel, VectorsSkelBuilder};
use bytemuck::{Pod, Zeroable};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, OpenObject, ProgramInput};
use segue_policy::wire::{Ear, REPORT_LENGTH};
use segue_policy::{Action, Etcp, Link, Notice, Sender, Settings, TcpHo, TcpHoSettings};
use std::mem::MaybeUninit;

/// `enum segue_vector_call`: which function is called, and what its arguments beside the structs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[expect(missing_docs, reason = "the names are those of the policies' events")]
pub enum Call {
    Notice = 0,
    /// `first`: whether a DSACK came with it.
    NewAck = 1,
    /// `first`, `second`: the block.
    Dsack = 2,
    DupAck = 3,
    /// `first`: the head.
    FastRetransmit = 4,
    Timeout = 5,
    /// `first`: the segment.
    RttSample = 6,
    HoNotice = 7,
    /// `first`: the sample, us.
    HoRttSample = 8,
    HoFastRetransmit = 9,
    HoTimeout = 10,
    /// `octets`, `first` of them: decoded (`answer`), and if sound brought to `ear` (`second`).
    Report = 11,
}

/// `struct segue_vector`: all that goes in and comes out.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[expect(missing_docs, reason = "the structs are documented where they are defined")]
pub struct Vector {
    /// A [`Call`].
    pub call: u32,
    pub first: u32,
    pub second: u32,
    /// Of the codec.
    pub answer: u32,
    pub set: Settings,
    pub ho_set: TcpHoSettings,
    pub tcp: Sender,
    pub notice: Notice,
    pub flow: Etcp,
    pub ho: TcpHo,
    pub act: Action,
    pub report_link: Link,
    pub report_nonce: u16,
    pub report_seq: u8,
    pub report_type: u8,
    pub ear: Ear,
    pub octets: [u8; REPORT_LENGTH],
}

/// The loaded program.
pub struct KernelPolicy<'object> {
    skeleton: VectorsSkel<'object>,
}

impl<'object> KernelPolicy<'object> {
    /// Loads it; `object` is where libbpf keeps it.
    pub fn load(object: &'object mut MaybeUninit<OpenObject>) -> Result<Self, libbpf_rs::Error> {
        Ok(Self { skeleton: VectorsSkelBuilder::default().open(object)?.load()? })
    }

    /// Makes the call that `vector` describes, and returns it as the program leaves it.
    pub fn call(&self, call: Call, vector: &Vector) -> Result<Vector, libbpf_rs::Error> {
        let only = 0u32.to_ne_bytes();
        let map = &self.skeleton.maps.the_call;
        let given = Vector { call: call as u32, ..*vector };
        map.update(&only, bytemuck::bytes_of(&given), MapFlags::ANY)?;
        let run = self.skeleton.progs.run.test_run(ProgramInput::default())?;
        let left = map.lookup(&only, MapFlags::ANY)?;
        match left.as_deref().map(bytemuck::try_pod_read_unaligned) {
            Some(Ok(vector)) if run.return_value == 0 => Ok(vector),
            _ => Err(libbpf_rs::Error::from_raw_os_error(22)), // EINVAL
        }
    }
}
