//! The template in all of its versions, and a sign-off that is older than it.

use std::collections::BTreeSet;

use countersign::signoff::settings::{Grammar, ItemTable};
use countersign::signoff::{Reader, Versions};

use super::{
    NEWEST, compare, document_place, filled, form, grammar, item_table, parse, reader, template,
};

#[test]
fn every_item_of_every_template_version_has_exactly_one_id() {
    let documents = [
        (include_str!("../fixtures/checklists/2026-06-22.md"), 6),
        (include_str!("../fixtures/checklists/2026-06-23.md"), 8),
        (include_str!("../fixtures/checklists/2026-07-03.md"), 10),
        (include_str!("../fixtures/checklists/2026-07-10.md"), 13),
        (include_str!("../fixtures/checklists/2026-07-14.md"), 13),
        (include_str!("../fixtures/checklists/2026-08-03.md"), 14),
        (include_str!("../fixtures/checklists/2026-08-14.md"), 15),
        (include_str!("../fixtures/checklists/2026-09-root-layout-last.md"), 17),
        (include_str!("../fixtures/checklists/2026-10-earlier.md"), 17),
        (NEWEST, 17),
    ];
    let table = item_table();
    // One reader an entry: it knows that item and no other.
    let alone: Vec<(&str, Reader)> = table
        .items
        .iter()
        .map(|item| {
            let one = ItemTable { items: vec![item.clone()] };
            (item.id.as_str(), Reader::new(&grammar(), &one).unwrap())
        })
        .collect();
    let all: BTreeSet<&str> = table.items.iter().map(|item| item.id.as_str()).collect();
    let mut boxes = 0;
    for (document, count) in documents {
        let items = template(document);
        assert_eq!(items.len(), count);
        boxes += count;
        let found: BTreeSet<&str> = items.iter().map(|item| item.id.as_str()).collect();
        assert_eq!(found.len(), count, "an id stands twice");
        assert!(found.is_subset(&all), "{:?}", found.difference(&all));
        // Not only the first match: no item satisfies two entries of the table.
        for (id, reader) in &alone {
            let seen = reader.parse_template(document, "Template", &document_place()).unwrap();
            let hits = seen.iter().filter(|item| item.id == *id).count();
            assert_eq!(hits, usize::from(found.contains(id)), "{id}");
            for (one, other) in items.iter().zip(&seen) {
                assert_eq!(other.id == *id, one.id == *id, "{} is also {id}", one.id);
            }
        }
    }
    assert_eq!(boxes, 130);
}

#[test]
fn the_newest_template_in_the_order_of_its_items() {
    let items = template(NEWEST);
    let ids: Vec<_> = items.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "latest-template",
            "code-quality",
            "pr-validation",
            "evals",
            "chat-template",
            "draft-as-shipped",
            "golden-al",
            "not-deprecated",
            "architecture",
            "upstream-images",
            "engine-first",
            "recipe-documented",
            "recipe-link",
            "no-engine-patch",
            "append-only",
            "exceptions-explained",
            "pareto",
        ]
    );
    let wanting: Vec<_> = items.iter().filter(|item| item.wants_run_link).collect();
    assert_eq!(wanting.iter().map(|item| item.position).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(
        items[1].paste,
        "- [ ] Verified that the general code quality meets the InferenceX standard and does not make the code quality any worse."
    );
    assert!(items[12].paste.starts_with("  - [ ] I linked the corresponding upstream PR in the [vLLM recipe repo](https://github.com/vllm-project/recipes)"));
    assert_eq!(items[1].origin.line, Some(6));
    assert_eq!(
        items[1].origin.url.as_deref(),
        Some(
            format!(
                "https://github.com/acme/bench/blob/{}/docs/PR_REVIEW_CHECKLIST.md#L6",
                "c".repeat(40)
            )
            .as_str()
        )
    );
}

#[test]
fn a_stale_copy_names_the_items_that_came_later() {
    let older = template(include_str!("../fixtures/checklists/2026-08-14.md"));
    let current = template(NEWEST);
    let body = include_str!("../fixtures/checklists/2026-08-14.md").split("```").nth(1).unwrap();
    let signoff = parse(&body.replace("- [ ]", "- [x]"));
    let versions = Versions {
        posted: Some(&older),
        posted_with: Some("a".repeat(40)),
        current: Some("b".repeat(40)),
        changed_at: Some("2026-10-01T12:13:00Z".to_owned()),
    };
    let checklist = reader().compare(&signoff, &current, versions);
    let missing: Vec<_> = checklist.missing.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(missing, ["draft-as-shipped", "pareto"]);
    assert!(checklist.missing.iter().all(|item| item.in_posted_template == Some(false)));
    assert!(
        checklist.missing[1]
            .paste
            .starts_with("- [ ] Reported measured throughput/E2EL Pareto counts")
    );
    assert!(checklist.stale.is_stale);
    assert_eq!(checklist.stale.added, ["draft-as-shipped", "pareto"]);
    assert!(checklist.stale.removed.is_empty());
    assert_eq!(checklist.stale.changed_at.as_deref(), Some("2026-10-01T12:13:00Z"));
    // Left out of a copy that had it: the author's own doing.
    let cut = body.replace("- [ ]", "- [x]");
    let cut: Vec<_> = cut.lines().filter(|line| !line.contains("append-only")).collect();
    let signoff = parse(&cut.join("\n"));
    let versions = Versions { posted: Some(&older), ..Versions::default() };
    let checklist = reader().compare(&signoff, &current, versions);
    let of =
        |id: &str| checklist.missing.iter().find(|item| item.id == id).unwrap().in_posted_template;
    assert_eq!((of("append-only"), of("pareto")), (Some(true), Some(false)));
    let unknown = reader().compare(&signoff, &current, Versions::default());
    assert_eq!((unknown.missing[0].in_posted_template, unknown.stale.is_stale), (None, false));
}

