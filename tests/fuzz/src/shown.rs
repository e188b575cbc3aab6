//! What text must be like once it was made safe to show. Written from the Unicode tables and not
//! from the host's own list.

/// Panics if `text` holds a character that acts, other than a line feed or a tab.
#[track_caller]
pub fn assert_shown(text: &str) {
    let acting = text.chars().find(|&c| acts(c) && c != '\n' && c != '\t');
    assert_eq!(acting, None, "{text:?}");
}

/// Panics if `text` holds a character that acts.
#[track_caller]
pub fn assert_shown_on_one_line(text: &str) {
    assert_eq!(text.chars().find(|&c| acts(c)), None, "{text:?}");
}

fn acts(c: char) -> bool {
    let code = u32::from(c);
    // Categories Cc, Zl and Zp.
    let moves = code < 0x20 || (0x7f..0xa0).contains(&code) || matches!(code, 0x2028 | 0x2029);
    // Property Bidi_Control.
    let turns = matches!(code, 0x61c | 0x200e | 0x200f | 0x202a..=0x202e | 0x2066..=0x2069);
    // Of the property Default_Ignorable_Code_Point what has no use in a script or an emoji.
    let hides = matches!(code, 0xad | 0x180e | 0x200b..=0x200d | 0x2060..=0x206f | 0xfeff)
        || matches!(code, 0xe0001 | 0xe0020..=0xe007f | 0xe0100..=0xe01ef);
    let annotates = matches!(code, 0xfff9..=0xfffb);
    moves || turns || hides || annotates
}
