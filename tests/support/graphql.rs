//! `POST /graphql` for the three operations that countersign sends.
//!
//! Not a GraphQL engine: an operation is known by its name, or by the fields that its text asks
//! for, and answered with exactly its own fields.

use serde_json::{Value, json};

use super::answer::{Answer, Outcome, Request};
use super::auth::Identity;
use super::rest::shapes;
use super::spec::CommentKind;
use super::world::World;

/// Nodes that one query may ask for.
const NODES: usize = 100;

/// Answers a query.
pub fn answer(world: &World, request: &Request) -> Outcome {
    if !matches!(request.identity, Identity::Installation { .. } | Identity::Person) {
        return Err(Answer::message(401, "This endpoint requires you to be authenticated."));
    }
    let body = request.json()?;
    let query = body["query"].as_str().unwrap_or_default();
    let named = body["operationName"].as_str().unwrap_or_else(|| operation(query));
    let variables = &body["variables"];
    if request.identity.need("pull_requests", false).is_err() {
        return errors("FORBIDDEN", "Resource not accessible by integration");
    }
    match named {
        "Tips" => tips(world, variables),
        "Edits" => edits(world, variables),
        "MergeQueue" => merge_queue(world, variables),
        _ if query.contains("nodes(") => edits(world, variables),
        _ if query.contains("headRefOid") => tips(world, variables),
        other => {
            errors("undefinedOperation", &format!("No operation named \"{other}\" is known here"))
        }
    }
}

/// The name behind `query`.
fn operation(query: &str) -> &str {
    let rest = query.trim_start().strip_prefix("query").unwrap_or_default().trim_start();
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    &rest[..end]
}

fn errors(kind: &str, message: &str) -> Outcome {
    Answer::ok(&json!({
        "data": null,
        "errors": [{ "type": kind, "message": message, "path": ["query"], "locations": [] }],
    }))
}

fn tips(world: &World, variables: &Value) -> Outcome {
    let owner = variables["owner"].as_str().unwrap_or_default();
    let name = variables["name"].as_str().unwrap_or_default();
    let number = variables["number"].as_u64().unwrap_or_default();
    let Some(repo) = world.repo(owner, name) else {
        let what = format!("Could not resolve to a Repository with the name '{owner}/{name}'.");
        return Answer::ok(&json!({
            "data": { "repository": null },
            "errors": [{ "type": "NOT_FOUND", "message": what, "path": ["repository"] }],
        }));
    };
    let branch =
        |name: &str| repo.branches.get(name).map(|sha| json!({ "oid": world.history.spoken(sha) }));
    let pull = repo.pulls.get(&number).map(|pull| {
        json!({
            "headRefOid": world.history.spoken(&pull.head_sha),
            "baseRefName": pull.base_ref,
            "baseRef": branch(&pull.base_ref).map(|target| json!({ "target": target })),
        })
    });
    let mut body = json!({
        "data": { "repository": {
            "databaseId": shapes::id_of(&repo.name),
            "isPrivate": repo.private,
            "defaultBranchRef": {
                "name": repo.default_branch,
                "target": branch(&repo.default_branch),
            },
            "pullRequest": pull,
        } },
    });
    if body["data"]["repository"]["pullRequest"].is_null() {
        let what = format!("Could not resolve to a PullRequest with the number of {number}.");
        body["errors"] = json!([{
            "type": "NOT_FOUND", "message": what, "path": ["repository", "pullRequest"],
        }]);
    }
    Answer::ok(&body)
}

fn merge_queue(world: &World, variables: &Value) -> Outcome {
    let own = world.own();
    let asked = format!(
        "{}/{}",
        variables["owner"].as_str().unwrap_or_default(),
        variables["name"].as_str().unwrap_or_default()
    );
    let is_it = asked.eq_ignore_ascii_case(&own.name)
        && variables["branch"].as_str() == Some(own.default_branch.as_str());
    let nodes: Vec<Value> = world
        .queued
        .iter()
        .enumerate()
        .map(|(index, queued)| {
            json!({
                "position": index + 1,
                "headCommit": { "oid": queued.commit },
                "baseCommit": { "oid": queued.base },
                "pullRequest": {
                    "number": queued.number,
                    "headRefOid": world.history.spoken(&world.pull_of(queued.number).head_sha),
                },
            })
        })
        .collect();
    let queue = is_it.then(|| json!({ "entries": { "nodes": nodes } }));
    Answer::ok(&json!({ "data": { "repository": { "mergeQueue": queue } } }))
}

fn edits(world: &World, variables: &Value) -> Outcome {
    let ids = variables["ids"].as_array().cloned().unwrap_or_default();
    if ids.len() > NODES {
        return errors(
            "ARGUMENT_LIMIT",
            &format!("You may not provide more than {NODES} node ids"),
        );
    }
    let mut missing = Vec::new();
    let nodes: Vec<Value> = ids
        .iter()
        .enumerate()
        .map(|(index, id)| {
            let id = id.as_str().unwrap_or_default();
            let found = world.comments.values().find(|comment| shapes::node_id(comment) == id);
            let Some(comment) = found else {
                let what = format!("Could not resolve to a node with the global id of '{id}'");
                missing.push(
                    json!({ "type": "NOT_FOUND", "message": what, "path": ["nodes", index] }),
                );
                return Value::Null;
            };
            let edited = comment.edited.as_ref();
            json!({
                "id": id,
                "__typename": match comment.kind {
                    CommentKind::IssueComment => "IssueComment",
                    CommentKind::Review => "PullRequestReview",
                    CommentKind::ReviewComment => "PullRequestReviewComment",
                },
                "lastEditedAt": edited.map(|(time, _)| time),
                "editor": edited.map(|(_, login)| json!({ "login": login })),
            })
        })
        .collect();
    let mut body = json!({ "data": { "nodes": nodes } });
    if !missing.is_empty() {
        body["errors"] = Value::Array(missing);
    }
    Answer::ok(&body)
}
