//! A delivery's meaning: bytes become a small [`Event`] at the door, and no type of GitHub's API goes
//! further. Fields that are not named here are passed over, and so is what they hold.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, IgnoredAny};

use crate::facts::SignOffKind;
use crate::limits::DELIVERY_NAME_BYTES;
use crate::profile::{ReuseSettings, Settings};
use crate::publish::VERIFY_AGAIN;
use crate::signoff;
use crate::store::{Ask, NewJob, PullKey, SignOffRef, Trigger};

use payload::{
    Account, CheckRunPayload, CheckSuitePayload, MergeGroupPayload, OnIssue, OnPull, Posted,
    PullRequest, Repository, Status,
};

/// Which deliveries mean something.
#[derive(Debug, Clone, Default)]
pub struct Watched {
    /// Our App's number; what it did itself is nobody's wish.
    pub app_id: Option<u64>,
    /// By `owner/name` in lower case.
    repositories: BTreeMap<String, Words>,
}

/// What counts in the comments of one repository.
#[derive(Debug, Clone)]
struct Words {
    /// Opens a sign-off.
    phrase: String,
    /// Commands that pin a run.
    reuse: Option<ReuseSettings>,
    /// The context of our commit status, where there is one.
    status_context: Option<String>,
}

impl Watched {
    /// No repository yet.
    pub fn new(app_id: Option<u64>) -> Self {
        Self { app_id, repositories: BTreeMap::new() }
    }

    /// Watches a repository (`owner/name`) that works by this profile.
    pub fn add(&mut self, repository: &str, settings: &Settings) {
        let words = Words {
            phrase: settings.signoff.phrase.clone(),
            reuse: settings.reuse.clone(),
            status_context: settings.check_run.status_context.clone(),
        };
        self.repositories.insert(repository.to_ascii_lowercase(), words);
    }

    fn words(&self, repository: &Repository) -> Result<&Words, &'static str> {
        let words = self.repositories.get(&repository.full_name.to_ascii_lowercase());
        words.ok_or("the repository has no profile")
    }
}

impl Words {
    /// Whether a body holds a line that changes what the evidence is: a pinned run, an exception.
    fn commands(&self, body: &str) -> bool {
        let reuse = |settings: &ReuseSettings| !signoff::reuse_lines(body, settings).is_empty();
        // Nearly every comment has none, and is told from the others without being parsed.
        body.contains('/')
            && (self.reuse.as_ref().is_some_and(reuse) || !signoff::override_lines(body).is_empty())
    }
}

/// Whether a body asks for a verification in so many words.
fn asks_again(body: &str) -> bool {
    body.contains('/') && !signoff::verify_lines(body).is_empty()
}

/// What a delivery asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Something is to be looked at.
    Asks {
        /// `action` of the payload.
        action: String,
        /// What to do, by pull request; at least one.
        jobs: Vec<NewJob>,
    },
    /// Something of somebody else finished at a commit: evidence may have changed of what was assessed
    /// there.
    Finished {
        /// `action` of the payload, where it has one.
        action: Option<String>,
        /// `owner/name`.
        repository: String,
        /// 40 hex digits.
        commit: String,
        /// What happened to the pull requests that were assessed there.
        trigger: Trigger,
    },
    /// Nothing to do, and why.
    Nothing(&'static str),
}

/// A body that is not what GitHub documents for its event.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(#[from] serde_json::Error);

