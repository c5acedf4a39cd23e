//! `case.yaml` as it is written.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A whole case. Paths are relative to the case's folder, times are RFC 3339.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// `owner/name`.
    pub repository: String,
    /// The date that the rules see.
    pub now: String,
    /// Whether the repository is private: strangers get 404.
    #[serde(default)]
    pub private: bool,
    /// The default branch.
    #[serde(default = "main_branch")]
    pub default_branch: String,
    /// Commits of an existing clone instead of `base/` and `head/`.
    #[serde(default)]
    pub git: Option<GitSource>,
    /// The commit of `main` that the pull request starts from; the last one by default.
    #[serde(default)]
    pub base: Option<String>,
    /// History of the default branch, oldest first; the last one is the tip.
    #[serde(default)]
    pub main: Vec<CommitSpec>,
    /// Trees of commits that the pull request names, and commits outside it.
    #[serde(default)]
    pub commits: Vec<CommitSpec>,
    /// The pull request.
    pub pull_request: PullSpec,
    /// Further pull requests of the repository.
    #[serde(default)]
    pub more: Vec<MorePull>,
    /// Further branches of the repository, by the id of a commit.
    #[serde(default)]
    pub branches: BTreeMap<String, String>,
    /// Roles by login; a login that is not here has none.
    #[serde(default)]
    pub people: BTreeMap<String, Option<Person>>,
    /// `org/team` of teams that have no member in `people`.
    #[serde(default)]
    pub teams: Vec<String>,
    /// Comments and reviews.
    #[serde(default)]
    pub comments: Vec<CommentSpec>,
    /// Workflow runs.
    #[serde(default)]
    pub runs: Vec<RunSpec>,
    /// Check runs of other apps.
    #[serde(default)]
    pub checks: Vec<CheckSpec>,
    /// Commit statuses, oldest first.
    #[serde(default)]
    pub statuses: Vec<StatusSpec>,
    /// What the default branch's rules require.
    #[serde(default)]
    pub required_checks: Vec<RequiredCheck>,
    /// Events that the App is subscribed to; all that there are by default.
    #[serde(default)]
    pub app_events: Option<Vec<String>>,
    /// Other repositories.
    #[serde(default)]
    pub upstream: BTreeMap<String, UpstreamSpec>,
    /// Container registries: repository, tag, digest. Absent: none can be asked.
    #[serde(default)]
    pub registry: Option<BTreeMap<String, BTreeMap<String, String>>>,
    /// Of an image index, by its digest: the digests of the images in it.
    #[serde(default)]
    pub registry_parts: BTreeMap<String, Vec<String>>,
    /// What the installation may do. With a `none` among the levels it takes away from the
    /// defaults; without one it is the whole list.
    #[serde(default)]
    pub app_permissions: Option<BTreeMap<String, String>>,
    /// What GitHub says about CODEOWNERS: messages, or whole error objects.
    #[serde(default)]
    pub codeowners_errors: Vec<Value>,
    /// Heads that move just before a request is answered, each once.
    #[serde(default)]
    pub moves: Vec<Move>,
    /// What goes wrong.
    #[serde(default)]
    pub faults: Vec<Fault>,
}

fn main_branch() -> String {
    "main".to_owned()
}

/// Commits of an existing clone.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GitSource {
    pub dir: String,
    pub base: String,
    pub head: String,
}

/// One commit.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommitSpec {
    pub id: String,
    /// A folder laid over `base/`; without one an in-PR commit changes nothing.
    #[serde(default)]
    pub tree: Option<String>,
    /// A commit that exists (`git:`), or another name that this one answers to.
    #[serde(default)]
    pub sha: Option<String>,
    /// Id of the commit before it; the one listed before by default.
    #[serde(default)]
    pub parent: Option<String>,
    #[serde(default)]
    pub date: Option<String>,
    #[serde(default)]
    pub message: Option<String>,
}

