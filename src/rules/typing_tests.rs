use super::*;
use std::sync::Arc;

use crate::facts::Facts;
use crate::rules::types::Schema;

/// The first mistake of an expression, as `offset: message`; `ok` where there is none.
fn first(expression: &str) -> String {
    check(|checker, scope| _ = checker.expression(expression, scope))
}

/// The same for a condition.
fn condition(expression: &str) -> String {
    check(|checker, scope| checker.condition(expression, scope))
}

/// The same for a text.
fn text(source: &str) -> String {
    check(|checker, scope| checker.text(source, scope, false))
}

fn check(run: impl FnOnce(&mut Checker<'_>, &Scope)) -> String {
    let facts = Schema::new(Facts::schema()).facts();
    let open = Type::Record(Arc::new(crate::rules::types::Record {
        name: "Launch".to_owned(),
        fields: [("env".to_owned(), Type::Open(Box::new(Type::Text)))].into(),
    }));
    let mut names: BTreeMap<String, Type> = ["pr", "signoff", "sweep", "owners"]
        .map(|name| (name.to_owned(), facts[name].clone()))
        .into();
    names.insert("l".to_owned(), open);
    let mut checker = Checker::new(&facts);
    run(&mut checker, &Scope { names, present: BTreeSet::new() });
    match checker.mistakes.first() {
        Some(mistake) => format!("{}: {}", mistake.offset, mistake.message),
        None => "ok".to_owned(),
    }
}

#[test]
fn what_holds_of_the_facts_is_accepted() {
    for expression in [
        "pr.number == 3",
        "pr.number + 1 > 3 and not pr.draft",
        "'benchmark' in pr.labels",
        "pr.title is startingwith '['",
        "signoff.edited_by is none or signoff.edited_by | lower == signoff.author",
        "sweep.chosen is not none and sweep.chosen.complete",
        "sweep.chosen != none and sweep.chosen.evals > 0",
        "sweep.chosen == none or sweep.chosen.complete",
        "not (sweep.chosen is none) and sweep.chosen.complete",
        "sweep.chosen.complete if sweep.chosen is not none else false",
        "(l.env.MODE | default('0')) == '1'",
        "l.env.MODE is defined and l.env.MODE == '1'",
        "owners.paths | selectattr('catch_all') | length == 0",
        "'a' in (owners.paths | map('path'))",
        "signoff.kind == 'review'",
        "signoff.edited_by == 'amelia'",
    ] {
        assert_eq!(condition(expression), "ok", "{expression}");
    }
    for source in ["{{ pr.title }} of {{ pr.labels }}", "{{ sweep.from_plan }}", "no value at all"]
    {
        assert_eq!(text(source), "ok", "{source}");
    }
}

#[test]
fn what_can_never_hold_is_refused() {
    for (expression, mistake) in [
        ("pr.nope", "3: `pr` has no field `nope`"),
        ("pr['nope']", "3: `pr` has no field `nope`"),
        ("pr.number == '3'", "13: a whole number never equals a text"),
        (
            "pr.number in pr.labels",
            "0: a whole number is never in this list; each element is a text",
        ),
        ("pr.labels == 'x'", "13: a list never equals a text"),
        ("pr.labels.x", "10: a list has no field `x`"),
        ("pr.draft > 1", "11: true or false never equals a whole number"),
        ("signoff.kind == 'reveiw'", "16: the value is never `reveiw`"),
        ("sweep.chosen.complete", "0: `sweep.chosen` may be none here"),
        ("sweep.chosen is none and sweep.chosen.complete", "25: `sweep.chosen` may be none here"),
        (
            "sweep.chosen is not none or sweep.chosen.complete",
            "28: `sweep.chosen` may be none here",
        ),
        ("l.env.MODE == '1'", "0: `l.env.MODE` may not be there"),
        (
            "pr.number | default(3)",
            "0: this is a whole number and never none, so `default` does nothing",
        ),
        ("pr.number is none", "0: this is a whole number and never none"),
        ("pr.title | length", "0: this is a text and has no length"),
        ("pr.number | lower", "0: this is a whole number, expected a text"),
        ("owners.paths | selectattr('path')", "26: `path` is a text, expected true or false"),
        ("owners.paths | map('pth')", "19: `owners.paths` has no field `pth`"),
        ("pr.labels | map(x)", "16: `map` takes the name of a field in quotes"),
        ("pr.title | short(3)", "0: `short` takes 0 arguments, without names"),
        ("pr.title if pr.draft", "0: this `if` has no `else`"),
        ("people.signer", "0: the fact `people` is not in `needs`"),
        ("{'a': 1}", "0: a map literal has no use in a rule"),
        ("pr.title == ", "9: not a Jinja expression: unexpected end of input, expected expression"),
    ] {
        assert_eq!(first(expression), mistake, "{expression}");
    }
}

#[test]
fn a_condition_is_true_or_false() {
    for (expression, mistake) in [
        ("pr.labels", "0: a condition is true or false; this is a list"),
        ("not pr.number", "4: a condition is true or false; this is a whole number"),
        ("sweep.chosen", "0: a condition is true or false; this is a record (`Chosen`), or none"),
        ("pr.draft and pr.title", "13: a condition is true or false; this is a text"),
    ] {
        assert_eq!(condition(expression), mistake, "{expression}");
    }
}

#[test]
fn a_text_shows_what_a_person_can_read() {
    for (source, mistake) in [
        ("by {{ signoff.edited_by }}", "6: `signoff.edited_by` may be none here"),
        ("{{ pr.origin }}", "3: a text cannot show a record (`Origin`)"),
        (
            "{{ owners.paths }}",
            "3: a text cannot show this list; each element is a record (`OwnedPath`)",
        ),
        ("{{ pr.labels | paste }}", "3: `paste` makes several lines, and this text has one"),
        ("a {% if pr.draft %}b{% endif %}", "2: a text holds `{{ expression }}`, no statements"),
        ("a {{ pr.title", "2: unclosed text: `{{` has no `}}`"),
    ] {
        assert_eq!(text(source), mistake, "{source}");
    }
}

#[test]
fn what_is_too_long_or_too_deep_to_be_read_is_refused() {
    let chain = format!("1{} == 1", "+1".repeat(3_000));
    assert_eq!(
        condition(&chain),
        "0: not a Jinja expression: it has 6006 bytes, and 1000 is the most"
    );
    let nots = format!("{}true", "not ".repeat(50_000));
    assert!(condition(&nots).contains("1000 is the most"));
    assert!(text(&format!("{{{{ {nots} }}}}")).contains("1000 is the most"));
    // What is as deep as it can be is walked.
    assert_eq!(condition(&format!("1{} == 1", "+1".repeat(490))), "ok");
    assert_eq!(condition(&format!("{}true", "not ".repeat(140))), "ok");
    let deep = text(&format!("{{{{ 1{} }}}}", "+1".repeat(490)));
    assert_eq!(deep, "ok");
    assert_ne!(condition(&format!("{}true{}", "(".repeat(400), ")".repeat(400))), "ok");
}
