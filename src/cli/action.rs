//! `countersign action`: one run of the GitHub Action. The runner's environment says what happened;
//! what it means is read as the server's door reads it, and what follows is posted with the job's own
//! token. There is no memory between runs but GitHub itself.

mod post;
mod runner;
mod said;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::Utc;
use secrecy::SecretString;

use super::profile::ProfileArgs;
use super::target::outside;
use super::{Exit, bad, target, verify as cli_verify};
use crate::github::Client;
use crate::publish::PublishError;
use crate::rules::RuleSet;
use crate::server::Watched;
use crate::server::event::{self, Event};
use crate::server::work::plan::{Plan, Seen};
use crate::signoff;
use crate::sources::live::Live;
use crate::sources::types::Posted;
use crate::sources::{ReadError, Reader, RepoName};
use crate::store::{SignOffRef, Trigger};
use crate::verdict::Tries;
use crate::verify::{self, Assessment, Choice, Gate, Options, Target, VerifyError};

use post::Posting;
use runner::Runner;
use said::Said;

/// Arguments of `action`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A comment or pull request to verify, instead of what the event is about.
    #[arg(long, value_name = "URL")]
    target: Option<String>,
    #[command(flatten)]
    profile: ProfileArgs,
    /// The environment variable that holds the job's token.
    #[arg(long, value_name = "NAME", default_value = "GITHUB_TOKEN")]
    token_env: String,
}

/// Runs it.
pub fn run(args: Args) -> Exit {
    super::block_on(async move {
        let runner = match Runner::from_environment(&args.token_env) {
            Ok(runner) => runner,
            Err(error) => return bad(&error),
        };
        match Box::pin(act(&args, &runner)).await {
            Ok(said) => runner.tell(&said),
            Err(Failed::Input(error)) => bad(&error),
            Err(Failed::Read(error)) => {
                runner.tell(&Said::undecided(&error.to_string()));
                cli_verify::failed(&VerifyError::Read(error), "Run the job again.", "")
            }
        }
    })
}

/// Why a run came to nothing.
enum Failed {
    Input(String),
    Read(ReadError),
}

impl From<PublishError> for Failed {
    fn from(error: PublishError) -> Self {
        let what = "our own comments".to_owned();
        Self::Read(ReadError::Unavailable { what, reason: error.to_string() })
    }
}

impl From<ReadError> for Failed {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

/// What is asked for: a pull request, and why.
struct Asked {
    number: i64,
    triggers: Vec<Trigger>,
    /// The sign-offs that were named by hand; `None` where an event asks.
    by_hand: Option<Choice>,
}

async fn act(args: &Args, runner: &Runner) -> Result<Said, Failed> {
    let repo = &runner.repository;
    let rules = args.profile.rules_for(repo, None).map_err(Failed::Input)?;
    let signoffs = rules.profile.reader().map_err(|error| Failed::Input(error.to_string()))?;
    let asked = match &args.target {
        Some(url) => by_hand(url, repo)?,
        None => match of_event(runner, &rules)? {
            Ok(asked) => asked,
            Err(why) => return Ok(Said::nothing(why)),
        },
    };
    let token = SecretString::from(runner.token.clone());
    let client = Client::with_token(&runner.api_url, Some(token))
        .map_err(|error| Failed::Input(error.to_string()))?;
    let client = Arc::new(client);
    let live = Arc::new(Live::new(Arc::clone(&client)));
    let outside = outside().map_err(Failed::Input)?;
    let reader = Reader::new(outside.before(live, &rules.profile));
    let posting = Posting { client, runner, rules: &rules, number: asked.number };
    let job = Job {
        repo,
        rules: &rules,
        signoffs: &signoffs,
        reader: &reader,
        asked: &asked,
        posting: &posting,
    };
    let found = job.verify().await?;
    Ok(posting.post(found).await)
}

/// The event that started the workflow; the error says why there is nothing to do.
fn of_event(runner: &Runner, rules: &RuleSet) -> Result<Result<Asked, &'static str>, Failed> {
    let mut watched = Watched::new(None);
    watched.add(&runner.repository.to_string(), &rules.profile.settings);
    let (name, body) = runner.event().map_err(Failed::Input)?;
    let event = event::read(&name, &body, &watched).map_err(|error| {
        Failed::Input(format!("GITHUB_EVENT_PATH: not what GitHub sends for {name}: {error}"))
    })?;
    Ok(match event {
        Event::Asks { jobs, .. } => match jobs.into_iter().next() {
            Some(job) => {
                Ok(Asked { number: job.key.number, triggers: job.triggers, by_hand: None })
            }
            None => Err("it names no pull request"),
        },
        Event::Finished { .. } => Err("the Action follows comments and reviews only"),
        Event::Nothing(why) => Err(why),
    })
}

