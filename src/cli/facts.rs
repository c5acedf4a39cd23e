//! `countersign facts`.

use super::Exit;
use super::target::TargetArgs;
use crate::facts::{Cause, FACT_NAMES};

/// Arguments of `facts`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: TargetArgs,
}

/// Runs it.
pub fn run(args: Args) -> Exit {
    super::block_on(async move {
        let replayed = args.target.source.replay.is_some();
        let opened = match args.target.open() {
            Ok(opened) => opened.with_every_fact(replayed),
            Err(error) => return super::bad(&error),
        };
        let assessment = match opened.assess().await {
            Ok(assessment) => assessment,
            Err(error) => {
                return super::verify::failed(&error, &opened.advice, &opened.looked_for());
            }
        };
        match serde_json::to_string_pretty(&assessment.facts) {
            Ok(json) => super::to_stdout(&format!("{json}\n")),
            Err(error) => return super::bad(&error.to_string()),
        }
        let inputs = &assessment.verdict.inputs;
        if let Err(error) = opened.finish(&inputs.head, &inputs.base) {
            return super::bad(&error);
        }
        let ours = |name: &&str| {
            assessment.facts.missing(name).is_some_and(|missing| missing.cause == Cause::Ours)
        };
        if FACT_NAMES.iter().any(ours) { Exit::Undecided } else { Exit::Clean }
    })
}
