//! What the stand-in knows: a case with its commits made, and everything that was written since.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::artifacts::Artifact;
use super::auth::{APP_SLUG, permissions, unix_now};
use super::case::{Case, Tree, TreeFile};
use super::git::{FileChange, Git, NewCommit};
use super::history::{History, rfc3339, seconds};
use super::spec::{CommentKind, CommentSpec, PullState, Spec};

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
    /// Requests that counted against the rate limit.
    pub spent: u64,
    ticks: i64,
    last_id: u64,
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

/// A comment or review.
#[derive(Debug, Clone)]
pub struct Comment {
    pub id: u64,
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
    /// Makes the commits, reads the files, and checks that the case is whole.
    pub fn build(mut case: Case) -> anyhow::Result<Self> {
        let history = History::build(&case)?;
        let filled = fill_value(&history, serde_json::to_value(&case.spec)?)?;
        case.spec = serde_json::from_value(filled)?;
        let now = seconds(&case.spec.now).context("now")?;
        let mut world = Self {
            url: String::new(),
            storage_url: String::new(),
            repos: BTreeMap::new(),
            comments: BTreeMap::new(),
            deleted: BTreeMap::new(),
            check_runs: BTreeMap::new(),
            statuses: Vec::new(),
            artifacts: BTreeMap::new(),
            permissions: permissions(case.spec.app_permissions.as_ref()),
            tokens: BTreeMap::new(),
            writes: Vec::new(),
            requests: Vec::new(),
            deliveries: Vec::new(),
            webhook_url: None,
            spent: 0,
            ticks: now,
            last_id: 9_000_000_000,
            case,
            history,
        };
        let spec = world.case.spec.clone();
        world.add_own_repository(&spec, now)?;
        world.add_upstream(&spec)?;
        for (number, comment) in spec.comments.iter().enumerate() {
            let comment = world.comment_of(comment, now - 3_600 + i64::try_from(number)?)?;
            ensure!(!world.comments.contains_key(&comment.id), "comments: {} twice", comment.id);
            world.comments.insert(comment.id, comment);
        }
        world.add_runs_and_checks(&spec)?;
        for step in &spec.moves {
            world.commit(&step.head).with_context(|| format!("moves: no commit {}", step.head))?;
        }
        Ok(world)
    }

    fn add_own_repository(&mut self, spec: &Spec, now: i64) -> anyhow::Result<()> {
        let pull = &spec.pull_request;
        let name = spec.repository.clone();
        ensure!(name.split('/').count() == 2, "repository: {name}: expected owner/name");
        let mut branches = BTreeMap::new();
        branches.insert(spec.default_branch.clone(), self.history.tip.clone());
        let base_ref = match &pull.base {
            Some(id) if !self.history.main.contains_key(id) => id.clone(),
            _ => spec.default_branch.clone(),
        };
        branches.entry(base_ref.clone()).or_insert_with(|| self.history.base.clone());
        branches.insert(pull.head_ref.clone(), self.history.head.clone());
        let body = match &pull.body_file {
            Some(file) => Some(self.history.fill(&self.case.text(file)?)?),
            None => pull.body.clone(),
        };
        let created_at = pull.created_at.clone().unwrap_or_else(|| rfc3339(now - 7 * 86_400));
        let merged = pull.state == PullState::Merged;
        let state = Pull {
            number: pull.number,
            title: pull.title.clone(),
            body,
            author: pull.author.clone(),
            labels: pull.labels.clone(),
            state: pull.state,
            draft: pull.draft,
            base_ref,
            base_sha: self.history.base.clone(),
            head_ref: pull.head_ref.clone(),
            head_sha: self.history.head.clone(),
            head_repo: pull.head_repository.clone().unwrap_or_else(|| name.clone()),
            updated_at: created_at.clone(),
            created_at,
            merged_at: merged.then(|| pull.merged_at.clone().unwrap_or_else(|| rfc3339(now))),
            merge_commit: pull
                .merge_commit
                .clone()
                .or_else(|| merged.then(|| self.history.tip.clone())),
            listed: None,
        };
        if let Some(fork) = &pull.head_repository {
            let mut repo = self.repo_named(fork, &spec.default_branch, branches.clone());
            repo.fork_of = Some(name.clone());
            self.repos.insert(fork.to_lowercase(), repo);
        }
        let mut repo = self.repo_named(&name, &spec.default_branch, branches);
        repo.own = true;
        repo.private = spec.private;
        repo.pulls.insert(pull.number, state);
        self.repos.insert(name.to_lowercase(), repo);
        Ok(())
    }

