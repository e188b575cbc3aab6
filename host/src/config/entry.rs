//! One entry of hooks.json as it is written: the types that it is read with ([`super::values`]), and
//! that the JSON Schema is made from.

use schemars::JsonSchema;
use serde::Deserialize;

use super::fields::{
    AnyObject, Anything, Argv, CommandText, ComponentText, Count, DenyPattern, Events, Fuel,
    HostAndPort, OutputSize, PathText, PortOfAnyHost, Seconds, Sha256, Size, VariableName,
};
use super::model::{OnFailure, Shell};
use super::permissions::{Access, Clock, Random};

/// A hook: a command, which runs with the user's rights, or a component, which runs in the sandbox.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", expecting = "an object")]
#[schemars(deny_unknown_fields)]
pub(super) struct Entry {
    /// What kind of hook it is. May be left out: it is what `command` or `component` says.
    #[serde(rename = "type")]
    pub(super) kind: Option<Kind>,
    /// How the hook is called in records and messages. Default: what it runs.
    #[expect(
        dead_code,
        reason = "the label is made of what is written, since a refused entry has one too"
    )]
    pub(super) name: Option<String>,
    /// Of a command: a text for the shell; with `args`, a program that is started without a shell;
    /// or a list, the program and its arguments.
    pub(super) command: Option<CommandText>,
    /// Of a component: the path of a WASI component or preview1 module, relative to the folder of
    /// this file, or `builtin:NAME`. `~/` is the home folder; `${workspace}/` and
    /// `${CLAUDE_PROJECT_DIR}/` are the project's.
    pub(super) component: Option<ComponentText>,
    /// Of a component: the SHA-256 digest that its bytes must have.
    pub(super) sha256: Option<Sha256>,
    /// The arguments, after the program's or component's name.
    pub(super) args: Option<Vec<String>>,
    /// Of a command: the shell. Default: `/bin/sh`.
    pub(super) shell: Option<Shell>,
    /// How many seconds it may run. Default: 600 for a command (30 on `UserPromptSubmit`,
    /// `PreModelSwitch` and `PostModelSwitch`), 10 for a component.
    pub(super) timeout: Option<Seconds>,
    /// What a failure means: that it could not start, timed out, used up a limit, exited with
    /// another code than 0 and 2 and without a decision, or printed broken JSON.
    pub(super) on_failure: Option<OnFailure>,
    /// The limits of one run.
    pub(super) limits: Option<LimitsEntry>,
    /// Of a component: what it may touch. Default: nothing.
    pub(super) permissions: Option<PermissionsEntry>,
    /// Of a command: what it may touch, enforced by the kernel (Linux, Landlock). Default: everything
    /// that the user may.
    pub(super) sandbox: Option<SandboxEntry>,
    /// Settings of the hook's own, given to it as JSON in the variable `HOOKCELL_CONFIG`.
    #[expect(
        dead_code,
        reason = "read for its form; the hook is given the text as it is written"
    )]
    pub(super) config: Option<AnyObject>,
    /// What an agent shows while the hook runs. Accepted, and not used.
    #[expect(dead_code, reason = "read for its form")]
    pub(super) status_message: Option<String>,
    /// Accepted, and not used: the Claude contract ignores it in settings files.
    pub(super) once: Option<bool>,
    /// In a list of hooks: the exact names of the events that the hook is for. Default: all.
    pub(super) events: Option<Events>,
    #[serde(rename = "if")]
    #[schemars(skip)]
    pub(super) condition: Option<Anything>,
    /// Only `false`: hooks in the background are not supported by this version.
    #[serde(rename = "async")]
    #[schemars(extend("const" = false))]
    pub(super) background: Option<bool>,
    /// Only `false`, as `async`.
    #[schemars(extend("const" = false))]
    pub(super) async_rewake: Option<bool>,
    /// deepagents' exec form.
    #[schemars(skip)]
    pub(super) argv: Option<Argv>,
}

