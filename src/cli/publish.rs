//! `verify --publish`: the same publication as the server's, by the token that reads.

use super::target::Opened;
use crate::publish::{Conclusion, Identity, Publisher, Standing, Subject, aggregate};
use crate::rules::RuleSet;
use crate::verdict::{self, CommentOptions, Outcome, Verdict};
use crate::verify::Assessment;

/// The comment as it would be posted.
pub(super) fn comment(verdict: &Verdict, rules: &RuleSet) -> String {
    verdict::comment(verdict, &options(&verdict.command(), rules))
}

pub(super) fn options<'a>(command: &'a str, rules: &'a RuleSet) -> CommentOptions<'a> {
    let escalations = &rules.profile.settings.escalation;
    CommentOptions { report_url: None, command, escalations }
}

/// Posts the check run and, where something was concluded, the comment.
///
/// # Errors
/// What GitHub would not take. The verdict stands.
pub(super) async fn publish(opened: &Opened, assessment: &Assessment) -> Result<(), String> {
    let verdict = &assessment.verdict;
    let client = opened.client.clone().ok_or("nothing is connected")?;
    let settings = &opened.rules.profile.settings.check_run;
    let publisher = Publisher {
        client,
        identity: Identity::Person,
        check_name: settings.name.clone(),
        status_context: settings.status_context.clone(),
    };
    let subject = Subject {
        repo: opened.target.repo.clone(),
        repository_id: assessment.repository_id,
        number: opened.target.number,
        head: verdict.assessed_commit.clone(),
        details_url: None,
    };
    let command = verdict.command();
    let output = verdict::check_output(verdict, &options(&command, &opened.rules), "");
    let standing: Vec<Standing> = Standing::of(verdict).into_iter().collect();
    let conclusion = match verdict.verdict {
        Outcome::NotRequired => Conclusion::Success,
        _ => aggregate(&subject.head, &standing).unwrap_or(Conclusion::ActionRequired),
    };
    let failed = |error: crate::publish::PublishError| error.to_string();
    let run = publisher.take_up(&subject, &output).await.map_err(failed)?;
    publisher.complete(&subject, &run, conclusion, &output).await.map_err(failed)?;
    if matches!(verdict.verdict, Outcome::Approved | Outcome::Rejected) {
        let text = comment(verdict, &opened.rules);
        let published = publisher.comment(&subject, &text).await.map_err(failed)?;
        super::to_stderr(&format!("published: {}", published.url));
    }
    Ok(())
}
