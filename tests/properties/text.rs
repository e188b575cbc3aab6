//! The sanitiser: what it lets out shows, and is bounded.

use hookcell::text::{LONGEST, from_bytes, one_line, several_lines};
use proptest::prelude::*;

use crate::generate::{bytes, text};

/// Categories Cc, Zl and Zp, the property Bidi_Control, and of Default_Ignorable_Code_Point what has
/// no use in a script or an emoji: by the Unicode tables, not by the host's list.
fn acts(c: char) -> bool {
    let code = u32::from(c);
    code < 0x20
        || (0x7f..0xa0).contains(&code)
        || matches!(code, 0x2028 | 0x2029)
        || matches!(code, 0x61c | 0x200e | 0x200f | 0x202a..=0x202e | 0x2066..=0x2069)
        || matches!(code, 0xad | 0x180e | 0x200b..=0x200d | 0x2060..=0x206f | 0xfeff)
        || matches!(code, 0xfff9..=0xfffb | 0xe0001 | 0xe0020..=0xe007f | 0xe0100..=0xe01ef)
}

/// How a character stands in a line, as the module's documentation has it.
fn shown_as(c: char, lines: bool) -> String {
    match c {
        '\n' | '\t' if lines => c.to_string(),
        '\r' if lines => String::new(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        _ if acts(c) => format!("\\u{{{:x}}}", u32::from(c)),
        _ => c.to_string(),
    }
}

/// As many characters as fit, each whole, and a mark if that is not all.
fn expected(text: &str, longest: usize, lines: bool) -> String {
    let mut shown = String::new();
    let mut room = longest;
    for c in text.chars() {
        let piece = shown_as(c, lines);
        let Some(left) = room.checked_sub(piece.chars().count()) else {
            return shown + "…";
        };
        room = left;
        shown += &piece;
    }
    shown
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn text_is_written_out_and_cut_exactly(text in text(), longest in 0_usize..80) {
        prop_assert_eq!(one_line(&text, longest), expected(&text, longest, false));
        prop_assert_eq!(several_lines(&text, longest), expected(&text, longest, true));
        prop_assert_eq!(several_lines(&text, usize::MAX), expected(&text, usize::MAX, true));
    }

    #[test]
    fn nothing_that_acts_comes_out_and_nothing_is_longer_than_its_bound(
        bytes in bytes(),
        times in prop_oneof![9 => 1_usize..20, 1 => 1_usize..2_000],
        longest in 0_usize..200,
    ) {
        let bytes = bytes.repeat(times);
        let text = String::from_utf8_lossy(&bytes);
        for (shown, bound) in [
            (from_bytes(&bytes).to_string(), LONGEST),
            (several_lines(&text, longest).to_string(), longest),
            (one_line(&text, longest).replace(['\n', '\t'], "\u{7}"), longest),
        ] {
            let acting = shown.chars().find(|&c| acts(c) && c != '\n' && c != '\t');
            prop_assert_eq!(acting, None);
            // The mark of the cut comes on top.
            prop_assert!(shown.chars().count() <= bound + 1);
            prop_assert!(shown.chars().count() <= bound || shown.ends_with('…'));
        }
        prop_assert_eq!(from_bytes(&bytes), several_lines(&text, LONGEST));
    }
}
