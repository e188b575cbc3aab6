//! Each plugin and the bash script that it replaces: the same events, the same decisions, or a row
//! of the corpus that says how the script differs and why.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test says what it expects by panicking"
)]

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use hookcell::contract::Permission;
use hookcell::dialect::Dialect;
use hookcell::{Decision, Event};
use serde::Deserialize;
use serde_json::{Value, json};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    payload: Option<Value>,
    text: Option<String>,
    fill: Option<(String, usize)>,
    close: Option<(String, usize)>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    git: Vec<Vec<String>>,
    config: Option<Value>,
    log: Option<(String, String)>,
    expect: String,
    script: Option<String>,
    why: Option<String>,
}

impl Row {
    fn payload(&self, project: &Path) -> String {
        let text = self
            .text
            .clone()
            .or_else(|| self.payload.as_ref().map(Value::to_string))
            .unwrap();
        let mut text = text.replace("${workspace}", project.to_str().unwrap());
        for (name, what) in [("${fill}", &self.fill), ("${close}", &self.close)] {
            if let Some((piece, count)) = what {
                text = text.replace(name, &piece.repeat(*count));
            }
        }
        text
    }

    /// A project with the row's files; each runner has its own, so that neither sees the other's work.
    fn project(&self) -> tempfile::TempDir {
        let project = tempfile::tempdir().unwrap();
        for (name, content) in &self.files {
            let path = project.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            match content.strip_prefix("link:") {
                Some(target) => std::os::unix::fs::symlink(target, path).unwrap(),
                None => std::fs::write(path, content).unwrap(),
            }
        }
        for arguments in &self.git {
            git(project.path(), arguments);
        }
        project
    }
}

fn git(project: &Path, arguments: &[String]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(project)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// A decision in the corpus's words.
fn words(decision: &Decision) -> String {
    let record = &decision.records[0];
    assert_eq!(decision.records.len(), 1);
    match (&record.failure, decision.permission) {
        (Some(_), None) => "failure".into(),
        (None, Some(Permission::Deny)) => "deny".into(),
        (None, None) => match decision.contexts.as_slice() {
            [] => "none".into(),
            contexts => format!("context:{}", contexts.join("\n").trim_end()),
        },
        other => panic!("no word for {other:?}"),
    }
}

async fn decide(row: &Row, event: &str, hook: &Value) -> (String, Option<String>) {
    let project = row.project();
    let mut hook = hook.clone();
    hook["timeout"] = 60.into();
    if let Some(config) = &row.config {
        hook["config"] = config.clone();
    }
    let host = support::host_in(
        &json!({"hooks": {event: [{"hooks": [hook]}]}}),
        project.path(),
        Dialect::Claude,
    );
    let event = Event::parse(row.payload(project.path()), Some(event)).unwrap();
    let decision = host.dispatch(&event).await;
    let commit = git(
        project.path(),
        &[
            "rev-parse".into(),
            "--verify".into(),
            "-q".into(),
            "HEAD".into(),
        ],
    );
    let said = words(&decision).replace(
        if commit.is_empty() {
            "no commit"
        } else {
            commit.trim()
        },
        "${commit}",
    );
    let log = row.log.as_ref().map(|(file, _)| {
        let log = std::fs::read_to_string(project.path().join(file)).unwrap();
        let line = log.strip_suffix('\n').unwrap();
        assert!(!line.contains('\n'), "one line: {log:?}");
        let (time, rest) = line.split_once(' ').unwrap();
        assert!(time.len() == 20 && time.ends_with('Z'), "{time}");
        rest.to_owned()
    });
    (said, log)
}

/// Runs every row of a plugin's corpus through the component and the script.
async fn check(plugin: &str, event: &str, permissions: Value, least: usize) {
    let path = format!("{REPOSITORY}/tests/corpus/{plugin}.json");
    let rows: Vec<Row> = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert!(rows.len() >= least, "{} rows", rows.len());
    let component = json!({"type": "component", "component": format!("builtin:{plugin}"), "permissions": permissions});
    let script = json!({"type": "command", "command": "bash", "args": [format!("{REPOSITORY}/plugins/{plugin}/hook.sh")]});
    // Hosts share what is loaded: as long as this one lives, no row waits for the compiler.
    let warm = support::host(
        &json!({"hooks": {event: [{"hooks": [{"component": format!("builtin:{plugin}")}]}]}}),
    );
    assert!(warm.prepare().await.is_empty());
    let mut wrong = Vec::new();
    for row in &rows {
        assert_eq!(
            row.script.is_some(),
            row.why.is_some(),
            "{}: a difference has its reason",
            row.name
        );
        assert_ne!(
            row.script.as_ref(),
            Some(&row.expect),
            "{}: no difference",
            row.name
        );
        let expected_log = row.log.as_ref().map(|(_, line)| line.clone());
        for (runner, hook, expected) in [
            ("component", &component, &row.expect),
            (
                "script",
                &script,
                row.script.as_ref().unwrap_or(&row.expect),
            ),
        ] {
            let (said, log) = decide(row, event, hook).await;
            if said != *expected || log != expected_log {
                wrong.push(format!(
                    "{}: the {runner} said {said:?} {log:?}, not {expected:?} {expected_log:?}",
                    row.name
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn grant(access: &str) -> Value {
    json!({"filesystem": [{"path": "${workspace}", "access": access}]})
}

#[tokio::test]
async fn block_dangerous_commands() {
    check("block-dangerous-commands", "PreToolUse", json!({}), 45).await;
}

#[tokio::test]
async fn log_tool_use() {
    check("log-tool-use", "PostToolUse", grant("write"), 10).await;
}

#[tokio::test]
async fn inject_git_context() {
    check("inject-git-context", "UserPromptSubmit", grant("read"), 12).await;
}

#[tokio::test]
async fn require_summary() {
    check("require-summary", "Stop", grant("read"), 12).await;
}
