//! A hook to be run, and looks at what its processes do.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hookcell::Program;
use hookcell::config::{Command, CommandLine, Shell};
use hookcell::outcome::{End, FailureKind, Outcome};
use hookcell::run::command::{CommandContext, run};

/// The variable that names the test which has a process to itself.
pub const ALONE: &str = "HOOKCELL_TEST_ALONE";

/// Longer than anything takes that is not stuck.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// One command hook in a folder of its own.
pub struct Hook {
    pub command: Command,
    pub payload: Bytes,
    pub event_name: String,
    pub session_id: Option<String>,
    pub tool_name: Option<String>,
    pub working_dir: PathBuf,
    pub program: Program,
    timeout: Duration,
    folder: tempfile::TempDir,
}

fn hook(line: CommandLine) -> Hook {
    let folder = tempfile::tempdir().unwrap();
    Hook {
        command: Command {
            line,
            stdout_limit: 64 << 20,
            stderr_limit: 64 << 20,
            config: None,
            sandbox: None,
        },
        payload: Bytes::from_static(b"{}"),
        event_name: "PreToolUse".to_owned(),
        session_id: None,
        tool_name: None,
        working_dir: folder.path().canonicalize().unwrap(),
        program: Program::at(env!("CARGO_BIN_EXE_hookcell")),
        timeout: Duration::from_secs(60),
        folder,
    }
}

pub fn sh(script: &str) -> Hook {
    hook(CommandLine::Shell {
        shell: Shell::Sh,
        script: script.to_owned(),
    })
}

pub fn bash(script: &str) -> Hook {
    hook(CommandLine::Shell {
        shell: Shell::Bash,
        script: script.to_owned(),
    })
}

pub fn exec(program: &str, args: &[&str]) -> Hook {
    hook(CommandLine::Exec {
        program: program.to_owned(),
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
    })
}

pub fn python(script: &str) -> Hook {
    exec("python3", &["-c", script])
}

impl Hook {
    pub fn payload(mut self, payload: impl Into<Bytes>) -> Self {
        self.payload = payload.into();
        self
    }

    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    pub fn folder(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// An executable file in the hook's folder.
    pub fn script(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.folder().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub async fn run(&self) -> Outcome {
        let project = self.folder();
        let context = CommandContext {
            payload: self.payload.clone(),
            event_name: &self.event_name,
            session_id: self.session_id.as_deref(),
            tool_name: self.tool_name.as_deref(),
            project_dir: &project,
            working_dir: &self.working_dir,
            timeout: self.timeout,
            program: &self.program,
        };
        run(&self.command, &context).await
    }

    /// The process id that the hook writes into a file.
    pub async fn pid(&self, file: &str) -> u32 {
        let path = self.folder().join(file);
        wait_for(|| {
            fs::read_to_string(&path)
                .ok()?
                .strip_suffix('\n')?
                .parse()
                .ok()
        })
        .await
    }
}

pub fn assert_timed_out(outcome: &Outcome, allowed: &str) {
    let End::Failed(failure) = &outcome.end else {
        panic!("not ended: {:?}", outcome.end)
    };
    assert_eq!(failure.kind, FailureKind::TimedOut);
    let (used, rest) = failure
        .message
        .strip_prefix("still running after ")
        .unwrap()
        .split_once(" s; ")
        .unwrap();
    assert_eq!(rest, format!("{allowed} s are allowed (`timeout`)"));
    assert!(used.parse::<f64>().unwrap() >= allowed.parse().unwrap());
}

pub async fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "it does not come");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// State and parent of a process; `None` if there is none.
fn state(pid: u32) -> Option<(String, u32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?))
}

pub fn is_alive(pid: u32) -> bool {
    state(pid).is_some_and(|(state, _)| state != "Z" && state != "X")
}

/// Waits until a process is over, and waited for if it is a child of ours.
pub async fn gone(pid: u32) {
    let ours = process::id();
    wait_for(|| {
        (!is_alive(pid) && state(pid).is_none_or(|(_, parent)| parent != ours)).then_some(())
    })
    .await;
}

pub fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// How many files are open, threads run, and children were not waited for.
pub fn held() -> (usize, usize, usize) {
    let count = |folder: &str| {
        fs::read_dir(Path::new("/proc/self").join(folder))
            .unwrap()
            .count()
    };
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let children =
        pids.filter(|&pid| state(pid).is_some_and(|(_, parent)| parent == process::id()));
    (count("fd"), count("task"), children.count())
}

/// Runs a test in a process to itself, with no other variables than these.
pub fn alone(name: &str, variables: &[(&str, &str)], test: impl AsyncFnOnce()) {
    if std::env::var(ALONE).is_ok_and(|alone| alone == name) {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build();
        return runtime.unwrap().block_on(test());
    }
    let output = process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--test-threads=1", "--nocapture"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .envs(variables.iter().copied())
        .env(ALONE, name)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{output:?}"
    );
}
