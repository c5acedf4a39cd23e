//! What `verify`, `facts` and `draft` assess, and where they read it from.

use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use url::Url;

use super::profile::{ProfileArgs, Recorded};
use crate::facts::SignOffKind;
use crate::github::Client;
use crate::rules::RuleSet;
use crate::signoff;
use crate::sources::git::LocalClone;
use crate::sources::live::Live;
use crate::sources::record::{self, Replay};
use crate::sources::{Outside, Reader, RepoName, Source};
use crate::verdict::Tries;
use crate::verify::{Assessment, Choice, Options, Target, VerifyError, verify};

/// Arguments of every subcommand that assesses a sign-off.
#[derive(Debug, clap::Args)]
pub struct TargetArgs {
    /// Which pull request, and where it is read.
    #[command(flatten)]
    pub source: SourceArgs,
    /// With --git-dir: a file with the sign-off, posted or not.
    #[arg(long, value_name = "FILE", requires = "git_dir")]
    pub signoff: Option<PathBuf>,
    /// With --signoff: the login of who posts it.
    #[arg(long, value_name = "LOGIN", requires = "signoff")]
    pub author: Option<String>,
    /// Evaluate only these checks, by id or number; the output is then marked partial.
    #[arg(long, value_name = "ID,ID", value_delimiter = ',')]
    pub only: Vec<String>,
}

impl TargetArgs {
    /// Opens the source that the arguments name.
    ///
    /// # Errors
    /// A text for standard error: the input, the place in it, what was expected. Exit code 2.
    pub fn open(self) -> Result<Opened, String> {
        let signoff = given(self.signoff.as_deref(), self.author)?;
        self.source.open(signoff, self.only)
    }
}

/// Which pull request, and where it is read.
#[derive(Debug, clap::Args)]
pub struct SourceArgs {
    /// URL of a pull request. Where a sign-off is assessed: of the comment or review that holds it;
    /// with that of a pull request, its newest one is taken.
    #[arg(required_unless_present_any = ["replay", "git_dir"], conflicts_with_all = ["replay", "git_dir"])]
    pub target: Option<String>,
    /// Assess from a record (a folder that --record wrote), with no network at all.
    #[arg(long, value_name = "DIR", conflicts_with = "git_dir")]
    pub replay: Option<PathBuf>,
    /// Assess from a local clone, with no network.
    #[arg(long, value_name = "DIR", requires_all = ["base", "head"])]
    pub git_dir: Option<PathBuf>,
    /// With --git-dir: the target branch's tip.
    #[arg(long, value_name = "REVISION", requires = "git_dir")]
    pub base: Option<String>,
    /// With --git-dir: the commit to assess.
    #[arg(long, value_name = "REVISION", requires = "git_dir")]
    pub head: Option<String>,
    /// With --git-dir: the pull request's number, for links.
    #[arg(long, value_name = "N", requires = "git_dir", default_value_t = 0)]
    pub pr: i64,
    /// With --git-dir: the repository, for links and rules.
    #[arg(long, value_name = "OWNER/NAME", requires = "git_dir", default_value = "local/clone")]
    pub repo: RepoName,
    /// Which profile.
    #[command(flatten)]
    pub profile: ProfileArgs,
    /// The time that the rules see, instead of now.
    #[arg(long, value_name = "RFC3339", value_parser = parse_time)]
    pub now: Option<DateTime<Utc>>,
    /// Write everything that was read to this folder, for --replay. Keep it private: it holds what
    /// comments and files hold.
    #[arg(long, value_name = "DIR", conflicts_with = "replay")]
    pub record: Option<PathBuf>,
    /// The environment variable that holds the token.
    #[arg(long, value_name = "NAME", default_value = "GITHUB_TOKEN")]
    pub token_env: String,
    /// Print to standard error what was read, in which round and how long it took.
    #[arg(long)]
    pub timings: bool,
}

fn parse_time(text: &str) -> Result<DateTime<Utc>, String> {
    DateTime::parse_from_rfc3339(text)
        .map(|time| time.with_timezone(&Utc))
        .map_err(|error| format!("{error}; expected e.g. 2026-10-13T08:00:00Z"))
}

/// What a record says beside its reads: how to ask the same question again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    repo: RepoName,
    number: i64,
    signoff: Asked,
    only: Option<Vec<String>>,
    offline: bool,
    /// Name of the profile; records of before it was kept have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    profile: Option<String>,
    rules_digest: String,
}

/// The recorded form of [`Choice`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Asked {
    Newest,
    This { kind: SignOffKind, id: i64 },
    Text { body: String, author: String },
    None,
}

