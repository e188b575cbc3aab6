//! The programs that tests and checks need, installed where that is possible.

use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::{process, repository, say};

/// What the tests call, and the Debian package that has it.
const TEST_PROGRAMS: [(&str, &str); 4] = [
    ("bash", "bash"),
    ("git", "git"),
    ("jq", "jq"),
    ("python3", "python3"),
];

/// What fuzzing builds with besides Rust: libFuzzer is C++.
const FUZZ_PROGRAMS: [(&str, &str); 1] = [("c++", "g++")];

/// A cargo subcommand that is installed from the Rust registry.
pub struct CargoTool {
    /// The name after `cargo`.
    pub subcommand: &'static str,
    /// The version that this repository is checked with, where none is installed.
    pub version: &'static str,
}

/// Runs the tests, each in a process of its own.
pub const NEXTEST: CargoTool = CargoTool {
    subcommand: "nextest",
    version: "0.9.143",
};

/// Checks licences, duplicate and banned crates, sources and advisories.
pub const DENY: CargoTool = CargoTool {
    subcommand: "deny",
    version: "0.20.2",
};

/// Builds fuzz targets.
pub const FUZZ: CargoTool = CargoTool {
    subcommand: "fuzz",
    version: "0.13.2",
};

/// Makes sure of the programs that the tests call.
pub fn test_programs() -> Result<()> {
    programs("the tests", &TEST_PROGRAMS)
}

/// Makes sure of what fuzz targets are built with.
pub fn fuzz_programs() -> Result<()> {
    programs("fuzzing", &FUZZ_PROGRAMS)
}

/// Makes sure of programs, each with the Debian package that has it; `who` needs them.
fn programs(who: &str, programs: &[(&str, &str)]) -> Result<()> {
    let missing: Vec<&str> = programs
        .iter()
        .filter(|(program, _)| !process::is_on_path(program))
        .map(|(_, package)| *package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    install_packages(&missing).with_context(|| {
        format!(
            "{who} cannot do without {0}; install it with your system's package manager (Debian: apt-get install {0})",
            missing.join(" ")
        )
    })
}

/// Makes sure of a cargo subcommand. An error says why it could not be installed.
pub fn cargo_tool(tool: &CargoTool) -> Result<()> {
    if is_installed(tool)? {
        return Ok(());
    }
    let package = format!("cargo-{}@{}", tool.subcommand, tool.version);
    say::note(&format!(
        "installing {package} (once; a few minutes on two processors)"
    ));
    // Unoptimised: built in a fraction of the time, and fast enough for what it does here.
    process::run(repository::cargo()?.args(["install", "--quiet", "--locked", "--debug", &package]))
}

fn is_installed(tool: &CargoTool) -> Result<bool> {
    // Through cargo, which also looks where it installs to, on the PATH or not.
    let probe = repository::cargo()?
        .args([tool.subcommand, "--version"])
        .output()
        .context("cargo could not be started")?;
    Ok(probe.status.success())
}

fn install_packages(packages: &[&str]) -> Result<()> {
    if !process::is_on_path("apt-get") {
        bail!("there is no apt-get on this machine");
    }
    let as_root = as_root()?;
    say::note(&format!("installing {}", packages.join(" ")));
    process::run(as_root.command("apt-get").args(["-qq", "update"]))?;
    process::run(
        as_root
            .command("apt-get")
            .args(["-qq", "install", "--yes", "--no-install-recommends"])
            .args(packages)
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )
}

/// How this user may do what only root may.
enum AsRoot {
    Already,
    Sudo,
}

impl AsRoot {
    fn command(&self, program: &str) -> Command {
        match self {
            Self::Already => Command::new(program),
            Self::Sudo => {
                let mut command = Command::new("sudo");
                command.args(["--non-interactive", program]);
                command
            }
        }
    }
}

fn as_root() -> Result<AsRoot> {
    let user = process::output(Command::new("id").arg("-u"))?;
    if user.trim() == "0" {
        return Ok(AsRoot::Already);
    }
    let limit = std::time::Duration::from_secs(10);
    if process::succeeds_within(
        limit,
        Command::new("sudo").args(["--non-interactive", "true"]),
    ) {
        return Ok(AsRoot::Sudo);
    }
    bail!("apt-get needs root, and this user is not root and has no sudo without a password")
}
