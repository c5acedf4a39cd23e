//! The sign-off held against the template that is in force now.

use std::collections::{BTreeMap, BTreeSet};

use super::Reader;
use super::explain::{Statement, own_reason};
use super::items::slug;
use super::template::is_unknown;
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
    /// Items are paired by id; one that the item table does not know, by its first words. Where a
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
fn pair<'s>(
    signed: &'s [SignedItem],
    current: &[TemplateItem],
) -> BTreeMap<String, &'s SignedItem> {
    let mut pairs: BTreeMap<String, &SignedItem> = BTreeMap::new();
    let by_words: BTreeMap<String, &TemplateItem> = current
        .iter()
        .filter(|item| is_unknown(&item.id))
        .map(|item| (slug(&item.text), item))
        .collect();
    let ids: BTreeSet<&str> = current.iter().map(|item| item.id.as_str()).collect();
    for item in signed {
        let id = match by_words.get(&slug(&item.text)) {
            Some(template) => template.id.clone(),
            None => match item.id.as_deref().filter(|id| ids.contains(id)) {
                Some(id) => id.to_owned(),
                None => continue,
            },
        };
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
