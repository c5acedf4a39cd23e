//! What the typed reads give: the few fields that facts need, by names of our own.
//!
//! Fields that are not named here are passed over, so that GitHub may add what it likes. Times are
//! RFC 3339 in UTC as GitHub writes them, and commits are 40 hex digits.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::wire::{CommitWire, CompareWire, PermissionWire, PullWire, RunWire, first_attempt};
use crate::facts::SignOffKind;
use crate::limits::COMPARE_FILES;

/// A pull request (`GET /repos/{repo}/pulls/{number}`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "PullWire")]
pub struct Pull {
    /// Its number.
    pub number: i64,
    /// Its title; empty from a local clone, which knows none.
    pub title: String,
    /// Its description; empty where there is none.
    pub body: String,
    /// Who opened it; `ghost` for a deleted account, empty from a local clone.
    pub author: String,
    /// Whether that is an app or a bot account.
    pub author_is_bot: bool,
    /// `open` or `closed`.
    pub state: String,
    /// Whether it is merged.
    pub merged: bool,
    /// Whether it is a draft.
    pub draft: bool,
    /// Names of its labels, as GitHub lists them.
    pub labels: Vec<String>,
    /// The branch that it targets.
    pub base_ref: String,
    /// The commit of that branch that GitHub holds for this pull request; may lie behind its tip.
    pub base_sha: String,
    /// The branch that it comes from.
    pub head_ref: String,
    /// Its newest commit.
    pub head_sha: String,
    /// `owner/name` that it comes from; `None` where that repository is gone.
    pub head_repository: Option<String>,
    /// How many files it changes, also past what is listed.
    pub changed_files: i64,
    /// How many commits it has, also past what is listed.
    pub commits: i64,
    /// Its page; empty from a local clone.
    pub html_url: String,
}

/// The branches that a verification stands on, read in one request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Tips {
    /// GitHub's id of the repository; 0 from a local clone.
    pub repository_id: i64,
    /// Whether the repository is private.
    pub private: bool,
    /// Name of the default branch.
    pub default_branch: String,
    /// Its tip.
    pub default_sha: String,
    /// Name of the branch that the pull request targets.
    pub base_ref: String,
    /// Its tip; `None` where the branch was deleted.
    pub base_sha: Option<String>,
    /// The newest commit of the pull request.
    pub head_sha: String,
}

/// One commit of a pull request or a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "CommitWire")]
pub struct Commit {
    /// Its name.
    pub sha: String,
    /// Committer's date.
    pub date: String,
}

/// One changed file of a pull request or a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct File {
    /// Path, at the head (for a removed file at the merge base).
    #[serde(rename = "filename")]
    pub path: String,
    /// The path that a renamed or copied file had.
    #[serde(default, rename = "previous_filename")]
    pub previous_path: Option<String>,
    /// `added`, `modified`, `removed`, `renamed`, `copied`, `changed` or `unchanged`.
    pub status: String,
    /// Lines added.
    pub additions: i64,
    /// Lines removed.
    pub deletions: i64,
}

/// Two commits compared (`GET /repos/{repo}/compare/{base}...{head}`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "CompareWire")]
pub struct Compare {
    /// Where the two histories part.
    pub merge_base: String,
    /// How many commits of the head the base has not.
    pub ahead_by: i64,
    /// How many commits of the base the head has not.
    pub behind_by: i64,
    /// The commits of the head that the base has not, oldest first.
    pub commits: Vec<Commit>,
    /// Files changed between merge base and head, at most [`COMPARE_FILES`] of them.
    pub files: Vec<File>,
}

impl Compare {
    /// Whether GitHub may have left files out.
    pub fn files_cut(&self) -> bool {
        self.files.len() >= COMPARE_FILES
    }
}

/// A comment, review or inline comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// Which of the three it is.
    pub kind: SignOffKind,
    /// GitHub's id, unique within its kind.
    pub id: i64,
    /// Its GraphQL id.
    pub node_id: String,
    /// Who wrote it; `ghost` for a deleted account.
    pub author: String,
    /// GitHub's id of that account, which outlives a renaming; 0 for a deleted one.
    pub author_id: i64,
    /// Whether that is an app or a bot account.
    pub author_is_bot: bool,
    /// What the author is to the repository, e.g. `MEMBER`.
    pub association: String,
    /// Its text as GitHub holds it, at most [`crate::limits::BODY_BYTES`].
    pub body: String,
    /// When it was posted; empty for a review that is not submitted yet.
    pub created: String,
    /// When it last changed, for whatever reason; for reviews the same as `created`, since GitHub
    /// tells no more. Only an edit says that the text changed.
    pub updated: String,
    /// Its page.
    pub html_url: String,
    /// The app that wrote it, where one did.
    pub app: Option<AppRef>,
    /// For reviews: `APPROVED`, `CHANGES_REQUESTED`, `COMMENTED`, `DISMISSED` or `PENDING`.
    pub state: Option<String>,
    /// For reviews and inline comments: the commit that the author saw.
    pub commit: Option<String>,
}

