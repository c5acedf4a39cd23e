//! The commits of a case, made once and found by the ids that `case.yaml` gives them.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context as _, bail};

use super::case::{Case, Tree};
use super::git::{Git, NewCommit};
use super::spec::CommitSpec;

/// When the first commit is made where `case.yaml` names no date; each next one is an hour later.
const FIRST_COMMIT: i64 = 1_767_225_600; // 2026-01-01T00:00:00Z
const HOUR: i64 = 3_600;

/// The commits of a case.
#[derive(Debug)]
pub struct History {
    pub git: Arc<Git>,
    /// SHAs by the ids of `commits`, `base`, `head` and `outside` among them.
    pub commits: BTreeMap<String, String>,
    /// SHAs by the ids of `main`.
    pub main: BTreeMap<String, String>,
    /// SHAs that only `case.yaml` knows, with the commits that stand for them.
    pub aliases: BTreeMap<String, String>,
    /// Where the pull request starts.
    pub base: String,
    /// The tip of the default branch.
    pub tip: String,
    /// The head of the pull request to begin with.
    pub head: String,
}

impl History {
    /// Makes the commits.
    pub fn build(case: &Case) -> anyhow::Result<Self> {
        let spec = &case.spec;
        let clone = spec.git.as_ref().map(|git| case.outside(&git.dir));
        let git = Arc::new(Git::create(clone.as_deref())?);
        let mut history = Self {
            git,
            commits: BTreeMap::new(),
            main: BTreeMap::new(),
            aliases: BTreeMap::new(),
            base: String::new(),
            tip: String::new(),
            head: String::new(),
        };
        history.make_main(case)?;
        history.make_pull_request(case)?;
        let asked_for = |id: &str| id == "outside";
        if spec.runs.iter().any(|run| asked_for(&run.head))
            || spec.checks.iter().any(|check| asked_for(&check.on))
            || spec.comments.iter().any(|c| c.commit.as_deref().is_some_and(asked_for))
        {
            let outside = CommitSpec { id: "outside".to_owned(), ..CommitSpec::default() };
            let base = history.base.clone();
            history.make(case, &outside, &base, None)?;
        }
        Ok(history)
    }

    fn make_main(&mut self, case: &Case) -> anyhow::Result<()> {
        let spec = &case.spec;
        let existing = match &spec.git {
            Some(git) => Some(self.existing(&git.base).context("git.base")?),
            None => None,
        };
        let below = match &existing {
            None if case.has_folder("base") => case.tree("base")?,
            _ => Tree::new(),
        };
        let wanted = spec
            .base
            .clone()
            .or_else(|| spec.pull_request.base.clone().filter(|id| *id != spec.default_branch));
        let mut list = spec.main.clone();
        let named = |list: &[CommitSpec], id: &str| list.iter().any(|commit| commit.id == id);
        if list.is_empty() || (wanted.as_deref() == Some("base") && !named(&list, "base")) {
            list.insert(0, CommitSpec { id: "base".to_owned(), ..CommitSpec::default() });
        }
        let mut last = existing.clone();
        for (number, commit) in list.iter().enumerate() {
            let sha = match (&existing, &commit.sha, &commit.tree) {
                (Some(base), None, None) if number == 0 => base.clone(),
                (Some(_), Some(sha), _) => self.existing(sha).context(commit.id.clone())?,
                _ => {
                    let mut changes = below.clone();
                    if let Some(folder) = &commit.tree {
                        overlay(&mut changes, case.tree(folder)?, existing.is_some());
                    }
                    self.git.commit(&NewCommit {
                        parents: last.as_deref().into_iter().collect(),
                        tree_of: existing.as_deref(),
                        changes: &changes,
                        message: commit.message.as_deref().unwrap_or("Move the default branch"),
                        date: self.date(commit, last.as_deref())?,
                    })?
                }
            };
            self.main.insert(commit.id.clone(), sha.clone());
            last = Some(sha);
        }
        self.tip = last.context("the default branch has a commit")?;
        self.base = match &wanted {
            None => existing.unwrap_or_else(|| self.tip.clone()),
            Some(id) => match self.main.get(id) {
                Some(sha) => sha.clone(),
                // The name of a branch that the pull request targets, not of a commit.
                None if spec.base.is_none() => self.tip.clone(),
                None => bail!("base: {id} is none of main's ids: {}", ids(&self.main)),
            },
        };
        self.commits.insert("base".to_owned(), self.base.clone());
        Ok(())
    }

