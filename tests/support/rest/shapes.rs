//! GitHub's objects, with the fields that its OpenAPI description requires.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::super::auth::{ACTIONS_SLUG, APP_ID, APP_SLUG};
use super::super::git::{Commit, FileChange, Signature};
use super::super::history::rfc3339;
use super::super::spec::{CommentKind, PullState};
use super::super::world::{Comment, Pull, Repo, World};

/// A number that a name always gets: accounts and repositories have stable ids.
pub fn id_of(name: &str) -> u64 {
    let digest = Sha256::digest(name.to_lowercase());
    1_000_000 + u64::from(u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]))
}

/// An account.
pub fn user(world: &World, login: &str) -> Value {
    let (login, stated) =
        person(world, login).map_or((login, None), |(login, person)| (login, person.kind));
    let kind = match stated {
        Some(kind) => kind,
        None if login.ends_with("[bot]") => "Bot".to_owned(),
        None => "User".to_owned(),
    };
    let path = login.strip_suffix("[bot]").map_or(login.to_owned(), |slug| format!("apps/{slug}"));
    json!({
        "login": login,
        "id": id_of(login),
        "node_id": format!("U_{}", id_of(login)),
        "avatar_url": format!("https://avatars.githubusercontent.com/u/{}?v=4", id_of(login)),
        "gravatar_id": "",
        "url": format!("{}/users/{login}", world.url),
        "html_url": format!("https://github.com/{path}"),
        "followers_url": format!("{}/users/{login}/followers", world.url),
        "following_url": format!("{}/users/{login}/following{{/other_user}}", world.url),
        "gists_url": format!("{}/users/{login}/gists{{/gist_id}}", world.url),
        "starred_url": format!("{}/users/{login}/starred{{/owner}}{{/repo}}", world.url),
        "subscriptions_url": format!("{}/users/{login}/subscriptions", world.url),
        "organizations_url": format!("{}/users/{login}/orgs", world.url),
        "repos_url": format!("{}/users/{login}/repos", world.url),
        "events_url": format!("{}/users/{login}/events{{/privacy}}", world.url),
        "received_events_url": format!("{}/users/{login}/received_events", world.url),
        "type": kind,
        "user_view_type": "public",
        "site_admin": false,
    })
}

/// A person of the case, any case of the login.
pub fn person<'a>(world: &'a World, login: &str) -> Option<(&'a str, super::super::spec::Person)> {
    world
        .case
        .spec
        .people
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(login))
        .map(|(name, person)| (name.as_str(), person.clone().unwrap_or_default()))
}

/// The account that owns a repository: an organisation, unless it is a person of the case.
pub fn owner(world: &World, login: &str) -> Value {
    let mut value = user(world, login);
    if person(world, login).is_none() {
        value["type"] = json!("Organization");
        value["node_id"] = json!(format!("O_{}", id_of(login)));
    }
    value
}

/// An organisation, as deliveries and teams have it.
pub fn organization(world: &World, login: &str) -> Value {
    json!({
        "login": login,
        "id": id_of(login),
        "node_id": format!("O_{}", id_of(login)),
        "url": format!("{}/orgs/{login}", world.url),
        "repos_url": format!("{}/orgs/{login}/repos", world.url),
        "events_url": format!("{}/orgs/{login}/events", world.url),
        "hooks_url": format!("{}/orgs/{login}/hooks", world.url),
        "issues_url": format!("{}/orgs/{login}/issues", world.url),
        "members_url": format!("{}/orgs/{login}/members{{/member}}", world.url),
        "public_members_url": format!("{}/orgs/{login}/public_members{{/member}}", world.url),
        "avatar_url": format!("https://avatars.githubusercontent.com/u/{}?v=4", id_of(login)),
        "html_url": format!("https://github.com/{login}"),
        "description": "",
        "type": "Organization",
        "site_admin": false,
    })
}

/// An app, by its slug.
pub fn app(world: &World, slug: &str) -> Value {
    let id = match slug {
        APP_SLUG => APP_ID,
        ACTIONS_SLUG => 15_368,
        other => id_of(other),
    };
    let owner = if slug == ACTIONS_SLUG { "github" } else { owner_of(world) };
    json!({
        "id": id,
        "slug": slug,
        "node_id": format!("A_{id}"),
        "client_id": format!("Iv1.{id:016x}"),
        "owner": self::owner(world, owner),
        "name": slug,
        "description": "",
        "external_url": format!("https://{slug}.example.org"),
        "html_url": format!("https://github.com/apps/{slug}"),
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
        "permissions": if slug == APP_SLUG { json!(world.permissions) } else { json!({}) },
        "events": [],
    })
}

/// The owner of the case's repository.
pub fn owner_of(world: &World) -> &str {
    world.case.spec.repository.split('/').next().unwrap_or_default()
}

