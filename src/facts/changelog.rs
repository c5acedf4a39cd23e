//! The benchmark's changelog, and what is appended to curves.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Origin;

/// The changelog of performance changes at the assessed commit against the merge base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Changelog {
    /// The entries that the pull request adds, in the file's order.
    pub added: Vec<ChangelogEntry>,
    /// Entries of the merge base that are gone or say something else; a corrected pull request link is
    /// neither.
    pub broken: Vec<BrokenEntry>,
    /// Whether the file at the merge base is the beginning of the file at the assessed commit, byte by byte.
    pub bytes_append_only: bool,
    /// What is wrong with the additions.
    pub problems: Vec<ChangelogProblem>,
    /// The file at the assessed commit.
    pub origin: Origin,
}

/// A changelog entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangelogEntry {
    /// The keys that it names, as written; `*` stands for any run of characters.
    pub config_keys: Vec<String>,
    /// The keys of master entries that those select at the assessed commit, sorted.
    pub selected: Vec<String>,
    /// Of the written keys, those that select nothing.
    pub selecting_nothing: Vec<String>,
    /// The scenarios that it is limited to; empty for all.
    pub scenarios: Vec<String>,
    /// Whether it only adds points to curves that stay as they are.
    pub append_only: bool,
    /// Whether it runs evaluations alone.
    pub evals_only: bool,
    /// Whether it runs every evaluation.
    pub all_evals: bool,
    /// Whether it runs no evaluation.
    pub no_evals: bool,
    /// The pull request that it links, as written.
    pub pr_link: String,
    /// Its 1-based line.
    pub line: i64,
    /// Its line.
    pub origin: Origin,
}

/// An entry of the history that did not stay as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrokenEntry {
    /// The keys that it names.
    pub config_keys: Vec<String>,
    /// `removed` or `changed`.
    pub what: String,
    /// Its line at the merge base.
    pub origin: Origin,
}

/// Something wrong with an addition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangelogProblem {
    /// What.
    pub what: String,
    /// Where.
    pub origin: Origin,
}

/// A change that says of itself that it only appends points, held against the two matrices.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AppendOnly {
    /// Whether a new changelog entry says so.
    pub declared: bool,
    /// New changelog entries that do not say so, beside those that do.
    pub mixed: Vec<ChangelogEntry>,
    /// Entries that changed without being selected by an appending one, by key.
    pub outside: Vec<Violation>,
    /// The selected entries, by key.
    pub configs: Vec<AppendedConfig>,
    /// Their points that were there and are not any more.
    pub removed: Vec<Violation>,
    /// Their rows whose settings differ, so that what was measured is no longer what is described.
    pub modified: Vec<Violation>,
    /// Added points that belong to no curve that is there, or to one of another image.
    pub strange: Vec<Violation>,
    /// The added points of all of them.
    pub added: Vec<String>,
    /// Changed files that take part in a benchmark, and whether they can touch existing points.
    pub isolation: Vec<Isolation>,
}

/// An entry to which points are appended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AppendedConfig {
    /// Its key.
    pub config: String,
    /// The added points.
    pub added: Vec<String>,
    /// The entry.
    pub origin: Origin,
}

/// Something that an appending change must not do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Violation {
    /// What it is about.
    pub subject: String,
    /// What it does.
    pub what: String,
    /// Where.
    pub origin: Origin,
}

/// Whether a changed file can be shown to reach appended points alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Isolation {
    /// The file.
    pub path: String,
    /// Whether it can be shown.
    pub proven: bool,
    /// Why, or why not.
    pub why: String,
    /// The changed file.
    pub origin: Origin,
}
