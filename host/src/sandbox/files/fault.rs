//! Why something was not done with a file.

use rustix::io::Errno;

use super::granted::Granted;
use crate::config::Reason;

/// Why something was not done: the system says so, or it is not granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// What the system answered, or would have.
    System(Errno),
    /// It is not granted: what the guest gets, and what is told of it.
    Denied(Errno, Denial),
}

/// A use that was denied, as it is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Denial {
    pub(super) what: String,
    pub(super) grant: Option<String>,
}

impl From<Errno> for Fault {
    fn from(errno: Errno) -> Self {
        Self::System(errno)
    }
}

impl Fault {
    fn denied(what: String, grant: Option<String>) -> Self {
        Self::Denied(Errno::PERM, Denial { what, grant })
    }

    /// A way out of the granted folder, or of an opened folder below it.
    pub(super) fn outside(path: &str) -> Self {
        Self::denied(
            format!("files: `{path}` leads out of the granted folder"),
            None,
        )
    }

    /// What may not be touched at all.
    pub(super) fn hidden(path: &str, reason: Reason) -> Self {
        Self::denied(format!("files: read `{path}`, {}", by(reason)), None)
    }

    /// What may not be created, changed, renamed or removed.
    pub(super) fn protected(path: &str, reason: Reason) -> Self {
        Self::denied(format!("files: change `{path}`, {}", by(reason)), None)
    }

    /// A change below a folder that is granted for reading.
    pub(super) fn read_only(path: &str, granted: &Granted) -> Self {
        Self::denied(
            format!("files: change `{path}`"),
            Some(granted.member("write")),
        )
    }

    /// A pipe, a socket or a device.
    pub(super) fn special(path: &str) -> Self {
        Self::denied(
            format!("files: open `{path}`, which is neither a file nor a folder"),
            None,
        )
    }

    /// More than one run may hold open, list or write.
    pub(super) fn too_much(what: &str, errno: Errno) -> Self {
        Self::Denied(
            errno,
            Denial {
                what: format!("files: {what}"),
                grant: None,
            },
        )
    }
}

fn by(reason: Reason) -> &'static str {
    match reason {
        Reason::Own => "which `deny` names",
        Reason::Default => "which is denied by default",
    }
}