/// A repository.
pub fn repository(world: &World, repo: &Repo) -> Value {
    let (owner, name) = repo.name.split_once('/').unwrap_or((&repo.name, ""));
    let url = format!("{}/repos/{}", world.url, repo.name);
    let html = format!("https://github.com/{}", repo.name);
    json!({
        "id": id_of(&repo.name),
        "node_id": format!("R_{}", id_of(&repo.name)),
        "name": name,
        "full_name": repo.name,
        "private": repo.private,
        "visibility": if repo.private { "private" } else { "public" },
        "owner": self::owner(world, owner),
        "html_url": html,
        "description": null,
        "fork": repo.fork_of.is_some(),
        "url": url,
        "contents_url": format!("{url}/contents/{{+path}}"),
        "compare_url": format!("{url}/compare/{{base}}...{{head}}"),
        "commits_url": format!("{url}/commits{{/sha}}"),
        "pulls_url": format!("{url}/pulls{{/number}}"),
        "issues_url": format!("{url}/issues{{/number}}"),
        "clone_url": format!("{html}.git"),
        "default_branch": repo.default_branch,
        "archived": false,
        "disabled": false,
        "has_issues": true,
        "forks_count": 0,
        "open_issues_count": 1,
        "stargazers_count": 0,
        "watchers_count": 0,
        "language": null,
        "license": null,
        "topics": [],
        "created_at": "2025-01-01T00:00:00Z",
        "updated_at": world.case.spec.now,
        "pushed_at": world.case.spec.now,
    })
}

/// A pull request, whole.
pub fn pull(world: &World, repo: &Repo, pull: &Pull) -> Value {
    let mut value = pull_brief(world, repo, pull);
    let changes = world.pull_changes(pull).unwrap_or_default();
    let count = |of: CommentKind| {
        if repo.own { world.comments_on(pull.number, of).len() } else { 0 }
    };
    let commits = if repo.own { world.pull_commits(pull).len() } else { 1 };
    let merged = pull.merged_at.is_some();
    let more = json!({
        "merged": merged,
        "mergeable": if pull.state == PullState::Open { json!(true) } else { Value::Null },
        "rebaseable": null,
        "mergeable_state": if pull.draft { "draft" } else { "blocked" },
        "merged_by": if merged { user(world, &pull.author) } else { Value::Null },
        "comments": count(CommentKind::IssueComment),
        "review_comments": count(CommentKind::ReviewComment),
        "maintainer_can_modify": false,
        "commits": commits,
        "additions": changes.iter().map(|change| change.additions).sum::<u64>(),
        "deletions": changes.iter().map(|change| change.deletions).sum::<u64>(),
        "changed_files": changes.len(),
    });
    if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
        value.extend(more);
    }
    value
}

/// A pull request as lists and deliveries have it.
pub fn pull_brief(world: &World, repo: &Repo, pull: &Pull) -> Value {
    let url = format!("{}/repos/{}", world.url, repo.name);
    let html = format!("https://github.com/{}/pull/{}", repo.name, pull.number);
    let n = pull.number;
    let side = |name: &str, branch: &str, sha: &str| {
        let of = world.repos.get(&name.to_lowercase());
        let owner = name.split('/').next().unwrap_or_default();
        json!({
            "label": format!("{owner}:{branch}"),
            "ref": branch,
            "sha": world.history.spoken(sha),
            "user": self::owner(world, owner),
            "repo": of.map(|of| repository(world, of)),
        })
    };
    let links = json!({
        "self": { "href": format!("{url}/pulls/{n}") },
        "html": { "href": html },
        "issue": { "href": format!("{url}/issues/{n}") },
        "comments": { "href": format!("{url}/issues/{n}/comments") },
        "review_comments": { "href": format!("{url}/pulls/{n}/comments") },
        "review_comment": { "href": format!("{url}/pulls/comments{{/number}}") },
        "commits": { "href": format!("{url}/pulls/{n}/commits") },
        "statuses": { "href": format!("{url}/statuses/{}", pull.head_sha) },
    });
    json!({
        "id": id_of(&html),
        "node_id": format!("PR_{}", id_of(&html)),
        "number": n,
        "url": format!("{url}/pulls/{n}"),
        "html_url": html,
        "diff_url": format!("{html}.diff"),
        "patch_url": format!("{html}.patch"),
        "issue_url": format!("{url}/issues/{n}"),
        "commits_url": format!("{url}/pulls/{n}/commits"),
        "comments_url": format!("{url}/issues/{n}/comments"),
        "review_comments_url": format!("{url}/pulls/{n}/comments"),
        "review_comment_url": format!("{url}/pulls/comments{{/number}}"),
        "statuses_url": format!("{url}/statuses/{}", pull.head_sha),
        "state": if pull.state == PullState::Open { "open" } else { "closed" },
        "locked": false,
        "active_lock_reason": null,
        "title": pull.title,
        "user": user(world, &pull.author),
        "body": pull.body,
        "labels": labels(world, &pull.labels),
        "milestone": null,
        "assignee": null,
        "assignees": [],
        "requested_reviewers": [],
        "requested_teams": [],
        "created_at": pull.created_at,
        "updated_at": pull.updated_at,
        "closed_at": if pull.state == PullState::Open { None } else { Some(&pull.updated_at) },
        "merged_at": pull.merged_at,
        "merge_commit_sha": pull.merge_commit,
        "draft": pull.draft,
        "head": side(&pull.head_repo, &pull.head_ref, &pull.head_sha),
        "base": side(&repo.name, &pull.base_ref, &pull.base_sha),
        "author_association": association(world, &pull.author),
        "auto_merge": null,
        "_links": links,
    })
}

