//! The program as a user and an agent see it: every subcommand, its output, its exit code.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test says what it expects by panicking"
)]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const SCRIPTED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/guests/scripted/scripted.component.wasm"
);

/// A folder that is home and project at once, so that no file of the machine plays a part.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A place whose project has these hooks.
    fn with(hooks: &Value) -> Self {
        let place = Self::new();
        place.write(".hookcell/hooks.json", &format!("{hooks:#}"));
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookcell"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env("HOME", self.path())
            .env(
                "HOOKCELL_CACHE_DIRECTORY",
                concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"),
            )
            .env(
                "HOOKCELL_STATE_DIRECTORY",
                concat!(env!("CARGO_TARGET_TMPDIR"), "/state"),
            )
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("CLAUDE_PROJECT_DIR")
            .env_remove("RUST_LOG")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str], stdin: &[u8]) -> Said {
        let mut child = self.command(arguments).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let stdin = stdin.to_vec();
        // The program may end without reading; that is not the test's failure.
        let writer = std::thread::spawn(move || input.write_all(&stdin));
        let said = Said::new(child.wait_with_output().unwrap());
        let _ = writer.join().unwrap();
        said
    }
}

#[derive(Debug, PartialEq)]
struct Said {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Said {
    fn new(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn silence() -> Self {
        Self {
            code: Some(0),
            stdout: String::new(),
            stderr: String::new(),
        }
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// An error of the program: exit code 1, nothing on stdout, this on stderr.
    fn is_error(&self, message: &str, hint: &str) {
        assert_eq!((self.code, self.stdout.as_str()), (Some(1), ""), "{self:?}");
        assert!(
            self.stderr.starts_with(&format!("error: {message}")),
            "{}",
            self.stderr
        );
        assert!(
            self.stderr.contains(&format!("\nhint: {hint}")),
            "{}",
            self.stderr
        );
    }
}

fn bash_hooks() -> Value {
    json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "component", "component": "builtin:block-dangerous-commands"},
        {"type": "command", "command": "if grep -q secret; then echo 'no secrets' >&2; exit 2; fi"},
    ]}]}})
}

fn bash(command: &str) -> Vec<u8> {
    json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": command}})
        .to_string()
        .into_bytes()
}

#[test]
fn a_component_and_a_script_decide_side_by_side() {
    let place = Place::with(&bash_hooks());
    assert_eq!(
        place.run(&["run", "PreToolUse"], &bash("ls")),
        Said::silence()
    );

    let by_component = place.run(&["run", "PreToolUse"], &bash("sudo rm -fr /"));
    assert_eq!(by_component.code, Some(2));
    let specific = &by_component.json()["hookSpecificOutput"];
    assert_eq!(specific["hookEventName"], "PreToolUse");
    assert_eq!(specific["permissionDecision"], "deny");
    let reason = specific["permissionDecisionReason"].as_str().unwrap();
    assert_eq!(by_component.stderr, format!("{reason}\n"));

    let by_script = place.run(&["run", "PreToolUse"], &bash("cat secret"));
    assert_eq!(
        by_script,
        Said {
            code: Some(2),
            stdout: r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no secrets"}}"#.to_owned() + "\n",
            stderr: "no secrets\n".into(),
        }
    );

    let by_both = place.run(&["run"], &bash("rm -rf secret"));
    assert_eq!(by_both.code, Some(2));
    assert!(
        by_both.stderr.ends_with("\nno secrets\n"),
        "{}",
        by_both.stderr
    );

    let other_tool = br#"{"tool_name":"Read","tool_input":{"file_path":"secret"}}"#;
    assert_eq!(
        place.run(&["run", "PreToolUse"], other_tool),
        Said::silence()
    );
}

#[test]
fn json_holds_the_whole_decision() {
    let place = Place::with(&bash_hooks());
    let said = place.run(&["run", "--json"], &bash("rm -rf /"));
    assert_eq!(said.code, Some(2));
    let decision = said.json();
    assert_eq!(
        (&decision["event"], &decision["permission"]),
        (&json!("PreToolUse"), &json!("deny"))
    );
    let records = decision["records"].as_array().unwrap();
    assert_eq!(records.len(), 2);
    assert_eq!(
        (&records[0]["handler"], &records[0]["permission"]),
        (&json!("component"), &json!("deny"))
    );
    assert!(records[0]["fuel"].as_u64().unwrap() > 0);
    assert_eq!(
        (&records[1]["handler"], &records[1]["exitCode"]),
        (&json!("command"), &json!(0))
    );
    let said = place.run(&["run", "--json"], &bash("ls"));
    assert_eq!(
        (said.code, &said.json()["permission"]),
        (Some(0), &Value::Null)
    );
}

