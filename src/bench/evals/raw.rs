//! Raw results of one job: `results*.json`, `meta_env.json`, and what their names say.

use std::collections::{BTreeMap, BTreeSet};

use super::{EvalIdentity, EvalSettings, rows};
use crate::bench::fields::{Fields, Lack, Measure, counts, flag, int, text};
use crate::bench::python_json::{self, JsonError, Node, Note, Value, member};
use crate::limits::EVAL_TASKS;

/// What a job says of itself. It names neither an image nor a commit.
#[derive(Debug, Clone, PartialEq)]
pub struct Meta {
    /// What was evaluated; the task is not known from here.
    pub identity: EvalIdentity,
    /// The fingerprint of the recipe.
    pub recipe_fingerprint: Option<String>,
    /// An image, should a revision ever name one.
    pub image: Option<String>,
    /// The concurrencies of a batched evaluation; `None` where it is not batched.
    pub batch: Option<Batch>,
    /// Fields that were missing or of another type.
    pub lacks: Vec<Lack>,
    /// Keys that are given twice.
    pub notes: Vec<Note>,
}

/// What became of the concurrencies of a batched evaluation. A list is `None` where it is not legible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Those that were to be evaluated.
    pub planned: Option<Vec<i64>>,
    /// Those that were.
    pub completed: Option<Vec<i64>>,
    /// Those that failed.
    pub failed: Option<Vec<i64>>,
}

/// The results of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Raw {
    /// Whether it is a file of results at all.
    pub recognised: bool,
    /// By task, in the order of the file.
    pub tasks: Vec<RawTask>,
    /// What went wrong in scoring.
    pub integration_error: Option<String>,
    /// Fields that were missing or of another type.
    pub lacks: Vec<Lack>,
    /// Keys that are given twice.
    pub notes: Vec<Note>,
}

/// The scores of one task.
#[derive(Debug, Clone, PartialEq)]
pub struct RawTask {
    /// Its name.
    pub task: String,
    /// Its scores, in the order of the file.
    pub scores: Vec<RawScore>,
    /// Samples that were scored.
    pub samples: Option<Measure>,
    /// Samples that there are.
    pub original_samples: Option<i64>,
}

/// One score, written `METRIC,FILTER`.
#[derive(Debug, Clone, PartialEq)]
pub struct RawScore {
    /// The metric.
    pub metric: String,
    /// The filter of answers; empty where there is none.
    pub filter: String,
    /// The value.
    pub measure: Measure,
    /// Whether the task declares the metric, so that it has to reach the bar. A standard error does not.
    pub headline: bool,
}

impl Batch {
    /// Planned concurrencies that are not known to be completed: failed, unaccounted for, or both; and
    /// failed ones that were not planned. `None` where a list is not legible.
    pub fn open(&self) -> Option<Vec<i64>> {
        let (planned, completed) = (self.planned.as_ref()?, self.completed.as_ref()?);
        let failed = self.failed.as_ref()?;
        let completed: BTreeSet<&i64> = completed.iter().collect();
        let missing = planned.iter().filter(|conc| !completed.contains(conc));
        let open: BTreeSet<i64> = missing.chain(failed).copied().collect();
        Some(open.into_iter().collect())
    }
}

/// Reads `meta_env.json`.
///
/// # Errors
/// What is no JSON. What is no object has every field missing.
pub fn read_meta(bytes: &[u8]) -> Result<Meta, JsonError> {
    let document = python_json::parse(bytes)?;
    let node = &document.root;
    let mut fields = Fields::new(node, String::new());
    let batched = ["eval_concs", "completed_eval_concs", "failed_eval_concs"];
    let batch = batched.iter().any(|key| node.get(key).is_some()).then(|| {
        let [planned, completed, failed] = batched.map(|key| fields.required(key, counts));
        Batch { planned, completed, failed }
    });
    let identity = EvalIdentity {
        task: None,
        suite: fields.optional("eval_suite", text),
        model_prefix: fields.required("infmax_model_prefix", text),
        model: fields.required("model", text),
        hw: fields.required("hw", text),
        framework: fields.required("framework", text),
        precision: fields.required("precision", text),
        spec_decoding: fields.required("spec_decoding", text),
        isl: fields.required("isl", int),
        osl: fields.required("osl", int),
        // A batched job has several.
        conc: if batch.is_some() {
            fields.optional("conc", int)
        } else {
            fields.required("conc", int)
        },
        multinode: fields.required("is_multinode", flag),
        disagg: fields.optional("disagg", flag),
        sizes: rows::sizes(&mut fields),
        dp_attention: fields.optional("dp_attention", rows::written_flag),
    };
    Ok(Meta {
        identity,
        recipe_fingerprint: fields.optional("recipe_fingerprint", text),
        image: fields.optional("image", text),
        batch,
        lacks: fields.lacks,
        notes: document.notes,
    })
}

