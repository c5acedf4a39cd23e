//! A delivery's meaning: bytes become a small [`Event`] at the door, and no type of GitHub's API goes
//! further. Fields that are not named here are passed over, and so is what they hold.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::facts::SignOffKind;
use crate::limits::DELIVERY_NAME_BYTES;
use crate::publish::VERIFY_AGAIN;
use crate::store::{NewJob, PullKey, SignOffRef, Trigger};

/// Which deliveries mean something.
#[derive(Debug, Clone, Default)]
pub struct Watched {
    /// Our App's number; what it did itself is nobody's wish.
    pub app_id: Option<u64>,
    /// The phrase that opens a sign-off, by `owner/name` in lower case.
    phrases: BTreeMap<String, String>,
}

impl Watched {
    /// No repository yet.
    pub fn new(app_id: Option<u64>) -> Self {
        Self { app_id, phrases: BTreeMap::new() }
    }

    /// Watches a repository (`owner/name`) whose sign-offs open with the phrase.
    pub fn add(&mut self, repository: &str, phrase: &str) {
        self.phrases.insert(repository.to_ascii_lowercase(), phrase.to_owned());
    }

    fn phrase(&self, repository: &str) -> Option<&str> {
        self.phrases.get(&repository.to_ascii_lowercase()).map(String::as_str)
    }
}