#[test]
fn what_is_not_an_event_is_an_error_and_never_an_allow() {
    let place = Place::with(&bash_hooks());
    for (stdin, message, hint) in [
        (
            &b""[..],
            "the event is empty",
            "the event is read from standard input",
        ),
        (b" \n", "the event is empty", ""),
        (
            b"null",
            "the event must be a JSON object, and is null",
            "an event is one JSON object",
        ),
        (
            b"[1]",
            "the event must be a JSON object, and is an array",
            "an event is one JSON object",
        ),
        (
            b"{\"a\":1",
            "the event is not JSON: EOF while parsing an object at line 1, column 6",
            "",
        ),
        (
            b"{}{}",
            "the event is not JSON: trailing characters at line 1, column 3",
            "",
        ),
        (
            b"{}",
            "the event has no name",
            "name the event on the command line",
        ),
    ] {
        place.run(&["run"], stdin).is_error(message, hint);
    }
    place.run(&["run", "Stop"], &bash("ls")).is_error(
        "the event was announced as `Stop`, and its payload says `PreToolUse`",
        "leave the name out",
    );
    place
        .run(
            &["run", "--max-event-size", "1KiB"],
            &bash(&"x".repeat(2000)),
        )
        .is_error(
            "the event is larger than the limit of 1.0 KiB",
            "raise the limit with `--max-event-size`",
        );
}

#[test]
fn odd_payloads_are_decided_like_all_others() {
    let place = Place::with(&bash_hooks());
    let body = |extra: &str| {
        format!(
            r#"{{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"rm -rf /"}}{extra}}}"#
        )
    };
    let deep = format!(r#","x":{}{}"#, "[".repeat(10_000), "]".repeat(10_000));
    for payload in [
        format!("\u{feff}\u{feff}{}", body("")),
        body(r#","x":"\ud800""#),
        body(r#","tool_name":"Bash""#),
        body(r#","x":1e999"#),
        body(&deep),
    ] {
        assert_eq!(
            place.run(&["run"], payload.as_bytes()).code,
            Some(2),
            "{payload:.200}"
        );
    }
}

#[test]
fn an_event_of_100_mib_is_refused_by_default_and_taken_on_request() {
    let place = Place::with(
        &json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "wc -c >&2; exit 2"}]}]}}),
    );
    let payload = json!({"hook_event_name": "Stop", "x": "x".repeat(100 << 20)}).to_string();
    place
        .run(&["run"], payload.as_bytes())
        .is_error("the event is larger than the limit of 64.0 MiB", "raise");
    let said = place.run(&["run", "--max-event-size", "128MiB"], payload.as_bytes());
    assert_eq!(
        (said.code, said.stderr.trim()),
        (Some(2), payload.len().to_string().as_str())
    );
}

#[test]
fn without_any_configuration_there_is_no_opinion() {
    let place = Place::new();
    assert_eq!(
        place.run(&["run", "PreToolUse"], &bash("rm -rf /")),
        Said::silence()
    );
    place
        .run(&["check"], b"")
        .is_error("there is no configuration", "write `.hookcell/hooks.json`");
}

#[test]
fn configurations_are_found_where_users_have_them() {
    let hook = |reason: &str| {
        json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": format!("echo {reason} >&2; exit 2")}]}]}}).to_string()
    };
    let place = Place::new();
    let decide = |arguments: &[&str]| {
        let said = place.run(&[&["run", "Stop"], arguments].concat(), b"{}");
        assert_eq!(said.code, Some(2), "{said:?}");
        said.stderr
    };
    place.write(".config/hookcell/hooks.json", &hook("user"));
    assert_eq!(decide(&[]), "user\n");
    place.write(".hookcell/hooks.json", &hook("project"));
    assert_eq!(decide(&[]), "project\n");
    place.write("elsewhere.json", &hook("named"));
    assert_eq!(decide(&["--config", "elsewhere.json"]), "named\n");
    place.write(
        ".openhands/hooks.json",
        r#"{"stop": [{"hooks": [{"command": "echo openhands >&2; exit 2"}]}]}"#,
    );
    assert_eq!(decide(&["--from", "openhands"]), "openhands\n");
    place.write(".claude/settings.json", &hook("claude"));
    assert_eq!(decide(&["--from", "claude"]), "claude\n");
    place.write(".deepagents/hooks.json", &hook("deepagents"));
    assert_eq!(decide(&["--from", "deepagents"]), "deepagents\n");
}

