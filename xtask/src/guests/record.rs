//! `plugins/TOOLCHAIN`: which compiler made the committed guests, and from which sources.
//!
//! Bytes can only be compared with those of the same compiler. Where that one cannot be had any
//! more, the digests of the sources still tell whether the committed guests are up to date.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};

use super::toolchain::{Kind, Toolchain};
use crate::repository;

/// The file, from the root of the repository.
pub const FILE: &str = "plugins/TOOLCHAIN";

const HEADER: &str = "\
# What the .wasm files of this repository were built with and from.
# Written by `cargo xtask guests`, read by `cargo xtask guests --check`.
";

/// Before the name of a package, in the key that has the digest of its sources.
const SOURCES: &str = "sources of ";

/// What is known of the committed guests.
#[derive(Debug, PartialEq, Eq)]
pub struct Record {
    /// The kind of toolchain.
    pub kind: Kind,
    /// What identifies it.
    pub identity: Vec<(String, String)>,
    /// The digest of each package's sources.
    pub sources: BTreeMap<String, String>,
}

impl Record {
    /// The committed one; `None` before the first build.
    pub fn read() -> Result<Option<Self>> {
        let path = repository::root()?.join(FILE);
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text)
                .map(Some)
                .with_context(|| format!("{FILE} is not as `cargo xtask guests` writes it")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("{FILE} cannot be read")),
        }
    }

    /// Puts this one in its place.
    pub fn write(&self) -> Result<()> {
        std::fs::write(repository::root()?.join(FILE), self.render())
            .with_context(|| format!("{FILE} cannot be written"))
    }

    /// Whether this toolchain makes the same bytes from the same sources.
    pub fn is_made_by(&self, toolchain: &Toolchain) -> bool {
        self.kind == toolchain.kind && self.identity == toolchain.identity
    }

    fn parse(text: &str) -> Result<Self> {
        let mut kind = None;
        let mut identity = Vec::new();
        let mut sources = BTreeMap::new();
        for (key, value) in pairs(text)? {
            if key == "toolchain" {
                kind = Some(
                    Kind::named(&value)
                        .with_context(|| format!("there is no kind of toolchain named {value}"))?,
                );
            } else if let Some(package) = key.strip_prefix(SOURCES) {
                sources.insert(package.to_owned(), value);
            } else {
                identity.push((key, value));
            }
        }
        Ok(Self {
            kind: kind.context("the line `toolchain = …` is missing")?,
            identity,
            sources,
        })
    }

    fn render(&self) -> String {
        let mut text = format!("{HEADER}toolchain = {}\n", self.kind);
        for (key, value) in &self.identity {
            text.push_str(&format!("{key} = {value}\n"));
        }
        for (package, digest) in &self.sources {
            text.push_str(&format!("{SOURCES}{package} = {digest}\n"));
        }
        text
    }
}

/// The lines `key = value` of a text, without empty lines and comments.
pub fn pairs(text: &str) -> Result<Vec<(String, String)>> {
    text.lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|line| {
            let (key, value) = line
                .split_once(" = ")
                .with_context(|| format!("the line `{line}` is not `key = value`"))?;
            Ok((key.to_owned(), value.to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            kind: Kind::Debian,
            identity: vec![
                ("rustc".to_owned(), "1.96.0 ac68".to_owned()),
                ("adapter".to_owned(), "48.0.8".to_owned()),
            ],
            sources: BTreeMap::from([("log-tool-use".to_owned(), "0f0f".to_owned())]),
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        assert_eq!(Record::parse(&record().render()).unwrap(), record());
    }

    #[test]
    fn another_compiler_is_another_toolchain() {
        let mut toolchain = Toolchain {
            kind: Kind::Debian,
            rustc: "rustc".into(),
            identity: record().identity,
        };
        assert!(record().is_made_by(&toolchain));
        toolchain.identity[0].1 = "1.97.0 beef".to_owned();
        assert!(!record().is_made_by(&toolchain));
    }

    #[test]
    fn a_broken_record_says_what_is_wrong() {
        let error = |text| Record::parse(text).unwrap_err().to_string();
        assert_eq!(error("rustc = 1"), "the line `toolchain = …` is missing");
        assert_eq!(
            error("toolchain = gentoo"),
            "there is no kind of toolchain named gentoo"
        );
        assert_eq!(
            error("toolchain"),
            "the line `toolchain` is not `key = value`"
        );
    }
}
