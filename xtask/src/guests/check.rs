//! `cargo xtask guests --check`: are the committed guests what their sources say?

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};

use super::build::Builder;
use super::judge::{Evidence, Verdict, judge};
use super::record::{self, Record};
use super::sources;
use super::table::GUESTS;
use super::toolchain::{self, Choice};
use crate::{repository, say};

/// Rebuilds all guests, keeps none of them, and fails if one differs from what is committed.
///
/// Where this machine cannot have the compiler that made the committed ones, bytes say nothing: the
/// guests are built all the same, and whether their sources have changed decides.
pub fn check(choice: Choice) -> Result<()> {
    let root = repository::root()?;
    let recorded = Record::read()?
        .with_context(|| format!("{} is missing: run `cargo xtask guests`", record::FILE))?;
    let toolchain = toolchain::obtain(choice, Some(recorded.kind))?;
    let builder = Builder::new(&toolchain)?;
    let mut source_digests = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut not_compared = Vec::new();
    for guest in &GUESTS {
        let rebuilt = builder.build(guest)?;
        let committed = match std::fs::read(root.join(guest.file)) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                return Err(error).with_context(|| format!("{} cannot be read", guest.file));
            }
        };
        if !source_digests.contains_key(guest.package) {
            source_digests.insert(guest.package, sources::digest(guest.package)?);
        }
        let evidence = Evidence {
            committed: committed.as_deref(),
            rebuilt: &rebuilt,
            same_toolchain: recorded.is_made_by(&toolchain),
            same_sources: source_digests.get(guest.package) == recorded.sources.get(guest.package),
        };
        match judge(guest, &evidence) {
            Verdict::Same => say::note(&format!("{} is what its sources give", guest.file)),
            Verdict::NotCompared => not_compared.push(guest.file),
            Verdict::Wrong(reason) => wrong.push(reason),
        }
    }
    if !not_compared.is_empty() {
        say::notice(&format!(
            "the bytes of these guests were NOT compared, since the compiler that built the \
             committed ones is not the one at hand: {}. They build, and their sources are those \
             that the committed ones were built from.\ncommitted: {}\nat hand:   {}",
            not_compared.join(", "),
            described(recorded.kind, &recorded.identity),
            described(toolchain.kind, &toolchain.identity),
        ));
    }
    if !wrong.is_empty() {
        bail!(
            "{}\nrun `cargo xtask guests` and commit the built files with {}",
            wrong.join("\n"),
            record::FILE
        );
    }
    Ok(())
}

fn described(kind: toolchain::Kind, identity: &[(String, String)]) -> String {
    let mut text = kind.to_string();
    for (key, value) in identity {
        text.push_str(&format!(", {key} {value}"));
    }
    text
}
