//! Examples: a made-up submission beside the rule, and what the rule has to say of it.
//!
//! An example gives only the fields that it is about. The rest is filled in from the facts' schema, with
//! values that say nothing: `null`, 0, false, empty lists, for texts the field's own path (so that two
//! fields that are left out are never equal by accident), and origins that quote the example's name.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use super::RuleSet;
use super::evaluate::{self, Evaluator};
use super::folder::World;
use super::row::Row;
use super::rule::{Example, Expect, Expected, Rule};
use super::types::Type;
use crate::facts::{Facts, Missing, Origin, OriginKind};
use crate::profile::{Diagnostic, Kind, Node};

/// Reads the examples of a rule.
pub(super) fn read(
    path: &str,
    node: &Node,
    rule: &Rule,
    world: &World,
    problems: &mut Vec<Diagnostic>,
) -> Vec<Example> {
    let mut reader = Reader { path, problems };
    let list = node.get("examples");
    let mut examples = Vec::new();
    let mut names = BTreeSet::new();
    for entry in list.map(Node::elements).unwrap_or_default() {
        if let Some(example) = reader.example(entry, rule, world) {
            if !names.insert(example.name.clone()) {
                reader.wrong(entry, format!("two examples are called `{}`", example.name));
            }
            examples.push(example);
        }
    }
    let at = list.unwrap_or(node).place;
    let key = node.entries().iter().find(|(key, _)| key.name == "examples");
    let at = key.map_or(at, |(key, _)| key.place);
    // An example that could not be read is reported as that, not as lacking too.
    let unread = list.map_or(0, |list| list.elements().len()) > examples.len();
    for status in rule.reachable() {
        let shown = examples.iter().any(|example| example.expect.status == status);
        // Attested rows say the same for every submission.
        if !shown && !unread && status != Expected::Attested {
            reader.problems.push(
                Diagnostic::new(path, at, format!("no example comes to `{}`", status.word()))
                    .with_help("every outcome that a rule can come to has an example"),
            );
        }
    }
    examples
}

