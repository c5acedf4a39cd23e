//! What a worker does with one job: who asked may ask; assess; publish; remember.
//!
//! A job can die at any line and be taken up again: what was published is found again by its marker
//! or `external_id`, the number of the verification is kept with the job, and the verdict is
//! remembered last, so that "what it said before" stays true until everything is said. A job that
//! died while it wrote is run once more after GitHub can have no request of it under way any more,
//! so that a write which came through late does not stand beside its repetition.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Duration, Utc};
use futures_util::future::{BoxFuture, try_join_all};
use serde::{Deserialize, Serialize};

use super::telemetry;
use super::worker::{Outcome as Fate, Work};
use crate::github::{ApiError, App, Client};
use crate::limits;
use crate::publish::{
    AppIdentity, CheckRun, Conclusion, PublishError, Publisher, Standing, Subject, aggregate,
    standing_list,
};
use crate::rules::RuleSet;
use crate::signoff;
use crate::sources::cache::Cache;
use crate::sources::live::Live;
use crate::sources::types::Posted;
use crate::sources::{ReadError, ReadKey, Reader, RepoName};
use crate::store::{Job, SignOffRef, Store, StoreError, VerdictRow};
use crate::verdict::{
    CheckOutput, CommentOptions, Outcome, Summary, Tries, Verdict, changed, check_output, comment,
};
use crate::verify::{self, Assessment, Choice, Options, Target, VerifyError};

/// Seconds before the first retry; each further one waits twice as long.
const FIRST_RETRY_SECONDS: i64 = 30;
/// How long a request can be under way after whoever sent it died: GitHub ends every request after 10
/// seconds ("Troubleshooting the REST API", timeouts).
const UNDER_WAY: Duration = Duration::seconds(12);
/// Tries that look for what an event spoke of before it counts as gone: GitHub's reads lag behind its
/// events.
const LOOKS: i64 = 3;
/// Pull requests of which is remembered what the last verification read.
const READ_AHEAD_PULLS: u64 = 1_000;

/// One profile, ready for use.
pub struct Loaded {
    /// Its rules.
    pub rules: RuleSet,
    /// Reads sign-offs by it.
    pub signoffs: signoff::Reader,
}

/// Assesses and publishes.
pub struct Verifications {
    app: Arc<App>,
    store: Store,
    cache: Arc<Cache>,
    /// Profiles by repository, `owner/name` in lower case.
    profiles: BTreeMap<String, Arc<Loaded>>,
    public_url: Option<String>,
    now: Option<DateTime<Utc>>,
    ahead: moka::future::Cache<String, Vec<ReadKey>>,
}

