//! The names of the things that can be read.

use std::fmt;

use serde::{Deserialize, Serialize};

/// `owner/name` of a repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepoName {
    owner: String,
    name: String,
}

impl RepoName {
    /// The part before the slash.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// The part behind it.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for RepoName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

impl From<RepoName> for String {
    fn from(repo: RepoName) -> Self {
        repo.to_string()
    }
}

impl TryFrom<String> for RepoName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl std::str::FromStr for RepoName {
    type Err = String;

    /// GitHub's alphabet: letters, digits, `-`, `_`, `.`; no part may be `.` or `..`.
    fn from_str(text: &str) -> Result<Self, String> {
        let fits = |part: &str| {
            !part.is_empty()
                && part.len() <= 100
                && part != "."
                && part != ".."
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        };
        match text.split_once('/') {
            Some((owner, name)) if fits(owner) && fits(name) => {
                Ok(Self { owner: owner.to_owned(), name: name.to_owned() })
            }
            _ => Err(format!("`{text}` is not a repository; expected owner/name")),
        }
    }
}

/// A thing that can be read. Its [`fmt::Display`] is the key that a record holds.
///
/// Commits in keys are 40 hex digits; a key all of whose parts are immutable may be cached for ever
/// ([`ReadKey::immutable`]).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadKey {
    /// `GET /repos/{repo}/pulls/{number}`.
    Pull {
        /** Repository. */
        repo: RepoName,
        /** Number. */
        number: i64,
    },
    /// The same request as [`ReadKey::Pull`], asked once more when everything else was read: whether
    /// the head has moved on.
    PullAtEnd {
        /// Repository.
        repo: RepoName,
        /// Number.
        number: i64,
    },
    /// GraphQL: repository id, visibility, default branch and tip, head and target tip of the pull
    /// request, as `{"repository_id", "private", "default_branch", "default_sha", "base_ref",
    /// "base_sha", "head_sha"}`.
    Tips {
        /** Repository. */
        repo: RepoName,
        /** Number. */
        number: i64,
    },
    /// `GET /repos/{repo}/pulls/{number}/commits`, all pages.
    PullCommits {
        /** Repository. */
        repo: RepoName,
        /** Number. */
        number: i64,
    },
    /// `GET /repos/{repo}/pulls/{number}/files`, all pages.
    PullFiles {
        /** Repository. */
        repo: RepoName,
        /** Number. */
        number: i64,
    },
    /// `GET /repos/{repo}/issues/{number}/comments`, all pages.
    IssueComments {
        /** Repository. */
        repo: RepoName,
        /** Number. */
        number: i64,
    },
    /// `GET /repos/{repo}/pulls/{number}/reviews`, all pages.
    Reviews {
        /** Repository. */
        repo: RepoName,
        /** Number. */
        number: i64,
    },
    /// `GET /repos/{repo}/pulls/{number}/comments`, all pages.
    ReviewComments {
        /** Repository. */
        repo: RepoName,
        /** Number. */
        number: i64,
    },
    /// GraphQL `nodes(ids:)`: who edited these comments and when, as
    /// `[{"id", "last_edited_at", "editor"}]` in the order asked; `null` for what is gone.
    Edits {
        /** Repository. */
        repo: RepoName,
        /** GraphQL node ids, sorted. */
        ids: Vec<String>,
    },
    /// `GET /repos/{repo}/compare/{base}...{head}`: merge base, up to 300 files, all commits.
    Compare {
        /** Repository. */
        repo: RepoName,
        /** Commit. */
        base: String,
        /** Commit. */
        head: String,
    },
    /// A file's raw bytes at a commit; 404 where it is not there.
    File {
        /** Repository. */
        repo: RepoName,
        /** Commit. */
        commit: String,
        /** Path. */
        path: String,
    },
    /// `GET /repos/{repo}/git/trees/{commit}?recursive=1`: every file of a commit, as
    /// `[{"path", "mode", "sha"}]` in the order of the paths; submodules are left out.
    Tree {
        /** Repository. */
        repo: RepoName,
        /** Commit. */
        commit: String,
    },
    /// `GET /repos/{repo}/commits?sha&path&until&per_page=1`: the last commit at or before a time
    /// that touched a path, as an array of at most one.
    History {
        /** Repository. */
        repo: RepoName,
        /** Commit. */
        from: String,
        /** Path. */
        path: String,
        /** RFC 3339; `None` for the newest. */
        until: Option<String>,
    },
    /// `GET /repos/{repo}/commits/{sha}/check-runs?filter=all`, all pages, as one array.
    CheckRuns {
        /** Repository. */
        repo: RepoName,
        /** Commit. */
        commit: String,
    },
    /// `GET /repos/{repo}/commits/{sha}/status`: the newest commit status of each context, all pages,
    /// as one array.
    Statuses {
        /** Repository. */
        repo: RepoName,
        /** Commit. */
        commit: String,
    },
    /// `GET /repos/{repo}/actions/runs/{id}`.
    Run {
        /** Repository. */
        repo: RepoName,
        /** Run id. */
        id: i64,
    },
    /// `GET /repos/{repo}/actions/runs/{id}/jobs?filter=all`, all pages, as one array.
    Jobs {
        /** Repository. */
        repo: RepoName,
        /** Run id. */
        id: i64,
        /** Attempt. */
        attempt: i64,
        /** Whether the attempt is completed. */
        completed: bool,
    },
    /// `GET /repos/{repo}/collaborators/{login}/permission`.
    Permission {
        /** Repository. */
        repo: RepoName,
        /** Login, lower case. */
        login: String,
    },
    /// `GET /orgs/{org}/teams/{team}/memberships/{login}`.
    TeamMember {
        /** Repository asked for. */
        repo: RepoName,
        /** Organisation. */
        org: String,
        /** Team slug. */
        team: String,
        /** Login, lower case. */
        login: String,
    },
    /// `GET /repos/{repo}/codeowners/errors?ref={commit}`.
    CodeownersErrors {
        /** Repository. */
        repo: RepoName,
        /** Commit. */
        commit: String,
    },
    /// `/v2/{name}/manifests/{reference}` of a container registry: the digest that a tag names, or
    /// whether a digest is there.
    Manifest {
        /** Repository asked for. */
        repo: RepoName,
        /** The registry's host, as the profile names it. */
        host: String,
        /** The image's repository there. */
        name: String,
        /** Tag or digest. */
        reference: String,
        /** With the manifest itself, or its digest alone. */
        whole: bool,
    },
    /// What our installation may do, as `{"permissions": {"members": "read", …}}`; 404 where we
    /// are no installation (a personal token).
    Grants {
        /** Repository. */
        repo: RepoName,
    },
}

