//! Patterns: the beginnings of commands that are denied.

use crate::table::{Table, table};
use crate::word::{Word, base_name};

/// What is denied unless the hook's `config` names its own patterns.
pub const DEFAULT: [&str; 9] = [
    "rm -rf",
    "mkfs",
    "mkfs.*",
    "dd of=/dev/sd*",
    "dd of=/dev/hd*",
    "dd of=/dev/vd*",
    "dd of=/dev/xvd*",
    "dd of=/dev/nvme*",
    "dd of=/dev/mmcblk*",
];

/// The beginning of a command in words: `rm -rf`, `git push --force`, `dd of=/dev/sd*`.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    name: String,
    needs: Vec<Need>,
}

/// What a command must hold, besides the name, to match.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Need {
    /// One of these letters in a cluster of flags, or this long option.
    Flag {
        letters: String,
        long: Option<String>,
    },
    /// A word that may stand anywhere: `of=/dev/sd*`, or a long flag with one dash.
    Anywhere(String),
    /// The next word that is no flag: `push` of `git push`.
    Next(String),
}

impl Pattern {
    /// Reads a pattern; `None` if there are no words in it.
    pub fn new(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let name = words.next()?.to_owned();
        let mut needs = Vec::new();
        for word in words {
            if let Some(long) = word.strip_prefix("--").filter(|long| !long.is_empty()) {
                needs.push(flag(&name, None, Some(long)));
            } else if word.len() > 1 && word.len() <= 4 && word.starts_with('-') {
                needs.extend(
                    word[1..]
                        .chars()
                        .map(|letter| flag(&name, Some(letter), None)),
                );
            } else if word.starts_with('-') || word.contains('=') {
                needs.push(Need::Anywhere(word.to_owned()));
            } else {
                needs.push(Need::Next(word.to_owned()));
            }
        }
        Some(Self {
            text: text.to_owned(),
            name,
            needs,
        })
    }

    /// The pattern as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the command begins as the pattern says. If only a running shell knows the program's
    /// name, the rest decides, if there is any: few programs but `rm` take both `-r` and `-f`.
    pub fn matches(&self, program: Option<&str>, arguments: &[Word]) -> bool {
        match program {
            Some(program) if !self.names(program) => return false,
            None if self.needs.is_empty() => return false,
            _ => {}
        }
        let end_of_flags = arguments
            .iter()
            .position(|word| word.text == "--")
            .unwrap_or(arguments.len());
        let flags = &arguments[..end_of_flags];
        let mut operands = (arguments.iter().enumerate())
            .filter(|(index, word)| {
                *index > end_of_flags || (*index < end_of_flags && !word.text.starts_with('-'))
            })
            .map(|(_, word)| word);
        self.needs.iter().all(|need| match need {
            Need::Next(_) => operands
                .next()
                .is_some_and(|word| need.is_met_by(&word.text)),
            Need::Flag { .. } => flags.iter().any(|word| need.is_met_by(&word.text)),
            Need::Anywhere(_) => arguments.iter().any(|word| need.is_met_by(&word.text)),
        })
    }

    /// The first of `patterns` whose words all stand in one part of `text`, in whatever order after
    /// its name. The bytes `ends` separate the parts.
    pub fn first_among<'p>(patterns: &'p [Self], text: &str, ends: &[u8]) -> Option<&'p Self> {
        let mut found: Vec<(&Self, Vec<&Need>)> = Vec::new();
        let mut start = 0;
        let bytes = text.as_bytes();
        for index in 0..=bytes.len() {
            let byte = bytes.get(index).copied().unwrap_or(b' ');
            if !SEPARATES_WORDS[usize::from(byte)] {
                continue;
            }
            if start < index
                && let Some(word) = text.get(start..index)
            {
                for (pattern, unmet) in &mut found {
                    unmet.retain(|need| !need.is_met_by(word));
                    if unmet.is_empty() {
                        return Some(pattern);
                    }
                }
                let name = base_name(word);
                for pattern in patterns.iter().filter(|pattern| pattern.names(name)) {
                    if pattern.needs.is_empty() {
                        return Some(pattern);
                    }
                    if !found.iter().any(|(other, _)| std::ptr::eq(*other, pattern)) {
                        found.push((pattern, pattern.needs.iter().collect()));
                    }
                }
            }
            start = index + 1;
            if ends.contains(&byte) {
                found.clear();
            }
        }
        None
    }

    /// The file systems of some machines do not tell `RM` from `rm`.
    fn names(&self, program: &str) -> bool {
        let (program, name) = (program.as_bytes(), self.name.as_bytes());
        // Most words differ in their first letter.
        match (program.first(), name.first()) {
            (Some(first), Some(letter)) if first | 0x20 == letter | 0x20 => {}
            (_, letter) if letter != Some(&b'*') => return false,
            _ => {}
        }
        match name.split_last() {
            Some((b'*', beginning)) => program
                .get(..beginning.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(beginning)),
            _ => program.eq_ignore_ascii_case(name),
        }
    }
}

