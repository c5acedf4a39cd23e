//! A local clone as a source: no network at all.
//!
//! It answers what lies in git (files, comparisons, commits, history) in the shapes of GitHub's API,
//! and says of everything else that it is not available offline. Only plumbing commands are run, so
//! that a user's aliases, drivers and display settings have no say, and a partial clone fetches
//! nothing: an object that it lacks is an error that names it, never a file that is not there.

mod diff;
mod objects;
mod run;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use chrono::DateTime;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::{Mutex, OnceCell};

use self::objects::{Object, Objects};
use self::run::{Failure, Git};
use super::route::tree_path;
use super::{ReadError, ReadKey, Reply, RepoName, Source};
use crate::facts::canonical;
use crate::limits::REPLY_BYTES;

/// The branch that both the target and the default are called, since a clone does not tell.
const BRANCH: &str = "main";
/// A commit's name and committer's date in UTC, as GitHub writes it.
const COMMIT_FORMAT: &str = "--format=%H %cd";
const DATE_FORMAT: &str = "--date=format-local:%Y-%m-%dT%H:%M:%SZ";

/// Why a clone cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    /// `git` itself cannot be run.
    #[error("git cannot be run: {0}; install git, or leave out --git-dir")]
    NoGit(String),
    /// The folder is no repository, or one that git will not touch.
    #[error("--git-dir {}: {reason}; expected a work tree, its .git folder or a bare repository", .dir.display())]
    NoRepository {
        /// As given.
        dir: PathBuf,
        /// What git said.
        reason: String,
    },
    /// A name that no commit has.
    #[error("--{option} {name}: no such commit in {}; fetch it, or give another", .dir.display())]
    NoCommit {
        /// `base` or `head`.
        option: &'static str,
        /// As given.
        name: String,
        /// The repository.
        dir: PathBuf,
    },
}

/// A local clone with the two commits that a verification stands on.
#[derive(Debug)]
pub struct LocalClone {
    git: Git,
    repo: RepoName,
    number: i64,
    base: String,
    head: String,
    objects: Mutex<Option<Objects>>,
    /// The comparison of the two, which four keys are answered from.
    comparison: OnceCell<Option<Value>>,
}

impl LocalClone {
    /// Opens a clone (a work tree, its `.git`, or a bare repository) and resolves both commits, which
    /// may be names. The number is the pull request's, or 0.
    ///
    /// # Errors
    /// Where the folder is no repository or a commit is not in it.
    pub fn open(
        dir: &Path,
        repo: RepoName,
        number: i64,
        base: &str,
        head: &str,
    ) -> Result<Self, GitError> {
        let git = Git::at(dir);
        let probed = git.run_now(&["rev-parse", "--git-dir"]);
        probed.map_err(|failure| match failure {
            Failure::NotRun(reason) => GitError::NoGit(reason),
            Failure::Refused { said, .. } => {
                GitError::NoRepository { dir: dir.to_owned(), reason: said }
            }
        })?;
        let resolve = |option, name: &str| {
            let commit = format!("{name}^{{commit}}");
            let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
            match git.run_now(&args) {
                Ok(sha) => Ok(text(&sha).trim().to_owned()),
                Err(_) => {
                    Err(GitError::NoCommit { option, name: name.to_owned(), dir: dir.to_owned() })
                }
            }
        };
        let (base, head) = (resolve("base", base)?, resolve("head", head)?);
        let (objects, comparison) = (Mutex::new(None), OnceCell::new());
        Ok(Self { git, repo, number, base, head, objects, comparison })
    }

    /// The target's tip, 40 hex digits.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The assessed commit, 40 hex digits.
    pub fn head(&self) -> &str {
        &self.head
    }

