//! The client of GitHub's API: authentication, budget, typed errors. Knows routes and replies, not
//! what they are for.

pub mod client;

pub use client::{ApiError, Client, Response};