/// Reads a delivery.
///
/// # Errors
/// A body that is no JSON, or a known event whose fields are missing or of another type.
pub fn read(event: &str, body: &[u8], watched: &Watched) -> Result<Event, Malformed> {
    let meaning = match event {
        "issue_comment" => posted(event, parse::<OnIssue>(body)?.posted(), watched),
        "pull_request_review" => {
            posted(event, parse::<OnPull>(body)?.posted(SignOffKind::Review), watched)
        }
        "pull_request_review_comment" => {
            posted(event, parse::<OnPull>(body)?.posted(SignOffKind::ReviewComment), watched)
        }
        "pull_request" => pull_request(parse(body)?, watched),
        "check_run" => check_run(parse(body)?, watched),
        "check_suite" => check_suite(parse(body)?, watched),
        "merge_group" => merge_group(parse(body)?, watched),
        "status" => status(parse(body)?, watched),
        _ => {
            parse::<IgnoredAny>(body)?;
            Err(if event == "ping" { "ping" } else { "the event is not one that is followed" })
        }
    };
    Ok(meaning.unwrap_or_else(Event::Nothing))
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Malformed> {
    Ok(serde_json::from_slice(body)?)
}

/// What one delivery means, or why it means nothing.
type Meaning = Result<Event, &'static str>;

/// A comment or review that was posted, changed or taken away. What it said before counts as much as
/// what it says now: an edit can put a sign-off or a command in or take it out.
fn posted(event: &str, posted: Posted, watched: &Watched) -> Meaning {
    let pull = posted.pull.ok_or("not on a pull request")?;
    let (now, before) = match posted.action.as_str() {
        "created" | "submitted" => (posted.body.as_str(), ""),
        "edited" => (posted.body.as_str(), posted.old_body.as_str()),
        "deleted" | "dismissed" => ("", posted.body.as_str()),
        _ => return Err("the action changes no sign-off"),
    };
    let gone = matches!(posted.action.as_str(), "deleted" | "dismissed");
    let words = watched.words(&posted.repository)?;
    if posted.by_app.is_some() && posted.by_app == watched.app_id {
        return Err("our own");
    }
    if posted.withheld && !gone {
        return Err("the review is pending or dismissed");
    }
    let sender = person(posted.sender);
    let signoff = Some(SignOffRef { kind: posted.kind, id: posted.id });
    let (signs, signed) = (now.contains(&words.phrase), before.contains(&words.phrase));
    let conversation = posted.kind == SignOffKind::IssueComment;
    let commands = conversation && (words.commands(now) || words.commands(before));
    let again = asks_again(now) && !asks_again(before);
    if !(signs || signed || commands || again) {
        // Whoever talks does not ask; that bots do not either is worth saying.
        return Err(sender.err().unwrap_or("no sign-off and no command"));
    }

    let mut wishes = Vec::new();
    if signs || (signed && !gone) {
        // An edit of a sign-off that has a verdict is looked at, whoever made it.
        let whose = if signed { Ok(sender.clone().unwrap_or_default()) } else { sender.clone() };
        wishes.push((whose, signoff, Ask::Verify));
    }
    if signed && !signs {
        wishes.push((Ok(String::new()), signoff, Ask::Withdrawn));
    }
    if commands {
        // What was deleted was its author's word, whoever deleted it.
        let whose = if gone { person(posted.author) } else { sender.clone() };
        wishes.push(match whose {
            // A bot asks for nothing, but what it took out of a command no longer counts.
            Err(_) if words.commands(before) => (Ok(String::new()), None, Ask::Evidence),
            whose => (whose, None, Ask::Verify),
        });
    }
    if again {
        wishes.push((sender, None, Ask::Again));
    }
    let not_ready = pull.not_ready();
    let mut why_not = "no sign-off and no command";
    let mut triggers = Vec::new();
    for (whose, signoff, ask) in wishes {
        match (whose, not_ready) {
            (Err(why), _) => why_not = why,
            (Ok(_), Some(why)) if ask != Ask::Again => why_not = why,
            (Ok(actor), _) => triggers.push((actor, signoff, ask)),
        }
    }
    if triggers.is_empty() {
        return Err(why_not);
    }
    let event = format!("{event}/{}", posted.action);
    let trigger = |(actor, signoff, ask)| Trigger { actor, event: event.clone(), signoff, ask };
    let triggers = triggers.into_iter().map(trigger).collect();
    asks(posted.action, posted.repository, [pull.number], triggers)
}

/// The head, the base or the state of a pull request.
fn pull_request(payload: PullRequest, watched: &Watched) -> Meaning {
    let retargeted = payload.changes.is_some_and(|changes| changes.base.is_some());
    match payload.action.as_str() {
        "opened" | "reopened" | "ready_for_review" | "synchronize" => {}
        "edited" if retargeted => {}
        _ => return Err("the action changes neither head nor base"),
    }
    watched.words(&payload.repository)?;
    if let Some(why) = payload.pull_request.not_ready() {
        return Err(why);
    }
    // Whoever did it: a commit that a bot pushed needs its check run as well.
    let actor = person(payload.sender).unwrap_or_default();
    let event = format!("pull_request/{}", payload.action);
    let trigger = Trigger { actor, event, signoff: None, ask: Ask::Changed };
    asks(payload.action, payload.repository, [payload.pull_request.number], vec![trigger])
}

/// "Verify again", and GitHub's own Re-run. Its pull request is the one in our external id: the list
/// in the payload is empty for forks and can hold those of other repositories.
fn check_run(payload: CheckRunPayload, watched: &Watched) -> Meaning {
    let asked = match payload.action.as_str() {
        "rerequested" => true,
        "requested_action" => {
            payload.requested_action.is_some_and(|action| action.identifier == VERIFY_AGAIN)
        }
        _ => false,
    };
    if !asked {
        return Err("the action asks for nothing");
    }
    let app = payload.check_run.app.map(|app| app.id);
    if app.is_none() || app != watched.app_id {
        return Err("the check run of another app");
    }
    watched.words(&payload.repository)?;
    let external_id = payload.check_run.external_id.unwrap_or_default();
    let number = pull_number(&external_id, payload.repository.id)
        .ok_or("the check run names no pull request of this repository")?;
    let event = format!("check_run/{}", payload.action);
    let actor = person(payload.sender)?;
    let trigger = Trigger { actor, event, signoff: None, ask: Ask::Again };
    asks(payload.action, payload.repository, [number], vec![trigger])
}

/// "Re-run all checks" of a commit. A suite has no external id; of a fork's commit it lists no pull
/// request, and only the check run itself can be re-run there.
fn check_suite(payload: CheckSuitePayload, watched: &Watched) -> Meaning {
    let app = payload.check_suite.app.as_ref().map(|app| app.id);
    if payload.action == "completed" && app != watched.app_id {
        let commit = payload.check_suite.head_sha.unwrap_or_default();
        return finished("check_suite", Some(payload.action), payload.repository, commit, watched);
    }
    if payload.action != "rerequested" {
        return Err("the action asks for nothing");
    }
    if app.is_none() || app != watched.app_id {
        return Err("the check suite of another app");
    }
    watched.words(&payload.repository)?;
    let pulls = payload.check_suite.pull_requests;
    let numbers = pulls.iter().filter(|pull| pull.targets(&payload.repository));
    let numbers: Vec<i64> = numbers.map(|pull| pull.number).collect();
    let event = format!("check_suite/{}", payload.action);
    let actor = person(payload.sender)?;
    let trigger = Trigger { actor, event, signoff: None, ask: Ask::Again };
    asks(payload.action, payload.repository, numbers, vec![trigger])
}

/// A commit that the merge queue made: it is as good as the heads that are in it.
fn merge_group(payload: MergeGroupPayload, watched: &Watched) -> Meaning {
    if payload.action != "checks_requested" {
        return Err("the merge queue asks for nothing");
    }
    watched.words(&payload.repository)?;
    let group = payload.merge_group;
    let number = group.pull().ok_or("the merge group's branch names no pull request")?;
    if group.head_sha.len() != 40 || !group.head_sha.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err("the merge group's commit is none");
    }
    if group.branch().is_empty() || group.branch().len() > DELIVERY_NAME_BYTES {
        return Err("the merge group's branch is none");
    }
    let ask = Ask::Queued { branch: group.branch().to_owned(), commit: group.head_sha };
    let event = format!("merge_group/{}", payload.action);
    let trigger = Trigger { actor: String::new(), event, signoff: None, ask };
    asks(payload.action, payload.repository, [number], vec![trigger])
}

