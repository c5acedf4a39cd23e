//! The short new comment where a later verification of the same sign-off changes the verdict: an
//! edited comment notifies nobody.

use serde::Deserialize;

use super::comment::short;
use super::edits::edits;
use super::inert::{link, mention};
use super::row::{face, name};
use super::{Outcome, SignedBy, Verdict};
use crate::facts::Claims;
use crate::rules::{Override, Row, RowStatus};

/// Rows named in the comment; the verdict comment has them all.
const ROWS_SHOWN: usize = 20;

/// What is kept of an earlier verdict to tell what changed. Reads from a verdict's JSON.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Document")]
pub struct Summary {
    /// Its outcome.
    pub verdict: Outcome,
    /// The commit that it speaks of.
    pub assessed_commit: String,
    /// Its rows.
    pub checks: Vec<RowSummary>,
    /// `sha256:` of the sign-off's body then.
    pub signoff_body: Option<String>,
    /// What the sign-off claimed then; `None` where the verdict was kept before claims were.
    pub claims: Option<Claims>,
    /// When it was kept, Unix milliseconds; 0 where it was not.
    pub kept_at: i64,
}

impl Summary {
    /// The summary of a verdict that was kept then, from its JSON.
    ///
    /// # Errors
    /// Where the document is no verdict.
    pub fn kept(json: &str, at: i64) -> Result<Self, serde_json::Error> {
        let summary: Self = serde_json::from_str(json)?;
        Ok(Self { kept_at: at, ..summary })
    }
}

/// The parts of a verdict's JSON that a summary is made of.
#[derive(Deserialize)]
struct Document {
    verdict: Outcome,
    assessed_commit: String,
    checks: Vec<RowSummary>,
    #[serde(default)]
    inputs: DocumentInputs,
    #[serde(default)]
    signoff: Option<DocumentSignOff>,
}

#[derive(Default, Deserialize)]
struct DocumentInputs {
    #[serde(default)]
    signoff_body: Option<String>,
}

#[derive(Deserialize)]
struct DocumentSignOff {
    #[serde(default)]
    claims: Option<Claims>,
}

impl From<Document> for Summary {
    fn from(document: Document) -> Self {
        Self {
            verdict: document.verdict,
            assessed_commit: document.assessed_commit,
            checks: document.checks,
            signoff_body: document.inputs.signoff_body,
            claims: document.signoff.and_then(|signoff| signoff.claims),
            kept_at: 0,
        }
    }
}

/// A row of an earlier verdict.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RowSummary {
    /// The rule's id.
    pub id: String,
    /// Its number.
    pub number: Option<i64>,
    /// Its title.
    pub title: String,
    /// What came of it.
    pub status: RowStatus,
    /// The exception, where there was one.
    pub overridden: Option<Override>,
}

impl RowSummary {
    fn of(row: &Row) -> Self {
        Self {
            id: row.id.clone(),
            number: row.number,
            title: row.title.clone(),
            status: row.status,
            overridden: row.overridden.clone(),
        }
    }

    fn name(&self) -> String {
        name(self.number, &self.title)
    }

    fn word(&self) -> &'static str {
        face(self.status, self.overridden.is_some()).1
    }
}

impl From<&Verdict> for Summary {
    fn from(verdict: &Verdict) -> Self {
        Self {
            verdict: verdict.verdict,
            assessed_commit: verdict.assessed_commit.clone(),
            checks: verdict.checks.iter().map(RowSummary::of).collect(),
            signoff_body: verdict.inputs.signoff_body.clone(),
            claims: verdict.signoff.as_ref().and_then(|signoff| signoff.claims.clone()),
            kept_at: 0,
        }
    }
}

/// First line of that comment: one change has one, however often it is tried, and a verdict that goes
/// to and fro has one for each time.
fn change_marker(signoff: &SignedBy, verdict: &Verdict, previous: &Summary) -> String {
    format!(
        "<!-- countersign change={}/{} verdict={} since={} -->",
        signoff.kind.as_str(),
        signoff.id,
        verdict.id,
        previous.kept_at
    )
}