    async fn reply(&self, key: &ReadKey) -> Result<Reply, ReadError> {
        if key.repo() != &self.repo {
            return Err(ReadError::Offline { what: key.to_string() });
        }
        let answer = match key {
            ReadKey::Pull { .. } | ReadKey::PullAtEnd { .. } => {
                self.pull().await.map(|pull| Some(found(&pull)))
            }
            ReadKey::Tips { .. } => Ok(Some(found(&self.tips()))),
            ReadKey::PullCommits { .. } => {
                self.own().await.map(|compare| Some(found(&compare.as_ref()?["commits"])))
            }
            ReadKey::PullFiles { .. } => {
                self.own().await.map(|compare| Some(found(&compare.as_ref()?["files"])))
            }
            ReadKey::Compare { base, head, .. } if *base == self.base && *head == self.head => {
                self.own().await.map(|compare| Some(found(compare.as_ref()?)))
            }
            ReadKey::Compare { base, head, .. } => {
                self.compare(base, head).await.map(|compare| Some(found(&compare?)))
            }
            ReadKey::File { commit, path, .. } => self.file(commit, path).await,
            ReadKey::Tree { commit, .. } => {
                self.tree(commit).await.map(|files| Some(found(&files)))
            }
            ReadKey::History { from, path, until, .. } => self
                .history(from, path, until.as_deref())
                .await
                .map(|commits| Some(found(&commits))),
            ReadKey::IssueComments { .. }
            | ReadKey::Reviews { .. }
            | ReadKey::ReviewComments { .. }
            | ReadKey::Edits { .. }
            | ReadKey::CheckRuns { .. }
            | ReadKey::Statuses { .. }
            | ReadKey::Run { .. }
            | ReadKey::Jobs { .. }
            | ReadKey::Permission { .. }
            | ReadKey::TeamMember { .. }
            | ReadKey::CodeownersErrors { .. }
            | ReadKey::Manifest { .. }
            | ReadKey::Grants { .. } => {
                return Err(ReadError::Offline { what: key.to_string() });
            }
        };
        let what = || key.to_string();
        match answer {
            Ok(reply) => Ok(reply.unwrap_or(Reply {
                status: 404,
                headers: BTreeMap::new(),
                body: Bytes::new(),
            })),
            Err(Trouble::TooLarge) => {
                Err(ReadError::TooLarge { what: what(), bound: format!("{REPLY_BYTES} bytes") })
            }
            Err(Trouble::Git(Failure::NotRun(reason))) => {
                Err(ReadError::Unavailable { what: what(), reason })
            }
            Err(Trouble::Git(Failure::Refused { said, .. }) | Trouble::Lacking(said)) => {
                Err(ReadError::Unavailable { what: what(), reason: said })
            }
        }
    }

    /// A pull request that says no more than a clone knows.
    async fn pull(&self) -> Result<Value, Trouble> {
        let compare = self.own().await?.as_ref();
        let count = |list: &str| compare.and_then(|compare| Some(compare[list].as_array()?.len()));
        let repo = json!({ "full_name": self.repo });
        Ok(json!({
            "number": self.number,
            "title": "",
            "body": null,
            "user": { "login": "" },
            "state": "open",
            "draft": false,
            "merged": false,
            "labels": [],
            "base": { "ref": BRANCH, "sha": self.base, "repo": repo },
            "head": { "ref": self.head, "sha": self.head, "repo": repo },
            "changed_files": count("files").unwrap_or(0),
            "commits": count("commits").unwrap_or(0),
        }))
    }

    fn tips(&self) -> Value {
        json!({
            "repository_id": 0,
            "private": false,
            "default_branch": BRANCH,
            "default_sha": self.base,
            "base_ref": BRANCH,
            "base_sha": self.base,
            "head_sha": self.head,
        })
    }

    /// The comparison of the two commits that the clone was opened with.
    async fn own(&self) -> Result<&Option<Value>, Trouble> {
        self.comparison.get_or_try_init(|| self.compare(&self.base, &self.head)).await
    }

    /// The commits that `head` has and `base` has not, oldest first.
    async fn commits(&self, base: &str, head: &str) -> Result<Vec<Value>, Trouble> {
        let range = [format!("^{base}"), head.to_owned()];
        let mut args = vec!["rev-list", "--reverse", "--topo-order", "--no-commit-header"];
        args.extend([COMMIT_FORMAT, DATE_FORMAT, "--end-of-options"]);
        args.extend(range.iter().map(String::as_str));
        Ok(text(&self.git.run(&args).await?).lines().filter_map(commit).collect())
    }

    /// `None` where the two share no history, which GitHub answers with 404.
    async fn compare(&self, base: &str, head: &str) -> Result<Option<Value>, Trouble> {
        let merge_base = match self.git.run(&["merge-base", "--end-of-options", base, head]).await {
            Ok(sha) => text(&sha).trim().to_owned(),
            Err(Failure::Refused { code: Some(1), .. }) => return Ok(None),
            Err(failure) => return Err(failure.into()),
        };
        let sides = format!("{base}...{head}");
        let count = ["rev-list", "--left-right", "--count", "--end-of-options", &sides];
        let count = self.git.run(&count).await?;
        let mut count = text(&count)
            .split_whitespace()
            .filter_map(|n| n.parse::<i64>().ok())
            .collect::<Vec<_>>();
        let (ahead, behind) = (count.pop().unwrap_or(0), count.pop().unwrap_or(0));
        let mut args = vec!["diff-tree", "-r", "-M", "-z", "--raw", "--numstat"];
        args.extend(["--no-ext-diff", "--no-textconv", "--end-of-options", &merge_base, head]);
        let files = diff::files(&self.git.run(&args).await?);
        let status = match (ahead, behind) {
            (0, 0) => "identical",
            (_, 0) => "ahead",
            (0, _) => "behind",
            _ => "diverged",
        };
        let commits = self.commits(base, head).await?;
        Ok(Some(json!({
            "status": status,
            "ahead_by": ahead,
            "behind_by": behind,
            "total_commits": commits.len(),
            "merge_base_commit": { "sha": merge_base },
            "commits": commits,
            "files": files,
        })))
    }

