//! Quotes and backslashes.

use super::{Context, Reader, Unreadable};
use crate::word::{CLOSE, is_mark};

impl Reader<'_> {
    pub(super) fn escaped_character(&mut self) -> Result<(), Unreadable> {
        self.position += 1;
        let rest = &self.text[self.position..];
        let Some(character) = rest.chars().next() else {
            return self.push("\\");
        };
        self.position += character.len_utf8();
        if character == '\n' {
            return Ok(());
        }
        self.push_quoted(&rest[..character.len_utf8()])
    }

    pub(super) fn single_quotes(&mut self) -> Result<(), Unreadable> {
        let start = self.position + 1;
        let length = self.text[start..].find('\'').ok_or(Unreadable)?;
        self.position = start + length + 1;
        self.push_quoted(&self.text[start..start + length])
    }

    pub(super) fn open_double_quotes(&mut self) -> Result<(), Unreadable> {
        self.position += 1;
        self.push_quoted("")?;
        self.enter(Context::DoubleQuote)
    }

    /// What is quoted is part of a word even if it is empty.
    pub(super) fn push_quoted(&mut self, text: &str) -> Result<(), Unreadable> {
        if text.bytes().any(|byte| byte == 0 || is_mark(byte)) {
            let text: String = text
                .chars()
                .filter(|character| *character != '\0')
                .map(|character| {
                    if character <= CLOSE {
                        '\u{fffd}'
                    } else {
                        character
                    }
                })
                .collect();
            return self.push_quoted(&text);
        }
        self.push(text)?;
        if let Some(draft) = &mut self.partial()?.draft {
            draft.quoted = true;
        }
        Ok(())
    }
}
