//! What one run of a hook left behind: how it ended, what it printed, what it used.
//!
//! Every handler in [`crate::run`] ends in an [`Outcome`], and an [`Outcome`] is all that
//! [`crate::contract`] sees. A command and a component that end alike are told apart nowhere.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::text::Text;

/// How one run of a hook ended, before the exit-code contract has judged it.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// How the run ended.
    pub end: End,
    /// What the hook wrote to standard output, up to its cap.
    pub stdout: Captured,
    /// What the hook wrote to standard error, up to its cap.
    pub stderr: Captured,
    /// What the run used.
    pub usage: Usage,
    /// What the hook tried and was not granted, in the order of the first try.
    pub denied: Vec<Denied>,
    /// What a command's `sandbox` is to limit and this kernel cannot, in plain words.
    pub not_enforced: Vec<String>,
}

impl Outcome {
    /// An outcome of a hook that never ran: nothing printed, nothing used.
    pub fn never_ran(failure: Failure) -> Self {
        Self {
            end: End::Failed(failure),
            stdout: Captured::default(),
            stderr: Captured::default(),
            usage: Usage::default(),
            denied: Vec::new(),
            not_enforced: Vec::new(),
        }
    }
}

/// Something that a component tried and was not granted.
///
/// Language runtimes try some of this by themselves, so it is told and is no failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Denied {
    /// What it tried, in plain words.
    pub what: Text,
    /// How often, 1 or more.
    pub count: u64,
    /// The member of `permissions` in hooks.json that would grant it, if one could, such as
    /// `"network": ["api.example.com:443"]`.
    pub grant: Option<Text>,
}

/// The three ways in which a run can end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The hook exited by itself with this code, 0 to 255 for a command on Unix.
    Exited(i32),
    /// The hook was ended by this signal, which hookcell did not send.
    Signaled(i32),
    /// There is no exit code: the hook did not start, or was stopped.
    Failed(Failure),
}

/// The first bytes of one output stream, and how many there were.
///
/// A stream longer than its cap keeps its head; the rest is read and counted, so that the hook
/// is neither blocked nor told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The bytes kept: the whole stream, or its first `cap` bytes.
    pub bytes: Vec<u8>,
    /// The number of bytes that the hook wrote, kept or not.
    pub total: u64,
}

impl Captured {
    /// A stream that was kept whole.
    pub fn whole(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        let total = bytes.len() as u64;
        Self { bytes, total }
    }

    /// Whether bytes were dropped at the cap.
    pub fn is_cut(&self) -> bool {
        self.total > self.bytes.len() as u64
    }
}

/// What one run used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Wall time from the start of the run to its end, compiling not counted.
    pub elapsed: Duration,
    /// Fuel used by a component: about one unit a wasm instruction. A lower bound when the
    /// guest was stopped in the middle of a computation by its deadline. `None` for a command.
    pub fuel: Option<u64>,
    /// The largest sum of a component's linear memories and tables, in bytes. `None` for a command.
    pub memory_peak: Option<u64>,
}

/// A run that has no decision of its own to give, and why.
///
/// A failure is logged and the operation goes on, unless the hook says `"onFailure": "block"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Which kind of failure it was.
    pub kind: FailureKind,
    /// What happened, for a person: for a limit, used and allowed and the key that raises it.
    pub message: Text,
}

impl Failure {
    /// A failure of this kind.
    pub fn new(kind: FailureKind, message: impl Into<Text>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

/// Every kind of failure that a run can end in; the list is closed, so that policies may rely on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The configuration entry could not be accepted, and said `"onFailure": "block"`.
    Refused,
    /// A command could not be started: no such program, no such folder, a NUL in an argument.
    NotStarted,
    /// The component's file could not be read.
    ComponentUnreadable,
    /// The component's bytes do not have the pinned `sha256`.
    DigestMismatch,
    /// The component's bytes are not a valid component or preview1 module, or do not compile.
    ComponentInvalid,
    /// The component was not compiled within the time and memory that its size allows, or the
    /// compiler failed.
    NotCompiled,
    /// The component is built for a WASI version that is not offered (0.3).
    UnsupportedWasi,
    /// The component imports something that is not offered or was not granted.
    UnknownImport,
    /// The component does not export what a hook must: `wasi:cli/run`, or `_start` and `memory`.
    MissingExport,
    /// A granted folder is missing, or is not a folder; or what was granted cannot be provided.
    GrantUnavailable,
    /// The kernel cannot enforce a command's `sandbox`, or there is no hookcell program to have it
    /// enforced.
    SandboxUnavailable,
    /// The hook was still running at its `timeout`.
    TimedOut,
    /// The component used up its `limits.fuel`.
    OutOfFuel,
    /// The component ended in a trap after it was refused memory beyond `limits.memory`.
    OutOfMemory,
    /// The component asked for more tables, instances, handles or bytes a call than any hook may.
    TooManyResources,
    /// Standard output was longer than `limits.stdout`; a cut output is never parsed.
    OutputTooLarge,
    /// The component ended in a trap.
    Trap,
    /// The hook exited with a code other than 0 and 2, and without a JSON decision.
    ExitCode,
    /// A command was ended by a signal that hookcell did not send.
    Signal,
    /// Standard output begins as JSON and is not exactly one valid decision object.
    BadOutput,
    /// The host itself failed; a defect of hookcell or of the machine, never of the hook.
    Host,
}

impl FailureKind {
    /// The kind's name as it stands in records and messages, for instance `out-of-fuel`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::NotStarted => "not-started",
            Self::ComponentUnreadable => "component-unreadable",
            Self::DigestMismatch => "digest-mismatch",
            Self::ComponentInvalid => "component-invalid",
            Self::NotCompiled => "not-compiled",
            Self::UnsupportedWasi => "unsupported-wasi",
            Self::UnknownImport => "unknown-import",
            Self::MissingExport => "missing-export",
            Self::GrantUnavailable => "grant-unavailable",
            Self::SandboxUnavailable => "sandbox-unavailable",
            Self::TimedOut => "timed-out",
            Self::OutOfFuel => "out-of-fuel",
            Self::OutOfMemory => "out-of-memory",
            Self::TooManyResources => "too-many-resources",
            Self::OutputTooLarge => "output-too-large",
            Self::Trap => "trap",
            Self::ExitCode => "exit-code",
            Self::Signal => "signal",
            Self::BadOutput => "bad-output",
            Self::Host => "host",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
