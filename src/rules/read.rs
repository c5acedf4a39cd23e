//! Raw → checked: a rule file's tree into a [`Rule`], with every mistake on the way.

use std::collections::{BTreeMap, BTreeSet};

use super::examples;
use super::folder::World;
use super::row::Severity;
use super::rule::{Applies, Attested, Check, Each, Outcome, Rule, Source};
use super::scope::Scope;
use super::types::Type;
use super::typing::Checker;
use crate::facts::FACT_NAMES;
use crate::profile::{Diagnostic, Key, Kind, Node, Place, Written};

/// The keys of a rule, with what each is for.
pub(super) const RULE_KEYS: &[(&str, &str)] = &[
    ("id", "small letters, digits and hyphens; unique"),
    ("number", "its place among the rows; unique"),
    ("title", "a few words"),
    ("severity", "`blocking` (may fail) or `advisory` (may only warn)"),
    ("items", "the template items (ids of `items.yaml`) that it answers for"),
    ("doc", "what it checks, why, and what a reviewer does about it"),
    ("needs", "the facts that its expressions speak of; where one is missing the row says why"),
    ("applies", "when it applies: a condition, or `any` (a list), `as` and `when`"),
    ("otherwise", "what the row says where it does not apply"),
    ("checks", "what has to hold; all of them are tried, and everything found is reported"),
    ("pass", "what the row says where everything holds"),
    ("evidence", "what a person opens to see that: an origin, or a list of them"),
    ("attest", "`true`: nothing is checked, the row says whose word it is"),
    ("not_built", "`true`, beside `attest`: it could be checked and is not yet"),
    ("examples", "made-up facts, and in `expect` the `status` and what is said (`says`)"),
];

/// The keys of a check, with what each is for.
pub(super) const CHECK_KEYS: &[(&str, &str)] = &[
    ("each", "a list whose elements are checked one by one"),
    ("as", "what the element is called"),
    ("when", "a condition; where it is false nothing is checked"),
    ("assert", "what has to be true; without it, whatever `when` lets through is a finding"),
    ("fail", "what is said where it is not: a violation (in an advisory rule, a warning)"),
    ("unverified", "the same where it could not be verified"),
    ("note", "the same where it is worth knowing and holds nothing"),
    ("fix", "what to do about it; may hold lines to paste"),
    ("subject", "the configuration or path that it is about"),
    ("evidence", "what shows it: an origin, or a list of them"),
];

/// One rule file while it is read.
pub(super) struct File<'a> {
    path: &'a str,
    source: &'a str,
    world: &'a World,
    problems: &'a mut Vec<Diagnostic>,
    /// Names that expressions used so far.
    used: BTreeSet<String>,
}

impl<'a> File<'a> {
    pub(super) fn new(
        path: &'a str,
        source: &'a str,
        world: &'a World,
        problems: &'a mut Vec<Diagnostic>,
    ) -> Self {
        Self { path, source, world, problems, used: BTreeSet::new() }
    }

    fn wrong(&mut self, place: Place, message: impl Into<String>) {
        self.problems.push(Diagnostic::new(self.path, place, message));
    }

    /// Reports keys that nothing has.
    fn keys(&mut self, node: &Node, valid: &[(&str, &str)], what: &str) -> bool {
        let valid = || valid.iter().map(|(name, _)| *name);
        if !matches!(node.kind, Kind::Map(_)) {
            self.wrong(node.place, format!("{what} is a mapping; this is {}", node.describe()));
            return false;
        }
        for (Key { place, name }, _) in node.entries() {
            if !valid().any(|known| known == name) {
                self.problems.push(
                    Diagnostic::new(self.path, *place, format!("unknown key `{name}` in {what}"))
                        .suggesting(name, valid()),
                );
            }
        }
        true
    }

