//! The pull request and the date.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Origin;

/// The date that the rules see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Clock {
    /// `YYYY-MM-DD`, UTC.
    pub date: String,
    /// Says that it is the clock.
    pub origin: Origin,
}

/// The pull request at the assessed commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pr {
    /// `owner/name` of the repository that it is in.
    pub repository: String,
    /// Its number.
    pub number: i64,
    /// Its title.
    pub title: String,
    /// Its description; empty where there is none.
    pub body: String,
    /// The login that opened it.
    pub author: String,
    /// `open`, `closed` or `merged`.
    pub state: String,
    /// Whether it is a draft.
    pub draft: bool,
    /// Its labels, sorted.
    pub labels: Vec<String>,
    /// The branch that it targets.
    pub base_ref: String,
    /// The tip of that branch when the verification began; CODEOWNERS is read here.
    pub base_sha: String,
    /// The assessed commit.
    pub head_sha: String,
    /// Where the two histories part; the diff is taken from here.
    pub merge_base: String,
    /// The default branch.
    pub default_branch: String,
    /// Its tip when the verification began; policy documents are read here.
    pub default_sha: String,
    /// The commits of the pull request, oldest first, the assessed commit last.
    pub commits: Vec<CommitRef>,
    /// The changed files, by path.
    pub files: Vec<ChangedFile>,
    /// The page of the pull request.
    pub origin: Origin,
}

/// One commit of the pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommitRef {
    /// 40 hex digits.
    pub sha: String,
    /// Its page.
    pub origin: Origin,
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedFile {
    /// Path at the assessed commit (at the merge base for a removed file).
    pub path: String,
    /// The path that a renamed or copied file had before.
    pub previous_path: Option<String>,
    /// `added`, `modified`, `removed`, `renamed`, `copied`, `changed` or `unchanged`.
    pub status: String,
    /// Lines added.
    pub additions: i64,
    /// Lines removed.
    pub deletions: i64,
    /// The profile's path groups that match the path or the previous path, sorted.
    pub groups: Vec<String>,
    /// Where the diff can be seen.
    pub origin: Origin,
}
