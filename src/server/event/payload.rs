//! The parts of GitHub's payloads that mean something, by their names in "Webhook events and payloads".
//! No `serde(flatten)`: it would keep every field that is not named, and bodies have up to 25 MiB.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::facts::SignOffKind;

#[derive(Deserialize)]
pub(super) struct Account {
    pub(super) login: String,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Repository {
    pub(super) id: Option<i64>,
    pub(super) full_name: String,
}

#[derive(Deserialize)]
pub(super) struct AppRef {
    pub(super) id: u64,
}

#[derive(Deserialize)]
pub(super) struct Pull {
    pub(super) number: i64,
    state: Option<String>,
    draft: Option<bool>,
}

impl Pull {
    /// Why nothing is verified on it by itself. The worker asks again; a payload can be old.
    pub(super) fn not_ready(&self) -> Option<&'static str> {
        if self.state.as_deref() == Some("closed") {
            Some("the pull request is closed")
        } else if self.draft == Some(true) {
            Some("the pull request is a draft")
        } else {
            None
        }
    }
}

#[derive(Default, Deserialize)]
pub(super) struct Changes {
    body: Option<OldBody>,
    pub(super) base: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct OldBody {
    from: Option<String>,
}

/// A comment or review, whatever its event.
pub(super) struct Posted {
    pub(super) kind: SignOffKind,
    pub(super) id: i64,
    pub(super) action: String,
    pub(super) author: Option<Account>,
    pub(super) body: String,
    pub(super) old_body: String,
    pub(super) by_app: Option<u64>,
    /// A review that is not submitted, or dismissed.
    pub(super) withheld: bool,
    /// `None` for a comment on an issue.
    pub(super) pull: Option<Pull>,
    pub(super) repository: Repository,
    pub(super) sender: Option<Account>,
}

#[derive(Deserialize)]
struct Comment {
    id: i64,
    user: Option<Account>,
    body: Option<String>,
    /// Of a review.
    state: Option<String>,
    performed_via_github_app: Option<AppRef>,
}

/// `issue_comment`.
#[derive(Deserialize)]
pub(super) struct OnIssue {
    issue: Issue,
    comment: Comment,
    action: String,
    changes: Option<Changes>,
    repository: Repository,
    sender: Option<Account>,
}

#[derive(Deserialize)]
struct Issue {
    number: i64,
    state: Option<String>,
    draft: Option<bool>,
    pull_request: Option<IgnoredAny>,
}

/// `pull_request_review`, `pull_request_review_comment`.
#[derive(Deserialize)]
pub(super) struct OnPull {
    #[serde(alias = "review")]
    comment: Comment,
    pull_request: Pull,
    action: String,
    changes: Option<Changes>,
    repository: Repository,
    sender: Option<Account>,
}

impl OnIssue {
    pub(super) fn posted(self) -> Posted {
        let Issue { number, state, draft, pull_request } = self.issue;
        let pull = pull_request.map(|_| Pull { number, state, draft });
        let (action, changes) = (self.action, self.changes);
        let kind = SignOffKind::IssueComment;
        self.comment.posted(kind, action, changes, pull, self.repository, self.sender)
    }
}

impl OnPull {
    pub(super) fn posted(self, kind: SignOffKind) -> Posted {
        let (action, changes, pull) = (self.action, self.changes, Some(self.pull_request));
        self.comment.posted(kind, action, changes, pull, self.repository, self.sender)
    }
}

impl Comment {
    fn posted(
        self,
        kind: SignOffKind,
        action: String,
        changes: Option<Changes>,
        pull: Option<Pull>,
        repository: Repository,
        sender: Option<Account>,
    ) -> Posted {
        let state = self.state.unwrap_or_default().to_ascii_lowercase();
        Posted {
            kind,
            id: self.id,
            action,
            author: self.user,
            body: self.body.unwrap_or_default(),
            old_body: changes.and_then(|changes| changes.body?.from).unwrap_or_default(),
            by_app: self.performed_via_github_app.map(|app| app.id),
            withheld: matches!(state.as_str(), "pending" | "dismissed"),
            pull,
            repository,
            sender,
        }
    }
}

/// `pull_request`.
#[derive(Deserialize)]
pub(super) struct PullRequest {
    pub(super) action: String,
    pub(super) pull_request: Pull,
    pub(super) changes: Option<Changes>,
    pub(super) repository: Repository,
    pub(super) sender: Option<Account>,
}

/// `check_run`.
#[derive(Deserialize)]
pub(super) struct CheckRunPayload {
    pub(super) action: String,
    pub(super) check_run: CheckRun,
    pub(super) requested_action: Option<RequestedAction>,
    pub(super) repository: Repository,
    pub(super) sender: Option<Account>,
}

#[derive(Deserialize)]
pub(super) struct CheckRun {
    pub(super) external_id: Option<String>,
    pub(super) app: Option<AppRef>,
}

#[derive(Deserialize)]
pub(super) struct RequestedAction {
    pub(super) identifier: String,
}

/// `check_suite`.
#[derive(Deserialize)]
pub(super) struct CheckSuitePayload {
    pub(super) action: String,
    pub(super) check_suite: CheckSuite,
    pub(super) repository: Repository,
    pub(super) sender: Option<Account>,
}

#[derive(Deserialize)]
pub(super) struct CheckSuite {
    pub(super) head_sha: Option<String>,
    pub(super) app: Option<AppRef>,
    #[serde(default)]
    pub(super) pull_requests: Vec<SuitePull>,
}

#[derive(Deserialize)]
pub(super) struct SuitePull {
    pub(super) number: i64,
    base: Option<SuiteBranch>,
}

#[derive(Deserialize)]
struct SuiteBranch {
    repo: Option<SuiteRepository>,
}

#[derive(Deserialize)]
struct SuiteRepository {
    id: i64,
}

impl SuitePull {
    /// Whether it targets that repository: the list can hold pull requests of forks.
    pub(super) fn targets(&self, repository: &Repository) -> bool {
        let id = self.base.as_ref().and_then(|base| Some(base.repo.as_ref()?.id));
        id.is_some() && id == repository.id
    }
}

/// `merge_group`.
#[derive(Deserialize)]
pub(super) struct MergeGroupPayload {
    pub(super) action: String,
    pub(super) merge_group: MergeGroup,
    pub(super) repository: Repository,
}

#[derive(Deserialize)]
pub(super) struct MergeGroup {
    pub(super) head_sha: String,
    pub(super) head_ref: String,
    pub(super) base_ref: String,
}

impl MergeGroup {
    /// The branch that the queue merges into.
    pub(super) fn branch(&self) -> &str {
        self.base_ref.strip_prefix("refs/heads/").unwrap_or(&self.base_ref)
    }

    /// The last pull request of the group: GitHub names the group's branch
    /// `gh-readonly-queue/BRANCH/pr-NUMBER-COMMIT`.
    pub(super) fn pull(&self) -> Option<i64> {
        let name = self.head_ref.strip_prefix("refs/heads/").unwrap_or(&self.head_ref);
        let inside = name.strip_prefix("gh-readonly-queue/")?.strip_prefix(self.branch())?;
        let (number, _) = inside.strip_prefix("/pr-")?.split_once('-')?;
        number.parse().ok().filter(|number| *number > 0)
    }
}

/// `status`.
#[derive(Deserialize)]
pub(super) struct Status {
    pub(super) sha: String,
    pub(super) state: String,
    pub(super) context: String,
    pub(super) repository: Repository,
}