    fn make_pull_request(&mut self, case: &Case) -> anyhow::Result<()> {
        let spec = &case.spec;
        let mut list = spec.pull_request.commits.clone();
        if list.is_empty() && spec.commits.iter().any(|commit| commit.id == "head") {
            list.clone_from(&spec.commits);
        }
        if !list.iter().any(|commit| commit.id == "head") {
            list.push(CommitSpec { id: "head".to_owned(), ..CommitSpec::default() });
        }
        for commit in &mut list {
            if let Some(more) = spec.commits.iter().find(|more| more.id == commit.id) {
                commit.tree = commit.tree.take().or_else(|| more.tree.clone());
                commit.sha = commit.sha.take().or_else(|| more.sha.clone());
                commit.date = commit.date.take().or_else(|| more.date.clone());
            }
        }
        let mut last = self.base.clone();
        for commit in &list {
            let folder = match &commit.tree {
                Some(folder) => Some(folder.clone()),
                None if commit.id == "head" && case.has_folder("head") => Some("head".to_owned()),
                None => None,
            };
            let existing = match &spec.git {
                Some(git) if commit.id == "head" => Some(git.head.clone()),
                Some(_) => commit.sha.clone(),
                None => None,
            };
            last = match existing {
                Some(sha) => {
                    let sha = self.existing(&sha).with_context(|| commit.id.clone())?;
                    self.commits.insert(commit.id.clone(), sha.clone());
                    sha
                }
                None => self.make(case, commit, &last, folder.as_deref())?,
            };
        }
        self.head = self.commits["head"].clone();
        let head = self.head.clone();
        let extra: Vec<&CommitSpec> =
            spec.commits.iter().filter(|commit| !self.commits.contains_key(&commit.id)).collect();
        for commit in extra {
            self.make(case, commit, &head, commit.tree.as_deref())?;
        }
        Ok(())
    }

    /// A commit on another: the tree of the base with a folder laid over it, or nothing new.
    fn make(
        &mut self,
        case: &Case,
        commit: &CommitSpec,
        before: &str,
        folder: Option<&str>,
    ) -> anyhow::Result<String> {
        let parent = match &commit.parent {
            Some(id) => {
                self.locate(id).with_context(|| format!("parent of {}: {id}", commit.id))?
            }
            None => before.to_owned(),
        };
        let changes = match folder {
            Some(folder) => case.tree(folder)?,
            None => Tree::new(),
        };
        let message = commit.message.clone().unwrap_or_else(|| format!("Commit {}", commit.id));
        let base = self.base.clone();
        let sha = self.git.commit(&NewCommit {
            parents: vec![&parent],
            tree_of: Some(if folder.is_some() { &base } else { &parent }),
            changes: &changes,
            message: &message,
            date: self.date(commit, Some(&parent))?,
        })?;
        if let Some(alias) = &commit.sha {
            self.aliases.insert(alias.clone(), sha.clone());
        }
        self.commits.insert(commit.id.clone(), sha.clone());
        Ok(sha)
    }

    fn date(&self, commit: &CommitSpec, parent: Option<&str>) -> anyhow::Result<i64> {
        if let Some(date) = &commit.date {
            return seconds(date).with_context(|| format!("date of {}", commit.id));
        }
        let parent = parent.and_then(|sha| self.git.read_commit(sha));
        Ok(parent.map_or(FIRST_COMMIT, |parent| parent.committer.date + HOUR))
    }

