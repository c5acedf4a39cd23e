//! What the queue holds.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::facts::SignOffKind;

/// One webhook delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// `X-GitHub-Delivery`; a redelivery carries the same one.
    pub guid: String,
    /// `X-GitHub-Event`.
    pub event: String,
    /// `action` of the payload.
    pub action: Option<String>,
    /// `owner/name`.
    pub repository: String,
    /// SHA-256 of the raw body, 64 hex digits.
    pub body_sha256: String,
    /// Unix milliseconds.
    pub received_at: i64,
}

/// What became of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepted {
    /// It is on disk, and so is its job.
    New,
    /// Its GUID was there already; nothing was written.
    Repeated {
        /// Whether the body is the one of the first time. GitHub never changes it.
        same_body: bool,
    },
}

/// The pull request that a job is about; jobs of one key never run side by side.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PullKey {
    /// `owner/name`, as GitHub spells it.
    pub repository: String,
    /// Its number.
    pub number: i64,
}

impl fmt::Display for PullKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.repository, self.number)
    }
}

/// A sign-off as GitHub addresses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignOffRef {
    /// How it was posted.
    pub kind: SignOffKind,
    /// GitHub's id.
    pub id: i64,
}

/// `kind/id`, as the marker of a verdict comment and the history spell it.
impl fmt::Display for SignOffRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind.as_str(), self.id)
    }
}

/// Something that happened to a pull request. Whether the actor may ask is the worker's business.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// Login of the account whose wish or word it is; empty where nobody's matters.
    pub actor: String,
    /// `event/action`, e.g. `issue_comment/created`.
    pub event: String,
    /// The sign-off it is about; `None` for all that stand.
    pub signoff: Option<SignOffRef>,
    /// What it means.
    #[serde(default)]
    pub ask: Ask,
}

/// What a trigger means for the pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// A sign-off or a command was posted or changed: a wish of the actor, who has to be allowed to
    /// have one, on a pull request that is open and no draft.
    #[default]
    Verify,
    /// A person asked for it in so many words: a wish of the actor, whatever the pull request's state.
    Again,
    /// Head, base or state of the pull request changed: everything that stands is looked at afresh,
    /// whoever did it.
    Changed,
    /// Something finished at the head that may be evidence: what was assessed there is looked at again,
    /// whoever did it.
    Evidence,
    /// A sign-off is no longer there: what it was worth goes, whoever did it.
    Withdrawn,
    /// The merge queue made a commit of it.
    Queued {
        /// The commit of the merge group, 40 hex digits.
        commit: String,
        /// The branch that the queue merges into.
        branch: String,
    },
}

/// A job to queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJob {
    /// The pull request.
    pub key: PullKey,
    /// Why.
    pub triggers: Vec<Trigger>,
}

/// One job where several may be given.
impl From<NewJob> for Vec<NewJob> {
    fn from(job: NewJob) -> Self {
        vec![job]
    }
}

/// A job that a worker holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Its row.
    pub id: i64,
    /// The pull request.
    pub key: PullKey,
    /// Why, in order of arrival, without repetitions.
    pub triggers: Vec<Trigger>,
    /// How often it was started since its newest trigger, this time included; a crash counts.
    pub attempts: i64,
    /// What [`super::Store::save_state`] kept; `null` at first.
    pub state: serde_json::Value,
    /// Rises with every start, so that a worker that lost the job cannot touch it any more.
    pub(super) claim: i64,
}

/// Appends those of `more` that `triggers` does not hold.
pub(super) fn merge(triggers: &mut Vec<Trigger>, more: Vec<Trigger>) {
    for trigger in more {
        if !triggers.contains(&trigger) {
            triggers.push(trigger);
        }
    }
}
