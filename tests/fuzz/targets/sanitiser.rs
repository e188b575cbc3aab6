//! The sanitiser: whatever bytes come in, what goes out shows and does not act, and is bounded.
#![no_main]

use hookcell::text::{LONGEST, from_bytes, one_line, several_lines};
use hookcell_fuzz::{assert_shown, assert_shown_on_one_line};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (repeat, longest, bytes) = input;
    // Some long texts, since they are where the bounds are.
    let bytes = bytes.repeat(1 + usize::from(repeat.saturating_sub(200)));
    let text = String::from_utf8_lossy(&bytes);
    let longest = usize::from(longest);

    let whole = from_bytes(&bytes);
    assert_shown(&whole);
    assert_eq!(whole, several_lines(&text, LONGEST));
    let several = several_lines(&text, longest);
    assert_shown(&several);
    let one = one_line(&text, longest);
    assert_shown_on_one_line(&one);
    for (shown, longest) in [(&whole, LONGEST), (&several, longest), (&one, longest)] {
        let length = shown.chars().count();
        assert!(length <= longest || length == longest + 1 && shown.ends_with('…'));
        // What was made safe is left alone from then on.
        assert_eq!(several_lines(shown, usize::MAX), *shown);
    }
    assert_eq!(one_line(&one, usize::MAX), one);
    if bytes.iter().all(|byte| (b' '..0x7f).contains(byte)) {
        let kept = bytes.len().min(LONGEST);
        assert_eq!(&whole.as_bytes()[..kept], &bytes[..kept]);
        assert_eq!(whole.ends_with('…'), bytes.len() > LONGEST);
    }
});
