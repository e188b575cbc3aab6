//! One line of the log.

use std::fmt::Write;

/// More characters of a name are not logged.
const LONGEST: usize = 200;

/// A JSON object in ASCII, so that a name can neither begin a line of its own nor move a terminal.
pub fn line(time: &str, tool: &str, session: &str) -> String {
    let mut line = String::new();
    for (start, text) in [
        ("{\"time\":\"", time),
        ("\",\"tool\":\"", tool),
        ("\",\"session\":\"", session),
    ] {
        line.push_str(start);
        text.chars()
            .take(LONGEST)
            .for_each(|character| push_escaped(character, &mut line));
    }
    line.push_str("\"}\n");
    line
}

fn push_escaped(character: char, line: &mut String) {
    match character {
        '"' => line.push_str("\\\""),
        '\\' => line.push_str("\\\\"),
        '\n' => line.push_str("\\n"),
        ' '..='~' => line.push(character),
        _ => {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = write!(line, "\\u{unit:04x}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_name_holds_stays_inside_its_quotes() {
        assert_eq!(
            line(
                "t",
                "a\n\"}\\\u{1b}[31m\u{7f}",
                "é\u{1f600}\u{202e}\u{2028}"
            ),
            "{\"time\":\"t\",\"tool\":\"a\\n\\\"}\\\\\\u001b[31m\\u007f\",\"session\":\"\\u00e9\\ud83d\\ude00\\u202e\\u2028\"}\n"
        );
    }

    #[test]
    fn a_long_name_is_cut() {
        let line = line("t", &"x".repeat(1 << 20), "s");
        assert_eq!(
            line,
            format!(
                "{{\"time\":\"t\",\"tool\":\"{}\",\"session\":\"s\"}}\n",
                "x".repeat(200)
            )
        );
    }
}