struct Reader<'a> {
    path: &'a str,
    problems: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    fn wrong(&mut self, node: &Node, message: impl Into<String>) {
        self.problems.push(Diagnostic::new(self.path, node.place, message));
    }

    fn keys(&mut self, node: &Node, valid: &[&str], what: &str) {
        if !matches!(node.kind, Kind::Map(_)) {
            self.wrong(node, format!("{what} is a mapping; this is {}", node.describe()));
        }
        for (key, _) in node.entries() {
            if !valid.contains(&key.name.as_str()) {
                let message = format!("unknown key `{}` in {what}", key.name);
                self.problems.push(
                    Diagnostic::new(self.path, key.place, message)
                        .suggesting(&key.name, valid.iter().copied()),
                );
            }
        }
    }

    fn example(&mut self, node: &Node, rule: &Rule, world: &World) -> Option<Example> {
        let before = self.problems.len();
        self.keys(node, &["name", "facts", "profile", "expect"], "an example");
        let name = node.get("name").and_then(Node::text).map(str::to_owned);
        if name.is_none() {
            self.wrong(node, "an example has a `name`");
        }
        let name = name?;
        let facts = self.facts(node, &name, rule, world);
        let choices = node.get("profile").map_or_else(
            || Some(world.choices.clone()),
            |given| {
                let start = serde_json::to_value(&world.choices).ok()?;
                let json =
                    self.complete(Some(given), &world.profile, "profile", &name, Some(&start));
                serde_json::from_value(json).ok()
            },
        );
        let expect = self.expect(node);
        (self.problems.len() == before).then_some(())?;
        Some(Example { name, place: node.place, facts: facts?, choices: choices?, expect: expect? })
    }

    fn facts(&mut self, node: &Node, name: &str, rule: &Rule, world: &World) -> Option<Facts> {
        let missing = Missing::submission("this example does not give the fact");
        let mut json = serde_json::to_value(Facts::all_missing(&missing)).ok()?;
        let given = node.get("facts");
        if let Some(given) = given
            && !matches!(given.kind, Kind::Map(_))
        {
            self.wrong(given, format!("`facts` is a mapping; this is {}", given.describe()));
        }
        for (key, value) in given.map(Node::entries).unwrap_or_default() {
            let Some(of) = world.facts.get(&key.name) else {
                self.problems.push(
                    Diagnostic::new(self.path, key.place, format!("unknown fact `{}`", key.name))
                        .suggesting(&key.name, world.facts.keys().map(String::as_str)),
                );
                continue;
            };
            // Attested rows read the sign-off, and overrides are looked up for every row.
            let read = rule.needs.contains(&key.name)
                || key.name == "overrides"
                || (rule.attested.is_some() && key.name == "signoff");
            if !read {
                let message = format!("the rule does not read the fact `{}`", key.name);
                self.problems.push(
                    Diagnostic::new(self.path, key.place, message)
                        .suggesting(&key.name, rule.needs.iter().map(String::as_str)),
                );
            }
            let known = self.complete(Some(value), of, &key.name, name, None);
            json[&key.name] = serde_json::json!({ "known": known });
        }
        match serde_json::from_value(json) {
            Ok(facts) => Some(facts),
            Err(error) => {
                self.wrong(given.unwrap_or(node), format!("the facts cannot be read: {error}"));
                None
            }
        }
    }

    /// A value of a type from what is given of it. `start`: what stands where nothing is given.
    fn complete(
        &mut self,
        node: Option<&Node>,
        of: &Type,
        at: &str,
        example: &str,
        start: Option<&Json>,
    ) -> Json {
        let Some(node) = node else {
            return start.cloned().unwrap_or_else(|| neutral(of, at, example));
        };
        match (of, &node.kind) {
            (Type::Record(record), Kind::Map(entries)) => {
                for (key, _) in entries {
                    if !record.fields.contains_key(&key.name) {
                        let message = format!("`{at}` has no field `{}`", key.name);
                        self.problems.push(
                            Diagnostic::new(self.path, key.place, message)
                                .suggesting(&key.name, record.fields.keys().map(String::as_str)),
                        );
                    }
                }
                let fields = record.fields.iter().map(|(name, of)| {
                    let start = start.and_then(|start| start.get(name));
                    let at = format!("{at}.{name}");
                    (name.clone(), self.complete(node.get(name), of, &at, example, start))
                });
                Json::Object(fields.collect())
            }
            (Type::List(inner), Kind::List(items)) => items
                .iter()
                .enumerate()
                .map(|(index, item)| {
                    self.complete(Some(item), inner, &format!("{at}[{index}]"), example, None)
                })
                .collect(),
            (Type::Open(inner), Kind::Map(entries)) => Json::Object(
                entries
                    .iter()
                    .map(|(key, value)| {
                        let at = format!("{at}.{}", key.name);
                        (key.name.clone(), self.complete(Some(value), inner, &at, example, None))
                    })
                    .collect(),
            ),
            (Type::Nullable(_) | Type::Null, Kind::Null) => Json::Null,
            (Type::Nullable(inner), _) => self.complete(Some(node), inner, at, example, None),
            (Type::Words(words), Kind::Text(word)) if !words.contains(word) => {
                self.problems.push(
                    Diagnostic::new(self.path, node.place, format!("`{at}` is never `{word}`"))
                        .suggesting(word, words.iter().map(String::as_str)),
                );
                node.to_json()
            }
            (Type::Text | Type::Words(_), Kind::Text(_))
            | (Type::Int, Kind::Int(_))
            | (Type::Float, Kind::Int(_) | Kind::Float(_))
            | (Type::Bool, Kind::Bool(_))
            | (Type::Any, _) => node.to_json(),
            _ => {
                let message = format!("`{at}` is {of}; this is {}", node.describe());
                let mistake = Diagnostic::new(self.path, node.place, message);
                self.problems.push(match (of, &node.kind) {
                    (Type::Text, Kind::Int(_) | Kind::Float(_) | Kind::Bool(_)) => {
                        mistake.with_help("put it in quotes")
                    }
                    _ => mistake,
                });
                neutral(of, at, example)
            }
        }
    }

    fn expect(&mut self, node: &Node) -> Option<Expect> {
        let Some(expect) = node.get("expect") else {
            self.wrong(node, "an example says in `expect` what has to come of it");
            return None;
        };
        self.keys(expect, &["status", "says"], "`expect`");
        let Some(word) = expect.get("status") else {
            self.wrong(expect, "`expect` has a `status`");
            return None;
        };
        let known = Expected::WORDS.into_iter().find(|(_, known)| Some(*known) == word.text());
        let Some((status, _)) = known else {
            let text = word.text().unwrap_or_default();
            self.problems.push(
                Diagnostic::new(self.path, word.place, format!("unknown status `{text}`"))
                    .suggesting(text, Expected::WORDS.map(|(_, word)| word)),
            );
            return None;
        };
        let mut says = Vec::new();
        if let Some(node) = expect.get("says") {
            let nodes = match &node.kind {
                Kind::List(items) => items.as_slice(),
                _ => std::slice::from_ref(node),
            };
            for node in nodes {
                match node.text() {
                    Some(text) => says.push(text.to_owned()),
                    None => {
                        let message = format!("`says` is a text; this is {}", node.describe());
                        self.wrong(node, message);
                    }
                }
            }
        }
        Some(Expect { status, says })
    }
}