/// A pull request as an issue.
pub fn issue(world: &World, repo: &Repo, pull: &Pull) -> Value {
    let url = format!("{}/repos/{}", world.url, repo.name);
    let html = format!("https://github.com/{}/pull/{}", repo.name, pull.number);
    let n = pull.number;
    let comments = world.comments_on(n, CommentKind::IssueComment).len();
    json!({
        "id": id_of(&format!("{html}#issue")),
        "node_id": format!("PR_{}", id_of(&html)),
        "number": n,
        "url": format!("{url}/issues/{n}"),
        "repository_url": url,
        "labels_url": format!("{url}/issues/{n}/labels{{/name}}"),
        "comments_url": format!("{url}/issues/{n}/comments"),
        "events_url": format!("{url}/issues/{n}/events"),
        "html_url": html,
        "title": pull.title,
        "user": user(world, &pull.author),
        "labels": labels(world, &pull.labels),
        "state": if pull.state == PullState::Open { "open" } else { "closed" },
        "state_reason": null,
        "locked": false,
        "active_lock_reason": null,
        "assignee": null,
        "assignees": [],
        "milestone": null,
        "comments": if repo.own { comments } else { 0 },
        "created_at": pull.created_at,
        "updated_at": pull.updated_at,
        "closed_at": if pull.state == PullState::Open { None } else { Some(&pull.updated_at) },
        "author_association": association(world, &pull.author),
        "body": pull.body,
        "draft": pull.draft,
        "pull_request": {
            "url": format!("{url}/pulls/{n}"),
            "html_url": html,
            "diff_url": format!("{html}.diff"),
            "patch_url": format!("{html}.patch"),
            "merged_at": pull.merged_at,
        },
        "performed_via_github_app": null,
    })
}

fn labels(world: &World, names: &[String]) -> Value {
    names
        .iter()
        .map(|name| {
            json!({
                "id": id_of(name),
                "node_id": format!("LA_{}", id_of(name)),
                "url": format!("{}/repos/{}/labels/{name}", world.url, world.case.spec.repository),
                "name": name,
                "description": "",
                "color": "ededed",
                "default": false,
            })
        })
        .collect()
}

/// What GitHub calls an account's relation to the repository.
pub fn association(world: &World, login: &str) -> String {
    let found = person(world, login).map(|(_, person)| person);
    let person = found.unwrap_or_default();
    if let Some(stated) = person.association {
        return stated.to_uppercase();
    }
    match person.role.as_deref() {
        Some("admin") => "MEMBER",
        Some("maintain" | "write" | "triage") => "COLLABORATOR",
        _ if !person.teams.is_empty() => "MEMBER",
        _ if login.eq_ignore_ascii_case(&world.case.spec.pull_request.author) => "CONTRIBUTOR",
        _ => "NONE",
    }
    .to_owned()
}

