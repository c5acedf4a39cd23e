//! Files, trees, blobs, branches, and what GitHub says about CODEOWNERS.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::super::answer::{Answer, Outcome, Request};
use super::super::git::TreeEntry;
use super::super::world::{Repo, World};
use super::shapes;

/// Past this a file comes raw only, and past the second bound not at all.
const INLINE: usize = 1 << 20;
const LARGEST: usize = 100 << 20;

/// The commit that a reference means: a branch, `refs/…`, or a SHA.
pub fn commit_of(world: &World, repo: &Repo, reference: &str) -> Result<String, Answer> {
    let short = reference
        .strip_prefix("refs/")
        .unwrap_or(reference)
        .strip_prefix("heads/")
        .unwrap_or(reference);
    if let Some(sha) = repo.branches.get(short) {
        return Ok(sha.clone());
    }
    let pull = reference.strip_prefix("refs/").unwrap_or(reference).strip_prefix("pull/");
    if let Some(number) = pull.and_then(|rest| rest.strip_suffix("/head")) {
        let pull = number.parse().ok().and_then(|number: u64| repo.pulls.get(&number));
        return pull.map(|pull| pull.head_sha.clone()).ok_or_else(Answer::not_found);
    }
    world
        .history
        .real(reference)
        .ok_or_else(|| Answer::message(422, &format!("No commit found for SHA: {reference}")))
}

/// `GET …/contents/{path}?ref=`.
pub fn contents(world: &World, request: &Request, repo: &Repo, path: &str) -> Outcome {
    let reference = request.parameter("ref").unwrap_or_else(|| repo.default_branch.clone());
    let sha = commit_of(world, repo, &reference)
        .map_err(|_| Answer::message(404, &format!("No commit found for the ref {reference}")))?;
    let path = path.trim_matches('/');
    let object = repo.git.object(&format!("{sha}:{path}")).ok_or_else(Answer::not_found)?;
    let accept = request.header("accept").unwrap_or_default();
    if object.kind == "tree" {
        let entries = repo.git.entries(&object.sha, false).map_err(|_| Answer::not_found())?;
        let list: Vec<Value> =
            entries.iter().map(|entry| listed(world, repo, path, &reference, entry)).collect();
        return Answer::ok(&Value::Array(list));
    }
    if object.bytes.len() > LARGEST {
        return Err(Answer::message(403, "This file is over 100 MB, too large to be fetched"));
    }
    if accept.contains("raw") {
        return Ok(Answer::bytes("application/vnd.github.raw+json; charset=utf-8", object.bytes));
    }
    let entry = TreeEntry {
        mode: "100644".to_owned(),
        kind: "blob".to_owned(),
        size: Some(object.bytes.len() as u64),
        sha: object.sha,
        path: path.rsplit('/').next().unwrap_or(path).to_owned(),
    };
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut value = listed(world, repo, folder, &reference, &entry);
    let small = object.bytes.len() <= INLINE;
    value["encoding"] = json!(if small { "base64" } else { "none" });
    value["content"] = json!(if small { base64_lines(&object.bytes) } else { String::new() });
    Answer::ok(&value)
}

fn listed(world: &World, repo: &Repo, folder: &str, reference: &str, entry: &TreeEntry) -> Value {
    let path =
        if folder.is_empty() { entry.path.clone() } else { format!("{folder}/{}", entry.path) };
    let url = format!("{}/repos/{}", world.url, repo.name);
    let html = format!("https://github.com/{}", repo.name);
    let tree = entry.kind == "tree";
    let kind = if tree { "dir" } else { "file" };
    let word = if tree { "tree" } else { "blob" };
    let raw = format!("https://raw.githubusercontent.com/{}/{reference}/{path}", repo.name);
    json!({
        "type": kind,
        "size": entry.size.unwrap_or_default(),
        "name": entry.path,
        "path": path,
        "sha": entry.sha,
        "url": format!("{url}/contents/{path}?ref={reference}"),
        "git_url": format!("{url}/git/{word}s/{}", entry.sha),
        "html_url": format!("{html}/{word}/{reference}/{path}"),
        "download_url": if tree { Value::Null } else { json!(raw) },
        "_links": {
            "self": format!("{url}/contents/{path}?ref={reference}"),
            "git": format!("{url}/git/{word}s/{}", entry.sha),
            "html": format!("{html}/{word}/{reference}/{path}"),
        },
    })
}

/// Base64 in lines of 60, as GitHub writes it.
fn base64_lines(bytes: &[u8]) -> String {
    let text = STANDARD.encode(bytes);
    let mut lines = String::with_capacity(text.len() + text.len() / 60 + 1);
    for line in text.as_bytes().chunks(60) {
        lines.push_str(&String::from_utf8_lossy(line));
        lines.push('\n');
    }
    lines
}

