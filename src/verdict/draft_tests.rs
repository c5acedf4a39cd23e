//! What rows come to for an item, and what a draft's details hold.

use super::*;
use crate::facts::{Missing, Origin, OriginKind, OwnedPath, Scope};
use crate::profile::builtin;
use crate::rules::Level;
use crate::verdict::samples::{finding, row};

const PLACEHOLDER: &str = "fill this in";

fn item(position: i64, id: &str) -> TemplateItem {
    TemplateItem {
        id: id.to_owned(),
        text: format!("Verified *{id}* by @alice"),
        paste: format!("- [ ] Verified {id}"),
        position,
        wants_run_link: true,
        origin: Origin::new(OriginKind::File),
    }
}

fn answer(position: i64, standing: Standing, said: &str) -> Answer {
    Answer {
        position: Some(position),
        title: "Sweep".to_owned(),
        standing,
        said: said.to_owned(),
        fix: None,
        addresses: Vec::new(),
        wants_run_link: false,
    }
}

fn draft(items: Vec<Answer>) -> Draft {
    Draft { items, others: Vec::new(), commit: "`1111111`".to_owned(), signers: Vec::new() }
}

/// Rules of the built-in profile with the items that each answers for changed.
fn rules(answering: &[(&str, &[&str])]) -> RuleSet {
    let files = builtin("inferencex").expect("it is built in");
    let mut rules = RuleSet::from_files("inferencex", &files).expect("it is sound");
    rules.rules.retain(|rule| answering.iter().any(|(id, _)| *id == rule.id));
    for rule in &mut rules.rules {
        let (_, items) = answering.iter().find(|(id, _)| *id == rule.id).expect("it was kept");
        rule.items = items.iter().map(|id| (*id).to_owned()).collect();
    }
    rules
}

fn facts() -> Facts {
    Facts::all_missing(&Missing::offline("the sign-off"))
}

fn of(id: &str, status: RowStatus) -> Row {
    Row { id: id.to_owned(), ..row(1, status) }
}

#[test]
fn an_item_is_proven_only_where_every_rule_that_answers_for_it_holds() {
    use RowStatus::{Fail, NotApplicable, Pass, Undecided, Warn};
    let rules = rules(&[("sweep", &["a"]), ("reuse-command", &["a"])]);
    for (one, other, standing) in [
        (Pass, Pass, Standing::Proven),
        (Pass, NotApplicable, Standing::Proven),
        (NotApplicable, NotApplicable, Standing::NotApplicable),
        (Pass, Warn, Standing::Failing),
        (Fail, NotApplicable, Standing::Failing),
        (Pass, Undecided, Standing::Yours),
        (Fail, Undecided, Standing::Failing),
    ] {
        let rows = [of("sweep", one), of("reuse-command", other)];
        let draft = Draft::new(&rules, &rows, &facts(), &[item(1, "a"), item(2, "b")]);
        assert_eq!(draft.items[0].standing, standing, "{one:?} and {other:?}");
        // Nothing answers for the second one.
        assert_eq!(draft.items[1].standing, Standing::Yours);
        assert_eq!(draft.items[1].title, "Verified b by alice");
        assert!(draft.others.is_empty());
    }
}

#[test]
fn a_fault_of_ours_is_told_from_what_only_a_sign_off_gives() {
    let rules = rules(&[("sweep", &["a"]), ("checklist", &["b"]), ("code-quality", &["c"])]);
    let mut facts = facts();
    facts.sweep = Err(Missing::ours("the runs could not be read")).into();
    let undecided = |id: &str| Row {
        summary: "the runs could not be read".to_owned(),
        ..of(id, RowStatus::Undecided)
    };
    let rows = [undecided("sweep"), undecided("checklist"), undecided("code-quality")];
    let draft = Draft::new(&rules, &rows, &facts, &[item(1, "a"), item(2, "b"), item(3, "c")]);
    let standings: Vec<_> = draft.items.iter().map(|it| (it.standing, it.said.as_str())).collect();
    assert_eq!(
        standings,
        [
            (Standing::Unread, "the runs could not be read"),
            (Standing::Yours, "it can be judged once there is a sign-off"),
            (Standing::Yours, "only a person can judge it"),
        ]
    );
    assert!(draft.unread());
    let summary = draft.summary("x");
    assert!(summary.starts_with("x: 0 proven, 0 not applicable, 2 yours, 0 failing, 1 not read\n"));
}

#[test]
fn an_excepted_failure_is_not_proven() {
    let rules = rules(&[("sweep", &["a"])]);
    let excepted = Row {
        overridden: Some(crate::rules::Override {
            by: "alice".to_owned(),
            url: "https://github.example/c/1".to_owned(),
            reason: "agreed".to_owned(),
        }),
        ..of("sweep", RowStatus::Fail)
    };
    let draft = Draft::new(&rules, &[excepted], &facts(), &[item(1, "a")]);
    assert_eq!(draft.items[0].standing, Standing::Yours);
    assert!(draft.items[0].said.starts_with("fails, but excepted by `@alice`: `agreed`"));
}

