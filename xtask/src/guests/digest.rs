//! SHA-256 in the form that people compare.

use sha2::{Digest as _, Sha256};

/// The digest of these bytes, in hexadecimal.
pub fn of(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    #[test]
    fn of_nothing() {
        assert_eq!(
            super::of(b""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
