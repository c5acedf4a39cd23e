//! The stand-in's own routes, all behind `/_`: what was written, and what happens next.

use std::sync::Arc;

use axum::http::Method;
use serde_json::{Value, json};

use super::answer::{Answer, Outcome, Request};
use super::history::seconds;
use super::server::Shared;
use super::spec::{CommentSpec, Fault};
use super::webhook::Delivery;

/// Answers a control request.
pub async fn answer(shared: &Arc<Shared>, request: &Request) -> Outcome {
    let method = request.method.parse::<Method>().unwrap_or(Method::GET);
    let refuse = |error: anyhow::Error| Answer::message(422, &format!("{error:#}"));
    match (method, request.path.as_str()) {
        (Method::GET, "/_writes") => Answer::ok(&json!(shared.world().writes)),
        (Method::GET, "/_requests") => Answer::ok(&json!(shared.world().requests)),
        (Method::GET, "/_rounds") => match &shared.rounds {
            Some(rounds) => Answer::ok(&json!(rounds.so_far())),
            None => Err(Answer::message(409, "started without --rounds")),
        },
        (Method::POST, "/_rounds/reset") => {
            if let Some(rounds) = &shared.rounds {
                rounds.reset();
            }
            Answer::ok(&json!([]))
        }
        (Method::POST, "/_push") => {
            let asked = request.json()?;
            let mut world = shared.world();
            let sha = match (asked["head"].as_str(), asked["main"].as_str()) {
                (Some(id), _) => world.push(id),
                (None, Some(id)) => world.move_main(id),
                (None, None) => Err(anyhow::anyhow!("head: the id of a commit")),
            };
            let sha = sha.map_err(refuse)?;
            Answer::ok(&json!({ "sha": world.history.spoken(&sha) }))
        }
        (Method::POST, "/_edit") => edit(shared, &request.json()?),
        (Method::POST, "/_delete") => {
            let id = id_of(&request.json()?)?;
            shared.world().delete(id).map_err(refuse)?;
            Answer::ok(&json!({ "id": id }))
        }
        (Method::POST, "/_comment") => {
            let spec: CommentSpec = from_value(request)?;
            let mut world = shared.world();
            let time = seconds(&world.tick()).unwrap_or_default();
            let comment = world.comment_of(&spec, time).map_err(refuse)?;
            world.comments.insert(comment.id, comment);
            Answer::ok(&json!({ "id": spec.id }))
        }
        (Method::POST, "/_fault") => {
            let fault: Fault = from_value(request)?;
            shared.faults.add(fault);
            Answer::ok(&json!({}))
        }
        (Method::POST, "/_deliver") => deliver(shared, &request.json()?).await.map_err(refuse),
        _ => Err(Answer::message(404, "no such control route")),
    }
}

/// Builds a delivery and sends it where `--webhook-url` (or the request's `url`) says. With
/// `"lost": true` it is only noted as one that failed.
pub async fn deliver(shared: &Arc<Shared>, asked: &Value) -> anyhow::Result<Answer> {
    let (delivery, url) = {
        let mut world = shared.world();
        let url = asked["url"].as_str().map(str::to_owned).or_else(|| world.webhook_url.clone());
        (Delivery::build(&mut world, asked)?, url)
    };
    if asked["lost"] == true {
        return Ok(Answer::json(200, &json!({ "guid": delivery.guid, "status": 0 })));
    }
    let url = url.ok_or_else(|| anyhow::anyhow!("started without --webhook-url"))?;
    send(shared, &delivery, &url).await
}

/// Sends a delivery and notes how it was received.
pub async fn send(shared: &Arc<Shared>, delivery: &Delivery, url: &str) -> anyhow::Result<Answer> {
    let sent = delivery.send(url).await;
    let status = sent.as_ref().map_or(0, |(status, _)| *status);
    delivery.received(&mut shared.world(), status);
    let (status, body) = sent?;
    Ok(Answer::json(200, &json!({ "guid": delivery.guid, "status": status, "body": body })))
}

fn edit(shared: &Arc<Shared>, asked: &Value) -> Outcome {
    let refuse = |error: anyhow::Error| Answer::message(422, &format!("{error:#}"));
    let mut world = shared.world();
    if let Some(changes) = asked["pull_request"].as_object() {
        let time = world.tick();
        let pull = world.pull_mut();
        pull.updated_at = time;
        let text = |name: &str| changes.get(name).and_then(Value::as_str).map(str::to_owned);
        if let Some(title) = text("title") {
            pull.title = title;
        }
        if let Some(body) = text("body") {
            pull.body = Some(body);
        }
        if let Some(draft) = changes.get("draft").and_then(Value::as_bool) {
            pull.draft = draft;
        }
        if let Some(state) = changes.get("state") {
            pull.state = serde_json::from_value(state.clone())
                .map_err(|_| Answer::message(422, "state: open, closed or merged"))?;
        }
        if let Some(labels) = changes.get("labels").and_then(Value::as_array) {
            pull.labels = labels.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        }
        return Answer::ok(&json!({}));
    }
    let id = id_of(asked)?;
    let known = world.comments.get(&id);
    let known = known.ok_or_else(|| Answer::message(422, &format!("no comment {id}")))?;
    let editor = asked["editor"].as_str().unwrap_or(&known.author).to_owned();
    if let Some(state) = asked["state"].as_str() {
        let state = state.to_uppercase();
        if let Some(comment) = world.comments.get_mut(&id) {
            comment.state = state;
        }
    }
    let body = match (asked["file"].as_str(), asked["body"].as_str()) {
        (Some(file), _) => {
            let text = world.case.text(file).map_err(refuse)?;
            Some(world.history.fill(&text).map_err(refuse)?)
        }
        (None, Some(body)) => Some(world.history.fill(body).map_err(refuse)?),
        (None, None) => None,
    };
    if let Some(body) = body {
        world.edit(id, &body, &editor).map_err(refuse)?;
    }
    Answer::ok(&json!({ "id": id }))
}

fn id_of(asked: &Value) -> Result<u64, Answer> {
    asked["id"].as_u64().ok_or_else(|| Answer::message(422, "id: the id of a comment"))
}

fn from_value<T: serde::de::DeserializeOwned>(request: &Request) -> Result<T, Answer> {
    serde_json::from_value(request.json()?)
        .map_err(|error| Answer::message(422, &error.to_string()))
}
