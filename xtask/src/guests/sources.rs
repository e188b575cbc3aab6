//! One digest over all that a guest is built from: its own files, those of the workspace's packages
//! that it depends on, versions and features of the other packages, and the profile.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::digest;
use super::table::Target;
use crate::{process, repository};

/// The digest of a package's sources.
pub fn digest(package: &str) -> Result<String> {
    let root = repository::root()?;
    let mut text = profile(&std::fs::read_to_string(root.join("Cargo.toml"))?);
    for dependency in dependencies(package)? {
        match dependency {
            Dependency::Registry(name_and_version) => writeln!(text, "{name_and_version}")?,
            Dependency::Workspace(folder) => {
                let mut files = Vec::new();
                collect(&folder, &mut files)?;
                files.sort();
                for file in files {
                    let bytes = std::fs::read(&file)
                        .with_context(|| format!("{} cannot be read", file.display()))?;
                    let name = file.strip_prefix(&root).unwrap_or(&file);
                    writeln!(text, "{} {}", name.display(), digest::of(&bytes))?;
                }
            }
        }
    }
    Ok(digest::of(text.as_bytes()))
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Dependency {
    Registry(String),
    Workspace(PathBuf),
}

/// A package and all that it is built from, for any of the targets.
fn dependencies(package: &str) -> Result<BTreeSet<Dependency>> {
    let mut tree = repository::cargo()?;
    tree.args(["tree", "--quiet", "--locked", "--package", package])
        .args(["--edges", "normal,build", "--prefix", "none", "--no-dedupe"])
        .args(["--format", "{p}|{f}"]);
    for target in Target::ALL {
        tree.args(["--target", target.triple()]);
    }
    Ok(process::output(&mut tree)?
        .lines()
        .filter_map(read_line)
        .collect())
}

/// A line of `cargo tree`: a package, a bar, its features. The package is `serde v1.0.228`,
/// `serde_derive v1.0.228 (proc-macro)`, or `hookcell-guest v0.1.0 (/folder)`.
fn read_line(line: &str) -> Option<Dependency> {
    let (package, _) = line.split_once('|')?;
    let folder = package
        .split_once(" (/")
        .and_then(|(_, folder)| folder.strip_suffix(')'));
    Some(match folder {
        Some(folder) => Dependency::Workspace(Path::new("/").join(folder)),
        None => Dependency::Registry(line.to_owned()),
    })
}

/// The folders of a package that its binary is not built from.
const NOT_IN_THE_BINARY: [&str; 4] = ["benches", "examples", "target", "tests"];

/// The files under a folder that a compiler may read.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in
        std::fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?
    {
        let path = entry?.path();
        if path.is_dir() {
            let name = path.file_name().and_then(|name| name.to_str());
            if !name.is_some_and(|name| NOT_IN_THE_BINARY.contains(&name)) {
                collect(&path, files)?;
            }
        } else if path
            .extension()
            .is_some_and(|extension| matches!(extension.to_str(), Some("rs" | "toml" | "wit")))
        {
            files.push(path);
        }
    }
    Ok(())
}

/// The section of the workspace's manifest that says how guests are compiled.
fn profile(manifest: &str) -> String {
    manifest
        .lines()
        .skip_while(|line| *line != "[profile.guest]")
        .enumerate()
        .take_while(|(position, line)| *position == 0 || !line.starts_with('['))
        .map(|(_, line)| line)
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .fold(String::new(), |text, line| text + line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_tree() {
        assert_eq!(read_line(""), None);
        assert_eq!(
            read_line("serde v1.0.228|alloc,std"),
            Some(Dependency::Registry("serde v1.0.228|alloc,std".to_owned()))
        );
        assert_eq!(
            read_line("serde_derive v1.0.228 (proc-macro)|"),
            Some(Dependency::Registry(
                "serde_derive v1.0.228 (proc-macro)|".to_owned()
            ))
        );
        assert_eq!(
            read_line("hookcell-guest v0.1.0 (/some/where/guest-sdk)|"),
            Some(Dependency::Workspace("/some/where/guest-sdk".into()))
        );
    }

    #[test]
    fn only_the_guests_profile_counts() {
        let manifest = "[profile.release]\ndebug = false\n\n# Small.\n[profile.guest]\nlto = true\n\
                        \n# Comment.\nstrip = true\n[profile.other]\nlto = false\n";
        assert_eq!(
            profile(manifest),
            "[profile.guest]\nlto = true\nstrip = true\n"
        );
    }

    #[test]
    fn only_what_a_compiler_reads_counts() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("src/main.rs");
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(&source, "").unwrap();
        std::fs::create_dir(folder.path().join("tests")).unwrap();
        std::fs::write(folder.path().join("tests/hook.rs"), "").unwrap();
        std::fs::write(folder.path().join("built.wasm"), "").unwrap();
        std::fs::write(folder.path().join("README.md"), "").unwrap();
        let mut files = Vec::new();
        collect(folder.path(), &mut files).unwrap();
        assert_eq!(files, [source]);
    }
}
