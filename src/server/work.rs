//! What a worker does with one job: who asked may ask; assess; publish; remember.
//!
//! A job can die at any line and be taken up again: what was published is found again by its marker
//! or `external_id`, the number of the verification is kept with the job, and the verdict is
//! remembered last, so that "what it said before" stays true until everything is said. A job that
//! died while it wrote is run once more after GitHub can have no request of it under way any more,
//! so that a write which came through late does not stand beside its repetition.

mod check;
mod group;
pub(crate) mod plan;
mod publication;

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Duration, Utc};
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use super::worker::{Outcome as Fate, Work};
use crate::github::{ApiError, App, Client};
use crate::limits;
use crate::publish::{AppIdentity, Identity, PublishError, Publisher, Subject};
use crate::rules::RuleSet;
use crate::signoff;
use crate::sources::cache::Cache;
use crate::sources::live::Live;
use crate::sources::types::Posted;
use crate::sources::{Outside, ReadError, ReadKey, Reader, RepoName};
use crate::store::{Ask, Job, SignOffRef, Store, StoreError, VerdictRow};
use crate::verdict::{Discarded, DiscardedKind, Tries};
use crate::verify::{self, Assessment, Choice, Options, Target, VerifyError};

use plan::{Plan, Seen};
use publication::Publication;

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
    outside: Outside,
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
        outside: Outside,
        profiles: BTreeMap<String, Arc<Loaded>>,
        public_url: Option<String>,
        now: Option<DateTime<Utc>>,
    ) -> Self {
        Self {
            app,
            store,
            cache: Arc::new(Cache::new()),
            outside,
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
        let reader = Reader::new(self.outside.before(Arc::new(live), &loaded.rules.profile));
        let ahead_key = job.key.to_string();
        reader.read_ahead(self.ahead.get(&ahead_key).await.unwrap_or_default());
        let at = At { repo: &repo, loaded, reader: &reader, client: &client };
        let fate = match Box::pin(self.bring_up_to_date(job, &at)).await {
            // Whatever could not be read until now is not going to be.
            Err(Hindered::Read(error)) if job.attempts >= limits::JOB_TRIES => {
                self.give_up(job, &at, &error).await
            }
            fate => fate,
        };
        let read = reader.keys_read();
        if !read.is_empty() {
            self.ahead.insert(ahead_key, read).await;
        }
        fate
    }

    /// Looks at the pull request as it is now and does what follows from it.
    async fn bring_up_to_date(&self, job: &mut Job, at: &At<'_>) -> Result<Fate, Hindered> {
        let (reader, repo, number) = (at.reader, at.repo, job.key.number);
        let nothing = |why: &str| {
            tracing::info!(pull = %job.key, why, "nothing to do");
            Ok(Fate::Done)
        };
        // Only asked for early: what it means that it fails, or is too long, the facts say.
        let ahead = async {
            let _ = reader.pull_commits(repo, number).await;
            Ok(())
        };
        let trigger = &at.loaded.rules.profile.settings.trigger;
        let actors = job.triggers.iter().map(|trigger| trigger.actor.as_str());
        let (pull, tips, mut may, (standing, _), ()) = futures_util::try_join!(
            reader.pull(repo, number),
            reader.tips(repo, number),
            verify::may_trigger(reader, trigger, repo, actors),
            verify::standing(reader, &at.loaded.signoffs, repo, number),
            ahead,
        )?;
        let (Some(pull), Some(tips)) = (pull, tips) else {
            return match still_expected(job.attempts, "the pull request") {
                Some(hindered) => Err(hindered),
                None => nothing("the pull request does not exist any more"),
            };
        };
        let authors = standing.iter().map(|posted| posted.author.as_str());
        may.extend(verify::may_trigger(reader, trigger, repo, authors).await?);
        let history = self.store.verdicts_at(&job.key.repository, number, &pull.head_sha).await?;
        let base = tips.base_sha.as_deref();
        let assessed = history.iter().map(|row| {
            let posted = standing.iter().find(|one| signoff_of(one).to_string() == row.signoff_key);
            (row.signoff_key.clone(), publication::stands(row, posted, base))
        });
        let assessed: BTreeMap<String, bool> = assessed.collect();
        let triggers = job.triggers.clone();
        let seen = Seen {
            ready: pull.state == "open" && !pull.draft,
            triggers: &triggers,
            may: &may,
            standing: &standing,
            assessed: &assessed,
        };
        let signoffs = match seen.plan() {
            Plan::Nothing(why) => return nothing(why),
            Plan::Go { signoffs } => signoffs,
        };
        let listed = verify::posted(reader, repo, number).await?;
        if seen.not_listed(&listed)
            && let Some(hindered) = still_expected(job.attempts, "the sign-off")
        {
            return Err(hindered);
        }

        let subject = Subject {
            repo: repo.clone(),
            repository_id: tips.repository_id,
            number,
            head: pull.head_sha.clone(),
            details_url: None,
        };
        let publisher = self.publisher(at).await?;
        let to = Publication { publisher: &publisher, subject: &subject, loaded: at.loaded };
        let groups = group::of(&triggers);
        self.begin_groups(&to, &groups).await?;
        let counted: Vec<SignOffRef> = signoffs.iter().map(|(signoff, _)| *signoff).collect();
        let now: Vec<SignOffRef> =
            signoffs.into_iter().filter(|(_, now)| *now).map(|(signoff, _)| signoff).collect();
        let history = history.into_iter().filter(|row| is_among(&counted, &row.signoff_key));
        let uncounted = standing.iter().filter(|posted| !counted.contains(&signoff_of(posted)));
        let known =
            Known { history: history.collect(), uncounted: uncounted.map(uninvited).collect() };
        // What finished somewhere is no wish: where it changes nothing, nothing is said.
        let quiet = triggers.iter().all(|trigger| trigger.ask == Ask::Evidence);
        if now.is_empty() {
            self.settle(job, at, &to, &known).await?;
        } else if quiet && self.is_unchanged(at, number, &now, &known.history).await? {
            return nothing("what finished changes no verdict");
        } else {
            self.verify_all(job, at, &to, &now, &known).await?;
        }
        self.conclude_groups(job, &to, &groups).await?;
        Ok(Fate::Done)
    }

    /// Whether each of these sign-offs has the verdict already that it would get now.
    async fn is_unchanged(
        &self,
        at: &At<'_>,
        number: i64,
        signoffs: &[SignOffRef],
        history: &[VerdictRow],
    ) -> Result<bool, Hindered> {
        let assess = signoffs.iter().map(|one| self.assess(at, number, *one, false));
        let assessed = futures_util::future::try_join_all(assess).await?;
        let is_kept = |one: &Option<Assessment>| {
            let Some(verdict) = one.as_ref().map(|one| &one.verdict) else { return false };
            history.iter().any(|row| publication::says_the_same(row, verdict))
        };
        Ok(assessed.iter().all(is_kept))
    }

    /// Assesses sign-offs side by side while the check run is begun, and publishes what came of it.
    async fn verify_all(
        &self,
        job: &mut Job,
        at: &At<'_>,
        to: &Publication<'_>,
        signoffs: &[SignOffRef],
        known: &Known,
    ) -> Result<(), Hindered> {
        let last = job.attempts >= limits::JOB_TRIES;
        let number = job.key.number;
        let assessed = futures_util::future::try_join_all(
            signoffs.iter().map(async |signoff| self.assess(at, number, *signoff, last).await),
        );
        let begun = self.begin(job, to, "Verifying the sign-off", "Reading the evidence.");
        let (run, assessed) = futures_util::try_join!(begun, assessed)?;
        let assessed: Vec<Assessment> = assessed.into_iter().flatten().collect();
        if assessed.is_empty() {
            // Every one of them went away while it was read: the check run is somebody else's again.
            return self.settle(job, at, to, known).await;
        }
        self.publish(job, to, run, &assessed, &known.history, last).await
    }

    /// One sign-off; `None` where it went away meanwhile.
    async fn assess(
        &self,
        at: &At<'_>,
        number: i64,
        signoff: SignOffRef,
        last: bool,
    ) -> Result<Option<Assessment>, Hindered> {
        let signoff = Choice::This(signoff.kind, signoff.id);
        let target = Target { repo: at.repo.clone(), number, signoff };
        let options = Options {
            now: self.rules_now(),
            only: None,
            every_fact: false,
            tries: if last { Tries::Last } else { Tries::Left },
        };
        let loaded = at.loaded;
        let (rules, signoffs) = (&loaded.rules, &loaded.signoffs);
        match Box::pin(verify::verify(at.reader, rules, signoffs, &target, &options)).await {
            Ok(assessment) => Ok(Some(assessment)),
            Err(VerifyError::Read(error)) => Err(error.into()),
            Err(error) => {
                tracing::info!(target = %target, %error, "nothing to assess");
                Ok(None)
            }
        }
    }

    /// The time that the rules see.
    fn rules_now(&self) -> DateTime<Utc> {
        self.now.unwrap_or_else(Utc::now)
    }

    /// Keeps what the next try has to know.
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

    async fn publisher(&self, at: &At<'_>) -> Result<Publisher, Hindered> {
        let identity = self.app.identity().await?;
        let settings = &at.loaded.rules.profile.settings.check_run;
        Ok(Publisher {
            client: Arc::clone(at.client) as _,
            identity: Identity::App(AppIdentity { id: identity.id, slug: identity.slug }),
            check_name: settings.name.clone(),
            status_context: settings.status_context.clone(),
        })
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

/// Where a job reads, and by which profile.
struct At<'a> {
    repo: &'a RepoName,
    loaded: &'a Loaded,
    reader: &'a Reader,
    client: &'a Arc<Client>,
}

/// What a job knows of the sign-offs that it does not assess.
struct Known {
    /// The verdicts at the head on those that count.
    history: Vec<VerdictRow>,
    /// Those that do not count.
    uncounted: Vec<Discarded>,
}

fn signoff_of(posted: &Posted) -> SignOffRef {
    SignOffRef { kind: posted.kind, id: posted.id }
}

/// A sign-off that stands there and that nobody who may asked about.
fn uninvited(posted: &Posted) -> Discarded {
    Discarded {
        kind: DiscardedKind::SignOff,
        author: posted.author.clone(),
        url: (!posted.html_url.is_empty()).then(|| posted.html_url.clone()),
        line: None,
        text: None,
        why: "its author may not start a verification here; who has write access can have it \
              verified by a comment with the line `/countersign verify`"
            .to_owned(),
    }
}

fn is_among(signoffs: &[SignOffRef], key: &str) -> bool {
    signoffs.iter().any(|signoff| signoff.to_string() == key)
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

/// What an event spoke of and a read did not find: worth another try, as long as any is left for it.
fn still_expected(attempts: i64, what: &'static str) -> Option<Hindered> {
    (attempts < LOOKS).then_some(Hindered::NotThereYet(what))
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
