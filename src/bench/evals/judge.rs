//! Whether a result reaches its bar.

use serde::Serialize;

use super::{EvalRow, EvalSettings, RawTask, duplicates};
use crate::bench::decimal::Decimal;
use crate::bench::fields::{Lack, LackKind, Measure};
use crate::bench::thresholds::{Bar, ThresholdSettings, Thresholds};

/// What came of one result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// What it means.
    pub outcome: Outcome,
    /// The bar; `None` where it is not known.
    pub bar: Option<Bar>,
    /// The scores that were held against it.
    pub scores: Vec<Score>,
    /// Everything that speaks against the result, in the order of checking.
    pub failures: Vec<Failure>,
    /// Why a result that passes proves no accuracy.
    pub no_accuracy_bar: Vec<NoAccuracyBar>,
}

/// What a result means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every score reaches the bar.
    Passed,
    /// Nothing is wrong, but no accuracy was proven: the row has to say so in the words of the settings.
    PassedWithoutBar,
    /// Something speaks against it.
    Failed,
}

/// A score that was held against the bar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Score {
    /// The metric, with its filter.
    pub metric: String,
    /// The value as written, or what stands there.
    pub value: String,
    /// The JSON pointer in its file.
    pub pointer: String,
}

/// What speaks against a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Failure {
    /// The job says that it did not work.
    Infrastructure,
    /// Scoring went wrong.
    Integration {
        /// What it says.
        error: String,
    },
    /// A field that decides is of another type.
    Unreadable {
        /// Its JSON pointer.
        pointer: String,
    },
    /// The result names no task or model, so that there is no bar to look up.
    NoSubject,
    /// What stands as bar is none.
    BarUnknown {
        /// What is wrong with it.
        error: String,
    },
    /// There is no score.
    NoScore,
    /// A score is no number.
    NotANumber {
        /// The metric.
        metric: String,
        /// What stands there.
        found: String,
    },
    /// A score is not between the ends.
    OutOfRange {
        /// The metric.
        metric: String,
        /// The score as written.
        value: String,
    },
    /// Nothing was scored, or that is not legible.
    NoSamples {
        /// What stands there.
        found: String,
    },
    /// A score does not reach the bar.
    Below {
        /// The metric.
        metric: String,
        /// The score as written.
        value: String,
        /// The bar.
        bar: Decimal,
    },
}

/// Why no accuracy was proven.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NoAccuracyBar {
    /// The bar is one that every score reaches.
    ZeroBar,
    /// Too few samples.
    FewSamples {
        /// How many, as written.
        samples: String,
    },
}

/// Judges a collected row.
pub fn judge(
    row: &EvalRow,
    bars: &Thresholds,
    bar_settings: &ThresholdSettings,
    settings: &EvalSettings,
) -> Judgement {
    let mut failures = Vec::new();
    if row.infrastructure_success == Some(false) {
        failures.push(Failure::Infrastructure);
    }
    if let Some(error) = &row.integration_error {
        failures.push(Failure::Integration { error: error.clone() });
    }
    failures.extend(
        row.lacks
            .iter()
            .filter(|lack| decides(lack, &row.pointer))
            .map(|lack| Failure::Unreadable { pointer: lack.pointer.clone() }),
    );
    let mut scores: Vec<(String, &Measure)> = Vec::new();
    for name in &settings.headline {
        scores.extend(row.metrics.get(name).map(|measure| (name.clone(), measure)));
    }
    if scores.len() < settings.headline.len() || scores.is_empty() {
        match row.metrics.get(&settings.otherwise) {
            Some(measure) => scores.push((settings.otherwise.clone(), measure)),
            None => failures.push(Failure::NoScore),
        }
    }
    let bar =
        bar(row.identity.model_prefix.as_deref(), row.identity.task.as_deref(), bars, bar_settings);
    conclude(failures, &scores, row.samples.as_ref(), bar, bar_settings, settings)
}

