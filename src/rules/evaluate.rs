//! Facts → rows. Pure and total: whatever the facts are, each selected rule gives one row.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::value::{Serde, Value, merge_maps};
use minijinja::{Environment, Error, Expression};

use super::language::environment;
use super::row::{Finding, Level, Override, Row, RowStatus, Severity};
use super::rule::{Applies, Attested, Check, Each, Outcome, Rule, Source};
use super::{RuleSet, escape, is_selected};
use crate::facts::{Cause, FACT_NAMES, Facts, Missing, Origin, OverrideCommand, TemplateItem};
use crate::limits;
use crate::profile::Choices;

/// The rows of the rules of these ids (`None`: all rules, and one row for each item of the current template
/// that no rule knows), by number.
pub fn evaluate(rules: &RuleSet, facts: &Facts, only: Option<&[String]>) -> Vec<Row> {
    let evaluator = Evaluator::new(rules, facts, rules.profile.settings.choices());
    let selected = rules.rules.iter().filter(|rule| is_selected(rule, only));
    let mut rows: Vec<Row> = selected.map(|rule| evaluator.row(rule).row).collect();
    if only.is_none() {
        let unknown = facts.template.known().map(|template| &template.unknown_items);
        rows.extend(unknown.into_iter().flatten().map(|item| unknown_item(item, facts)));
    }
    rows
}

/// Everything that a row says, for examples.
pub(super) fn all_said(row: &Row) -> String {
    let mut said = row.summary.clone();
    for finding in &row.findings {
        for text in [Some(&finding.message), finding.fix.as_ref()].into_iter().flatten() {
            said.push('\n');
            said.push_str(text);
        }
    }
    said
}

/// A template item that no rule knows: never passed over.
fn unknown_item(item: &TemplateItem, facts: &Facts) -> Row {
    const WORDS: usize = 8;
    let mut words = item.text.split_whitespace();
    let mut title = words.by_ref().take(WORDS).collect::<Vec<_>>().join(" ");
    if words.next().is_some() {
        title.push('…');
    }
    Row {
        id: item.id.clone(),
        number: None,
        title,
        severity: Severity::Advisory,
        status: RowStatus::Attested,
        verified: false,
        evidence_digest: evidence_digest(facts, ["template"]),
        summary: "no rule knows this item".to_owned(),
        overridden: None,
        findings: vec![Finding {
            level: Level::Note,
            message: "no rule knows this item".to_owned(),
            fix: None,
            subject: None,
            evidence: vec![item.origin.clone()],
        }],
        retry_at: None,
    }
}

fn evidence_digest<'n>(facts: &Facts, names: impl IntoIterator<Item = &'n str>) -> String {
    format!("sha256:{}", facts.digest(names))
}

/// A row, and which of the rule's checks found something.
pub(super) struct Ran {
    pub row: Row,
    pub fired: BTreeSet<usize>,
}

/// All rules over one set of facts.
pub(super) struct Evaluator<'a> {
    rules: &'a RuleSet,
    facts: &'a Facts,
    env: Environment<'static>,
    /// What expressions see: the known facts, `profile` and `tables`.
    names: Value,
}

/// Why a row could not be evaluated: a mistake in the rule that `rules check` could not see.
struct Fault {
    place: String,
    error: String,
}

impl Fault {
    fn of(rule: &Rule, source: &Source, error: &Error) -> Self {
        let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
        Self { place: Self::place(rule, source), error: detail }
    }

    fn place(rule: &Rule, source: &Source) -> String {
        format!("{}:{}", rule.path, source.place.line)
    }
}

/// A compiled expression.
struct Condition<'r> {
    rule: &'r Rule,
    source: &'r Source,
    expression: Expression<'r, 'static>,
}