#[test]
fn the_details_quote_what_is_proven_and_ask_for_the_rest() {
    let draft = draft(vec![
        answer(1, Standing::Proven, "Run 3826 is complete"),
        answer(2, Standing::Yours, "only a person can judge it"),
        Answer {
            fix: Some("post the line:\n```\n/use 3826\n```\nthen wait".to_owned()),
            ..answer(3, Standing::Failing, "no run of `a b`")
        },
        answer(4, Standing::NotApplicable, "nothing changed"),
        answer(5, Standing::Unread, "a timeout"),
    ]);
    let explained = |line: &str| vec![if line.contains("Item 4") { 4 } else { 0 }];
    assert_eq!(
        draft.details(Some(PLACEHOLDER), explained),
        "> Proven by machine at `1111111`:\n\
         > - **Sweep** (item 1): Run 3826 is complete\n\
         \n\
         - Item 2 (Sweep): fill this in\n\
         - Item 3 (Sweep): fill this in. To do: no run of `a b`. Fix: post the line: `/use 3826` then wait\n\
         - Item 4 (Sweep): not applicable: nothing changed\n\
         - Item 5 (Sweep): fill this in\n"
    );
    assert_eq!(
        draft.details(None, explained),
        "> Proven by machine at `1111111`:\n\
         > - **Sweep** (item 1): Run 3826 is complete\n\
         \n\
         - Item 4 (Sweep): not applicable: nothing changed\n"
    );
}

#[test]
fn a_reason_that_speaks_for_another_item_is_left_out() {
    let draft = draft(vec![answer(4, Standing::NotApplicable, "no path like `item 2`")]);
    let explained = |line: &str| if line.contains("item 2") { vec![2, 4] } else { vec![4] };
    assert_eq!(draft.details(Some(PLACEHOLDER), explained), "- Item 4: not applicable\n");
    let always = |_: &str| vec![2, 4];
    assert_eq!(draft.details(Some(PLACEHOLDER), always), "- Item 4 (Sweep): fill this in\n");
    assert_eq!(draft.details(None, always), "");
}

#[test]
fn a_run_link_stands_only_behind_a_proven_item_that_asks_for_one() {
    let rules = rules(&[("sweep", &["a"])]);
    let mut shown = finding(Level::Note, "complete");
    shown.evidence = ["https://h.example/page", "https://h.example/runs/7", "javascript:runs/8"]
        .map(|url| Origin::new(OriginKind::Run).at_url(url))
        .into();
    let link_of = |status, wants_run_link| {
        let row = Row { findings: vec![shown.clone()], ..of("sweep", status) };
        let item = TemplateItem { wants_run_link, ..item(1, "a") };
        let draft = Draft::new(&rules, &[row], &facts(), &[item]);
        draft.items[0].run_link(|url| url.rsplit_once("runs/")?.1.parse().ok())
    };
    let link = Some("[run 7](https://h.example/runs/7)".to_owned());
    assert_eq!(link_of(RowStatus::Pass, true), link);
    assert_eq!(link_of(RowStatus::Pass, false), None);
    assert_eq!(link_of(RowStatus::Fail, true), None);
}

#[test]
fn who_can_sign_owns_every_path_that_has_owners_of_its_own() {
    let owned = |path: &str, owners: &[&str], catch_all| OwnedPath {
        path: path.to_owned(),
        pattern: path.to_owned(),
        line: 1,
        owners: owners.iter().map(|owner| (*owner).to_owned()).collect(),
        catch_all,
        signer_owns: false,
        undecidable: false,
        origin: Origin::new(OriginKind::File),
    };
    let said = |paths: Vec<OwnedPath>, required| {
        signers(&Owners {
            signer: String::new(),
            file: "CODEOWNERS".to_owned(),
            paths,
            signer_listed: false,
            signer_listed_on_match: false,
            signer_permission: None,
            scope: Scope { required, remaining: Vec::new(), closed_because: None },
            errors: Vec::new(),
            origin: Origin::new(OriginKind::File),
        })
    };
    let all = owned("x", &["@acme/core"], true);
    let (a, b) = (owned("a", &["@nv-ada", "@bo"], false), owned("b", &["@BO", "@cy"], false));
    assert_eq!(said(vec![all.clone(), a.clone(), b.clone()], true), ["Can sign: `@bo`."]);
    let c = owned("c", &["@cy"], false);
    assert_eq!(
        said(vec![a, c], true),
        [
            "Nobody owns everything that changed; its owners sign one by one:",
            "`a`: `@nv-ada`, `@bo`",
            "`c`: `@cy`",
        ]
    );
    assert_eq!(
        said(vec![all], false),
        [
            "No sign-off is required here: no owner remains who has to give one.",
            "Can sign: anybody whom `CODEOWNERS` names, e.g. `@acme/core`.",
        ]
    );
}
