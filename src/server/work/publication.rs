//! What came of a job, told: check run, comments, history.

use chrono::Utc;
use serde::Deserialize;

use super::{Hindered, Verifications};
use crate::publish::{
    CheckRun, Conclusion, PublishError, Publisher, Standing, Subject, aggregate, standing_list,
};
use crate::server::telemetry;
use crate::sources::types::Posted;
use crate::store::{Job, VerdictRow};
use crate::verdict::{
    CheckOutput, CommentOptions, Outcome, Summary, Verdict, changed, check_output, comment_after,
};
use crate::verify::{self, Assessment};

use super::Loaded;

/// Where one verification is published, and by which profile.
pub(super) struct Publication<'a> {
    pub(super) publisher: &'a Publisher,
    pub(super) subject: &'a Subject,
    pub(super) loaded: &'a Loaded,
}

/// What is read back from a verdict that was kept.
#[derive(Deserialize)]
struct Earlier {
    verdict: Outcome,
    signoff: EarlierSignOff,
    rules_digest: String,
    evidence_digest: String,
    inputs: EarlierInputs,
}

#[derive(Deserialize)]
struct EarlierInputs {
    base: String,
    signoff_body: Option<String>,
}

#[derive(Deserialize)]
struct EarlierSignOff {
    author: String,
    url: Option<String>,
}

impl Verifications {
    /// The check run first, which is the gate; then the comments, which are the story; then what is
    /// remembered. While a try is left and something is undecided, only the check run says so.
    pub(super) async fn publish(
        &self,
        job: &mut Job,
        to: &Publication<'_>,
        run: CheckRun,
        assessed: &[Assessment],
        history: &[VerdictRow],
        last: bool,
    ) -> Result<(), Hindered> {
        let Some(first) = assessed.first() else { return Ok(()) };
        let undecided = assessed.iter().find(|one| one.verdict.verdict == Outcome::Undecided);
        if let Some(held) = undecided.filter(|_| !last) {
            to.publisher.progress(to.subject, &run, &self.output(to, &held.verdict, "")).await?;
            let rows = held.verdict.undecided.join(", ");
            return Err(Hindered::Undecided(rows, held.verdict.retry_at.clone()));
        }
        let standing = standing(assessed, history);
        let shown = assessed
            .iter()
            .max_by_key(|one| rank(one.verdict.verdict))
            .map_or(&first.verdict, |one| &one.verdict);
        let preface = match standing.len() {
            0 | 1 => String::new(),
            _ => standing_list(&to.subject.head, &standing),
        };
        let output = self.output(to, shown, &preface);
        let conclusion =
            aggregate(&to.subject.head, &standing).unwrap_or(Conclusion::ActionRequired);
        match to.publisher.complete(to.subject, &run, conclusion, &output).await {
            // An earlier try finished its run with what was true then: this is another verification.
            Err(PublishError::Finished { .. }) => {
                let after = to.publisher.latest(to.subject).await?.map_or(0, |(n, _)| n);
                let n = self.next_number(job, to.subject, after).await?;
                let again = to.publisher.begin(to.subject, n, &output.title, "").await?;
                to.publisher.complete(to.subject, &again, conclusion, &output).await?;
            }
            other => other?,
        }
        for one in assessed {
            self.tell(job, to, one).await?;
        }
        Ok(())
    }

    /// The verdict comment, the word about a change, and the history.
    async fn tell(
        &self,
        job: &Job,
        to: &Publication<'_>,
        one: &Assessment,
    ) -> Result<(), Hindered> {
        let verdict = &one.verdict;
        let Some(key) = verdict.signoff_key() else { return Ok(()) };
        let (repository, number) = (&job.key.repository, job.key.number);
        if matches!(verdict.verdict, Outcome::Approved | Outcome::Rejected) {
            let before = self.store.latest_concluded(repository, number, &key).await?;
            let before = before.and_then(|row| Summary::kept(&row.json, row.created_at).ok());
            let text = self.comment(to, verdict, before.as_ref());
            let published = to.publisher.comment(to.subject, &text).await?;
            if let Some(before) = before
                && let Some(text) = changed(verdict, &before, Some(&published.url))
            {
                to.publisher.post_once(to.subject, &text).await?;
            }
        }
        let row = VerdictRow {
            id: verdict.id.clone(),
            repository: repository.clone(),
            private: one.private,
            number,
            signoff_key: key,
            commit: verdict.assessed_commit.clone(),
            outcome: verdict.verdict.words().to_owned(),
            json: crate::verdict::json(verdict),
            created_at: Utc::now().timestamp_millis(),
        };
        self.store.record_verdict(&row).await?;
        if verdict.checks.iter().any(|row| row.number.is_none()) {
            metrics::counter!(telemetry::UNKNOWN_ITEMS).increment(1);
        }
        metrics::counter!(telemetry::VERDICTS, "outcome" => verdict.verdict.words()).increment(1);
        tracing::info!(
            repository,
            number,
            signoff = row.signoff_key,
            commit = row.commit,
            verdict = verdict.verdict.words(),
            "published"
        );
        Ok(())
    }