/// The pull request.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PullSpec {
    pub number: u64,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub body: Option<String>,
    #[serde(default)]
    pub body_file: Option<String>,
    pub author: String,
    #[serde(default)]
    pub labels: Vec<String>,
    #[serde(default)]
    pub state: PullState,
    #[serde(default)]
    pub draft: bool,
    #[serde(default)]
    pub commits: Vec<CommitSpec>,
    /// The commit of `main` that it starts from, or the branch that it targets.
    #[serde(default)]
    pub base: Option<String>,
    /// `owner/name` of the fork that it comes from.
    #[serde(default)]
    pub head_repository: Option<String>,
    /// Name of the branch that it comes from.
    #[serde(default = "head_branch")]
    pub head_ref: String,
    #[serde(default)]
    pub created_at: Option<String>,
    #[serde(default)]
    pub merged_at: Option<String>,
    #[serde(default)]
    pub merge_commit: Option<String>,
}

/// A further pull request, onto the branch that `base` names or else the default branch.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MorePull {
    pub number: u64,
    pub author: String,
    /// Id of its newest commit, one of `commits`.
    pub head: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub base: Option<String>,
    #[serde(default)]
    pub state: PullState,
    #[serde(default)]
    pub draft: bool,
    #[serde(default)]
    pub labels: Vec<String>,
}

fn head_branch() -> String {
    "change".to_owned()
}

/// Open, closed or merged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PullState {
    #[default]
    Open,
    Closed,
    Merged,
}

/// What a login is to the repository.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Person {
    #[serde(default)]
    pub role: Option<String>,
    /// The base permission, where the role's name is a custom one.
    #[serde(default)]
    pub permission: Option<String>,
    #[serde(default)]
    pub association: Option<String>,
    /// `org/team`.
    #[serde(default)]
    pub teams: Vec<String>,
    /// `User` or `Bot`.
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
}

/// A conversation comment, a review, or an inline comment.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommentSpec {
    pub id: u64,
    /// The pull request that it is on; the case's own by default.
    #[serde(default)]
    pub pull: Option<u64>,
    pub author: String,
    #[serde(default)]
    pub kind: CommentKind,
    #[serde(default)]
    pub body: Option<String>,
    #[serde(default)]
    pub file: Option<String>,
    #[serde(default)]
    pub created: Option<String>,
    /// Later than `created`: it was edited then, by `edited_by` or else by its author.
    #[serde(default)]
    pub updated: Option<String>,
    #[serde(default)]
    pub edited_by: Option<String>,
    /// Of a review: `APPROVED`, `CHANGES_REQUESTED`, `COMMENTED`, `DISMISSED`, `PENDING`.
    #[serde(default)]
    pub state: Option<String>,
    /// Id of the commit that a review or inline comment is on; the head by default.
    #[serde(default)]
    pub commit: Option<String>,
    #[serde(default)]
    pub path: Option<String>,
    #[serde(default)]
    pub line: Option<u64>,
    /// Slug of the app that wrote it.
    #[serde(default)]
    pub app: Option<String>,
}

impl CommentSpec {
    /// A comment of the conversation on the case's own pull request; the rest is as it comes.
    pub fn said(id: u64, author: &str, body: &str) -> Self {
        Self {
            id,
            pull: None,
            author: author.to_owned(),
            kind: CommentKind::IssueComment,
            body: Some(body.to_owned()),
            file: None,
            created: None,
            updated: None,
            edited_by: None,
            state: None,
            commit: None,
            path: None,
            line: None,
            app: None,
        }
    }
}

/// Where a comment stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommentKind {
    #[default]
    IssueComment,
    Review,
    ReviewComment,
}

/// A workflow run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    pub id: u64,
    #[serde(default = "first")]
    pub attempt: u64,
    /// File name of the workflow.
    #[serde(default = "sweep_workflow")]
    pub workflow: String,
    /// Its path; `.github/workflows/<workflow>` by default.
    #[serde(default)]
    pub path: Option<String>,
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default = "pull_request_event")]
    pub event: String,
    /// Id of a commit, or `outside`.
    #[serde(default = "head_id")]
    pub head: String,
    #[serde(default = "completed")]
    pub status: String,
    #[serde(default)]
    pub conclusion: Option<String>,
    #[serde(default)]
    pub created_at: Option<String>,
    #[serde(default)]
    pub updated_at: Option<String>,
    #[serde(default)]
    pub actor: Option<String>,
    /// `owner/name` of the fork whose branch it ran on.
    #[serde(default)]
    pub repository: Option<String>,
    #[serde(default)]
    pub jobs: Vec<JobSpec>,
    /// By name; every folder of `artifacts/` by default.
    #[serde(default)]
    pub artifacts: Option<BTreeMap<String, OneOrMany<ArtifactSpec>>>,
}

