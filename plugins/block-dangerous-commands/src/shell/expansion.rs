//! What begins with a dollar or a backtick.

use super::{Context, Kind, List, Reader, Redirection, Unreadable};
use crate::word::{EXPANDED, is_variable_name};

/// Longer names, and more bytes that variables put in, are not read.
const LONGEST_NAME: usize = 200;
const MOST_EXPANDED: usize = 1 << 20;

impl Reader<'_> {
    /// What begins with a dollar; `quoted` within double quotes and the like.
    pub(super) fn dollar(&mut self, quoted: bool) -> Result<(), Unreadable> {
        // A delimiter is taken as it stands, and whether its dollars quote depends on the shell.
        if matches!(
            self.partial()?.redirection,
            Some(Redirection::HereDocument { .. })
        ) {
            return Err(Unreadable);
        }
        let next = self.peek(1);
        match next {
            Some(b'(') if self.peek(2) == Some(b'(') => {
                self.position += 3;
                self.push_unknown()?;
                self.enter(Context::Arithmetic(0))
            }
            Some(b'(') => {
                self.position += 2;
                self.push_unknown()?;
                self.enter(Context::Commands(List::Substitution))
            }
            Some(b'{') => self.parameter(quoted),
            Some(b'\'') if !quoted => {
                self.position += 2;
                let decoded = self.dollar_quotes()?;
                self.push_quoted(&decoded)
            }
            Some(b'"') if !quoted => {
                self.position += 1;
                self.open_double_quotes()
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                let rest = &self.text[self.position + 1..];
                let part_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                let name = &rest[..rest.bytes().take_while(part_of_name).count()];
                self.position += 1 + name.len();
                self.variable(name, quoted)
            }
            Some(byte) if byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) => {
                self.position += 2;
                self.push_unknown()
            }
            _ => {
                self.position += 1;
                self.push("$")
            }
        }
    }

    /// `${…}`
    fn parameter(&mut self, quoted: bool) -> Result<(), Unreadable> {
        let rest = &self.text[self.position + 2..];
        if let Some(length) = rest
            .bytes()
            .take(LONGEST_NAME)
            .position(|byte| byte == b'}')
            && is_variable_name(&rest[..length])
            && !rest[..length].contains('[')
        {
            self.position += 2 + length + 1;
            return self.variable(&rest[..length], quoted);
        }
        // `${ command; }` and `${| command; }` run the command in newer shells.
        if rest.starts_with([' ', '\t', '\n', '|']) {
            return Err(Unreadable);
        }
        self.position += 2;
        self.push_unknown()?;
        self.enter(Context::Parameter)
    }

    fn variable(&mut self, name: &str, quoted: bool) -> Result<(), Unreadable> {
        let Some(value) = self.listener.variable(name) else {
            return self.push_unknown();
        };
        self.expanded += value.len();
        if self.expanded > MOST_EXPANDED {
            return Err(Unreadable);
        }
        // The value of an assignment stays one word.
        let assigned = self.partial()?.draft.as_ref().is_some_and(|draft| {
            let length = draft
                .text
                .bytes()
                .take(LONGEST_NAME)
                .position(|byte| byte == b'=');
            length.is_some_and(|length| is_variable_name(&draft.text[..length]))
        });
        if quoted || assigned {
            self.push(&value)?;
            return self.push(EXPANDED.encode_utf8(&mut [0; 4]));
        }
        // Outside quotes the value is several words.
        let blank = |character: char| matches!(character, ' ' | '\t' | '\n');
        for (index, piece) in value.split(blank).enumerate() {
            if index > 0 {
                self.end_word()?;
            }
            if !piece.is_empty() {
                self.push(piece)?;
                self.push(EXPANDED.encode_utf8(&mut [0; 4]))?;
            }
        }
        Ok(())
    }

    /// The rest of `$'…'`, with its escapes decoded.
    fn dollar_quotes(&mut self) -> Result<String, Unreadable> {
        let mut decoded = String::new();
        loop {
            let rest = &self.text[self.position..];
            let length = rest.find(['\\', '\'']).ok_or(Unreadable)?;
            decoded.push_str(&rest[..length]);
            self.position += length + 1;
            if rest.as_bytes()[length] == b'\'' {
                return Ok(decoded);
            }
            let rest = &self.text[self.position..];
            let kind = rest.chars().next().ok_or(Unreadable)?;
            self.position += kind.len_utf8();
            match kind {
                'x' => self.code(16, 2, &mut decoded)?,
                'u' => self.code(16, 4, &mut decoded)?,
                'U' => self.code(16, 8, &mut decoded)?,
                '0'..='7' => {
                    self.position -= 1;
                    self.code(8, 3, &mut decoded)?;
                }
                'n' => decoded.push('\n'),
                't' => decoded.push('\t'),
                '\\' | '\'' | '"' | '?' => decoded.push(kind),
                // Control characters, which no program has in its name.
                _ => decoded.push('\u{fffd}'),
            }
        }
    }

    fn code(&mut self, base: u32, longest: usize, decoded: &mut String) -> Result<(), Unreadable> {
        let rest = &self.text[self.position..];
        let is_digit = |character: &char| character.is_digit(base);
        let digits = &rest[..rest.chars().take(longest).take_while(is_digit).count()];
        self.position += digits.len();
        let code = u32::from_str_radix(digits, base).map_err(|_| Unreadable)?;
        // Bash ends the string at a zero.
        let character = char::from_u32(code)
            .filter(|character| *character != '\0')
            .ok_or(Unreadable)?;
        decoded.push(character);
        Ok(())
    }

    pub(super) fn backticks(&mut self) -> Result<(), Unreadable> {
        if matches!(
            self.partial()?.redirection,
            Some(Redirection::HereDocument { .. })
        ) {
            return Err(Unreadable);
        }
        self.position += 1;
        let mut inner = String::new();
        loop {
            let rest = &self.text[self.position..];
            let length = rest.find(['\\', '`']).ok_or(Unreadable)?;
            inner.push_str(&rest[..length]);
            self.position += length + 1;
            if rest.as_bytes()[length] == b'`' {
                break;
            }
            match self.peek(0) {
                Some(byte @ (b'`' | b'\\' | b'$')) => {
                    self.position += 1;
                    inner.push(char::from(byte));
                }
                // Within double quotes it is one level of quoting less.
                Some(b'"') if self.is_in_double_quotes() => {
                    self.position += 1;
                    inner.push('"');
                }
                _ => inner.push('\\'),
            }
        }
        self.listener.nested(inner, Kind::Script);
        self.push_unknown()
    }
}
