//! `countersign facts`.

use super::Exit;

/// Arguments of `facts`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs it.
pub fn run(_args: Args) -> Exit {
    Exit::BadInput
}