/// Everything that one assessment needs.
pub struct Opened {
    /// Reads.
    pub reader: Reader,
    /// The rules.
    pub rules: RuleSet,
    /// Reads sign-offs by their profile.
    pub signoffs: signoff::Reader,
    /// What is assessed.
    pub target: Target,
    /// How.
    pub options: Options,
    /// What to do where something could not be read.
    pub advice: String,
    /// The client that read, where one did; a publisher may use it.
    pub client: Option<Arc<Client>>,
    record: Option<PathBuf>,
    timings: bool,
}

impl SourceArgs {
    /// Opens the source that the arguments name. The sign-off is that of a clone, which has none of
    /// its own; a URL and a record name theirs.
    ///
    /// # Errors
    /// A text for standard error: the input, the place in it, what was expected. Exit code 2.
    pub fn open(self, signoff: Choice, only: Vec<String>) -> Result<Opened, String> {
        let now = self.now.or_else(now_from_environment);
        let mut client = None;
        let mut advice = String::new();
        let (rules, source, target, options);
        if let Some(dir) = &self.replay {
            let record = Opening::of(dir)?;
            rules = self.profile.rules_for(&record.question.repo, Some(record.rules()))?;
            let only = selected(&rules, only)?;
            (source, target, options) = record.replay(&rules, only, self.now)?;
        } else if let Some(dir) = &self.git_dir {
            let (Some(base), Some(head)) = (&self.base, &self.head) else {
                return Err("--git-dir needs --base and --head".to_owned());
            };
            rules = self.profile.rules_for(&self.repo, None)?;
            let only = selected(&rules, only)?;
            let clone = LocalClone::open(dir, self.repo.clone(), self.pr, base, head)
                .map_err(|error| error.to_string())?;
            source = Arc::new(clone) as Arc<dyn Source>;
            target = Target { repo: self.repo, number: self.pr, signoff };
            let tries = Tries::Offline;
            options = Options { now: now.unwrap_or_else(Utc::now), only, every_fact: false, tries };
        } else {
            let host;
            (target, host) = parse_target(&self.target.unwrap_or_default())?;
            rules = self.profile.rules_for(&target.repo, None)?;
            let only = selected(&rules, only)?;
            let api = api_url(&host)?;
            let token = std::env::var(&self.token_env).ok().filter(|token| !token.is_empty());
            advice = advise(&self.token_env, token.is_some());
            let made = Client::with_token(&api, token.map(SecretString::from))
                .map_err(|error| error.to_string())?;
            let made = client.insert(Arc::new(made));
            let live = Arc::new(Live::new(Arc::clone(made)));
            source = outside()?.before(live, &rules.profile);
            let tries = Tries::Last;
            options = Options { now: now.unwrap_or_else(Utc::now), only, every_fact: false, tries };
        }
        let signoffs = rules.profile.reader().map_err(|error| error.to_string())?;
        Ok(Opened {
            reader: Reader::new(source),
            rules,
            signoffs,
            target,
            options,
            advice,
            client,
            record: self.record,
            timings: self.timings,
        })
    }
}

impl Opened {
    /// Assesses what was opened.
    ///
    /// # Errors
    /// As [`crate::verify::verify`].
    pub async fn assess(&self) -> Result<Assessment, VerifyError> {
        verify(&self.reader, &self.rules, &self.signoffs, &self.target, &self.options).await
    }

    /// By what a sign-off is known.
    pub fn looked_for(&self) -> String {
        let settings = &self.rules.profile.settings;
        format!(
            "A sign-off begins with \"{}\" (profile {}; --rules names another).",
            settings.signoff.phrase, settings.name
        )
    }

    /// The same, with every fact: also those that no rule asks for. A record holds no more than was asked,
    /// and a choice of rules stays one.
    pub fn with_every_fact(mut self, replayed: bool) -> Self {
        self.options.every_fact = !replayed && self.options.only.is_none();
        self
    }

