//! hooks.json as users write it: every field, every shape, every mistake, of every agent.
#![allow(clippy::panic, reason = "a test says by panicking that it fails")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use hookcell::config::{
    self, Access, CommandLine, ComponentSource, Configuration, FilesystemGrant, Handler, Hook,
    Limits, OnFailure, Severity, Shell,
};
use hookcell::dialect::Dialect;
use serde_json::{Value, json};

/// Every field of an own file, each with a value that is not its default.
const EVERYTHING: &str = include_str!("config/everything.json");

/// Every kind of mistake, among hooks that are right.
const MISTAKES: &str = include_str!("config/mistakes.json");

fn parse_as(dialect: Dialect, name: &str, text: &str) -> Configuration {
    Configuration::parse(text.as_bytes(), Path::new(name), dialect)
        .unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn parse(text: &str) -> Configuration {
    parse_as(Dialect::Claude, "hooks.json", text)
}

fn told(configuration: &Configuration) -> Vec<String> {
    configuration
        .diagnostics
        .iter()
        .map(config::Diagnostic::one_line)
        .collect()
}

/// A configuration about which nothing is told.
fn clean(dialect: Dialect, text: &str) -> Configuration {
    let configuration = parse_as(dialect, "hooks.json", text);
    assert_eq!(told(&configuration), [""; 0], "{text}");
    configuration
}

/// The configuration with this one entry on `PreToolUse`, the entry on the second line.
fn with_entry(dialect: Dialect, entry: &str) -> Configuration {
    parse_as(
        dialect,
        "h.json",
        &format!("{{\"hooks\": {{\"PreToolUse\": [{{\"hooks\": [\n{entry}\n]}}]}}}}"),
    )
}

fn shell(hook: &Hook) -> &str {
    match &hook.handler {
        Handler::Command(command) => match &command.line {
            CommandLine::Shell { script, .. } => script,
            CommandLine::Exec { program, .. } => program,
        },
        other => panic!("{other:?}"),
    }
}

fn component(hook: &Hook) -> &config::Component {
    match &hook.handler {
        Handler::Component(component) => component,
        other => panic!("{other:?}"),
    }
}

/// The names of the events of `hooks` that select it, given this tool.
fn selected<'a>(hook: &Hook, events: &[&'a str], tool: Option<&str>) -> Vec<&'a str> {
    events
        .iter()
        .copied()
        .filter(|event| hook.selector.selects(event, tool))
        .collect()
}

