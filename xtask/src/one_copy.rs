//! Is wasmtime compiled once? It takes minutes, and cargo compiles it again as soon as anything that
//! it is built on has other features in one build than in another.
//!
//! `cargo run` selects the host alone, the tests select all packages and their development
//! dependencies. Where a dependency of the latter turns on a feature that the former lacks, there
//! are two copies. Nothing fails then, it only takes twice as long, so it has to be looked for.

use std::collections::BTreeSet;

use anyhow::{Result, bail};

use crate::{process, repository};

/// The package whose `cargo run` shares what the tests compiled.
const HOST: &str = "hookcell";

/// The package that is expensive to compile.
const EXPENSIVE: &str = "wasmtime";

/// Fails if `cargo run` and the tests would each compile a wasmtime of their own.
pub fn check() -> Result<()> {
    let in_a_run = units(&["--package", HOST, "--edges", "normal,build"])?;
    let in_tests = units(&["--workspace", "--edges", "normal,build,dev"])?;
    let mut problems = Vec::new();
    for unit in in_a_run.difference(&in_tests) {
        if is_beneath_wasmtime(unit)? {
            let others: Vec<String> = in_tests
                .iter()
                .filter(|other| other.package == unit.package)
                .map(|other| format!("[{}]", other.features))
                .collect();
            problems.push(format!(
                "{}: `cargo run` builds it with the features [{}], the tests with {}",
                unit.package,
                unit.features,
                others.join(" and ")
            ));
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    bail!(
        "{EXPENSIVE} would be compiled twice, since these packages beneath it differ:\n{}\n\
         a dependency that only tests or other packages have turns the features on (see `cargo \
         tree --workspace --edges features --invert PACKAGE`): take it with `default-features = \
         false`",
        problems.join("\n")
    )
}

/// A package as one build compiles it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Unit {
    package: String,
    features: String,
}

/// All that a selection of packages is built from.
fn units(selection: &[&str]) -> Result<BTreeSet<Unit>> {
    let mut tree = tree(selection)?;
    tree.args(["--prefix", "none", "--format", "{p}|{f}"]);
    Ok(process::output(&mut tree)?
        .lines()
        .filter_map(read_line)
        .collect())
}

fn is_beneath_wasmtime(unit: &Unit) -> Result<bool> {
    let Some((name, version)) = unit.package.split_once(" v") else {
        return Ok(false);
    };
    let version = version.split(' ').next().unwrap_or_default();
    let mut tree = tree(&["--package", HOST, "--edges", "normal,build"])?;
    tree.args(["--prefix", "none", "--invert", &format!("{name}@{version}")]);
    let expensive = format!("{EXPENSIVE} v");
    Ok(process::output(&mut tree)?
        .lines()
        .any(|line| line.starts_with(&expensive)))
}

fn tree(arguments: &[&str]) -> Result<std::process::Command> {
    let mut tree = repository::cargo()?;
    tree.args(["tree", "--quiet", "--locked"]).args(arguments);
    Ok(tree)
}

/// A line of `cargo tree`: the package, a bar, its features; `(*)` where it was shown before.
fn read_line(line: &str) -> Option<Unit> {
    let (package, features) = line.split_once('|')?;
    Some(Unit {
        package: package.to_owned(),
        features: features.trim_end_matches(" (*)").to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_shown_again_is_the_same() {
        assert_eq!(
            read_line("serde v1.0.229|alloc,std (*)"),
            read_line("serde v1.0.229|alloc,std")
        );
        assert_eq!(read_line(""), None);
    }
}
