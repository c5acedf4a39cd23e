//! What continuous integration says of the assessed commit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Origin;

/// The check runs of all apps and the commit statuses on the assessed commit.
///
/// Our own are not among them, and neither is anything else that bears their name: whoever else
/// posts one under that name proves nothing by it, and cannot hold us up either.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ci {
    /// The assessed commit, 40 hex digits.
    pub commit: String,
    /// Each check by its newest execution, by name, then app; without those that the profile ignores.
    pub checks: Vec<CiCheck>,
    /// How many of the checks ran or run: all but those that were skipped.
    pub ran: i64,
    /// The profile's patterns of required checks that no check on the commit matches.
    pub absent: Vec<String>,
    /// Names of the checks that the profile ignores, sorted, each once.
    pub ignored: Vec<String>,
    /// The page that shows the commit's checks.
    pub origin: Origin,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CiCheck {
    /// Its name; of a commit status its context.
    pub name: String,
    /// Name in URLs of the app that made it; empty for a commit status, which does not tell.
    pub app: String,
    /// Which of the two it is.
    pub kind: CiKind,
    /// How it ended, in GitHub's words (`success`, `failure`, `skipped`, `timed_out`, `error` …);
    /// `pending` until it has.
    pub state: String,
    /// Whether it has ended.
    pub finished: bool,
    /// Whether it has ended in a state that the profile takes as passing.
    pub ok: bool,
    /// Whether the profile requires it.
    pub required: bool,
    /// Its page.
    pub origin: Origin,
}

/// The two things that GitHub knows as checks.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CiKind {
    /// A check run, made by an app; a job of a workflow is one.
    CheckRun,
    /// A commit status, the older form.
    Status,
}
