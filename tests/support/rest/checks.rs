//! Check runs, of jobs and of apps, and commit statuses.

use serde_json::{Map, Value, json};

use super::super::answer::{Answer, Outcome, Request};
use super::super::auth::{ACTIONS_SLUG, Identity};
use super::super::world::{CheckRun, Repo, World};
use super::actions::{self, Job};
use super::contents::commit_of;
use super::{number, shapes};

/// Bounds of GitHub's OpenAPI description.
const ANNOTATIONS: usize = 50;
const TEXT: usize = 65_535;
const ACTIONS: usize = 3;
const DESCRIPTION: usize = 140;

/// `GET …/commits/{ref}/check-runs`, by `check_name`, `status`, `filter`, `app_id`.
pub fn of_commit(world: &World, request: &Request, repo: &Repo, reference: &str) -> Outcome {
    let sha = commit_of(world, repo, reference)?;
    let every = request.parameter("filter").as_deref() == Some("all");
    let mut all: Vec<Value> = Vec::new();
    let runs = world.case.spec.runs.iter().filter(|_| repo.own);
    for run in runs.filter(|run| world.commit(&run.head).as_ref() == Some(&sha)) {
        let mut jobs = actions::jobs_of(world, run);
        if !every {
            jobs = actions::latest(jobs, run.attempt);
        }
        all.extend(jobs.iter().map(|job| of_job(world, job)));
    }
    let apps = world.check_runs.values().filter(|check| repo.own && check.head_sha == sha);
    let mut apps: Vec<&CheckRun> = apps.collect();
    if !every {
        // The newest of each name of an app.
        let mut seen = std::collections::BTreeSet::new();
        apps.reverse();
        apps.retain(|check| seen.insert((&check.app, check.fields["name"].to_string())));
    }
    all.extend(apps.into_iter().map(|check| value(world, check)));
    all.sort_by_key(|check| std::cmp::Reverse(check["id"].as_u64()));
    let asked = |name: &str, value: &Value| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        request.parameter(name).is_none_or(|wanted| wanted == value)
    };
    all.retain(|check| {
        asked("check_name", &check["name"])
            && asked("status", &check["status"])
            && asked("app_id", &check["app"]["id"])
    });
    Answer::counted(request, "check_runs", &all, Clone::clone)
}

/// A job as the check run that it is.
pub fn of_job(world: &World, job: &Job<'_>) -> Value {
    let (started, ended) = actions::times(world, job);
    let repo = &world.case.spec.repository;
    let page = format!("https://github.com/{repo}/actions/runs/{}/job/{}", job.run.id, job.id);
    let fields = json!({
        "name": job.spec.name,
        "status": actions::status_of(job),
        "conclusion": job.spec.conclusion,
        "started_at": started,
        "completed_at": ended,
        "external_id": format!("job-{}", job.id),
        "details_url": page,
    });
    let check = CheckRun {
        id: job.id,
        app: ACTIONS_SLUG.to_owned(),
        head_sha: world.commit(&job.run.head).unwrap_or_default(),
        fields: into_map(fields),
        annotations: Vec::new(),
    };
    let mut value = value(world, &check);
    value["html_url"] = json!(page);
    value["check_suite"] = json!({ "id": actions::suite(job.run) });
    value
}

/// A check run, whole.
pub fn value(world: &World, check: &CheckRun) -> Value {
    let repo = &world.case.spec.repository;
    let url = format!("{}/repos/{repo}/check-runs/{}", world.url, check.id);
    let sha = world.history.spoken(&check.head_sha);
    let mut value = json!({
        "id": check.id,
        "node_id": format!("CR_{}", check.id),
        "head_sha": sha,
        "external_id": "",
        "url": url,
        "html_url": format!("https://github.com/{repo}/runs/{}", check.id),
        "details_url": format!("https://github.com/{repo}/runs/{}", check.id),
        "status": "queued",
        "conclusion": null,
        "started_at": null,
        "completed_at": null,
        "output": { "title": null, "summary": null, "text": null },
        "check_suite": { "id": shapes::id_of(&format!("{} {sha}", check.app)) },
        "app": shapes::app(world, &check.app),
        "pull_requests": [],
    });
    if let Value::Object(value) = &mut value {
        value.extend(check.fields.clone());
    }
    value["output"]["annotations_count"] = json!(check.annotations.len());
    value["output"]["annotations_url"] = json!(format!("{url}/annotations"));
    value
}

