//! The bars of accuracy: what a model has to reach in a task.
//!
//! Three forms are read: `default` and `models` as YAML, the same as JSON (which is YAML), and the older flat
//! one, whose tasks are all defaults. Looked up as the benchmark does: the model's own bar, the task's
//! default, the general one. A bar that is no number between the allowed ends is *unknown*, never the next
//! one in line.
//!
//! Source: `artifacts.md`, section 7, "Thresholds"; `utils/evals/thresholds.json` and its successors in the
//! benchmark repository.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::decimal::Decimal;
use super::yaml::{self, Node, Note, Value, YamlError};
use crate::limits::PROBLEMS;

/// What is not in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThresholdSettings {
    /// The bar of a task that the file does not name.
    pub otherwise: Decimal,
    /// The lowest bar and score.
    pub lowest: Decimal,
    /// The highest.
    pub highest: Decimal,
}

/// The bars of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Thresholds {
    defaults: Bars,
    models: BTreeMap<String, Bars>,
    /// Whether it is the flat form.
    pub flat: bool,
    /// Duplicate keys; the last one counts.
    pub notes: Vec<Note>,
    /// What is no bar; looking it up says so too.
    pub problems: Vec<Note>,
}

type Bars = BTreeMap<String, Cell>;

/// A bar or why there is none, and its line.
type Cell = (Result<Decimal, String>, i64);

/// The bar that holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Bar {
    /// What a score has to reach; equal is enough.
    pub value: Decimal,
    /// Where it stands.
    pub source: BarSource,
}

/// Where a bar stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum BarSource {
    /// It is the model's own.
    Model {
        /// Its line in the file.
        line: i64,
    },
    /// It is the task's default.
    Default {
        /// Its line in the file.
        line: i64,
    },
    /// The file does not name the task.
    Otherwise,
}

/// Why a bar is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the thresholds: {message}")]
pub struct NoBar {
    /// Where.
    pub line: i64,
    /// What is wrong.
    pub message: String,
}

/// One line of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written<'t> {
    /// The model's prefix; `None` where the bar holds for every model.
    pub model: Option<&'t str>,
    /// The task.
    pub task: &'t str,
    /// The bar, or why it is none.
    pub value: Result<&'t Decimal, &'t str>,
    /// Its line.
    pub line: i64,
}

impl Thresholds {
    /// Every bar that stands in the file: those of all models, then each model's own.
    pub fn bars(&self) -> impl Iterator<Item = Written<'_>> {
        let of_all = self.defaults.iter().map(|(task, cell)| (None, task, cell));
        let own = self.models.iter().flat_map(|(model, bars)| {
            bars.iter().map(move |(task, cell)| (Some(model.as_str()), task, cell))
        });
        of_all.chain(own).map(|(model, task, (value, line))| Written {
            model,
            task,
            value: value.as_ref().map_err(String::as_str),
            line: *line,
        })
    }

    /// The bar of a task for a model, which is named by the repository's prefix.
    ///
    /// # Errors
    /// What stands there is no bar.
    pub fn bar(
        &self,
        model_prefix: &str,
        task: &str,
        settings: &ThresholdSettings,
    ) -> Result<Bar, NoBar> {
        let own = self.models.get(model_prefix).and_then(|bars| bars.get(task));
        let ((value, line), source) = match (own, self.defaults.get(task)) {
            (Some(cell), _) => (cell, BarSource::Model { line: cell.1 }),
            (None, Some(cell)) => (cell, BarSource::Default { line: cell.1 }),
            (None, None) => {
                let value = settings.otherwise.clone();
                return Ok(Bar { value, source: BarSource::Otherwise });
            }
        };
        let wrong = |message: String| NoBar { line: *line, message };
        let value = value.clone().map_err(wrong)?;
        if value < settings.lowest || value > settings.highest {
            let (lowest, highest) = (&settings.lowest, &settings.highest);
            return Err(wrong(format!("the bar {value} is not between {lowest} and {highest}")));
        }
        Ok(Bar { value, source })
    }

    /// The models that have bars of their own.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        self.models.keys().map(String::as_str)
    }
}

/// Reads the file.
///
/// # Errors
/// What is no YAML or no mapping, and a `default`, `models` or model that is none: its bars would be lost
/// without a word. An empty file has no bars.
pub fn read(text: &str) -> Result<Thresholds, YamlError> {
    let document = yaml::parse(text)?;
    let root = &document.root;
    let mut found = Thresholds {
        defaults: Bars::new(),
        models: BTreeMap::new(),
        flat: root.get("default").is_none() && root.get("models").is_none(),
        notes: document.notes,
        problems: Vec::new(),
    };
    if found.flat {
        found.defaults = bars(root, &mut found.problems)?;
    } else {
        for pair in pairs(root)? {
            match pair.key.key_name().as_str() {
                "default" => found.defaults = bars(&pair.value, &mut found.problems)?,
                "models" => {
                    for model in pairs(&pair.value)? {
                        let of = bars(&model.value, &mut found.problems)?;
                        found.models.insert(model.key.key_name(), of);
                    }
                }
                name => found.problems.push(Note {
                    at: pair.key.at,
                    message: format!(
                        "`{name}` is neither `default` nor `models`; it has no effect"
                    ),
                }),
            }
        }
    }
    found.notes.truncate(PROBLEMS);
    found.problems.truncate(PROBLEMS);
    Ok(found)
}