/// Why a job is not finished.
#[derive(Debug, thiserror::Error)]
enum Hindered {
    #[error("{0}")]
    Api(#[from] ApiError),
    #[error("{0}")]
    Read(#[from] ReadError),
    #[error("{0}")]
    Publish(#[from] PublishError),
    #[error("{0}")]
    Store(#[from] StoreError),
    #[error("{0} is undecided")]
    Undecided(String, Option<String>),
    #[error("{0}")]
    Malformed(String),
    #[error("not there, or not there yet: {0}")]
    NotThereYet(&'static str),
}

impl Hindered {
    /// When GitHub said that we may ask again.
    fn retry_at(&self) -> Option<&str> {
        match self {
            Self::Api(ApiError::RateLimited { until })
            | Self::Read(ReadError::RateLimited { until, .. }) => Some(until),
            Self::Publish(error) => error.retry_at(),
            Self::Undecided(_, at) => at.as_deref(),
            _ => None,
        }
    }
}

/// What a job remembers from one try to the next.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Progress {
    /// The commit that was assessed, and the number of that verification.
    number: Option<(String, i64)>,
    /// Whether a try has begun to write and not come to an end. Still true when the next one starts:
    /// it was cut off, and GitHub may yet carry out what it had sent.
    #[serde(default)]
    writing: bool,
}

impl Progress {
    fn of(job: &Job) -> Self {
        serde_json::from_value(job.state.clone()).unwrap_or_default()
    }
}

impl Verifications {
    /// Works for the given repositories.
    pub fn new(
        app: Arc<App>,
        store: Store,
        profiles: BTreeMap<String, Arc<Loaded>>,
        public_url: Option<String>,
        now: Option<DateTime<Utc>>,
    ) -> Self {
        Self {
            app,
            store,
            cache: Arc::new(Cache::new()),
            profiles,
            public_url,
            now,
            ahead: moka::future::Cache::new(READ_AHEAD_PULLS),
        }
    }

    /// One try.
    async fn attempt(&self, job: &mut Job) -> Result<Fate, Hindered> {
        let repo: RepoName = job.key.repository.parse().map_err(Hindered::Malformed)?;
        let Some(loaded) = self.profiles.get(&job.key.repository.to_ascii_lowercase()) else {
            return Ok(Fate::Dropped { why: "no profile is set for this repository".to_owned() });
        };
        let client = self.app.client_for(repo.owner(), repo.name()).await?;
        let live = Live::new(Arc::clone(&client))
            .with_app(Arc::clone(&self.app))
            .with_cache(Arc::clone(&self.cache));
        let reader = Reader::new(Arc::new(live));
        let ahead_key = job.key.to_string();
        reader.read_ahead(self.ahead.get(&ahead_key).await.unwrap_or_default());
        let fate = self.assess_all(job, &repo, loaded, &reader, client).await;
        let read = reader.keys_read();
        if !read.is_empty() {
            self.ahead.insert(ahead_key, read).await;
        }
        fate
    }

    async fn assess_all(
        &self,
        job: &mut Job,
        repo: &RepoName,
        loaded: &Loaded,
        reader: &Reader,
        client: Arc<Client>,
    ) -> Result<Fate, Hindered> {
        let number = job.key.number;
        let nothing = |why: &str| {
            tracing::info!(pull = %job.key, why, "nothing to do");
            Ok(Fate::Done)
        };
        // Only asked for early: what it means that it fails, or is too long, the facts say.
        let ahead = async {
            let _ = reader.pull_commits(repo, number).await;
            Ok(())
        };
        let (pull, tips, asked, (standing, _), ()) = futures_util::try_join!(
            reader.pull(repo, number),
            reader.tips(repo, number),
            self.authorised(job, repo, loaded, reader),
            verify::standing(reader, &loaded.signoffs, repo, number),
            ahead,
        )?;
        let (Some(pull), Some(tips)) = (pull, tips) else {
            return match still_expected(job.attempts, "the pull request") {
                Some(hindered) => Err(hindered),
                None => nothing("the pull request does not exist any more"),
            };
        };
        if pull.state != "open" || pull.draft {
            return nothing("the pull request is closed or a draft");
        }
        if asked.is_empty() {
            return nothing("nobody who may trigger a verification asked for one");
        }
        let standing: Vec<Posted> = standing
            .into_iter()
            .filter(|posted| asked.iter().any(|signoff| signoff.is_none_or(|s| is(posted, s))))
            .collect();
        if standing.is_empty() {
            let listed = verify::posted(reader, repo, number).await?;
            let unlisted = asked.iter().flatten().any(|s| !listed.iter().any(|one| is(one, *s)));
            if unlisted && let Some(hindered) = still_expected(job.attempts, "the sign-off") {
                return Err(hindered);
            }
            return nothing("no sign-off stands where one was asked about");
        }
        let subject = Subject {
            repo: repo.clone(),
            repository_id: tips.repository_id,
            number,
            head: pull.head_sha.clone(),
            details_url: None,
        };
        let publisher = self.publisher(client, loaded).await?;
        let n = self.number(job, &subject).await?;
        let last = job.attempts >= limits::JOB_TRIES;
        let begun = async {
            let title = "Verifying the sign-off";
            let begun = publisher.begin(&subject, n, title, "Reading the evidence.").await;
            begun.map_err(Hindered::from)
        };
        let assessed = try_join_all(
            standing
                .iter()
                .map(async |posted| self.assess(loaded, reader, repo, number, posted, last).await),
        );
        let (run, assessed) = futures_util::try_join!(begun, assessed)?;
        let assessed: Vec<Assessment> = assessed.into_iter().flatten().collect();
        let publication = Publication { publisher: &publisher, subject: &subject, loaded };
        self.publish(job, publication, run, &assessed, last).await
    }

    /// The sign-offs that people who may trigger asked about; `None` stands for all of them.
    ///
    /// `domain/publication`: base permission and role both have to be listed; an account that is not
    /// known, or whose role is a custom one, starts nothing.
    async fn authorised(
        &self,
        job: &Job,
        repo: &RepoName,
        loaded: &Loaded,
        reader: &Reader,
    ) -> Result<Vec<Option<SignOffRef>>, ReadError> {
        let trigger = &loaded.rules.profile.settings.trigger;
        let actors: BTreeSet<String> =
            job.triggers.iter().map(|t| t.actor.to_ascii_lowercase()).collect();
        let may = try_join_all(actors.into_iter().map(async |actor| {
            let found = reader.permission(repo, &actor).await?;
            let may = found.is_some_and(|found| {
                !found.is_bot
                    && trigger.permissions.contains(&found.permission)
                    && trigger.roles.contains(&found.role_name)
            });
            Ok::<_, ReadError>((actor, may))
        }));
        let may: BTreeMap<String, bool> = may.await?.into_iter().collect();
        let asked = job.triggers.iter();
        let asked = asked.filter(|t| may.get(&t.actor.to_ascii_lowercase()) == Some(&true));
        Ok(asked.map(|trigger| trigger.signoff).collect())
    }

    /// The number of this verification of this commit; a retry of the job keeps it. From here on the
    /// job writes.
    async fn number(&self, job: &mut Job, subject: &Subject) -> Result<i64, Hindered> {
        match Progress::of(job).number {
            Some((commit, n)) if commit == subject.head => {
                self.keep(job, Progress { number: Some((commit, n)), writing: true }).await?;
                Ok(n)
            }
            _ => self.next_number(job, subject).await,
        }
    }

    async fn next_number(&self, job: &mut Job, subject: &Subject) -> Result<i64, Hindered> {
        let n =
            self.store.next_number(subject.repository_id, subject.number, &subject.head).await?;
        let number = Some((subject.head.clone(), n));
        self.keep(job, Progress { number, writing: true }).await?;
        Ok(n)
    }

    async fn keep(&self, job: &mut Job, progress: Progress) -> Result<(), StoreError> {
        if Progress::of(job) == progress {
            return Ok(());
        }
        let state = serde_json::json!({ "number": progress.number, "writing": progress.writing });
        self.store.save_state(job, state).await
    }

    /// Says that nothing of this try is under way any more. Where that cannot be kept, the next try
    /// takes this one for cut off, which costs it a second look.
    async fn written(&self, job: &mut Job) {
        let progress = Progress { writing: false, ..Progress::of(job) };
        if let Err(error) = self.keep(job, progress).await {
            tracing::warn!(pull = %job.key, %error, "the end of a try is not kept");
        }
    }

    async fn publisher(&self, client: Arc<Client>, loaded: &Loaded) -> Result<Publisher, Hindered> {
        let identity = self.app.identity().await?;
        let settings = &loaded.rules.profile.settings.check_run;
        Ok(Publisher {
            client,
            app: Some(AppIdentity { id: identity.id, slug: identity.slug }),
            check_name: settings.name.clone(),
            status_context: settings.status_context.clone(),
        })
    }

    /// One sign-off; `None` where it went away meanwhile.
    async fn assess(
        &self,
        loaded: &Loaded,
        reader: &Reader,
        repo: &RepoName,
        number: i64,
        posted: &Posted,
        last: bool,
    ) -> Result<Option<Assessment>, Hindered> {
        let signoff = Choice::This(posted.kind, posted.id);
        let target = Target { repo: repo.clone(), number, signoff };
        let options = Options {
            now: self.now.unwrap_or_else(Utc::now),
            only: None,
            tries: if last { Tries::Last } else { Tries::Left },
        };
        match verify::verify(reader, &loaded.rules, &loaded.signoffs, &target, &options).await {
            Ok(assessment) => Ok(Some(assessment)),
            Err(VerifyError::Read(error)) => Err(error.into()),
            Err(error) => {
                tracing::info!(target = %target, %error, "nothing to assess");
                Ok(None)
            }
        }
    }

    /// The check run first, which is the gate; then the comments, which are the story; then what is
    /// remembered. While a try is left and something is undecided, only the check run says so.
    async fn publish(
        &self,
        job: &mut Job,
        to: Publication<'_>,
        run: CheckRun,
        assessed: &[Assessment],
        last: bool,
    ) -> Result<Fate, Hindered> {
        let Some(first) = assessed.first() else {
            let why = "the sign-off went away while it was read".to_owned();
            let output = plain("No sign-off", &why);
            to.publisher.complete(to.subject, &run, Conclusion::ActionRequired, &output).await?;
            return Ok(Fate::Done);
        };
        let undecided = assessed.iter().find(|one| one.verdict.verdict == Outcome::Undecided);
        if let Some(held) = undecided.filter(|_| !last) {
            to.publisher.progress(to.subject, &run, &self.output(&to, &held.verdict, "")).await?;
            let rows = held.verdict.undecided.join(", ");
            return Err(Hindered::Undecided(rows, held.verdict.retry_at.clone()));
        }
        let standing = self.standing(job, &to, assessed).await?;
        let shown = assessed
            .iter()
            .max_by_key(|one| rank(one.verdict.verdict))
            .map_or(&first.verdict, |one| &one.verdict);
        let preface = match standing.len() {
            0 | 1 => String::new(),
            _ => standing_list(&to.subject.head, &standing),
        };
        let output = self.output(&to, shown, &preface);
        let conclusion =
            aggregate(&to.subject.head, &standing).unwrap_or(Conclusion::ActionRequired);
        match to.publisher.complete(to.subject, &run, conclusion, &output).await {
            // An earlier try finished its run with what was true then: this is another verification.
            Err(PublishError::Finished { .. }) => {
                let n = self.next_number(job, to.subject).await?;
                let again = to.publisher.begin(to.subject, n, &output.title, "").await?;
                to.publisher.complete(to.subject, &again, conclusion, &output).await?;
            }
            other => other?,
        }
        for one in assessed {
            self.tell(job, &to, one).await?;
        }
        Ok(Fate::Done)
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
            let text = self.comment(to, verdict);
            let published = to.publisher.comment(to.subject, &text).await?;
            let before = self.store.latest_verdict(repository, number, &key).await?;
            let before = before.and_then(|row| serde_json::from_str::<Summary>(&row.json).ok());
            if let Some(before) = before
                && let Some(text) = changed(verdict, &before, Some(&published.url))
            {
                to.publisher.announce_change(to.subject, &text).await?;
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

    /// Every sign-off that has a verdict at this commit: those just assessed, and earlier ones.
    async fn standing(
        &self,
        job: &Job,
        to: &Publication<'_>,
        assessed: &[Assessment],
    ) -> Result<Vec<Standing>, Hindered> {
        let (repository, number) = (&job.key.repository, job.key.number);
        let mut all: Vec<Standing> =
            assessed.iter().filter_map(|one| Standing::of(&one.verdict)).collect();
        for row in self.store.verdicts_at(repository, number, &to.subject.head).await? {
            if all.iter().any(|one| one.key == row.signoff_key) {
                continue;
            }
            let Ok(earlier) = serde_json::from_str::<Earlier>(&row.json) else { continue };
            all.push(Standing {
                key: row.signoff_key,
                author: earlier.signoff.author,
                outcome: Some(earlier.verdict),
                commit: row.commit,
                url: earlier.signoff.url,
            });
        }
        Ok(all)
    }

    fn output(&self, to: &Publication<'_>, verdict: &Verdict, preface: &str) -> CheckOutput {
        let command = verdict.command();
        let report = self.report_url(verdict);
        check_output(verdict, &options(to.loaded, &command, report.as_deref()), preface)
    }

    fn comment(&self, to: &Publication<'_>, verdict: &Verdict) -> String {
        let command = verdict.command();
        let report = self.report_url(verdict);
        comment(verdict, &options(to.loaded, &command, report.as_deref()))
    }

    fn report_url(&self, verdict: &Verdict) -> Option<String> {
        let base = self.public_url.as_deref()?.trim_end_matches('/');
        Some(format!("{base}/api/verdicts/{}", verdict.id))
    }

    /// When a hindered job is tried again: when GitHub said, else after a pause that doubles.
    fn retry_at(&self, job: &Job, hindered: &Hindered) -> DateTime<Utc> {
        let doublings = u32::try_from(job.attempts.clamp(1, limits::JOB_TRIES) - 1).unwrap_or(0);
        let pause = Utc::now() + Duration::seconds(FIRST_RETRY_SECONDS << doublings);
        let said = hindered.retry_at().and_then(|at| DateTime::parse_from_rfc3339(at).ok());
        let latest = Utc::now() + Duration::seconds(limits::JOB_PAUSE_SECONDS);
        said.map_or(pause, |at| at.with_timezone(&Utc).clamp(pause, latest.max(pause)))
    }
}

impl Work for Verifications {
    fn run(&self, mut job: Job) -> BoxFuture<'_, Fate> {
        Box::pin(async move {
            let cut_off = Progress::of(&job).writing;
            match self.attempt(&mut job).await {
                Ok(Fate::Done) if cut_off => {
                    self.written(&mut job).await;
                    Fate::Retry {
                        at: (Utc::now() + UNDER_WAY).timestamp_millis(),
                        why: "a try was cut off; what it sent may still come through".to_owned(),
                    }
                }
                Ok(fate) => fate,
                Err(hindered) => {
                    // A try that was cut off earlier is not forgotten by one that failed.
                    if !cut_off {
                        self.written(&mut job).await;
                    }
                    Fate::Retry {
                        at: self.retry_at(&job, &hindered).timestamp_millis(),
                        why: hindered.to_string(),
                    }
                }
            }
        })
    }
}

/// Where one verification is published, and by which profile.
struct Publication<'a> {
    publisher: &'a Publisher,
    subject: &'a Subject,
    loaded: &'a Loaded,
}

/// What is read back from a verdict that was kept.
#[derive(Deserialize)]
struct Earlier {
    verdict: Outcome,
    signoff: EarlierSignOff,
}

#[derive(Deserialize)]
struct EarlierSignOff {
    author: String,
    url: Option<String>,
}

/// What an event spoke of and a read did not find: worth another try, as long as any is left for it.
fn still_expected(attempts: i64, what: &'static str) -> Option<Hindered> {
    (attempts < LOOKS).then_some(Hindered::NotThereYet(what))
}

fn is(posted: &Posted, signoff: SignOffRef) -> bool {
    posted.kind == signoff.kind && posted.id == signoff.id
}

/// The verdict that the check run shows in full: an approval, else what is undecided, else the rest.
fn rank(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Approved | Outcome::NotRequired => 2,
        Outcome::Undecided => 1,
        Outcome::Rejected => 0,
    }
}

fn plain(title: &str, summary: &str) -> CheckOutput {
    CheckOutput {
        title: title.to_owned(),
        summary: summary.to_owned(),
        text: String::new(),
        annotations: Vec::new(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_event_spoke_of_is_looked_for_again_before_it_counts_as_gone() {
        let looks = (1..=5).map(|attempt| still_expected(attempt, "the pull request").is_some());
        assert_eq!(looks.collect::<Vec<_>>(), [true, true, false, false, false]);
    }
}
