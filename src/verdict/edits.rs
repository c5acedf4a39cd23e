//! What an edit changed in a sign-off's claims: its bytes tell nobody anything.

use super::inert::unheard;
use super::{Summary, Verdict};
use crate::facts::{Claims, ItemClaim, ItemState};
use crate::rules::escape::code_span;

/// Changes named; more are counted.
const SHOWN: usize = 12;

/// What changed since an earlier verdict on the same sign-off, as Markdown on one line; `None` where
/// the text is the same, or where it is not known what it claimed then.
pub(super) fn edits(verdict: &Verdict, previous: &Summary) -> Option<String> {
    let edited = verdict.inputs.signoff_body != previous.signoff_body;
    let now = verdict.signoff.as_ref()?.claims.as_ref()?;
    let before = previous.claims.as_ref().filter(|_| edited)?;
    let changes = changes(before, now);
    if changes.is_empty() {
        return Some("only its layout changed".to_owned());
    }
    let mut shown: Vec<String> = changes.iter().take(SHOWN).cloned().collect();
    if changes.len() > SHOWN {
        shown.push(format!("and {} more changes", changes.len() - SHOWN));
    }
    Some(shown.join("; "))
}

/// Every claim that changed, came or went: items by id, runs, details, signature.
fn changes(before: &Claims, now: &Claims) -> Vec<String> {
    let mut changes = Vec::new();
    for (id, claim) in &now.items {
        let item = format!("item {}", name(id));
        match before.items.get(id) {
            None => changes.push(format!("{item} added, {}", state(claim))),
            Some(old) if old.state != claim.state => {
                changes.push(format!("{item} {} → {}", state(old), state(claim)));
            }
            Some(old) if old.words != claim.words => changes.push(format!("{item} reworded")),
            Some(_) => {}
        }
    }
    let removed = before.items.keys().filter(|id| !now.items.contains_key(*id));
    changes.extend(removed.map(|id| format!("item {} removed", name(id))));
    let added = now.runs.iter().filter(|run| !before.runs.contains(run));
    changes.extend(added.map(|run| format!("link to run `{run}` added")));
    let removed = before.runs.iter().filter(|run| !now.runs.contains(run));
    changes.extend(removed.map(|run| format!("link to run `{run}` removed")));
    if before.details != now.details {
        changes.push("the details changed".to_owned());
    }
    match (&before.signed, &now.signed) {
        (old, new) if old == new => {}
        (Some(old), Some(new)) => {
            changes.push(format!("signed {} → {}", unheard(old), unheard(new)));
        }
        (None, Some(new)) => changes.push(format!("signed {}", unheard(new))),
        (_, None) => changes.push("the signature removed".to_owned()),
    }
    changes
}

/// An item by its id; one that the profile does not know has its own words for an id.
fn name(id: &str) -> String {
    code_span(id.strip_prefix("item:").unwrap_or(id))
}

fn state(claim: &ItemClaim) -> &'static str {
    match claim.state {
        ItemState::Checked => "ticked",
        ItemState::Unchecked => "not ticked",
        ItemState::Malformed => "without a box that is drawn",
    }
}

#[cfg(test)]
mod tests {
    use super::edits;
    use crate::facts::{Claims, ItemClaim, ItemState};
    use crate::rules::RowStatus;
    use crate::verdict::samples::{row, subject};
    use crate::verdict::{CommentOptions, Summary, Tries, Verdict, changed, conclude, json};
    use crate::verdict::{comment, comment_after};

    fn claims(items: &[(&str, ItemState, &str)], runs: &[i64], details: &str) -> Claims {
        let items = items.iter().map(|(id, state, words)| {
            ((*id).to_owned(), ItemClaim { state: *state, words: (*words).to_owned() })
        });
        Claims {
            items: items.collect(),
            runs: runs.to_vec(),
            details: details.into(),
            signed: Some("bob".into()),
        }
    }

    fn before() -> Claims {
        use ItemState::{Checked, Malformed};
        claims(&[("a", Checked, "1"), ("b", Malformed, "2"), ("c", Checked, "3")], &[7, 8], "x")
    }

    /// A verdict on a sign-off with such claims, of which this is the text.
    fn verdict(claims: Option<Claims>, body: &str, status: RowStatus) -> Verdict {
        let mut about = subject();
        about.inputs.signoff_body = Some(format!("sha256:{body}"));
        if let Some(signoff) = &mut about.signoff {
            signoff.claims = claims;
        }
        conclude(vec![row(1, status)], about, Tries::Last)
    }

