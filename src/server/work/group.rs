//! Commits of the merge queue: `success` where the heads in them are.
//!
//! A verdict speaks of a pull request's head, and the queue's commit is another one; so nothing is
//! assessed here. What our check runs say at the queued heads is what the check run at the queue's
//! commit says.

use super::publication::Publication;
use super::{Hindered, Verifications};
use crate::limits;
use crate::publish::{Conclusion, PublishError, QueuedPull, Subject};
use crate::store::{Ask, Job, Trigger};
use crate::verdict::CheckOutput;

/// A commit of the merge queue.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// 40 hex digits.
    commit: String,
    /// The branch that the queue merges into.
    branch: String,
}

impl Group {
    fn subject(&self, of: &Subject) -> Subject {
        Subject { head: self.commit.clone(), ..of.clone() }
    }
}

/// The commits that the triggers tell of, each once.
pub(super) fn of(triggers: &[Trigger]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for trigger in triggers {
        if let Ask::Queued { commit, branch } = &trigger.ask {
            let group = Group { commit: commit.clone(), branch: branch.clone() };
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
    }
    groups
}

impl Verifications {
    /// Begins their check runs, where they have none yet.
    pub(super) async fn begin_groups(
        &self,
        to: &Publication<'_>,
        groups: &[Group],
    ) -> Result<(), Hindered> {
        for group in groups {
            let subject = group.subject(to.subject);
            if to.publisher.latest(&subject).await?.is_none() {
                let (repository, number) = (subject.repository_id, subject.number);
                let n = self.store.next_number(repository, number, &subject.head, 0).await?;
                let summary = "What is said at the queued heads is said here.";
                to.publisher.begin(&subject, n, "Looking at the queued heads", summary).await?;
            }
        }
        Ok(())
    }

    /// Concludes their check runs by those of the queued heads.
    pub(super) async fn conclude_groups(
        &self,
        job: &Job,
        to: &Publication<'_>,
        groups: &[Group],
    ) -> Result<(), Hindered> {
        for group in groups {
            let subject = group.subject(to.subject);
            let Some((_, run)) = to.publisher.latest(&subject).await? else { continue };
            if run.finished() {
                continue;
            }
            let last = job.attempts >= limits::JOB_TRIES;
            let (conclusion, output) = match self.heads(to, group, last).await {
                Ok((conclusion, lines)) => {
                    let title = match conclusion {
                        Conclusion::Success => "every queued head is approved",
                        Conclusion::Failure => "a queued head is not approved",
                        Conclusion::ActionRequired => {
                            "could not assess: a queued head is undecided"
                        }
                    };
                    (conclusion, CheckOutput::plain(title, &lines.join("\n")))
                }
                Err(Hindered::Publish(error)) if last => {
                    let summary = crate::rules::escape::prose(&error.to_string());
                    (Conclusion::ActionRequired, CheckOutput::plain("could not assess", &summary))
                }
                Err(hindered) => return Err(hindered),
            };
            match to.publisher.complete(&subject, &run, conclusion, &output).await {
                Ok(()) | Err(PublishError::Finished { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// What the queued heads amount to, and a line for each.
    async fn heads(
        &self,
        to: &Publication<'_>,
        group: &Group,
        last: bool,
    ) -> Result<(Conclusion, Vec<String>), Hindered> {
        let own = QueuedPull { number: to.subject.number, head: to.subject.head.clone() };
        let mut queued =
            to.publisher.queued(&to.subject.repo, &group.branch, &group.commit).await?;
        if !queued.contains(&own) {
            // The queue moved on; the group's branch still names this pull request.
            queued.push(own.clone());
        }
        let mut conclusion = Conclusion::Success;
        let mut lines = Vec::new();
        for pull in &queued {
            let subject =
                Subject { number: pull.number, head: pull.head.clone(), ..to.subject.clone() };
            let run = to.publisher.latest(&subject).await?.map(|(_, run)| run);
            let (word, here) = match run {
                Some(run) if run.concluded(Conclusion::Success) => ("approved", None),
                Some(run) if run.concluded(Conclusion::ActionRequired) => {
                    ("undecided", Some(Conclusion::ActionRequired))
                }
                Some(run) if run.finished() => ("not approved", Some(Conclusion::Failure)),
                // Somebody else's is being verified; our own was looked at just now, and waits.
                Some(_) if *pull != own && !last => {
                    return Err(Hindered::NotThereYet("the verdict on a queued head"));
                }
                _ => ("without an approved sign-off", Some(Conclusion::Failure)),
            };
            lines.push(format!("- #{} at `{}`: {word}", pull.number, pull.head));
            conclusion = match (conclusion, here) {
                (Conclusion::Failure, _) | (_, Some(Conclusion::Failure)) => Conclusion::Failure,
                (_, Some(other)) => other,
                (so_far, None) => so_far,
            };
        }
        Ok((conclusion, lines))
    }
}
