//! `cargo xtask fuzz`: every fuzz target for a while, as many at once as there are processors.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context as _, Result, bail};

use crate::needs::{self, FUZZ};
use crate::steps::Steps;
use crate::test::SELECTION;
use crate::{process, repository, say};

/// One input may take this long, in seconds, on a machine that is busy with other things.
const LONGEST_INPUT: u32 = 25;

/// A target may use this much memory, in MiB.
const MOST_MEMORY: u32 = 2048;

/// A fuzz target, a file of `tests/fuzz/targets`.
struct Target {
    name: &'static str,
    /// The longest input, in bytes.
    longest: u32,
}

/// Those with the longest inputs first, so that the last to start is not the last by far.
const TARGETS: [Target; 8] = [
    Target {
        name: "component",
        longest: 4096,
    },
    Target {
        name: "module",
        longest: 4096,
    },
    Target {
        name: "hooks_json",
        longest: 8192,
    },
    Target {
        name: "event",
        longest: 8192,
    },
    Target {
        name: "decision",
        longest: 4096,
    },
    Target {
        name: "sanitiser",
        longest: 1024,
    },
    Target {
        name: "cache_entry",
        longest: 2048,
    },
    Target {
        name: "matcher",
        longest: 512,
    },
];

/// Which targets, and for how long.
#[derive(clap::Args)]
pub struct Arguments {
    /// How long each target runs
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    seconds: u32,
    /// Where the random numbers begin [default: elsewhere at each run]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u32>,
    /// Only these targets
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
}

/// What CI runs: every target for a minute.
pub fn smoke(steps: &mut Steps) -> Result<()> {
    run(
        steps,
        &Arguments {
            seconds: 60,
            // A change must not fail for what chance finds in it; `cargo xtask fuzz` looks further.
            seed: Some(1),
            targets: Vec::new(),
        },
    )
}

/// Builds the targets and runs them. Fails if one finds something, and says where it is.
pub fn run(steps: &mut Steps, arguments: &Arguments) -> Result<()> {
    let targets = chosen(&arguments.targets)?;
    steps.run("what fuzzing needs", || {
        needs::fuzz_programs()?;
        needs::cargo_tool(&FUZZ)
    })?;
    // Guests are compiled by this program, as it is shipped.
    steps.run("hookcell", || {
        process::run(repository::cargo()?.arg("build").args(SELECTION))
    })?;
    steps.run("fuzz targets", build)?;
    steps.run("fuzz", || run_all(targets, arguments))
}

fn chosen(names: &[String]) -> Result<VecDeque<&'static Target>> {
    let known = || TARGETS.map(|target| target.name).join(", ");
    for name in names {
        if !TARGETS.iter().any(|target| target.name == name) {
            bail!("there is no fuzz target `{name}`; there are {}", known());
        }
    }
    let is_chosen = |target: &&Target| names.is_empty() || names.iter().any(|it| it == target.name);
    Ok(TARGETS.iter().filter(is_chosen).collect())
}

fn folder() -> Result<PathBuf> {
    Ok(repository::root()?.join("tests/fuzz"))
}

/// Without a sanitiser: the host is safe Rust, where it would find nothing and halve the speed, and
/// so the stable toolchain is enough.
fn build() -> Result<()> {
    let mut command = repository::cargo()?;
    // cargo-fuzz knows one target folder only, its own, beside which the instrumented wasmtime stays.
    command.env_remove("CARGO_TARGET_DIR");
    command.args(["fuzz", "build", "--fuzz-dir"]).arg(folder()?);
    process::run(command.args(["--sanitizer", "none", "--codegen-units", "16"]))
}

