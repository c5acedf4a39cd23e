//! What the stand-in knows: a case with its commits made, and everything that was written since.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Context as _;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::artifacts::Artifact;
use super::auth::{APP_SLUG, unix_now};
use super::case::Case;
use super::git::{FileChange, Git, NewCommit};
use super::history::{History, rfc3339};
use super::spec::{CommentKind, PullState};

/// The state behind every answer.
#[derive(Debug)]
pub struct World {
    pub case: Case,
    pub history: History,
    /// The server's address, and that of the host that artifacts are downloaded from.
    pub url: String,
    pub storage_url: String,
    /// By `owner/name` in lower case.
    pub repos: BTreeMap<String, Repo>,
    pub comments: BTreeMap<u64, Comment>,
    /// Comments that are gone, for the deliveries that say so.
    pub deleted: BTreeMap<u64, Comment>,
    pub check_runs: BTreeMap<u64, CheckRun>,
    /// Newest last.
    pub statuses: Vec<Value>,
    pub artifacts: BTreeMap<u64, Artifact>,
    pub permissions: BTreeMap<String, String>,
    /// Installation tokens with the second at which they die and what they may do.
    pub tokens: BTreeMap<String, (i64, BTreeMap<String, String>)>,
    pub writes: Vec<Write>,
    pub requests: Vec<Logged>,
    pub deliveries: Vec<Value>,
    pub webhook_url: Option<String>,
    /// The merge queue of the default branch, first to be merged first.
    pub queued: Vec<Queued>,
    /// Requests that counted against the rate limit.
    pub spent: u64,
    pub(super) ticks: i64,
    pub(super) last_id: u64,
}

/// A repository.
#[derive(Debug)]
pub struct Repo {
    pub name: String,
    pub default_branch: String,
    pub private: bool,
    /// Whether it is the case's own; others are public and only read.
    pub own: bool,
    /// Whose fork it is.
    pub fork_of: Option<String>,
    pub git: Arc<Git>,
    /// SHAs by branch.
    pub branches: BTreeMap<String, String>,
    pub pulls: BTreeMap<u64, Pull>,
}

/// A pull request.
#[derive(Debug, Clone)]
pub struct Pull {
    pub number: u64,
    pub title: String,
    pub body: Option<String>,
    pub author: String,
    pub labels: Vec<String>,
    pub state: PullState,
    pub draft: bool,
    pub base_ref: String,
    pub base_sha: String,
    pub head_ref: String,
    pub head_sha: String,
    pub head_repo: String,
    pub created_at: String,
    pub updated_at: String,
    pub merged_at: Option<String>,
    pub merge_commit: Option<String>,
    /// Paths that a case lists instead of two trees.
    pub listed: Option<Vec<String>>,
}

/// A pull request in the merge queue.
#[derive(Debug, Clone)]
pub struct Queued {
    pub number: u64,
    /// The commit that the queue made of it.
    pub commit: String,
    /// What that commit stands on.
    pub base: String,
    /// Its branch.
    pub group: String,
}

/// A comment or review.
#[derive(Debug, Clone)]
pub struct Comment {
    pub id: u64,
    /// The pull request that it is on.
    pub pull: u64,
    pub author: String,
    pub kind: CommentKind,
    pub body: String,
    /// What it said before the last edit.
    pub before: Option<String>,
    pub created_at: String,
    pub updated_at: String,
    pub edited: Option<(String, String)>,
    pub state: String,
    pub commit: String,
    pub path: Option<String>,
    pub line: Option<u64>,
    pub app: Option<String>,
}

/// A check run that is not a job: of our app, or of another.
#[derive(Debug, Clone)]
pub struct CheckRun {
    pub id: u64,
    pub app: String,
    pub head_sha: String,
    /// As GitHub gives it, without what follows from the rest.
    pub fields: serde_json::Map<String, Value>,
    pub annotations: Vec<Value>,
}

/// A request that would change something.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Write {
    pub n: usize,
    pub method: String,
    pub path: String,
    pub body: Value,
    /// What became of it here: 2xx where it happened.
    pub status: u16,
    /// What the client was told, where that is something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replied: Option<u16>,
}

/// A request that came in.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Logged {
    pub method: String,
    pub path: String,
    pub query: String,
    /// `app`, `installation`, `person` or `nobody`.
    pub identity: &'static str,
    /// What was answered; 0 while it is being served.
    pub status: u16,
}