#[test]
fn an_unusable_configuration_is_an_error() {
    let place = Place::new();
    let said = place.run(&["run", "Stop", "--config", "none.json"], b"{}");
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("none.json"), "{said:?}");
    std::fs::create_dir(place.path().join("folder")).unwrap();
    for (name, text) in [
        ("empty.json", ""),
        ("comments.json", "// no\n{}"),
        ("cut.json", "{\"hooks\": {"),
        ("list.json", "[]"),
    ] {
        place.write(name, text);
    }
    for name in [
        "folder",
        "empty.json",
        "comments.json",
        "cut.json",
        "list.json",
    ] {
        for command in ["run", "check"] {
            let arguments: Vec<&str> = if command == "run" {
                vec!["run", "Stop", "--config", name]
            } else {
                vec!["check", name]
            };
            let said = place.run(&arguments, b"{}");
            assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""), "{said:?}");
            assert!(
                said.stderr.starts_with("error: ") && said.stderr.contains(name),
                "{said:?}"
            );
        }
    }
}

#[test]
fn one_bad_entry_is_told_and_the_others_run() {
    let place = Place::with(&json!({"hooks": {"Stop": [{"hooks": [
        {"type": "command", "command": "echo good >&2; exit 2"},
        {"type": "command", "command": "echo bad >&2; exit 2", "timeout": "soon"},
    ]}]}}));
    let said = place.run(&["run", "Stop"], b"{}");
    assert_eq!(
        (said.code, said.stderr.as_str()),
        (Some(2), "good\n"),
        "the reason of a block, and nothing else"
    );
    assert!(
        said.json()["systemMessage"]
            .as_str()
            .unwrap()
            .contains("1 mistake in the configuration"),
        "{said:?}"
    );
    let said = place.run(&["check"], b"");
    assert_eq!(said.code, Some(1));
    let unblocked = Place::with(&json!({"hooks": [{"command": "true", "timeout": "soon"}]}))
        .run(&["run", "Stop"], b"{}");
    assert!(
        unblocked.code == Some(0)
            && unblocked.stderr.contains("hooks.json:")
            && unblocked.stderr.contains(": error: "),
        "{unblocked:?}"
    );
    assert!(
        said.stdout.contains("\"soon\"") && said.stdout.ends_with("1 hook, 1 error, 0 warnings\n"),
        "{said:?}"
    );
}

#[test]
fn check_compiles_components_and_holds_their_pins() {
    let place = Place::with(&json!({"hooks": {"Stop": [{"hooks": [
        {"type": "component", "component": SCRIPTED},
        {"type": "component", "component": "missing.wasm"},
        {"type": "component", "component": SCRIPTED, "sha256": "0".repeat(64)},
        {"type": "component", "component": "zero.wasm"},
    ]}]}}));
    let module =
        wat::parse_str(r#"(module (memory (export "memory") 1) (func (export "_start")))"#)
            .unwrap();
    std::fs::write(place.path().join(".hookcell/zero.wasm"), module).unwrap();
    let said = place.run(&["check"], b"");
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.stdout.contains("missing.wasm` does not exist"),
        "{}",
        said.stdout
    );
    assert!(said.stdout.contains("digest-mismatch"), "{}", said.stdout);
    assert!(
        said.stdout.contains("zero.wasm` cannot exit with 2"),
        "{}",
        said.stdout
    );
    assert!(
        said.stdout.ends_with("4 hooks, 2 errors, 1 warning\n"),
        "{}",
        said.stdout
    );
    let clean = Place::with(&bash_hooks());
    let said = clean.run(&["check"], b"");
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    assert!(
        said.stdout
            .ends_with("hooks.json: 2 hooks, 0 errors, 0 warnings\n"),
        "{}",
        said.stdout
    );
}

