//! The scope gate by itself, for a pull request on which nobody signed.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::{
    Assessment, Choice, Read, SCOPE, Target, VerifyError, discarded, posted, required, subject,
    unknown_scope,
};
use crate::evidence::{self, Context};
use crate::facts::{Cause, Fact, Scope};
use crate::rules::RuleSet;
use crate::signoff;
use crate::sources::{Reader, RepoName};
use crate::verdict::{self, Discarded, Tries};

/// What a pull request needs on which nobody signed.
#[derive(Debug)]
pub enum Gate {
    /// Nothing: the verdict that says so.
    NotRequired(Box<Assessment>),
    /// A sign-off.
    Required {
        /// Whose, and why.
        scope: Scope,
        /// What was probably meant to count and did not.
        discarded: Vec<Discarded>,
    },
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
    let context = Context::unsigned(reader, rules, signoffs, repo, number, &date);
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
        let reuse = rules.profile.settings.reuse.as_ref();
        let discarded = discarded::all(signoffs, reuse, &posted(reader, repo, number).await?, &[]);
        return Ok(Gate::Required { scope, discarded });
    }
    let head_now = reader.head_at_end(repo, number).await;
    let read = Read { pull, tips, date, newer_head: head_now.ok().flatten() };
    let subject = subject(&target, rules, &facts, &read, false);
    Ok(Gate::NotRequired(Box::new(Assessment {
        verdict: verdict::conclude(Vec::new(), subject, Tries::Last),
        facts,
        repository_id: read.tips.repository_id,
        private: read.tips.private,
    })))
}