impl ReadKey {
    /// The repository that it is read from.
    pub fn repo(&self) -> &RepoName {
        match self {
            Self::Pull { repo, .. }
            | Self::PullAtEnd { repo, .. }
            | Self::Tips { repo, .. }
            | Self::PullCommits { repo, .. }
            | Self::PullFiles { repo, .. }
            | Self::IssueComments { repo, .. }
            | Self::Reviews { repo, .. }
            | Self::ReviewComments { repo, .. }
            | Self::Edits { repo, .. }
            | Self::Compare { repo, .. }
            | Self::File { repo, .. }
            | Self::Tree { repo, .. }
            | Self::History { repo, .. }
            | Self::CheckRuns { repo, .. }
            | Self::Statuses { repo, .. }
            | Self::Run { repo, .. }
            | Self::Jobs { repo, .. }
            | Self::Permission { repo, .. }
            | Self::TeamMember { repo, .. }
            | Self::CodeownersErrors { repo, .. }
            | Self::Manifest { repo, .. }
            | Self::Grants { repo } => repo,
        }
    }

    /// Whether the reply can never change.
    pub fn immutable(&self) -> bool {
        match self {
            Self::Compare { .. } | Self::File { .. } | Self::Tree { .. } | Self::History { .. } => {
                true
            }
            Self::Jobs { completed, .. } => *completed,
            _ => false,
        }
    }
}

impl fmt::Display for ReadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pull { repo, number } => write!(f, "pull {repo}#{number}"),
            Self::PullAtEnd { repo, number } => write!(f, "pull {repo}#{number} at the end"),
            Self::Tips { repo, number } => write!(f, "tips {repo}#{number}"),
            Self::PullCommits { repo, number } => write!(f, "commits {repo}#{number}"),
            Self::PullFiles { repo, number } => write!(f, "files {repo}#{number}"),
            Self::IssueComments { repo, number } => write!(f, "comments {repo}#{number}"),
            Self::Reviews { repo, number } => write!(f, "reviews {repo}#{number}"),
            Self::ReviewComments { repo, number } => write!(f, "review-comments {repo}#{number}"),
            Self::Edits { repo, ids } => write!(f, "edits {repo} {}", ids.join(",")),
            Self::Compare { repo, base, head } => write!(f, "compare {repo} {base}...{head}"),
            Self::File { repo, commit, path } => write!(f, "file {repo}@{commit}:{path}"),
            Self::Tree { repo, commit } => write!(f, "tree {repo}@{commit}"),
            Self::History { repo, from, path, until } => write!(
                f,
                "history {repo}@{from}:{path} until {}",
                until.as_deref().unwrap_or("now")
            ),
            Self::CheckRuns { repo, commit } => write!(f, "check-runs {repo}@{commit}"),
            Self::Statuses { repo, commit } => write!(f, "statuses {repo}@{commit}"),
            Self::Run { repo, id } => write!(f, "run {repo}/{id}"),
            Self::Jobs { repo, id, attempt, completed } => {
                write!(f, "jobs {repo}/{id}/{attempt}{}", if *completed { "" } else { " so far" })
            }
            Self::Permission { repo, login } => write!(f, "permission {repo} {login}"),
            Self::TeamMember { repo, org, team, login } => {
                write!(f, "team-member {repo} {org}/{team} {login}")
            }
            Self::CodeownersErrors { repo, commit } => {
                write!(f, "codeowners-errors {repo}@{commit}")
            }
            Self::Manifest { repo, host, name, reference, whole } => {
                let kind = if *whole { "manifest" } else { "digest" };
                write!(f, "{kind} {repo} {host}/{name} {reference}")
            }
            Self::Grants { repo } => write!(f, "grants {repo}"),
        }
    }
}
