//! What a run of the Action posts, and what it says where it may not post.

use std::sync::Arc;

use secrecy::SecretString;

use super::Found;
use super::runner::Runner;
use super::said::Said;
use crate::cli::Exit;
use crate::cli::publish::{comment, options};
use crate::github::{ApiError, Client};
use crate::publish::{
    Conclusion, Identity, PublishError, Publisher, Standing, Subject, aggregate, standing_list,
};
use crate::rules::RuleSet;
use crate::rules::escape::prose;
use crate::verdict::{self, CheckOutput, Outcome, marker_of};
use crate::verify::{Assessment, Gate};

/// The commit that is spoken of.
pub(super) struct Head {
    pub(super) sha: String,
    pub(super) repository_id: i64,
    /// Whether it comes from a fork.
    pub(super) is_fork: bool,
}

/// Posts with the job's token.
pub(super) struct Posting<'a> {
    pub(super) client: Arc<Client>,
    pub(super) runner: &'a Runner,
    pub(super) rules: &'a RuleSet,
    pub(super) number: i64,
}

/// What is to be posted.
struct Content {
    verdict: &'static str,
    /// `None` while somebody is waited for.
    conclusion: Option<Conclusion>,
    output: CheckOutput,
    /// Verdict comments.
    comments: Vec<String>,
    summary: String,
    exit: Exit,
}

