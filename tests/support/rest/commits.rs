//! Commits and comparisons.

use serde_json::{Value, json};

use super::super::answer::{Answer, Outcome, Page, Request};
use super::super::world::{Repo, World};
use super::contents::commit_of;
use super::shapes;

/// A comparison lists at most so many files.
const FILES: usize = 300;

/// A commit as lists have it.
pub fn brief(world: &World, repo: &Repo, sha: &str) -> Value {
    repo.git.read_commit(sha).map_or(Value::Null, |commit| shapes::commit(world, repo, &commit))
}

/// `GET …/commits`, by `sha`, `path`, `since`, `until`.
pub fn list(world: &World, request: &Request, repo: &Repo) -> Outcome {
    let from = request.parameter("sha").unwrap_or_else(|| repo.default_branch.clone());
    let from = commit_of(world, repo, &from).map_err(|_| Answer::not_found())?;
    let mut more = Vec::new();
    for bound in ["since", "until"] {
        if let Some(time) = request.parameter(bound) {
            more.push(format!("--{bound}={time}"));
        }
    }
    if let Some(path) = request.parameter("path").filter(|path| !path.is_empty()) {
        more.extend(["--".to_owned(), path]);
    }
    let found = repo.git.log(&from, None, &more);
    Answer::list(request, &found, |sha| brief(world, repo, sha))
}

/// `GET …/commits/{ref}`.
pub fn one(world: &World, request: &Request, repo: &Repo, reference: &str) -> Outcome {
    let sha = commit_of(world, repo, reference)?;
    if request.header("accept").is_some_and(|accept| accept.contains("sha")) {
        return Ok(Answer::bytes("application/vnd.github.sha", world.history.spoken(&sha).into()));
    }
    let commit = repo.git.read_commit(&sha).ok_or_else(Answer::not_found)?;
    let mut value = shapes::commit(world, repo, &commit);
    let changes = match commit.parents.first() {
        Some(parent) => {
            repo.git.diff(parent, &sha).map_err(|_| Answer::message(500, "Server Error"))?
        }
        None => Default::default(),
    };
    let additions: u64 = changes.iter().map(|change| change.additions).sum();
    let deletions: u64 = changes.iter().map(|change| change.deletions).sum();
    let files: Vec<Value> = changes[..changes.len().min(FILES)]
        .iter()
        .map(|change| shapes::file(world, repo, &sha, change))
        .collect();
    value["stats"] =
        json!({ "additions": additions, "deletions": deletions, "total": additions + deletions });
    value["files"] = json!(files);
    Answer::ok(&value)
}

/// `GET …/compare/{base}...{head}`: the three-dot diff, files on the first page only.
pub fn compare(world: &World, request: &Request, repo: &Repo, range: &str) -> Outcome {
    let (base, head) = range.split_once("...").ok_or_else(Answer::not_found)?;
    let without_owner = |name: &str| name.rsplit(':').next().unwrap_or(name).to_owned();
    let base = commit_of(world, repo, &without_owner(base)).map_err(|_| Answer::not_found())?;
    let head = commit_of(world, repo, &without_owner(head)).map_err(|_| Answer::not_found())?;
    let git = &repo.git;
    let merge_base = git
        .merge_base(&base, &head)
        .ok_or_else(|| Answer::message(404, "No common ancestor between the two commits."))?;
    let mut ahead = git.log(&head, Some(&base), &[]);
    ahead.reverse();
    let behind = git.log(&base, Some(&head), &[]);
    let status = match (ahead.is_empty(), behind.is_empty()) {
        (true, true) => "identical",
        (false, true) => "ahead",
        (true, false) => "behind",
        (false, false) => "diverged",
    };
    let page = Page::of(request, ahead.len());
    let files = if page.range().start == 0 {
        git.diff(&merge_base, &head).map_err(|_| Answer::message(500, "Server Error"))?
    } else {
        Default::default()
    };
    let shown: Vec<Value> = files[..files.len().min(FILES)]
        .iter()
        .map(|change| shapes::file(world, repo, &head, change))
        .collect();
    let commits: Vec<Value> =
        ahead[page.range()].iter().map(|sha| brief(world, repo, sha)).collect();
    let url = format!("{}/repos/{}/compare/{range}", world.url, repo.name);
    let html = format!("https://github.com/{}/compare/{range}", repo.name);
    let body = json!({
        "url": url,
        "html_url": html,
        "permalink_url": html,
        "diff_url": format!("{html}.diff"),
        "patch_url": format!("{html}.patch"),
        "base_commit": brief(world, repo, &base),
        "merge_base_commit": brief(world, repo, &merge_base),
        "status": status,
        "ahead_by": ahead.len(),
        "behind_by": behind.len(),
        "total_commits": ahead.len(),
        "commits": commits,
        "files": shown,
    });
    Ok(page.link(request, Answer::json(200, &body)))
}
