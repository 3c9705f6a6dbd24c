//! The program `segue`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(segue::main(std::env::args_os()))
}