impl Posting<'_> {
    /// Posts what was found, and says it in the job's summary whether or not it could be posted.
    pub(super) async fn post(&self, (found, head): (Found, Head)) -> Said {
        let content = match found {
            Found::Nothing(why) => return Said::nothing(why),
            Found::Unsigned(gate) => self.unsigned(&gate),
            Found::Assessed(all) if all.is_empty() => {
                return Said::nothing("the sign-off went away while it was read");
            }
            Found::Assessed(all) => self.assessed(&head, &all),
        };
        let mut said = Said {
            verdict: content.verdict,
            line: "the job's summary has the whole verdict".to_owned(),
            summary: content.summary.clone(),
            commit: Some(head.sha.clone()),
            comment_url: None,
            exit: content.exit,
        };
        match self.publish(&head, &content).await {
            Ok(url) => said.comment_url = url,
            Err(why) => {
                let (line, words) = self.unposted(&head, &why);
                said.line = format!("{line}; {}", said.line);
                said.summary = format!(
                    "> **Nothing was posted on the pull request.** {words}\n\n{}",
                    said.summary
                );
                if !why.is_refused() {
                    said.exit = Exit::Undecided;
                }
            }
        }
        said
    }

    fn unsigned(&self, gate: &Gate) -> Content {
        match gate {
            Gate::NotRequired(none) => {
                let verdict = &none.verdict;
                let command = verdict.command();
                Content {
                    verdict: Outcome::NotRequired.words(),
                    conclusion: Some(Conclusion::Success),
                    output: verdict::check_output(verdict, &options(&command, self.rules), ""),
                    comments: Vec::new(),
                    summary: comment(verdict, self.rules),
                    exit: Exit::Clean,
                }
            }
            Gate::Required { scope, discarded } => {
                let output = verdict::waiting(scope, discarded);
                Content {
                    verdict: "WAITING",
                    conclusion: None,
                    summary: format!("## {}\n\n{}", output.title, output.summary),
                    output,
                    comments: Vec::new(),
                    exit: Exit::Clean,
                }
            }
        }
    }

    fn assessed(&self, head: &Head, all: &[Assessment]) -> Content {
        let standing: Vec<Standing> =
            all.iter().filter_map(|one| Standing::of(&one.verdict)).collect();
        let conclusion = aggregate(&head.sha, &standing).unwrap_or(Conclusion::ActionRequired);
        let (word, exit) = match conclusion {
            Conclusion::Success => (Outcome::Approved, Exit::Clean),
            Conclusion::Failure => (Outcome::Rejected, Exit::Findings),
            Conclusion::ActionRequired => (Outcome::Undecided, Exit::Undecided),
        };
        let shown = all.iter().find(|one| one.verdict.verdict == word).unwrap_or(&all[0]);
        let preface = match standing.len() {
            0 | 1 => String::new(),
            _ => standing_list(&head.sha, &standing),
        };
        let command = shown.verdict.command();
        let concluded = |one: &&Assessment| {
            matches!(one.verdict.verdict, Outcome::Approved | Outcome::Rejected)
        };
        let text = |one: &Assessment| comment(&one.verdict, self.rules);
        Content {
            verdict: shown.verdict.verdict.words(),
            conclusion: Some(conclusion),
            output: verdict::check_output(&shown.verdict, &options(&command, self.rules), &preface),
            comments: all.iter().filter(concluded).map(text).collect(),
            summary: all.iter().map(text).collect::<Vec<_>>().join("\n\n---\n\n"),
            exit,
        }
    }

    /// Whether a sign-off (`KIND/ID`) has a verdict comment of ours: the one thing that is remembered
    /// between runs.
    pub(super) async fn has_verdict(&self, head: &Head, key: &str) -> Result<bool, PublishError> {
        match self.publisher() {
            Some(publisher) => publisher.has_comment(&self.subject(head), &marker_of(key)).await,
            None => Ok(false),
        }
    }

    /// `None` without a key: what is ours could not be told from what others write.
    fn publisher(&self) -> Option<Publisher> {
        let key = self.runner.marker_key.clone()?;
        let settings = &self.rules.profile.settings.check_run;
        Some(Publisher {
            client: Arc::clone(&self.client) as _,
            identity: Identity::Shared(SecretString::from(key)),
            check_name: settings.name.clone(),
            status_context: settings.status_context.clone(),
        })
    }

    fn subject(&self, head: &Head) -> Subject {
        Subject {
            repo: self.runner.repository.clone(),
            repository_id: head.repository_id,
            number: self.number,
            head: head.sha.clone(),
            details_url: None,
        }
    }

    /// Check run first, then comments; gives the address of the last comment.
    async fn publish(&self, head: &Head, content: &Content) -> Result<Option<String>, Unposted> {
        let publisher = self.publisher().ok_or(Unposted::NoKey)?;
        let subject = self.subject(head);
        let output = &content.output;
        // What is not concluded does not read as if it were, should the next request fail.
        let verifying = CheckOutput::plain("Verifying the sign-off", "Reading the evidence.");
        let opening = if content.conclusion.is_some() { &verifying } else { output };
        let run = publisher.take_up(&subject, opening).await?;
        if let Some(conclusion) = content.conclusion {
            publisher.complete(&subject, &run, conclusion, output).await?;
        }
        let mut url = None;
        for text in &content.comments {
            url = Some(publisher.comment(&subject, text).await?.url);
        }
        Ok(url)
    }

    /// Why nothing was posted, and what to do: a line of our own words, and Markdown.
    fn unposted(&self, head: &Head, why: &Unposted) -> (&'static str, String) {
        match why {
            Unposted::NoKey => (
                "nothing was posted: there is no marker key",
                "The environment variable `COUNTERSIGN_MARKER_KEY` is not set. Every workflow of a \
                 repository writes as the same account; without a secret of its own the Action could \
                 not tell its comments from theirs. Make one with `openssl rand -hex 32`, keep it as a \
                 secret of the repository, and give it to the Action as `marker-key`."
                    .to_owned(),
            ),
            Unposted::Publish(error) if why.is_refused() && head.is_fork => (
                "nothing was posted: the token may not write",
                format!(
                    "GitHub would not let this job's token write ({}): on a pull request from a fork a \
                     review starts a job with a read-only token. Comments of the conversation start one \
                     that may write: somebody with write access posts the line `/countersign verify`.",
                    prose(&error.to_string())
                ),
            ),
            Unposted::Publish(error) if why.is_refused() => (
                "nothing was posted: the token may not write",
                format!(
                    "GitHub would not let this job's token write ({}). The workflow's `permissions` have \
                     to hold `checks: write`, `issues: write` and `pull-requests: write`.",
                    prose(&error.to_string())
                ),
            ),
            Unposted::Publish(error) => (
                "nothing was posted, or not all of it",
                format!("{}. Run the job again.", prose(&error.to_string())),
            ),
        }
    }
}

/// Why nothing was posted.
enum Unposted {
    NoKey,
    Publish(PublishError),
}

impl From<PublishError> for Unposted {
    fn from(error: PublishError) -> Self {
        Self::Publish(error)
    }
}

impl Unposted {
    /// Whether it is a matter of rights, which no retry changes: the verdict stands as it is.
    fn is_refused(&self) -> bool {
        match self {
            Self::NoKey => true,
            Self::Publish(error) => {
                matches!(error, PublishError::Api { error: ApiError::Forbidden(_), .. })
            }
        }
    }
}