/// The comment, with a link to the verdict comment at `url`; `None` where nothing changed or one of
/// the two concluded nothing.
pub fn changed(verdict: &Verdict, previous: &Summary, url: Option<&str>) -> Option<String> {
    let signoff = verdict.signoff.as_ref()?;
    let concluded = |outcome| matches!(outcome, Outcome::Approved | Outcome::Rejected);
    if verdict.verdict == previous.verdict
        || !concluded(verdict.verdict)
        || !concluded(previous.verdict)
    {
        return None;
    }
    let call = match verdict.verdict {
        Outcome::Rejected => format!("{}, the", mention(&signoff.author)),
        _ => "The".to_owned(),
    };
    let before = match previous.assessed_commit == verdict.assessed_commit {
        true => String::new(),
        false => format!(" (at {})", short(&previous.assessed_commit)),
    };
    let mut text = format!(
        "{}\n{call} verdict on {} changed: **{}**{before} → **{}** at {}. {} has the details.\n",
        change_marker(signoff, verdict, previous),
        link("this sign-off", signoff.url.as_deref()),
        previous.verdict.words(),
        verdict.verdict.words(),
        short(&verdict.assessed_commit),
        link("The verdict", url),
    );
    let rows = rows(verdict, previous);
    for row in rows.iter().take(ROWS_SHOWN) {
        text.push_str(&format!("\n- {row}"));
    }
    if rows.len() > ROWS_SHOWN {
        text.push_str(&format!("\n- and {} more", rows.len() - ROWS_SHOWN));
    }
    if let Some(edits) = edits(verdict, previous) {
        text.push_str(&format!("\n\nThe sign-off was edited: {edits}."));
    }
    Some(text.trim_end().to_owned() + "\n")
}

/// `Check 1 (Sweep): FAIL → PASS`, for every row whose word changed, came or went.
fn rows(verdict: &Verdict, previous: &Summary) -> Vec<String> {
    let now: Vec<RowSummary> = verdict.checks.iter().map(RowSummary::of).collect();
    let find = |rows: &[RowSummary], id: &str| rows.iter().find(|row| row.id == id).cloned();
    let came = now.iter().filter_map(|row| match find(&previous.checks, &row.id) {
        Some(old) if old.word() == row.word() => None,
        Some(old) => Some(format!("{}: {} → {}", row.name(), old.word(), row.word())),
        None => Some(format!("{}: new, {}", row.name(), row.word())),
    });
    let went = previous
        .checks
        .iter()
        .filter(|old| find(&now, &old.id).is_none())
        .map(|old| format!("{}: gone", old.name()));
    came.chain(went).collect()
}

#[cfg(test)]
mod tests {
    use super::{Summary, changed};
    use crate::rules::RowStatus;
    use crate::verdict::samples::{row, subject};
    use crate::verdict::{Tries, conclude, json};

    #[test]
    fn it_says_from_what_to_what_and_which_rows() {
        let rows = |status| vec![row(0, RowStatus::Pass), row(1, status)];
        let rejected = conclude(rows(RowStatus::Fail), subject(), Tries::Last);
        let approved = conclude(rows(RowStatus::Pass), subject(), Tries::Last);
        let url = Some("https://github.example/c/20");
        let stored: Summary =
            serde_json::from_str(&json(&rejected)).expect("the JSON of a verdict");
        assert_eq!(stored, Summary::from(&rejected));
        assert_eq!(
            changed(&approved, &stored, url).expect("a change"),
            format!(
                "<!-- countersign change=issue_comment/11 verdict={} since=0 -->\n\
                 The verdict on [this sign-off](https://github.example/example/bench/pull/12#issuecomment-11) \
                 changed: **REJECTED** → **APPROVED** at `111111111111`. \
                 [The verdict](https://github.example/c/20) has the details.\n\n\
                 - Check 1 (Title 1): FAIL → PASS\n",
                approved.id
            )
        );
        let back = changed(&rejected, &Summary::from(&approved), url).expect("a change");
        assert!(back.contains("-->\n@bob, the verdict"), "a rejection calls its signer: {back}");
        assert_eq!(changed(&approved, &Summary::from(&approved), url), None);
    }

    #[test]
    fn what_concludes_nothing_changes_nothing() {
        let approved = conclude(vec![row(1, RowStatus::Pass)], subject(), Tries::Last);
        let undecided = conclude(vec![row(1, RowStatus::Undecided)], subject(), Tries::Last);
        assert_eq!(changed(&undecided, &Summary::from(&approved), None), None);
        assert_eq!(changed(&approved, &Summary::from(&undecided), None), None);
    }
}
