//! The client of GitHub's API: authentication, budget, typed errors. Knows routes and replies, not
//! what they are for.

pub mod app;
mod budget;
pub mod client;
mod endpoint;
mod error;

pub use app::{App, Identity};
pub use client::{Client, Response};
pub use error::{ApiError, Refusal, SetupError};
