//! The greeting of a pull request that needs a sign-off, before anybody has signed.

use crate::evidence::{self, Context};
use crate::facts::{Cause, Missing};
use crate::rules::RuleSet;
use crate::signoff;
use crate::sources::{ReadError, Reader, RepoName};
use crate::verdict::greeting;

/// The greeting of a pull request as it would be posted, once. `None` where the profile has none, where
/// the pull request needs no sign-off, and where the repository lacks what a greeting would speak of
/// (its checklist, its CODEOWNERS file): that is for its maintainers to hear, not for contributors.
///
/// # Errors
/// Where something could not be read through a fault of ours or GitHub's.
pub async fn invitation(
    reader: &Reader,
    rules: &RuleSet,
    signoffs: &signoff::Reader,
    repo: &RepoName,
    number: i64,
) -> Result<Option<String>, ReadError> {
    let Some(words) = &rules.profile.greeting else { return Ok(None) };
    // Nothing that a greeting speaks of depends on the date.
    let context = Context::unsigned(reader, rules, signoffs, repo, number, "");
    match evidence::guide(&context).await {
        Ok(guide) => Ok(guide.map(|guide| greeting(words, &guide))),
        Err(missing) if missing.cause == Cause::Submission => {
            tracing::warn!(repository = %repo, number, why = missing.reason, "no greeting");
            Ok(None)
        }
        Err(missing) => Err(unread(missing)),
    }
}

fn unread(missing: Missing) -> ReadError {
    let what = "what a greeting speaks of".to_owned();
    match missing.retry_at {
        Some(until) => ReadError::RateLimited { what, until },
        None => ReadError::Unavailable { what, reason: missing.reason },
    }
}
