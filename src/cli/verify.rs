//! `countersign verify`.

use super::target::{Opened, TargetArgs};
use super::{Exit, Format};
use crate::verdict::Outcome;
use crate::verify::{Assessment, VerifyError};

/// Arguments of `verify`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: TargetArgs,
    /// How the verdict is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Post the verdict as check run and comment; without it nothing is written. GitHub takes check runs
    /// from an App's token only.
    #[arg(long)]
    publish: bool,
}

/// Runs it.
pub fn run(args: Args) -> Exit {
    if args.publish && !args.target.only.is_empty() {
        return super::bad("--publish with --only: a partial verdict is not published");
    }
    if args.publish && (args.target.source.replay.is_some() || args.target.source.git_dir.is_some())
    {
        return super::bad("--publish needs a live pull request, not a record or a clone");
    }
    let newest = args.target.source.target.as_deref().is_some_and(|url| !url.contains('#'));
    super::block_on(async move {
        let opened = match args.target.open() {
            Ok(opened) => opened,
            Err(error) => return super::bad(&error),
        };
        match opened.assess().await {
            Ok(assessment) => {
                if newest && let Some(signoff) = &assessment.verdict.signoff {
                    super::to_stderr(&format!(
                        "Newest sign-off: {} by {}, {}",
                        signoff.kind.as_str(),
                        signoff.author,
                        signoff.url.as_deref().unwrap_or("(no page)")
                    ));
                }
                conclude(&opened, &assessment, args.format, args.publish).await
            }
            Err(error) => failed(&error, &opened.advice, &opened.looked_for()),
        }
    })
}

async fn conclude(opened: &Opened, assessment: &Assessment, format: Format, publish: bool) -> Exit {
    let verdict = &assessment.verdict;
    super::to_stdout(&super::rendered(verdict, &opened.rules, format));
    let exit = match verdict.verdict {
        Outcome::Approved | Outcome::NotRequired => Exit::Clean,
        Outcome::Rejected => Exit::Findings,
        Outcome::Undecided => Exit::Undecided,
    };
    if let Err(error) = opened.finish(&verdict.inputs.head, &verdict.inputs.base) {
        return super::bad(&error);
    }
    if publish && let Err(error) = super::publish::publish(opened, assessment).await {
        super::to_stderr(&format!("error: the verdict stands, but publishing it failed: {error}"));
        return Exit::Undecided;
    }
    exit
}

/// The one table from what hinders an assessment to an exit code.
///
/// `looked_for` says by what a sign-off would have been known.
pub fn failed(error: &VerifyError, advice: &str, looked_for: &str) -> Exit {
    match error {
        VerifyError::NoSignOff { near, .. } => {
            let mut text = format!("error: {error}");
            if near.is_empty() {
                text.push_str("; no comment came near one");
            }
            for discarded in near {
                text.push_str(&format!("\n  {discarded}"));
            }
            text.push_str(&format!("\n{looked_for}"));
            super::to_stderr(&text);
            Exit::BadInput
        }
        VerifyError::NoSuchComment { .. } | VerifyError::NotASignOff { .. } => {
            super::bad(&error.to_string())
        }
        VerifyError::Read(_) => {
            let text = format!("undecided: {error}\nNothing was concluded. {advice}");
            super::to_stderr(text.trim_end());
            Exit::Undecided
        }
    }
}
