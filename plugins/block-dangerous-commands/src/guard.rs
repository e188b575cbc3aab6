//! Whether a command text may run.

use std::collections::{BTreeMap, VecDeque};

use crate::inner::{Inner, inner};
use crate::pattern::Pattern;
use crate::shell::{Kind, Listener, Unreadable, read};
use crate::word::Word;

/// Scripts within scripts, commands within one command, and bytes read beyond the text's own.
/// What exceeds them is not read.
const DEEPEST: usize = 16;
const MOST_INNER: usize = 200;
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
    /// Bytes that may still be read.
    budget: usize,
    variables: BTreeMap<String, String>,
    /// Whether the text has been searched, in parts and as a whole.
    guessed: [bool; 2],
    denial: Option<Denial>,
}

impl<'a> Guard<'a> {
    fn new(patterns: &'a [Pattern], text: &'a str) -> Self {
        // `IFS` is a blank that needs no blank to write.
        let variables = BTreeMap::from([("IFS".to_owned(), " ".to_owned())]);
        let budget = text.len() * 2 + MOST_EXTRA;
        Self {
            patterns,
            text,
            pending: VecDeque::new(),
            depth: 0,
            budget,
            variables,
            guessed: [false; 2],
            denial: None,
        }
    }

    fn work(&mut self, text: &str) {
        self.read(text, Kind::Script);
        while self.denial.is_none()
            && let Some((text, kind, depth)) = self.pending.pop_front()
        {
            self.depth = depth;
            self.read(&text, kind);
        }
    }

    fn read(&mut self, text: &str, kind: Kind) {
        if self.budget < text.len() {
            return self.guess(false);
        }
        self.budget -= text.len();
        if read(text, kind, self) == Err(Unreadable) {
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
        let plain: String = self.text.split(['\'', '"', '\\', '\0']).collect();
        let ends: &[char] = if in_one_command {
            &[';', '&', '|', '\n']
        } else {
            &[]
        };
        let separates =
            |character: char| character.is_whitespace() || "(){}<>;|&,`$".contains(character);
        let found = plain.split(ends).find_map(|part| {
            let words = part.split(separates).filter(|word| !word.is_empty());
            Pattern::first_among(self.patterns, words)
        });
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
        self.denial.is_some()
    }

    fn command(&mut self, words: Vec<Word>) {
        let mut pending = vec![words.as_slice()];
        for _ in 0..MOST_INNER {
            let Some(words) = pending.pop() else { return };
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
        self.pending.push_back((text, kind, self.depth + 1));
    }
}

#[cfg(test)]
mod tests;