/// A target that somebody who may start the workflow gave.
fn by_hand(url: &str, repo: &RepoName) -> Result<Asked, Failed> {
    let (target, _) = target::parse_target(url).map_err(Failed::Input)?;
    if !target.repo.to_string().eq_ignore_ascii_case(&repo.to_string()) {
        return Err(Failed::Input(format!("`{url}` is not in {repo}, where the workflow runs")));
    }
    Ok(Asked { number: target.number, triggers: Vec::new(), by_hand: Some(target.signoff) })
}

/// What was found out.
pub(super) enum Found {
    /// Nothing to do, and why.
    Nothing(&'static str),
    /// Nobody signed.
    Unsigned(Gate),
    /// Verdicts on the sign-offs that count.
    Assessed(Vec<Assessment>),
}

/// Everything that one run needs to find out what to say.
struct Job<'a> {
    repo: &'a RepoName,
    rules: &'a RuleSet,
    signoffs: &'a signoff::Reader,
    reader: &'a Reader,
    asked: &'a Asked,
    posting: &'a Posting<'a>,
}

impl Job<'_> {
    async fn verify(&self) -> Result<(Found, post::Head), Failed> {
        let (reader, repo, number) = (self.reader, self.repo, self.asked.number);
        let (pull, tips, standing) = futures_util::try_join!(
            reader.pull(repo, number),
            reader.tips(repo, number),
            verify::standing(reader, self.signoffs, repo, number),
        )?;
        let (Some(pull), Some(tips)) = (pull, tips) else {
            return Err(Failed::Input(format!("{repo}#{number} does not exist")));
        };
        let head = post::Head {
            sha: pull.head_sha.clone(),
            repository_id: tips.repository_id,
            is_fork: pull.head_repository.as_deref() != Some(repo.to_string().as_str()),
        };
        let ready = pull.state == "open" && !pull.draft;
        let signoffs = match self.chosen(ready, &standing.0, &head).await? {
            Ok(signoffs) => signoffs,
            Err(why) => return Ok((Found::Nothing(why), head)),
        };
        if signoffs.is_empty() {
            let (rules, readers) = (self.rules, self.signoffs);
            let gate = verify::gate(reader, rules, readers, repo, number, Utc::now());
            return match Box::pin(gate).await {
                Ok(gate) => Ok((Found::Unsigned(gate), head)),
                Err(VerifyError::Read(error)) => Err(error.into()),
                Err(error) => Err(Failed::Input(error.to_string())),
            };
        }
        let mut assessed = Vec::new();
        for signoff in signoffs {
            let target = Target {
                repo: repo.clone(),
                number,
                signoff: Choice::This(signoff.kind, signoff.id),
            };
            let options =
                Options { now: target::now(), only: None, every_fact: false, tries: Tries::Last };
            let verdict = verify::verify(reader, self.rules, self.signoffs, &target, &options);
            match Box::pin(verdict).await {
                Ok(assessment) => assessed.push(assessment),
                Err(VerifyError::Read(error)) => return Err(error.into()),
                Err(error) if self.asked.by_hand.is_some() => {
                    return Err(Failed::Input(error.to_string()));
                }
                // It went away meanwhile.
                Err(_) => {}
            }
        }
        Ok((Found::Assessed(assessed), head))
    }

    /// The sign-offs to assess: all that count, since nothing is remembered of earlier runs.
    async fn chosen(
        &self,
        ready: bool,
        standing: &[Posted],
        head: &post::Head,
    ) -> Result<Result<Vec<SignOffRef>, &'static str>, Failed> {
        let all = || standing.iter().map(|one| SignOffRef { kind: one.kind, id: one.id });
        match &self.asked.by_hand {
            Some(Choice::This(kind, id)) => {
                return Ok(Ok(vec![SignOffRef { kind: *kind, id: *id }]));
            }
            Some(_) => return Ok(Ok(all().collect())),
            None => {}
        }
        let triggers = &self.asked.triggers;
        let actors = triggers.iter().map(|trigger| trigger.actor.as_str());
        let authors = standing.iter().map(|posted| posted.author.as_str());
        let settings = &self.rules.profile.settings.trigger;
        let may =
            verify::may_trigger(self.reader, settings, self.repo, actors.chain(authors)).await?;
        let mut assessed = BTreeMap::new();
        let named: BTreeSet<String> = triggers
            .iter()
            .filter_map(|trigger| trigger.signoff.map(|signoff| signoff.to_string()))
            .collect();
        for key in named {
            if self.posting.has_verdict(head, &key).await? {
                assessed.insert(key, true);
            }
        }
        let seen = Seen { ready, triggers, may: &may, standing, assessed: &assessed };
        Ok(match seen.plan() {
            Plan::Nothing(why) => Err(why),
            Plan::Go { signoffs } => Ok(signoffs.into_iter().map(|(one, _)| one).collect()),
        })
    }
}
