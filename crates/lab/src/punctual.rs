//! Threads and programs that the laboratory's clock depends on run before everything ordinary on the machine. Nobody
//! does while hosts are set up and taken down. The kernel's work for that may wait for its own threads (RCU above all).
//! With PREEMPT_RT they are ordinary ones, which a real-time thread starves.

use std::process::{Command, Stdio};
use thread_priority::unix::{set_thread_priority_and_policy, thread_native_id, thread_schedule_policy};
use thread_priority::{
    NormalThreadSchedulePolicy, RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue,
    ThreadSchedulePolicy,
};

/// Ranks of threads: who goes first.
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

/// The current thread is punctual while this lives, and an ordinary one again afterwards.
#[derive(Debug)]
pub(super) struct Punctual {
    /// Whether the kernel lets it.
    pub(super) realtime: bool,
    nice: Option<i32>,
}

impl Punctual {
    pub(super) fn of(rank: Rank) -> Self {
        let nice = rustix::process::getpriority_process(None).ok();
        Self { realtime: become_punctual(rank), nice }
    }
}

impl Drop for Punctual {
    fn drop(&mut self) {
        // 0: the slack that the thread began with.
        let _ = nix::sys::prctl::set_timerslack(0);
        let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other);
        let _ = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy);
        // The call before has taken the lowest.
        let _ = self.nice.map(|nice| rustix::process::setpriority_process(None, nice));
    }
}

/// The same of a program that runs already, with all its threads; `None`: it is an ordinary one again. Where the kernel
/// refuses it stays as it is.
pub(super) fn rank_of_program(id: u32, rank: Option<Rank>) {
    let (policy, priority) = rank.map_or(("--other", 0), |rank| ("--rr", rank as u8));
    let _ = Command::new("chrt")
        .args(["--all-tasks", policy, "--pid", &priority.to_string(), &id.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

/// Whether the current thread is an ordinary one: as every other program, and what sets hosts up.
pub fn is_ordinary() -> bool {
    !matches!(thread_schedule_policy(), Ok(ThreadSchedulePolicy::Realtime(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_ordinary_again() {
        std::thread::spawn(|| {
            let nice = rustix::process::getpriority_process(None);
            let punctual = Punctual::of(Rank::Program);
            assert_eq!(is_ordinary(), !punctual.realtime);
            drop(punctual);
            assert!(is_ordinary());
            assert_eq!(rustix::process::getpriority_process(None), nice);
        })
        .join()
        .expect("it holds");
    }
}