impl World {
    /// The pull request of the case.
    ///
    /// # Panics
    /// Never: it is made with the world.
    pub fn pull(&self) -> &Pull {
        let repo = &self.repos[&self.case.spec.repository.to_lowercase()];
        &repo.pulls[&self.case.spec.pull_request.number]
    }

    /// The same, to change.
    ///
    /// # Panics
    /// Never: it is made with the world.
    pub fn pull_mut(&mut self) -> &mut Pull {
        let name = self.case.spec.repository.to_lowercase();
        let repo = self.repos.get_mut(&name).expect("the case's repository");
        repo.pulls.get_mut(&self.case.spec.pull_request.number).expect("the case's pull request")
    }

    /// A pull request of the case's repository.
    ///
    /// # Panics
    /// Where it has none of that number.
    pub fn pull_of(&self, number: u64) -> &Pull {
        self.own().pulls.get(&number).unwrap_or_else(|| panic!("no pull request {number}"))
    }

    /// The same, to change.
    ///
    /// # Panics
    /// Where it has none of that number.
    pub fn pull_mut_of(&mut self, number: u64) -> &mut Pull {
        let name = self.case.spec.repository.to_lowercase();
        let repo = self.repos.get_mut(&name).expect("the case's repository");
        repo.pulls.get_mut(&number).unwrap_or_else(|| panic!("no pull request {number}"))
    }

    /// The comments and reviews of a pull request, by id.
    pub fn comments_on(&self, number: u64, kind: CommentKind) -> Vec<&Comment> {
        let on = |comment: &&Comment| comment.pull == number && comment.kind == kind;
        self.comments.values().filter(on).collect()
    }

    /// The repository of the case.
    pub fn own(&self) -> &Repo {
        &self.repos[&self.case.spec.repository.to_lowercase()]
    }

    /// A repository by its name, any case.
    pub fn repo(&self, owner: &str, name: &str) -> Option<&Repo> {
        self.repos.get(&format!("{owner}/{name}").to_lowercase())
    }

    /// The SHA of an id of the case, or of a SHA; `head` is the head to begin with.
    pub fn commit(&self, id: &str) -> Option<String> {
        self.history.locate(id)
    }

    /// Moves the head of the pull request.
    pub fn push(&mut self, id: &str) -> anyhow::Result<String> {
        self.push_to(self.case.spec.pull_request.number, id)
    }

    /// Moves the head of one of its pull requests.
    pub fn push_to(&mut self, number: u64, id: &str) -> anyhow::Result<String> {
        let sha = self.commit(id).with_context(|| {
            let ids: Vec<&str> = self.history.commits.keys().map(String::as_str).collect();
            format!("no commit {id}; the case has {}", ids.join(", "))
        })?;
        let time = self.tick();
        let pull = self.pull_mut_of(number);
        pull.head_sha.clone_from(&sha);
        pull.updated_at = time;
        let (branch, head_repo) = (pull.head_ref.clone(), pull.head_repo.to_lowercase());
        if let Some(repo) = self.repos.get_mut(&head_repo) {
            repo.branches.insert(branch, sha.clone());
        }
        Ok(sha)
    }

    /// Merges a pull request: its changes are in the target branch, and GitHub keeps the commit that
    /// the target stood at.
    pub fn merge(&mut self, number: u64) -> anyhow::Result<String> {
        let pull = self.pull_of(number).clone();
        let tip = self.own().branches[&pull.base_ref].clone();
        let merged = self.merge_commit(&tip, &pull)?;
        let time = self.tick();
        let name = self.case.spec.repository.to_lowercase();
        let repo = self.repos.get_mut(&name).context("the case's repository")?;
        repo.branches.insert(pull.base_ref.clone(), merged.clone());
        let pull = self.pull_mut_of(number);
        pull.base_sha = tip;
        pull.state = PullState::Merged;
        pull.merged_at = Some(time.clone());
        pull.updated_at = time;
        pull.merge_commit = Some(merged.clone());
        Ok(merged)
    }

