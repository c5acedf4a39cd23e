//! The shapes in which GitHub sends what [`super::types`] holds, as far as we read them.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::types::{
    AppRef, CodeownersError, Commit, Compare, File, Grants, Permission, Posted, Pull, Run,
};
use crate::facts::SignOffKind;
use crate::limits::BODY_BYTES;

/// Parses a body, or says where it is not what GitHub documents.
pub(super) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    let mut json = serde_json::Deserializer::from_slice(body);
    serde_path_to_error::deserialize(&mut json).map_err(|error| error.to_string())
}

pub(super) const fn first_attempt() -> i64 {
    1
}

/// An image index; a manifest of one platform has no list.
#[derive(Deserialize)]
pub(super) struct IndexWire {
    #[serde(default)]
    pub(super) manifests: Vec<PartWire>,
}

#[derive(Deserialize)]
pub(super) struct PartWire {
    pub(super) digest: String,
}

#[derive(Deserialize)]
struct UserWire {
    login: String,
    #[serde(default)]
    id: i64,
    #[serde(default, rename = "type")]
    kind: String,
}

impl UserWire {
    fn is_bot(&self) -> bool {
        self.kind == "Bot" || self.login.ends_with("[bot]")
    }
}

/// The account that GitHub shows for one that was deleted.
fn or_ghost(user: Option<UserWire>) -> UserWire {
    user.unwrap_or(UserWire { login: "ghost".to_owned(), id: 0, kind: "User".to_owned() })
}

#[derive(Deserialize)]
struct RepositoryWire {
    full_name: String,
}

#[derive(Deserialize)]
struct BranchWire {
    #[serde(rename = "ref")]
    name: String,
    sha: String,
    #[serde(default)]
    repo: Option<RepositoryWire>,
}

#[derive(Deserialize)]
struct LabelWire {
    name: String,
}

#[derive(Deserialize)]
pub(super) struct PullWire {
    number: i64,
    title: String,
    body: Option<String>,
    user: Option<UserWire>,
    state: String,
    #[serde(default)]
    merged: bool,
    #[serde(default)]
    draft: bool,
    #[serde(default)]
    labels: Vec<LabelWire>,
    base: BranchWire,
    head: BranchWire,
    #[serde(default)]
    changed_files: i64,
    #[serde(default)]
    commits: i64,
    #[serde(default)]
    html_url: String,
}

impl From<PullWire> for Pull {
    fn from(wire: PullWire) -> Self {
        let author = or_ghost(wire.user);
        Self {
            number: wire.number,
            title: wire.title,
            body: wire.body.unwrap_or_default(),
            author_is_bot: author.is_bot(),
            author: author.login,
            state: wire.state,
            merged: wire.merged,
            draft: wire.draft,
            labels: wire.labels.into_iter().map(|label| label.name).collect(),
            base_ref: wire.base.name,
            base_sha: wire.base.sha,
            head_ref: wire.head.name,
            head_sha: wire.head.sha,
            head_repository: wire.head.repo.map(|repo| repo.full_name),
            changed_files: wire.changed_files,
            commits: wire.commits,
            html_url: wire.html_url,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct CommitWire {
    sha: String,
    commit: CommitDetailsWire,
}

#[derive(Deserialize)]
struct CommitDetailsWire {
    committer: Option<SignatureWire>,
}

#[derive(Deserialize)]
struct SignatureWire {
    #[serde(default)]
    date: String,
}

impl From<CommitWire> for Commit {
    fn from(wire: CommitWire) -> Self {
        Self {
            sha: wire.sha,
            date: wire.commit.committer.map(|signature| signature.date).unwrap_or_default(),
        }
    }
}

#[derive(Deserialize)]
struct ShaWire {
    sha: String,
}

#[derive(Deserialize)]
pub(super) struct CompareWire {
    merge_base_commit: ShaWire,
    ahead_by: i64,
    behind_by: i64,
    commits: Vec<Commit>,
    #[serde(default)]
    files: Vec<File>,
}

impl From<CompareWire> for Compare {
    fn from(wire: CompareWire) -> Self {
        Self {
            merge_base: wire.merge_base_commit.sha,
            ahead_by: wire.ahead_by,
            behind_by: wire.behind_by,
            commits: wire.commits,
            files: wire.files,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct RunWire {
    id: i64,
    name: Option<String>,
    path: String,
    event: String,
    status: String,
    conclusion: Option<String>,
    head_sha: String,
    head_repository: Option<RepositoryWire>,
    #[serde(default = "first_attempt")]
    run_attempt: i64,
    created_at: String,
    run_started_at: Option<String>,
    html_url: String,
}

impl From<RunWire> for Run {
    fn from(wire: RunWire) -> Self {
        let path = match wire.path.split_once('@') {
            Some((path, _)) => path.to_owned(),
            None => wire.path,
        };
        Self {
            id: wire.id,
            name: wire.name.unwrap_or_default(),
            path,
            event: wire.event,
            status: wire.status,
            conclusion: wire.conclusion,
            head_sha: wire.head_sha,
            head_repository: wire.head_repository.map(|repo| repo.full_name),
            attempt: wire.run_attempt,
            started: wire.run_started_at.unwrap_or_else(|| wire.created_at.clone()),
            created: wire.created_at,
            html_url: wire.html_url,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct PermissionWire {
    permission: String,
    #[serde(default)]
    role_name: String,
    user: Option<UserWire>,
}

impl From<PermissionWire> for Permission {
    fn from(wire: PermissionWire) -> Self {
        Self {
            is_bot: wire.user.as_ref().is_some_and(UserWire::is_bot),
            login: wire.user.map(|user| user.login).unwrap_or_default(),
            permission: wire.permission,
            role_name: wire.role_name,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct CodeownersErrorsWire {
    pub(super) errors: Vec<CodeownersError>,
}

#[derive(Deserialize)]
pub(super) struct GrantsWire {
    pub(super) permissions: Grants,
}

/// The three lists of posted texts, before they are one type.
#[derive(Deserialize)]
pub(super) struct PostedWire {
    id: i64,
    node_id: String,
    user: Option<UserWire>,
    #[serde(default)]
    author_association: String,
    body: Option<String>,
    created_at: Option<String>,
    updated_at: Option<String>,
    submitted_at: Option<String>,
    html_url: String,
    performed_via_github_app: Option<AppRef>,
    state: Option<String>,
    commit_id: Option<String>,
    original_commit_id: Option<String>,
}

impl PostedWire {
    /// The one type of all three; the error is the text's length where it is past [`BODY_BYTES`].
    pub(super) fn into_posted(self, kind: SignOffKind) -> Result<Posted, (i64, usize)> {
        let body = self.body.unwrap_or_default();
        if body.len() > BODY_BYTES {
            return Err((self.id, body.len()));
        }
        let author = or_ghost(self.user);
        let created = self.created_at.or(self.submitted_at).unwrap_or_default();
        Ok(Posted {
            kind,
            id: self.id,
            node_id: self.node_id,
            author_id: author.id,
            author_is_bot: author.is_bot(),
            author: author.login,
            association: self.author_association,
            body,
            updated: self.updated_at.unwrap_or_else(|| created.clone()),
            created,
            html_url: self.html_url,
            app: self.performed_via_github_app,
            state: self.state,
            // An inline comment moves along with the diff; the original is what its author saw.
            commit: self.original_commit_id.or(self.commit_id),
        })
    }
}
