//! Shell text as simple commands.
//!
//! One pass with a stack of its own, so that no depth of nesting can overflow the guest's. It
//! takes the text apart as bash does, as far as needed to know the words of each command that
//! could run; it does not check the grammar. What it cannot be sure of is [`Unreadable`], and the
//! caller is to think the worst.

mod expansion;
mod quotes;
mod redirection;
mod silence;

use self::redirection::{HereDocument, Redirection};
use crate::table::{Table, table, with_control_characters};
use crate::word::{CLOSE, COMMA, Draft, OPEN, UNKNOWN, Word, is_mark};

/// Deeper nesting, or more words in one command, is not read.
const DEEPEST: usize = 1000;
const MOST_WORDS: usize = 10_000;

/// The text cannot be read with certainty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable;

/// What the reader tells of the text, as it goes along.
pub trait Listener {
    /// The value of a variable, if an earlier command set it.
    fn variable(&self, name: &str) -> Option<String>;
    /// Whether the rest of the text does not matter any more.
    fn is_done(&self) -> bool;
    /// A command that could run. Its first words may be assignments.
    fn command(&mut self, words: Vec<Word>);
    /// Text that is read by itself: what stands between backticks, and here-documents.
    fn nested(&mut self, text: String, kind: Kind);
}

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Commands.
    Script,
    /// Text in which only expansions are commands.
    HereDocument,
}

/// Reads the whole of `text`.
pub fn read(text: &str, kind: Kind, listener: &mut dyn Listener) -> Result<(), Unreadable> {
    let mut reader = Reader {
        text,
        position: 0,
        contexts: vec![match kind {
            Kind::Script => Context::Commands(List::Text),
            Kind::HereDocument => Context::HereDocument,
        }],
        partials: vec![Partial::default()],
        here_documents: Vec::new(),
        expanded: 0,
        listener,
    };
    while let Some(byte) = reader.peek(0) {
        reader.step(byte)?;
        if reader.listener.is_done() {
            return Ok(());
        }
    }
    if kind == Kind::Script {
        reader.end_word()?;
        reader.end_command();
    }
    if reader.contexts.len() == 1 {
        Ok(())
    } else {
        Err(Unreadable)
    }
}

/// Where ordinary text ends. Control characters are here because the marks are among them.
const SPECIAL_IN_COMMANDS: Table = with_control_characters(table(b" &;|\\'\"$`<>(){,}"));
const SPECIAL_IN_QUOTES: Table = with_control_characters(table(b"\\$`\""));

/// What the reader is inside of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Context {
    Commands(List),
    DoubleQuote,
    HereDocument,
    /// `${…}`
    Parameter,
    /// `$((…))` and `((…))`, with the number of open parentheses.
    Arithmetic(usize),
    /// `@(…)` and the like, in a pattern for file names.
    Group,
}

/// What a list of commands stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Text,
    /// `(…)`
    Subshell,
    /// `$(…)`, `<(…)` and `>(…)`
    Substitution,
}

/// A command that is being read.
#[derive(Debug, Default)]
struct Partial {
    words: Vec<Word>,
    draft: Option<Draft>,
    redirection: Option<Redirection>,
    /// Open `case` … `esac`, in which a `)` ends a pattern.
    cases: usize,
    /// Open contexts whose text is not part of a word.
    silence: usize,
}

struct Reader<'a> {
    text: &'a str,
    position: usize,
    contexts: Vec<Context>,
    /// One for each [`Context::Commands`], and one for a here-document's text.
    partials: Vec<Partial>,
    here_documents: Vec<HereDocument>,
    /// Bytes that variables have put in.
    expanded: usize,
    listener: &'a mut dyn Listener,
}

