//! Odd JSON made ordinary.
//!
//! Agents send what models and tools produced: half of a surrogate pair, numbers that no machine
//! type holds, arrays ten thousand deep, `NaN`. A strict parser refuses the whole event for one of
//! them, and a guard that cannot read its event guards nothing. [`normalise`] rewrites such a text
//! into JSON that serde_json takes. It runs only when the strict parser has refused, in one pass,
//! without recursion.

/// Levels of nesting that are kept as they are. serde_json takes 128.
const DEEPEST: usize = 100;

/// Rewrites `text` so that a strict parser takes it:
///
/// - half of a surrogate pair (`\ud800`) becomes `\ufffd`;
/// - a number that is too large becomes the largest number of its sign;
/// - `NaN` becomes `null`, `Infinity` and `-Infinity` the largest numbers;
/// - an array or object that is nested more than a hundred levels deep becomes a string that holds
///   its text;
/// - a control character inside a string is escaped.
///
/// Text that is not JSON stays not JSON.
pub(crate) fn normalise(text: &str) -> String {
    let mut output = String::with_capacity(text.len() + 16);
    let bytes = text.as_bytes();
    let mut position = 0;
    let mut depth = 0_usize;
    while let Some(&byte) = bytes.get(position) {
        let start = position;
        match byte {
            b'"' => {
                position = string_end(bytes, start);
                copy_string(&text[start..position], &mut output);
            }
            b'[' | b'{' if depth == DEEPEST => {
                position = nested_end(bytes, start);
                bury(&text[start..position], &mut output);
            }
            b'[' | b'{' => {
                depth += 1;
                position += 1;
                output.push(char::from(byte));
            }
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                position += 1;
                output.push(char::from(byte));
            }
            b'-' | b'+' | b'.' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                position = start + token_length(&bytes[start..]);
                copy_token(&text[start..position], &mut output);
            }
            _ => {
                position = start + ordinary_length(&bytes[start..]);
                output.push_str(&text[start..position]);
            }
        }
    }
    output
}

/// The position behind the string that begins at `start`; the end of the text if it is not closed.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut position = start + 1;
    while let Some(&byte) = bytes.get(position) {
        match byte {
            b'"' => return position + 1,
            b'\\' => position += 2,
            _ => position += 1,
        }
    }
    bytes.len()
}

/// The position behind the array or object that begins at `start`.
fn nested_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut position = start;
    while let Some(&byte) = bytes.get(position) {
        match byte {
            b'"' => {
                position = string_end(bytes, position);
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => {
                depth -= 1;
                if depth == 0 {
                    return position + 1;
                }
            }
            _ => {}
        }
        position += 1;
    }
    bytes.len()
}

fn token_length(bytes: &[u8]) -> usize {
    let part_of_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    bytes.iter().take_while(|byte| part_of_token(byte)).count()
}

/// At least one byte; ends at a character's border, since all bytes that end it are ASCII.
fn ordinary_length(bytes: &[u8]) -> usize {
    let ends = |byte: &u8| byte.is_ascii_alphanumeric() || b"\"[]{}-+.".contains(byte);
    bytes.iter().skip(1).take_while(|byte| !ends(byte)).count() + 1
}

/// Copies a number or a word. The largest number is written with 17 digits, which every reader of
/// double precision reads back exactly.
fn copy_token(token: &str, output: &mut String) {
    const LARGEST: &str = "1.7976931348623157e308";
    match token {
        "NaN" => output.push_str("null"),
        "Infinity" => output.push_str(LARGEST),
        "-Infinity" => {
            output.push('-');
            output.push_str(LARGEST);
        }
        // Words such as `infinity` parse as numbers in Rust, and are not JSON: they stay as they are.
        _ if token.ends_with(|last: char| last.is_ascii_digit()) => match token.parse::<f64>() {
            Ok(number) if number.is_infinite() => {
                output.push_str(if number < 0.0 { "-" } else { "" });
                output.push_str(LARGEST);
            }
            _ => output.push_str(token),
        },
        _ => output.push_str(token),
    }
}

