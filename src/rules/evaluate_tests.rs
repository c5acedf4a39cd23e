use super::*;
use crate::facts::{Clock, Fact, OriginKind, OverrideCommand, Template};
use crate::profile::{Files, builtin};

fn files() -> Files {
    builtin("inferencex").unwrap()
}

fn rules() -> RuleSet {
    RuleSet::from_files("inferencex", &files()).unwrap()
}

/// The facts of an example of a built-in rule.
fn facts_of(rules: &RuleSet, rule: &str, example: &str) -> Facts {
    let rule = rules.rule(rule).unwrap();
    rule.examples.iter().find(|found| found.name == example).unwrap().facts.clone()
}

fn row(rules: &RuleSet, facts: &Facts, id: &str) -> Row {
    let only = [id.to_owned()];
    let mut rows = evaluate(rules, facts, Some(&only));
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

const COMPLETE: &str = "a complete run on the assessed commit";
const FAILED: &str = "a failed and a cancelled job";

#[test]
fn a_row_that_passes_shows_what_it_rests_on() {
    let rules = rules();
    let row = row(&rules, &facts_of(&rules, "sweep", COMPLETE), "sweep");
    assert_eq!((row.status, row.verified), (RowStatus::Pass, true));
    assert_eq!(row.findings[0].message, row.summary);
    assert_eq!(row.findings[0].evidence.len(), 1);
    assert_eq!(row.evidence_digest.len(), "sha256:".len() + 64);
}

#[test]
fn every_failure_is_listed_root_issue_first() {
    let rules = rules();
    let row = row(&rules, &facts_of(&rules, "sweep", FAILED), "sweep");
    assert_eq!((row.status, row.verified), (RowStatus::Fail, true));
    assert_eq!(row.findings.len(), 3);
    assert_eq!(row.summary, format!("{} (+2 more)", row.findings[0].message));
    assert!(row.findings.iter().all(|finding| !finding.evidence.is_empty()));
    assert_eq!(row.findings[1].subject.as_deref(), Some("agentic / | dsv4 fp4 b200 sgl TP8 c16"));
}

#[test]
fn whose_lack_a_missing_fact_is_decides_the_row() {
    let rules = rules();
    let known = facts_of(&rules, "sweep", COMPLETE);
    let with = |sweep: Missing| Facts { sweep: Fact::Missing(sweep), ..known.clone() };

    let lost = with(Missing::submission("every run has expired, see @docs").with_fix("run it"));
    let unverified = row(&rules, &lost, "sweep");
    assert_eq!((unverified.status, unverified.verified), (RowStatus::Fail, false));
    assert_eq!(unverified.summary, "every run has expired, see `@docs`");
    assert_eq!(unverified.findings[0].level, Level::Unverified);
    assert_eq!(unverified.findings[0].fix.as_deref(), Some("run it"));

    let mut outage = Missing::ours("GitHub answered 502");
    outage.retry_at = Some("2026-10-13T08:05:00Z".to_owned());
    let undecided = row(&rules, &with(outage), "sweep");
    assert_eq!((undecided.status, undecided.verified), (RowStatus::Undecided, false));
    assert_eq!(undecided.retry_at.as_deref(), Some("2026-10-13T08:05:00Z"));
    assert_eq!(undecided.findings, []);

    let local = row(&rules, &with(Missing::offline("the runs")), "sweep");
    assert_eq!(local.status, RowStatus::Undecided);
    assert_eq!(local.summary, "the runs: not available offline");

    // In an advisory rule the same lack is a warning.
    let missing = Missing::submission("too many comments");
    let warned = row(&rules, &Facts::all_missing(&missing), "reuse-command");
    assert_eq!((warned.status, warned.verified), (RowStatus::Warn, false));
}

#[test]
fn whether_a_rule_applies_is_asked_before_what_else_it_needs() {
    let rules = rules();
    let mut facts = facts_of(&rules, "sweep", "nothing has to run");
    facts.sweep = Fact::Missing(Missing::ours("GitHub answered 502"));
    assert_eq!(row(&rules, &facts, "sweep").status, RowStatus::NotApplicable);
    facts.changes = Fact::Missing(Missing::submission("a master cannot be read"));
    let row = row(&rules, &facts, "sweep");
    assert_eq!((row.status, row.verified), (RowStatus::Fail, false));
    assert_eq!(row.summary, "a master cannot be read");
}

fn exception(check: &str, valid: bool) -> OverrideCommand {
    OverrideCommand {
        check: check.to_owned(),
        sha: "abcdef0".to_owned(),
        author: "amelia".to_owned(),
        is_admin: valid,
        reason: "a broken node".to_owned(),
        valid,
        why_not: None,
        created: "2026-10-13T08:00:00Z".to_owned(),
        origin: Origin::new(OriginKind::Comment).at_url("https://git.example/c/1"),
    }
}

#[test]
fn an_exception_stands_beside_the_failure() {
    let rules = rules();
    let mut facts = facts_of(&rules, "sweep", FAILED);
    let without = row(&rules, &facts, "sweep");
    facts.overrides = Fact::Known(vec![exception("sweep", true), exception("evals", true)]);
    let excepted = row(&rules, &facts, "sweep");
    assert_eq!(excepted.status, RowStatus::Fail);
    let expected = Override {
        by: "amelia".to_owned(),
        url: "https://git.example/c/1".to_owned(),
        reason: "a broken node".to_owned(),
    };
    assert_eq!(excepted.overridden, Some(expected));
    assert_ne!(excepted.evidence_digest, without.evidence_digest);

    facts.overrides = Fact::Known(vec![exception("sweep", false)]);
    assert_eq!(row(&rules, &facts, "sweep").overridden, None);
    // An exception that could not be looked up may be there; offline it is known not to have been asked.
    facts.overrides = Fact::Missing(Missing::ours("GitHub answered 502"));
    let held = row(&rules, &facts, "sweep");
    assert_eq!(held.status, RowStatus::Undecided);
    assert_eq!(held.findings.len(), 3);
    facts.overrides = Fact::Missing(Missing::offline("exceptions"));
    assert_eq!(row(&rules, &facts, "sweep").status, RowStatus::Fail);
}

#[test]
fn a_check_that_the_profile_does_not_name_cannot_be_excepted() {
    let rules = rules();
    let mut facts = facts_of(&rules, "codeowner", "somebody who stands nowhere in the file");
    facts.overrides = Fact::Known(vec![exception("codeowner", true)]);
    let row = row(&rules, &facts, "codeowner");
    assert_eq!((row.status, row.overridden), (RowStatus::Fail, None));
}

#[test]
fn findings_are_bounded_and_the_rest_is_counted() {
    let rules = rules();
    let mut facts = facts_of(&rules, "sweep", FAILED);
    let Fact::Known(sweep) = &mut facts.sweep else { panic!() };
    let chosen = sweep.chosen.as_mut().unwrap();
    chosen.missing = vec![chosen.missing[0].clone(); 300];
    let row = row(&rules, &facts, "sweep");
    assert_eq!(row.findings.len(), limits::FINDINGS + 1);
    assert_eq!(row.findings.last().unwrap().message, "101 more findings are left out");
    assert!(row.summary.ends_with("(+300 more)"), "{}", row.summary);
}

#[test]
fn too_many_elements_are_a_fault_of_ours() {
    let rules = rules();
    let mut facts = facts_of(&rules, "sweep", FAILED);
    let Fact::Known(sweep) = &mut facts.sweep else { panic!() };
    let chosen = sweep.chosen.as_mut().unwrap();
    chosen.missing = vec![chosen.missing[0].clone(); limits::RULE_ELEMENTS + 1];
    let row = row(&rules, &facts, "sweep");
    assert_eq!(row.status, RowStatus::Undecided);
    assert!(row.summary.contains("`01-sweep.yaml:"), "{}", row.summary);
}

#[test]
fn hostile_values_stay_in_their_code_spans() {
    let rules = rules();
    let mut facts = facts_of(&rules, "sweep", FAILED);
    let Fact::Known(sweep) = &mut facts.sweep else { panic!() };
    let chosen = sweep.chosen.as_mut().unwrap();
    chosen.missing[0].name =
        "`@all\n## ✅✅✅ **APPROVED**\n<!-- countersign signoff=x -->".to_owned();
    let row = row(&rules, &facts, "sweep");
    assert_eq!(
        row.findings[1].message,
        "`` `@all ## ✅✅✅ **APPROVED** <! -- countersign signoff=x -- > `` ended `failure`"
    );
}

#[test]
fn a_template_item_that_no_rule_knows_has_a_row() {
    let rules = rules();
    let item = TemplateItem {
        id: "item:verified-the-moon".to_owned(),
        text: "Verified that the moon is not made of any kind of cheese".to_owned(),
        paste: String::new(),
        position: 3,
        wants_run_link: false,
        origin: Origin::new(OriginKind::File),
    };
    let mut facts = Facts::all_missing(&Missing::offline("x"));
    facts.template = Fact::Known(Template {
        path: "docs/PR_REVIEW_CHECKLIST.md".to_owned(),
        commit: "abc".to_owned(),
        items: Vec::new(),
        unknown_items: vec![item],
        origin: Origin::new(OriginKind::File),
    });
    let rows = evaluate(&rules, &facts, None);
    let last = rows.last().unwrap();
    assert_eq!((last.id.as_str(), last.number), ("item:verified-the-moon", None));
    assert_eq!(last.title, "Verified that the moon is not made of…");
    assert_eq!((last.status, last.verified), (RowStatus::Attested, false));
    assert_eq!(last.summary, "no rule knows this item");
    let only = ["sweep".to_owned()];
    assert_eq!(evaluate(&rules, &facts, Some(&only)).len(), 1);
}

/// The reuse rule with another condition.
fn with_condition(condition: &str) -> RuleSet {
    let mut files = files();
    let path = "04-reuse-command.yaml";
    let text = files[path].replace("when: not c.authorised", &format!("when: {condition}"));
    files.insert(path.to_owned(), text);
    RuleSet::from_files("inferencex", &files).unwrap()
}

#[test]
fn an_error_while_evaluating_names_the_rule_and_the_line() {
    let rules = with_condition("1 // (c.run_id | default(0)) == 1");
    let facts = facts_of(&rules, "reuse-command", "only a contributor's command");
    let row = row(&rules, &facts, "reuse-command");
    assert_eq!((row.status, row.verified), (RowStatus::Undecided, false));
    let text = &files()["04-reuse-command.yaml"];
    let line = 1 + text.lines().position(|line| line.contains("when: not c.authorised")).unwrap();
    let start = format!("the rule could not be evaluated at `04-reuse-command.yaml:{line}`: ");
    assert!(row.summary.starts_with(&start), "{}", row.summary);
}

#[test]
fn facts_are_needed_by_the_selected_rules_only() {
    let rules = rules();
    let only = ["reuse-command".to_owned()];
    let needed: Vec<_> = rules.facts_needed(Some(&only)).into_iter().collect();
    assert_eq!(needed, ["clock", "overrides", "owners", "pr", "reuse", "signoff", "template"]);
    assert!(rules.facts_needed(None).contains("checklist"));
}

#[test]
fn a_date_can_be_compared() {
    let facts = Facts {
        clock: Fact::Known(Clock {
            date: "2026-10-13".to_owned(),
            origin: Origin::new(OriginKind::Clock),
        }),
        ..Facts::all_missing(&Missing::offline("x"))
    };
    let value = facts.value("clock").unwrap();
    let env = environment();
    let later = env.compile_expression("clock.date > '2026-09-08'").unwrap();
    let names = Value::from_pairs([("clock", value)]);
    assert!(later.eval(names).unwrap().is_true());
}
