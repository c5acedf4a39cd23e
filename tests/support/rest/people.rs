//! Accounts, roles and teams.

use serde_json::json;

use super::super::answer::{Answer, Outcome, Request};
use super::super::auth::{Identity, PERSONAL_LOGIN};
use super::super::world::World;
use super::shapes;

/// `GET /user`.
pub fn me(world: &World, request: &Request) -> Outcome {
    match request.identity {
        Identity::Person => Answer::ok(&shapes::user(world, PERSONAL_LOGIN)),
        Identity::Installation { .. } => {
            Err(Answer::message(403, "Resource not accessible by integration"))
        }
        _ => Err(Answer::message(401, "Requires authentication")),
    }
}

/// `GET /users/{login}`: everybody that the case names.
pub fn user(world: &World, login: &str) -> Outcome {
    let spec = &world.case.spec;
    let known = shapes::person(world, login).is_some()
        || [&spec.pull_request.author, &World::bot_login(), &PERSONAL_LOGIN.to_owned()]
            .iter()
            .any(|name| name.eq_ignore_ascii_case(login))
        || world.comments.values().any(|comment| comment.author.eq_ignore_ascii_case(login));
    if known { Answer::ok(&shapes::user(world, login)) } else { Err(Answer::not_found()) }
}

/// `GET …/collaborators/{login}/permission`: a login that the case does not name has none.
pub fn permission(world: &World, login: &str) -> Outcome {
    let person = shapes::person(world, login).map(|(_, person)| person).unwrap_or_default();
    let role = person.role.unwrap_or_default();
    let permission = person.permission.unwrap_or_else(|| {
        match role.as_str() {
            "admin" => "admin",
            "maintain" | "write" => "write",
            "" | "none" => "none",
            _ => "read",
        }
        .to_owned()
    });
    let role = if role == "none" { String::new() } else { role };
    Answer::ok(&json!({
        "permission": permission,
        "role_name": role,
        "user": shapes::user(world, login),
    }))
}

/// `GET /orgs/{org}/teams/{slug}` and `…/memberships/{login}`, `…/members`.
pub fn team(world: &World, request: &Request, org: &str, rest: &[&str]) -> Outcome {
    request.identity.need("members", false)?;
    let [slug, rest @ ..] = rest else { return Err(Answer::not_found()) };
    let name = format!("{org}/{slug}");
    let spec = &world.case.spec;
    let people =
        || spec.people.iter().filter_map(|(login, person)| Some((login, person.as_ref()?)));
    let members: Vec<&str> = people()
        .filter(|(_, person)| person.teams.iter().any(|team| same_team(team, &name)))
        .map(|(login, _)| login.as_str())
        .collect();
    if members.is_empty() && !spec.teams.iter().any(|team| same_team(team, &name)) {
        return Err(Answer::not_found());
    }
    let url = format!("{}/orgs/{org}/teams/{slug}", world.url);
    match rest {
        [] => Answer::ok(&json!({
            "id": shapes::id_of(&name),
            "node_id": format!("T_{}", shapes::id_of(&name)),
            "name": slug,
            "slug": slug,
            "description": "",
            "privacy": "closed",
            "notification_setting": "notifications_enabled",
            "permission": "pull",
            "url": url,
            "html_url": format!("https://github.com/orgs/{org}/teams/{slug}"),
            "members_url": format!("{url}/members{{/member}}"),
            "repositories_url": format!("{url}/repos"),
            "members_count": members.len(),
            "repos_count": 1,
            "parent": null,
            "organization": shapes::organization(world, org),
            "created_at": "2025-01-01T00:00:00Z",
            "updated_at": "2025-01-01T00:00:00Z",
        })),
        ["members"] => Answer::list(request, &members, |login| shapes::user(world, login)),
        ["memberships", login] => {
            if !members.iter().any(|member| member.eq_ignore_ascii_case(login)) {
                return Err(Answer::not_found());
            }
            Answer::ok(&json!({
                "url": format!("{url}/memberships/{login}"),
                "role": "member",
                "state": "active",
            }))
        }
        _ => Err(Answer::not_found()),
    }
}

fn same_team(one: &str, other: &str) -> bool {
    one.trim_start_matches('@').eq_ignore_ascii_case(other)
}