    fn repo_named(&self, name: &str, branch: &str, branches: BTreeMap<String, String>) -> Repo {
        Repo {
            name: name.to_owned(),
            default_branch: branch.to_owned(),
            private: false,
            own: false,
            fork_of: None,
            git: Arc::clone(&self.history.git),
            branches,
            pulls: BTreeMap::new(),
        }
    }

    fn add_upstream(&mut self, spec: &Spec) -> anyhow::Result<()> {
        for (name, upstream) in &spec.upstream {
            ensure!(name.split('/').count() == 2, "upstream: {name}: expected owner/name");
            let default = upstream.default_branch.clone().unwrap_or_else(|| "main".to_owned());
            let mut folders = upstream.files.clone();
            folders.entry(default.clone()).or_default();
            let mut branches = BTreeMap::new();
            for (branch, folder) in folders {
                let tree = if folder.is_empty() { Tree::new() } else { self.filled_tree(&folder)? };
                let message = format!("{name} {branch}");
                let sha = self.history.git.commit(&NewCommit {
                    parents: Vec::new(),
                    tree_of: None,
                    changes: &tree,
                    message: &message,
                    date: seconds("2026-01-01")?,
                })?;
                branches.insert(branch, sha);
            }
            let tip = branches[&default].clone();
            let mut repo = self.repo_named(name, &default, branches);
            for (number, pull) in &upstream.pulls {
                let merged = pull.state == PullState::Merged;
                let merged_at = pull.merged_at.clone().or_else(|| merged.then(|| spec.now.clone()));
                let merge_commit = match &pull.merge_commit {
                    Some(sha) => {
                        self.history.aliases.insert(sha.clone(), tip.clone());
                        Some(sha.clone())
                    }
                    None => merged.then(|| tip.clone()),
                };
                repo.pulls.insert(
                    *number,
                    Pull {
                        number: *number,
                        title: pull.title.clone().unwrap_or_else(|| format!("Change {number}")),
                        body: None,
                        author: pull.author.clone().unwrap_or_else(|| "upstream-author".to_owned()),
                        labels: Vec::new(),
                        state: pull.state,
                        draft: pull.draft,
                        base_ref: pull.base.clone().unwrap_or_else(|| default.clone()),
                        base_sha: tip.clone(),
                        head_ref: format!("change-{number}"),
                        head_sha: fake_sha(&format!("{name}#{number}")),
                        head_repo: name.clone(),
                        created_at: "2026-01-01T00:00:00Z".to_owned(),
                        updated_at: merged_at.clone().unwrap_or_else(|| spec.now.clone()),
                        merged_at: merged_at.filter(|_| merged),
                        merge_commit,
                        listed: Some(pull.files.clone()),
                    },
                );
            }
            self.repos.insert(name.to_lowercase(), repo);
        }
        Ok(())
    }

    fn filled_tree(&self, folder: &str) -> anyhow::Result<Tree> {
        let mut tree = self.case.tree(folder)?;
        for TreeFile { bytes, .. } in tree.values_mut().flatten() {
            *bytes = self.history.fill_bytes(std::mem::take(bytes))?;
        }
        Ok(tree)
    }

    /// A comment as `case.yaml` (or a control request) describes it.
    pub fn comment_of(&self, spec: &CommentSpec, default_time: i64) -> anyhow::Result<Comment> {
        let what = || format!("comment {}", spec.id);
        let body = match (&spec.file, &spec.body) {
            (Some(file), None) => {
                self.history.fill(&self.case.text(file).with_context(what)?).with_context(what)?
            }
            (None, body) => body.clone().unwrap_or_default(),
            (Some(_), Some(_)) => anyhow::bail!("{}: either body or file", what()),
        };
        let created_at = spec.created.clone().unwrap_or_else(|| rfc3339(default_time));
        let updated_at = spec.updated.clone().unwrap_or_else(|| created_at.clone());
        let was_edited = spec.edited_by.is_some() || updated_at != created_at;
        let editor = spec.edited_by.clone().unwrap_or_else(|| spec.author.clone());
        let commit = match &spec.commit {
            Some(id) => self.commit(id).with_context(|| format!("{}: no commit {id}", what()))?,
            None => self.pull().head_sha.clone(),
        };
        Ok(Comment {
            id: spec.id,
            author: spec.author.clone(),
            kind: spec.kind,
            body,
            before: None,
            edited: was_edited.then(|| (updated_at.clone(), editor)),
            created_at,
            updated_at,
            state: spec.state.as_deref().unwrap_or("COMMENTED").to_uppercase(),
            commit,
            path: spec.path.clone(),
            line: spec.line,
            app: spec.app.clone(),
        })
    }

