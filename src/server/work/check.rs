//! The check run of a job: begun from the first second, held while somebody's word is waited for,
//! settled by what is known already.

use super::publication::Publication;
use super::{At, Fate, Hindered, Known, Progress, Verifications};
use crate::publish::{
    CheckRun, Conclusion, PublishError, Standing, Subject, aggregate, standing_list,
};
use crate::sources::ReadError;
use crate::store::{Ask, Job};
use crate::verdict::{self, CheckOutput, Outcome};
use crate::verify::{self, Gate, VerifyError};

impl Verifications {
    /// The check run of this verification. One that waits at this head is taken over, so that a commit
    /// has one run until something is concluded; a finished one is never changed, and the next begins.
    pub(super) async fn begin(
        &self,
        job: &mut Job,
        to: &Publication<'_>,
        title: &str,
        summary: &str,
    ) -> Result<CheckRun, Hindered> {
        // A retry of the job keeps its number, so that it finds the run that it made.
        if let Some((commit, n)) = Progress::of(job).number
            && commit == to.subject.head
        {
            self.keep(job, Progress { number: Some((commit, n)), writing: true }).await?;
            return Ok(to.publisher.begin(to.subject, n, title, summary).await?);
        }
        let latest = to.publisher.latest(to.subject).await?;
        self.begin_after(job, to, latest, title, summary).await
    }

    async fn begin_after(
        &self,
        job: &mut Job,
        to: &Publication<'_>,
        latest: Option<(i64, CheckRun)>,
        title: &str,
        summary: &str,
    ) -> Result<CheckRun, Hindered> {
        match latest {
            Some((n, run)) if !run.finished() => {
                let number = Some((to.subject.head.clone(), n));
                self.keep(job, Progress { number, writing: true }).await?;
                to.publisher
                    .progress(to.subject, &run, &CheckOutput::plain(title, summary))
                    .await?;
                Ok(run)
            }
            latest => {
                let after = latest.map_or(0, |(n, _)| n);
                let n = self.next_number(job, to.subject, after).await?;
                Ok(to.publisher.begin(to.subject, n, title, summary).await?)
            }
        }
    }

    /// The number of the next verification of a commit. From here on the job writes. A database that
    /// was lost counts on from what GitHub has.
    pub(super) async fn next_number(
        &self,
        job: &mut Job,
        subject: &Subject,
        after: i64,
    ) -> Result<i64, Hindered> {
        let (repository, number) = (subject.repository_id, subject.number);
        let n = self.store.next_number(repository, number, &subject.head, after).await?;
        let number = Some((subject.head.clone(), n));
        self.keep(job, Progress { number, writing: true }).await?;
        Ok(n)
    }

    /// Where nothing is to be assessed: the check run says what the remembered verdicts amount to, that
    /// no sign-off is needed, or that one is waited for.
    pub(super) async fn settle(
        &self,
        job: &mut Job,
        at: &At<'_>,
        to: &Publication<'_>,
        known: &Known,
    ) -> Result<(), Hindered> {
        let standing: Vec<Standing> =
            known.history.iter().filter_map(super::publication::earlier).collect();
        if let Some(conclusion) = aggregate(&to.subject.head, &standing) {
            let output = remembered(conclusion, &standing_list(&to.subject.head, &standing));
            return self.conclude(job, to, conclusion, &output).await;
        }
        let loaded = at.loaded;
        let (rules, signoffs, now) = (&loaded.rules, &loaded.signoffs, self.rules_now());
        let gate = verify::gate(at.reader, rules, signoffs, at.repo, job.key.number, now);
        match Box::pin(gate).await {
            Ok(Gate::NotRequired(none)) => {
                let output = self.output(to, &none.verdict, "");
                self.conclude(job, to, Conclusion::Success, &output).await
            }
            Ok(Gate::Required { scope, discarded }) => {
                let discarded = [known.uncounted.as_slice(), &discarded].concat();
                self.hold(job, to, &verdict::waiting(&scope, &discarded)).await?;
                if job.triggers.iter().any(|trigger| trigger.ask == Ask::Changed) {
                    self.greet(at, to).await?;
                }
                Ok(())
            }
            Err(VerifyError::Read(error)) => {
                let title = "not assessed yet: whether a sign-off is needed is not known";
                self.hold(job, to, &CheckOutput::plain(title, &escaped(&error))).await?;
                Err(error.into())
            }
            Err(error) => Err(Hindered::Malformed(error.to_string())),
        }
    }

