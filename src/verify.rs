//! The whole job in one short way: resolve → gather → evaluate → conclude.

mod discarded;
mod gate;
mod invitation;
mod rights;

use chrono::{DateTime, SecondsFormat, Utc};

use crate::evidence::{self, Context};
use crate::facts::{Cause, FACT_NAMES, Facts, Missing, SignOffKind};
use crate::rules::{RuleSet, evaluate};
use crate::signoff;
use crate::sources::types::{Posted, Pull, Tips};
use crate::sources::{ReadError, Reader, RepoName};
use crate::verdict::{self, Discarded, Inputs, SignedBy, Subject, Tries, Verdict};

pub use gate::{Gate, gate};
pub use invitation::invitation;
pub use rights::may_trigger;

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
    /// Whether every fact is gathered, also those that no rule asks for.
    pub every_fact: bool,
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
        /// What was probably meant to count, and why it does not; newest first.
        near: Vec<Discarded>,
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

/// The standing sign-offs of a pull request, oldest first, and the comments that were probably meant
/// as one.
///
/// # Errors
/// Where the comments cannot be read.
pub async fn standing(
    reader: &Reader,
    signoffs: &signoff::Reader,
    repo: &RepoName,
    number: i64,
) -> Result<(Vec<Posted>, Vec<Discarded>), ReadError> {
    let posted = posted(reader, repo, number).await?;
    let near = posted.iter().filter_map(|posted| discarded::signoff(signoffs, posted)).collect();
    let found = posted.into_iter().filter(|posted| discarded::counts(signoffs, posted)).collect();
    Ok((found, near))
}

/// Finds the sign-off that is meant, among everything that was posted.
async fn resolve(
    reader: &Reader,
    signoffs: &signoff::Reader,
    target: &Target,
) -> Result<(Option<Posted>, Vec<Posted>), VerifyError> {
    match &target.signoff {
        Choice::None => Ok((None, Vec::new())),
        Choice::Text { body, author } => {
            let local = Posted::local(body, author);
            match discarded::why_no_signoff(signoffs, &local) {
                None => Ok((Some(local), Vec::new())),
                Some(why) => {
                    Err(VerifyError::NotASignOff { url: "the given text".to_owned(), why })
                }
            }
        }
        Choice::Newest => {
            let all = posted(reader, &target.repo, target.number).await?;
            let newest = all.iter().rfind(|posted| discarded::counts(signoffs, posted)).cloned();
            Ok((newest, all))
        }
        Choice::This(kind, id) => {
            let all = posted(reader, &target.repo, target.number).await?;
            let this = all.iter().find(|posted| posted.kind == *kind && posted.id == *id);
            let this = this.ok_or_else(|| VerifyError::NoSuchComment {
                what: format!("{} {id}", kind.as_str()),
                repo: target.repo.clone(),
                number: target.number,
            })?;
            match discarded::why_no_signoff(signoffs, this) {
                None => Ok((Some(this.clone()), all)),
                Some(why) => Err(VerifyError::NotASignOff { url: this.html_url.clone(), why }),
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
    let ((posted, heard), pull, tips) =
        (resolved?, required(pull?, target)?, required(tips?, target)?);

    let wanted = match options.every_fact {
        true => FACT_NAMES.iter().copied().collect(),
        false => rules.facts_needed(options.only.as_deref()),
    };
    let context = Context {
        reader,
        profile: &rules.profile,
        tables: &rules.tables,
        signoffs,
        repo: &target.repo,
        number: target.number,
        posted: posted.as_ref(),
        no_signoff: Missing::offline("the sign-off"),
        date: &date,
    };
    let facts = evidence::gather(&context, &wanted).await;
    let head_now = reader.head_at_end(&target.repo, target.number).await;

    let discarded = discarded::all(
        signoffs,
        rules.profile.settings.reuse.as_ref(),
        &heard,
        facts.overrides.known().map(Vec::as_slice).unwrap_or_default(),
    );
    let required = facts.owners.known().is_none_or(|owners| owners.scope.required);
    if posted.is_none() && required && !matches!(target.signoff, Choice::None) {
        // Where it is not known whether a sign-off is needed, nothing may be concluded from its
        // absence; where CODEOWNERS itself is at fault, one is needed: the gate fails closed.
        if let Some(missing) = facts.owners.missing().filter(|m| m.cause != Cause::Submission) {
            return Err(unknown_scope(missing).into());
        }
        let (repo, number) = (target.repo.clone(), target.number);
        return Err(VerifyError::NoSignOff { repo, number, near: discarded });
    }
    let only = options.only.as_deref();
    let rows = if required { evaluate(rules, &facts, only) } else { Vec::new() };
    let read = Read { pull, tips, date, newer_head: head_now.ok().flatten() };
    let mut subject = subject(target, rules, &facts, &read, required);
    subject.signoff = posted.as_ref().map(|posted| signed_by(posted, signoffs));
    subject.inputs.signoff_body = posted.as_ref().map(|posted| body_digest(&posted.body));
    subject.discarded = discarded;
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

/// What is concluded about, where there is no sign-off. Its evidence is the scope's alone: where none is
/// required, no rule is evaluated.
fn subject(
    target: &Target,
    rules: &RuleSet,
    facts: &Facts,
    read: &Read,
    required: bool,
) -> Subject {
    let head = &read.pull.head_sha;
    Subject {
        repository: target.repo.to_string(),
        pull_request: target.number,
        required,
        signoff: None,
        inputs: Inputs {
            head: head.clone(),
            base: match read.pull.merged {
                true => read.pull.base_sha.clone(),
                false => read.tips.base_sha.clone().unwrap_or_default(),
            },
            newer_head: read.newer_head.clone().filter(|newer| newer != head),
            signoff_body: None,
            runs: if required { runs(facts) } else { Vec::new() },
            upstream: Vec::new(),
            date: read.date.clone(),
        },
        profile: rules.profile.settings.name.clone(),
        rules_digest: rules.digest.clone(),
        evidence_digest: format!("sha256:{}", facts.digest([SCOPE])),
        partial: false,
        changed: facts.changes.known().map(|changes| changes.sentence.clone()),
        discarded: Vec::new(),
    }
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

/// `sha256:` of a sign-off's text, as a verdict keeps it.
pub(crate) fn body_digest(body: &str) -> String {
    format!("sha256:{}", crate::facts::sha256_hex(body.as_bytes()))
}

fn signed_by(posted: &Posted, signoffs: &signoff::Reader) -> SignedBy {
    let place = signoff::Place::Comment { url: String::new() };
    SignedBy {
        claims: signoffs.parse(&posted.body, &place).ok().map(|parsed| parsed.claims()),
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
