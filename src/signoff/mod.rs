//! Markdown → sign-off; the template; the one held against the other; commands; lint. Pure.

pub mod settings;
