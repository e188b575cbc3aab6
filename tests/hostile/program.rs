//! The `hookcell` program, for the tests of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    hookcell::cli::main()
}