    fn text(&mut self, node: &Node, key: &str) -> Option<String> {
        match node.get(key) {
            None => {
                self.wrong(node.place, format!("`{key}` is missing"));
                None
            }
            Some(value) => match value.text().map(str::trim) {
                Some(text) if !text.is_empty() => Some(text.to_owned()),
                _ => {
                    let message = format!("`{key}` is a text; this is {}", value.describe());
                    self.wrong(value.place, message);
                    None
                }
            },
        }
    }

    fn flag(&mut self, node: &Node, key: &str) -> bool {
        match node.get(key).map(|value| (&value.kind, value)) {
            None => false,
            Some((Kind::Bool(value), _)) => *value,
            Some((_, value)) => {
                let message = format!("`{key}` is true or false; this is {}", value.describe());
                self.wrong(value.place, message);
                false
            }
        }
    }

    fn texts(&mut self, node: &Node, key: &str) -> Vec<(String, Place)> {
        let Some(list) = node.get(key) else { return Vec::new() };
        if !matches!(list.kind, Kind::List(_)) {
            let message = format!("`{key}` is a list; this is {}", list.describe());
            self.wrong(list.place, message);
        }
        let mut texts = Vec::new();
        for item in list.elements() {
            match item.text() {
                Some(text) => texts.push((text.to_owned(), item.place)),
                None => {
                    let message = format!("`{key}` holds texts; this is {}", item.describe());
                    self.wrong(item.place, message);
                }
            }
        }
        texts
    }

    /// The rule, where nothing that it cannot be without is wrong; all mistakes are reported.
    pub(super) fn rule(&mut self, node: &Node) -> Option<Rule> {
        if !self.keys(node, RULE_KEYS, "a rule") {
            return None;
        }
        let id = self.id(node);
        let title = self.text(node, "title");
        if let (Some(title), Some(value)) = (&title, node.get("title"))
            && title.contains('\n')
        {
            self.wrong(value.place, "`title` has one line");
        }
        let doc = self.text(node, "doc");
        let number = match node.get("number").map(|number| (&number.kind, number)) {
            Some((Kind::Int(number), _)) if *number >= 0 => Some(*number),
            Some((_, other)) => {
                let message = format!("`number` is a number from 0; this is {}", other.describe());
                self.wrong(other.place, message);
                None
            }
            None => {
                self.wrong(node.place, "`number` is missing");
                None
            }
        };
        let severity = self.severity(node);
        let needs = self.needs(node);
        let items = self.texts(node, "items").into_iter().map(|(id, _)| id).collect();
        let attested = self.attested(node);
        let mut scope = self.scope(&needs);

        let applies = node.get("applies").and_then(|applies| self.applies(applies, &scope));
        let applies_needs = needs
            .iter()
            .map(|(name, _)| name.clone())
            .filter(|name| self.used.contains(name))
            .collect();
        let otherwise = self.shown(node, "otherwise", &scope, false);
        match (node.get("applies"), node.get("otherwise")) {
            (Some(applies), None) => self.wrong(
                applies.place,
                "a rule with `applies` says in `otherwise` what a row reads where it does not",
            ),
            (None, Some(otherwise)) => {
                self.wrong(otherwise.place, "`otherwise` has no use without `applies`");
            }
            _ => {}
        }
        if let Some(Applies::When(condition)) = &applies {
            scope = scope.knowing(&condition.text, true);
        }

        let mut checks = Vec::new();
        let mut passed = scope.clone();
        if let Some(list) = node.get("checks") {
            if list.elements().is_empty() {
                let message = format!("`checks` is a list; this is {}", list.describe());
                self.wrong(list.place, message);
            }
            for check in list.elements() {
                if let Some(check) = self.check(check, &scope) {
                    passed = learn(passed, &check);
                    checks.push(check);
                }
            }
        }
        let pass = self.shown(node, "pass", &passed, false);
        let evidence = self.evidence(node, &passed);
        self.completeness(node, attested, &checks);
        self.unused(&needs);

        let rule = Rule {
            id: id?,
            number: number?,
            title: title?,
            severity: severity?,
            items,
            doc: doc?,
            needs: needs.into_iter().map(|(name, _)| name).collect(),
            applies,
            applies_needs,
            otherwise,
            checks,
            pass,
            evidence,
            attested,
            examples: Vec::new(),
            path: self.path.to_owned(),
        };
        let examples = examples::read(self.path, node, &rule, self.world, self.problems);
        Some(Rule { examples, ..rule })
    }

