//! The process that leads a session, and how the session is ended.
//!
//! # Why no signal hits a stranger
//!
//! A group and a session are named by the process id of their leader. The system gives an id to
//! another process once it names neither a process, a group nor a session. The leader names all
//! three until it is waited for, even when it has exited. So signals are sent only while the leader
//! has not been waited for, and there is nobody but [`Leader`] who could wait for it: it owns the
//! process, [`Leader::wait`] and [`Leader::end`] need it whole, and both note that the process was
//! reaped before anything else can happen.
//!
//! A single member has no such protection: it may exit, and be waited for by its own parent, and its
//! id be given away between the look at it and the signal. So a member is held by a descriptor
//! (`pidfd`) first, then asked for its session by id, then signalled through the descriptor. If the
//! id was given away in between, either the question is about the new owner, and the signal goes to
//! the descriptor of one who is gone; or the descriptor is the new owner's, and so is the answer.
//!
//! # Why the session, and not only the group
//!
//! `timeout 60 npm test` and every job of a shell with job control move into groups of their own.
//! The group of the leader is ended in one step, which no fork can slip through; the other members
//! of the session are looked for until there are none.

use std::io;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use process_wrap::tokio::ChildWrapper;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

/// The longest pause between two looks at a session that was asked to end.
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// How long killed processes are waited for. One that hangs in the kernel cannot be.
const PATIENCE: Duration = Duration::from_secs(2);

/// A process that leads a session and a group of its own. Dropping it before it was reaped kills its
/// session, and leaves the reaping to the runtime.
pub(super) struct Leader {
    process: Box<dyn ChildWrapper>,
    id: Pid,
    reaped: bool,
}

impl Leader {
    /// Takes charge of a process; `None` if it has no id any more.
    pub(super) fn new(process: Box<dyn ChildWrapper>) -> Option<Self> {
        let id = Pid::from_raw(i32::try_from(process.id()?).ok()?)?;
        Some(Self {
            process,
            id,
            reaped: false,
        })
    }

    /// Our ends of its pipes.
    pub(super) fn pipes(
        &mut self,
    ) -> (
        Option<ChildStdin>,
        Option<ChildStdout>,
        Option<ChildStderr>,
    ) {
        let process = &mut self.process;
        (
            process.stdin().take(),
            process.stdout().take(),
            process.stderr().take(),
        )
    }

    /// Whether the process was waited for, so that its id may be another's.
    pub(super) fn is_reaped(&self) -> bool {
        self.reaped
    }

    /// Waits for the process.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        let exit = self.process.wait().await;
        self.reaped = is_gone(&exit);
        exit
    }

    /// Ends the session and reaps the leader: TERM, then KILL as soon as the grace is over, the run
    /// is given up, or nobody is left. Blocks for the grace, and hardly longer.
    pub(super) fn end(mut self, grace: Duration, given_up: impl Fn() -> bool) {
        if self.reaped {
            return;
        }
        if !grace.is_zero() {
            self.ask();
            wait_until(grace, || given_up() || self.is_over());
        }
        self.kill();
        wait_until(PATIENCE, || {
            let alive = self.others().into_iter().filter(|&id| is_alive(id));
            let alive = alive.filter(|&id| send(id, self.id, Signal::KILL)).count();
            alive == 0 && self.has_exited()
        });
        let exit = self.process.try_wait().transpose();
        self.reaped = exit.is_some_and(|exit| is_gone(&exit));
    }

    /// Asks everybody to end, also those who are stopped.
    fn ask(&self) {
        for signal in [Signal::TERM, Signal::CONT] {
            self.signal(signal);
        }
    }

    /// Kills everybody who is there now; nobody, if the leader was reaped.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if self.reaped {
            return;
        }
        // Fails only when there is nobody who may be signalled.
        let _ = kill_process_group(self.id, signal);
        for id in self.others() {
            send(id, self.id, signal);
        }
    }

    /// Whether nobody of the session is alive.
    fn is_over(&self) -> bool {
        self.has_exited() && !members(self.id).into_iter().any(is_alive)
    }

    /// Whether the leader has exited; does not reap it.
    fn has_exited(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(self.id), look), Ok(None))
    }

    /// The members of the session that are not in the leader's group.
    fn others(&self) -> Vec<Pid> {
        let mut members = members(self.id);
        members.retain(|&id| rustix::process::getpgid(Some(id)) != Ok(self.id));
        members
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Whether waiting has reaped the process, or has found that somebody else did (`ECHILD`).
fn is_gone(exit: &io::Result<ExitStatus>) -> bool {
    match exit {
        Ok(_) => true,
        Err(error) => error.raw_os_error() == Some(rustix::io::Errno::CHILD.raw_os_error()),
    }
}

/// Looks again and again, for `patience` at most.
fn wait_until(patience: Duration, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    while !is_so() {
        let Some(left) = patience.checked_sub(started.elapsed()) else {
            return;
        };
        std::thread::sleep(pause.min(left));
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// All members of a session, those that have exited and were not waited for among them.
#[cfg(target_os = "linux")]
fn members(session: Pid) -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
        .filter(|&id| rustix::process::getsid(Some(id)) == Ok(session))
        .collect()
}

/// Sends a signal to a member of a session; `false` if it is none any more, or must not be signalled.
#[cfg(target_os = "linux")]
fn send(id: Pid, session: Pid, signal: Signal) -> bool {
    use rustix::process::{PidfdFlags, getsid, pidfd_open, pidfd_send_signal};
    let Ok(member) = pidfd_open(id, PidfdFlags::empty()) else {
        return false;
    };
    getsid(Some(id)) == Ok(session) && pidfd_send_signal(member, signal).is_ok()
}

/// Whether a process has not exited.
#[cfg(target_os = "linux")]
fn is_alive(id: Pid) -> bool {
    let status = std::fs::read(format!("/proc/{id}/stat")).unwrap_or_default();
    // `123 (name) S …`: the name is the process's to choose, and may hold anything.
    let after_name = status.rsplit(|&byte| byte == b')').next();
    let state = after_name.and_then(|rest| rest.get(1)).copied();
    !matches!(state, None | Some(b'Z' | b'X'))
}

// Where there is no list of processes that can be trusted, the group is all that is ended.

#[cfg(not(target_os = "linux"))]
fn members(_session: Pid) -> Vec<Pid> {
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
fn send(_id: Pid, _session: Pid, _signal: Signal) -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
fn is_alive(_id: Pid) -> bool {
    false
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_alive_until_it_has_exited() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("cat");
        let id = Pid::from_child(&child);
        assert!(is_alive(id));
        let session = rustix::process::getsid(None).expect("a session");
        assert!(members(session).contains(&id));
        assert!(send(id, session, Signal::KILL));
        wait_until(Duration::from_secs(10), || !is_alive(id));
        // Dead, and not yet waited for: still a member.
        assert!(!is_alive(id));
        assert!(members(session).contains(&id));
        child.wait().expect("its status");
        assert!(!members(session).contains(&id));
        assert!(!send(id, session, Signal::KILL));
    }

    #[test]
    fn a_process_of_another_session_is_not_signalled() {
        let this = rustix::process::getpid();
        let other = Pid::from_raw(1).expect("init");
        assert!(!send(this, other, Signal::KILL));
    }

    #[test]
    fn looking_ends_with_the_patience() {
        let started = Instant::now();
        wait_until(Duration::from_millis(30), || false);
        assert!(started.elapsed() >= Duration::from_millis(30));
    }
}