/// What a delivery asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Somebody asks for a verification.
    Asks {
        /// `action` of the payload.
        action: String,
        /// What to do; one trigger.
        job: NewJob,
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
    Ok(match event {
        "issue_comment" => posted(event, parse::<IssueComment>(body)?.into(), watched),
        "pull_request_review" => posted(event, parse::<Review>(body)?.into(), watched),
        "pull_request_review_comment" => {
            posted(event, parse::<ReviewComment>(body)?.into(), watched)
        }
        "check_run" => check_run(parse(body)?, watched),
        "ping" => {
            parse::<IgnoredAny>(body)?;
            Event::Nothing("ping")
        }
        _ => {
            parse::<IgnoredAny>(body)?;
            Event::Nothing("the event is not one that starts a verification")
        }
    })
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Malformed> {
    Ok(serde_json::from_slice(body)?)
}

/// A comment or review, whatever its event.
struct Posted {
    kind: SignOffKind,
    id: i64,
    action: String,
    body: String,
    old_body: String,
    by_app: Option<u64>,
    withdrawn: bool,
    pull: Option<Pull>,
    repository: Repository,
    sender: Option<Account>,
}

/// A sign-off that was posted or changed; an edit counts where it puts the phrase in or takes it out.
fn posted(event: &str, posted: Posted, watched: &Watched) -> Event {
    let Some(pull) = posted.pull else { return Event::Nothing("not on a pull request") };
    if !matches!(posted.action.as_str(), "created" | "submitted" | "edited") {
        return Event::Nothing("the action changes no sign-off");
    }
    let Some(phrase) = watched.phrase(&posted.repository.full_name) else {
        return Event::Nothing("the repository has no profile");
    };
    let sender = match person(posted.sender) {
        Ok(sender) => sender,
        Err(why) => return Event::Nothing(why),
    };
    if posted.by_app.is_some() && posted.by_app == watched.app_id {
        return Event::Nothing("our own");
    }
    if posted.withdrawn {
        return Event::Nothing("the review is pending or dismissed");
    }
    if !posted.body.contains(phrase) && !posted.old_body.contains(phrase) {
        return Event::Nothing("no sign-off");
    }
    if let Some(why) = pull.not_ready() {
        return Event::Nothing(why);
    }
    if pull.number < 1 {
        return Event::Nothing("the pull request's number is none");
    }
    let trigger = Trigger {
        actor: sender,
        event: format!("{event}/{}", posted.action),
        signoff: Some(SignOffRef { kind: posted.kind, id: posted.id }),
    };
    asks(posted.action, posted.repository, pull.number, trigger)
}

/// "Verify again", and GitHub's own Re-run. Its pull request is the one in our external id: the list
/// in the payload is empty for forks and can hold those of other repositories.
fn check_run(payload: CheckRunPayload, watched: &Watched) -> Event {
    let asked = match payload.action.as_str() {
        "rerequested" => true,
        "requested_action" => {
            payload.requested_action.is_some_and(|action| action.identifier == VERIFY_AGAIN)
        }
        _ => false,
    };
    if !asked {
        return Event::Nothing("the action asks for nothing");
    }
    let app = payload.check_run.app.map(|app| app.id);
    if app.is_none() || app != watched.app_id {
        return Event::Nothing("the check run of another app");
    }
    if watched.phrase(&payload.repository.full_name).is_none() {
        return Event::Nothing("the repository has no profile");
    }
    let external_id = payload.check_run.external_id.unwrap_or_default();
    let Some(number) = pull_number(&external_id, payload.repository.id) else {
        return Event::Nothing("the check run names no pull request of this repository");
    };
    let sender = match person(payload.sender) {
        Ok(sender) => sender,
        Err(why) => return Event::Nothing(why),
    };
    let trigger =
        Trigger { actor: sender, event: format!("check_run/{}", payload.action), signoff: None };
    asks(payload.action, payload.repository, number, trigger)
}

fn asks(action: String, repository: Repository, number: i64, trigger: Trigger) -> Event {
    let key = PullKey { repository: repository.full_name, number };
    Event::Asks { action, job: NewJob { key, triggers: vec![trigger] } }
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

#[derive(Deserialize)]
struct Account {
    login: String,
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Repository {
    id: Option<i64>,
    full_name: String,
}

#[derive(Deserialize)]
struct AppRef {
    id: u64,
}

#[derive(Deserialize)]
struct Pull {
    number: i64,
    state: Option<String>,
    draft: Option<bool>,
}

impl Pull {
    /// The worker asks again; a payload can be old.
    fn not_ready(&self) -> Option<&'static str> {
        if self.state.as_deref() == Some("closed") {
            Some("the pull request is closed")
        } else if self.draft == Some(true) {
            Some("the pull request is a draft")
        } else {
            None
        }
    }
}

#[derive(Default, Deserialize)]
struct Changes {
    body: Option<OldBody>,
}

#[derive(Deserialize)]
struct OldBody {
    from: Option<String>,
}

fn old_body(changes: Option<Changes>) -> String {
    changes.and_then(|changes| changes.body?.from).unwrap_or_default()
}

#[derive(Deserialize)]
struct Comment {
    id: i64,
    body: Option<String>,
    performed_via_github_app: Option<AppRef>,
}

#[derive(Deserialize)]
struct IssueComment {
    action: String,
    issue: Issue,
    comment: Comment,
    changes: Option<Changes>,
    repository: Repository,
    sender: Option<Account>,
}

// No `serde(flatten)`: it would keep every field that is not named here, and bodies have up to 25 MiB.
#[derive(Deserialize)]
struct Issue {
    number: i64,
    state: Option<String>,
    draft: Option<bool>,
    pull_request: Option<IgnoredAny>,
}

impl Issue {
    fn pull(self) -> Option<Pull> {
        let Self { number, state, draft, pull_request } = self;
        pull_request.map(|_| Pull { number, state, draft })
    }
}

impl From<IssueComment> for Posted {
    fn from(payload: IssueComment) -> Self {
        Self {
            kind: SignOffKind::IssueComment,
            id: payload.comment.id,
            action: payload.action,
            body: payload.comment.body.unwrap_or_default(),
            old_body: old_body(payload.changes),
            by_app: payload.comment.performed_via_github_app.map(|app| app.id),
            withdrawn: false,
            pull: payload.issue.pull(),
            repository: payload.repository,
            sender: payload.sender,
        }
    }
}

#[derive(Deserialize)]
struct Review {
    action: String,
    review: ReviewBody,
    pull_request: Pull,
    changes: Option<Changes>,
    repository: Repository,
    sender: Option<Account>,
}

#[derive(Deserialize)]
struct ReviewBody {
    id: i64,
    body: Option<String>,
    state: Option<String>,
    performed_via_github_app: Option<AppRef>,
}

impl From<Review> for Posted {
    fn from(payload: Review) -> Self {
        let state = payload.review.state.unwrap_or_default().to_ascii_lowercase();
        Self {
            kind: SignOffKind::Review,
            id: payload.review.id,
            action: payload.action,
            body: payload.review.body.unwrap_or_default(),
            old_body: old_body(payload.changes),
            by_app: payload.review.performed_via_github_app.map(|app| app.id),
            withdrawn: matches!(state.as_str(), "pending" | "dismissed"),
            pull: Some(payload.pull_request),
            repository: payload.repository,
            sender: payload.sender,
        }
    }
}

#[derive(Deserialize)]
struct ReviewComment {
    action: String,
    comment: Comment,
    pull_request: Pull,
    changes: Option<Changes>,
    repository: Repository,
    sender: Option<Account>,
}

impl From<ReviewComment> for Posted {
    fn from(payload: ReviewComment) -> Self {
        Self {
            kind: SignOffKind::ReviewComment,
            id: payload.comment.id,
            action: payload.action,
            body: payload.comment.body.unwrap_or_default(),
            old_body: old_body(payload.changes),
            by_app: payload.comment.performed_via_github_app.map(|app| app.id),
            withdrawn: false,
            pull: Some(payload.pull_request),
            repository: payload.repository,
            sender: payload.sender,
        }
    }
}

#[derive(Deserialize)]
struct CheckRunPayload {
    action: String,
    check_run: CheckRun,
    requested_action: Option<RequestedAction>,
    repository: Repository,
    sender: Option<Account>,
}

#[derive(Deserialize)]
struct CheckRun {
    external_id: Option<String>,
    app: Option<AppRef>,
}

#[derive(Deserialize)]
struct RequestedAction {
    identifier: String,
}

#[cfg(test)]
mod tests;
