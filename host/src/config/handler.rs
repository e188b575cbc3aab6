//! What an entry runs: its command, or its component.

use std::path::{Path, PathBuf};

use super::entry::{Entry, GrantEntry};
use super::fields::CommandText;
use super::hook::Reader;
use super::model::{Command, CommandLine, Component, ComponentSource, Handler, Limits, Sandbox};
use super::permissions::{FilesystemGrant, NetworkGrant, Permissions, port_number};
use super::values::{member, range};
use crate::dialect::Dialect;

/// What a component's path may begin with, to be found in the project of the event.
const PROJECT: [&str; 2] = ["${workspace}", "${CLAUDE_PROJECT_DIR}"];

impl Reader<'_, '_, '_, '_> {
    pub(super) fn command(&mut self, entry: &Entry) -> Option<Handler> {
        let help = "make it a component, or remove this";
        self.forbid(
            "permissions",
            "`permissions` are for components; a command has all rights of the user",
            help,
        );
        self.forbid(
            "sha256",
            "`sha256` is for components; nothing holds it against a command",
            help,
        );
        for name in [
            "limits.fuel",
            "limits.requests",
            "limits.bodies",
            "limits.state",
        ] {
            self.forbid(
                name,
                &format!("`{name}` is for components; a command's work is not bounded"),
                help,
            );
        }
        if entry.sandbox.is_none() {
            self.forbid(
                "limits.memory",
                "`limits.memory` is for components and for commands with a `sandbox`",
                "add `\"sandbox\": {}`, make it a component, or remove this",
            );
        }
        self.forbid_deny_in_sandbox(entry)?;
        let line = match (&entry.command, &entry.argv, &entry.args) {
            (_, Some(argv), _) if self.draft.dialect == Dialect::Deepagents => CommandLine::Exec {
                program: argv.program.clone(),
                args: argv.args.clone(),
            },
            (Some(CommandText::List(argv)), _, args) => CommandLine::Exec {
                program: argv.program.clone(),
                args: argv
                    .args
                    .iter()
                    .chain(args.iter().flatten())
                    .cloned()
                    .collect(),
            },
            (Some(CommandText::Line(program)), _, Some(args)) => CommandLine::Exec {
                program: program.clone(),
                args: args.clone(),
            },
            (Some(CommandText::Line(_)), _, None) if self.watches => {
                let range = member(self.object, "command").map(|it| range(&it.value))?;
                self.error(
                    range,
                    "`command` must be a list in deepagents' list of hooks; found a string".into(),
                )
                .help(r#"write ["sh", "-c", "…"]"#);
                return None;
            }
            (Some(CommandText::Line(script)), _, None) => CommandLine::Shell {
                shell: entry.shell.unwrap_or_default(),
                script: script.clone(),
            },
            (None, ..) => return None,
        };
        if matches!(line, CommandLine::Exec { .. }) && entry.shell.is_some() {
            self.warn(
                "shell",
                "`shell` is ignored: a program with arguments is started without a shell",
            );
        }
        let limits = entry.limits.as_ref();
        Some(Handler::Command(Command {
            line,
            stdout_limit: limits
                .and_then(|it| it.stdout)
                .map_or(Limits::DEFAULT.stdout, |size| bytes(size.0)),
            stderr_limit: limits
                .and_then(|it| it.stderr)
                .map_or(Limits::DEFAULT.stderr, |size| bytes(size.0)),
            config: self.config(),
            sandbox: sandbox(entry),
        }))
    }

    /// The kernel can let a program touch a folder, and not except a part of it.
    fn forbid_deny_in_sandbox(&mut self, entry: &Entry) -> Option<()> {
        let grants = entry.sandbox.iter().flat_map(|it| &it.filesystem).flatten();
        if grants.into_iter().all(|grant| grant.deny.is_none()) {
            return Some(());
        }
        let range = member(self.object, "sandbox").map(|it| range(&it.value))?;
        self.error(
            range,
            "`deny` is for components; the kernel cannot except a part of a folder from a command"
                .into(),
        )
        .help("grant only the folders that it may touch, or make it a component");
        None
    }

    pub(super) fn component(&mut self, entry: &Entry) -> Option<Handler> {
        self.forbid(
            "shell",
            "`shell` is for commands; a component is started without one",
            "remove it",
        );
        self.forbid(
            "sandbox",
            "`sandbox` is for commands; a component always runs in one",
            "grant what it may touch in `permissions`",
        );
        let source = self.source(&entry.component.as_ref()?.0)?;
        let limits = entry.limits.as_ref();
        Some(Handler::Component(Component {
            source,
            sha256: entry.sha256.map(|digest| digest.0),
            args: entry.args.clone().unwrap_or_default(),
            limits: Limits {
                fuel: limits
                    .and_then(|it| it.fuel)
                    .map_or(Limits::DEFAULT.fuel, |fuel| fuel.0),
                memory: limits
                    .and_then(|it| it.memory)
                    .map_or(Limits::DEFAULT.memory, |size| size.0),
                stdout: limits
                    .and_then(|it| it.stdout)
                    .map_or(Limits::DEFAULT.stdout, |size| bytes(size.0)),
                stderr: limits
                    .and_then(|it| it.stderr)
                    .map_or(Limits::DEFAULT.stderr, |size| bytes(size.0)),
                requests: limits
                    .and_then(|it| it.requests)
                    .map_or(Limits::DEFAULT.requests, |count| count.0),
                bodies: limits
                    .and_then(|it| it.bodies)
                    .map_or(Limits::DEFAULT.bodies, |size| size.0),
                state: limits
                    .and_then(|it| it.state)
                    .map_or(Limits::DEFAULT.state, |size| size.0),
            },
            permissions: permissions(entry),
            config: self.config(),
        }))
    }

    /// Where the component is. Relative paths start at the file's folder.
    fn source(&mut self, written: &str) -> Option<ComponentSource> {
        let mut wrong = |message: &str, help: &str| {
            if let Some(range) = member(self.object, "component").map(|it| range(&it.value)) {
                self.error(range, message.to_owned()).help(help);
            }
            None
        };
        if let Some(name) = written.strip_prefix("builtin:") {
            return Some(ComponentSource::Builtin(name.to_owned()));
        }
        if Path::new(written)
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("cwasm"))
        {
            return wrong(
                "`component` is precompiled code, which is never accepted",
                "name the .wasm file that it was made from; hookcell compiles it once and keeps the result",
            );
        }
        let in_project = PROJECT.iter().find_map(|start| written.strip_prefix(start));
        if in_project.is_some_and(|rest| rest.starts_with('/')) {
            return Some(ComponentSource::File(PathBuf::from(written)));
        }
        if written.starts_with("${") {
            return wrong(
                "`component` begins with a placeholder that is unknown, or without a `/` behind it",
                "the placeholders are ${workspace}/ and ${CLAUDE_PROJECT_DIR}/",
            );
        }
        if let Some(rest) = written.strip_prefix("~/") {
            return match std::env::home_dir() {
                Some(home) => Some(ComponentSource::File(home.join(rest))),
                None => wrong(
                    "`component` begins with ~/, and the user has no home folder",
                    "write the whole path",
                ),
            };
        }
        Some(ComponentSource::File(self.draft.folder.join(written)))
    }

