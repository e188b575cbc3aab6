//! The compilers that guests can be built with, and which of them to take.

use std::fmt;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::ValueEnum;

use super::{debian, rustup};
use crate::say;

/// Where a compiler for WebAssembly comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The Rust toolchain in use, with the targets that rustup adds to it.
    Rustup,
    /// A compiler and std made from Debian's packages.
    Debian,
}

impl Kind {
    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Rustup, Self::Debian]
            .into_iter()
            .find(|kind| kind.to_string() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Rustup => "rustup",
            Self::Debian => "debian",
        })
    }
}

/// Which kind the developer wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Choice {
    /// The kind that built the committed guests where this machine can have it, else the other
    Auto,
    /// The wasm targets of the Rust toolchain in use, added by rustup
    Rustup,
    /// A compiler made from Debian's packages (xtask/wasm-toolchain)
    Debian,
}

impl Choice {
    /// The kinds to try, in order.
    fn candidates(self, recorded: Option<Kind>) -> Vec<Kind> {
        match (self, recorded) {
            (Self::Rustup, _) => vec![Kind::Rustup],
            (Self::Debian, _) => vec![Kind::Debian],
            (Self::Auto, Some(Kind::Debian)) => vec![Kind::Debian, Kind::Rustup],
            (Self::Auto, _) => vec![Kind::Rustup, Kind::Debian],
        }
    }
}

/// A compiler that is ready to build guests.
#[derive(Debug)]
pub struct Toolchain {
    /// Where it comes from.
    pub kind: Kind,
    /// The compiler.
    pub rustc: PathBuf,
    /// All that decides the bytes it makes, as names and values.
    pub identity: Vec<(String, String)>,
}

/// Finds or makes a toolchain.
pub fn obtain(choice: Choice, recorded: Option<Kind>) -> Result<Toolchain> {
    let mut failures = Vec::new();
    for kind in choice.candidates(recorded) {
        let attempt = match kind {
            Kind::Rustup => rustup::obtain(),
            Kind::Debian => debian::obtain(),
        };
        match attempt {
            Ok(mut toolchain) => {
                // One release makes the same bytes on each kind of machine, or should.
                let machine = format!("{} {}", std::env::consts::ARCH, std::env::consts::OS);
                toolchain.identity.push(("machine".to_owned(), machine));
                return Ok(toolchain);
            }
            Err(error) => {
                say::note(&format!(
                    "the {kind} toolchain cannot be had here: {error:#}"
                ));
                failures.push(format!("{kind}: {error:#}"));
            }
        }
    }
    Err(anyhow::anyhow!(failures.join("; "))).context(
        "no compiler for WebAssembly; with the internet, `rustup target add wasm32-wasip2 \
         wasm32-wasip1` is enough",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_kind_comes_first() {
        assert_eq!(
            Choice::Auto.candidates(Some(Kind::Debian)),
            [Kind::Debian, Kind::Rustup]
        );
        assert_eq!(
            Choice::Auto.candidates(Some(Kind::Rustup)),
            [Kind::Rustup, Kind::Debian]
        );
    }

    #[test]
    fn without_a_record_the_quick_one_comes_first() {
        assert_eq!(Choice::Auto.candidates(None), [Kind::Rustup, Kind::Debian]);
    }

    #[test]
    fn a_wish_is_followed_or_fails() {
        assert_eq!(
            Choice::Rustup.candidates(Some(Kind::Debian)),
            [Kind::Rustup]
        );
    }

    #[test]
    fn names_are_read_back() {
        for kind in [Kind::Rustup, Kind::Debian] {
            assert_eq!(Kind::named(&kind.to_string()), Some(kind));
        }
        assert_eq!(Kind::named("gentoo"), None);
    }
}
