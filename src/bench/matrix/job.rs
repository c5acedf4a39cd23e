//! Names of jobs: which row of the matrix, at which concurrency, a job runs.
//!
//! A name has segments between `|`; one of them says the row: model, precision, runner, framework, the
//! parallelism of its workers, how it speculates, what it offloads, and last its concurrency, `c16` or,
//! where one job runs several, `c4x8x16`.
//!
//! Source: `name:` of the called workflows `benchmark-tmpl.yml` and `benchmark-multinode-tmpl.yml`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::MatrixRow;
use crate::bench::master::sku;

/// What of the names is the repository's own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobWords {
    /// Frameworks that stand under another name.
    #[serde(default)]
    pub frameworks: BTreeMap<String, String>,
}

/// Fields of a worker's parallelism and the letters before their number; the first always stands there,
/// the others where they are not 1.
const PARALLEL: &[(&str, &str)] =
    &[("tp", "TP"), ("pp", "PP"), ("dcp-size", "DCP"), ("pcp-size", "PCP"), ("ep", "EP")];
/// Index of the runner among the words: of it the hardware alone is compared, since a job may name the
/// pool or the machine.
const RUNNER: usize = 2;
/// What a segment after the row's says of a job that evaluates.
const EVALUATES: &[&str] = &["eval", "eval-only"];

/// A job's name, as far as it says what the job runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobName {
    /// The row's words, in order.
    words: Vec<String>,
    /// Whether it evaluates, in a job of its own or beside a measurement.
    pub evaluates: bool,
}

impl JobName {
    /// Reads a name; `family` is the start of it by which its family is known. `None` where no segment
    /// says a row.
    pub fn read(name: &str, family: &str) -> Option<Self> {
        let segments = name.strip_prefix(family).unwrap_or(name).split('|');
        let segments: Vec<Vec<&str>> = segments
            .map(|segment| segment.split_whitespace().filter(|word| *word != "/").collect())
            .collect();
        let row = segments.iter().position(|words| words.last().is_some_and(|w| is_conc(w)))?;
        let evaluates = segments[row + 1..]
            .iter()
            .any(|words| matches!(words[..], [one] if EVALUATES.contains(&one)));
        let plain: Vec<&str> = segments[row]
            .iter()
            .map(|word| word.trim_matches(['(', ')']))
            .filter(|word| *word != "x")
            .collect();
        Some(Self { words: compared(plain), evaluates })
    }

    /// Whether the job runs that row at those concurrencies, all of them.
    pub fn runs(&self, row: &MatrixRow, conc: &[i64], names: &JobWords) -> bool {
        let expected = words(row, conc, names);
        self.words == compared(expected.iter().map(String::as_str).collect())
    }
}

fn is_conc(word: &str) -> bool {
    word.strip_prefix('c').is_some_and(|rest| {
        rest.split('x').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
    })
}

/// The words that are compared: of the runner its hardware, and no word that says that nothing is
/// offloaded.
fn compared(words: Vec<&str>) -> Vec<String> {
    let mut kept = Vec::with_capacity(words.len());
    let mut rest = words.as_slice();
    while let [first, more @ ..] = rest {
        if let ["none", "KV", "offload", after @ ..] = rest {
            rest = after;
            continue;
        }
        kept.push(match kept.len() {
            RUNNER => sku(first).to_lowercase(),
            _ => (*first).to_owned(),
        });
        rest = more;
    }
    kept
}

/// The words of a row's job.
fn words(row: &MatrixRow, conc: &[i64], names: &JobWords) -> Vec<String> {
    let framework = row.text("framework");
    let framework = names.frameworks.get(framework).map_or(framework, String::as_str);
    let mut words: Vec<String> =
        [row.text("model-prefix"), row.text("precision"), row.text("runner"), framework]
            .map(str::to_owned)
            .into();
    let worker = |role: &str| row.fields.get(role).and_then(Json::as_object);
    match (worker("prefill"), worker("decode")) {
        (Some(prefill), Some(decode)) => {
            let count = |of: &Map<String, Json>| of.get("num-worker").and_then(Json::as_i64);
            if row.fields.get("disagg") == Some(&Json::Bool(true)) {
                words.push(format!("{}P", count(prefill).unwrap_or(1)));
                words.push(parallel(prefill));
                words.push(format!("{}D", count(decode).unwrap_or(1)));
                words.push(parallel(decode));
            } else {
                words.push(parallel(prefill));
            }
        }
        _ => words.push(parallel(&row.fields)),
    }
    let said = |text: &str| !matches!(text, "" | "none");
    words.extend(Some(row.text("spec-decoding")).filter(|t| said(t)).map(str::to_owned));
    let offloading = row.text("kv-offloading");
    if said(offloading) {
        words.extend([offloading, "KV", "offload"].map(str::to_owned));
    }
    let backend = row.fields.get("kv-offload-backend").and_then(|backend| backend.get("name"));
    let backend = backend.and_then(Json::as_str).unwrap_or_default();
    words.extend(Some(backend).filter(|t| said(t) && *t != "default").map(str::to_owned));
    let conc: Vec<String> = conc.iter().map(i64::to_string).collect();
    words.push(format!("c{}", conc.join("x")));
    words
}

fn parallel(of: &Map<String, Json>) -> String {
    let number = |field: &str| of.get(field).and_then(Json::as_i64).unwrap_or(1);
    let mut parts: Vec<String> = PARALLEL
        .iter()
        .filter(|(field, _)| *field == "tp" || number(field) != 1)
        .map(|(field, letters)| format!("{letters}{}", number(field)))
        .collect();
    if of.get("dp-attn") == Some(&Json::Bool(true)) {
        parts.push("DPA".to_owned());
    }
    parts.join("/")
}