#[test]
fn inspect_says_what_a_file_is() {
    let place = Place::new();
    let said = place.run(&["inspect", "builtin:block-dangerous-commands"], b"");
    assert_eq!(said.code, Some(0), "{said:?}");
    for line in [
        "kind      component (WASI 0.2)",
        "  any, 2 (block) among them",
        "It can be a hook.",
    ] {
        assert!(
            said.stdout.lines().any(|it| it == line),
            "{line}: {}",
            said.stdout
        );
    }
    let said = place.run(&["inspect", SCRIPTED, "--json"], b"");
    assert_eq!(
        (
            &said.json()["shape"]["kind"],
            &said.json()["shape"]["exitCodes"]
        ),
        (&json!("component"), &json!("any"))
    );
    place.write("text.wasm", "hello");
    let said = place.run(&["inspect", "text.wasm"], b"");
    assert_eq!(
        said.stderr,
        "error: `text.wasm`: this is not WebAssembly: a .wasm file begins with the bytes 00 61 73 6d\n"
    );
    assert_eq!(said.code, Some(1));
    let component =
        wat::parse_str(r#"(component (import "wasi:http/types@0.2.0" (instance)))"#).unwrap();
    std::fs::write(place.path().join("http.wasm"), component).unwrap();
    let said = place.run(&["inspect", "http.wasm"], b"");
    assert_eq!(said.code, Some(1));
    let lines = [
        "asks for",
        "  HTTP requests, only to the hosts that `permissions.network` names",
        "    wasi:http/types@0.2.0",
        "",
        "must be granted, in the hook's `permissions`",
        "  \"network\": [\"HOST:PORT\"]",
    ];
    assert!(said.stdout.contains(&lines.join("\n")), "{}", said.stdout);
    assert_eq!(
        place.run(&["inspect", "builtin:nothing"], b"").code,
        Some(1)
    );
}

#[test]
fn test_shows_one_run_whole() {
    let place = Place::new();
    place.write("event.json", r#"{"hook_event_name":"PreToolUse"}"#);
    let test = |more: &[&str]| {
        place.run(
            &[&["test", SCRIPTED, "--event", "event.json"], more].concat(),
            b"",
        )
    };
    let said = test(&[
        "--arg",
        r#"stdout={"decision":"block","reason":"no"}"#,
        "--arg",
        "stderr=why\nthus",
        "--arg",
        "exit=2",
    ]);
    assert_eq!(said.code, Some(0), "{said:?}");
    for line in [
        "event     PreToolUse",
        "verdict   deny",
        "reason    no",
        "exit      2",
        "stderr    8 bytes",
        "  | thus",
    ] {
        assert!(
            said.stdout.lines().any(|it| it == line),
            "{line}: {}",
            said.stdout
        );
    }
    for name in ["time", "fuel", "memory"] {
        assert!(
            said.stdout
                .lines()
                .any(|it| it.starts_with(&format!("{name:<9} "))),
            "{name}: {}",
            said.stdout
        );
    }
    let said = test(&["--arg", "spin", "--fuel", "1000000"]);
    assert_eq!(said.code, Some(1));
    assert!(
        said.stdout
            .contains("verdict   failure (out-of-fuel)\nwhy       1000000 fuel is used"),
        "{}",
        said.stdout
    );
    let said = test(&["--fuel", "0"]);
    assert_eq!(said.code, Some(1));
    assert!(said.stderr.starts_with("error: "), "{said:?}");
    assert_eq!(
        place
            .run(&["test", SCRIPTED, "--event", "none.json"], b"")
            .code,
        Some(1)
    );
    let said = place.run(
        &[
            "test",
            SCRIPTED,
            "--event",
            "-",
            "--event-name",
            "Stop",
            "--json",
        ],
        b"{}",
    );
    assert_eq!(
        (said.code, &said.json()["event"]),
        (Some(0), &json!("Stop"))
    );
}

#[test]
fn schema_is_the_committed_one() {
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/hooks.schema.json");
    let said = Place::new().run(&["schema"], b"");
    assert_eq!(
        said.json(),
        serde_json::from_str::<Value>(&std::fs::read_to_string(committed).unwrap()).unwrap()
    );
}

#[test]
fn demo_decides_six_events() {
    let said = Place::new().run(&["demo"], b"");
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{said:?}");
    let count = |word: &str| said.stdout.matches(word).count();
    assert_eq!(
        (count("┆ blocked "), count("┆ goes on ")),
        (4, 1),
        "{}",
        said.stdout
    );
    for word in [
        "timed-out",
        "out-of-memory",
        "goes on, with context",
        "no-force-push.sh",
        "block-dangerous-commands",
    ] {
        assert!(count(word) >= 1, "{word}: {}", said.stdout);
    }
    let shown = Place::new().run(&["demo", "--show"], b"").json();
    assert!(shown["hooks"]["PreToolUse"].is_array());
}

#[test]
fn a_mistyped_argument_is_no_block() {
    let place = Place::new();
    for arguments in [
        &["run", "--no-such-flag"][..],
        &["no-such-command"],
        &["run", "--max-event-size", "many"],
        &[],
    ] {
        let said = place.run(arguments, b"");
        assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""), "{said:?}");
        assert!(!said.stderr.is_empty());
    }
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["help", "run"],
        &["run", "--help"],
    ] {
        let said = place.run(arguments, b"");
        assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{said:?}");
        assert!(!said.stdout.contains('\u{1b}'), "no colours into a pipe");
    }
}