    /// Greets a pull request that needs a sign-off, once in its life: a greeting that somebody deleted
    /// does not come back.
    async fn greet(&self, at: &At<'_>, to: &Publication<'_>) -> Result<(), Hindered> {
        if at.loaded.rules.profile.greeting.is_none() {
            return Ok(());
        }
        let (repository, number) = (to.subject.repository_id, to.subject.number);
        if self.store.is_greeted(repository, number).await? {
            return Ok(());
        }
        let loaded = at.loaded;
        let (rules, signoffs) = (&loaded.rules, &loaded.signoffs);
        let text =
            Box::pin(verify::invitation(at.reader, rules, signoffs, at.repo, number)).await?;
        if let Some(text) = text {
            to.publisher.post_once(to.subject, &text).await?;
            self.store.record_greeting(repository, number).await?;
        }
        Ok(())
    }

    /// An open check run at this head that says so.
    async fn hold(
        &self,
        job: &mut Job,
        to: &Publication<'_>,
        output: &CheckOutput,
    ) -> Result<(), Hindered> {
        let latest = to.publisher.latest(to.subject).await?;
        if let Some((_, run)) = latest.as_ref().filter(|(_, run)| !run.finished()) {
            return Ok(to.publisher.progress(to.subject, run, output).await?);
        }
        self.begin_after(job, to, latest, &output.title, &output.summary).await.map(drop)
    }

    /// A finished check run at this head with that conclusion. One that is there stays as it is.
    async fn conclude(
        &self,
        job: &mut Job,
        to: &Publication<'_>,
        conclusion: Conclusion,
        output: &CheckOutput,
    ) -> Result<(), Hindered> {
        let latest = to.publisher.latest(to.subject).await?;
        if latest.as_ref().is_some_and(|(_, run)| run.concluded(conclusion)) {
            return Ok(());
        }
        let run = self.begin_after(job, to, latest, &output.title, "").await?;
        Ok(to.publisher.complete(to.subject, &run, conclusion, output).await?)
    }

    /// After the last try: what waits for an answer becomes "could not assess". What was concluded
    /// about this commit before stays.
    pub(super) async fn give_up(
        &self,
        job: &mut Job,
        at: &At<'_>,
        error: &ReadError,
    ) -> Result<Fate, Hindered> {
        let number = job.key.number;
        let (pull, tips) = futures_util::try_join!(
            at.reader.pull(at.repo, number),
            at.reader.tips(at.repo, number)
        )?;
        let (Some(pull), Some(tips)) = (pull, tips) else { return Ok(Fate::Done) };
        let subject = Subject {
            repo: at.repo.clone(),
            repository_id: tips.repository_id,
            number,
            head: pull.head_sha,
            details_url: None,
        };
        let publisher = self.publisher(at).await?;
        let to = Publication { publisher: &publisher, subject: &subject, loaded: at.loaded };
        let latest = publisher.latest(&subject).await?;
        if latest.as_ref().is_some_and(|(_, run)| run.finished()) {
            return Ok(Fate::Done);
        }
        let title = "could not assess";
        let run = self.begin_after(job, &to, latest, title, "").await?;
        let summary = format!(
            "Nothing is concluded, through no fault of the submission: {}. \"Verify again\" starts \
             over.",
            escaped(error)
        );
        let output = CheckOutput::plain(title, &summary);
        match publisher.complete(&subject, &run, Conclusion::ActionRequired, &output).await {
            Ok(()) | Err(PublishError::Finished { .. }) => Ok(Fate::Done),
            Err(error) => Err(error.into()),
        }
    }
}

fn escaped(error: &ReadError) -> String {
    crate::rules::escape::prose(&error.to_string())
}

/// What a check run shows where nothing was assessed anew.
fn remembered(conclusion: Conclusion, standing: &str) -> CheckOutput {
    let word = match conclusion {
        Conclusion::Success => Outcome::Approved.words(),
        Conclusion::Failure => Outcome::Rejected.words(),
        Conclusion::ActionRequired => "could not assess",
    };
    CheckOutput::plain(
        word,
        &format!("The sign-offs that stand on this pull request:\n\n{standing}"),
    )
}
