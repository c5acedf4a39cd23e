//! Everything that is not GitHub: the model hub, container registries, published pages.
//!
//! Each has a prefix of its own on the same server.

use serde_json::{Value, json};

use super::answer::{Answer, Outcome, Request};
use super::storage::sha256;
use super::world::{World, fake_sha};

/// Prefixes on the server.
pub const HUB: &str = "/hub";
pub const REGISTRY: &str = "/registry";
pub const PAGES: &str = "/pages";

/// Answers a request of one of them; `None` where the path is none of theirs.
pub fn answer(world: &World, request: &Request) -> Option<Outcome> {
    let segments = request.segments();
    let path: Vec<&str> = segments.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["hub", rest @ ..] => Some(hub(world, request, rest)),
        ["registry", "v2", rest @ ..] => Some(registry(world, rest)),
        ["pages", host, rest @ ..] => Some(page(world, request, host, rest)),
        _ => None,
    }
}

/// `/{org}/{model}/resolve/{rev}/{file}` and `/api/models/{org}/{model}[/revision/{rev}]`.
fn hub(world: &World, request: &Request, path: &[&str]) -> Outcome {
    match path {
        ["api", "models", org, model] => model_info(world, request, org, model, "main"),
        ["api", "models", org, model, "revision", rev] => {
            model_info(world, request, org, model, rev)
        }
        ["api", "models", org, model, "tree", rev, ..] => {
            let (folder, _) = revision(world, org, model, rev)?;
            let files = world.case.files_under(&folder).map_err(broken)?;
            let list: Vec<Value> = files
                .iter()
                .map(|file| {
                    let bytes = read(world, &format!("{folder}/{file}")).unwrap_or_default();
                    let oid = fake_sha(&sha256(&bytes));
                    json!({ "type": "file", "path": file, "size": bytes.len(), "oid": oid })
                })
                .collect();
            Answer::ok(&Value::Array(list))
        }
        [org, model, "resolve" | "raw", rev, file @ ..] => {
            let (folder, sha) = revision(world, org, model, rev)?;
            let bytes = read(world, &format!("{folder}/{}", file.join("/")))?;
            let etag = format!("\"{}\"", sha256(&bytes));
            Ok(ranged(request, "application/octet-stream", bytes)
                .with_header("x-repo-commit", &sha)
                .with_header("etag", &etag))
        }
        _ => Err(Answer::not_found()),
    }
}

/// The folder and the full name of a revision; `main` is a text file with its name.
fn revision(world: &World, org: &str, model: &str, rev: &str) -> Result<(String, String), Answer> {
    let base = format!("hub/{org}/{model}");
    let named = world.case.file(&format!("{base}/{rev}")).map_err(broken)?;
    let rev = match named {
        Some(bytes) => {
            let text = world.history.fill_bytes(bytes).map_err(broken)?;
            String::from_utf8_lossy(&text).trim().to_owned()
        }
        None => rev.to_owned(),
    };
    let folder = format!("{base}/{rev}");
    if world.case.has_folder(&folder) {
        Ok((folder, rev))
    } else {
        Err(Answer::json(404, &json!({ "error": "Repository or revision not found" }))
            .with_header("x-error-code", "RevisionNotFound"))
    }
}

fn model_info(world: &World, request: &Request, org: &str, model: &str, rev: &str) -> Outcome {
    let (folder, sha) = revision(world, org, model, rev)?;
    let with_sizes = request.parameter("blobs").is_some();
    let files = world.case.files_under(&folder).map_err(broken)?;
    let siblings: Vec<Value> = files
        .iter()
        .map(|file| {
            let mut sibling = json!({ "rfilename": file });
            if with_sizes {
                let bytes = read(world, &format!("{folder}/{file}")).unwrap_or_default();
                let digest = sha256(&bytes);
                sibling["size"] = json!(bytes.len());
                sibling["blobId"] = json!(fake_sha(&digest));
                if file.ends_with(".safetensors") {
                    sibling["lfs"] =
                        json!({ "sha256": digest, "size": bytes.len(), "pointerSize": 135 });
                }
            }
            sibling
        })
        .collect();
    let name = format!("{org}/{model}");
    Answer::ok(&json!({
        "_id": fake_sha(&name)[..24],
        "id": name,
        "modelId": name,
        "author": org,
        "sha": sha,
        "private": false,
        "gated": false,
        "disabled": false,
        "lastModified": world.case.spec.now,
        "tags": [],
        "siblings": siblings,
    }))
}

