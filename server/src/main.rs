//! The `segue` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    segue::cli::main()
}