/// A commit status of somebody else.
fn status(payload: Status, watched: &Watched) -> Meaning {
    if payload.state == "pending" {
        return Err("the commit status is pending");
    }
    let words = watched.words(&payload.repository)?;
    if words.status_context.as_ref() == Some(&payload.context) {
        return Err("our own");
    }
    finished("status", None, payload.repository, payload.sha, watched)
}

fn finished(
    event: &str,
    action: Option<String>,
    repository: Repository,
    commit: String,
    watched: &Watched,
) -> Meaning {
    watched.words(&repository)?;
    if commit.len() != 40 || !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err("it names no commit");
    }
    let event = format!("{event}/{}", action.as_deref().unwrap_or("finished"));
    let trigger = Trigger { actor: String::new(), event, signoff: None, ask: Ask::Evidence };
    Ok(Event::Finished { action, repository: repository.full_name, commit, trigger })
}

fn asks(
    action: String,
    repository: Repository,
    numbers: impl IntoIterator<Item = i64>,
    triggers: Vec<Trigger>,
) -> Meaning {
    // In one order, so that two deliveries never wait for one another's rows.
    let mut numbers: Vec<i64> = numbers.into_iter().filter(|number| *number > 0).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let key = |number| PullKey { repository: repository.full_name.clone(), number };
    let job = |number| NewJob { key: key(number), triggers: triggers.clone() };
    let jobs: Vec<NewJob> = numbers.into_iter().map(job).collect();
    if jobs.is_empty() { Err("it names no pull request") } else { Ok(Event::Asks { action, jobs }) }
}

/// The pull request in `v1/<repository id>/<pull request>/<commit>/<n>`.
fn pull_number(external_id: &str, repository_id: Option<i64>) -> Option<i64> {
    let mut parts = external_id.split('/');
    let (version, repository, number) = (parts.next()?, parts.next()?, parts.next()?);
    let number = number.parse().ok().filter(|number| *number > 0)?;
    let ours = version == "v1" && repository.parse::<i64>().ok()? == repository_id?;
    (ours && parts.count() == 2).then_some(number)
}

/// The login, where a person acted. Bots start nothing: ours would answer itself, and others quote
/// sign-offs.
fn person(account: Option<Account>) -> Result<String, &'static str> {
    match account {
        None => Err("no sender"),
        Some(account) if account.kind.as_deref() == Some("Bot") => Err("a bot acted"),
        Some(account) if account.login.ends_with("[bot]") => Err("a bot acted"),
        // It is logged, stored and put into a route.
        Some(account) if !is_login(&account.login) => Err("the sender's login is none"),
        Some(account) => Ok(account.login),
    }
}

/// Letters, digits, `-` and `_` (accounts that an enterprise manages have one).
fn is_login(text: &str) -> bool {
    (1..=DELIVERY_NAME_BYTES).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

mod payload;
#[cfg(test)]
mod tests;
