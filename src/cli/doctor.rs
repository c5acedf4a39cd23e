//! `countersign doctor`.

use super::Exit;

/// Arguments of `doctor`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs it.
pub fn run(_args: Args) -> Exit {
    Exit::BadInput
}