/// What kind of hook it is.
#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum Kind {
    /// A process of the operating system, with the user's rights.
    Command,
    /// A WASI component or preview1 module, in the sandbox.
    Component,
}

/// The limits of one run.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
#[schemars(deny_unknown_fields, inline)]
pub(super) struct LimitsEntry {
    /// Of a component: work, about one unit a wasm instruction.
    #[schemars(extend("default" = 10_000_000_000_u64))]
    pub(super) fuel: Option<Fuel>,
    /// Of a component: the sum of its linear memories and tables. Of a command with a `sandbox`: the address
    /// space of each of its processes, not bounded by default.
    #[schemars(extend("default" = "256MiB"))]
    pub(super) memory: Option<Size<{ 64 << 10 }, { 4 << 30 }>>,
    /// How much standard output is kept; more is a failure.
    #[schemars(extend("default" = "1MiB"))]
    pub(super) stdout: Option<OutputSize>,
    /// How much standard error is kept.
    #[schemars(extend("default" = "64KiB"))]
    pub(super) stderr: Option<OutputSize>,
    /// Of a component with `permissions.network`: how many requests it may make.
    #[schemars(extend("default" = 16))]
    pub(super) requests: Option<Count<1, 10_000>>,
    /// Of a component with `permissions.network`: the sum of the bodies that it sends and receives.
    #[schemars(extend("default" = "8MiB"))]
    pub(super) bodies: Option<Size<{ 1 << 10 }, { 1 << 30 }>>,
    /// Of a component with `permissions.state`: the size of what it keeps, keys and values.
    #[schemars(extend("default" = "1MiB"))]
    pub(super) state: Option<Size<{ 1 << 10 }, { 64 << 20 }>>,
}

/// What a component may touch.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
#[schemars(deny_unknown_fields, inline)]
pub(super) struct PermissionsEntry {
    /// Folders, with everything below them.
    pub(super) filesystem: Option<Vec<GrantEntry>>,
    /// Names of variables that it sees with hookcell's values.
    pub(super) environment: Option<Vec<VariableName>>,
    /// The hosts that it may send HTTP requests to (`wasi:http`), each with its port. Addresses of
    /// the machine itself and of private networks must be named as addresses.
    pub(super) network: Option<Vec<HostAndPort>>,
    /// A small store of its own that is kept from event to event (`wasi:keyvalue`), one for each
    /// project.
    pub(super) state: Option<bool>,
    /// Which clock it sees.
    pub(super) clock: Option<Clock>,
    /// Which random numbers it is given.
    pub(super) random: Option<Random>,
}

/// What a command may touch.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", expecting = "an object")]
#[schemars(deny_unknown_fields, inline)]
pub(super) struct SandboxEntry {
    /// Folders and files, with everything below them, beside the system's programs and libraries,
    /// which it may read and run.
    pub(super) filesystem: Option<Vec<GrantEntry>>,
    /// Names of variables that it is given, beside `PATH` and those of the hook contract.
    pub(super) environment: Option<Vec<VariableName>>,
    /// The TCP ports that it may connect to, written `*:443`: the kernel knows ports, not hosts.
    pub(super) network: Option<Vec<PortOfAnyHost>>,
    /// Whether it runs, with what protection there is, where the kernel cannot enforce all of it.
    /// Default: no, it is a failure.
    pub(super) best_effort: Option<bool>,
}

/// One granted folder.
#[derive(Deserialize, JsonSchema)]
#[serde(expecting = "an object with `path` and `access`")]
#[schemars(deny_unknown_fields, inline)]
pub(super) struct GrantEntry {
    /// The folder: absolute, or relative to the project. `${workspace}` is the project's folder,
    /// `${home}` and `~` are the user's.
    pub(super) path: PathText,
    /// What may be done below it.
    pub(super) access: Access,
    /// Of a component: what may not be touched below it, as in `.gitignore`: `*.pem`,
    /// `secrets/`, `/config/keys`. Files that hold secrets, and those that configure hooks, are
    /// among them by default.
    pub(super) deny: Option<Vec<DenyPattern>>,
}