/// Copies a string with its quotes.
fn copy_string(string: &str, output: &mut String) {
    let mut rest = string;
    while let Some(index) = rest.find(|c: char| c == '\\' || c < ' ') {
        output.push_str(&rest[..index]);
        rest = &rest[index..];
        if let Some(unit) = escaped_unit(rest) {
            // Of a pair both halves are copied, of half a pair nothing.
            let pair = matches!(unit, 0xD800..=0xDBFF)
                && matches!(rest.get(6..).and_then(escaped_unit), Some(0xDC00..=0xDFFF));
            let length = if pair { 12 } else { 6 };
            let lone = !pair && matches!(unit, 0xD800..=0xDFFF);
            output.push_str(if lone { "\\ufffd" } else { &rest[..length] });
            rest = &rest[length..];
        } else {
            // `\n`, `\"` and the like are two characters; a control character is one.
            let mut characters = rest.chars();
            match characters.next() {
                Some('\\') => {
                    output.push('\\');
                    output.extend(characters.next());
                }
                Some(control) => push_escaped(control, output),
                None => {}
            }
            rest = characters.as_str();
        }
    }
    output.push_str(rest);
}

/// The UTF-16 unit of the `\uXXXX` at the start of `text`.
fn escaped_unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits
        .bytes()
        .all(|digit| digit.is_ascii_hexdigit())
        .then(|| u32::from_str_radix(digits, 16).ok())?
}

/// Writes JSON text as one JSON string.
fn bury(text: &str, output: &mut String) {
    output.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                output.push('\\');
                output.push(character);
            }
            character if character < ' ' => push_escaped(character, output),
            character => output.push(character),
        }
    }
    output.push('"');
}

fn push_escaped(control: char, output: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let code = control as usize;
    output.push_str("\\u00");
    output.push(char::from(DIGITS[code >> 4 & 0xf]));
    output.push(char::from(DIGITS[code & 0xf]));
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn parsed(text: &str) -> Value {
        serde_json::from_str(&normalise(text)).unwrap_or_else(|error| panic!("{error}: {text:.80}"))
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced_and_a_whole_one_stays() {
        assert_eq!(
            normalise(r#""\ud83d\ude00 \ud83d \ude00 \ud83d\n""#),
            r#""\ud83d\ude00 \ufffd \ufffd \ufffd\n""#
        );
        assert_eq!(
            normalise(r#""\ud83d\ud83d\ude00""#),
            r#""\ufffd\ud83d\ude00""#
        );
        assert_eq!(
            parsed(r#"{"\udfff":"a\\ud800"}"#),
            json!({"\u{fffd}": "a\\ud800"})
        );
    }

    #[test]
    fn numbers_beyond_double_precision_become_the_largest() {
        let huge = "9".repeat(400);
        assert_eq!(
            parsed(&format!("[1e999,-1e999,{huge},-{huge}]")),
            json!([f64::MAX, f64::MIN, f64::MAX, f64::MIN])
        );
        assert_eq!(
            parsed("[NaN,Infinity,-Infinity]"),
            json!([null, f64::MAX, f64::MIN])
        );
        assert_eq!(
            normalise("[1,-0,1.5e-7,true,null]"),
            "[1,-0,1.5e-7,true,null]"
        );
    }

    #[test]
    fn what_is_nested_deeper_than_a_hundred_levels_becomes_its_text() {
        let inner = r#"["a\"b", {"c": 1}]"#;
        let text = format!("{}{inner}{}", "[".repeat(100), "]".repeat(100));
        let mut value = &parsed(&text);
        for _ in 0..100 {
            value = &value[0];
        }
        assert_eq!(value, &json!(inner));

        let text = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert!(parsed(&text).is_array());
    }

    #[test]
    fn control_characters_inside_strings_are_escaped() {
        assert_eq!(parsed("\"a\u{1}\n\tb\u{1f}\""), json!("a\u{1}\n\tb\u{1f}"));
    }

    #[test]
    fn what_is_not_json_stays_so() {
        for text in [
            "",
            "{",
            "\"abc",
            "\"abc\\",
            "\"\\u12",
            "{'a':1}",
            "infinity",
            "nan",
            "01",
            "+1",
            "1.",
            "[1 2]",
            "]]",
            "{\"a\":é}",
        ] {
            assert!(
                serde_json::from_str::<Value>(&normalise(text)).is_err(),
                "{text}"
            );
        }
    }

    #[test]
    fn ordinary_json_is_copied_unchanged() {
        let text = r#" {"größe": [1, 2.5, "日本 \"x\" \\ \u00e9", {"a": {}}, []], "b": false} "#;
        assert_eq!(normalise(text), text);
    }
}