/// Judges a raw result of one task. `integration_error` is that of its file.
pub fn judge_task(
    task: &RawTask,
    model_prefix: Option<&str>,
    integration_error: Option<&str>,
    bars: &Thresholds,
    bar_settings: &ThresholdSettings,
    settings: &EvalSettings,
) -> Judgement {
    let mut failures = Vec::new();
    if let Some(error) = integration_error {
        failures.push(Failure::Integration { error: error.to_owned() });
    }
    let scores: Vec<(String, &Measure)> = task
        .scores
        .iter()
        .filter(|score| score.headline)
        .map(|score| match score.filter.as_str() {
            "" => (score.metric.clone(), &score.measure),
            filter => (format!("{},{filter}", score.metric), &score.measure),
        })
        .collect();
    if scores.is_empty() {
        failures.push(Failure::NoScore);
    }
    let bar = bar(model_prefix, Some(&task.task), bars, bar_settings);
    conclude(failures, &scores, task.samples.as_ref(), bar, bar_settings, settings)
}

/// Groups of rows that claim to be the same evaluation and of which some fail and others do not, as
/// indices: all of them have to be shown. `judgements` are those of the rows, in their order.
pub fn contested(rows: &[EvalRow], judgements: &[Judgement]) -> Vec<Vec<usize>> {
    let fails = |n: &usize| judgements.get(*n).is_none_or(|one| one.outcome == Outcome::Failed);
    let mut groups = duplicates(rows);
    groups.retain(|group| group.iter().any(fails) && !group.iter().all(fails));
    groups
}

/// Whether a field that could not be read could speak against the row.
fn decides(lack: &Lack, row: &str) -> bool {
    let field = lack.pointer.strip_prefix(row).unwrap_or_default();
    matches!(lack.kind, LackKind::Wrong { .. }) && field == "/infrastructure_success"
}

fn bar(
    model: Option<&str>,
    task: Option<&str>,
    bars: &Thresholds,
    settings: &ThresholdSettings,
) -> Result<Bar, Failure> {
    let (Some(model), Some(task)) = (model, task) else { return Err(Failure::NoSubject) };
    bars.bar(model, task, settings)
        .map_err(|error| Failure::BarUnknown { error: error.to_string() })
}

fn conclude(
    mut failures: Vec<Failure>,
    scores: &[(String, &Measure)],
    samples: Option<&Measure>,
    bar: Result<Bar, Failure>,
    bar_settings: &ThresholdSettings,
    settings: &EvalSettings,
) -> Judgement {
    let mut no_accuracy_bar = Vec::new();
    let bar = match bar {
        Ok(bar) => Some(bar),
        Err(failure) => {
            failures.push(failure);
            None
        }
    };
    if bar.as_ref().is_some_and(|bar| bar.value <= settings.no_bar) {
        no_accuracy_bar.push(NoAccuracyBar::ZeroBar);
    }
    for (metric, measure) in scores {
        let number = match &measure.value {
            Ok(number) => number,
            Err(found) => {
                let (metric, found) = (metric.clone(), found.clone());
                failures.push(Failure::NotANumber { metric, found });
                continue;
            }
        };
        let (score, value) = (number.decimal(), number.text().to_owned());
        let metric = metric.clone();
        if score < bar_settings.lowest || score > bar_settings.highest {
            failures.push(Failure::OutOfRange { metric, value });
        } else if let Some(bar) = bar.as_ref().filter(|bar| score < bar.value) {
            failures.push(Failure::Below { metric, value, bar: bar.value.clone() });
        }
    }
    if let Some(samples) = samples {
        match (samples.decimal(), &samples.value) {
            (Some(n), Ok(number)) if n.is_positive() => {
                if n <= Decimal::from(settings.few_samples) {
                    let samples = number.text().to_owned();
                    no_accuracy_bar.push(NoAccuracyBar::FewSamples { samples });
                }
            }
            (_, Ok(number)) => {
                failures.push(Failure::NoSamples { found: number.text().to_owned() });
            }
            (_, Err(found)) => failures.push(Failure::NoSamples { found: found.clone() }),
        }
    }
    let scores = scores.iter().map(|(metric, measure)| Score {
        metric: metric.clone(),
        value: match &measure.value {
            Ok(number) => number.text().to_owned(),
            Err(found) => found.clone(),
        },
        pointer: measure.pointer.clone(),
    });
    let outcome = match (failures.is_empty(), no_accuracy_bar.is_empty()) {
        (false, _) => Outcome::Failed,
        (true, true) => Outcome::Passed,
        (true, false) => Outcome::PassedWithoutBar,
    };
    Judgement { outcome, bar, scores: scores.collect(), failures, no_accuracy_bar }
}