    /// What the check run shows of a verdict.
    pub(super) fn output(
        &self,
        to: &Publication<'_>,
        verdict: &Verdict,
        preface: &str,
    ) -> CheckOutput {
        let command = verdict.command();
        let report = self.report_url(verdict);
        check_output(verdict, &options(to.loaded, &command, report.as_deref()), preface)
    }

    fn comment(&self, to: &Publication<'_>, verdict: &Verdict, before: Option<&Summary>) -> String {
        let command = verdict.command();
        let report = self.report_url(verdict);
        comment_after(verdict, &options(to.loaded, &command, report.as_deref()), before)
    }

    fn report_url(&self, verdict: &Verdict) -> Option<String> {
        let base = self.public_url.as_deref()?.trim_end_matches('/');
        Some(format!("{base}/api/verdicts/{}", verdict.id))
    }
}

/// Whether a verdict that was kept still stands: it concluded something, and neither the sign-off's
/// text nor the tip of the target is another one by now.
pub(super) fn stands(row: &VerdictRow, posted: Option<&Posted>, base: Option<&str>) -> bool {
    let Ok(earlier) = serde_json::from_str::<Earlier>(&row.json) else { return false };
    let body = posted.map(|posted| verify::body_digest(&posted.body));
    earlier.verdict != Outcome::Undecided
        && Some(earlier.inputs.base.as_str()) == base
        && earlier.inputs.signoff_body == body
}

/// Whether a verdict that was kept says what this one says, by the same rules and evidence.
pub(super) fn says_the_same(row: &VerdictRow, verdict: &Verdict) -> bool {
    let Ok(earlier) = serde_json::from_str::<Earlier>(&row.json) else { return false };
    verdict.signoff_key().as_ref() == Some(&row.signoff_key)
        && verdict.assessed_commit == row.commit
        && (earlier.verdict, earlier.rules_digest.as_str(), earlier.evidence_digest.as_str())
            == (verdict.verdict, verdict.rules_digest.as_str(), verdict.evidence_digest.as_str())
}

/// A verdict that was kept, as one of the sign-offs that stand; `None` where it cannot be read.
pub(super) fn earlier(row: &VerdictRow) -> Option<Standing> {
    let earlier: Earlier = serde_json::from_str(&row.json).ok()?;
    Some(Standing {
        key: row.signoff_key.clone(),
        author: earlier.signoff.author,
        outcome: Some(earlier.verdict),
        commit: row.commit.clone(),
        url: earlier.signoff.url,
    })
}

/// Every sign-off that has a verdict at this commit: those just assessed, and earlier ones.
fn standing(assessed: &[Assessment], history: &[VerdictRow]) -> Vec<Standing> {
    let mut all: Vec<Standing> =
        assessed.iter().filter_map(|one| Standing::of(&one.verdict)).collect();
    for row in history {
        if !all.iter().any(|one| one.key == row.signoff_key) {
            all.extend(earlier(row));
        }
    }
    all
}

/// The verdict that the check run shows in full: an approval, else what is undecided, else the rest.
fn rank(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Approved | Outcome::NotRequired => 2,
        Outcome::Undecided => 1,
        Outcome::Rejected => 0,
    }
}

fn options<'a>(
    loaded: &'a Loaded,
    command: &'a str,
    report_url: Option<&'a str>,
) -> CommentOptions<'a> {
    let escalations = &loaded.rules.profile.settings.escalation;
    CommentOptions { report_url, command, escalations }
}
