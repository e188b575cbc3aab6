//! The running process as the run sees it: waited for, ended, or given up.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use process_wrap::tokio::ChildWrapper;
use tempfile::TempDir;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::oneshot;

use super::leader::Leader;

/// How long a session has between TERM and KILL.
const GRACE: Duration = Duration::from_millis(500);

/// A process with everything that it starts. Dropping it kills all of that.
pub(super) struct Group {
    /// `None` once the process was waited for, or is being ended.
    leader: Option<Leader>,
    /// The run's own folder, which goes when the processes have gone.
    temporary: Option<TempDir>,
}

impl Group {
    /// Takes charge of a process that was just started.
    ///
    /// # Errors
    ///
    /// When the process has no id, which only one that was waited for has not.
    pub(super) fn new(
        process: Box<dyn ChildWrapper>,
        temporary: Option<TempDir>,
    ) -> Result<Self, String> {
        let leader = Leader::new(process).ok_or("the process was gone before it was started")?;
        Ok(Self {
            leader: Some(leader),
            temporary,
        })
    }

    /// Its ends of the process's pipes.
    pub(super) fn pipes(
        &mut self,
    ) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        match &mut self.leader {
            Some(leader) => leader.pipes(),
            None => (None, None, None),
        }
    }

    /// Waits for the process alone; what it has started may live on. Once this has returned there
    /// is nothing left to be ended.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        let Some(leader) = &mut self.leader else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let exit = leader.wait().await;
        if leader.is_reaped() {
            self.leader = None;
        }
        exit
    }

    /// Ends everything: TERM, and KILL for whoever is left after the grace.
    ///
    /// A dropped future cuts the grace short.
    pub(super) async fn end(&mut self) {
        let Some(leader) = self.leader.take() else {
            return;
        };
        let (done, ended) = oneshot::channel::<()>();
        on_a_thread(move || {
            leader.end(GRACE, || done.is_closed());
            drop(done);
        });
        // Fails when `done` is dropped: that is how the end is told.
        let _ = ended.await;
    }

    /// Deletes the run's own folder, if it has one. The process must be over.
    pub(super) async fn tidy(&mut self) {
        let Some(temporary) = self.temporary.take() else {
            return;
        };
        let (done, ended) = oneshot::channel::<()>();
        // It may hold many files.
        on_a_thread(move || {
            drop(temporary);
            drop(done);
        });
        let _ = ended.await;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The run was given up.
        if let Some(leader) = self.leader.take() {
            leader.kill();
            let temporary = self.temporary.take();
            on_a_thread(move || {
                leader.end(Duration::ZERO, || true);
                drop(temporary);
            });
        }
    }
}

/// A thread and not a task, since the runtime may be on its way out, and looking through `/proc` may
/// take longer than a runtime's thread should be held. It lives until the process is reaped.
fn on_a_thread(work: impl FnOnce() + Send + 'static) {
    // If there can be no more threads, the work is dropped, and with it the leader: see there.
    let _ = std::thread::Builder::new()
        .name("hookcell-end".to_owned())
        .spawn(work);
}
