//! The sign-off held against the template that is in force now.

use std::collections::{BTreeMap, BTreeSet};

use super::Reader;
use super::explain::{Statement, own_reason};
use super::items::{key, slug};
use super::text::shortened;
use crate::facts::{
    Checklist, Explanation, ItemState, MatchedItem, MissingItem, Origin, SignOff, SignedItem,
    Staleness, TemplateItem, UncheckedItem,
};
use crate::limits;

/// Which versions of the template are spoken of; everything is empty where it is not known.
#[derive(Debug, Clone, Default)]
pub struct Versions<'t> {
    /// The items of the template in force when the sign-off was posted.
    pub posted: Option<&'t [TemplateItem]>,
    /// The commit of that template.
    pub posted_with: Option<String>,
    /// The last commit that changed the template.
    pub current: Option<String>,
    /// When it was made, RFC 3339.
    pub changed_at: Option<String>,
}

impl Reader {
    /// Holds a sign-off against the current template.
    ///
    /// Items are paired by their first words where those are the template's, else by id. Where a
    /// sign-off has an item twice, the copy that is not checked counts.
    pub fn compare(
        &self,
        signoff: &SignOff,
        current: &[TemplateItem],
        versions: Versions<'_>,
    ) -> Checklist {
        let statements = self.statements(&signoff.details);
        let posted: Option<BTreeSet<&str>> =
            versions.posted.map(|items| items.iter().map(|item| item.id.as_str()).collect());
        let pairs = pair(&signoff.items, current);
        let has_run = |item: &SignedItem| item.links.iter().any(|link| link.run_id.is_some());
        let details_have_run = signoff.details.links.iter().any(|link| link.run_id.is_some());
        let (mut matched, mut missing, mut unchecked) = (Vec::new(), Vec::new(), Vec::new());
        for template in current {
            let line = shortened(&template.text, limits::LABEL_CHARS);
            let Some(&signed) = pairs.get(template.id.as_str()) else {
                missing.push(MissingItem {
                    id: template.id.clone(),
                    text: line,
                    paste: template.paste.clone(),
                    in_posted_template: posted
                        .as_ref()
                        .map(|ids| ids.contains(template.id.as_str())),
                    origin: template.origin.clone(),
                });
                continue;
            };
            let explained = (!signed.checked)
                .then(|| self.explained(signed, template, &statements, &signoff.origin))
                .flatten();
            matched.push(MatchedItem {
                id: template.id.clone(),
                text: line.clone(),
                checked: signed.checked,
                explained: explained.clone(),
                lacks_run_link: template.wants_run_link
                    && signed.checked
                    && !has_run(signed)
                    && !details_have_run,
                origin: signed.origin.clone(),
            });
            if !signed.checked {
                unchecked.push(UncheckedItem {
                    id: template.id.clone(),
                    text: line,
                    state: signed.state,
                    typed: signed.typed.clone(),
                    explained,
                    paste: template.paste.replacen("[ ]", "[x]", 1),
                    line: signed.line,
                    column: signed.column,
                    origin: signed.origin.clone(),
                });
            }
        }
        Checklist { matched, missing, unchecked, stale: staleness(current, versions) }
    }

    fn explained(
        &self,
        signed: &SignedItem,
        template: &TemplateItem,
        statements: &[Statement],
        signoff: &Origin,
    ) -> Option<Explanation> {
        if let Some(reason) = own_reason(&signed.text, &template.text) {
            let origin = signed.origin.clone().quoting(reason);
            return Some(Explanation { quote: origin.quote.clone().unwrap_or_default(), origin });
        }
        let statement = self.explanation(statements, &template.id, template.position)?;
        let origin = signoff.clone().at_line(statement.line).quoting(&statement.quote);
        Some(Explanation { quote: origin.quote.clone().unwrap_or_default(), origin })
    }
}

/// The signed item of each template item that has one, by the template's id.
///
/// The first words decide where a template item begins with them, then the words that identify an
/// item: a remark at the end of a line often names the subject of another.
pub(super) fn pair<'s>(
    signed: &'s [SignedItem],
    current: &[TemplateItem],
) -> BTreeMap<String, &'s SignedItem> {
    let mut pairs: BTreeMap<String, &SignedItem> = BTreeMap::new();
    let mut by_words: BTreeMap<String, Vec<&TemplateItem>> = BTreeMap::new();
    for item in current {
        by_words.entry(slug(&item.text)).or_default().push(item);
    }
    let ids: BTreeSet<&str> = current.iter().map(|item| item.id.as_str()).collect();
    for item in signed {
        let by_tokens = item.id.as_deref().filter(|id| ids.contains(id));
        let alike = by_words.get(&slug(&item.text)).map(Vec::as_slice).unwrap_or_default();
        let id = match (alike, by_tokens) {
            ([only], _) => only.id.as_str(),
            ([_, ..], Some(id)) if alike.iter().any(|item| item.id == id) => id,
            ([_, ..], _) => nearest(&item.text, alike),
            ([], Some(id)) => id,
            ([], None) => continue,
        };
        let id = id.to_owned();
        pairs
            .entry(id)
            .and_modify(|kept| {
                if kept.state == ItemState::Checked && item.state != ItemState::Checked {
                    *kept = item;
                }
            })
            .or_insert(item);
    }
    pairs
}

/// The template item, of some that begin alike, with which a text goes on the longest.
fn nearest<'t>(text: &str, alike: &[&'t TemplateItem]) -> &'t str {
    let text = key(text);
    let common = |item: &&&TemplateItem| {
        let template = key(&item.text);
        text.chars().zip(template.chars()).take_while(|(a, b)| a == b).count()
    };
    // The first of the longest.
    alike.iter().rev().max_by_key(common).map_or("", |item| item.id.as_str())
}

fn staleness(current: &[TemplateItem], versions: Versions<'_>) -> Staleness {
    let without = |items: &[TemplateItem], others: &[TemplateItem]| -> Vec<String> {
        let others: BTreeSet<&str> = others.iter().map(|item| item.id.as_str()).collect();
        let ids = items.iter().map(|item| item.id.clone());
        ids.filter(|id| !others.contains(id.as_str())).collect()
    };
    let (added, removed) = match versions.posted {
        Some(posted) => (without(current, posted), without(posted, current)),
        None => (Vec::new(), Vec::new()),
    };
    Staleness {
        is_stale: !added.is_empty() || !removed.is_empty(),
        posted_with: versions.posted_with,
        current: versions.current,
        changed_at: versions.changed_at,
        added,
        removed,
    }
}
