//! An error of the program as a user sees it: `error: …` and, where there is something to do about
//! it, `hint: …`.

use std::fmt::Display;
use std::io::{self, Write};

/// An error that ends the program.
#[derive(Debug)]
pub(super) struct Problem {
    message: String,
    hint: Option<String>,
    reader_is_gone: bool,
}

impl Problem {
    /// An error with this message: one sentence, no full stop.
    pub(super) fn new(message: impl Display) -> Self {
        Self {
            message: message.to_string(),
            hint: None,
            reader_is_gone: false,
        }
    }

    /// The same error, with what to do about it.
    pub(super) fn hint(self, hint: impl Display) -> Self {
        Self {
            hint: Some(hint.to_string()),
            ..self
        }
    }

    /// Prints the error and returns the exit code. A reader that went away (`hookcell … | head`)
    /// is no error.
    pub(super) fn report(&self, stderr: &mut dyn Write) -> u8 {
        if self.reader_is_gone {
            return 0;
        }
        let (error, hint, reset) = (
            anstyle::AnsiColor::Red.on_default().bold(),
            anstyle::AnsiColor::Cyan.on_default().bold(),
            anstyle::Reset,
        );
        // Where stderr is closed too, the exit code is all that is left.
        let _ = writeln!(stderr, "{error}error:{reset} {}", self.message);
        if let Some(text) = &self.hint {
            let _ = writeln!(stderr, "\n{hint}hint:{reset} {text}");
        }
        1
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        let reader_is_gone = error.kind() == io::ErrorKind::BrokenPipe;
        Self {
            reader_is_gone,
            ..Self::new(format!("the output cannot be written: {error}"))
        }
    }
}
