//! `countersign draft`: the current template, filled in with what the evidence already proves.

use super::Exit;
use super::target::{Opened, SourceArgs};
use crate::facts::{Cause, FACT_NAMES, Missing, Template};
use crate::rules::evaluate;
use crate::signoff::{Filled, Filling};
use crate::verdict::{Draft, Standing};
use crate::verify::{Assessment, Choice};

/// Arguments of `draft`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    source: SourceArgs,
    /// The login for the signature line; without it the template's placeholder stays.
    #[arg(long, value_name = "LOGIN", value_parser = parse_login)]
    author: Option<String>,
}

/// A login as GitHub has them, with the underscore of managed accounts.
fn parse_login(text: &str) -> Result<String, String> {
    let login = text.trim_start_matches('@');
    let fits = (1..=39).contains(&login.len())
        && !login.starts_with('-')
        && login.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if fits { Ok(login.to_owned()) } else { Err("expected a GitHub login".to_owned()) }
}

/// Runs it.
pub fn run(args: Args) -> Exit {
    if args.source.target.as_deref().is_some_and(|url| url.contains('#')) {
        return super::bad(
            "draft takes the URL of a pull request, not of a comment or review on it",
        );
    }
    super::block_on(async move {
        let mut opened = match args.source.open(Choice::None, Vec::new()) {
            Ok(opened) => opened,
            Err(error) => return super::bad(&error),
        };
        // What stands there as a sign-off says nothing here.
        opened.target.signoff = Choice::None;
        opened.options.only = None;
        let assessment = match opened.assess().await {
            Ok(assessment) => assessment,
            Err(error) => {
                return super::verify::failed(&error, &opened.advice, &opened.looked_for());
            }
        };
        let exit = match assessment.facts.template.missing() {
            Some(missing) => lacking(missing, &opened.advice),
            None => draft(&opened, &assessment, args.author).await,
        };
        let inputs = &assessment.verdict.inputs;
        if let Err(error) = opened.finish(&inputs.head, &inputs.base) {
            return super::bad(&error);
        }
        exit
    })
}

/// Without a template there is nothing to fill in.
fn lacking(missing: &Missing, advice: &str) -> Exit {
    let fix = missing.fix.as_deref().map(|fix| format!("\n{fix}")).unwrap_or_default();
    let text = format!("{}{fix}", missing.reason);
    if missing.cause == Cause::Submission {
        return super::bad(&text);
    }
    let text = format!("undecided: the template: {text}\nNothing was drafted. {advice}");
    super::to_stderr(&super::without_controls(text.trim_end()));
    Exit::Undecided
}

async fn draft(opened: &Opened, assessment: &Assessment, author: Option<String>) -> Exit {
    let facts = &assessment.facts;
    let Some(template) = facts.template.known() else { return Exit::Undecided };
    let text = match template_text(opened, template).await {
        Ok(text) => text,
        Err(error) => return super::bad(&error),
    };
    let rows = evaluate(&opened.rules, facts, None);
    let draft = Draft::new(&opened.rules, &rows, facts, &template.items);
    let filled = draft.items.iter().map(|answer| Filled {
        checked: answer.standing == Standing::Proven,
        behind: answer.run_link(|url| opened.signoffs.run_of(url)),
    });
    let filling = Filling {
        items: filled.collect(),
        details: draft.details(opened.signoffs.placeholder(), |line| {
            opened.signoffs.explained_by(line, &template.items)
        }),
        signer: author,
    };
    super::to_stdout(&opened.signoffs.fill_in(&text, &filling));
    let subject = &assessment.verdict;
    let commit: String = subject.assessed_commit.chars().take(7).collect();
    let what = format!(
        "{}#{} at {commit}, {} items",
        subject.repository,
        subject.pull_request,
        template.items.len()
    );
    super::to_stderr(draft.summary(&what).trim_end());
    let ours =
        |name: &&str| facts.missing(name).is_some_and(|missing| missing.cause == Cause::Ours);
    if draft.unread() || FACT_NAMES.iter().any(ours) { Exit::Undecided } else { Exit::Clean }
}

/// The template's own text: the same read that its items came from.
async fn template_text(opened: &Opened, template: &Template) -> Result<String, String> {
    let read = opened.reader.file(&opened.target.repo, &template.commit, &template.path).await;
    let bytes = read.map_err(|error| error.to_string())?;
    let document = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
    let heading = &opened.rules.profile.settings.template.heading;
    let text = opened.signoffs.template_source(&document, heading);
    text.map(str::to_owned).map_err(|error| format!("{}: {error}", template.path))
}