#[test]
fn an_item_that_nobody_knows_is_named_and_paired_by_its_words() {
    let document = NEWEST.replace(
        "- [ ] If any of the above",
        "- [ ] Confirmed that KV cache dtypes are listed.\n- [ ] Also confirmed that evals: passes evals twice.\n- [ ] If any of the above",
    );
    let items = template(&document);
    let unknown: Vec<_> = items
        .iter()
        .filter(|item| item.id.starts_with("item:"))
        .map(|item| item.id.as_str())
        .collect();
    assert_eq!(
        unknown,
        ["item:confirmed-that-kv-cache-dtypes-are", "item:also-confirmed-that-evals-passes-evals"]
    );
    let signed = filled().replace(
        "- [x] If any of the above",
        "- [x] Confirmed that KV cache dtypes are listed.\n- [x] If any of the above",
    );
    let checklist = reader().compare(&parse(&signed), &items, Versions::default());
    let missing: Vec<_> = checklist.missing.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(missing, ["item:also-confirmed-that-evals-passes-evals"]);
    assert_eq!(checklist.matched.len(), 18);
}

#[test]
fn a_remark_at_the_end_of_a_line_makes_no_other_item_of_it() {
    for (line, remark) in [
        ("reasoning below.", " (append-only: N/A)"),
        ("passed PR validation.", " The golden AL run is linked too."),
        ("does not patch the inference engine", ", code quality checked,"),
    ] {
        assert!(filled().contains(line), "{line}");
        let checklist = compare(&filled().replacen(line, &format!("{line}{remark}"), 1));
        assert_eq!((checklist.missing, checklist.unchecked), (vec![], vec![]), "{remark}");
    }
}

#[test]
fn two_unknown_items_that_begin_alike_are_two() {
    let added = "- [ ] Confirmed that all of the values below, of caches.\n\
                 - [ ] Confirmed that all of the values below, of weights.\n";
    let before = "- [ ] If any of the above";
    let items = template(&NEWEST.replace(before, &format!("{added}{before}")));
    let signed = |lines: &str| {
        let before = before.replace("[ ]", "[x]");
        let body = filled().replace(&before, &format!("{lines}{before}"));
        let missing = reader().compare(&parse(&body), &items, Versions::default()).missing;
        missing.into_iter().map(|item| item.text).collect::<Vec<_>>()
    };
    let both = added.replace("[ ]", "[x]");
    assert!(signed(&both).is_empty());
    let second = both.lines().nth(1).unwrap();
    let first = "Confirmed that all of the values below, of caches.";
    assert_eq!(signed(&format!("{second}\n")), [first]);
}

#[test]
fn a_document_without_a_template_says_what_it_lacks() {
    let read = |document: &str| reader().parse_template(document, "Template", &document_place());
    assert_eq!(
        read("# Nothing\n\ntext").unwrap_err().to_string(),
        "it has neither a heading \"Template\" nor the opening phrase"
    );
    assert_eq!(
        read("## Template\n\nnothing").unwrap_err().to_string(),
        "the template has no item that begins with `- [ ]`"
    );
    assert_eq!(read(&format!("intro\n\n```\n{}```\n", form())).unwrap().len(), 17);
    assert_eq!(read(&form()).unwrap().len(), 17);
}

#[test]
fn settings_that_cannot_be_worked_with_are_named() {
    let (grammar, items) = (grammar(), item_table());
    let refused = |change: fn(&mut Grammar)| {
        let mut changed = grammar.clone();
        change(&mut changed);
        Reader::new(&changed, &items).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert!(refused(|g| g.phrase = " ".to_owned()).starts_with("signoff.phrase:"));
    assert!(refused(|g| g.minimum_items = 0).starts_with("signoff.minimum_items:"));
    assert!(refused(|g| g.run_links.push("(".to_owned())).starts_with("signoff.run_links[2]:"));
    assert!(refused(|g| g.run_links[0] = r"runs/(\d+)".to_owned()).contains("group"));
    assert!(refused(|g| g.run_links[0] = r"(?<id>(\d{1,900}){1,900})".to_owned()).contains("size"));
}

#[test]
fn the_template_to_paste_is_what_stands_in_the_document() {
    let text = |document: &str| reader().template_text(document, "## Template").unwrap();
    assert_eq!(text(NEWEST), form().trim_end());
    let indented: String = NEWEST.lines().map(|line| format!("  {line}\n")).collect();
    assert_eq!(text(&indented.replace("  ## ", "## ")), form().trim_end());
    // The documents of June have no fence.
    let first = text(include_str!("../fixtures/checklists/2026-06-22.md"));
    assert!(first.starts_with("As a PR reviewer and CODEOWNER"), "{first}");
    assert_eq!(first.matches("- [ ] ").count(), 6, "{first}");
    for document in [NEWEST, include_str!("../fixtures/checklists/2026-06-23.md")] {
        let copied = parse(&text(document));
        assert_eq!(copied.items.len(), template(document).len());
    }
    let section =
        "# A\n\n## Template\nAs a PR reviewer and CODEOWNER, I have:\n- [ ] a\n\n## Next\nx\n";
    assert_eq!(text(section), "As a PR reviewer and CODEOWNER, I have:\n- [ ] a");
    assert!(reader().template_text("# A\n", "## Template").is_err());
}
