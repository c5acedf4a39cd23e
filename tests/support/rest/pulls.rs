//! Pull requests: themselves, their commits, files, reviews and inline comments.

use super::super::answer::{Answer, Outcome, Request};
use super::super::spec::{CommentKind, PullState};
use super::super::world::{Comment, Pull, Repo, World};
use super::{conversation, number, shapes};

/// GitHub lists at most so many commits and files of a pull request.
const COMMITS: usize = 250;
const FILES: usize = 3_000;

/// `GET …/pulls`.
pub fn list(world: &World, request: &Request, repo: &Repo) -> Outcome {
    let state = request.parameter("state").unwrap_or_else(|| "open".to_owned());
    let head = request.parameter("head");
    let base = request.parameter("base");
    let found: Vec<&Pull> = repo
        .pulls
        .values()
        .filter(|pull| {
            let open = pull.state == PullState::Open;
            let owner = pull.head_repo.split('/').next().unwrap_or_default();
            (state == "all" || (state == "open") == open)
                && head.as_ref().is_none_or(|head| *head == format!("{owner}:{}", pull.head_ref))
                && base.as_ref().is_none_or(|base| *base == pull.base_ref)
        })
        .collect();
    Answer::list(request, &found, |pull| shapes::pull_brief(world, repo, pull))
}

/// `GET …/commits/{sha}/pulls`.
pub fn of_commit(world: &World, request: &Request, repo: &Repo, reference: &str) -> Outcome {
    let sha = super::contents::commit_of(world, repo, reference)?;
    let found: Vec<&Pull> =
        repo.pulls.values().filter(|pull| world.pull_commits(pull).contains(&sha)).collect();
    Answer::list(request, &found, |pull| shapes::pull_brief(world, repo, pull))
}

/// `GET …/pulls/{number}` and what is below it.
pub fn one(world: &World, request: &Request, repo: &Repo, text: &str, rest: &[&str]) -> Outcome {
    let pull = repo.pulls.get(&number(text)?).ok_or_else(Answer::not_found)?;
    let of = |kind| -> Vec<&Comment> {
        if repo.own { world.comments_on(pull.number, kind) } else { Vec::new() }
    };
    match rest {
        [] => Answer::ok(&shapes::pull(world, repo, pull)),
        ["commits"] => {
            let mut commits = world.pull_commits(pull);
            commits.truncate(COMMITS);
            Answer::list(request, &commits, |sha| super::commits::brief(world, repo, sha))
        }
        ["files"] => {
            let changes = world
                .pull_changes(pull)
                .map_err(|error| Answer::message(422, &format!("{error:#}")))?;
            let shown = &changes[..changes.len().min(FILES)];
            Answer::list(request, shown, |change| shapes::file(world, repo, &pull.head_sha, change))
        }
        ["reviews"] => {
            let reviews = of(CommentKind::Review);
            Answer::list(request, &reviews, |review| shapes::comment(world, review))
        }
        ["reviews", id] => {
            let id = number(id)?;
            let reviews = of(CommentKind::Review);
            let review = reviews.iter().find(|review| review.id == id);
            Answer::ok(&shapes::comment(world, review.ok_or_else(Answer::not_found)?))
        }
        ["comments"] => {
            let comments = of(CommentKind::ReviewComment);
            conversation::since(world, request, comments)
        }
        _ => Err(Answer::not_found()),
    }
}