/// `/v2/{repository}/manifests/{tag or digest}`; the repository with or without its host.
fn registry(world: &World, path: &[&str]) -> Outcome {
    let Some(known) = &world.case.spec.registry else {
        return Err(Answer::message(503, "No registry can be asked"));
    };
    let unknown = |code: &str| {
        Answer::json(
            404,
            &json!({ "errors": [{ "code": code, "message": "not known", "detail": {} }] }),
        )
    };
    let [repository @ .., kind, reference] = path else {
        return if path.iter().all(|part| part.is_empty()) {
            Answer::ok(&json!({}))
        } else {
            Err(unknown("UNSUPPORTED"))
        };
    };
    let repository = bare(&repository.join("/"));
    let tags = known
        .iter()
        .find(|(name, _)| bare(name) == repository)
        .map(|(_, tags)| tags)
        .ok_or_else(|| unknown("NAME_UNKNOWN"))?;
    match (*kind, *reference) {
        ("tags", "list") => {
            let names: Vec<&String> = tags.keys().collect();
            Answer::ok(&json!({ "name": repository, "tags": names }))
        }
        ("manifests", reference) => {
            let digest = tags
                .get(reference)
                .or_else(|| tags.values().find(|digest| digest.as_str() == reference))
                .ok_or_else(|| unknown("MANIFEST_UNKNOWN"))?;
            let kind = "application/vnd.oci.image.index.v1+json";
            let parts = world.case.spec.registry_parts.get(digest).into_iter().flatten();
            let parts: Vec<Value> = parts.map(|part| json!({ "digest": part })).collect();
            let body = json!({ "schemaVersion": 2, "mediaType": kind, "manifests": parts });
            Ok(Answer::bytes(kind, body.to_string().into_bytes())
                .with_header("docker-content-digest", digest))
        }
        _ => Err(unknown("UNSUPPORTED")),
    }
}

/// A repository's name without the host that stands for Docker Hub.
fn bare(name: &str) -> String {
    let name = ["docker.io/", "index.docker.io/", "registry-1.docker.io/"]
        .iter()
        .find_map(|host| name.strip_prefix(host))
        .unwrap_or(name);
    name.strip_prefix("library/").unwrap_or(name).to_lowercase()
}

/// `/{host}/{path}`: a file of `pages/`, by its path alone or with a usual ending.
fn page(world: &World, request: &Request, host: &str, rest: &[&str]) -> Outcome {
    let path = rest.join("/");
    let path = path.trim_matches('/');
    let path = if path.is_empty() { "index" } else { path };
    for ending in ["", ".html", ".md", "/index", "/index.html"] {
        let file = world.case.file(&format!("pages/{host}/{path}{ending}")).map_err(broken)?;
        if let Some(bytes) = file {
            let bytes = world.history.fill_bytes(bytes).map_err(broken)?;
            let kind = if bytes.starts_with(b"{") {
                "application/json"
            } else {
                "text/html; charset=utf-8"
            };
            return Ok(ranged(request, kind, bytes));
        }
    }
    Err(Answer {
        status: 404,
        ..Answer::bytes("text/html; charset=utf-8", b"<h1>404</h1>".to_vec())
    })
}

fn read(world: &World, path: &str) -> Result<Vec<u8>, Answer> {
    let bytes = world.case.file(path).map_err(broken)?.ok_or_else(|| {
        Answer::json(404, &json!({ "error": "Entry not found" }))
            .with_header("x-error-code", "EntryNotFound")
    })?;
    world.history.fill_bytes(bytes).map_err(broken)
}

fn broken(error: anyhow::Error) -> Answer {
    Answer::message(500, &format!("{error:#}"))
}

/// Bytes, or the one range of them that is asked for: 206, or 416 past the end.
pub fn ranged(request: &Request, kind: &str, bytes: Vec<u8>) -> Answer {
    let total = bytes.len();
    let asked = request.header("range").and_then(|range| range.strip_prefix("bytes="));
    let Some((from, to)) = asked.and_then(|range| range.split_once('-')) else {
        return Answer::bytes(kind, bytes).with_header("accept-ranges", "bytes");
    };
    let (start, end) = match (from.parse::<usize>(), to.parse::<usize>()) {
        (Ok(start), Ok(end)) => (start, end.saturating_add(1).min(total)),
        (Ok(start), Err(_)) => (start, total),
        (Err(_), Ok(last)) => (total.saturating_sub(last), total),
        (Err(_), Err(_)) => (0, total),
    };
    if start >= end {
        return Answer::empty(416).with_header("content-range", &format!("bytes */{total}"));
    }
    let mut answer = Answer::bytes(kind, bytes[start..end].to_vec());
    answer.status = 206;
    answer
        .with_header("accept-ranges", "bytes")
        .with_header("content-range", &format!("bytes {start}-{}/{total}", end - 1))
}