/// A comment or review.
pub fn comment(world: &World, comment: &Comment) -> Value {
    let repo = world.own();
    let n = comment.pull;
    let url = format!("{}/repos/{}", world.url, repo.name);
    let html = format!("https://github.com/{}/pull/{n}", repo.name);
    let id = comment.id;
    let mut value = json!({
        "id": id,
        "node_id": node_id(comment),
        "user": user(world, &comment.author),
        "body": comment.body,
        "author_association": association(world, &comment.author),
    });
    let commit = world.history.spoken(&comment.commit);
    let more = match comment.kind {
        CommentKind::IssueComment => json!({
            "url": format!("{url}/issues/comments/{id}"),
            "html_url": format!("{html}#issuecomment-{id}"),
            "issue_url": format!("{url}/issues/{n}"),
            "created_at": comment.created_at,
            "updated_at": comment.updated_at,
            "performed_via_github_app": comment.app.as_deref().map(|slug| app(world, slug)),
            "reactions": reactions(&format!("{url}/issues/comments/{id}/reactions")),
        }),
        CommentKind::Review => json!({
            "html_url": format!("{html}#pullrequestreview-{id}"),
            "pull_request_url": format!("{url}/pulls/{n}"),
            "state": comment.state,
            "commit_id": commit,
            "submitted_at": if comment.state == "PENDING" { None } else { Some(&comment.created_at) },
            "_links": {
                "html": { "href": format!("{html}#pullrequestreview-{id}") },
                "pull_request": { "href": format!("{url}/pulls/{n}") },
            },
        }),
        CommentKind::ReviewComment => json!({
            "url": format!("{url}/pulls/comments/{id}"),
            "html_url": format!("{html}#discussion_r{id}"),
            "pull_request_url": format!("{url}/pulls/{n}"),
            "pull_request_review_id": null,
            "diff_hunk": "@@ -1 +1 @@",
            "path": comment.path,
            "position": comment.line,
            "original_position": comment.line,
            "line": comment.line,
            "original_line": comment.line,
            "side": "RIGHT",
            "start_line": null,
            "original_start_line": null,
            "start_side": null,
            "subject_type": if comment.line.is_some() { "line" } else { "file" },
            "commit_id": commit,
            "original_commit_id": commit,
            "created_at": comment.created_at,
            "updated_at": comment.updated_at,
            "reactions": reactions(&format!("{url}/pulls/comments/{id}/reactions")),
            "_links": {
                "self": { "href": format!("{url}/pulls/comments/{id}") },
                "html": { "href": format!("{html}#discussion_r{id}") },
                "pull_request": { "href": format!("{url}/pulls/{n}") },
            },
        }),
    };
    if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
        value.extend(more);
    }
    value
}

/// The GraphQL id of a comment.
pub fn node_id(comment: &Comment) -> String {
    let kind = match comment.kind {
        CommentKind::IssueComment => "IC",
        CommentKind::Review => "PRR",
        CommentKind::ReviewComment => "PRRC",
    };
    format!("{kind}_{}", comment.id)
}

fn reactions(url: &str) -> Value {
    json!({
        "url": url, "total_count": 0, "+1": 0, "-1": 0, "laugh": 0, "hooray": 0,
        "confused": 0, "heart": 0, "rocket": 0, "eyes": 0,
    })
}

/// A commit.
pub fn commit(world: &World, repo: &Repo, commit: &Commit) -> Value {
    let url = format!("{}/repos/{}", world.url, repo.name);
    let html = format!("https://github.com/{}", repo.name);
    let sha = world.history.spoken(&commit.sha);
    let author =
        if repo.own { user(world, &world.case.spec.pull_request.author) } else { Value::Null };
    let signature =
        |of: &Signature| json!({ "name": of.name, "email": of.email, "date": rfc3339(of.date) });
    let parents: Vec<Value> = commit
        .parents
        .iter()
        .map(|parent| world.history.spoken(parent))
        .map(|parent| {
            json!({
                "sha": parent,
                "url": format!("{url}/commits/{parent}"),
                "html_url": format!("{html}/commit/{parent}"),
            })
        })
        .collect();
    json!({
        "sha": sha,
        "node_id": format!("C_{sha}"),
        "url": format!("{url}/commits/{sha}"),
        "html_url": format!("{html}/commit/{sha}"),
        "comments_url": format!("{url}/commits/{sha}/comments"),
        "commit": {
            "author": signature(&commit.author),
            "committer": signature(&commit.committer),
            "message": commit.message,
            "tree": { "sha": commit.tree, "url": format!("{url}/git/trees/{}", commit.tree) },
            "url": format!("{url}/git/commits/{sha}"),
            "comment_count": 0,
            "verification": {
                "verified": false, "reason": "unsigned", "signature": null, "payload": null,
                "verified_at": null,
            },
        },
        "author": author,
        "committer": author,
        "parents": parents,
    })
}

/// A changed file.
pub fn file(world: &World, repo: &Repo, commit: &str, change: &FileChange) -> Value {
    let path = &change.path;
    let html = format!("https://github.com/{}", repo.name);
    let mut value = json!({
        "sha": change.blob,
        "filename": path,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "blob_url": format!("{html}/blob/{commit}/{path}"),
        "raw_url": format!("{html}/raw/{commit}/{path}"),
        "contents_url": format!("{}/repos/{}/contents/{path}?ref={commit}", world.url, repo.name),
    });
    if let Value::Object(fields) = &mut value {
        if let Some(previous) = &change.previous {
            fields.insert("previous_filename".to_owned(), json!(previous));
        }
        if let Some(patch) = &change.patch {
            fields.insert("patch".to_owned(), json!(patch));
        }
    }
    value
}