    fn existing(&self, sha: &str) -> anyhow::Result<String> {
        self.git.resolve(sha).with_context(|| format!("{sha}: no such commit in the clone"))
    }

    /// The SHA of an id of `commits` or `main`, or of a SHA.
    pub fn locate(&self, id: &str) -> Option<String> {
        self.commits.get(id).or_else(|| self.main.get(id)).cloned().or_else(|| self.real(id))
    }

    /// A commit by its SHA, by digits of it, or by a SHA that only `case.yaml` knows.
    pub fn real(&self, sha: &str) -> Option<String> {
        self.aliases.get(sha).cloned().or_else(|| self.git.resolve(sha))
    }

    /// The SHA by which an id's commit is spoken of: the one that `case.yaml` gives it, if any.
    pub fn spoken(&self, sha: &str) -> String {
        let alias = self.aliases.iter().find(|(_, real)| *real == sha);
        alias.map_or_else(|| sha.to_owned(), |(alias, _)| alias.clone())
    }

    /// `{{head}}`, `{{base}}`, `{{commit ID}}` and `{{main ID}}` replaced. Other braces stay.
    pub fn fill(&self, text: &str) -> anyhow::Result<String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("{{") {
            let (before, from) = rest.split_at(start);
            out.push_str(before);
            let Some(end) = from.find("}}") else { break };
            let name = from[2..end].trim();
            let sha = match name.split_once(' ') {
                Some(("commit", id)) => Some(self.commits.get(id.trim()).with_context(|| {
                    format!("{{{{{name}}}}}: the ids are {}", ids(&self.commits))
                })?),
                Some(("main", id)) => {
                    Some(self.main.get(id.trim()).with_context(|| {
                        format!("{{{{{name}}}}}: the ids are {}", ids(&self.main))
                    })?)
                }
                None if name == "head" => Some(&self.head),
                None if name == "base" => Some(&self.base),
                _ => None,
            };
            match sha {
                Some(sha) => out.push_str(&self.spoken(sha)),
                None => out.push_str(&from[..end + 2]),
            }
            rest = &from[end + 2..];
        }
        out.push_str(rest);
        Ok(out)
    }

    /// The same for a file, where it is text.
    pub fn fill_bytes(&self, bytes: Vec<u8>) -> anyhow::Result<Vec<u8>> {
        match String::from_utf8(bytes) {
            Ok(text) if text.contains("{{") => self.fill(&text).map(String::into_bytes),
            Ok(text) => Ok(text.into_bytes()),
            Err(binary) => Ok(binary.into_bytes()),
        }
    }
}

/// Lays one tree over another. Over an existing commit a removal stays one; over a tree that is
/// written in full it takes the file away.
fn overlay(below: &mut Tree, above: Tree, keep_removals: bool) {
    for (path, file) in above {
        if file.is_none() && !keep_removals {
            below.remove(&path);
        } else {
            below.insert(path, file);
        }
    }
}

fn ids(map: &BTreeMap<String, String>) -> String {
    map.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// Seconds since 1970 of an RFC 3339 time, or of a date at midnight UTC.
pub fn seconds(time: &str) -> anyhow::Result<i64> {
    if let Ok(time) = chrono::DateTime::parse_from_rfc3339(time) {
        return Ok(time.timestamp());
    }
    let midnight = format!("{time}T00:00:00Z");
    let time = chrono::DateTime::parse_from_rfc3339(&midnight)
        .with_context(|| format!("{time}: expected a time like 2026-10-13T08:00:00Z"))?;
    Ok(time.timestamp())
}

/// RFC 3339, as GitHub writes it.
pub fn rfc3339(seconds: i64) -> String {
    chrono::DateTime::from_timestamp(seconds, 0)
        .unwrap_or_default()
        .format("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
}
