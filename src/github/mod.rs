//! The client of GitHub's API: authentication, budget, typed errors. Knows routes and replies, not
//! what they are for.

pub mod app;
pub mod client;

pub use app::{App, Identity};
pub use client::{ApiError, Client, Response, SetupError};