fn first() -> u64 {
    1
}

fn sweep_workflow() -> String {
    "run-sweep.yml".to_owned()
}

fn pull_request_event() -> String {
    "pull_request".to_owned()
}

fn head_id() -> String {
    "head".to_owned()
}

fn completed() -> String {
    "completed".to_owned()
}

/// One execution of a job; a check run, too.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobSpec {
    pub name: String,
    #[serde(default)]
    pub id: Option<u64>,
    #[serde(default)]
    pub conclusion: Option<String>,
    /// `completed` where there is a conclusion, else `in_progress`.
    #[serde(default)]
    pub status: Option<String>,
    /// The run's latest by default.
    #[serde(default)]
    pub attempt: Option<u64>,
    #[serde(default)]
    pub started_at: Option<String>,
    #[serde(default)]
    pub completed_at: Option<String>,
    /// A file with its Actions log.
    #[serde(default)]
    pub log: Option<String>,
}

/// One upload of an artifact.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ArtifactSpec {
    pub id: Option<u64>,
    /// Its folder or `.zip`; `artifacts/<NAME>` by default.
    pub from: Option<String>,
    pub expired: bool,
    pub created_at: Option<String>,
}

/// A check run of another app.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckSpec {
    pub name: String,
    /// The app's slug.
    pub app: String,
    #[serde(default)]
    pub id: Option<u64>,
    #[serde(default)]
    pub conclusion: Option<String>,
    #[serde(default)]
    pub status: Option<String>,
    /// Id of the commit; the head by default.
    #[serde(default = "head_id")]
    pub on: String,
}

/// A commit status.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatusSpec {
    pub context: String,
    /// `error`, `failure`, `pending` or `success`.
    pub state: String,
    #[serde(default)]
    pub description: Option<String>,
    /// Id of the commit; the head by default.
    #[serde(default = "head_id")]
    pub on: String,
    #[serde(default)]
    pub creator: Option<String>,
}

/// A check that has to pass before anything is merged.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequiredCheck {
    pub context: String,
    /// Id of the app that it has to come from.
    #[serde(default)]
    pub integration_id: Option<u64>,
}

/// Another repository.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UpstreamSpec {
    pub default_branch: Option<String>,
    pub pulls: BTreeMap<u64, UpstreamPull>,
    /// A folder for each branch.
    pub files: BTreeMap<String, String>,
}

/// A pull request of another repository.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UpstreamPull {
    pub state: PullState,
    pub title: Option<String>,
    pub author: Option<String>,
    pub draft: bool,
    pub merged_at: Option<String>,
    pub base: Option<String>,
    pub merge_commit: Option<String>,
    pub files: Vec<String>,
}

/// A head that moves.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Move {
    /// `METHOD /path`, `*` for anything.
    pub before: String,
    /// Id of the commit that becomes the head.
    pub head: String,
}

/// Something that goes wrong for requests that match.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// `METHOD /path` with or without the query; `*` stands for anything, slashes too.
    #[serde(rename = "match")]
    pub pattern: String,
    /// How often; for ever where absent.
    #[serde(default)]
    pub times: Option<u64>,
    #[serde(default)]
    pub status: Option<u16>,
    #[serde(default)]
    pub latency_ms: Option<u64>,
    /// The request is carried out all the same, only its reply is lost.
    #[serde(default)]
    pub after: bool,
    /// Seconds for `retry-after`.
    #[serde(default)]
    pub retry_after: Option<u64>,
    /// A primary rate limit: 403 with nothing remaining.
    #[serde(default)]
    pub rate_limited: bool,
    /// The reply's body instead of GitHub's usual one.
    #[serde(default)]
    pub body: Option<String>,
    /// The connection breaks in the middle of the reply's body.
    #[serde(default)]
    pub truncated: bool,
}

/// One thing, or a list of them. `null` is one thing with nothing said about it.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct OneOrMany<T>(pub Vec<T>);

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for Either<T> {
            type Value = OneOrMany<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping or a list of mappings")
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(OneOrMany(vec![T::default()]))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Ok(OneOrMany(vec![T::deserialize(MapAccessDeserializer::new(map))?]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                Ok(OneOrMany(Vec::deserialize(SeqAccessDeserializer::new(seq))?))
            }
        }

        deserializer.deserialize_any(Either(PhantomData))
    }
}
