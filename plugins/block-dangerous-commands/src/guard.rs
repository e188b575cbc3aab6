//! Whether a command text may run.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use crate::inner::{Inner, inner};
use crate::pattern::Pattern;
use crate::shell::{Kind, Listener, Unreadable, read};
use crate::word::Word;

/// Scripts within scripts, commands within one command, commands in all, and bytes read beyond the
/// text's own. What exceeds them is not read, so that no text can use up the guard's time.
const DEEPEST: usize = 16;
const MOST_INNER: usize = 200;
const MOST_COMMANDS: usize = 500_000;
const MOST_EXTRA: usize = 1 << 20;
/// The longest value of a variable that is remembered, and the most variables.
const LONGEST_VALUE: usize = 4096;
const MOST_VARIABLES: usize = 1000;

/// Why a command may not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// The pattern, as it was written.
    pub pattern: String,
    /// Whether the pattern's words were only found in the text, which could not be read.
    pub is_a_guess: bool,
}

/// Looks for the first command that matches one of `patterns`.
pub fn check(text: &str, patterns: &[Pattern]) -> Option<Denial> {
    let mut guard = Guard::new(patterns, text);
    guard.work(text);
    guard.denial
}

/// Like [`check`], for an agent that gives the words of a command instead of a text.
pub fn check_words(words: Vec<String>, patterns: &[Pattern]) -> Option<Denial> {
    let text = words.join(" ");
    let mut guard = Guard::new(patterns, &text);
    guard.command(words.into_iter().map(Word::verbatim).collect());
    guard.work("");
    guard.denial
}

struct Guard<'a> {
    patterns: &'a [Pattern],
    /// The whole text, which is searched for what cannot be read.
    text: &'a str,
    pending: VecDeque<(String, Kind, usize)>,
    depth: usize,
    /// Bytes and commands that may still be read.
    bytes_left: usize,
    commands_left: usize,
    variables: BTreeMap<String, String>,
    /// Whether the text has been searched, in parts and as a whole.
    guessed: [bool; 2],
    denial: Option<Denial>,
}

impl<'a> Guard<'a> {
    fn new(patterns: &'a [Pattern], text: &'a str) -> Self {
        // `IFS` is a blank that needs no blank to write.
        let variables = BTreeMap::from([("IFS".to_owned(), " ".to_owned())]);
        Self {
            patterns,
            text,
            pending: VecDeque::new(),
            depth: 0,
            bytes_left: text.len() * 2 + MOST_EXTRA,
            commands_left: MOST_COMMANDS,
            variables,
            guessed: [false; 2],
            denial: None,
        }
    }

    fn work(&mut self, text: &str) {
        self.read(text, Kind::Script);
        while !self.is_done()
            && let Some((text, kind, depth)) = self.pending.pop_front()
        {
            self.depth = depth;
            self.read(&text, kind);
        }
    }

    fn read(&mut self, text: &str, kind: Kind) {
        if self.bytes_left < text.len() {
            return self.guess(false);
        }
        self.bytes_left -= text.len();
        if read(text, kind, self) == Err(Unreadable) {
            self.guess(false);
        }
    }

    fn count_command(&mut self) {
        self.commands_left = self.commands_left.saturating_sub(1);
        if self.commands_left == 0 {
            self.guess(false);
        }
    }

    /// What cannot be read is denied if it holds a pattern's words; if `in_one_command`, only if
    /// no end of a command stands between them. The text is searched once, however often it has
    /// something in it that cannot be read.
    fn guess(&mut self, in_one_command: bool) {
        if std::mem::replace(&mut self.guessed[usize::from(in_one_command)], true) {
            return;
        }
        let quotes = ['\'', '"', '\\', '\0'];
        let plain: Cow<'_, str> = if self.text.contains(quotes) {
            Cow::Owned(self.text.split(quotes).collect())
        } else {
            Cow::Borrowed(self.text)
        };
        let ends: &[u8] = if in_one_command { b";&|\n" } else { b"" };
        let found = Pattern::first_among(self.patterns, &plain, ends);
        self.deny(found, true);
    }

    fn deny(&mut self, pattern: Option<&Pattern>, is_a_guess: bool) {
        if self.denial.is_none() {
            self.denial = pattern.map(|pattern| Denial {
                pattern: pattern.text().to_owned(),
                is_a_guess,
            });
        }
    }

    fn remember(&mut self, words: &[Word]) {
        for word in words {
            let Some((name, value)) = word.assignment() else {
                continue;
            };
            if word.is_known()
                && value.len() <= LONGEST_VALUE
                && self.variables.len() < MOST_VARIABLES
            {
                self.variables.insert(name.to_owned(), value.to_owned());
            } else {
                self.variables.remove(name);
            }
        }
    }
}

impl Listener for Guard<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn is_done(&self) -> bool {
        self.denial.is_some() || self.commands_left == 0
    }

    fn command(&mut self, words: Vec<Word>) {
        self.count_command();
        let mut next = Some(words.as_slice());
        let mut pending = Vec::new();
        for _ in 0..MOST_INNER {
            let Some(words) = next.take().or_else(|| pending.pop()) else {
                return;
            };
            let start = words
                .iter()
                .position(|word| word.assignment().is_none())
                .unwrap_or(words.len());
            self.remember(&words[..start]);
            let Some((first, arguments)) = words[start..].split_first() else {
                continue;
            };
            let program = first.program();
            if matches!(
                program,
                Some("export" | "declare" | "local" | "readonly" | "typeset")
            ) {
                self.remember(arguments);
            }
            let found = self
                .patterns
                .iter()
                .find(|pattern| pattern.matches(program, arguments));
            self.deny(found, false);
            for inner in inner(&words[start..]) {
                match inner {
                    Inner::Command(words) => pending.push(words),
                    Inner::Script(text) => self.nested(text, Kind::Script),
                    Inner::Unseen => self.guess(true),
                }
            }
        }
        self.guess(false);
    }

    fn nested(&mut self, text: String, kind: Kind) {
        if self.depth == DEEPEST {
            return self.guess(false);
        }
        self.count_command();
        self.pending.push_back((text, kind, self.depth + 1));
    }
}

#[cfg(test)]
mod tests;
