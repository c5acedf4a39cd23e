//! YAML → curve.

use std::collections::BTreeMap;

use super::{Golden, GoldenCurve, ThinkingMode};
use crate::bench::decimal::Decimal;
use crate::bench::thresholds::number;
use crate::bench::yaml::{self, Node, Pair, Place, Value, YamlError};
use crate::limits::DRAFT_TOKENS;

/// Reads a curve: one model, under it modes, under them draft tokens and values. The older form, a list of
/// one-pair mappings a mode, is read too.
///
/// # Errors
/// What is no YAML or breaks one of the page's rules: one top-level key, known modes, whole numbers of
/// draft tokens above zero, values from 1 to one more than the draft tokens. A curve is a reference: one
/// that is partly wrong is not used in part.
pub fn read(text: &str) -> Result<GoldenCurve, YamlError> {
    let document = yaml::parse(text)?;
    let root = &document.root;
    let [model] = pairs(root)? else {
        return Err(wrong(root.at, "a curve has exactly one top-level key, the measured model"));
    };
    let mut values = BTreeMap::new();
    for pair in pairs(&model.value)? {
        let name = pair.key.key_name();
        let Some(mode) = ThinkingMode::ALL.into_iter().find(|mode| mode.to_string() == name) else {
            return Err(wrong(pair.key.at, &format!("`{name}` is no thinking mode")));
        };
        values.insert(mode, cells(&pair.value)?);
    }
    Ok(GoldenCurve { label: model.key.key_name(), run: run(text), values, notes: document.notes })
}

/// The link of the first line, which names the run.
fn run(text: &str) -> Option<String> {
    let comment = text.lines().next()?.strip_prefix('#')?;
    comment.split_whitespace().find(|word| word.starts_with("https://")).map(str::to_owned)
}

fn cells(node: &Node) -> Result<BTreeMap<i64, Golden>, YamlError> {
    let listed: Vec<&Pair> = match &node.value {
        Value::Sequence(items) => {
            let mut listed = Vec::new();
            for item in items {
                let [one] = pairs(item)? else {
                    return Err(wrong(item.at, "an item of the older form is one pair"));
                };
                listed.push(one);
            }
            listed
        }
        _ => pairs(node)?.iter().collect(),
    };
    let mut cells = BTreeMap::new();
    for pair in listed {
        let at = pair.key.at;
        let tokens = pair.key.int().ok().filter(|tokens| (1..=DRAFT_TOKENS).contains(tokens));
        let Some(tokens) = tokens else {
            let found = pair.key.describe();
            return Err(wrong(at, &format!("expected a number of draft tokens, found {found}")));
        };
        let value = number(&pair.value).map_err(|message| wrong(pair.value.at, &message))?;
        if value < Decimal::from(1) || value > Decimal::from(tokens + 1) {
            let most = tokens + 1;
            let message = format!(
                "{value} is no acceptance length of {tokens} draft tokens: it is from 1 to {most}"
            );
            return Err(wrong(pair.value.at, &message));
        }
        let golden = Golden { value, line: pair.value.at.line };
        if cells.insert(tokens, golden).is_some() {
            return Err(wrong(at, &format!("{tokens} draft tokens are given twice")));
        }
    }
    Ok(cells)
}

fn pairs(node: &Node) -> Result<&[Pair], YamlError> {
    node.mapping().map_err(|found| {
        wrong(found.at, &format!("expected {}, found {}", found.wanted, found.found))
    })
}

fn wrong(at: Place, message: &str) -> YamlError {
    let fix = "write `MODEL: {thinking_on: {DRAFT_TOKENS: LENGTH}}`".to_owned();
    YamlError { at, message: message.to_owned(), fix }
}