impl<'a> Reader<'a> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.position + ahead).copied()
    }

    fn starts_with(&self, text: &str) -> bool {
        self.text.as_bytes()[self.position..].starts_with(text.as_bytes())
    }

    fn context(&self) -> Context {
        *self.contexts.last().unwrap_or(&Context::Group)
    }

    fn is_in_double_quotes(&self) -> bool {
        let inner = self
            .contexts
            .iter()
            .rev()
            .take_while(|context| !matches!(context, Context::Commands(_)));
        inner
            .copied()
            .any(|context| matches!(context, Context::DoubleQuote | Context::HereDocument))
    }

    fn enter(&mut self, context: Context) -> Result<(), Unreadable> {
        if self.contexts.len() == DEEPEST {
            return Err(Unreadable);
        }
        match context {
            Context::Commands(_) => self.partials.push(Partial::default()),
            Context::Parameter | Context::Arithmetic(_) | Context::Group => {
                self.partial()?.silence += 1
            }
            Context::DoubleQuote | Context::HereDocument => {}
        }
        self.contexts.push(context);
        Ok(())
    }

    fn leave(&mut self) -> Result<(), Unreadable> {
        match self.contexts.pop().ok_or(Unreadable)? {
            Context::Commands(_) => drop(self.partials.pop()),
            Context::Parameter | Context::Arithmetic(_) | Context::Group => {
                self.partial()?.silence -= 1
            }
            Context::DoubleQuote | Context::HereDocument => {}
        }
        Ok(())
    }

    fn partial(&mut self) -> Result<&mut Partial, Unreadable> {
        self.partials.last_mut().ok_or(Unreadable)
    }

    fn step(&mut self, byte: u8) -> Result<(), Unreadable> {
        match self.context() {
            Context::Commands(list) => self.step_in_commands(byte, list),
            Context::DoubleQuote if byte == b'"' => {
                self.position += 1;
                self.leave()
            }
            Context::DoubleQuote | Context::HereDocument => self.step_in_quotes(byte),
            Context::Parameter => self.step_in_parameter(byte),
            Context::Arithmetic(depth) => self.step_in_arithmetic(byte, depth),
            Context::Group => self.step_in_group(byte),
        }
    }

    fn step_in_commands(&mut self, byte: u8, list: List) -> Result<(), Unreadable> {
        match byte {
            b' ' | b'\t' => {
                self.position += 1;
                self.end_word()
            }
            b'\n' => {
                self.position += 1;
                self.end_word()?;
                self.end_command();
                self.read_here_documents()
            }
            b'&' if self.peek(1) == Some(b'>') => {
                self.position += 1;
                self.redirection()
            }
            b';' | b'&' | b'|' => {
                self.position += 1;
                self.end_word()?;
                self.end_command();
                Ok(())
            }
            b'#' if self.partial()?.draft.is_none() => {
                let rest = &self.text[self.position..];
                self.position += rest.find('\n').unwrap_or(rest.len());
                Ok(())
            }
            b'\\' => self.escaped_character(),
            b'\'' => self.single_quotes(),
            b'"' => self.open_double_quotes(),
            b'$' => self.dollar(false),
            b'`' => self.backticks(),
            b'<' | b'>' => self.redirection(),
            b'(' => self.open_parenthesis(),
            b')' => self.close_parenthesis(list),
            b'{' => self.push_mark(OPEN),
            b',' => self.push_mark(COMMA),
            b'}' => self.push_mark(CLOSE),
            _ => self.ordinary(&SPECIAL_IN_COMMANDS),
        }
    }

    fn step_in_quotes(&mut self, byte: u8) -> Result<(), Unreadable> {
        match byte {
            b'\\' => match self.peek(1) {
                Some(b'\n') => {
                    self.position += 2;
                    Ok(())
                }
                Some(b'$' | b'`' | b'"' | b'\\') => self.escaped_character(),
                _ => {
                    self.position += 1;
                    self.push("\\")
                }
            },
            b'$' => self.dollar(true),
            b'`' => self.backticks(),
            // Only double quotes end at `"`.
            b'"' => {
                self.position += 1;
                self.push("\"")
            }
            _ => self.ordinary(&SPECIAL_IN_QUOTES),
        }
    }

    /// Text up to the next byte that is special.
    fn ordinary(&mut self, special: &Table) -> Result<(), Unreadable> {
        let bytes = &self.text.as_bytes()[self.position..];
        // The first byte is not special here, whatever it is.
        let ends = |byte: &u8| special[usize::from(*byte)];
        let length = bytes.iter().skip(1).take_while(|byte| !ends(byte)).count() + 1;
        let start = self.position;
        self.position += length;
        match bytes[0] {
            // Shells leave it out.
            0 => {
                self.position = start + 1;
                Ok(())
            }
            byte if is_mark(byte) => {
                self.position = start + 1;
                self.push("\u{fffd}")
            }
            _ => self.push(&self.text[start..start + length]),
        }
    }

    fn push(&mut self, text: &str) -> Result<(), Unreadable> {
        let partial = self.partial()?;
        if partial.silence == 0 {
            partial.draft.get_or_insert_default().push(text);
        }
        Ok(())
    }

    fn push_mark(&mut self, mark: char) -> Result<(), Unreadable> {
        self.position += 1;
        self.push(mark.encode_utf8(&mut [0; 4]))
    }

    fn push_unknown(&mut self) -> Result<(), Unreadable> {
        self.push(UNKNOWN.encode_utf8(&mut [0; 4]))
    }

    fn open_parenthesis(&mut self) -> Result<(), Unreadable> {
        let arithmetic = self.peek(1) == Some(b'(');
        let partial = self.partial()?;
        let begins = partial.words.iter().all(|word| word.text == "for");
        match &partial.draft {
            None if arithmetic && begins => {
                self.position += 2;
                return self.enter(Context::Arithmetic(0));
            }
            Some(draft)
                if draft.text.ends_with(['?', '*', '+', '@', '!'])
                    && !(begins && draft.text == "!") =>
            {
                self.position += 1;
                self.push_unknown()?;
                return self.enter(Context::Group);
            }
            _ => {}
        }
        self.position += 1;
        self.end_word()?;
        self.end_command();
        self.enter(Context::Commands(List::Subshell))
    }

    fn close_parenthesis(&mut self, list: List) -> Result<(), Unreadable> {
        self.position += 1;
        self.end_word()?;
        self.end_command();
        if self.partial()?.cases > 0 {
            return Ok(());
        }
        match list {
            List::Text => Err(Unreadable),
            List::Subshell | List::Substitution => self.leave(),
        }
    }

    fn end_word(&mut self) -> Result<(), Unreadable> {
        let partial = self.partial()?;
        let Some(draft) = partial.draft.take() else {
            return Ok(());
        };
        match partial.redirection.take() {
            Some(Redirection::File) => {}
            Some(Redirection::HereDocument { tabs_are_stripped }) => {
                let delimiter = draft.finish_unexpanded();
                if !delimiter.is_known() {
                    return Err(Unreadable);
                }
                self.here_documents.push(HereDocument {
                    delimiter: delimiter.text,
                    quoted: delimiter.quoted,
                    tabs_are_stripped,
                });
            }
            None => draft.finish(|word| partial.take(word))?,
        }
        Ok(())
    }

    fn end_command(&mut self) {
        if let Some(partial) = self.partials.last_mut() {
            partial.redirection = None;
            if !partial.words.is_empty() {
                let words = std::mem::take(&mut partial.words);
                self.listener.command(words);
            }
        }
    }
}

impl Partial {
    /// Takes a word, unless it is a keyword where a command begins.
    fn take(&mut self, word: Word) -> Result<(), Unreadable> {
        if self.words.len() == MOST_WORDS {
            return Err(Unreadable);
        }
        if !word.quoted {
            match (self.words.as_slice(), word.text.as_str()) {
                (
                    [],
                    "if" | "then" | "else" | "elif" | "fi" | "while" | "until" | "do" | "done"
                    | "!" | "{" | "}",
                ) => return Ok(()),
                ([], "case") => self.cases += 1,
                ([], "esac") => self.cases = self.cases.saturating_sub(1),
                // The body of a function.
                ([first, _], "{") if matches!(first.text.as_str(), "function" | "coproc") => {
                    self.words.clear();
                    return Ok(());
                }
                _ => {}
            }
        }
        self.words.push(word);
        Ok(())
    }
}