    fn id(&mut self, node: &Node) -> Option<String> {
        let id = self.text(node, "id")?;
        if !id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-') {
            let place = node.get("id").map_or(node.place, |value| value.place);
            self.wrong(place, "an id consists of small letters, digits and hyphens");
        }
        Some(id)
    }

    fn severity(&mut self, node: &Node) -> Option<Severity> {
        let place = node.get("severity").map_or(node.place, |value| value.place);
        match self.text(node, "severity")?.as_str() {
            "blocking" => Some(Severity::Blocking),
            "advisory" => Some(Severity::Advisory),
            other => {
                self.problems.push(
                    Diagnostic::new(self.path, place, format!("unknown severity `{other}`"))
                        .suggesting(other, ["blocking", "advisory"]),
                );
                None
            }
        }
    }

    fn needs(&mut self, node: &Node) -> Vec<(String, Place)> {
        let mut needs = self.texts(node, "needs");
        for (name, place) in &needs {
            if !FACT_NAMES.contains(&name.as_str()) {
                self.problems.push(
                    Diagnostic::new(self.path, *place, format!("unknown fact `{name}`"))
                        .suggesting(name, FACT_NAMES.iter().copied()),
                );
            }
        }
        needs.retain(|(name, _)| FACT_NAMES.contains(&name.as_str()));
        needs
    }

    fn attested(&mut self, node: &Node) -> Option<Attested> {
        let (attest, not_built) = (self.flag(node, "attest"), self.flag(node, "not_built"));
        match (attest, not_built) {
            (true, false) => Some(Attested::ByReviewer),
            (true, true) => Some(Attested::NotBuilt),
            (false, false) => None,
            (false, true) => {
                let place = node.get("not_built").map_or(node.place, |value| value.place);
                self.wrong(place, "`not_built` goes with `attest: true`");
                None
            }
        }
    }

    /// What the expressions of the rule may name.
    fn scope(&self, needs: &[(String, Place)]) -> Scope {
        let mut names: BTreeMap<String, Type> = needs
            .iter()
            .filter_map(|(name, _)| Some((name.clone(), self.world.facts.get(name)?.clone())))
            .collect();
        names.insert("profile".to_owned(), self.world.profile.clone());
        names.insert("tables".to_owned(), self.world.tables.clone());
        Scope { names, present: BTreeSet::new() }
    }

    fn applies(&mut self, node: &Node, scope: &Scope) -> Option<Applies> {
        if !matches!(node.kind, Kind::Map(_)) {
            return self.condition_of(node, "applies", scope).map(Applies::When);
        }
        self.keys(node, &[("any", ""), ("as", ""), ("when", "")], "`applies`");
        let (each, inner) = self.each(node, "any", scope)?;
        let Some(when) = node.get("when") else {
            self.wrong(node.place, "`applies` with `any` says in `when` what is looked for");
            return None;
        };
        Some(Applies::Any(each, self.condition_of(when, "when", &inner)?))
    }

    /// A loop and the scope inside it.
    fn each(&mut self, node: &Node, key: &str, scope: &Scope) -> Option<(Each, Scope)> {
        let Some(value) = node.get(key) else {
            self.wrong(node.place, format!("`{key}` is missing"));
            return None;
        };
        let list = self.source_of(value, key)?;
        let of = self.infer(value, &list, scope);
        let element = match of {
            Type::List(element) => *element,
            Type::Any => Type::Any,
            other => {
                let message = format!("`{key}` goes over a list; this is {other}");
                self.wrong(value.place, message);
                Type::Any
            }
        };
        let name = self.text(node, "as")?;
        let place = node.get("as").map_or(node.place, |value| value.place);
        if !name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') {
            self.wrong(place, "the name of an element consists of small letters");
        }
        if scope.names.contains_key(&name) || FACT_NAMES.contains(&name.as_str()) {
            self.wrong(place, format!("`{name}` is the name of something else"));
        }
        let inner = scope.with(&name, element);
        Some((Each { list, name }, inner))
    }

    fn check(&mut self, node: &Node, scope: &Scope) -> Option<Check> {
        if !self.keys(node, CHECK_KEYS, "a check") {
            return None;
        }
        let (each, mut scope) = match (node.get("each"), node.get("as")) {
            (None, None) => (None, scope.clone()),
            (None, Some(name)) => {
                self.wrong(name.place, "`as` has no use without `each`");
                (None, scope.clone())
            }
            // Nothing more can be said of a check whose elements are not known.
            (Some(_), _) => {
                self.each(node, "each", scope).map(|(each, inner)| (Some(each), inner))?
            }
        };
        let when = node.get("when").and_then(|when| self.condition_of(when, "when", &scope));
        if let Some(when) = &when {
            scope = scope.knowing(&when.text, true);
        }
        let assert =
            node.get("assert").and_then(|assert| self.condition_of(assert, "assert", &scope));
        if let Some(assert) = &assert {
            scope = scope.knowing(&assert.text, false);
        }
        if node.get("assert").or(node.get("when")).or(node.get("each")).is_none() {
            self.wrong(node.place, "a check has `assert`, `when` or `each`");
        }
        let outcomes: Vec<Outcome> = [Outcome::Fail, Outcome::Unverified, Outcome::Note]
            .into_iter()
            .filter(|outcome| node.get(outcome.key()).is_some())
            .collect();
        let [outcome] = outcomes[..] else {
            self.wrong(node.place, "a check has one of `fail`, `unverified` and `note`");
            return None;
        };
        let text = self.shown(node, outcome.key(), &scope, false);
        let fix = self.shown(node, "fix", &scope, true);
        let subject = node.get("subject").and_then(|subject| {
            let source = self.source_of(subject, "subject")?;
            let of = self.infer(subject, &source, &scope);
            if !matches!(of, Type::Text | Type::Words(_) | Type::Any) {
                self.wrong(subject.place, format!("`subject` is a text; this is {of}"));
            }
            Some(source)
        });
        let evidence = self.evidence(node, &scope);
        if outcome == Outcome::Fail && node.get("evidence").is_none() {
            self.wrong(node.place, "a check that can fail says in `evidence` what shows it");
        }
        Some(Check {
            place: node.place,
            each,
            when,
            assert,
            outcome,
            text: text?,
            fix,
            subject,
            evidence,
        })
    }

    /// One expression or a list of them, each an origin or a list of origins.
    fn evidence(&mut self, node: &Node, scope: &Scope) -> Vec<Source> {
        let Some(value) = node.get("evidence") else { return Vec::new() };
        let values = match &value.kind {
            Kind::List(values) => values.as_slice(),
            _ => std::slice::from_ref(value),
        };
        let mut sources = Vec::new();
        for value in values {
            let Some(source) = self.source_of(value, "evidence") else { continue };
            let of = self.infer(value, &source, scope);
            let origin = match of.present() {
                Type::List(element) => element.present(),
                other => other,
            };
            match origin {
                Type::Any => {}
                Type::Record(record) if record.name == "Origin" => {}
                other => {
                    let message =
                        format!("`evidence` is an origin or a list of them; this is {other}");
                    self.wrong(value.place, message);
                }
            }
            sources.push(source);
        }
        sources
    }

    /// What has to be there, and what must not, for the kind of rule that it is.
    fn completeness(&mut self, node: &Node, attested: Option<Attested>, checks: &[Check]) {
        if attested.is_some() {
            for key in ["checks", "applies", "pass", "evidence", "needs"] {
                if let Some(value) = node.get(key) {
                    self.wrong(value.place, format!("`{key}` has no use beside `attest: true`"));
                }
            }
            return;
        }
        if node.get("checks").is_none() {
            self.wrong(node.place, "a rule has `checks`, or `attest: true`");
        }
        for key in ["pass", "evidence"] {
            if !checks.is_empty() && node.get(key).is_none() {
                self.wrong(
                    node.place,
                    format!("`{key}` is missing: a row that passes says why and shows it"),
                );
            }
        }
    }

    fn unused(&mut self, needs: &[(String, Place)]) {
        for (name, place) in needs {
            if !self.used.contains(name) {
                self.problems.push(
                    Diagnostic::new(self.path, *place, format!("nothing uses the fact `{name}`"))
                        .with_help("a fact that is needed and missing decides the row"),
                );
            }
        }
    }

    /// An expression as written, without a look at what it says.
    fn source_of(&mut self, node: &Node, key: &str) -> Option<Source> {
        let Some(text) = node.text() else {
            let message = format!("`{key}` is an expression; this is {}", node.describe());
            self.wrong(node.place, message);
            return None;
        };
        let written = Written::of(self.source, node.place, text);
        if let Some(place) = written.comment_behind(self.source) {
            self.problems.push(
                Diagnostic::new(self.path, place, format!("YAML drops what follows `{key}` here"))
                    .with_help("put the comment on a line of its own, or the value in quotes"),
            );
        }
        if text.trim().is_empty() {
            self.wrong(node.place, format!("`{key}` is empty"));
            return None;
        }
        Some(Source { text: text.to_owned(), place: node.place })
    }

    fn infer(&mut self, node: &Node, source: &Source, scope: &Scope) -> Type {
        self.checked(node, source, |checker| checker.expression(&source.text, scope))
    }

    fn condition_of(&mut self, node: &Node, key: &str, scope: &Scope) -> Option<Source> {
        let source = self.source_of(node, key)?;
        self.checked(node, &source, |checker| checker.condition(&source.text, scope));
        Some(source)
    }

    /// A text, with its line ends made blanks: what is between the values is one line.
    fn shown(&mut self, node: &Node, key: &str, scope: &Scope, blocks: bool) -> Option<Source> {
        let value = node.get(key)?;
        let Some(text) = value.text() else {
            let message = format!("`{key}` is a text; this is {}", value.describe());
            self.wrong(value.place, message);
            return None;
        };
        let source = self.source_of(value, key)?;
        self.checked(value, &source, |checker| checker.text(text, scope, blocks));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(Source { text, place: value.place })
    }

    fn checked<T>(
        &mut self,
        node: &Node,
        source: &Source,
        check: impl FnOnce(&mut Checker<'_>) -> T,
    ) -> T {
        let mut checker = Checker::new(&self.world.facts);
        let result = check(&mut checker);
        self.used.append(&mut checker.used);
        let written = Written::of(self.source, node.place, &source.text);
        for mistake in checker.mistakes {
            let place = written.place(self.source, mistake.offset);
            self.problems.push(Diagnostic {
                suggestion: mistake.suggestion,
                help: mistake.help,
                ..Diagnostic::new(self.path, place, mistake.message)
            });
        }
        result
    }
}

/// What is known where a check over no list found nothing: it did not stand, or it held.
fn learn(scope: Scope, check: &Check) -> Scope {
    match (&check.each, &check.when, &check.assert, check.outcome) {
        (_, _, _, Outcome::Note) | (Some(_), ..) => scope,
        (None, None, Some(assert), _) => scope.knowing(&assert.text, true),
        (None, Some(when), None, _) => scope.knowing(&when.text, false),
        _ => scope,
    }
}