    fn add_runs_and_checks(&mut self, spec: &Spec) -> anyhow::Result<()> {
        let several = spec.runs.len() > 1;
        for run in &spec.runs {
            let what = || format!("run {}", run.id);
            self.commit(&run.head)
                .with_context(|| format!("{}: no commit {}", what(), run.head))?;
            for job in &run.jobs {
                if let Some(log) = &job.log {
                    self.case.text(log).with_context(what)?;
                }
            }
            for artifact in Artifact::of_run(&self.case, run, several).with_context(what)? {
                self.artifacts.insert(artifact.id, artifact);
            }
        }
        for (number, check) in spec.checks.iter().enumerate() {
            let head_sha = self
                .commit(&check.on)
                .with_context(|| format!("check {}: no commit {}", check.name, check.on))?;
            let id = check.id.unwrap_or(8_000_000_000 + number as u64);
            let status = match (&check.status, &check.conclusion) {
                (Some(status), _) => status.as_str(),
                (None, Some(_)) => "completed",
                (None, None) => "in_progress",
            };
            let done = check.conclusion.as_ref().map(|_| spec.now.as_str());
            let fields = json!({
                "name": check.name, "status": status, "conclusion": check.conclusion,
                "started_at": spec.now, "completed_at": done, "external_id": "",
                "details_url": format!("https://{}.example.org/{id}", check.app),
            });
            let Value::Object(fields) = fields else { unreachable!("an object was written") };
            let app = check.app.clone();
            self.check_runs
                .insert(id, CheckRun { id, app, head_sha, fields, annotations: Vec::new() });
        }
        Ok(())
    }

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

    /// The repository of the case.
    pub fn own(&self) -> &Repo {
        &self.repos[&self.case.spec.repository.to_lowercase()]
    }

    /// A repository by its name, any case.
    pub fn repo(&self, owner: &str, name: &str) -> Option<&Repo> {
        self.repos.get(&format!("{owner}/{name}").to_lowercase())
    }

    /// The SHA of an id of the case, or of a SHA; `head` is where the head stands now.
    pub fn commit(&self, id: &str) -> Option<String> {
        self.history.locate(id)
    }

    /// Moves the head of the pull request.
    pub fn push(&mut self, id: &str) -> anyhow::Result<String> {
        let sha = self.commit(id).with_context(|| {
            let ids: Vec<&str> = self.history.commits.keys().map(String::as_str).collect();
            format!("no commit {id}; the case has {}", ids.join(", "))
        })?;
        let time = self.tick();
        let pull = self.pull_mut();
        pull.head_sha.clone_from(&sha);
        pull.updated_at = time;
        let (branch, head_repo) = (pull.head_ref.clone(), pull.head_repo.to_lowercase());
        if let Some(repo) = self.repos.get_mut(&head_repo) {
            repo.branches.insert(branch, sha.clone());
        }
        Ok(sha)
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
    pub fn pull_changes(&self, pull: &Pull) -> anyhow::Result<Arc<Vec<FileChange>>> {
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
            return Ok(Arc::new(listed.collect()));
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

/// Fills the placeholders in every string of a document.
fn fill_value(history: &History, value: Value) -> anyhow::Result<Value> {
    Ok(match value {
        Value::String(text) => Value::String(history.fill(&text)?),
        Value::Array(items) => Value::Array(
            items.into_iter().map(|v| fill_value(history, v)).collect::<Result<_, _>>()?,
        ),
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(key, value)| Ok((key, fill_value(history, value)?)))
                .collect::<anyhow::Result<_>>()?,
        ),
        other => other,
    })
}
