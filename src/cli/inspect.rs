//! `countersign inspect`.

use super::Exit;

/// Arguments of `inspect`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs it.
pub fn run(_args: Args) -> Exit {
    Exit::BadInput
}
