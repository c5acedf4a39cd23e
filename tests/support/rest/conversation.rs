//! The conversation of a pull request: comments, read and written.

use super::super::answer::{Answer, Outcome, Request};
use super::super::spec::CommentKind;
use super::super::world::{Comment, Repo, World};
use super::{Access, number, shapes};

/// GitHub's cap on a body, in characters.
const BODY: usize = 65_536;

/// A comment on a pull request can be reached by either of two permissions.
pub fn may(access: &Access<'_>, method: &str) -> Result<(), Answer> {
    if method == "GET" {
        access.read("issues").or_else(|refusal| access.read("pull_requests").map_err(|_| refusal))
    } else {
        access.write("issues").or_else(|refusal| access.write("pull_requests").map_err(|_| refusal))
    }
}

/// `GET …/issues/{number}`.
pub fn issue(world: &World, repo: &Repo, text: &str) -> Outcome {
    let pull = repo.pulls.get(&number(text)?).ok_or_else(Answer::not_found)?;
    Answer::ok(&shapes::issue(world, repo, pull))
}

/// `GET …/pulls/comments/{id}`.
pub fn inline(world: &World, repo: &Repo, id: &str) -> Outcome {
    let comment = world
        .comments
        .get(&number(id)?)
        .filter(|comment| repo.own && comment.kind == CommentKind::ReviewComment);
    Answer::ok(&shapes::comment(world, comment.ok_or_else(Answer::not_found)?))
}

/// `…/issues/{number}/comments`: the list, and a new one.
pub fn comments(
    world: &mut World,
    request: &Request,
    method: &str,
    owner: &str,
    name: &str,
    text: &str,
) -> Outcome {
    let repo = world.repo(owner, name).ok_or_else(Answer::not_found)?;
    repo.pulls.get(&number(text)?).ok_or_else(Answer::not_found)?;
    match method {
        "GET" => {
            let comments = match repo.own {
                true => world.comments_on(number(text)?, CommentKind::IssueComment),
                false => Vec::new(),
            };
            since(world, request, comments)
        }
        "POST" => {
            let body = body_of(request)?;
            let (author, app) = request.identity.writes_as();
            let time = world.tick();
            let comment = Comment {
                id: world.next_id(),
                pull: number(text)?,
                author,
                kind: CommentKind::IssueComment,
                body,
                before: None,
                created_at: time.clone(),
                updated_at: time,
                edited: None,
                state: "COMMENTED".to_owned(),
                commit: world.pull_of(number(text)?).head_sha.clone(),
                path: None,
                line: None,
                app: app.map(str::to_owned),
            };
            let value = shapes::comment(world, &comment);
            world.comments.insert(comment.id, comment);
            Ok(Answer::json(201, &value))
        }
        _ => Err(Answer::not_found()),
    }
}

/// `…/issues/comments/{id}`: read, edit, delete.
pub fn comment(world: &mut World, request: &Request, method: &str, own: bool, id: &str) -> Outcome {
    let id = number(id)?;
    let found = world
        .comments
        .get(&id)
        .filter(|comment| own && comment.kind == CommentKind::IssueComment)
        .ok_or_else(Answer::not_found)?;
    match method {
        "GET" => Answer::ok(&shapes::comment(world, found)),
        "PATCH" => {
            let body = body_of(request)?;
            let (editor, _) = request.identity.writes_as();
            world.edit(id, &body, &editor).map_err(|_| Answer::not_found())?;
            Answer::ok(&shapes::comment(world, &world.comments[&id]))
        }
        "DELETE" => {
            world.delete(id).map_err(|_| Answer::not_found())?;
            Ok(Answer::empty(204))
        }
        _ => Err(Answer::not_found()),
    }
}

/// A page of comments, by id; only those updated at or after `since`, where it is asked for.
pub fn since(world: &World, request: &Request, mut comments: Vec<&Comment>) -> Outcome {
    if let Some(since) = request.parameter("since") {
        comments.retain(|comment| comment.updated_at >= since);
    }
    Answer::list(request, &comments, |comment| shapes::comment(world, comment))
}

fn body_of(request: &Request) -> Result<String, Answer> {
    let json = request.json()?;
    match json["body"].as_str() {
        None => Err(Answer::invalid("\"body\" wasn't supplied.")),
        Some(body) if body.trim().is_empty() => Err(Answer::invalid("Body can't be blank")),
        Some(body) if body.chars().count() > BODY => {
            Err(Answer::invalid("Body is too long (maximum is 65536 characters)"))
        }
        Some(body) => Ok(body.to_owned()),
    }
}