    /// Puts pull requests into the merge queue of the default branch, in that order; gives the commit
    /// of each: the target with everything before it, and itself.
    pub fn queue(&mut self, numbers: &[u64]) -> anyhow::Result<Vec<String>> {
        let branch = self.own().default_branch.clone();
        let mut tip = self.own().branches[&branch].clone();
        let name = self.case.spec.repository.to_lowercase();
        self.queued.clear();
        for number in numbers {
            let pull = self.pull_of(*number).clone();
            let commit = self.merge_commit(&tip, &pull)?;
            let group = format!("gh-readonly-queue/{branch}/pr-{number}-{tip}");
            let repo = self.repos.get_mut(&name).context("the case's repository")?;
            repo.branches.insert(group.clone(), commit.clone());
            self.queued.push(Queued { number: *number, commit: commit.clone(), base: tip, group });
            tip = commit;
        }
        Ok(self.queued.iter().map(|queued| queued.commit.clone()).collect())
    }

    /// A merge of a pull request's head onto a commit.
    fn merge_commit(&self, onto: &str, pull: &Pull) -> anyhow::Result<String> {
        let changes = self.history.git.changes(&pull.base_sha, &pull.head_sha)?;
        self.history.git.commit(&NewCommit {
            parents: vec![onto, &pull.head_sha],
            tree_of: Some(onto),
            changes: &changes,
            message: &format!("Merge pull request #{}", pull.number),
            date: self.ticks,
        })
    }

    /// Moves the tip of the default branch.
    pub fn move_main(&mut self, id: &str) -> anyhow::Result<String> {
        let sha = self.commit(id).with_context(|| format!("no commit {id}"))?;
        let name = self.case.spec.repository.to_lowercase();
        if let Some(repo) = self.repos.get_mut(&name) {
            repo.branches.insert(repo.default_branch.clone(), sha.clone());
        }
        Ok(sha)
    }

    /// Edits a comment.
    pub fn edit(&mut self, id: u64, body: &str, editor: &str) -> anyhow::Result<()> {
        let time = self.tick();
        let comment = self.comments.get_mut(&id).with_context(|| format!("no comment {id}"))?;
        comment.before = Some(std::mem::replace(&mut comment.body, body.to_owned()));
        comment.updated_at.clone_from(&time);
        comment.edited = Some((time, editor.to_owned()));
        Ok(())
    }

    /// Deletes a comment.
    pub fn delete(&mut self, id: u64) -> anyhow::Result<()> {
        let comment = self.comments.remove(&id).with_context(|| format!("no comment {id}"))?;
        self.deleted.insert(id, comment);
        Ok(())
    }

    /// A second later than the last thing that happened, on the case's clock.
    pub fn tick(&mut self) -> String {
        self.ticks += 1;
        rfc3339(self.ticks)
    }

    /// An id that nothing has yet.
    pub fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// A new installation token.
    pub fn mint_token(&mut self, permissions: BTreeMap<String, String>) -> (String, i64) {
        let token = format!("ghs_standin{:025}", self.tokens.len() + 1);
        let dies = unix_now() + 3_600;
        self.tokens.insert(token.clone(), (dies, permissions));
        (token, dies)
    }

    /// The login that an installation writes as.
    pub fn bot_login() -> String {
        format!("{APP_SLUG}[bot]")
    }

    /// The commits of a pull request, oldest first.
    pub fn pull_commits(&self, pull: &Pull) -> Vec<String> {
        if pull.listed.is_some() {
            return Vec::new();
        }
        let git = &self.history.git;
        let mut commits = git.log(&pull.head_sha, Some(&self.base_tip(pull)), &[]);
        commits.reverse();
        commits
    }

    /// The files that a pull request changes, by the three-dot diff.
    pub fn pull_changes(&self, pull: &Pull) -> anyhow::Result<Vec<FileChange>> {
        if let Some(paths) = &pull.listed {
            let listed = paths.iter().map(|path| FileChange {
                path: path.clone(),
                previous: None,
                status: "modified",
                blob: fake_sha(path),
                additions: 1,
                deletions: 0,
                patch: None,
            });
            return Ok(listed.collect());
        }
        let git = &self.history.git;
        let base = git
            .merge_base(&self.base_tip(pull), &pull.head_sha)
            .context("the pull request has no history in common with its base")?;
        git.diff(&base, &pull.head_sha)
    }

    /// The tip of the branch that a pull request targets; of a merged one, where it started.
    fn base_tip(&self, pull: &Pull) -> String {
        match self.own().branches.get(&pull.base_ref) {
            Some(tip) if pull.state != PullState::Merged => tip.clone(),
            _ => pull.base_sha.clone(),
        }
    }
}

/// A SHA that stands for a commit or blob which nobody can fetch.
pub fn fake_sha(of: &str) -> String {
    let mut digits = hex::encode(Sha256::digest(of));
    digits.truncate(40);
    digits
}