/// `GET …/git/…`, `…/branches/…`, `…/codeowners/errors`.
pub fn route(world: &World, request: &Request, repo: &Repo, path: &[&str]) -> Outcome {
    let url = format!("{}/repos/{}", world.url, repo.name);
    match path {
        ["git", "ref" | "refs", "heads", name @ ..] => {
            let name = name.join("/");
            let sha = repo.branches.get(&name).ok_or_else(Answer::not_found)?;
            let sha = world.history.spoken(sha);
            Answer::ok(&json!({
                "ref": format!("refs/heads/{name}"),
                "node_id": format!("REF_{name}"),
                "url": format!("{url}/git/refs/heads/{name}"),
                "object": { "type": "commit", "sha": sha, "url": format!("{url}/git/commits/{sha}") },
            }))
        }
        ["git", "commits", sha] => {
            let sha = world.history.real(sha).ok_or_else(Answer::not_found)?;
            let commit = repo.git.read_commit(&sha).ok_or_else(Answer::not_found)?;
            let whole = shapes::commit(world, repo, &commit);
            let mut value = whole["commit"].clone();
            for field in ["sha", "node_id", "html_url", "parents"] {
                value[field] = whole[field].clone();
            }
            Answer::ok(&value)
        }
        ["git", "trees", reference @ ..] => {
            let reference = reference.join("/");
            let recursive = request.parameter("recursive").is_some();
            let name = match commit_of(world, repo, &reference) {
                Ok(sha) => format!("{sha}^{{tree}}"),
                Err(_) => reference,
            };
            let tree = repo.git.object(&name).filter(|object| object.kind == "tree");
            let tree = tree.ok_or_else(Answer::not_found)?;
            let entries =
                repo.git.entries(&tree.sha, recursive).map_err(|_| Answer::not_found())?;
            let list: Vec<Value> = entries.iter().map(|entry| tree_entry(&url, entry)).collect();
            Answer::ok(&json!({
                "sha": tree.sha,
                "url": format!("{url}/git/trees/{}", tree.sha),
                "tree": list,
                "truncated": false,
            }))
        }
        ["git", "blobs", sha] => {
            let blob = repo.git.object(sha).filter(|object| object.kind == "blob");
            let blob = blob.ok_or_else(Answer::not_found)?;
            if request.header("accept").is_some_and(|accept| accept.contains("raw")) {
                return Ok(Answer::bytes("application/vnd.github.raw; charset=utf-8", blob.bytes));
            }
            Answer::ok(&json!({
                "sha": blob.sha,
                "node_id": format!("B_{}", blob.sha),
                "size": blob.bytes.len(),
                "url": format!("{url}/git/blobs/{}", blob.sha),
                "content": base64_lines(&blob.bytes),
                "encoding": "base64",
            }))
        }
        ["branches", name @ ..] => {
            let name = name.join("/");
            let sha =
                repo.branches.get(&name).ok_or_else(|| Answer::message(404, "Branch not found"))?;
            Answer::ok(&json!({
                "name": name,
                "commit": super::commits::brief(world, repo, sha),
                "_links": {
                    "self": format!("{url}/branches/{name}"),
                    "html": format!("https://github.com/{}/tree/{name}", repo.name),
                },
                "protected": false,
                "protection": { "enabled": false },
                "protection_url": format!("{url}/branches/{name}/protection"),
            }))
        }
        ["codeowners", "errors"] => codeowners_errors(world, request, repo),
        _ => Err(Answer::not_found()),
    }
}

fn tree_entry(url: &str, entry: &TreeEntry) -> Value {
    let mut value = json!({
        "path": entry.path,
        "mode": entry.mode,
        "type": entry.kind,
        "sha": entry.sha,
        "url": format!("{url}/git/{}s/{}", entry.kind, entry.sha),
    });
    if let Some(size) = entry.size {
        value["size"] = json!(size);
    }
    value
}

fn codeowners_errors(world: &World, request: &Request, repo: &Repo) -> Outcome {
    let reference = request.parameter("ref").unwrap_or_else(|| repo.default_branch.clone());
    let sha = commit_of(world, repo, &reference).map_err(|_| Answer::not_found())?;
    let path = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"]
        .into_iter()
        .find(|path| repo.git.object(&format!("{sha}:{path}")).is_some())
        .ok_or_else(Answer::not_found)?;
    let said = if repo.own { &world.case.spec.codeowners_errors[..] } else { &[] };
    let errors: Vec<Value> = said
        .iter()
        .map(|error| match error {
            Value::String(message) => json!({
                "line": 1, "column": 1, "source": "", "kind": "Invalid pattern",
                "suggestion": null, "message": message, "path": path,
            }),
            whole => whole.clone(),
        })
        .collect();
    Answer::ok(&json!({ "errors": errors }))
}