impl Condition<'_> {
    fn value(&self, names: &Value) -> Result<Value, Fault> {
        self.expression
            .eval(names.clone())
            .map_err(|error| Fault::of(self.rule, self.source, &error))
    }

    fn holds(&self, names: &Value) -> Result<bool, Fault> {
        Ok(self.value(names)?.is_true())
    }
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(rules: &'a RuleSet, facts: &'a Facts, choices: Choices) -> Self {
        let mut names: BTreeMap<String, Value> = FACT_NAMES
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), facts.value(name)?)))
            .collect();
        names.insert("profile".to_owned(), Value::from(Serde(&choices)));
        names.insert("tables".to_owned(), Value::from(Serde(&rules.tables)));
        Self { rules, facts, env: environment(), names: Value::from(names) }
    }

    /// The row of one rule.
    pub(super) fn row(&self, rule: &Rule) -> Ran {
        let mut ran = self.decide(rule).unwrap_or_else(|fault| {
            let message = format!(
                "the rule could not be evaluated at {}: {}",
                escape::code_span(&fault.place),
                escape::prose(&fault.error)
            );
            Ran { row: self.blank(rule, RowStatus::Undecided, message), fired: BTreeSet::new() }
        });
        self.except(rule, &mut ran.row);
        ran
    }

    fn blank(&self, rule: &Rule, status: RowStatus, summary: String) -> Row {
        Row {
            id: rule.id.clone(),
            number: Some(rule.number),
            title: rule.title.clone(),
            severity: rule.severity,
            status,
            verified: !matches!(status, RowStatus::Attested | RowStatus::Undecided),
            evidence_digest: evidence_digest(self.facts, rule.needs.iter().map(String::as_str)),
            summary,
            overridden: None,
            findings: Vec::new(),
            retry_at: None,
        }
    }

    fn decide(&self, rule: &Rule) -> Result<Ran, Fault> {
        let only = |row| Ok(Ran { row, fired: BTreeSet::new() });
        if let Some(attested) = rule.attested {
            return only(self.attest(rule, attested));
        }
        if let Some(row) = self.lacking(rule, &rule.applies_needs) {
            return only(row);
        }
        if !self.applies(rule)? {
            let text = match &rule.otherwise {
                Some(text) => self.say(rule, text, &self.names)?,
                None => "does not apply".to_owned(),
            };
            return only(self.blank(rule, RowStatus::NotApplicable, text));
        }
        if let Some(row) = self.lacking(rule, &rule.needs) {
            return only(row);
        }
        let mut findings = Vec::new();
        let mut fired = BTreeSet::new();
        for (index, check) in rule.checks.iter().enumerate() {
            let found = self.check(rule, check)?;
            if !found.is_empty() {
                fired.insert(index);
                findings.extend(found);
            }
        }
        findings.sort_by_key(|finding: &Finding| finding.level);
        let row = if findings.iter().any(|finding| finding.level != Level::Note) {
            self.failing(rule, findings)
        } else {
            self.passing(rule, findings)?
        };
        Ok(Ran { row, fired })
    }

    fn attest(&self, rule: &Rule, attested: Attested) -> Row {
        let not_built = "not machine-checked yet";
        if rule.items.is_empty() && attested == Attested::NotBuilt {
            return self.blank(rule, RowStatus::Attested, not_built.to_owned());
        }
        if let Some(row) = self.lacking(rule, &["signoff".to_owned()]) {
            return row;
        }
        let mut summary = match attested {
            Attested::ByReviewer => "not machine-checked",
            Attested::NotBuilt => not_built,
        }
        .to_owned();
        let mut findings = Vec::new();
        if let Some(signoff) = self.facts.signoff.known() {
            let signer = escape::code_span(&format!("@{}", signoff.author));
            let signed: Vec<_> = signoff
                .items
                .iter()
                .filter(|item| item.id.as_ref().is_some_and(|id| rule.items.contains(id)))
                .collect();
            let open = !rule.items.is_empty() && !signed.iter().any(|item| item.checked);
            let (level, word) = match open {
                true => (Level::Warn, format!("{signer} has not checked this item")),
                false => (Level::Note, format!("{signer}'s word")),
            };
            summary = format!("{word}; {summary}");
            if !signed.is_empty() {
                findings.push(Finding {
                    level,
                    message: summary.clone(),
                    fix: None,
                    subject: None,
                    evidence: signed.iter().map(|item| item.origin.clone()).collect(),
                });
            }
        }
        Row {
            evidence_digest: evidence_digest(self.facts, ["signoff"]),
            findings,
            ..self.blank(rule, RowStatus::Attested, summary)
        }
    }

    /// The row where one of these facts is missing.
    fn lacking(&self, rule: &Rule, names: &[String]) -> Option<Row> {
        let missing: Vec<&Missing> =
            names.iter().filter_map(|name| self.facts.missing(name)).collect();
        if missing.is_empty() {
            return None;
        }
        let unverified = |missing: &&&Missing| missing.cause == Cause::Submission;
        // One lack can take several facts away.
        let mut said = BTreeSet::new();
        let findings: Vec<Finding> = missing
            .iter()
            .filter(unverified)
            .filter(|missing| said.insert((&missing.reason, &missing.fix)))
            .map(|missing| Finding {
                level: Level::Unverified,
                message: escape::prose(&missing.reason),
                fix: missing.fix.as_deref().map(escape::prose),
                subject: None,
                evidence: Vec::new(),
            })
            .collect();
        // A fault of ours comes first: while there is one, nothing is said of the submission.
        let held = [Cause::Ours, Cause::Offline]
            .into_iter()
            .find_map(|cause| missing.iter().find(|missing| missing.cause == cause));
        Some(match held {
            Some(first) => Row {
                findings,
                retry_at: missing.iter().filter_map(|missing| missing.retry_at.clone()).max(),
                ..self.blank(rule, RowStatus::Undecided, escape::prose(&first.reason))
            },
            None => self.failing(rule, findings),
        })
    }

    /// A row with at least one finding that is no note, findings sorted.
    fn failing(&self, rule: &Rule, findings: Vec<Finding>) -> Row {
        let status = match rule.severity {
            Severity::Blocking => RowStatus::Fail,
            Severity::Advisory => RowStatus::Warn,
        };
        let failing = findings.iter().filter(|finding| finding.level != Level::Note).count();
        let mut summary = findings.first().map_or_else(String::new, |first| first.message.clone());
        if failing > 1 {
            summary.push_str(&format!(" (+{} more)", failing - 1));
        }
        Row {
            verified: findings
                .iter()
                .any(|finding| matches!(finding.level, Level::Fail | Level::Warn)),
            findings: bounded(findings),
            ..self.blank(rule, status, summary)
        }
    }

    /// A row with notes only: what shows that it holds comes first.
    fn passing(&self, rule: &Rule, notes: Vec<Finding>) -> Result<Row, Fault> {
        let summary = match &rule.pass {
            Some(text) => self.say(rule, text, &self.names)?,
            None => "every check holds".to_owned(),
        };
        let shown = Finding {
            level: Level::Note,
            message: summary.clone(),
            fix: None,
            subject: None,
            evidence: self.evidence(rule, &rule.evidence, &self.names)?,
        };
        let findings = bounded(std::iter::once(shown).chain(notes).collect());
        Ok(Row { findings, ..self.blank(rule, RowStatus::Pass, summary) })
    }

    fn applies(&self, rule: &Rule) -> Result<bool, Fault> {
        match &rule.applies {
            None => Ok(true),
            Some(Applies::When(condition)) => self.condition(rule, condition)?.holds(&self.names),
            Some(Applies::Any(each, when)) => {
                let when = self.condition(rule, when)?;
                for names in self.scopes(rule, each)? {
                    if when.holds(&names)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    fn check(&self, rule: &Rule, check: &Check) -> Result<Vec<Finding>, Fault> {
        let condition = |source| self.condition(rule, source);
        let when = check.when.as_ref().map(condition).transpose()?;
        let assert = check.assert.as_ref().map(condition).transpose()?;
        let scopes = match &check.each {
            None => vec![self.names.clone()],
            Some(each) => self.scopes(rule, each)?,
        };
        let mut findings = Vec::new();
        for names in scopes {
            let checked = when.as_ref().map_or(Ok(true), |when| when.holds(&names))?;
            if checked && !assert.as_ref().map_or(Ok(false), |assert| assert.holds(&names))? {
                findings.push(self.finding(rule, check, &names)?);
            }
        }
        Ok(findings)
    }

    fn finding(&self, rule: &Rule, check: &Check, names: &Value) -> Result<Finding, Fault> {
        let level = match (check.outcome, rule.severity) {
            (Outcome::Fail, Severity::Blocking) => Level::Fail,
            (Outcome::Fail, Severity::Advisory) => Level::Warn,
            (Outcome::Unverified, _) => Level::Unverified,
            (Outcome::Note, _) => Level::Note,
        };
        let subject = check.subject.as_ref().map(|source| self.value(rule, source, names));
        let fix = check.fix.as_ref().map(|text| self.render(rule, text, names));
        Ok(Finding {
            level,
            message: self.say(rule, &check.text, names)?,
            fix: fix.transpose()?,
            subject: subject.transpose()?.and_then(|value| value.as_str().map(str::to_owned)),
            evidence: self.evidence(rule, &check.evidence, names)?,
        })
    }

    /// What is in scope for each element of a loop.
    fn scopes(&self, rule: &Rule, each: &Each) -> Result<Vec<Value>, Fault> {
        let value = self.value(rule, &each.list, &self.names)?;
        let elements = value.try_iter().map_err(|error| Fault::of(rule, &each.list, &error))?;
        let scopes: Vec<Value> = elements
            .map(|element| {
                let element = Value::from_pairs([(each.name.as_str(), element)]);
                merge_maps([element, self.names.clone()])
            })
            .take(limits::RULE_ELEMENTS + 1)
            .collect();
        if scopes.len() > limits::RULE_ELEMENTS {
            let error = format!("more than {} elements", limits::RULE_ELEMENTS);
            return Err(Fault { place: Fault::place(rule, &each.list), error });
        }
        Ok(scopes)
    }

    fn condition<'r>(&'r self, rule: &'r Rule, source: &'r Source) -> Result<Condition<'r>, Fault> {
        let expression = self
            .env
            .compile_expression_owned(source.text.clone())
            .map_err(|error| Fault::of(rule, source, &error))?;
        Ok(Condition { rule, source, expression })
    }

    fn value(&self, rule: &Rule, source: &Source, names: &Value) -> Result<Value, Fault> {
        self.condition(rule, source)?.value(names)
    }

    fn render(&self, rule: &Rule, text: &Source, names: &Value) -> Result<String, Fault> {
        self.env
            .render_str(&text.text, names.clone())
            .map(|rendered| rendered.trim_end().to_owned())
            .map_err(|error| Fault::of(rule, text, &error))
    }

    /// A text of one line, bounded.
    fn say(&self, rule: &Rule, text: &Source, names: &Value) -> Result<String, Fault> {
        Ok(escape::cut(&self.render(rule, text, names)?, limits::MESSAGE_CHARS))
    }

    fn evidence(
        &self,
        rule: &Rule,
        sources: &[Source],
        names: &Value,
    ) -> Result<Vec<Origin>, Fault> {
        let mut origins = Vec::new();
        for source in sources {
            let value = self.value(rule, source, names)?;
            let found = match serde_json::to_value(&value).unwrap_or_default() {
                serde_json::Value::Array(items) => items,
                other => vec![other],
            };
            for origin in found.into_iter().filter(|origin| !origin.is_null()) {
                let origin = serde_json::from_value(origin).map_err(|error| Fault {
                    place: Fault::place(rule, source),
                    error: format!("no origin: {error}"),
                })?;
                if !origins.contains(&origin) {
                    origins.push(origin);
                }
            }
        }
        Ok(origins)
    }

    /// An administrator's exception for a row that fails.
    fn except(&self, rule: &Rule, row: &mut Row) {
        if row.status != RowStatus::Fail {
            return;
        }
        let overridable = self.rules.profile.settings.overridable.contains(&rule.id);
        let read = rule.needs.iter().map(String::as_str).chain(["overrides"]);
        row.evidence_digest = evidence_digest(self.facts, read);
        if let Some(missing) = self.facts.overrides.missing() {
            // An exception that could not be looked up may be there.
            if overridable && missing.cause == Cause::Ours {
                row.status = RowStatus::Undecided;
                row.verified = false;
                row.summary = escape::prose(&missing.reason);
                row.retry_at.clone_from(&missing.retry_at);
            }
            return;
        }
        let commands = self.facts.overrides.known().map_or(&[][..], Vec::as_slice);
        let commands = || commands.iter().filter(|command| command.check == rule.id);
        let granted = commands().rfind(|command| overridable && command.valid);
        row.overridden = granted.map(|command| Override {
            by: command.author.clone(),
            url: command.origin.url.clone().unwrap_or_default(),
            reason: command.reason.clone(),
        });
        if row.overridden.is_none() {
            // Whoever asked for an exception learns why there is none; only the newest, because
            // anybody can write such lines.
            row.findings.extend(commands().filter_map(refused).next_back());
        }
    }
}

/// Why an exception does not count.
fn refused(command: &OverrideCommand) -> Option<Finding> {
    let (by, why) = (escape::code_span(&command.author), command.why_not.as_deref()?);
    Some(Finding {
        level: Level::Note,
        message: format!("The exception by {by} does not count: {}", escape::prose(why)),
        fix: None,
        subject: None,
        evidence: vec![command.origin.clone()],
    })
}

/// The first findings, and how many were left out.
fn bounded(mut findings: Vec<Finding>) -> Vec<Finding> {
    let left_out = findings.len().saturating_sub(limits::FINDINGS);
    if left_out > 0 {
        findings.truncate(limits::FINDINGS);
        findings.push(Finding {
            level: Level::Note,
            message: format!("{left_out} more findings are left out"),
            fix: None,
            subject: None,
            evidence: Vec::new(),
        });
    }
    findings
}

#[cfg(test)]
#[path = "evaluate_tests.rs"]
mod tests;
