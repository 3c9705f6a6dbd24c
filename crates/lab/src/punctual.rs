//! Threads and programs that the laboratory's clock depends on run before everything ordinary on the machine.

use thread_priority::unix::{set_thread_priority_and_policy, thread_native_id};
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue, ThreadSchedulePolicy,
};

/// Who goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    /// The run and its programs, which inherit it: a receiver that waits for the processor delays ACKs and makes bursts
    /// of them.
    Program = 2,
    /// Ours at both ends: a notice goes out at link-up.
    End = 10,
    /// The link emulator.
    Link = 20,
}

/// Gives the current thread a real-time policy (SCHED_RR) and timers without slack. `false`: the kernel lets it run
/// only as an ordinary thread, which is no reason not to run: lateness is part of the record.
pub fn become_punctual(rank: Rank) -> bool {
    let _ = nix::sys::prctl::set_timerslack(1);
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::RoundRobin);
    ThreadPriorityValue::try_from(rank as u8).is_ok_and(|value| {
        set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Crossplatform(value), policy)
            .is_ok()
    })
}
