//! The whole job in one short way: resolve → gather → evaluate → conclude.

use std::collections::BTreeSet;

use chrono::{DateTime, SecondsFormat, Utc};

use crate::evidence::{self, Context};
use crate::facts::{Cause, Fact, Facts, Missing, Scope, SignOffKind};
use crate::rules::{RuleSet, evaluate};
use crate::signoff::{self, NotASignOff};
use crate::sources::types::{Posted, Pull, Tips};
use crate::sources::{ReadError, Reader, RepoName};
use crate::verdict::{self, Inputs, SignedBy, Subject, Tries, Verdict};

/// What is to be assessed.
#[derive(Debug, Clone)]
pub struct Target {
    /// The repository.
    pub repo: RepoName,
    /// The pull request.
    pub number: i64,
    /// Which sign-off on it.
    pub signoff: Choice,
}

/// Which sign-off is meant.
#[derive(Debug, Clone)]
pub enum Choice {
    /// The newest one.
    Newest,
    /// This one.
    This(SignOffKind, i64),
    /// A text that nobody posted yet, and who would.
    Text {
        /// Its Markdown.
        body: String,
        /// The login that would post it.
        author: String,
    },
    /// None at all: a local run that only asks what the diff and the files say.
    None,
}

/// How it is assessed.
#[derive(Debug, Clone)]
pub struct Options {
    /// The time that the rules see.
    pub now: DateTime<Utc>,
    /// Ids of the only rules to evaluate; all of them where `None`.
    pub only: Option<Vec<String>>,
    /// What may still happen to a row that is undecided.
    pub tries: Tries,
}

/// What came of it.
#[derive(Debug)]
pub struct Assessment {
    /// The verdict.
    pub verdict: Verdict,
    /// What it was made from.
    pub facts: Facts,
    /// GitHub's id of the repository; 0 in local mode.
    pub repository_id: i64,
    /// Whether the repository is private.
    pub private: bool,
}

/// Why there is nothing to assess. Never a verdict.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// Nothing on the pull request is a sign-off.
    #[error("there is no sign-off on {repo}#{number}")]
    NoSignOff {
        /// The repository.
        repo: RepoName,
        /// The pull request.
        number: i64,
        /// What came near, and why it is none.
        near: Vec<NearMiss>,
    },
    /// The comment that was named is not there.
    #[error("{what} is not on {repo}#{number}: it was deleted, or it is on another pull request")]
    NoSuchComment {
        /// The comment, as its kind and id.
        what: String,
        /// The repository.
        repo: RepoName,
        /// The pull request.
        number: i64,
    },
    /// The comment that was named is no sign-off.
    #[error("{url} is not a sign-off: {why}")]
    NotASignOff {
        /// The comment.
        url: String,
        /// Why not, and what to do.
        why: String,
    },
    /// Something could not be read.
    #[error("{0}")]
    Read(#[from] ReadError),
}

/// A comment that came near, and why it is no sign-off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearMiss {
    /// Its page.
    pub url: String,
    /// Who wrote it.
    pub author: String,
    /// Why it is none.
    pub why: String,
}

/// Everything that a person could have posted as a sign-off, oldest first.
pub(crate) async fn posted(
    reader: &Reader,
    repo: &RepoName,
    number: i64,
) -> Result<Vec<Posted>, ReadError> {
    let (comments, reviews, inline) = futures_util::try_join!(
        reader.issue_comments(repo, number),
        reader.reviews(repo, number),
        reader.review_comments(repo, number),
    )?;
    let mut all: Vec<Posted> =
        [comments, reviews, inline].into_iter().flatten().flatten().collect();
    all.sort_by(|a, b| (&a.updated, a.kind, a.id).cmp(&(&b.updated, b.kind, b.id)));
    Ok(all)
}

/// Why a comment cannot be a sign-off whatever it says; `None` where it can.
fn unfit(posted: &Posted) -> Option<String> {
    if posted.app.is_some() || posted.author_is_bot {
        return Some("a bot or an app wrote it; only a person can sign".to_owned());
    }
    match posted.state.as_deref() {
        Some("DISMISSED") => Some("the review was dismissed".to_owned()),
        Some("PENDING") => Some("the review is not submitted yet".to_owned()),
        _ => None,
    }
}

fn recognise(signoffs: &signoff::Reader, body: &str) -> Result<(), NotASignOff> {
    let place = signoff::Place::Comment { url: String::new() };
    signoffs.parse(body, &place).map(drop)
}

/// Why it is none, and what to do about it.
fn in_words(not: &NotASignOff) -> String {
    match not.hint() {
        Some(hint) => format!("{not}; {hint}"),
        None => not.to_string(),
    }
}

