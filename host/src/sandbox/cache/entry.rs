//! One entry of the cache, as bytes: what it is for, what it holds, and the code that proves it.
//!
//! ```text
//! 0    16  the format, "hookcell cache 1"
//! 16   32  HMAC-SHA256 of all that follows
//! 48   32  SHA-256 of the component
//! 80   32  the engine that the machine code is for
//! 112   4  the length of the description, little endian
//! 116      the description, JSON
//!          the machine code, to the end
//! ```

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::outcome::Failure;
use crate::sandbox::shape::Shape;

const FORMAT: &[u8; 16] = b"hookcell cache 1";
const MAC: std::ops::Range<usize> = 16..48;
const DIGEST: std::ops::Range<usize> = 48..80;
const ENGINE: std::ops::Range<usize> = 80..112;
const LENGTH: std::ops::Range<usize> = 112..116;
const DESCRIPTION: usize = 116;

/// The secret that entries are authenticated with.
pub type Key = [u8; 32];

/// What an entry is for. An entry is used for nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    /// The SHA-256 of the component's bytes.
    pub digest: [u8; 32],
    /// The engine, its version and its settings.
    pub engine: [u8; 32],
}

/// What came of compiling a component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Description {
    /// It was compiled; the machine code follows.
    Compiled(Shape),
    /// It could not be compiled within its budget; no machine code follows.
    Refused {
        /// The failure.
        failure: Failure,
        /// When, in seconds since 1970 (UTC).
        at: u64,
    },
}

/// The bytes of an entry.
pub fn write(key: &Key, subject: Subject, description: &Description, code: &[u8]) -> Vec<u8> {
    let description = serde_json::to_vec(description).unwrap_or_default();
    let length = u32::try_from(description.len()).unwrap_or(u32::MAX);
    let mut bytes = Vec::with_capacity(DESCRIPTION + description.len() + code.len());
    bytes.extend_from_slice(FORMAT);
    bytes.extend_from_slice(&[0; 32]);
    bytes.extend_from_slice(&subject.digest);
    bytes.extend_from_slice(&subject.engine);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&description);
    bytes.extend_from_slice(code);
    let mac = mac(key, &bytes[MAC.end..]).finalize().into_bytes();
    bytes[MAC].copy_from_slice(&mac);
    bytes
}

/// Reads an entry that must be for `subject`: its description, and where in `bytes` the machine
/// code begins. `None` for anything but the very bytes that [`write()`] made with this key: they
/// are authenticated before anything in them is looked at.
pub fn read(key: &Key, subject: Subject, bytes: &[u8]) -> Option<(Description, usize)> {
    let found = authentic(key, bytes)?;
    if found != subject {
        return None;
    }
    let length = u32::from_le_bytes(bytes.get(LENGTH)?.try_into().ok()?);
    let code = DESCRIPTION.checked_add(usize::try_from(length).ok()?)?;
    let description = serde_json::from_slice(bytes.get(DESCRIPTION..code)?).ok()?;
    Some((description, code))
}

/// What an entry is for, if it was made with this key and nothing in it has changed since.
pub fn authentic(key: &Key, bytes: &[u8]) -> Option<Subject> {
    if !bytes.starts_with(FORMAT) || bytes.len() < DESCRIPTION {
        return None;
    }
    mac(key, &bytes[MAC.end..]).verify_slice(&bytes[MAC]).ok()?;
    Some(Subject {
        digest: bytes[DIGEST].try_into().ok()?,
        engine: bytes[ENGINE].try_into().ok()?,
    })
}

fn mac(key: &Key, bytes: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of HMAC may have any length");
    mac.update(bytes);
    mac
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::FailureKind;

    const KEY: Key = [7; 32];
    const SUBJECT: Subject = Subject {
        digest: [1; 32],
        engine: [2; 32],
    };

    fn refused() -> Description {
        Description::Refused {
            failure: Failure::new(FailureKind::NotCompiled, "too slow"),
            at: 1_700_000_000,
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let bytes = write(&KEY, SUBJECT, &refused(), b"code");
        let (description, code) = read(&KEY, SUBJECT, &bytes).unwrap();
        assert_eq!(description, refused());
        assert_eq!(&bytes[code..], b"code");
    }

    #[test]
    fn nothing_else_is() {
        let bytes = write(&KEY, SUBJECT, &refused(), b"code");
        for index in 0..bytes.len() {
            for bit in 0..8 {
                let mut bytes = bytes.clone();
                bytes[index] ^= 1 << bit;
                assert_eq!(read(&KEY, SUBJECT, &bytes), None, "byte {index}, bit {bit}");
            }
            assert_eq!(read(&KEY, SUBJECT, &bytes[..index]), None, "cut at {index}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert_eq!(read(&KEY, SUBJECT, &longer), None);
        assert_eq!(read(&[8; 32], SUBJECT, &bytes), None);
        for other in [
            Subject {
                digest: [3; 32],
                ..SUBJECT
            },
            Subject {
                engine: [3; 32],
                ..SUBJECT
            },
        ] {
            assert_eq!(read(&KEY, other, &bytes), None);
        }
    }

    #[test]
    fn a_length_that_was_signed_and_is_wrong_is_no_panic() {
        for length in [u32::MAX, 1 << 20] {
            let mut bytes = write(&KEY, SUBJECT, &refused(), b"");
            bytes[LENGTH].copy_from_slice(&length.to_le_bytes());
            let mac = mac(&KEY, &bytes[MAC.end..]).finalize().into_bytes();
            bytes[MAC].copy_from_slice(&mac);
            assert_eq!(authentic(&KEY, &bytes), Some(SUBJECT));
            assert_eq!(read(&KEY, SUBJECT, &bytes), None);
        }
    }
}