    #[test]
    fn every_kind_of_change_has_its_words() {
        use ItemState::{Checked, Unchecked};
        let old = Summary::from(&verdict(Some(before()), "old", RowStatus::Fail));
        let mut now = claims(
            &[("a", Unchecked, "1"), ("b", Checked, "2"), ("d", Checked, "4")],
            &[8, 9],
            "y",
        );
        now.signed = Some("carol".into());
        let now = verdict(Some(now), "new", RowStatus::Fail);
        assert_eq!(
            edits(&now, &old).as_deref(),
            Some(
                "item `a` ticked → not ticked; item `b` without a box that is drawn → ticked; \
                 item `d` added, ticked; item `c` removed; link to run `9` added; \
                 link to run `7` removed; the details changed; signed `@bob` → `@carol`"
            )
        );
        let mut reworded = before();
        reworded.items.insert("c".into(), ItemClaim { state: Checked, words: "5".into() });
        reworded.signed = None;
        let reworded = verdict(Some(reworded), "new", RowStatus::Fail);
        assert_eq!(
            edits(&reworded, &old).as_deref(),
            Some("item `c` reworded; the signature removed")
        );
    }

    #[test]
    fn the_same_claims_in_another_text_are_layout_and_the_same_text_is_nothing() {
        let old = Summary::from(&verdict(Some(before()), "old", RowStatus::Fail));
        let layout = verdict(Some(before()), "new", RowStatus::Fail);
        assert_eq!(edits(&layout, &old).as_deref(), Some("only its layout changed"));
        assert_eq!(edits(&verdict(Some(before()), "old", RowStatus::Pass), &old), None);
        assert_eq!(edits(&verdict(None, "new", RowStatus::Pass), &old), None);
    }

    #[test]
    fn the_comment_ends_its_open_part_with_it_and_without_an_edit_is_as_ever() {
        let options = CommentOptions { report_url: None, command: "x", escalations: &[] };
        let old = Summary::from(&verdict(Some(before()), "old", RowStatus::Fail));
        let now = verdict(Some(claims(&[], &[], "x")), "new", RowStatus::Fail);
        let text = comment_after(&now, &options, Some(&old));
        let line = "Edited since the last verdict: item `a` removed; item `b` removed; \
                    item `c` removed; link to run `7` removed; link to run `8` removed.";
        assert!(
            text.contains(&format!("FAIL — summary 1\n\n{line}\n\nAssessed commit: ")),
            "{text}"
        );
        assert_eq!(comment_after(&now, &options, None), comment(&now, &options));
        let same = Summary::from(&now);
        assert_eq!(comment_after(&now, &options, Some(&same)), comment(&now, &options));
    }

    #[test]
    fn the_word_about_a_change_tells_of_it_too() {
        let old = verdict(Some(before()), "old", RowStatus::Fail);
        let stored: Summary = serde_json::from_str(&json(&old)).expect("the JSON of a verdict");
        assert_eq!(stored, Summary::from(&old));
        let mut mended = before();
        mended.items.insert("b".into(), ItemClaim { state: ItemState::Checked, words: "2".into() });
        let now = verdict(Some(mended), "new", RowStatus::Pass);
        let text = changed(&now, &stored, None).expect("a change");
        let said = "- Check 1 (Title 1): FAIL → PASS\n\n\
                    The sign-off was edited: item `b` without a box that is drawn → ticked.\n";
        assert!(text.ends_with(said), "{text}");
    }

    #[test]
    fn a_verdict_from_before_claims_were_kept_still_reads() {
        let kept = r#"{"verdict": "REJECTED", "assessed_commit": "1111", "checks": [],
            "inputs": {"signoff_body": "sha256:old"}, "signoff": {"author": "bob"}}"#;
        let kept: Summary = serde_json::from_str(kept).expect("a document of the first version");
        assert_eq!(
            (kept.claims.as_ref(), kept.signoff_body.as_deref()),
            (None, Some("sha256:old"))
        );
        let now = verdict(Some(before()), "new", RowStatus::Pass);
        assert_eq!(edits(&now, &kept), None);
        let text = changed(&now, &kept, None).expect("a change");
        assert!(!text.contains("edited"), "{text}");
    }
}