/// Blanks, and what ends a word in a shell.
const SEPARATES_WORDS: Table = table(b" \t\n\r(){}<>;|&,`$");

impl Need {
    fn is_met_by(&self, word: &str) -> bool {
        match self {
            Self::Next(text) | Self::Anywhere(text) => is_like(word, text),
            Self::Flag { letters, long } => match (word.strip_prefix("--"), word.strip_prefix('-'))
            {
                // GNU programs take a long option's first letters for the whole.
                (Some(option), _) => {
                    let option = option.split('=').next().unwrap_or_default();
                    !option.is_empty() && long.as_ref().is_some_and(|long| long.starts_with(option))
                }
                (None, Some(cluster)) => cluster.contains(|letter| letters.contains(letter)),
                (None, None) => false,
            },
        }
    }
}

/// A flag with its other spellings, as far as they are the same everywhere.
fn flag(program: &str, letter: Option<char>, long: Option<&str>) -> Need {
    let recursive: &[char] = match program {
        // Of other programs `-r` has other meanings.
        "rm" | "cp" => &['r', 'R'],
        _ => &['R'],
    };
    let is_recursive =
        letter.is_some_and(|letter| recursive.contains(&letter)) || long == Some("recursive");
    let is_force = letter == Some('f') || long == Some("force");
    let (letters, long) = if is_recursive {
        (recursive.iter().collect(), Some("recursive"))
    } else if is_force {
        ("f".to_owned(), Some("force"))
    } else {
        (letter.map(String::from).unwrap_or_default(), long)
    };
    Need::Flag {
        letters,
        long: long.map(str::to_owned),
    }
}

/// Equal, or beginning alike if the pattern ends in `*`.
fn is_like(word: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => word.starts_with(beginning),
        None => word == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, command: &str) -> bool {
        let words: Vec<Word> = command.split(' ').map(Word::literal).collect();
        Pattern::new(pattern)
            .unwrap()
            .matches(words[0].program(), &words[1..])
    }

    #[test]
    fn flags_match_in_any_order_and_spelling() {
        for command in [
            "rm -rf x",
            "rm -fr x",
            "rm -r -f x",
            "rm -f -r x",
            "rm -Rf x",
            "rm x -rf",
            "rm -vrIf x",
            "rm --recursive --force x",
            "rm --force -r x",
            "rm --rec --f x",
            "/bin/rm -rf x",
            "RM -rf x",
        ] {
            for pattern in ["rm -rf", "rm -fr", "rm -r -f", "rm --recursive --force"] {
                assert!(matches(pattern, command), "{pattern}: {command}");
            }
        }
        for command in [
            "rm -r x",
            "rm -f x",
            "rm x",
            "rm -- -rf",
            "rm -r -- -f",
            "rmdir -rf",
            "rm r f",
            "cp -rf a b",
        ] {
            assert!(!matches("rm -rf", command), "{command}");
        }
    }

    #[test]
    fn words_that_are_no_flags_match_in_order() {
        assert!(matches("git push --force", "git push origin --force"));
        assert!(matches("git push --force", "git push -f origin"));
        assert!(matches("git push -f", "git --no-pager push --force=x"));
        assert!(!matches("git push --force", "git commit -m push --force"));
        assert!(!matches("git push --force", "git push"));
        assert!(matches(
            "terraform destroy",
            "terraform destroy -auto-approve"
        ));
        assert!(!matches("terraform destroy", "terraform plan destroy"));
        assert!(matches("find -delete", "find . -name x -delete"));
        assert!(!matches("find -delete", "find . -d -e -l -t"));
    }

    #[test]
    fn a_star_at_the_end_takes_everything() {
        assert!(matches("dd of=/dev/sd*", "dd if=a.iso bs=4M of=/dev/sda"));
        assert!(!matches("dd of=/dev/sd*", "dd if=/dev/sda of=a.iso"));
        assert!(matches("mkfs.*", "mkfs.ext4 /dev/sda1"));
        assert!(!matches("mkfs", "mkfs.ext4 /dev/sda1"));
    }

    #[test]
    fn an_unknown_program_matches_by_its_flags_alone() {
        assert!(matches("rm -rf", "\u{1} -rf x"));
        assert!(!matches("rm -rf", "\u{1} -r x"));
        assert!(!matches("mkfs", "\u{1} /dev/sda1"));
        assert!(!matches("rm -rf", "[ -r x -a -f y"));
    }

    #[test]
    fn a_pattern_needs_a_word() {
        assert!(Pattern::new(" ").is_none());
        assert!(DEFAULT.iter().all(|text| Pattern::new(text).is_some()));
    }
}
