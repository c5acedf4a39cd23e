//! What a sign-off claims, without how it is laid out: what two versions of it are compared by.

use std::collections::{BTreeMap, BTreeSet};

use super::items::slug;
use super::parse::ParsedSignOff;
use crate::facts::{Claims, ItemClaim, ItemState, Link, SignedItem, sha256_hex};

/// Hex digits kept of a digest: enough to tell two versions of one text apart.
const DIGITS: usize = 16;

impl ParsedSignOff {
    /// What it claims.
    ///
    /// Texts count by their words: line ends, indents and repeated blanks are layout. Where an item
    /// stands twice, the copy that is not checked counts, as against the template.
    pub fn claims(&self) -> Claims {
        let mut items: BTreeMap<String, Vec<&SignedItem>> = BTreeMap::new();
        for item in &self.items {
            items.entry(name(item)).or_default().push(item);
        }
        let links = self.items.iter().flat_map(|item| &item.links).chain(&self.details.links);
        let runs: BTreeSet<i64> = links.filter_map(|link| link.run_id).collect();
        Claims {
            items: items.into_iter().map(|(id, copies)| (id, item_claim(&copies))).collect(),
            runs: runs.into_iter().collect(),
            details: match self.details.empty {
                true => digest("", &[]),
                false => digest(&self.details.text, &self.details.links.iter().collect::<Vec<_>>()),
            },
            signed: self.signed.clone(),
        }
    }
}

/// The item's id, or its first words where nobody knows it, as in the template.
fn name(item: &SignedItem) -> String {
    item.id.clone().unwrap_or_else(|| format!("item:{}", slug(&item.text)))
}

fn item_claim(copies: &[&SignedItem]) -> ItemClaim {
    let states = copies.iter().map(|item| item.state);
    let open = states.clone().find(|state| *state != ItemState::Checked);
    let texts: Vec<&str> = copies.iter().map(|item| item.text.as_str()).collect();
    let links: Vec<&Link> = copies.iter().flat_map(|item| &item.links).collect();
    ItemClaim { state: open.unwrap_or(ItemState::Checked), words: digest(&texts.join(" "), &links) }
}

/// A digest of the words of a text and of its links, whose targets it need not show. Links to runs
/// are left out: they are compared on their own.
fn digest(text: &str, links: &[&Link]) -> String {
    let (runs, others): (Vec<&Link>, Vec<&Link>) =
        links.iter().partition(|link| link.run_id.is_some());
    let names_run = |word: &&str| runs.iter().any(|link| word.contains(link.url.as_str()));
    let mut words: Vec<&str> = text.split_whitespace().filter(|word| !names_run(word)).collect();
    words.extend(others.iter().map(|link| link.url.as_str()));
    sha256_hex(words.join(" ").as_bytes()).chars().take(DIGITS).collect()
}
