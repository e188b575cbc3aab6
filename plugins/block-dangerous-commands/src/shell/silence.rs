//! Text that is part of no word, in which commands can stand: `${…}`, `((…))`, `@(…)`.

use super::{Context, Reader, Unreadable};
use crate::table::{Table, table, with_control_characters};

const SPECIAL_IN_PARAMETER: Table = with_control_characters(table(b"}\\'\"$`"));
const SPECIAL_IN_PARENTHESES: Table = with_control_characters(table(b"()\\'\"$`"));

impl Reader<'_> {
    pub(super) fn step_in_parameter(&mut self, byte: u8) -> Result<(), Unreadable> {
        match byte {
            b'}' => {
                self.position += 1;
                self.leave()
            }
            // Within double quotes it depends on the operator whether it quotes.
            b'\'' if self.is_in_double_quotes() => Err(Unreadable),
            b'\'' => self.single_quotes(),
            _ => self.step_in_silence(byte, &SPECIAL_IN_PARAMETER),
        }
    }

    pub(super) fn step_in_arithmetic(&mut self, byte: u8, depth: usize) -> Result<(), Unreadable> {
        match (byte, depth) {
            (b')', 0) if self.peek(1) == Some(b')') => {
                self.position += 2;
                self.leave()
            }
            // Not arithmetic, but a subshell in a subshell.
            (b')', 0) | (b'\'', _) => Err(Unreadable),
            (b'(' | b')', _) => {
                self.position += 1;
                let depth = if byte == b'(' { depth + 1 } else { depth - 1 };
                self.contexts.pop();
                self.contexts.push(Context::Arithmetic(depth));
                Ok(())
            }
            _ => self.step_in_silence(byte, &SPECIAL_IN_PARENTHESES),
        }
    }

    pub(super) fn step_in_group(&mut self, byte: u8) -> Result<(), Unreadable> {
        match byte {
            b')' => {
                self.position += 1;
                self.leave()
            }
            b'(' => {
                self.position += 1;
                self.enter(Context::Group)
            }
            b'\'' => self.single_quotes(),
            _ => self.step_in_silence(byte, &SPECIAL_IN_PARENTHESES),
        }
    }

    fn step_in_silence(&mut self, byte: u8, special: &Table) -> Result<(), Unreadable> {
        match byte {
            b'\\' => self.escaped_character(),
            b'"' => self.open_double_quotes(),
            b'$' => self.dollar(true),
            b'`' => self.backticks(),
            _ => self.ordinary(special),
        }
    }
}
