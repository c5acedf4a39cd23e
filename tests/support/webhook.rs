//! Deliveries: payloads as GitHub builds them, signed and sent.

use anyhow::{Context as _, bail};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::auth::{INSTALLATION_ID, WEBHOOK_SECRET};
use super::rest::shapes;
use super::rest::{check_run_value, run_value};
use super::spec::CommentKind;
use super::world::{Comment, World};

/// A delivery that is ready to be sent.
#[derive(Debug, Clone)]
pub struct Delivery {
    pub event: String,
    pub guid: String,
    pub body: Vec<u8>,
    /// `sha256=…`.
    pub signature: String,
}

impl Delivery {
    /// Builds the delivery that a control request asks for:
    /// `{event, action, comment|review|head|check_run|run, sender, from, guid}`.
    pub fn build(world: &mut World, asked: &Value) -> anyhow::Result<Self> {
        let event =
            asked["event"].as_str().context("event: which webhook event to send")?.to_owned();
        let payload = payload(world, &event, asked)?;
        let body = serde_json::to_vec(&payload)?;
        let count = world.deliveries.len() + 1;
        let guid = match asked["guid"].as_str() {
            Some(guid) => guid.to_owned(),
            None => guid_of(&format!("{count} {event}")),
        };
        let signature = signature(WEBHOOK_SECRET, &body);
        let id = 700_000_000 + count;
        let delivered_at = world.tick();
        world.deliveries.push(json!({
            "id": id,
            "guid": guid,
            "delivered_at": delivered_at,
            "redelivery": false,
            "duration": 0.01,
            "status": "not sent",
            "status_code": 0,
            "event": event,
            "action": payload["action"],
            "installation_id": INSTALLATION_ID,
            "repository_id": payload["repository"]["id"],
            "throttled_at": null,
            "request": {
                "headers": { "X-GitHub-Event": event, "X-GitHub-Delivery": guid },
                "payload": payload,
            },
        }));
        Ok(Self { event, guid, body, signature })
    }

    /// The delivery of that id again: same payload, same GUID.
    pub fn again(world: &World, id: u64) -> Option<Self> {
        let known = world.deliveries.iter().find(|delivery| delivery["id"] == id)?;
        let body = serde_json::to_vec(&known["request"]["payload"]).ok()?;
        Some(Self {
            event: known["event"].as_str()?.to_owned(),
            guid: known["guid"].as_str()?.to_owned(),
            signature: signature(WEBHOOK_SECRET, &body),
            body,
        })
    }

    /// Notes how it was received.
    pub fn received(&self, world: &mut World, status: u16) {
        let last = world.deliveries.iter_mut().rev().find(|d| d["guid"] == self.guid.as_str());
        if let Some(delivery) = last {
            delivery["status_code"] = json!(status);
            delivery["status"] = json!(match status {
                200..=299 => "OK",
                0 => "failed to connect to host",
                _ => "Invalid HTTP Response",
            });
        }
    }

    /// Sends it and gives the receiver's status and body.
    pub async fn send(&self, url: &str) -> anyhow::Result<(u16, String)> {
        let reply = reqwest::Client::new()
            .post(url)
            .header("content-type", "application/json")
            .header("user-agent", "GitHub-Hookshot/stand-in")
            .header("x-github-event", &self.event)
            .header("x-github-delivery", &self.guid)
            .header("x-github-hook-id", "1")
            .header("x-github-hook-installation-target-type", "integration")
            .header("x-hub-signature-256", &self.signature)
            .body(self.body.clone())
            .send()
            .await
            .with_context(|| format!("delivering to {url}"))?;
        Ok((reply.status().as_u16(), reply.text().await?))
    }
}

/// The signature of a body under a secret, as `X-Hub-Signature-256` carries it.
pub fn signature(secret: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes any key");
    mac.update(body);
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

/// A GUID that the same delivery always gets.
fn guid_of(of: &str) -> String {
    let hex = hex::encode(Sha256::digest(of));
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..32])
}

