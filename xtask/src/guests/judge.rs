//! What a rebuilt guest says about the committed one: a pure table.

use super::digest;
use super::table::Guest;

/// What is known when a guest was rebuilt.
pub struct Evidence<'a> {
    /// The bytes in the repository; `None` where there is no such file.
    pub committed: Option<&'a [u8]>,
    /// The bytes just built.
    pub rebuilt: &'a [u8],
    /// Whether the compiler is the one that built the committed bytes.
    pub same_toolchain: bool,
    /// Whether the sources are those that the committed bytes were built from.
    pub same_sources: bool,
}

/// The verdict on a committed guest.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Byte for byte what its sources give.
    Same,
    /// Not comparable, since another compiler made it; its sources have not changed since.
    NotCompared,
    /// Not what its sources give. With the reason.
    Wrong(String),
}

/// Judges one guest.
pub fn judge(guest: &Guest, evidence: &Evidence<'_>) -> Verdict {
    let file = guest.file;
    let Some(committed) = evidence.committed else {
        return Verdict::Wrong(format!("{file} is not in the repository"));
    };
    if committed == evidence.rebuilt {
        return Verdict::Same;
    }
    let digests = format!(
        "committed sha256 {}, rebuilt sha256 {}",
        digest::of(committed),
        digest::of(evidence.rebuilt)
    );
    match (evidence.same_toolchain, evidence.same_sources) {
        (true, _) => Verdict::Wrong(format!("{file} differs: {digests}")),
        (false, false) => Verdict::Wrong(format!(
            "{file} is older than its sources, and built by another compiler: {digests}"
        )),
        (false, true) => Verdict::NotCompared,
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::GUESTS;
    use super::*;

    fn verdict(committed: Option<&[u8]>, same_toolchain: bool, same_sources: bool) -> Verdict {
        judge(
            &GUESTS[0],
            &Evidence {
                committed,
                rebuilt: b"new",
                same_toolchain,
                same_sources,
            },
        )
    }

    #[test]
    fn equal_bytes_are_right_whoever_made_them() {
        for (same_toolchain, same_sources) in
            [(true, true), (true, false), (false, true), (false, false)]
        {
            let verdict = verdict(Some(b"new"), same_toolchain, same_sources);
            assert_eq!(verdict, Verdict::Same);
        }
    }

    #[test]
    fn other_bytes_of_one_compiler_are_wrong() {
        for same_sources in [true, false] {
            let Verdict::Wrong(reason) = verdict(Some(b"old"), true, same_sources) else {
                panic!("it differs");
            };
            assert!(reason.starts_with(GUESTS[0].file), "{reason}");
            assert!(reason.contains(&digest::of(b"old")), "{reason}");
            assert!(reason.contains(&digest::of(b"new")), "{reason}");
        }
    }

    #[test]
    fn other_bytes_of_another_compiler_are_judged_by_their_sources() {
        assert_eq!(verdict(Some(b"old"), false, true), Verdict::NotCompared);
        assert!(matches!(
            verdict(Some(b"old"), false, false),
            Verdict::Wrong(_)
        ));
    }

    #[test]
    fn a_missing_file_is_wrong() {
        assert!(matches!(verdict(None, false, true), Verdict::Wrong(_)));
    }
}