/// The standing sign-offs of a pull request, oldest first, and what came near.
///
/// # Errors
/// Where the comments cannot be read.
pub async fn standing(
    reader: &Reader,
    signoffs: &signoff::Reader,
    repo: &RepoName,
    number: i64,
) -> Result<(Vec<Posted>, Vec<NearMiss>), ReadError> {
    let mut found = Vec::new();
    let mut near = Vec::new();
    for posted in posted(reader, repo, number).await? {
        match (recognise(signoffs, &posted.body), unfit(&posted)) {
            (Ok(()), None) => found.push(posted),
            (Ok(()), Some(why)) => near.push(near_miss(&posted, why)),
            (Err(not), _) if !not.speaks_of_one() => {}
            (Err(_), Some(why)) => near.push(near_miss(&posted, why)),
            (Err(not), None) => near.push(near_miss(&posted, in_words(&not))),
        }
    }
    Ok((found, near))
}

fn near_miss(posted: &Posted, why: String) -> NearMiss {
    NearMiss { url: posted.html_url.clone(), author: posted.author.clone(), why }
}

/// Finds the sign-off that is meant.
async fn resolve(
    reader: &Reader,
    signoffs: &signoff::Reader,
    target: &Target,
) -> Result<(Option<Posted>, Vec<NearMiss>), VerifyError> {
    match &target.signoff {
        Choice::None => Ok((None, Vec::new())),
        Choice::Text { body, author } => {
            recognise(signoffs, body).map_err(|not| VerifyError::NotASignOff {
                url: "the given text".to_owned(),
                why: in_words(&not),
            })?;
            Ok((Some(Posted::local(body, author)), Vec::new()))
        }
        Choice::Newest => {
            let (mut found, near) = standing(reader, signoffs, &target.repo, target.number).await?;
            Ok((found.pop(), near))
        }
        Choice::This(kind, id) => {
            let all = posted(reader, &target.repo, target.number).await?;
            let this = all.into_iter().find(|posted| posted.kind == *kind && posted.id == *id);
            let this = this.ok_or_else(|| VerifyError::NoSuchComment {
                what: format!("{} {id}", kind.as_str()),
                repo: target.repo.clone(),
                number: target.number,
            })?;
            let why = unfit(&this)
                .or_else(|| recognise(signoffs, &this.body).err().map(|not| in_words(&not)));
            match why {
                None => Ok((Some(this), Vec::new())),
                Some(why) => Err(VerifyError::NotASignOff { url: this.html_url, why }),
            }
        }
    }
}

/// Assesses one sign-off. Reads only.
///
/// # Errors
/// Where there is nothing to assess, or where not even the pull request can be read; a fact that
/// cannot be read is a row of the verdict, not an error.
pub async fn verify(
    reader: &Reader,
    rules: &RuleSet,
    signoffs: &signoff::Reader,
    target: &Target,
    options: &Options,
) -> Result<Assessment, VerifyError> {
    let date = options.now.format("%Y-%m-%d").to_string();
    // What every verdict needs is asked for at once with the comments; the facts share these reads.
    let pull = async { reader.pull(&target.repo, target.number).await.map_err(VerifyError::from) };
    let tips = async { reader.tips(&target.repo, target.number).await.map_err(VerifyError::from) };
    let commits = reader.pull_commits(&target.repo, target.number);
    let (resolved, pull, tips, _) =
        futures_util::join!(resolve(reader, signoffs, target), pull, tips, commits);
    let ((posted, near), pull, tips) =
        (resolved?, required(pull?, target)?, required(tips?, target)?);

    let wanted = rules.facts_needed(options.only.as_deref());
    let context = Context {
        reader,
        profile: &rules.profile,
        signoffs,
        repo: &target.repo,
        number: target.number,
        posted: posted.as_ref(),
        no_signoff: Missing::offline("the sign-off"),
        date: &date,
    };
    let facts = evidence::gather(&context, &wanted).await;
    let head_now = reader.head_at_end(&target.repo, target.number).await;

    let required = facts.owners.known().is_none_or(|owners| owners.scope.required);
    if posted.is_none() && required && !matches!(target.signoff, Choice::None) {
        // Where it is not known whether a sign-off is needed, nothing may be concluded from its
        // absence; where CODEOWNERS itself is at fault, one is needed: the gate fails closed.
        if let Some(missing) = facts.owners.missing().filter(|m| m.cause != Cause::Submission) {
            return Err(unknown_scope(missing).into());
        }
        let (repo, number) = (target.repo.clone(), target.number);
        return Err(VerifyError::NoSignOff { repo, number, near });
    }
    let only = options.only.as_deref();
    let rows = if required { evaluate(rules, &facts, only) } else { Vec::new() };
    let read = Read { pull, tips, date, newer_head: head_now.ok().flatten() };
    let mut subject = subject(target, rules, &facts, posted.as_ref(), &read, required);
    subject.partial = options.only.is_some();
    if required {
        subject.evidence_digest = format!("sha256:{}", facts.digest(wanted.iter().copied()));
    }
    Ok(Assessment {
        verdict: verdict::conclude(rows, subject, options.tries),
        facts,
        repository_id: read.tips.repository_id,
        private: read.tips.private,
    })
}

/// What was read of the pull request itself.
struct Read {
    pull: Pull,
    tips: Tips,
    date: String,
    newer_head: Option<String>,
}