/// `POST …/check-runs`.
pub fn create(world: &mut World, request: &Request) -> Outcome {
    let app = apps_only(request)?;
    let body = request.json()?;
    let name = body["name"].as_str().filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| Answer::invalid("\"name\" wasn't supplied."))?.to_owned();
    let sha = body["head_sha"].as_str();
    let sha = sha.ok_or_else(|| Answer::invalid("\"head_sha\" wasn't supplied."))?;
    let head_sha = Some(sha)
        .filter(|sha| sha.len() == 40)
        .and_then(|sha| world.history.real(sha))
        .ok_or_else(|| Answer::message(422, &format!("No commit found for SHA: {sha}")))?;
    let mut check = CheckRun {
        id: world.next_id(),
        app: app.to_owned(),
        head_sha,
        fields: into_map(json!({ "name": name, "status": "queued", "started_at": world.tick() })),
        annotations: Vec::new(),
    };
    apply(world, &mut check, &body)?;
    let value = value(world, &check);
    world.check_runs.insert(check.id, check);
    Ok(Answer::json(201, &value))
}

/// `PATCH …/check-runs/{id}`: annotations are added to those that are there.
pub fn update(world: &mut World, request: &Request, id: &str) -> Outcome {
    let app = apps_only(request)?;
    let id = number(id)?;
    let mut check = world.check_runs.get(&id).cloned().ok_or_else(Answer::not_found)?;
    if check.app != app {
        return Err(Answer::message(403, "Invalid app_id: the check run belongs to another app"));
    }
    apply(world, &mut check, &request.json()?)?;
    let value = value(world, &check);
    world.check_runs.insert(id, check);
    Answer::ok(&value)
}

/// `GET …/check-runs/{id}` and its annotations.
pub fn one(world: &World, request: &Request, id: &str, rest: &[&str]) -> Outcome {
    let found = world.check_runs.get(&number(id)?);
    match (rest, found) {
        ([], Some(check)) => Answer::ok(&value(world, check)),
        ([], None) => Answer::ok(&of_job(world, &actions::job(world, id)?)),
        (["annotations"], Some(check)) => Answer::list(request, &check.annotations, Clone::clone),
        (["annotations"], None) => Answer::ok(&json!([])),
        _ => Err(Answer::not_found()),
    }
}

fn apps_only(request: &Request) -> Result<&'static str, Answer> {
    match request.identity {
        Identity::Installation { app, .. } => Ok(app),
        _ => Err(Answer::message(403, "You must authenticate via a GitHub App.")),
    }
}

fn apply(world: &mut World, check: &mut CheckRun, body: &Value) -> Result<(), Answer> {
    for field in ["name", "details_url", "external_id", "started_at"] {
        if let Some(text) = body[field].as_str() {
            check.fields.insert(field.to_owned(), json!(text));
        }
    }
    if let Some(status) = body["status"].as_str() {
        one_of("status", status, &["queued", "in_progress", "completed"])?;
        check.fields.insert("status".to_owned(), json!(status));
        if status != "completed" {
            check.fields.insert("conclusion".to_owned(), Value::Null);
            check.fields.insert("completed_at".to_owned(), Value::Null);
        } else if body["conclusion"].is_null() {
            return Err(Answer::invalid("A completed check run needs a \"conclusion\"."));
        }
    }
    if let Some(conclusion) = body["conclusion"].as_str() {
        one_of(
            "conclusion",
            conclusion,
            &[
                "action_required",
                "cancelled",
                "failure",
                "neutral",
                "success",
                "skipped",
                "timed_out",
            ],
        )?;
        let time = body["completed_at"].as_str().map_or_else(|| world.tick(), str::to_owned);
        check.fields.insert("conclusion".to_owned(), json!(conclusion));
        check.fields.insert("status".to_owned(), json!("completed"));
        check.fields.insert("completed_at".to_owned(), json!(time));
    }
    if let Some(actions) = body["actions"].as_array() {
        check_actions(actions)?;
    }
    let output = &body["output"];
    if output.is_null() {
        return Ok(());
    }
    let mut kept = Map::new();
    for field in ["title", "summary"] {
        let text = output[field].as_str();
        let text =
            text.ok_or_else(|| Answer::invalid(&format!("output.{field} wasn't supplied.")))?;
        kept.insert(field.to_owned(), json!(text));
    }
    kept.insert("text".to_owned(), output["text"].clone());
    for field in ["summary", "text"] {
        let length = output[field].as_str().map_or(0, |text| text.chars().count());
        if length > TEXT {
            let why = format!(
                "Only 65535 characters are allowed in output.{field}; {length} were supplied."
            );
            return Err(Answer::invalid(&why));
        }
    }
    check.fields.insert("output".to_owned(), Value::Object(kept));
    if let Some(annotations) = output["annotations"].as_array() {
        check_annotations(annotations)?;
        check.annotations.extend(annotations.iter().cloned());
    }
    Ok(())
}

