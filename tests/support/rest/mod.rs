//! GitHub's REST API: one table of routes, and a file for each part of it.

mod actions;
mod app;
mod checks;
mod commits;
mod contents;
mod conversation;
mod people;
mod pulls;
pub mod shapes;

use super::answer::{Answer, Outcome, Request};
use super::auth::Identity;
use super::world::{Repo, World};

pub use self::actions::{jobs_of, run_value};
pub use self::app::installation;

/// A check run, whole: a job's, too.
pub fn check_run_value(world: &World, id: u64) -> Option<serde_json::Value> {
    match world.check_runs.get(&id) {
        Some(check) => Some(checks::value(world, check)),
        None => actions::job(world, &id.to_string()).ok().map(|job| checks::of_job(world, &job)),
    }
}

/// Answers a request of the API.
pub fn answer(world: &mut World, request: &Request) -> Outcome {
    let segments = request.segments();
    let path: Vec<&str> = segments.iter().map(String::as_str).collect();
    let method = if request.method == "HEAD" { "GET" } else { request.method.as_str() };
    match (method, path.as_slice()) {
        ("GET", ["rate_limit"]) => app::rate_limit(world, request),
        ("GET", ["user"]) => people::me(world, request),
        ("GET", ["users", login]) => people::user(world, login),
        (_, ["app", ..] | ["installation", ..] | ["users" | "orgs", _, "installation"]) => {
            app::route(world, request, method, &path)
        }
        ("GET", ["orgs", org, "teams", rest @ ..]) => people::team(world, request, org, rest),
        ("GET", ["repos", owner, name, "installation"]) => {
            request.identity.need_app()?;
            own(world, owner, name)?;
            Answer::ok(&app::installation(world))
        }
        (_, ["repos", owner, name, rest @ ..]) => {
            in_repository(world, request, method, owner, name, rest)
        }
        _ => Err(Answer::not_found()),
    }
}

/// The case's own repository, or 404.
fn own<'a>(world: &'a World, owner: &str, name: &str) -> Result<&'a Repo, Answer> {
    world.repo(owner, name).filter(|repo| repo.own).ok_or_else(Answer::not_found)
}

fn in_repository(
    world: &mut World,
    request: &Request,
    method: &str,
    owner: &str,
    name: &str,
    rest: &[&str],
) -> Outcome {
    let repo = world.repo(owner, name).ok_or_else(Answer::not_found)?;
    if request.identity == Identity::Nobody && repo.private {
        return Err(Answer::not_found());
    }
    let may = Access { request, own: repo.own };
    match (method, rest) {
        ("GET", []) => {
            may.read("metadata")?;
            Answer::ok(&shapes::repository(world, repo))
        }
        ("GET", ["pulls"]) => {
            may.read("pull_requests")?;
            pulls::list(world, request, repo)
        }
        ("GET", ["pulls", "comments", id]) => {
            may.read("pull_requests")?;
            conversation::inline(world, repo, id)
        }
        ("GET", ["pulls", number, rest @ ..]) => {
            may.read("pull_requests")?;
            pulls::one(world, request, repo, number, rest)
        }
        ("GET", ["commits", reference, "pulls"]) => {
            may.read("pull_requests")?;
            pulls::of_commit(world, request, repo, reference)
        }
        ("GET", ["issues", number]) => {
            may.read("issues").or_else(|_| may.read("pull_requests"))?;
            conversation::issue(world, repo, number)
        }
        (_, ["issues", "comments", id]) => {
            conversation::may(&may, method)?;
            conversation::comment(world, request, method, repo.own, id)
        }
        (_, ["issues", number, "comments"]) => {
            conversation::may(&may, method)?;
            conversation::comments(world, request, method, owner, name, number)
        }
        ("GET", ["compare", range]) => {
            may.read("contents")?;
            commits::compare(world, request, repo, range)
        }
        ("GET", ["compare", range @ ..]) => {
            may.read("contents")?;
            commits::compare(world, request, repo, &range.join("/"))
        }
        ("GET", ["commits"]) => {
            may.read("contents")?;
            commits::list(world, request, repo)
        }
        ("GET", ["commits", reference @ .., "check-runs"]) => {
            may.read("checks")?;
            checks::of_commit(world, request, repo, &reference.join("/"))
        }
        ("GET", ["commits", reference @ .., "statuses"]) => {
            may.read("statuses")?;
            checks::statuses(world, request, repo, &reference.join("/"))
        }
        ("GET", ["commits", reference @ .., "status"]) => {
            may.read("statuses")?;
            checks::combined_status(world, repo, &reference.join("/"))
        }
        ("GET", ["commits", reference @ ..]) => {
            may.read("contents")?;
            commits::one(world, request, repo, &reference.join("/"))
        }
        ("POST", ["statuses", sha]) => {
            may.write("statuses")?;
            checks::create_status(world, request, sha)
        }
        ("GET", ["contents", path @ ..]) => {
            may.read("contents")?;
            contents::contents(world, request, repo, &path.join("/"))
        }
        ("GET", ["git" | "branches" | "codeowners", ..]) => {
            may.read("contents")?;
            contents::route(world, request, repo, rest)
        }
        ("GET", ["rules", "branches", branch @ ..]) => {
            may.own_read("metadata")?;
            app::branch_rules(world, &branch.join("/"))
        }
        ("GET", ["collaborators", login, "permission"]) => {
            may.own_read("metadata")?;
            people::permission(world, login)
        }
        ("GET", ["actions", rest @ ..]) => {
            may.own_read("actions")?;
            actions::route(world, request, rest)
        }
        ("POST", ["check-runs"]) => {
            may.write("checks")?;
            checks::create(world, request)
        }
        ("PATCH", ["check-runs", id]) => {
            may.write("checks")?;
            checks::update(world, request, id)
        }
        ("GET", ["check-runs", id, rest @ ..]) => {
            may.own_read("checks")?;
            checks::one(world, request, id, rest)
        }
        _ => Err(Answer::not_found()),
    }
}

/// What a request may do in one repository. Other repositories are public: anybody reads them,
/// nobody writes.
struct Access<'a> {
    request: &'a Request,
    own: bool,
}

impl Access<'_> {
    /// Stricter than GitHub in one thing: nobody reads the case's own repository, public or not,
    /// so that a request that lost its token is noticed.
    fn read(&self, permission: &str) -> Result<(), Answer> {
        if self.own { self.request.identity.need(permission, false) } else { Ok(()) }
    }

    fn own_read(&self, permission: &str) -> Result<(), Answer> {
        if self.own { self.read(permission) } else { Err(Answer::not_found()) }
    }

    fn write(&self, permission: &str) -> Result<(), Answer> {
        if self.own {
            self.request.identity.need(permission, true)
        } else {
            Err(Answer::message(403, "Resource not accessible by integration"))
        }
    }
}

/// A number in a path, or 404.
fn number(text: &str) -> Result<u64, Answer> {
    text.parse().map_err(|_| Answer::not_found())
}