    /// Writes the record that was asked for and tells the timings, after the assessment.
    ///
    /// # Errors
    /// Where the record cannot be written.
    pub fn finish(&self, head: &str, base: &str) -> Result<(), String> {
        if self.timings {
            super::timings::tell(&self.reader.timings());
        }
        let Some(dir) = &self.record else { return Ok(()) };
        let signoff = match &self.target.signoff {
            Choice::Newest => Asked::Newest,
            Choice::This(kind, id) => Asked::This { kind: *kind, id: *id },
            Choice::Text { body, author } => {
                Asked::Text { body: body.clone(), author: author.clone() }
            }
            Choice::None => Asked::None,
        };
        let question = Question {
            repo: self.target.repo.clone(),
            number: self.target.number,
            signoff,
            only: self.options.only.clone(),
            offline: self.options.tries == Tries::Offline,
            profile: Some(self.rules.profile.settings.name.clone()),
            rules_digest: self.rules.digest.clone(),
        };
        let meta = record::Meta {
            target: self.target.to_string(),
            head: head.to_owned(),
            base: base.to_owned(),
            now: crate::verify::rfc3339(self.options.now),
            options: serde_json::to_value(question).map_err(|error| error.to_string())?,
        };
        record::write(dir, &meta, &self.reader.record()).map_err(|error| error.to_string())
    }
}

/// A record, and the question that it answers.
struct Opening {
    replay: Replay,
    question: Question,
    now: DateTime<Utc>,
    /// The time as it is written in the record.
    written: String,
}

impl Opening {
    /// Opens a record.
    fn of(dir: &std::path::Path) -> Result<Self, String> {
        let (replay, meta) = Replay::open(dir).map_err(|error| error.to_string())?;
        let path = dir.join("record.json");
        let question: Question = serde_json::from_value(meta.options)
            .map_err(|error| format!("{}: options: {error}", path.display()))?;
        let now = parse_time(&meta.now).map_err(|e| format!("{}: now: {e}", path.display()))?;
        Ok(Self { replay, question, now, written: meta.now })
    }

    fn rules(&self) -> Recorded<'_> {
        let digest = self.question.rules_digest.as_str();
        Recorded { profile: self.question.profile.as_deref(), digest }
    }

    /// Asks its question again.
    fn replay(
        self,
        rules: &RuleSet,
        only: Option<Vec<String>>,
        now: Option<DateTime<Utc>>,
    ) -> Result<(Arc<dyn Source>, Target, Options), String> {
        let Self { replay, question, now: recorded, written } = self;
        if now.is_some_and(|now| now != recorded) {
            return Err(format!(
                "--now differs from the record's {written}; a replay has the record's time, so leave \
                 --now out"
            ));
        }
        if question.rules_digest != rules.digest {
            tracing::warn!(
                recorded = question.rules_digest,
                now = rules.digest,
                "the record was made with other rules"
            );
        }
        let signoff = match question.signoff {
            Asked::Newest => Choice::Newest,
            Asked::This { kind, id } => Choice::This(kind, id),
            Asked::Text { body, author } => Choice::Text { body, author },
            Asked::None => Choice::None,
        };
        let target = Target { repo: question.repo, number: question.number, signoff };
        let tries = if question.offline { Tries::Offline } else { Tries::Last };
        let only = only.or(question.only);
        Ok((Arc::new(replay), target, Options { now: recorded, only, every_fact: false, tries }))
    }
}

/// The sign-off of a local run.
fn given(file: Option<&std::path::Path>, author: Option<String>) -> Result<Choice, String> {
    let Some(file) = file else { return Ok(Choice::None) };
    let body = super::read_text(file, crate::limits::BODY_BYTES)?;
    Ok(Choice::Text { body, author: author.unwrap_or_default() })
}

/// Ids of the selected checks, from ids or numbers.
fn selected(rules: &RuleSet, only: Vec<String>) -> Result<Option<Vec<String>>, String> {
    if only.is_empty() {
        return Ok(None);
    }
    let ids =
        only.into_iter().map(|name| super::rules::find(rules, name.trim()).map(|r| r.id.clone()));
    ids.collect::<Result<Vec<_>, _>>().map(Some)
}

/// What to do where GitHub could not be read.
fn advise(variable: &str, has_token: bool) -> String {
    if has_token {
        format!(
            "Try again; where it stays so, check the address, the network, and that the token in \
             {variable} may read this repository."
        )
    } else {
        format!(
            "The environment variable {variable} is not set: put a token in it that may read this \
             repository (--token-env names another variable)."
        )
    }
}

/// The time that the rules see, where nothing else says it.
pub(super) fn now() -> DateTime<Utc> {
    now_from_environment().unwrap_or_else(Utc::now)
}

/// The world outside GitHub, or what stands in for it.
pub fn outside() -> Result<Outside, String> {
    let name = "COUNTERSIGN_REGISTRY_URL";
    let url = std::env::var(name).ok().filter(|url| !url.is_empty());
    let url = url.map(|url| Url::parse(&url).map_err(|error| format!("{name}: {error}")));
    Outside::new(url.transpose()?)
}

