//! Arguments → exit code, nothing else.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    countersign::cli::run(countersign::cli::Cli::parse()).into()
}
