//! A configuration as the rest of the host sees it: hooks in order, every field checked.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::permissions::{FilesystemGrant, Permissions};
use crate::config::Diagnostic;
use crate::dialect::Dialect;
use crate::select::Selector;
use crate::text::{self, Text};

/// One configuration file, read and checked.
#[derive(Debug, Clone, Default)]
pub struct Configuration {
    /// The file that was read; `None` for a configuration that has none.
    pub path: Option<PathBuf>,
    /// Whose rules the file follows.
    pub dialect: Dialect,
    /// The hooks, in the file's order. Entries that could not be accepted are not among them,
    /// unless they said `"onFailure": "block"`: those stay, as [`Handler::Refused`].
    pub hooks: Vec<Hook>,
    /// Everything that is wrong with the file, in the file's order.
    pub diagnostics: Vec<Diagnostic>,
}

/// One hook: when it runs, what it runs, and what its failure means.
#[derive(Debug, Clone)]
pub struct Hook {
    /// How the hook is called in records and messages: its `name`, else what it runs, shortened.
    pub label: Text,
    /// Where its entry begins: line, from 1.
    pub line: usize,
    /// Where its entry begins: column in characters, from 1.
    pub column: usize,
    /// Which events it is for.
    pub selector: Selector,
    /// What it runs.
    pub handler: Handler,
    /// How long it may run. In the file: seconds, more than 0, at most 86,400; less than a
    /// millisecond counts as a millisecond.
    pub timeout: Duration,
    /// What its failure means.
    pub on_failure: OnFailure,
    /// Whether its exit code and output decide anything. The list-shaped hooks of a deepagents
    /// file only watch: nothing that they say blocks or changes an operation.
    pub decides: bool,
}

/// What a hook's failure means for the operation (`onFailure`, a field of the Claude contract).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum OnFailure {
    /// The failure is reported and the operation goes on: the default of all agents.
    #[default]
    Continue,
    /// The failure counts as a block whose reason names it.
    Block,
}

/// What a hook runs.
#[derive(Debug, Clone)]
pub enum Handler {
    /// A process of the operating system, with the user's rights.
    Command(Command),
    /// A WASI component or preview1 module, in the sandbox.
    Component(Component),
    /// An entry that said `"onFailure": "block"` and could not be accepted: running it fails
    /// with this message, so that a guard with a mistake in it blocks instead of vanishing.
    Refused(String),
}

/// A command hook.
#[derive(Debug, Clone)]
pub struct Command {
    /// What is started.
    pub line: CommandLine,
    /// The most that is kept of standard output, in bytes.
    pub stdout_limit: usize,
    /// The most that is kept of standard error, in bytes.
    pub stderr_limit: usize,
    /// The hook's `config` object as JSON text, as it is written, given in the variable
    /// `HOOKCELL_CONFIG`.
    pub config: Option<String>,
    /// What the kernel lets it touch; `None`: whatever the user may.
    pub sandbox: Option<Sandbox>,
}

/// What a command with `"sandbox": {…}` may touch, enforced by the kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// Folders and files, with everything below them; without `deny`, which the kernel cannot do.
    pub filesystem: Vec<FilesystemGrant>,
    /// Names of variables that it is given with the host's values.
    pub environment: Vec<String>,
    /// TCP ports that it may connect to, 1 to 65535.
    pub ports: Vec<u16>,
    /// `limits.memory`: bytes of address space of each process.
    pub memory: Option<u64>,
    /// Whether it runs where the kernel cannot enforce all of this.
    pub best_effort: bool,
}

/// The two forms of a command (Claude contract).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// `"command": "text"`: the text is handed to a shell.
    Shell {
        /// The shell.
        shell: Shell,
        /// The text.
        script: String,
    },
    /// `"command": "program", "args": […]`, or a list: the program is started as it is.
    Exec {
        /// The program, looked up on `PATH` if it holds no slash.
        program: String,
        /// Its arguments.
        args: Vec<String>,
    },
}

/// The shell of a command in shell form (`shell`, a field of the Claude contract).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Shell {
    /// `/bin/sh -c`, the default.
    #[default]
    Sh,
    /// `bash -c`.
    Bash,
    /// `pwsh -NoProfile -NonInteractive -Command`.
    PowerShell,
}

/// A component hook.
#[derive(Debug, Clone, Default)]
pub struct Component {
    /// Where its bytes are.
    pub source: ComponentSource,
    /// The digest that its bytes must have.
    pub sha256: Option<[u8; 32]>,
    /// Its arguments, after the program name.
    pub args: Vec<String>,
    /// Its limits.
    pub limits: Limits,
    /// What it may touch.
    pub permissions: Permissions,
    /// The hook's `config` object as JSON text, as it is written, given in the variable
    /// `HOOKCELL_CONFIG`.
    pub config: Option<String>,
}

/// Where a component's bytes are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ComponentSource {
    /// A file. Paths in a configuration file start at that file's folder; one that begins with
    /// `${workspace}` or `${CLAUDE_PROJECT_DIR}` is kept as it is written, and one of a
    /// configuration that is no file, or a file given by a relative path, may still be relative:
    /// [`ComponentSource::resolve`] finds both in the project.
    File(PathBuf),
    /// `builtin:NAME`: a plugin that is embedded in hookcell.
    Builtin(String),
}

impl ComponentSource {
    /// The source with its path made absolute: `${workspace}` and `${CLAUDE_PROJECT_DIR}` are the
    /// project's folder, and so is the start of a path that is still relative.
    #[must_use]
    pub fn resolve(&self, project: &Path) -> Self {
        let Self::File(path) = self else {
            return self.clone();
        };
        for placeholder in ["${workspace}", "${CLAUDE_PROJECT_DIR}"] {
            if let Ok(rest) = path.strip_prefix(placeholder) {
                return Self::File(project.join(rest));
            }
        }
        Self::File(project.join(path))
    }
}

impl fmt::Display for ComponentSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.write_str(&text::one_line(&path.display().to_string(), 500)),
            Self::Builtin(name) => write!(f, "builtin:{}", text::one_line(name, 80)),
        }
    }
}

impl Default for ComponentSource {
    fn default() -> Self {
        Self::File(PathBuf::new())
    }
}

/// The limits of one run of a component (`limits`). Wall time is [`Hook::timeout`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// `fuel`: work, about one unit a wasm instruction. 1 to 10^15; default 10^10.
    pub fuel: u64,
    /// `memory`: bytes, the sum over all linear memories and tables, an element of which counts 16. 64 KiB to 4 GiB; default 256 MiB.
    pub memory: u64,
    /// `stdout`: bytes kept of standard output. 1 KiB to 64 MiB; default 1 MiB.
    pub stdout: usize,
    /// `stderr`: bytes kept of standard error. 1 KiB to 64 MiB; default 64 KiB.
    pub stderr: usize,
    /// `requests`: HTTP requests. 1 to 10,000; default 16.
    pub requests: u64,
    /// `bodies`: bytes, the sum over all bodies sent and received. 1 KiB to 1 GiB; default 8 MiB.
    pub bodies: u64,
    /// `state`: bytes of keys and values that are kept. 1 KiB to 64 MiB; default 1 MiB.
    pub state: u64,
}

impl Limits {
    /// The limits of a hook that names none.
    pub const DEFAULT: Self = Self {
        fuel: 10_000_000_000,
        memory: 256 << 20,
        stdout: 1 << 20,
        stderr: 64 << 10,
        requests: 16,
        bodies: 8 << 20,
        state: 1 << 20,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
