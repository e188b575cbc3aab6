//! The process around a hook: standard input, standard output, exit code.

use std::io::{self, Read, Write};

use crate::decision::IntoDecision;
use crate::event::Event;
use crate::{Answer, answer};

/// Bytes asked for in one read. Each read crosses the sandbox's border, so few large ones are
/// faster than many small ones.
const READ_SIZE: usize = 64 << 10;

/// Reads the event from standard input, lets `hook` decide, writes the decision and exits.
///
/// It is all that a hook's `main` needs. [`answer`] says what is written and which exit code
/// means what.
pub fn run<F, D>(hook: F) -> !
where
    F: FnOnce(&Event<'_>) -> D,
    D: IntoDecision,
{
    let answer = match read_all(&mut io::stdin().lock()) {
        Ok(payload) => answer(&payload, hook),
        Err(error) => crate::failure(format!(
            "the event could not be read from standard input: {error}"
        )),
    };
    write(&answer);
    exit(answer.exit_code)
}

/// Reads to the end into one buffer that grows by doubling.
fn read_all(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut buffer = Vec::new();
    let mut length = 0;
    loop {
        if buffer.len() - length < READ_SIZE {
            buffer.resize(buffer.len().max(READ_SIZE).saturating_mul(2), 0);
        }
        match input.read(&mut buffer[length..length + READ_SIZE]) {
            Ok(0) => {
                buffer.truncate(length);
                return Ok(buffer);
            }
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Writes each stream in one piece, so that a reader never sees half a decision. If one cannot be
/// written, the exit code still tells a block.
fn write(answer: &Answer) {
    if !answer.stderr.is_empty() {
        let _ = io::stderr().write_all(format!("{}\n", answer.stderr).as_bytes());
    }
    if !answer.stdout.is_empty() {
        let mut stdout = io::stdout().lock();
        let _ = stdout.write_all(format!("{}\n", answer.stdout).as_bytes());
        let _ = stdout.flush();
    }
}

/// `std::process::exit` of a component can only tell success from failure, and turns 2 into 1:
/// WASI's own function carries the code.
#[cfg(all(target_os = "wasi", target_env = "p2"))]
fn exit(code: u8) -> ! {
    if code == 0 {
        // Known to every host, also to one that does not link exit-with-code.
        std::process::exit(0);
    }
    wasip2::cli::exit::exit_with_code(code);
    std::process::exit(i32::from(code))
}

#[cfg(not(all(target_os = "wasi", target_env = "p2")))]
#[expect(
    clippy::exit,
    reason = "a hook's `main` ends here: `ExitCode` from `main` is not kept by every WASI"
)]
fn exit(code: u8) -> ! {
    std::process::exit(i32::from(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte less at each read than the one before, and is interrupted in between.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            assert_eq!(buffer.len(), READ_SIZE);
            self.1 += 1;
            if self.1.is_multiple_of(2) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let count = self.0.len().min(READ_SIZE - self.1);
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn all_of_the_input_is_read_whatever_its_pieces() {
        for size in [0, 1, READ_SIZE - 1, READ_SIZE, READ_SIZE + 1, 1 << 20] {
            let bytes: Vec<u8> = (0..size).map(|index| (index % 251) as u8).collect();
            assert_eq!(read_all(&mut Trickle(&bytes, 0)).unwrap(), bytes);
        }
    }

    #[test]
    fn an_error_of_the_input_is_passed_on() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::ConnectionReset.into())
            }
        }
        assert_eq!(
            read_all(&mut Broken).unwrap_err().kind(),
            io::ErrorKind::ConnectionReset
        );
    }
}
