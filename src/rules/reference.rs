//! A rule's page, and `docs/rules.md` with all of them.

use std::fmt::Write;

use super::language::{FILTERS, TESTS};
use super::read::{CHECK_KEYS, RULE_KEYS};
use super::rule::{Attested, Outcome, Rule};
use super::{RuleSet, Severity};

/// The page of one rule: Markdown that also reads well as plain text.
pub fn page(profile: &str, rule: &Rule) -> String {
    let mut out = format!("## {} `{}`: {}\n\n", rule.number, rule.id, rule.title);
    let severity = match (rule.severity, rule.attested) {
        (_, Some(Attested::NotBuilt)) => "not machine-checked yet",
        (_, Some(Attested::ByReviewer)) => "attested by the reviewer",
        (Severity::Blocking, None) => "blocking",
        (Severity::Advisory, None) => "advisory",
    };
    let code = |names: &[String]| {
        names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    let mut facts = vec![format!("`rules/{profile}/{}`", rule.path), severity.to_owned()];
    if !rule.items.is_empty() {
        facts.push(format!("answers for {}", code(&rule.items)));
    }
    if !rule.needs.is_empty() {
        facts.push(format!("reads {}", code(&rule.needs)));
    }
    line(&mut out, &format!("{}.\n", facts.join("; ")));
    line(&mut out, &format!("{}\n", rule.doc.trim()));
    if rule.attested.is_some() {
        return out;
    }
    line(&mut out, "What it can say:\n");
    for check in &rule.checks {
        let outcome = match (check.outcome, rule.severity) {
            (Outcome::Fail, Severity::Advisory) => "warn",
            (outcome, _) => outcome.key(),
        };
        line(&mut out, &format!("- {outcome}: {}", template(&check.text.text)));
        if let Some(fix) = &check.fix {
            line(&mut out, &format!("  - what to do: {}", template(&fix.text)));
        }
    }
    if let Some(text) = &rule.otherwise {
        line(&mut out, &format!("- not applicable: {}", template(&text.text)));
    }
    if let Some(text) = &rule.pass {
        line(&mut out, &format!("- pass: {}", template(&text.text)));
    }
    line(&mut out, "\nExamples:\n");
    for example in &rule.examples {
        line(&mut out, &format!("- {}: {}", example.expect.status.word(), example.name));
    }
    out
}

/// A text with its expressions as code.
fn template(text: &str) -> String {
    text.replace("{{ ", "`{{ ").replace(" }}", " }}`")
}

/// The reference of a whole profile.
pub fn reference(rules: &RuleSet) -> String {
    let name = &rules.profile.settings.name;
    let mut out = format!("# The rules of `{name}`\n\n");
    line(
        &mut out,
        "This page is generated from the rule files and held against them by a test; change those, not this.\n",
    );
    line(&mut out, "| number | id | title | severity | state |\n| --- | --- | --- | --- | --- |");
    for rule in &rules.rules {
        let severity = match rule.severity {
            Severity::Blocking => "blocking",
            Severity::Advisory => "advisory",
        };
        let state = match rule.attested {
            None => "checked by evidence",
            Some(Attested::ByReviewer) => "attested by the reviewer",
            Some(Attested::NotBuilt) => "not machine-checked yet",
        };
        line(
            &mut out,
            &format!("| {} | `{}` | {} | {severity} | {state} |", rule.number, rule.id, rule.title),
        );
    }
    out.push('\n');
    for rule in &rules.rules {
        out.push_str(&page(name, rule));
        out.push('\n');
    }
    line(&mut out, "## What a rule file may say\n");
    line(
        &mut out,
        "Conditions are Jinja expressions, texts hold `{{ expression }}`; loops stand in the YAML, and there \
         are no statements and no functions. Expressions see the facts that the rule needs \
         (`docs/facts.schema.json`), `profile`, `tables` and the element of their loop. Every value in a \
         text becomes an escaped code span.\n",
    );
    for (title, names) in [
        ("Keys of a rule", RULE_KEYS),
        ("Keys of a check", CHECK_KEYS),
        ("Filters", FILTERS),
        ("Tests", TESTS),
    ] {
        line(&mut out, &format!("### {title}\n"));
        for (name, what) in names {
            line(&mut out, &format!("- `{name}`: {what}"));
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn line(out: &mut String, text: &str) {
    // Writing to a `String` cannot fail.
    let _ = writeln!(out, "{text}");
}
