//! The App: itself, its installation, its tokens, its deliveries, the rate limit.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::answer::{Answer, Outcome, Request};
use super::super::auth::{APP_ID, APP_SLUG, INSTALLATION_ID, Identity, unix_now};
use super::super::history::rfc3339;
use super::super::server::RATE_LIMIT;
use super::super::world::World;
use super::shapes;

/// Events that the App is subscribed to.
const EVENTS: &[&str] = &[
    "check_run",
    "check_suite",
    "issue_comment",
    "merge_group",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "status",
    "workflow_run",
];

/// `/app/…`, `/installation/…`, `/orgs/{org}/installation`, `/users/{login}/installation`.
pub fn route(world: &mut World, request: &Request, method: &str, path: &[&str]) -> Outcome {
    if let ("GET", ["installation", "repositories"]) = (method, path) {
        request.identity.need("metadata", false)?;
        let repos = [world.own()];
        return Answer::counted(request, "repositories", &repos, |repo| {
            shapes::repository(world, repo)
        });
    }
    request.identity.need_app()?;
    let ours = INSTALLATION_ID.to_string();
    match (method, path) {
        ("GET", ["app"]) => {
            let mut app = shapes::app(world, APP_SLUG);
            app["installations_count"] = json!(1);
            app["events"] = match &world.case.spec.app_events {
                Some(events) => json!(events),
                None => json!(EVENTS),
            };
            Answer::ok(&app)
        }
        ("GET", ["app", "installations"]) => Answer::list(request, &[()], |()| installation(world)),
        ("GET", ["app", "installations", id]) if *id == ours => Answer::ok(&installation(world)),
        ("GET", ["orgs" | "users", name, "installation"]) => {
            if name.eq_ignore_ascii_case(shapes::owner_of(world)) {
                Answer::ok(&installation(world))
            } else {
                Err(Answer::not_found())
            }
        }
        ("POST", ["app", "installations", id, "access_tokens"]) if *id == ours => {
            access_token(world, request)
        }
        ("GET", ["app", "hook", "config"]) => Answer::ok(&json!({
            "content_type": "json", "insecure_ssl": "0", "secret": "********",
            "url": world.webhook_url,
        })),
        ("GET", ["app", "hook", "deliveries"]) => {
            let newest: Vec<&Value> = world.deliveries.iter().rev().collect();
            Answer::list(request, &newest, |delivery| brief(delivery))
        }
        ("GET", ["app", "hook", "deliveries", id]) => {
            let id: u64 = super::number(id)?;
            let found = world.deliveries.iter().find(|delivery| delivery["id"] == id);
            Answer::ok(found.ok_or_else(Answer::not_found)?)
        }
        _ => Err(Answer::not_found()),
    }
}

/// A delivery without its payload, as the list has it.
fn brief(delivery: &Value) -> Value {
    let mut brief = delivery.clone();
    if let Value::Object(fields) = &mut brief {
        fields.remove("request");
        fields.remove("response");
    }
    brief
}

/// The installation on the case's owner.
pub fn installation(world: &World) -> Value {
    let owner = shapes::owner_of(world);
    let url = format!("{}/app/installations/{INSTALLATION_ID}", world.url);
    json!({
        "id": INSTALLATION_ID,
        "client_id": format!("Iv1.{APP_ID:016x}"),
        "account": shapes::owner(world, owner),
        "repository_selection": "selected",
        "access_tokens_url": format!("{url}/access_tokens"),
        "repositories_url": format!("{}/installation/repositories", world.url),
        "html_url": format!("https://github.com/apps/{APP_SLUG}"),
        "app_id": APP_ID,
        "app_slug": APP_SLUG,
        "target_id": shapes::id_of(owner),
        "target_type": "Organization",
        "permissions": world.permissions,
        "events": EVENTS,
        "created_at": "2026-01-01T00:00:00.000Z",
        "updated_at": "2026-01-01T00:00:00.000Z",
        "single_file_name": null,
        "has_multiple_single_files": false,
        "single_file_paths": [],
        "suspended_by": null,
        "suspended_at": null,
    })
}

/// `GET …/rules/branches/{branch}`: one rule, where the case requires checks.
pub fn branch_rules(world: &World, branch: &str) -> Outcome {
    let spec = &world.case.spec;
    if spec.required_checks.is_empty() || branch != spec.default_branch {
        return Answer::ok(&json!([]));
    }
    Answer::ok(&json!([{
        "type": "required_status_checks",
        "ruleset_source_type": "Repository",
        "ruleset_source": spec.repository,
        "ruleset_id": 42,
        "parameters": {
            "strict_required_status_checks_policy": false,
            "required_status_checks": spec.required_checks,
        },
    }]))
}

fn access_token(world: &mut World, request: &Request) -> Outcome {
    let asked = if request.body.is_empty() { Value::Null } else { request.json()? };
    let mut granted = world.permissions.clone();
    if let Some(wanted) = asked["permissions"].as_object() {
        let mut fewer = BTreeMap::new();
        for (name, level) in wanted {
            let level = level.as_str().unwrap_or_default();
            let has = granted.get(name).map(String::as_str);
            if !matches!((has, level), (Some("write"), "read" | "write") | (Some("read"), "read")) {
                return Err(Answer::message(
                    422,
                    "The permissions requested are not granted to this installation.",
                ));
            }
            fewer.insert(name.clone(), level.to_owned());
        }
        granted = fewer;
    }
    let (token, dies) = world.mint_token(granted.clone());
    Ok(Answer::json(
        201,
        &json!({
            "token": token,
            "expires_at": rfc3339(dies),
            "permissions": granted,
            "repository_selection": "selected",
        }),
    ))
}

/// `GET /rate_limit`.
pub fn rate_limit(world: &World, request: &Request) -> Outcome {
    if request.identity == Identity::App {
        return Err(Answer::message(401, "Requires authentication"));
    }
    let reset = unix_now() + 3_600;
    let core = json!({
        "limit": RATE_LIMIT,
        "used": world.spent,
        "remaining": RATE_LIMIT.saturating_sub(world.spent),
        "reset": reset,
    });
    Answer::ok(&json!({
        "resources": { "core": core, "graphql": core, "search": core },
        "rate": core,
    }))
}
