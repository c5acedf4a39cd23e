//! `countersign lint`.

use super::Exit;

/// Arguments of `lint`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs it.
pub fn run(_args: Args) -> Exit {
    Exit::BadInput
}
