//! Logs of inference engines: what a server was asked for, what it made of it, and what it measured.
//!
//! A log is untrusted and may be cut anywhere. What is not in it is unknown and never a default; what two
//! servers say differently is kept as two launches and settles nothing.
//!
//! Source: `log-formats.md`.

#![deny(clippy::disallowed_methods)]

mod atom;
mod command;
mod dynamo;
mod gather;
mod lines;
mod log;
mod repr;
mod requests;
mod scanner;
mod secrets;
mod settle;
mod sglang;
mod table;
#[cfg(test)]
mod tests;
mod trtllm;
mod vllm;

pub use log::{Acceptance, Kind, Launch, Load, Log, Requests, Spec};
pub use scanner::Scanner;
pub use table::{Table, TableError};
