//! `countersign serve`.

use super::Exit;

/// Arguments of `serve`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs it.
pub fn run(_args: Args) -> Exit {
    Exit::BadInput
}
