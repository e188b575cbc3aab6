//! An entry of the cache of compiled code: only what was written with the key is read, and nothing
//! that was signed, whatever it says, is a panic.
#![no_main]

use hmac::{Hmac, KeyInit as _, Mac as _};
use hookcell::sandbox::cache::entry::{Key, Subject, authentic, read, write};
use libfuzzer_sys::fuzz_target;
use sha2::Sha256;

const KEY: Key = [7; 32];

const SUBJECT: Subject = Subject {
    digest: *b"the digest of a component's wasm",
    engine: *b"the engine with all its settings",
};

/// Where the authentication code ends, and what it is over begins.
const SIGNED: usize = 48;

// A file as it may lie there: anything, and the same with a code that is right for it.
fuzz_target!(|input: (u16, u8, &[u8])| {
    let (index, bit, bytes) = input;
    assert_eq!(authentic(&KEY, bytes), None);
    assert_eq!(read(&KEY, SUBJECT, bytes), None);

    let mut signed = bytes.to_vec();
    if signed.len() >= SIGNED {
        let mut mac = Hmac::<Sha256>::new_from_slice(&KEY).expect("any length will do");
        mac.update(&signed[SIGNED..]);
        signed[SIGNED - 32..SIGNED].copy_from_slice(&mac.finalize().into_bytes());
    }
    let subject = authentic(&KEY, &signed);
    if let Some(subject) = subject {
        assert_eq!(subject.digest, signed[SIGNED..SIGNED + 32]);
        assert_eq!(subject.engine, signed[SIGNED + 32..SIGNED + 64]);
        assert_eq!(authentic(&[8; 32], &signed), None);
    }
    let Some((description, code)) = read(&KEY, SUBJECT, &signed) else {
        return;
    };
    assert_eq!(subject, Some(SUBJECT));

    // What was read is what is written again, and no longer once a bit of it is another.
    let mut written = write(&KEY, SUBJECT, &description, &signed[code..]);
    let (again, code_again) = read(&KEY, SUBJECT, &written).expect("it was just written");
    assert_eq!(again, description);
    assert_eq!(written[code_again..], signed[code..]);
    let index = usize::from(index) % written.len();
    written[index] ^= 1 << (bit % 8);
    assert_eq!(read(&KEY, SUBJECT, &written), None);
});