/// What is concluded about. Its evidence is the scope's alone: where no sign-off is required, no rule
/// is evaluated.
fn subject(
    target: &Target,
    rules: &RuleSet,
    facts: &Facts,
    posted: Option<&Posted>,
    read: &Read,
    required: bool,
) -> Subject {
    let head = &read.pull.head_sha;
    Subject {
        repository: target.repo.to_string(),
        pull_request: target.number,
        required,
        signoff: posted.map(signed_by),
        inputs: Inputs {
            head: head.clone(),
            base: match read.pull.merged {
                true => read.pull.base_sha.clone(),
                false => read.tips.base_sha.clone().unwrap_or_default(),
            },
            newer_head: read.newer_head.clone().filter(|newer| newer != head),
            signoff_body: posted.map(|posted| digest_of(posted.body.as_bytes())),
            runs: if required { runs(facts) } else { Vec::new() },
            upstream: Vec::new(),
            date: read.date.clone(),
        },
        profile: rules.profile.settings.name.clone(),
        rules_digest: rules.digest.clone(),
        evidence_digest: format!("sha256:{}", facts.digest([SCOPE])),
        partial: false,
    }
}

/// What a pull request needs on which nobody signed.
#[derive(Debug)]
pub enum Gate {
    /// Nothing: the verdict that says so.
    NotRequired(Box<Assessment>),
    /// A sign-off.
    Required(Scope),
}

/// Asks the scope gate alone, for a pull request on which no sign-off stands. Where CODEOWNERS itself
/// is at fault, a sign-off is needed: the gate fails closed.
///
/// # Errors
/// Where it is not known whether a sign-off is needed; nothing may be concluded then.
pub async fn gate(
    reader: &Reader,
    rules: &RuleSet,
    signoffs: &signoff::Reader,
    repo: &RepoName,
    number: i64,
    now: DateTime<Utc>,
) -> Result<Gate, VerifyError> {
    let date = now.format("%Y-%m-%d").to_string();
    let target = Target { repo: repo.clone(), number, signoff: Choice::None };
    let (pull, tips) = futures_util::join!(reader.pull(repo, number), reader.tips(repo, number));
    let (pull, tips) = (required(pull?, &target)?, required(tips?, &target)?);
    let context = Context {
        reader,
        profile: &rules.profile,
        signoffs,
        repo,
        number,
        posted: None,
        no_signoff: Missing::submission("there is no sign-off"),
        date: &date,
    };
    let facts = evidence::gather(&context, &BTreeSet::from([SCOPE])).await;
    let scope = match &facts.owners {
        Fact::Known(owners) => owners.scope.clone(),
        Fact::Missing(missing) if missing.cause == Cause::Submission => Scope {
            required: true,
            remaining: Vec::new(),
            closed_because: Some(missing.reason.clone()),
        },
        Fact::Missing(missing) => return Err(unknown_scope(missing).into()),
    };
    if scope.required {
        return Ok(Gate::Required(scope));
    }
    let head_now = reader.head_at_end(repo, number).await;
    let read = Read { pull, tips, date, newer_head: head_now.ok().flatten() };
    let subject = subject(&target, rules, &facts, None, &read, false);
    Ok(Gate::NotRequired(Box::new(Assessment {
        verdict: verdict::conclude(Vec::new(), subject, Tries::Last),
        facts,
        repository_id: read.tips.repository_id,
        private: read.tips.private,
    })))
}

/// The fact that the scope gate stands in.
const SCOPE: &str = "owners";

fn unknown_scope(missing: &Missing) -> ReadError {
    ReadError::Unavailable {
        what: "the scope of the sign-off".to_owned(),
        reason: missing.reason.clone(),
    }
}

fn required<T>(found: Option<T>, target: &Target) -> Result<T, VerifyError> {
    found.ok_or_else(|| {
        ReadError::Unavailable {
            what: format!("pull {}#{}", target.repo, target.number),
            reason: "it does not exist, or we may not see it".to_owned(),
        }
        .into()
    })
}

fn digest_of(bytes: &[u8]) -> String {
    format!("sha256:{}", crate::facts::sha256_hex(bytes))
}

fn signed_by(posted: &Posted) -> SignedBy {
    SignedBy {
        author: posted.author.clone(),
        kind: posted.kind,
        url: (!posted.html_url.is_empty()).then(|| posted.html_url.clone()),
        id: posted.id,
    }
}

/// The runs that were read, by id: a later attempt of one may explain a different answer.
fn runs(facts: &Facts) -> Vec<String> {
    let commits = facts.sweep.known().map(|sweep| sweep.commits.as_slice()).unwrap_or_default();
    let runs = commits.iter().flat_map(|commit| &commit.runs);
    let mut runs: Vec<(i64, i64)> = runs.map(|run| (run.id, run.attempt)).collect();
    runs.sort_unstable();
    runs.iter().map(|(id, attempt)| format!("{id}/{attempt}")).collect()
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}#{}", self.repo, self.number)?;
        match &self.signoff {
            Choice::Newest => write!(f, " newest"),
            Choice::This(kind, id) => write!(f, " {}/{id}", kind.as_str()),
            Choice::Text { .. } => write!(f, " file"),
            Choice::None => write!(f, " without a sign-off"),
        }
    }
}

/// RFC 3339 in UTC with whole seconds.
pub fn rfc3339(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}
