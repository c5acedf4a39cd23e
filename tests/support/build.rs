//! From a case to a world: commits made, files read, everything named found.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::artifacts::Artifact;
use super::auth::permissions;
use super::case::{Case, Tree, TreeFile};
use super::git::NewCommit;
use super::history::{History, rfc3339, seconds};
use super::spec::{CommentSpec, MorePull, PullState, Spec, UpstreamPull};
use super::world::{CheckRun, Comment, Pull, Repo, World, fake_sha};

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
            queued: Vec::new(),
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
        for (branch, id) in &spec.branches {
            let sha = self.commit(id).with_context(|| format!("branches: no commit {id}"))?;
            repo.branches.insert(branch.clone(), sha);
        }
        for pull in &spec.more {
            let pull = self.more_pull(pull, &mut repo, now)?;
            ensure!(!repo.pulls.contains_key(&pull.number), "more: {} twice", pull.number);
            repo.pulls.insert(pull.number, pull);
        }
        self.repos.insert(name.to_lowercase(), repo);
        Ok(())
    }

    fn more_pull(&self, more: &MorePull, repo: &mut Repo, now: i64) -> anyhow::Result<Pull> {
        let what = || format!("more: {}", more.number);
        let no_head = || format!("{}: no commit {}", what(), more.head);
        let head_sha = self.commit(&more.head).with_context(no_head)?;
        let base_ref = more.base.clone().unwrap_or_else(|| repo.default_branch.clone());
        let tip = repo.branches.get(&base_ref).with_context(what)?;
        let base_sha = self.history.git.merge_base(tip, &head_sha).with_context(what)?;
        let head_ref = format!("change-{}", more.number);
        repo.branches.insert(head_ref.clone(), head_sha.clone());
        let merged = more.state == PullState::Merged;
        let created_at = rfc3339(now - 7 * 86_400);
        Ok(Pull {
            number: more.number,
            title: more.title.clone(),
            body: None,
            author: more.author.clone(),
            labels: more.labels.clone(),
            state: more.state,
            draft: more.draft,
            base_ref,
            base_sha,
            head_ref,
            head_sha,
            head_repo: repo.name.clone(),
            updated_at: created_at.clone(),
            created_at,
            merged_at: merged.then(|| rfc3339(now)),
            merge_commit: merged.then(|| self.history.tip.clone()),
            listed: None,
        })
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
            let folder = upstream.files.get(&default).map(String::as_str);
            let tip = self.upstream_branch(name, &default, folder, None)?;
            let mut branches = BTreeMap::from([(default.clone(), tip.clone())]);
            let targets = upstream.pulls.values().filter_map(|pull| pull.base.as_ref());
            for branch in upstream.files.keys().chain(targets) {
                if !branches.contains_key(branch) {
                    let folder = upstream.files.get(branch).map(String::as_str);
                    let sha = self.upstream_branch(name, branch, folder, Some(&tip))?;
                    branches.insert(branch.clone(), sha);
                }
            }
            let mut pulls = BTreeMap::new();
            for (number, pull) in &upstream.pulls {
                let base_ref = pull.base.clone().unwrap_or_else(|| default.clone());
                let base_sha = branches[&base_ref].clone();
                pulls.insert(*number, self.upstream_pull(name, *number, pull, base_ref, base_sha));
            }
            let fresh = self.repo_named(name, &default, branches);
            let repo = self.repos.entry(name.to_lowercase()).or_insert(fresh);
            for (number, pull) in pulls {
                repo.pulls.entry(number).or_insert(pull);
            }
        }
        Ok(())
    }

    /// A branch of another repository: one commit with the files of a folder. Side branches stand
    /// on the default one.
    fn upstream_branch(
        &self,
        repo: &str,
        branch: &str,
        folder: Option<&str>,
        parent: Option<&str>,
    ) -> anyhow::Result<String> {
        let changes = match folder {
            Some(folder) => self.filled_tree(folder)?,
            None => Tree::new(),
        };
        self.history.git.commit(&NewCommit {
            parents: parent.into_iter().collect(),
            tree_of: None,
            changes: &changes,
            message: &format!("{repo} {branch}"),
            date: seconds("2026-01-01")?,
        })
    }

    fn upstream_pull(
        &mut self,
        repo: &str,
        number: u64,
        pull: &UpstreamPull,
        base_ref: String,
        base_sha: String,
    ) -> Pull {
        let now = &self.case.spec.now;
        let merged = pull.state == PullState::Merged;
        let merged_at = merged.then(|| pull.merged_at.as_ref().unwrap_or(now).clone());
        if let Some(sha) = &pull.merge_commit {
            self.history.aliases.insert(sha.clone(), base_sha.clone());
        }
        Pull {
            number,
            title: pull.title.clone().unwrap_or_else(|| format!("Change {number}")),
            body: None,
            author: pull.author.clone().unwrap_or_else(|| "upstream-author".to_owned()),
            labels: Vec::new(),
            state: pull.state,
            draft: pull.draft,
            base_ref,
            head_ref: format!("change-{number}"),
            head_sha: fake_sha(&format!("{repo}#{number}")),
            head_repo: repo.to_owned(),
            created_at: "2026-01-01T00:00:00Z".to_owned(),
            updated_at: merged_at.as_ref().unwrap_or(now).clone(),
            merge_commit: pull.merge_commit.clone().or_else(|| merged.then(|| base_sha.clone())),
            base_sha,
            merged_at,
            listed: Some(pull.files.clone()),
        }
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
        let pull = spec.pull.unwrap_or(self.case.spec.pull_request.number);
        ensure!(self.own().pulls.contains_key(&pull), "{}: no pull request {pull}", what());
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
            None => self.pull_of(pull).head_sha.clone(),
        };
        Ok(Comment {
            id: spec.id,
            pull,
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
        let mut jobs = BTreeSet::new();
        let mut runs = BTreeSet::new();
        for run in &spec.runs {
            let what = || format!("run {}", run.id);
            self.commit(&run.head)
                .with_context(|| format!("{}: no commit {}", what(), run.head))?;
            for job in &run.jobs {
                if let Some(log) = &job.log {
                    self.case.text(log).with_context(what)?;
                }
            }
            ensure!(runs.insert(run.id), "{} twice", what());
            for job in super::rest::jobs_of(self, run) {
                ensure!(jobs.insert(job.id), "{}: job {} twice", what(), job.id);
            }
            for artifact in Artifact::of_run(&self.case, run).with_context(what)? {
                let known = self.artifacts.insert(artifact.id, artifact);
                ensure!(known.is_none(), "{}: two artifacts of one id", what());
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
        for (number, status) in spec.statuses.iter().enumerate() {
            let sha = self
                .commit(&status.on)
                .with_context(|| format!("status {}: no commit {}", status.context, status.on))?;
            let status = json!({
                "id": 9_000_000_000_u64 + number as u64,
                "state": status.state,
                "context": status.context,
                "description": status.description,
                "target_url": format!("https://status.example.org/{number}"),
                "created_at": spec.now,
                "updated_at": spec.now,
                "creator": { "login": status.creator.as_deref().unwrap_or("status-bot") },
                "sha": sha,
            });
            self.statuses.push(status);
        }
        Ok(())
    }
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