fn payload(world: &World, event: &str, asked: &Value) -> anyhow::Result<Value> {
    let own = world.own();
    let sender = asked["sender"].as_str();
    let action = |default: &str| asked["action"].as_str().unwrap_or(default).to_owned();
    let mut payload = json!({
        "repository": shapes::repository(world, own),
        "organization": shapes::organization(world, shapes::owner_of(world)),
        "installation": { "id": INSTALLATION_ID, "node_id": format!("MDIz{INSTALLATION_ID}") },
        "sender": shapes::user(world, sender.unwrap_or(&world.case.spec.pull_request.author)),
    });
    let number = asked["pull"].as_u64();
    let mut pull = number.map_or_else(|| world.pull(), |number| world.pull_of(number));
    if number.is_some() {
        payload["sender"] = shapes::user(world, sender.unwrap_or(&pull.author));
    }
    match event {
        "ping" => {
            payload["zen"] = json!("Keep it logically awesome.");
            payload["hook_id"] = json!(1);
        }
        "issue_comment" | "pull_request_review" | "pull_request_review_comment" => {
            let kind = match event {
                "issue_comment" => CommentKind::IssueComment,
                "pull_request_review" => CommentKind::Review,
                _ => CommentKind::ReviewComment,
            };
            let comment = comment_of(world, kind, asked)?;
            pull = world.pull_of(comment.pull);
            let default = if kind == CommentKind::Review { "submitted" } else { "created" };
            payload["action"] = json!(action(default));
            payload["sender"] = shapes::user(world, sender.unwrap_or(&comment.author));
            let name = if kind == CommentKind::Review { "review" } else { "comment" };
            payload[name] = shapes::comment(world, comment);
            if kind == CommentKind::Review {
                // Deliveries write the state in lower case, the API in upper case.
                payload[name]["state"] = json!(comment.state.to_lowercase());
                payload[name]["updated_at"] = json!(comment.updated_at);
            }
            if kind == CommentKind::IssueComment {
                payload["issue"] = shapes::issue(world, own, pull);
            } else {
                payload["pull_request"] = shapes::pull_brief(world, own, pull);
            }
            if payload["action"] == "edited" {
                let before = asked["from"].as_str().or(comment.before.as_deref());
                payload["changes"] = match before {
                    Some(before) => json!({ "body": { "from": before } }),
                    None => json!({}),
                };
            }
        }
        "pull_request" => {
            payload["action"] = json!(action("synchronize"));
            payload["number"] = json!(pull.number);
            let mut value = shapes::pull(world, own, pull);
            if let Some(id) = asked["head"].as_str() {
                let sha = world.commit(id).with_context(|| format!("no commit {id}"))?;
                value["head"]["sha"] = json!(world.history.spoken(&sha));
            }
            if payload["action"] == "synchronize" {
                let commit = own.git.read_commit(&pull.head_sha);
                let before = commit.and_then(|commit| commit.parents.first().cloned());
                payload["before"] = json!(before);
                payload["after"] = value["head"]["sha"].clone();
            }
            if let Some(label) = asked["label"].as_str() {
                payload["label"] = json!({ "name": label });
            }
            if payload["action"] == "edited" {
                payload["changes"] = asked.get("changes").cloned().unwrap_or_else(|| json!({}));
            }
            payload["pull_request"] = value;
        }
        "check_run" => {
            payload["action"] = json!(action("rerequested"));
            // Without an id: the newest that an app has made.
            let newest = || world.check_runs.keys().next_back().copied();
            let id = asked["check_run"].as_u64().or_else(newest);
            let id = id.context("check_run: the id of a check run")?;
            payload["check_run"] =
                check_run_value(world, id).with_context(|| format!("no check run {id}"))?;
            if payload["action"] == "requested_action" {
                let identifier = asked["identifier"].as_str().unwrap_or("verify");
                payload["requested_action"] = json!({ "identifier": identifier });
            }
        }
        "check_suite" => {
            payload["action"] = json!(action("rerequested"));
            payload["check_suite"] = json!({
                "id": shapes::id_of(&pull.head_sha),
                "head_branch": pull.head_ref,
                "head_sha": match asked["head"].as_str() {
                    Some(_) => head_of(world, asked)?,
                    None => world.history.spoken(&pull.head_sha),
                },
                "status": "completed",
                "conclusion": if action("rerequested") == "completed" { json!("success") } else { Value::Null },
                // Of a fork's commit GitHub lists none.
                "pull_requests": if pull.head_repo.eq_ignore_ascii_case(&own.name) {
                    json!([{
                        "id": shapes::id_of(&format!("{}#{}", own.name, pull.number)),
                        "number": pull.number,
                        "head": { "ref": pull.head_ref, "sha": pull.head_sha },
                        "base": { "ref": pull.base_ref, "repo": { "id": shapes::id_of(&own.name) } },
                    }])
                } else {
                    json!([])
                },
                "app": shapes::app(world, asked["app"].as_str().unwrap_or(super::auth::APP_SLUG)),
            });
        }
        "merge_group" => {
            payload["action"] = json!(action("checks_requested"));
            let queued = world.queued.iter().find(|queued| queued.number == pull.number);
            let queued = queued.with_context(|| format!("#{} is not queued", pull.number))?;
            let sha = queued.commit.clone();
            payload["merge_group"] = json!({
                "head_sha": sha,
                "head_ref": format!("refs/heads/{}", queued.group),
                "base_sha": queued.base,
                "base_ref": format!("refs/heads/{}", pull.base_ref),
                "head_commit": { "id": sha, "message": pull.title },
            });
        }
        "status" => {
            let sha = head_of(world, asked)?;
            payload["sha"] = json!(sha);
            payload["state"] = asked.get("state").cloned().unwrap_or_else(|| json!("success"));
            payload["context"] = asked.get("context").cloned().unwrap_or_else(|| json!("ci"));
        }
        "push" => {
            let sha = head_of(world, asked)?;
            payload["ref"] = json!(format!("refs/heads/{}", own.default_branch));
            payload["before"] = json!(pull.base_sha);
            payload["after"] = json!(sha);
            payload["head_commit"] = json!({ "id": sha });
            payload["commits"] = json!([]);
        }
        "workflow_run" => {
            payload["action"] = json!(action("completed"));
            let runs = &world.case.spec.runs;
            let run = match asked["run"].as_u64() {
                Some(id) => runs.iter().find(|run| run.id == id),
                None => runs.first(),
            };
            payload["workflow_run"] = run_value(world, run.context("run: the id of a run")?, None);
        }
        "installation" | "installation_repositories" => {
            payload["action"] = json!(action("created"));
            payload["installation"] = super::rest::installation(world);
        }
        other => {
            // Anything else: what it is called, and the parts that every delivery has.
            if let Some(action) = asked["action"].as_str() {
                payload["action"] = json!(action);
            }
            if other.is_empty() {
                bail!("event: which webhook event to send");
            }
        }
    }
    Ok(payload)
}

/// The comment or review that a delivery is about; a deleted one, too.
fn comment_of<'a>(
    world: &'a World,
    kind: CommentKind,
    asked: &Value,
) -> anyhow::Result<&'a Comment> {
    let id = asked["comment"].as_u64().or_else(|| asked["review"].as_u64());
    let id = id.context("comment (or review): the id of one")?;
    let comment = world.comments.get(&id).or_else(|| world.deleted.get(&id));
    let comment = comment.with_context(|| format!("no comment {id}"))?;
    if comment.kind != kind {
        bail!("comment {id} is of another kind: {:?}", comment.kind);
    }
    Ok(comment)
}

/// The commit that a delivery is about: `head`, or where the head stands.
fn head_of(world: &World, asked: &Value) -> anyhow::Result<String> {
    let sha = match asked["head"].as_str() {
        Some(id) => world.commit(id).with_context(|| format!("no commit {id}"))?,
        None => world.pull().head_sha.clone(),
    };
    Ok(world.history.spoken(&sha))
}