/// Reads `results*.json`.
///
/// # Errors
/// What is no JSON. What is no file of results is said to be none.
pub fn read_raw(bytes: &[u8], settings: &EvalSettings) -> Result<Raw, JsonError> {
    let document = python_json::parse(bytes)?;
    let root = &document.root;
    let mut fields = Fields::new(root, String::new());
    let format = root.get("result_format").and_then(|node| node.text().ok());
    let recognised = root.get("lm_eval_version").is_some()
        || format.is_some_and(|format| settings.formats.iter().any(|known| known == format));
    let integration_error = fields.optional("integration_error", rows::error);
    let mut tasks = Vec::new();
    if recognised && let Some(mut results) = fields.inner("results", true) {
        let all = results.all();
        if all.len() > EVAL_TASKS {
            let found = format!("{} of them", all.len());
            results.wrong_as_whole("a bounded number of tasks", found);
        } else {
            for (name, _) in all {
                if let Some(of) = results.inner(name, true) {
                    tasks.push(task(root, name, &of));
                }
            }
        }
        fields.absorb(results);
    }
    let (lacks, notes) = (fields.lacks, document.notes);
    Ok(Raw { recognised, tasks, integration_error, lacks, notes })
}

fn task(root: &Node, name: &str, of: &Fields<'_>) -> RawTask {
    let under = |first: &str| root.get(first).and_then(|node| node.get(name));
    let metrics = under("configs").and_then(|config| config.get("metric_list"));
    let metrics = metrics.and_then(|list| list.array().ok()).unwrap_or_default();
    let declared: BTreeSet<&str> = metrics
        .iter()
        .filter_map(|one| one.get("metric")?.text().ok())
        .filter(|metric| !metric.is_empty())
        .collect();
    let samples = under("n-samples");
    let mut scores = Vec::new();
    for (key, value) in of.all() {
        let (metric, filter) = key.split_once(',').unwrap_or((key, ""));
        // The task's own name and the like.
        let label =
            filter.is_empty() && !matches!(value.value, Value::Number(_) | Value::Invalid(_));
        let is_error = metric.ends_with("_stderr");
        if label {
            continue;
        }
        scores.push(RawScore {
            metric: metric.to_owned(),
            filter: filter.to_owned(),
            measure: Measure::of(value, member(&of.pointer, key)),
            headline: !is_error && begins(metric, &declared),
        });
    }
    RawTask {
        task: name.to_owned(),
        scores,
        samples: samples
            .and_then(|samples| samples.get("effective"))
            .map(|node| Measure::of(node, member(&member("/n-samples", name), "effective"))),
        original_samples: samples.and_then(|samples| samples.get("original")?.int().ok()),
    }
}

/// Whether a metric begins with one of the declared ones.
fn begins(metric: &str, declared: &BTreeSet<&str>) -> bool {
    let ends = metric.char_indices().map(|(at, c)| at + c.len_utf8());
    ends.filter_map(|end| metric.get(..end)).any(|beginning| declared.contains(beginning))
}

/// What the name of a file of results says: `results_STAMP_concN_K.json`, where all parts may be missing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct FileName {
    /// The concurrency, of batched evaluations.
    pub conc: Option<i64>,
    /// When it was written, as written; later ones are greater.
    pub stamp: Option<String>,
    /// Which one it is, where one concurrency has several.
    pub part: Option<i64>,
}

/// Reads the name of a file of results; folders before it do not count.
pub fn file_name(path: &str) -> FileName {
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = name.strip_suffix(".json").unwrap_or(name);
    let mut found = FileName::default();
    for part in name.split('_') {
        let is_stamp = part.len() >= 19
            && part.split_once('T').is_some_and(|(date, time)| {
                let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit() || b"-.:".contains(&b));
                date.len() == 10 && digits(date) && digits(time)
            });
        if is_stamp {
            // One spelling of time, so that texts sort as times do.
            found.stamp = Some(part.replace(':', "-"));
        } else if let Some(conc) = part.strip_prefix("conc").and_then(|n| n.parse().ok()) {
            found.conc = Some(conc);
        } else if found.conc.is_some() {
            found.part = part.parse().ok().or(found.part);
        }
    }
    found
}

/// Of several files the newest one a concurrency, as indices by rising concurrency.
pub fn newest(paths: &[&str]) -> Vec<usize> {
    let mut newest: BTreeMap<Option<i64>, (FileName, usize)> = BTreeMap::new();
    for (n, path) in paths.iter().enumerate() {
        let name = file_name(path);
        let held = newest.entry(name.conc).or_insert_with(|| (name.clone(), n));
        if name > held.0 {
            *held = (name, n);
        }
    }
    newest.into_values().map(|(_, n)| n).collect()
}