/// A value that says nothing.
fn neutral(of: &Type, at: &str, example: &str) -> Json {
    match of {
        Type::Bool => false.into(),
        Type::Int | Type::Float => 0.into(),
        Type::Text | Type::Markup => at.into(),
        Type::Words(words) => words.first().cloned().into(),
        Type::List(_) => Json::Array(Vec::new()),
        Type::Open(_) => Json::Object(Map::new()),
        Type::Record(record) if record.name == "Origin" => {
            serde_json::to_value(Origin::new(OriginKind::Page).quoting(example)).unwrap_or_default()
        }
        Type::Record(record) => Json::Object(
            record
                .fields
                .iter()
                .map(|(name, of)| (name.clone(), neutral(of, &format!("{at}.{name}"), example)))
                .collect(),
        ),
        Type::Any | Type::Null | Type::Nullable(_) | Type::Absent(_) => Json::Null,
    }
}

/// What came of the examples of one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tested {
    /// The rule's id.
    pub rule: String,
    /// How many examples were run.
    pub examples: usize,
    /// What did not come out as expected.
    pub failures: Vec<Failure>,
}

/// An example that did not come out as expected, or a check that no example reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The rule's file.
    pub path: String,
    /// 1-based line in it.
    pub line: usize,
    /// The example's name, or what the check says.
    pub name: String,
    /// What was expected.
    pub expected: String,
    /// What came.
    pub got: String,
}

impl RuleSet {
    /// Runs all examples of all rules, by number; also every check has to find something in some example.
    pub fn test(&self) -> Vec<Tested> {
        self.rules.iter().map(|rule| self.test_rule(rule)).collect()
    }

    fn test_rule(&self, rule: &Rule) -> Tested {
        let mut failures = Vec::new();
        let mut fired = BTreeSet::new();
        for example in &rule.examples {
            let evaluator = Evaluator::new(self, &example.facts, example.choices.clone());
            let ran = evaluator.row(rule);
            fired.extend(ran.fired);
            failures.extend(compare(rule, example, &ran.row));
        }
        for (index, check) in rule.checks.iter().enumerate() {
            if !fired.contains(&index) {
                failures.push(Failure {
                    path: rule.path.clone(),
                    line: check.place.line,
                    name: check.text.text.clone(),
                    expected: "an example in which this check finds something".to_owned(),
                    got: "none".to_owned(),
                });
            }
        }
        Tested { rule: rule.id.clone(), examples: rule.examples.len(), failures }
    }
}

fn compare(rule: &Rule, example: &Example, row: &Row) -> Vec<Failure> {
    let failure = |expected: String, got: String| Failure {
        path: rule.path.clone(),
        line: example.place.line,
        name: example.name.clone(),
        expected,
        got,
    };
    let mut failures = Vec::new();
    if Expected::of(row.status, row.verified) != Some(example.expect.status) {
        let got = Expected::of(row.status, row.verified).map_or("undecided", Expected::word);
        let expected = example.expect.status.word().to_owned();
        failures.push(failure(expected, format!("{got}: {}", row.summary)));
    }
    let said = evaluate::all_said(row);
    for text in &example.expect.says {
        if !said.contains(text) {
            failures.push(failure(format!("something that says `{text}`"), said.clone()));
        }
    }
    failures
}
