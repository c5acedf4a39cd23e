//! Two versions of a sign-off are the same where they claim the same.

use countersign::facts::{Claims, ItemState};

use super::{filled, place, reader, with_box, with_details};

fn claims(body: &str) -> Claims {
    reader().parse(body, &place()).unwrap().claims()
}

#[test]
fn the_claims_of_a_filled_form() {
    let claims = claims(&with_details(
        "- https://github.com/acme/bench/actions/runs/9\n- again /actions/runs/9 and [b](https://a.b/actions/runs/7)",
    ));
    assert_eq!(claims.items.len(), 17);
    assert!(claims.items.values().all(|item| item.state == ItemState::Checked));
    assert_eq!(
        (claims.runs.as_slice(), claims.signed.as_deref()),
        (&[7, 9][..], Some("octo-owner"))
    );
}

#[test]
fn layout_is_no_claim() {
    let body = filled();
    let same = claims(&body);
    for other in [
        body.replace('\n', "\r\n"),
        body.replace("- [x] ", "* [X]   "),
        body.replace("- All eight points", "-   All  eight\n  points"),
        format!("<!-- a note -->\n\n{body}\n\n"),
        body.replace("### Additional detail section:", "**Additional details section**\n"),
    ] {
        assert_ne!(other, body);
        assert_eq!(claims(&other), same, "{other}");
    }
}

#[test]
fn what_is_a_claim_shows_where_it_changed() {
    let before = claims(&filled());
    let of = |body: &str| {
        let now = claims(body);
        let items: Vec<String> = now
            .items
            .iter()
            .filter(|(id, item)| before.items.get(*id) != Some(item))
            .map(|(id, item)| format!("{id} {:?}", item.state))
            .collect();
        (items, now.details != before.details, now.signed != before.signed, now.runs)
    };
    let item = |words: &str| vec![words.to_owned()];
    assert_eq!(
        of(&with_box("passes evals", "[ ]")),
        (item("evals Unchecked"), false, false, vec![])
    );
    assert_eq!(
        of(&with_box("passes evals", "[ x]")),
        (item("evals Malformed"), false, false, vec![])
    );
    // A run's link is compared by the run, not as words of the item.
    let linked = filled().replacen("passes evals.", "passes evals. https://a.b/actions/runs/5", 1);
    assert_eq!(of(&linked), (Vec::new(), false, false, vec![5]));
    let reworded = filled().replacen("passes evals.", "passes evals but one.", 1);
    assert_eq!(of(&reworded), (item("evals Checked"), false, false, vec![]));
    let page = filled().replacen(
        "[vLLM recipes](https://recipes.vllm.ai/)",
        "[vLLM recipes](https://a.b/)",
        1,
    );
    assert_eq!(of(&page), (item("recipe-documented Checked"), false, false, vec![]));
    assert_eq!(of(&with_details("- Seven points were run.")), (Vec::new(), true, false, vec![]));
    let signed = filled().replace("octo-owner", "octo-other");
    assert_eq!(of(&signed), (Vec::new(), false, true, vec![]));
    let twice = filled().replacen(
        "- [x] Verified that this PR passes",
        "- [ ] Verified that this PR passes evals.\n- [x] Verified that this PR passes",
        1,
    );
    assert_eq!(of(&twice).0, item("evals Unchecked"), "the copy that is not checked counts");
}

#[test]
fn an_item_that_nobody_knows_is_called_by_its_first_words() {
    let body = filled().replacen("- [x] Reported", "- [x] Watered the plants.\n- [x] Reported", 1);
    let known = claims(&body);
    assert_eq!(known.items["item:watered-the-plants"].state, ItemState::Checked);
    assert_eq!(known.items.len(), 18);
}
