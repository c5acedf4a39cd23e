//! `countersign rules`.

use super::Exit;

/// Arguments of `rules`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs it.
pub fn run(_args: Args) -> Exit {
    Exit::BadInput
}
