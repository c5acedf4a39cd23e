//! `deprecations`: what the document of models says of everything that is affected.

use std::collections::BTreeSet;

use super::runs::Runs;
use super::world::{Found, World, text};
use crate::bench::models::{self, Judgement, Models, Query, State, Words};
use crate::evidence::in_order::all_in_order;
use crate::evidence::{Context, missing, pr};
use crate::facts::{Deprecation, DeprecationState, Missing, Origin};

/// The document at the tip of the default branch.
pub(super) struct Document {
    path: String,
    commit: String,
    models: Models,
}

/// Reads it; the first candidate that exists counts.
pub(super) async fn document(
    context: &Context<'_>,
    candidates: &[String],
) -> Result<Document, Missing> {
    let words: Words = context.table("models")?;
    let commit = pr::tips(context).await?.default_sha;
    let reads = candidates.iter().map(|path| context.reader.file(context.repo, &commit, path));
    let found = all_in_order(reads).await.map_err(missing)?;
    let Some((path, bytes)) = candidates.iter().zip(found).find_map(|(path, b)| Some((path, b?)))
    else {
        return Err(Missing::submission(format!(
            "there is no document of models at {commit} (looked for {})",
            candidates.join(", ")
        ))
        .with_fix(
            "Put the document back on the default branch, or correct its place in the profile.",
        ));
    };
    let text = text(&bytes).map_err(|problem| {
        Missing::submission(format!("{path} at {commit} cannot be read: {problem}"))
    })?;
    Ok(Document { path: path.clone(), models: models::read(text, &words), commit })
}

pub(super) fn deprecations(
    context: &Context<'_>,
    world: &World<'_>,
    found: &[Found<'_>],
    document: &Document,
    runs: &Runs<'_>,
) -> Vec<Deprecation> {
    let mut all = Vec::new();
    for found in found {
        let Some(entry) = found.of.head else { continue };
        let mut asked = BTreeSet::new();
        for (scenario, row) in entry.rows() {
            if !found.scenarios.contains(scenario.workload.scenario_type()) {
                continue;
            }
            let name = scenario.workload.name();
            let speculative = row.speculates() || runs.speculating.contains(&entry.key);
            if !asked.insert((name.clone(), speculative)) {
                continue;
            }
            let judged = document.models.judge(&Query {
                prefix: &entry.model_prefix.text,
                scenario: &name,
                precision: &entry.precision.text,
                speculative,
                date: context.date,
            });
            let config_origin = world.line(&world.head, &entry.path, row.at);
            all.push(deprecation(
                world,
                document,
                judged,
                Deprecation {
                    subject: format!("{} {name}", entry.key),
                    config: entry.key.clone(),
                    prefix: entry.model_prefix.text.clone(),
                    scenario: name,
                    precision: entry.precision.text.clone(),
                    speculative,
                    state: DeprecationState::Unlisted,
                    last_day: None,
                    row: String::new(),
                    origin: config_origin.clone(),
                    config_origin,
                },
            ));
        }
    }
    all
}

fn deprecation(
    world: &World<'_>,
    document: &Document,
    judged: Judgement,
    of: Deprecation,
) -> Deprecation {
    let state = match judged.state {
        State::Active => DeprecationState::Active,
        State::Scheduled => DeprecationState::Scheduled,
        State::Deprecated => DeprecationState::Deprecated,
        State::Conditional => DeprecationState::Conditional,
        State::Unlisted => DeprecationState::Unlisted,
        State::Unknown => DeprecationState::Unknown,
    };
    let line = (judged.line > 0).then_some(judged.line);
    let origin =
        Origin::file(&world.web, &document.commit, &document.path, line).quoting(&judged.text);
    Deprecation { state, last_day: judged.last_day, row: judged.text, origin, ..of }
}