#[test]
fn every_field_is_read() {
    let configuration = clean(Dialect::Claude, EVERYTHING);
    let [legacy, exec, guard, builtin] = &configuration.hooks[..] else {
        panic!("{:?}", configuration.hooks)
    };

    assert_eq!(
        (legacy.label.as_str(), legacy.line, legacy.column),
        ("the old guard", 7, 21)
    );
    assert_eq!(legacy.timeout, Duration::from_millis(2_500));
    assert_eq!(
        (legacy.on_failure, legacy.decides),
        (OnFailure::Continue, true)
    );
    let Handler::Command(command) = &legacy.handler else {
        panic!("{legacy:?}")
    };
    assert_eq!(
        command.line,
        CommandLine::Shell {
            shell: Shell::Bash,
            script: "./legacy.sh --strict".into()
        }
    );
    assert_eq!(
        (command.stdout_limit, command.stderr_limit),
        (2 << 20, 1024)
    );
    assert_eq!(
        command.config.as_deref(),
        Some("{\"b\": 1, \"a\": 2.50}"),
        "as it is written"
    );
    assert_eq!(
        selected(legacy, &["PreToolUse", "PostToolUse"], Some("Bash")),
        ["PreToolUse"]
    );
    assert!(!legacy.selector.selects("PreToolUse", Some("BashOutput")));

    let Handler::Command(command) = &exec.handler else {
        panic!("{exec:?}")
    };
    let args = vec!["-c".into(), "exit 0".into()];
    assert_eq!(
        command.line,
        CommandLine::Exec {
            program: "sh".into(),
            args
        }
    );
    assert_eq!(
        (exec.label.as_str(), exec.timeout),
        ("sh", Duration::from_secs(600))
    );
    assert_eq!(
        (command.stdout_limit, command.stderr_limit),
        (Limits::DEFAULT.stdout, Limits::DEFAULT.stderr)
    );

    assert_eq!(
        (guard.label.as_str(), guard.on_failure),
        ("no-rm.wasm", OnFailure::Block)
    );
    assert_eq!(guard.timeout, Duration::from_secs(5));
    let found = component(guard);
    assert_eq!(
        found.source,
        ComponentSource::File(PathBuf::from("no-rm.wasm"))
    );
    assert_eq!(found.sha256.unwrap()[..4], [0x00, 0xab, 0xcd, 0xef]);
    assert_eq!(found.args, ["--strict"]);
    assert_eq!(
        found.limits,
        Limits {
            fuel: 500_000_000,
            memory: 64 << 20,
            stdout: 1 << 20,
            stderr: 1 << 16,
            requests: 16,
            bodies: 8 << 20,
            state: 1 << 20
        }
    );
    assert_eq!(
        found.permissions.filesystem,
        [
            FilesystemGrant {
                path: "${workspace}".into(),
                access: Access::Read,
                deny: vec![]
            },
            FilesystemGrant {
                path: "~/notes".into(),
                access: Access::Write,
                deny: vec![]
            },
        ]
    );
    assert_eq!(found.permissions.environment, ["CI"]);
    assert_eq!(found.config.as_deref(), Some(r#"{"patterns": ["rm -rf"]}"#));

    let found = component(builtin);
    assert_eq!(
        found.source,
        ComponentSource::Builtin("require-summary".into())
    );
    assert_eq!(
        (found.limits, builtin.timeout),
        (Limits::DEFAULT, Duration::from_secs(10))
    );
    assert_eq!((found.sha256, &found.config), (None, &None));
    assert!(found.permissions.filesystem.is_empty() && found.permissions.environment.is_empty());
    assert!(builtin.selector.selects("Stop", None));
}

#[test]
fn every_mistake_is_told_with_its_place_and_drops_its_entry_alone() {
    let configuration = parse_as(Dialect::Claude, "mistakes.json", MISTAKES);
    let kept: Vec<&str> = configuration
        .hooks
        .iter()
        .map(|hook| hook.label.as_str())
        .collect();
    assert_eq!(
        kept,
        ["first", "refused", "middle", "blocked matcher", "last"]
    );
    let text: Vec<String> = configuration
        .diagnostics
        .iter()
        .map(config::Diagnostic::plain)
        .collect();
    insta::with_settings!({snapshot_path => "config", prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("mistakes", text.join("\n\n"));
    });
    for diagnostic in &configuration.diagnostics {
        assert!(
            diagnostic
                .plain()
                .contains(&format!("--> {}\n", diagnostic.position())),
            "{}",
            diagnostic.plain()
        );
        let styled = diagnostic.rendered();
        assert!(styled.contains('\u{1b}') && !diagnostic.plain().contains('\u{1b}'));
    }
}

#[test]
fn a_wrong_value_is_told_exactly() {
    let command = |field: &str| format!(r#"{{"command": "x", {field}}}"#);
    let component = |field: &str| format!(r#"{{"component": "x.wasm", {field}}}"#);
    const SECONDS: &str = "a number of seconds, greater than 0 and at most 86400";
    const OUTPUT: &str =
        r#"a size from 1.0 KiB to 64.0 MiB: a number of bytes, or a string such as "64MiB""#;
    const MEMORY: &str =
        r#"a size from 64.0 KiB to 4.0 GiB: a number of bytes, or a string such as "64MiB""#;
    const FUEL: &str = "a whole number from 1 to 1000000000000000";
    const COMMAND: &str =
        "a string for the shell that is not empty, or a list of strings, the program first";
    const COMPONENT: &str = "the path of a WebAssembly file, or `builtin:` and a name";
    const DIGEST: &str = "64 hexadecimal digits in a string, as `sha256sum` prints them";
    const FOLDER: &str = "the path of a folder; it may begin with `${workspace}`, `${home}` or `~`";
    const VARIABLE: &str = "the name of a variable: not empty, and without `=`";
    for (entry, column, path, expected, found, hint) in [
        (
            command(r#""timeout": "5""#),
            29,
            "timeout",
            SECONDS,
            r#"the string "5""#,
            r#"write 5 instead of "5""#,
        ),
        (
            command(r#""timeout": "soon""#),
            29,
            "timeout",
            SECONDS,
            r#"the string "soon""#,
            "",
        ),
        (
            command(r#""timeout": 0"#),
            29,
            "timeout",
            SECONDS,
            "the number 0",
            "",
        ),
        (
            command(r#""timeout": -1.5"#),
            29,
            "timeout",
            SECONDS,
            "the number -1.5",
            "",
        ),
        (
            command(r#""timeout": 1e9"#),
            29,
            "timeout",
            SECONDS,
            "the number 1e9",
            "",
        ),
        (
            command(r#""timeout": 1e999"#),
            29,
            "timeout",
            SECONDS,
            "the number 1e999",
            "",
        ),
        (
            command(r#""timeout": true"#),
            29,
            "timeout",
            SECONDS,
            "true",
            "",
        ),
        (
            command(r#""timeout": null"#),
            29,
            "timeout",
            SECONDS,
            "null",
            "",
        ),
        (
            command(r#""timeout": [5]"#),
            29,
            "timeout",
            SECONDS,
            "a list",
            "",
        ),
        (
            command(r#""name": 5"#),
            26,
            "name",
            "a string",
            "the number 5",
            "",
        ),
        (
            command(r#""args": "-v""#),
            26,
            "args",
            "a list",
            r#"the string "-v""#,
            "",
        ),
        (
            command(r#""args": ["a", 5]"#),
            32,
            "args[1]",
            "a string",
            "the number 5",
            "",
        ),
        (
            command(r#""shell": "zsh""#),
            27,
            "shell",
            r#""sh", "bash" or "powershell""#,
            r#"the string "zsh""#,
            "",
        ),
        (
            command(r#""onFailure": "blok""#),
            31,
            "onFailure",
            r#""continue" or "block""#,
            r#"the string "blok""#,
            "",
        ),
        (
            command(r#""onFailure": true"#),
            31,
            "onFailure",
            r#""continue" or "block""#,
            "true",
            "",
        ),
        (
            command(r#""once": "true""#),
            26,
            "once",
            "true or false",
            r#"the string "true""#,
            r#"write true instead of "true""#,
        ),
        (
            command(r#""async": 1"#),
            27,
            "async",
            "true or false",
            "the number 1",
            "",
        ),
        (
            command(r#""statusMessage": []"#),
            35,
            "statusMessage",
            "a string",
            "a list",
            "",
        ),
        (
            command(r#""config": "a""#),
            28,
            "config",
            "an object",
            r#"the string "a""#,
            "",
        ),
        (
            command(r#""limits": [1, 2]"#),
            28,
            "limits",
            "an object",
            "a list",
            "",
        ),
        (
            command(r#""limits": {"stdout": 5}"#),
            39,
            "limits.stdout",
            OUTPUT,
            "the number 5",
            "",
        ),
        (
            command(r#""limits": {"stderr": "1 GiB"}"#),
            39,
            "limits.stderr",
            OUTPUT,
            r#"the string "1 GiB""#,
            "",
        ),
        (
            component(r#""limits": {"memory": "64 apples"}"#),
            46,
            "limits.memory",
            MEMORY,
            r#"the string "64 apples""#,
            "",
        ),
        (
            component(r#""limits": {"memory": "-64MiB"}"#),
            46,
            "limits.memory",
            MEMORY,
            r#"the string "-64MiB""#,
            "",
        ),
        (
            component(r#""limits": {"memory": 1.5}"#),
            46,
            "limits.memory",
            MEMORY,
            "the number 1.5",
            "",
        ),
        (
            component(r#""limits": {"memory": "5GiB"}"#),
            46,
            "limits.memory",
            MEMORY,
            r#"the string "5GiB""#,
            "",
        ),
        (
            component(r#""limits": {"fuel": 0}"#),
            44,
            "limits.fuel",
            FUEL,
            "the number 0",
            "",
        ),
        (
            component(r#""limits": {"fuel": -1}"#),
            44,
            "limits.fuel",
            FUEL,
            "the number -1",
            "",
        ),
        (
            component(r#""limits": {"fuel": 1e16}"#),
            44,
            "limits.fuel",
            FUEL,
            "the number 1e16",
            "",
        ),
        (
            component(r#""limits": {"fuel": "9"}"#),
            44,
            "limits.fuel",
            FUEL,
            r#"the string "9""#,
            r#"write 9 instead of "9""#,
        ),
        (
            component(r#""sha256": "abc""#),
            35,
            "sha256",
            DIGEST,
            r#"the string "abc""#,
            "",
        ),
        (
            component(r#""permissions": true"#),
            40,
            "permissions",
            "an object",
            "true",
            "",
        ),
        (
            component(r#""permissions": {"filesystem": {}}"#),
            55,
            "permissions.filesystem",
            "a list",
            "an object",
            "",
        ),
        (
            component(r#""permissions": {"filesystem": ["/"]}"#),
            56,
            "permissions.filesystem[0]",
            "an object with `path` and `access`",
            r#"the string "/""#,
            "",
        ),
        (
            component(r#""permissions": {"filesystem": [{"path": "/", "access": "rw"}]}"#),
            80,
            "permissions.filesystem[0].access",
            r#""read" or "write""#,
            r#"the string "rw""#,
            "",
        ),
        (
            component(
                r#""permissions": {"filesystem": [{"path": "${root}/a", "access": "read"}]}"#,
            ),
            65,
            "permissions.filesystem[0].path",
            FOLDER,
            r#"the string "${root}/a""#,
            "",
        ),
        (
            component(r#""permissions": {"environment": ["A=B"]}"#),
            57,
            "permissions.environment[0]",
            VARIABLE,
            r#"the string "A=B""#,
            "",
        ),
        (
            r#"{"command": ""}"#.into(),
            13,
            "command",
            COMMAND,
            r#"the string """#,
            "",
        ),
        (
            r#"{"command": []}"#.into(),
            13,
            "command",
            COMMAND,
            "a list",
            "",
        ),
        (
            r#"{"command": 5}"#.into(),
            13,
            "command",
            COMMAND,
            "the number 5",
            "",
        ),
        (
            r#"{"component": "builtin:"}"#.into(),
            15,
            "component",
            COMPONENT,
            r#"the string "builtin:""#,
            "",
        ),
        (
            r#"{"component": "a\u0000b"}"#.into(),
            15,
            "component",
            COMPONENT,
            r#"the string "a\u{0}b""#,
            "",
        ),
        (
            r#"{"type": "comand", "command": "x"}"#.into(),
            10,
            "type",
            r#""command" or "component""#,
            r#"the string "comand""#,
            "",
        ),
        (
            r#"{"type": null, "command": "x"}"#.into(),
            10,
            "type",
            r#""command" or "component""#,
            "null",
            "",
        ),
    ] {
        let configuration = with_entry(Dialect::Claude, &entry);
        let hint = if hint.is_empty() {
            String::new()
        } else {
            format!(" (hint: {hint})")
        };
        let expected =
            format!("h.json:2:{column}: error: `{path}` must be {expected}; found {found}{hint}");
        assert_eq!(told(&configuration), [expected], "{entry}");
        let is_guard = entry.contains("onFailure");
        assert_eq!(configuration.hooks.len(), usize::from(is_guard), "{entry}");
    }
}

#[test]
fn grants_and_sandboxes_are_read() {
    let grants = component(
        &clean(
            Dialect::Claude,
            r#"{"hooks": {"Stop": [{"hooks": [{"component": "x.wasm",
                "limits": {"requests": 3, "bodies": "2MiB", "state": 4096},
                "permissions": {
                    "filesystem": [{"path": "a", "access": "read", "deny": ["*.pem", "/b/"]}],
                    "network": ["API.Example.com:443", "127.0.0.1:80", "[::0001]:8080", "a_b:65535"],
                    "state": true, "clock": "fixed", "random": "seeded"}}]}]}}"#,
        )
        .hooks[0],
    )
    .clone();
    assert_eq!(
        (
            grants.limits.requests,
            grants.limits.bodies,
            grants.limits.state
        ),
        (3, 2 << 20, 4096)
    );
    let permissions = grants.permissions;
    assert_eq!(permissions.filesystem[0].deny, ["*.pem", "/b/"]);
    let network: Vec<String> = permissions
        .network
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        network,
        [
            "api.example.com:443",
            "127.0.0.1:80",
            "[::1]:8080",
            "a_b:65535"
        ]
    );
    assert!(permissions.state);
    assert_eq!(
        (permissions.clock, permissions.random),
        (config::Clock::Fixed, config::Random::Seeded)
    );

    let configuration = clean(
        Dialect::Claude,
        r#"{"hooks": {"Stop": [{"hooks": [
            {"command": "x", "limits": {"memory": "1GiB"}, "sandbox": {
                "filesystem": [{"path": "~", "access": "write"}], "environment": ["CI"],
                "network": ["*:443", "*:1"], "bestEffort": true}},
            {"command": "x", "sandbox": {}},
            {"command": "x"}]}]}}"#,
    );
    let sandboxes: Vec<_> = configuration
        .hooks
        .iter()
        .map(|hook| match &hook.handler {
            Handler::Command(command) => command.sandbox.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        sandboxes,
        [
            Some(config::Sandbox {
                filesystem: vec![FilesystemGrant {
                    path: "~".into(),
                    access: Access::Write,
                    deny: vec![],
                }],
                environment: vec!["CI".into()],
                ports: vec![443, 1],
                memory: Some(1 << 30),
                best_effort: true,
            }),
            Some(config::Sandbox::default()),
            None,
        ]
    );
}

#[test]
fn a_wrong_grant_is_told() {
    const HOST: &str = "a host and its port, such as `api.example.com:443` or `127.0.0.1:8080`";
    const PORT: &str = "`*:` and a port, such as `*:443`; the kernel knows ports, not hosts";
    let grant = |member: &str| format!(r#"{{"component": "x.wasm", "permissions": {{{member}}}}}"#);
    for host in [
        "example.com",
        "example.com:",
        "example.com:0",
        "example.com:65536",
        "example.com:+80",
        "*.example.com:443",
        "https://example.com:443",
        "user@example.com:443",
        ":443",
        "::1:443",
        "[::1:443",
        "127.1:80",
        "0x7f000001:80",
        "2130706433:80",
        "ex ample.com:80",
        "example..com:80",
    ] {
        assert_eq!(
            told(&with_entry(
                Dialect::Claude,
                &grant(&format!(r#""network": ["{host}"]"#))
            )),
            [format!(
                "h.json:2:53: error: `permissions.network[0]` must be {HOST}; found the string \"{host}\""
            )]
        );
    }
    for (member, expected) in [
        (
            r#""clock": "slow""#,
            r#"50: error: `permissions.clock` must be "real", "coarse" or "fixed"; found the string "slow""#,
        ),
        (
            r#""random": 4"#,
            r#"51: error: `permissions.random` must be "real" or "seeded"; found the number 4"#,
        ),
        (
            r#""state": "yes""#,
            r#"50: error: `permissions.state` must be true or false; found the string "yes""#,
        ),
    ] {
        assert_eq!(
            told(&with_entry(Dialect::Claude, &grant(member))),
            [format!("h.json:2:{expected}")]
        );
    }
    for (entry, expected) in [
        (
            r#"{"command": "x", "sandbox": {"network": ["example.com:443"]}}"#.to_owned(),
            format!("42: error: `sandbox.network[0]` must be {PORT}; found the string \"example.com:443\""),
        ),
        (
            r#"{"command": "x", "sandbox": {"filesystem": [{"path": "/", "access": "read", "deny": ["a"]}]}}"#.to_owned(),
            "29: error: `deny` is for components; the kernel cannot except a part of a folder from a command (hint: grant only the folders that it may touch, or make it a component)".to_owned(),
        ),
        (
            r#"{"component": "x.wasm", "sandbox": {}}"#.to_owned(),
            "25: error: `sandbox` is for commands; a component always runs in one (hint: grant what it may touch in `permissions`)".to_owned(),
        ),
        (
            r#"{"command": "x", "limits": {"memory": "1GiB"}}"#.to_owned(),
            "29: error: `limits.memory` is for components and for commands with a `sandbox` (hint: add `\"sandbox\": {}`, make it a component, or remove this)".to_owned(),
        ),
        (
            r#"{"command": "x", "limits": {"state": 2000}}"#.to_owned(),
            "29: error: `limits.state` is for components; a command's work is not bounded (hint: make it a component, or remove this)".to_owned(),
        ),
    ] {
        assert_eq!(
            told(&with_entry(Dialect::Claude, &entry)),
            [format!("h.json:2:{expected}")]
        );
    }
}

#[test]
fn what_does_not_fit_together_is_told_exactly() {
    for (entry, message) in [
        (
            "5",
            "1: error: a hook must be an object; found the number 5 (hint: write {\"type\": \"command\", \"command\": \"…\"})",
        ),
        (
            "{}",
            "1: error: the hook has neither `command` nor `component` (hint: write \"command\": \"…\", or \"component\": \"….wasm\")",
        ),
        (
            r#"{"type": "command"}"#,
            "1: error: a hook of type \"command\" must have a `command` (hint: write \"command\": \"…\")",
        ),
        (
            r#"{"type": "component", "command": "x"}"#,
            "1: error: a hook of type \"component\" must have a `component` (hint: write \"component\": \"….wasm\")",
        ),
        (
            r#"{"command": "x", "component": "y"}"#,
            "1: error: the hook has both `command` and `component` (hint: make them two hooks)",
        ),
        (
            r#"{"type": "command", "command": "x", "component": "y"}"#,
            "37: error: a hook of type \"command\" has no `component` (hint: make them two hooks)",
        ),
        (
            r#"{"type": "http", "url": "https://a", "headers": {}}"#,
            "10: error: hooks of type \"http\" are not supported by this version (hint: the types are \"command\" and \"component\")",
        ),
        (
            r#"{"command": "x", "if": "Bash(git *)"}"#,
            "18: error: `if` is not supported by this version, and the hook is not run as if it had none (hint: narrow the `matcher`, or let the hook itself look at the event)",
        ),
        (
            r#"{"command": "x", "async": true}"#,
            "18: error: hooks in the background are not supported by this version (hint: remove it, and the hook runs in the foreground)",
        ),
        (
            r#"{"command": "x", "asyncRewake": true}"#,
            "18: error: hooks in the background are not supported by this version (hint: remove it, and the hook runs in the foreground)",
        ),
        (
            r#"{"command": "x", "permissions": {}}"#,
            "18: error: `permissions` are for components; a command has all rights of the user (hint: make it a component, or remove this)",
        ),
        (
            r#"{"command": "x", "limits": {"fuel": 5}}"#,
            "29: error: `limits.fuel` is for components; a command's work is not bounded (hint: make it a component, or remove this)",
        ),
        (
            r#"{"component": "x", "shell": "bash"}"#,
            "20: error: `shell` is for commands; a component is started without one (hint: remove it)",
        ),
        (
            r#"{"component": "a.cwasm"}"#,
            "15: error: `component` is precompiled code, which is never accepted (hint: name the .wasm file that it was made from; hookcell compiles it once and keeps the result)",
        ),
        (
            r#"{"component": "${HOME}/a.wasm"}"#,
            "15: error: `component` begins with a placeholder that is unknown, or without a `/` behind it (hint: the placeholders are ${workspace}/ and ${CLAUDE_PROJECT_DIR}/)",
        ),
        (
            r#"{"component": "a.wasm", "permissions": {"filesystem": [{"path": "/"}]}}"#,
            "56: error: `permissions.filesystem[0]` has no `access`",
        ),
    ] {
        let configuration = with_entry(Dialect::Claude, entry);
        assert_eq!(
            told(&configuration),
            [format!("h.json:2:{message}")],
            "{entry}"
        );
        assert!(configuration.hooks.is_empty(), "{entry}");
    }
}

#[test]
fn warnings_drop_nothing() {
    for (entry, message) in [
        (
            r#"{"command": "x", "tiemout": 5}"#,
            "18: warning: `tiemout` is unknown, and ignored (hint: did you mean `timeout`?)",
        ),
        (
            r#"{"command": "x", "onfailure": "block"}"#,
            "18: warning: `onfailure` is unknown, and ignored (hint: did you mean `onFailure`?)",
        ),
        (
            r#"{"command": "x", "\u001b[31m": 5}"#,
            "18: warning: `\\u{1b}[31m` is unknown, and ignored",
        ),
        (
            r#"{"component": "x", "limits": {"ram": 5}}"#,
            "31: warning: `ram` is unknown, and ignored",
        ),
        (
            r#"{"command": "x", "matcher": "Bash"}"#,
            "18: warning: `matcher` is unknown, and ignored (hint: `matcher` belongs beside the `hooks` of a group)",
        ),
        (
            r#"{"command": "x", "once": true}"#,
            "18: warning: `once` is ignored, as the Claude contract has it for settings files",
        ),
        (
            r#"{"command": "x", "events": ["Stop"]}"#,
            "18: warning: `events` is for lists of hooks, and ignored here",
        ),
        (
            r#"{"command": "y", "timeout": 5, "command": "x"}"#,
            "32: warning: `command` is here for a second time; the last one counts (hint: remove one of them)",
        ),
        (
            r#"{"command": ["x"], "shell": "bash"}"#,
            "20: warning: `shell` is ignored: a program with arguments is started without a shell",
        ),
    ] {
        let configuration = with_entry(Dialect::Claude, entry);
        assert_eq!(
            told(&configuration),
            [format!("h.json:2:{message}")],
            "{entry}"
        );
        assert_eq!(configuration.hooks.len(), 1, "{entry}");
        assert!(configuration.hooks[0].label == "x", "{entry}");
    }
}

#[test]
fn all_that_is_wrong_with_an_entry_is_told_at_once() {
    let configuration = with_entry(
        Dialect::Claude,
        r#"{"component": "x.wasm", "timeout": 0, "limits": {"fuel": 0, "memory": 1}, "permissions": {"filesystem": [{"path": ""}, 5]}, "name": [], "if": "x"}"#,
    );
    let columns: Vec<usize> = configuration
        .diagnostics
        .iter()
        .map(|it| it.column)
        .collect();
    assert_eq!(
        columns,
        [36, 58, 71, 115, 120, 133, 137],
        "{:#?}",
        told(&configuration)
    );
}

#[test]
fn a_guard_with_a_mistake_blocks_and_does_not_vanish() {
    for (entry, stays) in [
        (
            r#"{"command": "x", "timeout": 0, "onFailure": "block"}"#,
            true,
        ),
        (
            r#"{"command": "x", "timeout": 0, "onFailure": "continue"}"#,
            false,
        ),
        (r#"{"command": "x", "timeout": 0}"#, false),
        (r#"{"command": "x", "onFailure": "Block"}"#, true),
        (r#"{"command": "x", "onFailure": null}"#, true),
        (
            r#"{"type": "http", "url": "x", "onFailure": "block"}"#,
            true,
        ),
        (r#"{"onFailure": "block"}"#, true),
        (
            r#"{"command": "x", "if": "Bash(*)", "onFailure": "block"}"#,
            true,
        ),
        (
            r#"{"onFailure": "continue", "command": 5, "onFailure": "block"}"#,
            true,
        ),
    ] {
        let configuration = with_entry(Dialect::Claude, entry);
        assert_eq!(configuration.hooks.len(), usize::from(stays), "{entry}");
        let Some(hook) = configuration.hooks.first() else {
            continue;
        };
        let Handler::Refused(message) = &hook.handler else {
            panic!("{entry}: {hook:?}")
        };
        let first = configuration
            .diagnostics
            .iter()
            .find(|it| it.severity == Severity::Error)
            .unwrap();
        assert_eq!(*message, format!("{}: {}", first.position(), first.message));
        assert_eq!(
            (hook.on_failure, hook.line, hook.column),
            (OnFailure::Block, 2, 1)
        );
        assert_eq!(
            selected(hook, &["PreToolUse", "Stop"], Some("Bash")),
            ["PreToolUse"]
        );
    }
}

#[test]
fn a_group_with_a_bad_matcher_keeps_its_guards_for_every_tool() {
    let text = |matcher: &str| {
        format!(
            r#"{{"hooks": {{"PreToolUse": [
{{"matcher": {matcher}, "hooks": [{{"command": "a"}}, {{"command": "b", "onFailure": "block"}}]}}, {{"hooks": [{{"command": "c"}}]}}]}}}}"#
        )
    };
    for (matcher, position, message) in [
        (
            r#""Bash(""#,
            "2:18",
            "`matcher` is not a valid regular expression: unbalanced parenthesis",
        ),
        (
            r#""\\d\u00e4\ud83d\ude42(""#,
            "2:35",
            "`matcher` is not a valid regular expression: unbalanced parenthesis",
        ),
        (
            "5",
            "2:13",
            "`matcher` must be a string; found the number 5",
        ),
        ("null", "2:13", "`matcher` must be a string; found null"),
        (
            r#"["Bash"]"#,
            "2:13",
            "`matcher` must be a string; found a list",
        ),
    ] {
        let configuration = parse(&text(matcher));
        let [diagnostic] = &configuration.diagnostics[..] else {
            panic!("{:?}", told(&configuration))
        };
        assert_eq!(
            (diagnostic.position(), diagnostic.message.as_str()),
            (format!("hooks.json:{position}"), message)
        );
        let [guard, other] = &configuration.hooks[..] else {
            panic!("{:?}", configuration.hooks)
        };
        assert!(matches!(&guard.handler, Handler::Refused(_)) && guard.label == "b");
        assert!(guard.selector.selects("PreToolUse", Some("anything")));
        assert_eq!(shell(other), "c");
    }
}

#[test]
fn groups_and_events_of_the_wrong_form_are_told_and_leave_the_rest() {
    let example =
        r#" (hint: write {"matcher": "…", "hooks": [{"type": "command", "command": "…"}]})"#;
    let list = r#" (hint: write [{"matcher": "…", "hooks": […]}])"#;
    for (events, message) in [
        (
            r#"{"PreToolUse": [5]}"#,
            format!("17: error: a group must be an object; found the number 5{example}"),
        ),
        (
            r#"{"PreToolUse": [{"hooks": {}}]}"#,
            format!("27: error: `hooks` of a group must be a list; found an object{example}"),
        ),
        (
            r#"{"PreToolUse": [{}]}"#,
            format!("17: error: the group has no `hooks`, and runs nothing{example}"),
        ),
        (
            r#"{"PreToolUse": [{"command": "x", "onFailure": "block"}]}"#,
            format!("17: error: this is a hook where a group of hooks must be{example}"),
        ),
        (
            r#"{"PreToolUse": {"hooks": []}}"#,
            format!("16: error: `PreToolUse` must be a list of groups; found an object{list}"),
        ),
        (
            r#"{"PreToolUse": null}"#,
            format!("16: error: `PreToolUse` must be a list of groups; found null{list}"),
        ),
    ] {
        let rest = r#""Stop": [{"hooks": [{"command": "kept"}]}]}}"#;
        let text = format!(
            "{{\"hooks\":\n{},\n{rest}",
            events.strip_suffix('}').unwrap()
        );
        let configuration = parse(&text);
        assert_eq!(
            told(&configuration),
            [format!("hooks.json:2:{message}")],
            "{text}"
        );
        assert_eq!(shell(&configuration.hooks[0]), "kept");
    }
    for (text, message) in [
        (
            r#"{"hooks": {"PreToolUse": [{"macher": "x", "hooks": []}]}}"#,
            "28: warning: `macher` is unknown in a group, and ignored (hint: did you mean `matcher`?)",
        ),
        (
            r#"{"hooks": {"PreToolUse": [{"timeout": 5, "hooks": []}]}}"#,
            "28: warning: `timeout` is unknown in a group, and ignored (hint: what is for a single hook belongs into the list `hooks`)",
        ),
        (
            r#"{"hooks": {"PreTolUse": []}}"#,
            "12: warning: `PreTolUse` is not an event of the Claude contract (hint: did you mean `PreToolUse`?)",
        ),
        (
            r#"{"hooks": {"my.event": []}}"#,
            "12: warning: `my.event` is not an event of the Claude contract",
        ),
        (
            r#"{"hooks": {"Stop": [{"matcher": "Bash", "hooks": []}]}}"#,
            "33: warning: `Stop` has nothing to match, so `matcher` is ignored (hint: leave it out)",
        ),
        (
            r#"{"hooks": {"PreToolUse": [{"matcher": " , ", "hooks": []}]}}"#,
            "39: warning: `matcher` matches nothing, so this never runs",
        ),
        (
            r#"{"hooks": {"Stop": [], "Stop": []}}"#,
            "24: warning: `Stop` is here for a second time; the last one counts (hint: remove one of them)",
        ),
        (
            r#"{"hooks": {}, "hoks": 5}"#,
            "15: warning: `hoks` is unknown, and ignored (hint: did you mean `hooks`?)",
        ),
        (
            r#"{"hooks": {}, "Stop": []}"#,
            "15: error: `Stop` stands beside `hooks`, and is ignored (hint: move it into `hooks`)",
        ),
        (
            r#"{"hook": {"PreToolUse": []}}"#,
            "2: error: `hook` is unknown, and ignored (hint: did you mean `hooks`?)",
        ),
        (
            "\u{feff}{\"hooks\": {}}",
            "1: warning: the file begins with a byte order mark, which agents refuse (hint: save it without)",
        ),
    ] {
        assert_eq!(
            told(&parse(text)),
            [format!("hooks.json:1:{message}")],
            "{text}"
        );
    }
    for text in [
        "{}",
        r#"{"hooks": {}}"#,
        r#"{"hooks": []}"#,
        r#"{"$schema": "x", "description": "y", "hooks": {"Stop": []}}"#,
    ] {
        assert!(clean(Dialect::Claude, text).hooks.is_empty());
    }
}

#[test]
fn all_shapes_are_taken_in_all_dialects() {
    let group = r#"[{"matcher": "*", "hooks": [{"command": "x"}]}]"#;
    for dialect in [Dialect::Claude, Dialect::OpenHands, Dialect::Deepagents] {
        for text in [
            format!(r#"{{"hooks": {{"PreToolUse": {group}}}}}"#),
            format!(r#"{{"hooks": {{"pre_tool_use": {group}}}}}"#),
            format!(r#"{{"hooks": {{"preToolUse": {group}}}}}"#),
            format!(r#"{{"PreToolUse": {group}}}"#),
            format!(r#"{{"pre_tool_use": {group}}}"#),
            r#"{"hooks": [{"command": ["x"], "events": ["PreToolUse"]}]}"#.to_owned(),
        ] {
            let configuration = clean(dialect, &text);
            assert_eq!(configuration.hooks.len(), 1, "{text}");
            assert_eq!(
                selected(
                    &configuration.hooks[0],
                    &["PreToolUse", "Stop"],
                    Some("Bash")
                ),
                ["PreToolUse"],
                "{text}"
            );
        }
    }
}

#[test]
fn a_list_of_hooks_in_an_own_file_has_all_fields() {
    let configuration = clean(
        Dialect::Claude,
        r#"{"hooks": [{"command": ["bash", "adapter.sh"], "events": ["session.start"]},
                      {"component": "audit.wasm", "events": ["tool.result", "stop"], "timeout": 3, "onFailure": "block"},
                      {"command": "cat", "events": []}, {"command": "cat"}, {"command": "cat", "events": ["UserPromptSubmit"]}]}"#,
    );
    let events = ["session.start", "tool.result", "Stop", "UserPromptSubmit"];
    let [adapter, audit, all, also_all, prompt] = &configuration.hooks[..] else {
        panic!()
    };
    assert_eq!(selected(adapter, &events, None), ["session.start"]);
    assert_eq!(adapter.label, "bash adapter.sh");
    assert_eq!(
        (adapter.timeout, adapter.decides),
        (Duration::from_secs(600), true)
    );
    assert_eq!(selected(audit, &events, None), ["tool.result", "Stop"]);
    assert_eq!(
        (audit.timeout, audit.on_failure),
        (Duration::from_secs(3), OnFailure::Block)
    );
    assert_eq!(selected(all, &events, None), events);
    assert_eq!(selected(also_all, &events, None), events);
    assert_eq!(prompt.timeout, Duration::from_secs(30));

    for (entry, message) in [
        (
            r#"{"command": "x", "events": "Stop"}"#,
            "18: error: `events` must be a list of event names; found a string (hint: write [\"Stop\"])",
        ),
        (
            r#"{"command": "x", "events": {}}"#,
            "28: error: `events` must be a list of event names; found an object",
        ),
        (
            r#"{"command": "x", "events": [5]}"#,
            "29: error: `events[0]` must be a string; found the number 5",
        ),
        (
            r#"{"command": "x", "events": ["tool.usee"]}"#,
            "29: warning: `tool.usee` is not an event of the Claude contract or of deepagents (hint: did you mean `tool.use`?)",
        ),
    ] {
        let configuration = parse(&format!(
            "{{\"hooks\": [\n{entry}, {{\"command\": \"kept\"}}]}}"
        ));
        assert_eq!(
            told(&configuration),
            [format!("hooks.json:2:{message}")],
            "{entry}"
        );
        assert_eq!(shell(configuration.hooks.last().unwrap()), "kept");
    }
    let refused =
        parse(r#"{"hooks": [{"command": 5, "events": ["Stop", 5], "onFailure": "block"}]}"#);
    assert_eq!(
        selected(&refused.hooks[0], &["Stop", "PreToolUse"], None),
        ["Stop"]
    );
}

#[test]
fn default_timeouts_follow_the_event() {
    for (event, handler, seconds) in [
        ("PreToolUse", "command", 600),
        ("UserPromptSubmit", "command", 30),
        ("PostModelSwitch", "command", 30),
        ("UserPromptSubmit", "component", 10),
        ("Stop", "component", 10),
    ] {
        let configuration = clean(
            Dialect::Claude,
            &format!(r#"{{"hooks": {{"{event}": [{{"hooks": [{{"{handler}": "x"}}]}}]}}}}"#),
        );
        assert_eq!(
            configuration.hooks[0].timeout,
            Duration::from_secs(seconds),
            "{event} {handler}"
        );
    }
    let tiny = with_entry(Dialect::Claude, r#"{"command": "x", "timeout": 1e-12}"#);
    assert_eq!(tiny.hooks[0].timeout, Duration::from_millis(1));
    let long = with_entry(Dialect::Claude, r#"{"command": "x", "timeout": 86400}"#);
    assert_eq!(long.hooks[0].timeout, Duration::from_secs(86_400));
}

#[test]
fn components_are_found_where_the_file_says() {
    let source = |path: &Path, written: &str| {
        let text = json!({"hooks": [{"component": written}]}).to_string();
        let configuration = Configuration::parse(text.as_bytes(), path, Dialect::Claude).unwrap();
        assert_eq!(told(&configuration), [""; 0]);
        component(&configuration.hooks[0]).source.clone()
    };
    let file = |path: &str| ComponentSource::File(PathBuf::from(path));
    let own = Path::new("/project/.hookcell/hooks.json");
    assert_eq!(source(own, "a.wasm"), file("/project/.hookcell/a.wasm"));
    assert_eq!(
        source(own, "../a.wasm"),
        file("/project/.hookcell/../a.wasm")
    );
    assert_eq!(source(own, "/a.wasm"), file("/a.wasm"));
    assert_eq!(
        source(own, "~/a.wasm"),
        ComponentSource::File(std::env::home_dir().unwrap().join("a.wasm"))
    );
    assert_eq!(
        source(own, "builtin:x"),
        ComponentSource::Builtin("x".into())
    );
    for placeholder in ["${workspace}", "${CLAUDE_PROJECT_DIR}"] {
        let source = source(own, &format!("{placeholder}/hooks/a.wasm"));
        assert_eq!(
            source.resolve(Path::new("/other")),
            file("/other/hooks/a.wasm")
        );
    }
    assert_eq!(
        source(own, "a.wasm").resolve(Path::new("/other")),
        file("/project/.hookcell/a.wasm")
    );
    assert_eq!(
        source(Path::new("hooks.json"), "a.wasm").resolve(Path::new("/other")),
        file("/other/a.wasm")
    );

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hooks.json");
    std::fs::write(&path, r#"{"hooks": [{"component": "a.wasm"}]}"#).unwrap();
    let configuration = Configuration::read(&path, Dialect::Claude).unwrap();
    assert_eq!(
        component(&configuration.hooks[0]).source,
        ComponentSource::File(folder.path().join("a.wasm"))
    );
    assert_eq!(configuration.path.as_deref(), Some(path.as_path()));
}

#[test]
fn of_claudes_settings_only_the_hooks_matter() {
    let text = r#"{"model": "opus", "model": "x", "permissions": {"allow": []}, "PreToolUse": [5], "hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}"#;
    for name in [".claude/settings.json", "a/.claude/settings.local.json"] {
        let configuration = parse_as(Dialect::Claude, name, text);
        assert_eq!(
            (told(&configuration).len(), configuration.hooks.len()),
            (0, 1)
        );
        assert!(
            parse_as(Dialect::Claude, name, r#"{"model": "opus"}"#)
                .hooks
                .is_empty()
        );
    }
    assert_eq!(told(&parse(text)).len(), 4);
}

#[test]
fn openhands_files_are_read_as_laxly_as_openhands_reads_them() {
    let seconds = |timeout: &str| {
        let configuration = with_entry(
            Dialect::OpenHands,
            &format!(r#"{{"command": "x", "timeout": {timeout}}}"#),
        );
        let errors = configuration
            .diagnostics
            .iter()
            .filter(|it| it.severity == Severity::Error)
            .count();
        assert_eq!(errors + configuration.hooks.len(), 1, "{timeout}");
        configuration
            .hooks
            .first()
            .map(|hook| hook.timeout.as_secs_f64())
    };
    for (timeout, expected) in [
        ("30", Some(30.0)),
        (r#"" 5 ""#, Some(5.0)),
        ("30.0", Some(30.0)),
        ("true", Some(1.0)),
        ("0", Some(0.001)),
        ("-7", Some(0.001)),
        ("false", Some(0.001)),
        ("1e7", Some(86_400.0)),
        ("null", Some(60.0)),
        (r#""abc""#, None),
        ("[]", None),
    ] {
        assert_eq!(seconds(timeout), expected, "{timeout}");
    }
    for entry in [
        r#"{"command": "x"}"#,
        r#"{"type": "command", "command": "x", "async": false, "max_iterations": 3, "prompt": "", "tools": []}"#,
        r#"{"type": "command", "command": "x", "async": "no", "name": null, "unknown": {"a": [1]}}"#,
    ] {
        let configuration = with_entry(Dialect::OpenHands, entry);
        assert_eq!(told(&configuration), [""; 0], "{entry}");
        assert_eq!(
            (
                shell(&configuration.hooks[0]),
                configuration.hooks[0].timeout
            ),
            ("x", Duration::from_secs(60))
        );
    }
    for (entry, kept, message) in [
        (
            r#"{"command": "x", "async": "yes"}"#,
            false,
            "18: error: hooks in the background are not supported by this version",
        ),
        (
            r#"{"command": "x", "async_": true}"#,
            false,
            "18: error: hooks in the background are not supported by this version",
        ),
        (
            r#"{"type": "prompt", "prompt": "x"}"#,
            false,
            "10: error: hooks of type \"prompt\" are not supported by this version",
        ),
        (
            r#"{"command": ""}"#,
            false,
            "13: error: `command` must be a string for the shell",
        ),
        (
            r#"{"command": "x", "if": "Bash(*)"}"#,
            true,
            "18: warning: OpenHands does not know `if`",
        ),
        (
            r#"{"command": "x", "args": ["y"]}"#,
            true,
            "18: warning: OpenHands does not know `args`",
        ),
    ] {
        let configuration = with_entry(Dialect::OpenHands, entry);
        assert!(
            told(&configuration)[0].starts_with(&format!("h.json:2:{message}")),
            "{:?}",
            told(&configuration)
        );
        assert_eq!(configuration.hooks.len(), usize::from(kept), "{entry}");
    }
}

#[test]
fn openhands_matchers_are_openhands() {
    let configuration = parse_as(
        Dialect::OpenHands,
        ".openhands/hooks.json",
        r#"{"pre_tool_use": [{"matcher": "term.*", "hooks": [{"command": "x"}]}, {"matcher": "[", "hooks": [{"command": "y"}]}],
            "stop": [{"matcher": "x", "hooks": [{"command": "z"}], "unknown": 1}, {}]}"#,
    );
    let [whole, literal, never] = &configuration.hooks[..] else {
        panic!("{:?}", configuration.hooks)
    };
    assert!(
        whole.selector.selects("PreToolUse", Some("terminal"))
            && !whole.selector.selects("PreToolUse", Some("xterm"))
    );
    assert!(literal.selector.selects("PreToolUse", Some("[")));
    assert!(!never.selector.selects("Stop", None));
    let messages = told(&configuration);
    assert_eq!(messages.len(), 2);
    assert!(
        messages[0].contains("OpenHands has nothing to match on `Stop`"),
        "{messages:?}"
    );
    let unknown = parse_as(Dialect::OpenHands, "h.json", r#"{"Notification": []}"#);
    assert_eq!(
        told(&unknown),
        ["h.json:1:2: warning: `Notification` is not an event of OpenHands"]
    );
}

#[test]
fn deepagents_hooks_only_watch() {
    let configuration = parse_as(
        Dialect::Deepagents,
        "hooks.json",
        r#"{"hooks": [{"command": ["a", "b"], "events": ["tool.use"], "colour": "red"},
 5,
 {"command": "text"},
 {"command": []},
 {"command": ["c"], "events": null},
 {"command": ["d"], "events": "tool.use", "timeout": 60, "onFailure": "block"},
 {"component": "e.wasm", "limits": {"fuel": 5}}]}"#,
    );
    let lines: Vec<(usize, Severity)> = configuration
        .diagnostics
        .iter()
        .map(|it| (it.line, it.severity))
        .collect();
    assert_eq!(
        lines,
        [
            (2, Severity::Error),
            (3, Severity::Error),
            (4, Severity::Error),
            (5, Severity::Error),
            (6, Severity::Warning),
            (6, Severity::Warning),
            (6, Severity::Warning),
        ],
        "{:#?}",
        told(&configuration)
    );
    let labels: Vec<&str> = configuration
        .hooks
        .iter()
        .map(|hook| hook.label.as_str())
        .collect();
    assert_eq!(labels, ["a b", "d", "e.wasm"]);
    for hook in &configuration.hooks {
        assert_eq!(
            (hook.timeout, hook.decides, hook.on_failure),
            (Duration::from_secs(5), false, OnFailure::Continue)
        );
    }
    assert_eq!(
        selected(&configuration.hooks[1], &["tool.use", "tool.user"], None),
        ["tool.use"]
    );
    let object = clean(
        Dialect::Deepagents,
        r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "x", "argv": ["y", "z"]}]}]}}"#,
    );
    assert!(object.hooks[0].decides);
    assert_eq!(shell(&object.hooks[0]), "y");
}

#[test]
fn a_file_that_is_unusable_as_a_whole_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let read =
        |name: &str| Configuration::read(&folder.path().join(name), Dialect::Claude).unwrap_err();
    assert!(
        read("missing.json")
            .to_string()
            .contains("missing.json` cannot be read: No such file")
    );
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    assert!(read("folder").to_string().ends_with("folder` is a folder"));
    let example = r#"the smallest file is {"hooks": {"PreToolUse": [{"hooks": [{"command": "./check.sh"}]}]}}"#;
    for (bytes, message, help) in [
        (&b""[..], "the configuration `{}` is empty", Some(example)),
        (b" \n\t", "the configuration `{}` is empty", Some(example)),
        (
            b"null",
            "{}:1:1: the outermost value must be an object; found null",
            Some(example),
        ),
        (
            b"\n [{\"command\": \"x\"}]",
            "{}:2:2: the outermost value must be an object; found a list",
            Some(example),
        ),
        (
            b"{\"hooks\": null}",
            "{}:1:11: `hooks` must be an object of events, or a list of hooks; found null",
            Some(example),
        ),
        (
            b"{\"hooks\": \"x\"}",
            "{}:1:11: `hooks` must be an object of events, or a list of hooks; found the string \"x\"",
            Some(example),
        ),
        (
            b"{\n  // guards\n}",
            "{}:2:3: the file is not JSON: this is a comment",
            Some("JSON has no comments; a `description` beside `hooks` is allowed"),
        ),
        (
            b"{\"hooks\": {},}",
            "{}:1:13: the file is not JSON: there is a comma behind the last member",
            Some("remove the comma"),
        ),
        (
            b"{\"hooks\": {",
            "{}:1:11: the file is not JSON: this object does not end",
            Some("the file may be cut off; a `}` is missing"),
        ),
        (
            b"{\"a\": \"\xff\"}",
            "{}:1:8: the file is not UTF-8 from here on",
            Some("save it as UTF-8"),
        ),
        (
            b"\xff\xfe{\0}\0",
            "the configuration `{}` is UTF-16",
            Some("save it as UTF-8"),
        ),
    ] {
        let path = folder.path().join("hooks.json");
        std::fs::write(&path, bytes).unwrap();
        let error = read("hooks.json");
        assert_eq!(
            error.to_string(),
            message.replace("{}", &path.display().to_string())
        );
        assert_eq!((error.help(), error.path()), (help, path.as_path()));
    }
    std::fs::write(folder.path().join("large.json"), vec![b' '; (4 << 20) + 1]).unwrap();
    assert!(
        read("large.json")
            .to_string()
            .ends_with("is larger than 4 MiB")
    );
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_opened_is_an_error() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hooks.json");
    std::fs::write(&path, "{}").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    // Root may read everything; then there is nothing to see.
    if std::fs::read(&path).is_err() {
        let error = Configuration::read(&path, Dialect::Claude).unwrap_err();
        assert!(error.to_string().contains("cannot be read: "), "{error}");
    }
    let link = folder.path().join("link.json");
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    assert!(Configuration::read(&link, Dialect::Claude).is_err());
}

#[test]
fn no_file_that_is_cut_off_is_taken_for_a_whole_one() {
    for dialect in [Dialect::Claude, Dialect::OpenHands, Dialect::Deepagents] {
        for text in [EVERYTHING, MISTAKES] {
            let end = text.trim_end().len();
            for cut in 0..text.len() {
                let read =
                    Configuration::parse(&text.as_bytes()[..cut], Path::new("hooks.json"), dialect);
                assert_eq!(read.is_ok(), cut >= end, "{cut}");
                let _ = read.map_err(|error| (error.to_string(), error.help().map(str::to_owned)));
            }
        }
    }
}

/// Every value of `value`, as a path.
fn paths(value: &Value, path: &[Step], all: &mut Vec<Vec<Step>>) {
    all.push(path.to_vec());
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                paths(member, &[path, &[Step::Key(key.clone())]].concat(), all);
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                paths(element, &[path, &[Step::Index(index)]].concat(), all);
            }
        }
        _ => {}
    }
}

#[derive(Debug, Clone)]
enum Step {
    Key(String),
    Index(usize),
}

fn at<'v>(value: &'v mut Value, path: &[Step]) -> &'v mut Value {
    path.iter().fold(value, |value, step| match step {
        Step::Key(key) => &mut value[key],
        Step::Index(index) => &mut value[index],
    })
}

#[test]
fn a_value_of_any_other_type_is_told_on_its_line() {
    const MARK: &str = "here it is";
    let whole: Value = serde_json::from_str(EVERYTHING).unwrap();
    let mut all = Vec::new();
    paths(&whole, &[], &mut all);
    assert!(all.len() > 60);
    for path in all {
        // What an own `config` holds is the hook's affair, and text may be anything.
        let is_within_config = path
            .iter()
            .rev()
            .skip(1)
            .any(|step| matches!(step, Step::Key(key) if key == "config"));
        let is_free = matches!(path.last(), Some(Step::Key(key)) if ["$schema", "description"].contains(&key.as_str()));
        for other in [
            json!(null),
            json!(true),
            json!(-7.5),
            json!("\u{1b}"),
            json!([[null]]),
            json!({"x": {"y": []}}),
        ] {
            let mut changed = whole.clone();
            let place = at(&mut changed, &path);
            let has_other_type = std::mem::discriminant(place) != std::mem::discriminant(&other);
            *place = json!(MARK);
            let marked = format!("{changed:#}");
            let line = marked[..marked.find(MARK).unwrap()].matches('\n').count() + 1;
            let text = marked.replace(&format!("\"{MARK}\""), &other.to_string());
            for dialect in [Dialect::OpenHands, Dialect::Deepagents, Dialect::Claude] {
                let read = Configuration::parse(text.as_bytes(), Path::new("hooks.json"), dialect);
                if dialect != Dialect::Claude || !has_other_type || is_within_config || is_free {
                    continue;
                }
                match read {
                    Ok(configuration) => {
                        let is_told = configuration
                            .diagnostics
                            .iter()
                            .any(|it| it.severity == Severity::Error && it.line == line);
                        let is_numeric = matches!(path.last(), Some(Step::Key(key)) if ["memory", "stdout", "stderr", "command"].contains(&key.as_str()));
                        assert!(
                            is_told || (is_numeric && !other.is_boolean()),
                            "{path:?} {other}: {:#?}",
                            told(&configuration)
                        );
                        assert!(
                            configuration
                                .diagnostics
                                .iter()
                                .all(|it| !it.plain().contains('\u{1b}'))
                        );
                    }
                    Err(error) => assert!(
                        error.to_string().contains(&format!(":{line}:")),
                        "{path:?} {other}: {error}"
                    ),
                }
            }
        }
    }
}

#[test]
fn bytes_that_are_changed_at_random_never_panic() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    for round in 0..600 {
        let mut bytes = if round % 2 == 0 { EVERYTHING } else { MISTAKES }
            .as_bytes()
            .to_vec();
        for _ in 0..=next(4) {
            let at = next(bytes.len());
            match next(4) {
                0 => bytes[at] = u8::try_from(next(256)).unwrap(),
                1 => bytes[at] = b"{}[]\",:\\0-eun/*'\n"[next(17)],
                2 => drop(bytes.remove(at)),
                _ => {
                    let to = next(bytes.len());
                    bytes.swap(at, to);
                }
            }
        }
        for dialect in [Dialect::Claude, Dialect::OpenHands, Dialect::Deepagents] {
            if let Ok(configuration) =
                Configuration::parse(&bytes, Path::new("hooks.json"), dialect)
            {
                for diagnostic in configuration.diagnostics.iter().take(next(20)) {
                    let _ = (diagnostic.one_line(), diagnostic.rendered());
                }
            }
        }
    }
}

#[test]
fn large_files_are_read_in_reasonable_time() {
    let started = std::time::Instant::now();
    let filled = |entry: &str, size: usize| {
        let text = format!(
            "{{\"hooks\":[{}]}}",
            vec![entry; size / (entry.len() + 1)].join(",")
        );
        parse(&text)
    };
    assert!(filled(r#"{"command":5,"x":1}"#, 1 << 20).diagnostics.len() > 50_000);
    assert!(filled(r#"{"command":"x"}"#, 4_000_000).hooks.len() > 200_000);
    let keys: Vec<String> = (0..20_000).map(|it| format!("\"key{it}\":1")).collect();
    let entry = format!("{{\"command\":\"x\",{}}}", keys.join(","));
    assert_eq!(filled(&entry, entry.len() + 1).diagnostics.len(), 20_000);
    assert!(
        started.elapsed() < Duration::from_secs(60),
        "{:?}",
        started.elapsed()
    );
}

#[test]
fn the_committed_schema_is_the_generated_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/hooks.schema.json");
    let committed: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(
        committed,
        config::schema(),
        "run `hookcell schema > docs/hooks.schema.json`"
    );
}

#[test]
fn the_schema_knows_every_field() {
    let schema = config::schema();
    let handler = &schema["$defs"]["hook"]["properties"];
    let whole: Value = serde_json::from_str(EVERYTHING).unwrap();
    for group in whole["hooks"]["PreToolUse"].as_array().unwrap() {
        for hook in group["hooks"].as_array().unwrap() {
            for (key, value) in hook.as_object().unwrap() {
                let known = &handler[key];
                assert!(known["description"].is_string(), "{key}");
                let members = value.as_object().filter(|_| key != "config");
                for member in members.into_iter().flatten() {
                    assert!(
                        known["properties"][member.0]["description"].is_string(),
                        "{key}.{}",
                        member.0
                    );
                }
            }
        }
    }
    assert!(!schema.to_string().contains("null"), "nothing may be null");
    assert!(
        schema["$defs"]["listedHook"]["properties"]["events"].is_object()
            && handler["events"].is_null()
    );
}

#[test]
fn the_examples_of_the_documentation_are_right() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/configuration.md");
    let text = std::fs::read_to_string(path).unwrap();
    let examples: Vec<&str> = text
        .split("```json\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    assert!(examples.len() >= 3);
    for example in examples {
        assert!(!clean(Dialect::Claude, example).hooks.is_empty());
    }
}