#[test]
fn a_reader_that_is_gone_is_no_crash() {
    let place = Place::with(&bash_hooks());
    for arguments in [
        &["schema"][..],
        &["--help"],
        &["demo", "--show"],
        &["run", "PreToolUse"],
    ] {
        let mut child = place.command(arguments).spawn().unwrap();
        drop(child.stdout.take());
        drop(
            child
                .stdin
                .take()
                .map(|mut stdin| stdin.write_all(&bash("rm -rf /"))),
        );
        let said = Said::new(child.wait_with_output().unwrap());
        // A block stays a block, even if nobody reads the JSON.
        let expected = if arguments[0] == "run" {
            Some(2)
        } else {
            Some(0)
        };
        assert_eq!(said.code, expected, "{arguments:?} {said:?}");
        assert!(!said.stderr.contains("panicked"), "{said:?}");
    }
}

#[test]
fn a_hook_that_leaves_work_behind_does_not_hold_the_answer() {
    let place = Place::with(&json!({"hooks": {"Stop": [{"hooks": [
        {"type": "command", "command": "sleep 60 & echo '{\"systemMessage\": \"at once\"}'"}]}]}}));
    let started = Instant::now();
    let said = place.run(&["run", "Stop"], b"{}");
    assert_eq!(said.json(), json!({"systemMessage": "at once"}));
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn being_ended_ends_the_hooks() {
    let place = Place::with(&json!({"hooks": {"Stop": [{"hooks": [
        {"type": "command", "command": "echo $$ > pid; sleep 120"}]}]}}));
    let mut child = place.command(&["run", "Stop"]).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"{}").unwrap();
    let pid_file = place.path().join("pid");
    let pid = wait_for(|| {
        std::fs::read_to_string(&pid_file)
            .ok()
            .filter(|pid| pid.ends_with('\n'))
    });
    let hook = Path::new("/proc").join(pid.trim());
    assert!(hook.exists());
    let killed = Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    wait_for(|| (!hook.exists()).then_some(()));
}

fn wait_for<T>(mut ready: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = ready() {
            return value;
        }
        assert!(started.elapsed() < Duration::from_secs(30), "it never came");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn test_tells_what_was_denied_and_what_would_grant_it() {
    let place = Place::new();
    place.write("event.json", r#"{"hook_event_name": "PreToolUse"}"#);
    let environment = ["--arg", "environment", "--arg", "environment"];
    let said = place.run(
        &[
            &["test", SCRIPTED, "--event", "event.json"][..],
            &environment[..],
        ]
        .concat(),
        b"",
    );
    let lines = [
        "denied    variables: it asks for the environment, which is empty",
        "          granted by \"permissions\": {\"environment\": [\"NAME\"]}",
    ];
    assert!(said.stdout.contains(&lines.join("\n")), "{said:?}");
    let granted = [
        "test",
        SCRIPTED,
        "--event",
        "event.json",
        "--environment",
        "HOME",
    ];
    let said = place.run(&[&granted[..], &environment[..]].concat(), b"");
    assert!(!said.stdout.contains("variables"), "{said:?}");
}