/// The pairs of a mapping; none of nothing.
fn pairs(node: &Node) -> Result<&[yaml::Pair], YamlError> {
    if node.is_null() {
        return Ok(&[]);
    }
    node.mapping().map_err(|wrong| YamlError {
        at: wrong.at,
        message: format!("expected a mapping, found {}", wrong.found),
        fix: "write `task: bar`".to_owned(),
    })
}

fn bars(node: &Node, problems: &mut Vec<Note>) -> Result<Bars, YamlError> {
    let mut bars = Bars::new();
    for pair in pairs(node)? {
        let value = number(&pair.value);
        if let Err(message) = &value {
            problems.push(Note { at: pair.value.at, message: message.clone() });
        }
        bars.insert(pair.key.key_name(), (value, pair.value.at.line));
    }
    Ok(bars)
}

/// The decimal that a node was written as: its double's shortest spelling, which is the same for up to 15
/// digits.
pub(super) fn number(node: &Node) -> Result<Decimal, String> {
    let found = match &node.value {
        Value::Int(n) => Some(Decimal::from(*n)),
        Value::WideInt(digits) => Decimal::parse(digits),
        Value::Float(float) => Decimal::of_float(*float),
        _ => None,
    };
    found.ok_or_else(|| format!("expected a number, found {}", node.describe()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AUGUST: &str = "\
# Model thresholds override task defaults.
default:
  gsm8k: 0.90
  gpqa_diamond_cot_n_shot: 0.30
models:
  dsr1:
    gsm8k: 0.91
  kimik2.5:
    gsm8k: 0.90
";
    const NEWEST: &str = r#"{
  "default": {"gsm8k": 0.90, "ruler_lite": 0.0},
  "models": {
    "dsr1": {"gsm8k": 0.91}
  }
}"#;

    fn settings() -> ThresholdSettings {
        let decimal = |text| Decimal::parse(text).unwrap();
        ThresholdSettings { otherwise: decimal("0.85"), lowest: 0.into(), highest: 1.into() }
    }

    fn bar(text: &str, model: &str, task: &str) -> Result<Bar, NoBar> {
        read(text).unwrap().bar(model, task, &settings())
    }

    fn found(text: &str, model: &str, task: &str) -> (String, BarSource) {
        let bar = bar(text, model, task).unwrap();
        (bar.value.to_string(), bar.source)
    }

    #[test]
    fn the_most_specific_bar_is_taken() {
        use BarSource::*;
        assert_eq!(found(AUGUST, "dsr1", "gsm8k"), ("0.91".to_owned(), Model { line: 7 }));
        assert_eq!(found(AUGUST, "kimik2.5", "gsm8k"), ("0.9".to_owned(), Model { line: 9 }));
        assert_eq!(found(AUGUST, "dsv4", "gsm8k"), ("0.9".to_owned(), Default { line: 3 }));
        let gpqa = "gpqa_diamond_cot_n_shot";
        assert_eq!(found(AUGUST, "dsr1", gpqa), ("0.3".to_owned(), Default { line: 4 }));
        assert_eq!(found(AUGUST, "dsr1", "new_task"), ("0.85".to_owned(), Otherwise));
        // A model's name is matched whole.
        assert_eq!(found(AUGUST, "dsr", "gsm8k").1, Default { line: 3 });
    }

    #[test]
    fn the_json_form_is_yaml() {
        assert_eq!(
            found(NEWEST, "dsr1", "gsm8k"),
            ("0.91".to_owned(), BarSource::Model { line: 4 })
        );
        assert_eq!(found(NEWEST, "x", "ruler_lite").0, "0");
        assert_eq!(read(NEWEST).unwrap().models().collect::<Vec<_>>(), ["dsr1"]);
    }

    #[test]
    fn a_flat_file_is_all_defaults() {
        let flat = "gsm8k: 0.9\nswebench_lite: 0.5\n";
        assert!(read(flat).unwrap().flat);
        assert_eq!(found(flat, "dsr1", "gsm8k").0, "0.9");
        assert_eq!(found("", "dsr1", "gsm8k").1, BarSource::Otherwise);
    }

    #[test]
    fn what_is_no_bar_is_unknown_and_not_the_next_one() {
        let text = "default: {gsm8k: 0.9}\nmodels:\n  a: {gsm8k: high}\n  b: {gsm8k: .nan}\n  c: {gsm8k: 1.5}\n  d: {gsm8k: -1}\n  e: {gsm8k: }\n  f: {gsm8k: true}\n";
        for (model, line) in [("a", 3), ("b", 4), ("c", 5), ("d", 6), ("e", 7), ("f", 8)] {
            assert_eq!(bar(text, model, "gsm8k").unwrap_err().line, line, "{model}");
        }
        assert_eq!(read(text).unwrap().problems.len(), 4);
        for text in ["default: 3", "models: [a]", "models: {a: 0.9}", "- 1", "a: [", "0.9"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read("default:\nmodels:\n  a:\n").is_ok());
        let odd = read("default: {a: 1}\nmodel: {b: 1}\n").unwrap();
        assert!(odd.problems[0].message.contains("`model` is neither"));
    }

    #[test]
    fn duplicate_keys_are_noted() {
        let text = "default:\n  gsm8k: 0.9\n  gsm8k: 0.1\n";
        assert_eq!(found(text, "x", "gsm8k").0, "0.1");
        assert_eq!(read(text).unwrap().notes.len(), 1);
    }
}
