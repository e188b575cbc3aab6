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

use super::session::{self, Member};

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
    ) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
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
            let others = self.others().filter(|member| member.is_alive);
            let killed = others.filter(|member| member.signal(Signal::KILL)).count();
            killed == 0 && self.has_exited()
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
        for member in self.others() {
            member.signal(signal);
        }
    }

    /// Whether nobody of the session is alive.
    fn is_over(&self) -> bool {
        self.has_exited() && !session::members(self.id).any(|member| member.is_alive)
    }

    /// Whether the leader has exited; does not reap it.
    fn has_exited(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(self.id), look), Ok(None))
    }

    /// The members of the session that are not in the leader's group.
    fn others(&self) -> impl Iterator<Item = Member> {
        session::members(self.id).filter(|member| member.group != self.id.as_raw_nonzero().get())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_ends_with_the_patience() {
        let started = Instant::now();
        wait_until(Duration::from_millis(30), || false);
        assert!(started.elapsed() >= Duration::from_millis(30));
    }

    #[tokio::test]
    async fn a_dropped_leader_takes_its_session_along() {
        use process_wrap::tokio::{CommandWrap, ProcessSession};
        let mut command = CommandWrap::with_new("timeout", |command| {
            command.args(["1000", "sleep", "1000"]);
        });
        let process = command.wrap(ProcessSession).spawn().expect("a process");
        let leader = Leader::new(process.into_inner()).expect("its id");
        let id = leader.id;
        let is_alive = || session::members(id).any(|member| member.is_alive);
        assert!(is_alive());
        drop(leader);
        wait_until(Duration::from_secs(20), || !is_alive());
        assert!(!is_alive());
    }

    #[test]
    fn only_who_is_gone_is_never_signalled_again() {
        use std::os::unix::process::ExitStatusExt as _;
        let error = |errno: rustix::io::Errno| Err(io::Error::from(errno));
        assert!(is_gone(&Ok(ExitStatus::from_raw(0))));
        assert!(is_gone(&error(rustix::io::Errno::CHILD)));
        assert!(!is_gone(&error(rustix::io::Errno::MFILE)));
    }
}