fn check_actions(actions: &[Value]) -> Result<(), Answer> {
    if actions.len() > ACTIONS {
        return Err(Answer::invalid("No more than 3 items are allowed in actions."));
    }
    for action in actions {
        for (field, bound) in [("label", 20), ("description", 40), ("identifier", 20)] {
            let text = action[field]
                .as_str()
                .ok_or_else(|| Answer::invalid(&format!("actions.{field} wasn't supplied.")))?;
            if text.chars().count() > bound {
                let why = format!("actions.{field} is longer than {bound} characters: {text}");
                return Err(Answer::invalid(&why));
            }
        }
    }
    Ok(())
}

fn check_annotations(annotations: &[Value]) -> Result<(), Answer> {
    if annotations.len() > ANNOTATIONS {
        return Err(Answer::invalid("No more than 50 items are allowed in output.annotations."));
    }
    for annotation in annotations {
        for field in ["path", "annotation_level", "message"] {
            if annotation[field].as_str().is_none_or(str::is_empty) {
                return Err(Answer::invalid(&format!("annotations.{field} wasn't supplied.")));
            }
        }
        let level = annotation["annotation_level"].as_str().unwrap_or_default();
        one_of("annotation_level", level, &["notice", "warning", "failure"])?;
        let line = |field: &str| annotation[field].as_u64().filter(|line| *line > 0);
        match (line("start_line"), line("end_line")) {
            (Some(start), Some(end)) if start <= end => {}
            _ => return Err(Answer::invalid("annotations need start_line <= end_line, from 1")),
        }
    }
    Ok(())
}

fn one_of(field: &str, value: &str, allowed: &[&str]) -> Result<(), Answer> {
    if allowed.contains(&value) {
        return Ok(());
    }
    Err(Answer::invalid(&format!("{field}: {value} is none of {}", allowed.join(", "))))
}

/// `POST …/statuses/{sha}`.
pub fn create_status(world: &mut World, request: &Request, sha: &str) -> Outcome {
    let real = world.history.real(sha);
    let real =
        real.ok_or_else(|| Answer::message(422, &format!("No commit found for SHA: {sha}")))?;
    let body = request.json()?;
    let state = body["state"].as_str().unwrap_or_default();
    one_of("state", state, &["error", "failure", "pending", "success"])?;
    let description = body["description"].as_str();
    if description.is_some_and(|text| text.chars().count() > DESCRIPTION) {
        return Err(Answer::invalid("description is too long (maximum is 140 characters)"));
    }
    let (creator, _) = request.identity.writes_as();
    let id = world.next_id();
    let time = world.tick();
    let status = json!({
        "id": id,
        "node_id": format!("SC_{id}"),
        "url": format!("{}/repos/{}/statuses/{sha}", world.url, world.case.spec.repository),
        "avatar_url": null,
        "state": state,
        "description": description,
        "target_url": body["target_url"],
        "context": body["context"].as_str().unwrap_or("default"),
        "created_at": time,
        "updated_at": time,
        "creator": shapes::user(world, &creator),
        "sha": real,
    });
    world.statuses.push(status.clone());
    Ok(Answer::json(201, &status))
}

/// `GET …/commits/{ref}/statuses`, newest first.
pub fn statuses(world: &World, request: &Request, repo: &Repo, reference: &str) -> Outcome {
    let sha = commit_of(world, repo, reference)?;
    let found: Vec<&Value> =
        world.statuses.iter().rev().filter(|status| status["sha"] == sha.as_str()).collect();
    Answer::list(request, &found, |status| (*status).clone())
}

/// `GET …/commits/{ref}/status`: the newest of each context, and what they come to.
pub fn combined_status(world: &World, repo: &Repo, reference: &str) -> Outcome {
    let sha = commit_of(world, repo, reference)?;
    let mut seen = std::collections::BTreeSet::new();
    let newest: Vec<&Value> = world
        .statuses
        .iter()
        .rev()
        .filter(|status| status["sha"] == sha.as_str())
        .filter(|status| seen.insert(status["context"].to_string()))
        .collect();
    let any = |word: &str| newest.iter().any(|status| status["state"] == word);
    let state = if any("failure") || any("error") {
        "failure"
    } else if any("pending") || newest.is_empty() {
        "pending"
    } else {
        "success"
    };
    Answer::ok(&json!({
        "state": state,
        "sha": world.history.spoken(&sha),
        "total_count": newest.len(),
        "statuses": newest,
        "repository": shapes::repository(world, repo),
        "url": format!("{}/repos/{}/commits/{sha}/status", world.url, repo.name),
        "commit_url": format!("{}/repos/{}/commits/{sha}", world.url, repo.name),
    }))
}

fn into_map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
