//! `hookcell demo`: six events, decided by components and a shell script from one hooks.json.

use std::io::Write;
use std::path::Path;

use clap::Args;
use comfy_table::{Cell, ContentArrangement, Table};
use serde_json::{Value, json};

use super::problem::Problem;
use crate::config::Configuration;
use crate::contract::Permission;
use crate::dialect::Dialect;
use crate::event::Event;
use crate::host::Host;
use crate::merge::Decision;
use crate::record::Record;
use crate::text::Text;

/// Decide six events with sandboxed components and a shell script, and show why
///
/// Everything is embedded: nothing is read but a temporary folder, which is removed at the end.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Print the hooks.json of the demo instead
    #[arg(long)]
    show: bool,
}

const HOOKS: &str = include_str!("hooks.json");
const SCRIPT: &str = include_str!("no-force-push.sh");

pub(super) fn run(arguments: &Arguments, stdout: &mut dyn Write) -> Result<u8, Problem> {
    if arguments.show {
        stdout.write_all(HOOKS.as_bytes())?;
        return Ok(0);
    }
    let folder = tempfile::tempdir().map_err(|error| {
        Problem::new(format!("there is no temporary folder to work in: {error}"))
    })?;
    prepare(folder.path())
        .map_err(|error| Problem::new(format!("the demo's files cannot be written: {error}")))?;
    let configuration =
        Configuration::parse(HOOKS.as_bytes(), Path::new("hooks.json"), Dialect::Claude)
            .map_err(Problem::new)?;
    let host = Host::builder()
        .project(folder.path())
        .configuration(configuration)
        .build();
    let runtime = super::runtime()?;
    if let Some((hook, failure)) = runtime.block_on(host.prepare()).first() {
        return Err(Problem::new(format!(
            "the embedded component `{}` does not load: {failure}",
            hook.label
        )));
    }
    let mut table = Table::new();
    table
        .load_style(comfy_table::presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header([
            "event", "decision", "hook", "verdict", "why", "time", "fuel",
        ]);
    for (title, event) in events(folder.path()) {
        let event = Event::parse(event.to_string(), None).map_err(Problem::new)?;
        let decision = runtime.block_on(host.dispatch(&event));
        for (index, record) in decision.records.iter().enumerate() {
            let (title, decided) = if index == 0 {
                (title, decided(&decision))
            } else {
                ("", "")
            };
            table.add_row([
                Cell::new(title),
                Cell::new(decided),
                Cell::new(&record.hook),
                Cell::new(verdict(&decision, record)),
                Cell::new(why(&decision, record)),
                Cell::new(milliseconds(record.elapsed_microseconds)),
                Cell::new(
                    record
                        .fuel
                        .map_or_else(|| "–".to_owned(), |fuel| fuel.to_string()),
                ),
            ]);
        }
    }
    writeln!(stdout, "{table}")?;
    writeln!(
        stdout,
        "One hooks.json decided all of it; `hookcell demo --show` prints it."
    )?;
    Ok(0)
}

/// A project with a script and the beginnings of a repository.
fn prepare(folder: &Path) -> std::io::Result<()> {
    std::fs::write(folder.join("no-force-push.sh"), SCRIPT)?;
    let git = folder.join(".git");
    std::fs::create_dir_all(git.join("refs/heads"))?;
    std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n")?;
    std::fs::write(
        git.join("refs/heads/main"),
        "4b825dc642cb6eb9a060e54bf8d69288fbee4904\n",
    )
}

fn events(folder: &Path) -> [(&'static str, Value); 6] {
    let tool = |name: &str, input: Value| {
        json!({"hook_event_name": "PreToolUse", "session_id": "demo", "cwd": folder,
               "tool_name": name, "tool_input": input})
    };
    [
        (
            "Bash: cargo test",
            tool("Bash", json!({"command": "cargo test"})),
        ),
        (
            "Bash: sudo rm -fr /",
            tool("Bash", json!({"command": "cd /tmp && sudo rm -fr /"})),
        ),
        (
            "Bash: git push --force",
            tool("Bash", json!({"command": "git push --force"})),
        ),
        (
            "prompt: what changed?",
            json!({"hook_event_name": "UserPromptSubmit", "session_id": "demo", "cwd": folder, "prompt": "what changed?"}),
        ),
        ("Spin", tool("Spin", json!({}))),
        ("Eat", tool("Eat", json!({}))),
    ]
}

fn decided(decision: &Decision) -> &'static str {
    match decision.permission {
        Some(Permission::Deny) => "blocked",
        Some(Permission::Ask | Permission::Defer) => "the user is asked",
        Some(Permission::Allow) | None if decision.contexts.is_empty() => "goes on",
        Some(Permission::Allow) | None => "goes on, with context",
    }
}

fn verdict(decision: &Decision, record: &Record) -> String {
    match (&record.failure, record.permission) {
        (Some(failure), _) => failure.kind.to_string(),
        (None, Some(Permission::Deny)) => "deny".into(),
        (None, Some(Permission::Defer)) => "defer".into(),
        (None, Some(Permission::Ask)) => "ask".into(),
        (None, Some(Permission::Allow)) => "allow".into(),
        (None, None) if decision.contexts.is_empty() => "no opinion".into(),
        (None, None) => "context".into(),
    }
}

fn why(decision: &Decision, record: &Record) -> Text {
    match (&record.failure, &record.reason) {
        (Some(failure), _) => failure.message.clone(),
        (None, Some(reason)) => reason.clone(),
        (None, None) => decision.contexts.first().cloned().unwrap_or_default(),
    }
}

/// A time in milliseconds, with what digits it has.
pub(super) fn milliseconds(microseconds: u64) -> String {
    format!("{}.{:03} ms", microseconds / 1000, microseconds % 1000)
}
