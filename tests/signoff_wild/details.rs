//! The additional details, links and the signature.

use super::{THREE, compare, filled, ids, parse, short, with_details};

#[test]
fn a_checked_link_item_without_a_link_is_noted() {
    let lacking = |body: &str| {
        let items = compare(body).matched;
        let ids = items.iter().filter(|item| item.lacks_run_link).map(|item| item.id.clone());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(lacking(&filled()), ["pr-validation", "evals"]);
    let run = "https://github.com/acme/bench/actions/runs/3826";
    let linked = filled().replacen("shows this.", &format!("shows this. {run}"), 1);
    assert_eq!(lacking(&linked), ["evals"]);
    assert!(lacking(&with_details(&format!("- run: {run}"))).is_empty());
    let below = filled().replacen("shows this.\n", &format!("shows this.\n  - [run]({run})\n"), 1);
    assert_eq!(lacking(&below), ["evals"]);
    assert_eq!(lacking(&with_details("- https://github.com/acme/bench/pull/3826")).len(), 2);
}

#[test]
fn every_spelling_of_a_run_link_names_the_run() {
    let base = "https://github.com/acme/bench/actions/runs/3826";
    for (text, url) in [
        (base.to_owned(), base.to_owned()),
        (format!("[the run]({base})"), base.to_owned()),
        (format!("[Run Sweep #3826]({base})"), base.to_owned()),
        (format!("<{base}>"), base.to_owned()),
        (format!("– {base}"), base.to_owned()),
        (format!("{base}/"), format!("{base}/")),
        (format!("{base}?pr=7"), format!("{base}?pr=7")),
        (format!("{base}/job/900?pr=7"), format!("{base}/job/900?pr=7")),
        (format!("{base}/attempts/2"), format!("{base}/attempts/2")),
        (format!("{base}/artifacts/55"), format!("{base}/artifacts/55")),
        (format!("验证：{base}，通过"), base.to_owned()),
        (format!("（{base}）"), base.to_owned()),
        (format!("({base})."), base.to_owned()),
        (
            "https://bench.example/inference?unofficialRun=3826".to_owned(),
            "https://bench.example/inference?unofficialRun=3826".to_owned(),
        ),
        (
            "https://bench.example/evaluation?x=1&unofficialRun=3826".to_owned(),
            "https://bench.example/evaluation?x=1&unofficialRun=3826".to_owned(),
        ),
    ] {
        let signoff = parse(&filled().replacen("shows this.", &format!("shows this. {text}"), 1));
        let links: Vec<_> =
            signoff.items[2].links.iter().map(|l| (l.url.clone(), l.run_id, l.line)).collect();
        assert_eq!(links, [(url.clone(), Some(3826), 4)], "{text}");
        let signoff = parse(&with_details(&format!("- one\n- run {text}")));
        let links: Vec<_> =
            signoff.details.links.iter().map(|l| (l.url.clone(), l.run_id, l.line)).collect();
        assert_eq!(links, [(url, Some(3826), 22)], "{text}");
    }
}

#[test]
fn recipe_links_of_every_kind_are_kept_as_written() {
    let links = [
        "https://github.com/vllm-project/recipes/pull/12",
        "https://github.com/vllm-project/recipes/blob/main/Acme/R9.yaml",
        "https://docs.example/cookbook/Acme/R9?hw=gb200#agentic-long-context",
        "https://github.com/acme/bench",
    ];
    let details = links.map(|link| format!("- recipe：{link}")).join("\n");
    let found = parse(&with_details(&details)).details.links;
    assert_eq!(found.iter().map(|link| link.url.as_str()).collect::<Vec<_>>(), links);
    assert!(found.iter().all(|link| link.run_id.is_none()));
}

#[test]
fn placeholders_count_as_empty() {
    let left = parse(
        &filled().replace("- All eight points were run.", "- Insert any additional info here"),
    );
    assert!(left.details.placeholder && left.details.empty);
    let beside = parse(&with_details("- insert any additional info here\n- run 3826"));
    assert!(beside.details.placeholder && !beside.details.empty);
    let nothing = parse(&with_details("-\n\n---\n<!-- later -->"));
    assert!(!nothing.details.placeholder && nothing.details.empty);
    assert_eq!(parse(&filled().replace("`octo-owner`", "FILL_IN_GITHUB_USERNAME")).signed, None);
}

#[test]
fn the_details_heading_in_every_form() {
    for heading in [
        "### Additional detail section:",
        "### additional details section",
        "# ADDITIONAL DETAIL SECTION：",
        "**Additional detail section:**",
        "__Additional details section__",
        "Additional detail section:",
        "### **Additional detail section:**",
    ] {
        let body = filled().replace("### Additional detail section:", heading);
        let details = parse(&body).details;
        assert!(details.heading, "{heading}");
        assert_eq!(details.text, "- All eight points were run.", "{heading}");
        // Without the blank line it is glued to the last item.
        let body = body.replace(&format!("\n\n{heading}"), &format!("\n{heading}"));
        let signoff = parse(&body);
        assert_eq!(signoff.details.text, "- All eight points were run.", "{heading}");
        assert!(!signoff.items[16].text.contains("dditional"), "{heading}");
    }
    let inline = filled().replace(
        "### Additional detail section:\n- All eight points were run.",
        "**Additional detail section:** see https://github.com/acme/bench/actions/runs/3826",
    );
    let details = parse(&inline).details;
    assert_eq!(details.text, "see https://github.com/acme/bench/actions/runs/3826");
    assert_eq!(details.links[0].run_id, Some(3826));
}

#[test]
fn without_a_heading_the_details_are_what_follows_the_last_item() {
    let body = filled().replace("### Additional detail section:\n", "");
    let details = parse(&body).details;
    assert!(!details.heading);
    let body =
        short(THREE).replace("### Additional detail section:\n- none", "All good.\n\n- run 3826");
    let details = parse(&body).details;
    assert_eq!((details.text.as_str(), details.line), ("All good.\n\n- run 3826", 6));
    let bare = format!("As a PR reviewer and CODEOWNER, I have:\n{THREE}");
    let details = parse(&bare).details;
    assert_eq!((details.text.as_str(), details.line, details.empty), ("", 0, true));
}

#[test]
fn details_above_the_checklist_end_where_it_begins() {
    let body = format!(
        "As a PR reviewer and CODEOWNER, I have:\n\n### Additional detail section\nAll good.\n\n{THREE}\n\nSigned: octo-owner"
    );
    let signoff = parse(&body);
    assert_eq!(ids(&signoff), ["code-quality", "pr-validation", "evals"]);
    assert_eq!((signoff.details.text.as_str(), signoff.details.line), ("All good.", 4));
    assert_eq!(signoff.signed.as_deref(), Some("octo-owner"));
}

#[test]
fn the_details_end_at_the_signature_and_hold_what_stands_in_them() {
    let text = "#### Runs\n\n| a | b |\n|--|--|\n| [x] | y |\n\n```\nSigned: nobody\n- [ ] not an item\n```\n\n- [ ] my own list\n\n> quoted";
    let signoff =
        parse(&format!("{}\ntrailing words https://a.example/1\n", with_details(text).trim_end()));
    assert_eq!(signoff.details.text, text);
    assert_eq!(signoff.items.len(), 17);
    assert_eq!(signoff.signed.as_deref(), Some("octo-owner"));
    assert!(signoff.details.links.is_empty());
}

#[test]
fn signatures_of_every_form() {
    for (line, login) in [
        ("Signed: `octo-owner`", Some("octo-owner")),
        ("Signed: @octo-owner", Some("octo-owner")),
        ("Signed: &#64;octo-owner", Some("octo-owner")),
        ("Signed: [octo-owner](https://github.com/octo-owner)", Some("octo-owner")),
        ("Signed: [@octo-owner](https://github.com/octo-owner)", Some("octo-owner")),
        ("**Signed:** `@octo-owner`", Some("octo-owner")),
        ("signed: OCTO-owner (Acme)", Some("OCTO-owner")),
        ("Signed:", None),
        ("Signed: `FILL_IN_GITHUB_USERNAME`", None),
        ("Reviewed by octo-owner", None),
    ] {
        let body = filled().replace("Signed: `octo-owner`", line);
        assert_eq!(parse(&body).signed.as_deref(), login, "{line}");
    }
    // A bullet of the details that begins with the word is a bullet.
    let signoff = parse(&with_details("- Signed: images are checked by cosign\n- one more"));
    assert_eq!(signoff.details.text, "- Signed: images are checked by cosign\n- one more");
    assert_eq!(signoff.signed.as_deref(), Some("octo-owner"));
    // Glued to the last bullet of the details.
    let body = filled().replace("run.\n\nSigned:", "run.\nSigned:");
    let signoff = parse(&body);
    assert_eq!(signoff.details.text, "- All eight points were run.");
    assert_eq!(signoff.signed.as_deref(), Some("octo-owner"));
}