    /// Every file of a commit, by path.
    async fn tree(&self, commit: &str) -> Result<Value, Trouble> {
        let args = ["ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit];
        let listed = self.git.run(&args).await?;
        let file = |line: &str| {
            let (what, path) = line.split_once('\t')?;
            let mut words = what.split(' ');
            let (mode, kind, sha) = (words.next()?, words.next()?, words.next()?);
            (kind == "blob").then(|| json!({ "path": path, "mode": mode, "sha": sha }))
        };
        let mut files: Vec<Value> = text(&listed).split('\0').filter_map(file).collect();
        files.sort_by(|a, b| a["path"].as_str().cmp(&b["path"].as_str()));
        Ok(files.into())
    }

    async fn history(&self, from: &str, path: &str, until: Option<&str>) -> Result<Value, Trouble> {
        let latest = match until.map(DateTime::parse_from_rfc3339) {
            Some(Ok(at)) => Some(format!("--min-age={}", at.timestamp())),
            Some(Err(error)) => return Err(Trouble::Lacking(format!("no RFC 3339 time: {error}"))),
            None => None,
        };
        let mut args = vec!["rev-list", "--max-count=1", "--no-commit-header"];
        args.extend([COMMIT_FORMAT, DATE_FORMAT]);
        args.extend(latest.as_deref());
        args.extend(["--end-of-options", from, "--", path]);
        Ok(text(&self.git.run(&args).await?).lines().filter_map(commit).collect())
    }

    /// A file's bytes; symbolic links are followed inside the tree, as GitHub does.
    async fn file(&self, commit: &str, path: &str) -> Result<Option<Reply>, Trouble> {
        let Some(path) = tree_path(path) else { return Ok(None) };
        let mut name = format!("{commit}:{path}");
        if name.contains('\n') {
            // The object reader takes one name a line.
            match self
                .git
                .run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &name])
                .await
            {
                Ok(object) => name = text(&object).trim().to_owned(),
                Err(_) => return self.lacking(commit, path).await,
            }
        }
        let mut objects = self.objects.lock().await;
        let reader = match objects.take() {
            Some(reader) => reader,
            None => Objects::start(&self.git)?,
        };
        // Put back only after a whole answer: a reader that was left in the middle of one is dropped.
        let (answer, reader) = reader.read(&name).await?;
        *objects = reader;
        drop(objects);
        match answer {
            Object::Blob(body) => Ok(Some(Reply { status: 200, headers: BTreeMap::new(), body })),
            Object::NoFile => Ok(None),
            Object::Missing => self.lacking(commit, path).await,
        }
    }

    /// Tells a file that is not in the tree from one that the clone does not hold.
    async fn lacking(&self, commit: &str, path: &str) -> Result<Option<Reply>, Trouble> {
        let args = ["ls-tree", "-z", "--full-tree", "--end-of-options", commit, "--", path];
        match text(&self.git.run(&args).await?).split_once(" blob ") {
            Some((_, object)) => {
                let object = object.split(['\t', '\0']).next().unwrap_or_default();
                Err(Trouble::Lacking(format!("the clone lacks its blob {object}; fetch it first")))
            }
            None => Ok(None),
        }
    }
}

impl Source for LocalClone {
    fn read<'a>(&'a self, key: &'a ReadKey) -> BoxFuture<'a, Result<Reply, ReadError>> {
        self.reply(key).boxed()
    }

    fn holds(&self, _key: &ReadKey) -> bool {
        true
    }
}

/// What kept a key from being read.
enum Trouble {
    Git(Failure),
    Lacking(String),
    TooLarge,
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Git(failure)
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        Self::Git(error.into())
    }
}

fn found(document: &Value) -> Reply {
    Reply { status: 200, headers: BTreeMap::new(), body: Bytes::from(canonical(document)) }
}

/// A line of [`COMMIT_FORMAT`] in GitHub's shape.
fn commit(line: &str) -> Option<Value> {
    let (sha, date) = line.split_once(' ')?;
    Some(json!({ "sha": sha, "commit": { "committer": { "date": date } } }))
}

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
