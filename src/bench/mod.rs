//! The benchmark repository's own files: text in, typed values with their lines out. Pure.

#![deny(clippy::disallowed_methods)]

pub mod codeowners;
pub mod recipe;
pub mod yaml;