fn run_all(targets: VecDeque<&'static Target>, arguments: &Arguments) -> Result<()> {
    let at_once = thread::available_parallelism().map_or(1, usize::from);
    let places = Places::new()?;
    let waiting = Mutex::new(targets);
    let failed = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                loop {
                    let next = waiting
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .pop_front();
                    let Some(target) = next else { return };
                    if let Err(error) = run_one(target, arguments, &places) {
                        failed
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .push(format!("{}: {error:#}", target.name));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !failed.is_empty() {
        bail!("{}", failed.join("\n"));
    }
    Ok(())
}

/// Where things are.
struct Places {
    /// `tests/fuzz`.
    folder: PathBuf,
    /// Where cargo-fuzz puts the programs.
    programs: PathBuf,
    /// The program that compiles guests.
    hookcell: PathBuf,
}

impl Places {
    fn new() -> Result<Self> {
        let version = process::output(Command::new("rustc").arg("-vV"))?;
        let triple = version
            .lines()
            .find_map(|line| line.strip_prefix("host: "))
            .context("`rustc -vV` names no host")?;
        let folder = folder()?;
        Ok(Self {
            programs: folder.join("target").join(triple).join("release"),
            folder,
            hookcell: repository::target_folder()?.join("release/hookcell"),
        })
    }
}

fn run_one(target: &Target, arguments: &Arguments, places: &Places) -> Result<()> {
    // What is found on the way is kept for the next run here, and never in the repository.
    let kept = places.folder.join("target/corpus").join(target.name);
    let seeds = places.folder.join("corpus").join(target.name);
    let findings = places.folder.join("artifacts").join(target.name);
    let words = places
        .folder
        .join("dictionaries")
        .join(format!("{}.dict", target.name));
    fs::create_dir_all(&kept)?;
    fs::create_dir_all(&findings)?;
    let log = places
        .folder
        .join("target")
        .join(format!("{}.log", target.name));

    let mut command = Command::new(places.programs.join(target.name));
    command
        .env("HOOKCELL_PROGRAM", &places.hookcell)
        .arg(format!("-max_total_time={}", arguments.seconds))
        .args(arguments.seed.map(|seed| format!("-seed={seed}")))
        .arg(format!("-timeout={LONGEST_INPUT}"))
        .arg(format!("-rss_limit_mb={MOST_MEMORY}"))
        .arg(format!("-max_len={}", target.longest))
        .arg(format!("-artifact_prefix={}/", findings.display()))
        .arg("-print_final_stats=1");
    if words.is_file() {
        command.arg(format!("-dict={}", words.display()));
    }
    let output = File::create(&log)?;
    let status = command
        .args([&kept, &seeds])
        .stdout(output.try_clone()?)
        .stderr(output)
        .status()
        .with_context(|| format!("{} could not be started", target.name))?;
    let told = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    if !status.success() {
        bail!("{}", finding(&told, &log));
    }
    let executions = stat(&told, "number_of_executed_units").unwrap_or("?");
    let a_second = stat(&told, "average_exec_per_sec").unwrap_or("?");
    let memory = stat(&told, "peak_rss_mb").unwrap_or("?");
    say::note(&format!(
        "{}: nothing found in {executions} inputs, {a_second} a second, {memory} MiB at most",
        target.name
    ));
    Ok(())
}

/// A number of the summary that `-print_final_stats` prints.
fn stat<'t>(told: &'t str, name: &str) -> Option<&'t str> {
    let start = format!("stat::{name}:");
    told.lines()
        .find_map(|line| line.strip_prefix(start.as_str()))
        .map(str::trim)
}

/// What was found, in the target's own words.
fn finding(told: &str, log: &Path) -> String {
    let lines = |start: &str| -> Vec<String> {
        told.lines()
            .map(str::trim)
            .filter(|line| line.contains(start))
            .map(str::to_owned)
            .collect()
    };
    let what = [lines("panicked at"), lines("ERROR: libFuzzer")].concat();
    let input = told
        .lines()
        .find_map(|line| line.split_once("Test unit written to "))
        .map_or("no input was kept", |(_, path)| path.trim());
    format!(
        "{}; the input: {input}; the log: {}",
        what.first().map_or("it ended badly", String::as_str),
        log.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_in_the_manifest_and_has_seeds() {
        let folder = folder().unwrap();
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
        for target in &TARGETS {
            assert!(manifest.contains(&format!("path = \"targets/{}.rs\"", target.name)));
            let seeds = fs::read_dir(folder.join("corpus").join(target.name)).unwrap();
            let sizes: Vec<u64> = seeds
                .map(|seed| seed.unwrap().metadata().unwrap().len())
                .collect();
            assert!((1..=20).contains(&sizes.len()), "{}", target.name);
            let longest = u64::from(target.longest);
            assert!(sizes.iter().all(|&size| size <= longest), "{}", target.name);
        }
    }

    #[test]
    fn a_finding_says_what_and_where() {
        let told = "INFO: Seed: 1\nthread '<unnamed>' panicked at host/src/text.rs:1:2:\nno\n\
                    ==1== ERROR: libFuzzer: deadly signal\n\
                    artifact_prefix='a/'; Test unit written to a/crash-1\n";
        assert_eq!(
            finding(told, Path::new("x.log")),
            "thread '<unnamed>' panicked at host/src/text.rs:1:2:; the input: a/crash-1; the log: x.log"
        );
        assert_eq!(
            finding("", Path::new("x.log")),
            "it ended badly; the input: no input was kept; the log: x.log"
        );
    }

    #[test]
    fn the_summary_is_read() {
        let told = "stat::number_of_executed_units: 12\nstat::peak_rss_mb:              40\n";
        assert_eq!(stat(told, "number_of_executed_units"), Some("12"));
        assert_eq!(stat(told, "peak_rss_mb"), Some("40"));
        assert_eq!(stat(told, "average_exec_per_sec"), None);
    }

    #[test]
    fn a_target_that_is_not_there_is_named() {
        let error = chosen(&["event".to_owned(), "events".to_owned()])
            .err()
            .unwrap();
        assert!(
            error
                .to_string()
                .starts_with("there is no fuzz target `events`; there are component, ")
        );
        assert_eq!(chosen(&["event".to_owned()]).unwrap().len(), 1);
        assert_eq!(chosen(&[]).unwrap().len(), TARGETS.len());
    }
}