    /// The text of `config`, as it is written.
    fn config(&self) -> Option<String> {
        let value = &member(self.object, "config")?.value;
        value
            .as_object()
            .map(|_| self.draft.text()[range(value)].to_owned())
    }
}

fn permissions(entry: &Entry) -> Permissions {
    let Some(permissions) = &entry.permissions else {
        return Permissions::default();
    };
    Permissions {
        filesystem: grants(permissions.filesystem.as_deref()),
        environment: permissions
            .environment
            .iter()
            .flatten()
            .map(|name| name.0.clone())
            .collect(),
        network: permissions
            .network
            .iter()
            .flatten()
            .filter_map(|address| NetworkGrant::parse(&address.0))
            .collect(),
        state: permissions.state == Some(true),
        clock: permissions.clock.unwrap_or_default(),
        random: permissions.random.unwrap_or_default(),
    }
}

fn sandbox(entry: &Entry) -> Option<Sandbox> {
    let sandbox = entry.sandbox.as_ref()?;
    Some(Sandbox {
        filesystem: grants(sandbox.filesystem.as_deref()),
        environment: sandbox
            .environment
            .iter()
            .flatten()
            .map(|name| name.0.clone())
            .collect(),
        ports: sandbox
            .network
            .iter()
            .flatten()
            .filter_map(|address| port_number(address.0.strip_prefix("*:")?))
            .collect(),
        memory: entry
            .limits
            .as_ref()
            .and_then(|it| it.memory)
            .map(|it| it.0),
        best_effort: sandbox.best_effort == Some(true),
    })
}

fn grants(entries: Option<&[GrantEntry]>) -> Vec<FilesystemGrant> {
    entries
        .into_iter()
        .flatten()
        .map(|grant| FilesystemGrant {
            path: grant.path.0.clone(),
            access: grant.access,
            deny: grant
                .deny
                .iter()
                .flatten()
                .map(|pattern| pattern.0.clone())
                .collect(),
        })
        .collect()
}

/// Caps on outputs are at most 64 MiB, which every `usize` holds.
fn bytes(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}