impl Posted {
    /// A text that nobody posted yet.
    pub fn local(body: &str, author: &str) -> Self {
        Self {
            kind: SignOffKind::File,
            id: 0,
            node_id: String::new(),
            author: author.to_owned(),
            author_id: 0,
            author_is_bot: false,
            association: String::new(),
            body: body.to_owned(),
            created: String::new(),
            updated: String::new(),
            html_url: String::new(),
            app: None,
            state: None,
            commit: None,
        }
    }
}

/// An app that wrote something.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AppRef {
    /// GitHub's id of the app.
    pub id: i64,
    /// Its name in URLs.
    #[serde(default)]
    pub slug: String,
}

/// The last edit of a text, where there was one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Edit {
    /// GraphQL id of what was edited.
    pub id: String,
    /// When; `None` where it was never edited.
    pub last_edited_at: Option<String>,
    /// By whom; `None` where it was never edited or the account is gone.
    pub editor: Option<String>,
}

/// The last commit that touched a path.
pub type History = Commit;

/// A file of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TreeFile {
    /// Its path.
    pub path: String,
    /// `100644`, `100755`, or `120000` for a symbolic link.
    pub mode: String,
    /// The SHA of its blob: the same bytes have the same.
    pub sha: String,
}

/// A check run at a commit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CheckRun {
    /// GitHub's id; for checks of a workflow the id of the job.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// The commit that it sits on.
    pub head_sha: String,
    /// `queued`, `in_progress`, `completed`, or one of the rarer waiting states.
    pub status: String,
    /// What it ended with; `None` until it is completed.
    pub conclusion: Option<String>,
    /// When it started.
    pub started_at: Option<String>,
    /// When it was completed.
    pub completed_at: Option<String>,
    /// Its page.
    pub html_url: Option<String>,
    /// The page that its author names.
    pub details_url: Option<String>,
    /// The name that its author gave it.
    pub external_id: Option<String>,
    /// The app that made it.
    pub app: Option<AppRef>,
}

/// A commit status: the newest of its context.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Status {
    /// GitHub's id.
    pub id: i64,
    /// What it is called.
    pub context: String,
    /// `success`, `failure`, `error` or `pending`.
    pub state: String,
    /// The page that its author names.
    #[serde(default)]
    pub target_url: Option<String>,
}

/// A workflow run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "RunWire")]
pub struct Run {
    /// GitHub's id.
    pub id: i64,
    /// The workflow's name.
    pub name: String,
    /// The workflow's file, e.g. `.github/workflows/sweep.yml`, without a `@ref` behind it.
    pub path: String,
    /// What started it, e.g. `pull_request`.
    pub event: String,
    /// `queued`, `in_progress`, `completed`, or one of the rarer waiting states.
    pub status: String,
    /// What it ended with; `None` until it is completed.
    pub conclusion: Option<String>,
    /// The commit that it ran on.
    pub head_sha: String,
    /// `owner/name` that the commit came from; `None` where that repository is gone.
    pub head_repository: Option<String>,
    /// The newest attempt, from 1.
    pub attempt: i64,
    /// When it was created.
    pub created: String,
    /// When the newest attempt started.
    pub started: String,
    /// Its page.
    pub html_url: String,
}

/// One job of a workflow run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Job {
    /// GitHub's id; also that of its check run.
    pub id: i64,
    /// The run that it belongs to.
    pub run_id: i64,
    /// The attempt that executed it, from 1.
    #[serde(rename = "run_attempt", default = "first_attempt")]
    pub attempt: i64,
    /// Its name.
    pub name: String,
    /// `queued`, `in_progress`, `completed`, or one of the rarer waiting states.
    pub status: String,
    /// What it ended with; `None` until it is completed.
    pub conclusion: Option<String>,
    /// When it started.
    pub started_at: Option<String>,
    /// When it was completed.
    pub completed_at: Option<String>,
    /// Its page.
    pub html_url: Option<String>,
}

/// What an account may do in a repository.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "PermissionWire")]
pub struct Permission {
    /// The login as GitHub spells it; empty where GitHub names no account.
    pub login: String,
    /// Whether that is an app or a bot account.
    pub is_bot: bool,
    /// `admin`, `write`, `read` or `none`.
    pub permission: String,
    /// Name of the role: `admin`, `maintain`, `write`, `triage`, `read`, a custom one, or empty.
    pub role_name: String,
}

/// A membership in a team.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TeamMember {
    /// `active`, or `pending` for an invitation that is not accepted.
    pub state: String,
    /// `member` or `maintainer`.
    #[serde(default)]
    pub role: String,
}

/// A line of CODEOWNERS that GitHub could not read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CodeownersError {
    /// 1-based line.
    pub line: i64,
    /// 1-based column.
    pub column: i64,
    /// Kind of mistake, e.g. `Invalid pattern`.
    #[serde(default)]
    pub kind: String,
    /// The line itself.
    #[serde(default)]
    pub source: Option<String>,
    /// What GitHub says of it; several lines.
    pub message: String,
    /// The CODEOWNERS file.
    #[serde(default)]
    pub path: String,
}

/// Permissions of our installation by name (`members` → `read`).
pub type Grants = BTreeMap<String, String>;

/// What a container registry holds under a tag or digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// Its digest.
    pub digest: String,
    /// Where it is an index that was read whole, the digests of its platforms.
    pub parts: Vec<String>,
}
