//! `countersign verify`.

use super::Exit;

/// Arguments of `verify`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs it.
pub fn run(_args: Args) -> Exit {
    Exit::BadInput
}
