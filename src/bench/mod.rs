//! The benchmark repository's own files: text in, typed values with their lines out. Pure.

#![deny(clippy::disallowed_methods)]

pub mod affected;
pub mod changelog;
pub mod codeowners;
pub mod decimal;
pub mod evals;
mod fields;
pub mod golden;
pub mod image;
pub mod layout;
pub mod master;
pub mod matrix;
pub mod models;
pub mod pareto;
pub mod patch;
pub mod python_json;
pub mod recipe;
pub mod reference;
pub mod results;
pub mod runners;
pub mod script;
pub mod settings;
pub mod thresholds;
pub mod waiver;
pub mod yaml;