fn now_from_environment() -> Option<DateTime<Utc>> {
    std::env::var("COUNTERSIGN_NOW").ok().and_then(|text| parse_time(&text).ok())
}

/// Where the API of a host is. Another host than GitHub's own is asked only where it was named on
/// purpose: a token must not follow a URL that somebody pasted.
fn api_url(host: &str) -> Result<String, String> {
    match std::env::var("COUNTERSIGN_GITHUB_API_URL") {
        Ok(url) if !url.is_empty() => Ok(url),
        _ if host == "github.com" => Ok("https://api.github.com".to_owned()),
        _ => Err(format!(
            "the target is on {host}; set COUNTERSIGN_GITHUB_API_URL to that server's API \
             (for GitHub Enterprise https://{host}/api/v3)"
        )),
    }
}

/// Takes a target apart: `https://HOST/OWNER/REPO/pull/N`, with `#issuecomment-ID`,
/// `#pullrequestreview-ID` or `#discussion_rID` where a sign-off is named. Returns the host too.
///
/// # Errors
/// What was expected, and where the text differs from it.
pub fn parse_target(text: &str) -> Result<(Target, String), String> {
    let expected = "expected https://HOST/OWNER/REPO/pull/N, perhaps with #issuecomment-ID, \
                    #pullrequestreview-ID or #discussion_rID";
    let url = Url::parse(text).map_err(|_| format!("`{text}` is no URL; {expected}"))?;
    let wrong = |what: &str| format!("`{text}`: {what}; {expected}");
    if !["http", "https"].contains(&url.scheme()) {
        return Err(wrong("only http and https can be read"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("a URL with credentials in it is not taken"));
    }
    let host = url.host_str().ok_or_else(|| wrong("it has no host"))?.to_owned();
    let parts: Vec<&str> = url.path().trim_start_matches('/').split('/').collect();
    let [owner, name, "pull", number, ..] = parts.as_slice() else {
        return Err(wrong("its path is not OWNER/REPO/pull/N"));
    };
    let repo = format!("{owner}/{name}").parse().map_err(|error: String| wrong(&error))?;
    let number = positive(number).ok_or_else(|| wrong("the pull request's number is no number"))?;
    let signoff = match url.fragment() {
        None | Some("") => Choice::Newest,
        Some(fragment) => {
            let forms = [
                ("issuecomment-", SignOffKind::IssueComment),
                ("pullrequestreview-", SignOffKind::Review),
                ("discussion_r", SignOffKind::ReviewComment),
            ];
            let found = forms
                .into_iter()
                .find_map(|(prefix, kind)| Some((kind, positive(fragment.strip_prefix(prefix)?)?)));
            let (kind, id) =
                found.ok_or_else(|| wrong(&format!("`#{fragment}` names no comment or review")))?;
            Choice::This(kind, id)
        }
    };
    Ok((Target { repo, number, signoff }, host))
}

/// A positive number without a sign or leading zero, as GitHub writes ids.
fn positive(text: &str) -> Option<i64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && !text.starts_with('0');
    plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_target_is_taken() {
        let id = |text: &str| match parse_target(text).map(|(target, _)| target.signoff) {
            Ok(Choice::This(kind, id)) => format!("{} {id}", kind.as_str()),
            Ok(Choice::Newest) => "newest".to_owned(),
            other => format!("{other:?}"),
        };
        let base = "https://github.com/o/r/pull/12";
        assert_eq!(id(base), "newest");
        assert_eq!(id(&format!("{base}/files")), "newest");
        assert_eq!(id(&format!("{base}#issuecomment-7")), "issue_comment 7");
        assert_eq!(id(&format!("{base}#pullrequestreview-8")), "review 8");
        assert_eq!(id(&format!("{base}/files#discussion_r9")), "review_comment 9");
    }

    #[test]
    fn what_is_no_target_says_what_was_expected() {
        for text in [
            "12",
            "https://github.com/o/r/issues/12",
            "https://github.com/o/r/pull/012",
            "https://github.com/o/r/pull/12#issuecomment-x",
            "https://github.com/o/r/pull/12#issuecomment-07",
            "https://u:p@github.com/o/r/pull/12",
            "ftp://github.com/o/r/pull/12",
            "https://github.com/o/../pull/12",
            "https://github.com/o/r/pull/-1",
        ] {
            let error = parse_target(text).expect_err(text);
            assert!(error.contains("expected https://HOST/OWNER/REPO/pull/N"), "{error}");
        }
    }
}
