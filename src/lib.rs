//! countersign verifies a code owner's sign-off on a pull request by evidence.
//!
//! The way through the house is in `docs/architecture.md`; the rooms, lowest first, are the modules
//! below. A room imports only what stands above it; a test holds the `use` lines to that.

#![allow(
    clippy::disallowed_methods,
    reason = "the list is what pure rooms must not call; each of them denies it at its head"
)]

pub mod bench;
pub mod cli;
pub mod config;
pub mod engine;
pub mod evidence;
pub mod facts;
pub mod github;
pub mod limits;
pub mod profile;
pub mod publish;
pub mod rules;
pub mod server;
pub mod signoff;
pub mod sources;
pub mod store;
pub mod verdict;
pub mod verify;
