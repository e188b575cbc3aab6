//! Redirections and here-documents: neither is a word of the command.

use super::{Context, Kind, List, Reader, Unreadable};
use crate::word::{CLOSE, OPEN, is_variable_name};

/// A redirection that waits for its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Redirection {
    /// The next word is a file name, or a here-string.
    File,
    /// The next word ends a here-document.
    HereDocument { tabs_are_stripped: bool },
}

/// A here-document whose text begins at the next line.
pub(super) struct HereDocument {
    pub delimiter: String,
    pub quoted: bool,
    pub tabs_are_stripped: bool,
}

impl Reader<'_> {
    pub(super) fn redirection(&mut self) -> Result<(), Unreadable> {
        if matches!(self.peek(1), Some(b'(')) {
            self.position += 2;
            self.push_unknown()?;
            return self.enter(Context::Commands(List::Substitution));
        }
        let partial = self.partial()?;
        // `2>` and `{name}>` begin with a descriptor, which is no word.
        let is_descriptor = partial.draft.as_ref().is_some_and(|draft| {
            !draft.quoted
                && (draft.text.bytes().all(|byte| byte.is_ascii_digit())
                    || draft
                        .text
                        .strip_prefix(OPEN)
                        .and_then(|text| text.strip_suffix(CLOSE))
                        .is_some_and(is_variable_name))
        });
        if is_descriptor {
            partial.draft = None;
        }
        self.end_word()?;
        let (operator, redirection) = [
            ("<<<", Redirection::File),
            (
                "<<-",
                Redirection::HereDocument {
                    tabs_are_stripped: true,
                },
            ),
            (
                "<<",
                Redirection::HereDocument {
                    tabs_are_stripped: false,
                },
            ),
            ("<&", Redirection::File),
            ("<>", Redirection::File),
            (">>", Redirection::File),
            (">&", Redirection::File),
            (">|", Redirection::File),
            ("<", Redirection::File),
            (">", Redirection::File),
        ]
        .into_iter()
        .find(|(operator, _)| self.starts_with(operator))
        .ok_or(Unreadable)?;
        self.position += operator.len();
        self.partial()?.redirection = Some(redirection);
        Ok(())
    }

    /// Skips the here-documents that begin at this line.
    pub(super) fn read_here_documents(&mut self) -> Result<(), Unreadable> {
        for document in std::mem::take(&mut self.here_documents) {
            let start = self.position;
            let mut end = start;
            // A line that a backslash joins to the one before it ends nothing.
            let mut joined = false;
            while self.position < self.text.len() {
                let rest = &self.text[self.position..];
                let (line, length) = match rest.find('\n') {
                    Some(length) => (&rest[..length], length + 1),
                    None => (rest, rest.len()),
                };
                self.position += length;
                let stripped = if document.tabs_are_stripped {
                    line.trim_start_matches('\t')
                } else {
                    line
                };
                if stripped == document.delimiter && !joined {
                    break;
                }
                end = self.position;
                let backslashes = line.len() - line.trim_end_matches('\\').len();
                joined = !document.quoted && backslashes % 2 == 1;
            }
            let body = &self.text[start..end];
            if !document.quoted && body.contains(['$', '`']) {
                self.listener.nested(body.to_owned(), Kind::HereDocument);
            }
        }
        Ok(())
    }
}
