//! The benchmark repository's own files: text in, typed values with their lines out. Pure.

pub mod codeowners;
