//! Which item of the checklist a text is, by the words that identify it.

use std::collections::BTreeSet;

use super::SettingsError;
use super::settings::ItemTable;

/// The item table, ready to be matched.
pub(super) struct KnownItems(Vec<KnownItem>);

/// One item: its id, and its alternatives in the form of [`key`].
struct KnownItem {
    id: String,
    label: String,
    alternatives: Vec<Vec<String>>,
}

impl KnownItems {
    /// Checks the table.
    pub(super) fn new(table: &ItemTable) -> Result<Self, SettingsError> {
        let mut ids = BTreeSet::new();
        let mut known = Vec::with_capacity(table.items.len());
        for (index, item) in table.items.iter().enumerate() {
            let at = |field: &str| format!("items[{index}].{field}");
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            if item.id.is_empty() || !item.id.chars().all(plain) {
                let problem = format!("`{}` is no id: use a-z, 0-9 and `-`", item.id);
                return Err(SettingsError::new(at("id"), problem));
            }
            if !ids.insert(item.id.as_str()) {
                return Err(SettingsError::new(at("id"), format!("`{}` stands twice", item.id)));
            }
            let alternatives: Vec<Vec<String>> = item
                .tokens
                .iter()
                .map(|all| all.iter().map(|token| key(token)).collect())
                .collect();
            let is_empty = |all: &Vec<String>| all.is_empty() || all.iter().any(String::is_empty);
            if alternatives.is_empty() || alternatives.iter().any(is_empty) {
                let problem = "an alternative without words would match every text".to_owned();
                return Err(SettingsError::new(at("tokens"), problem));
            }
            known.push(KnownItem { id: item.id.clone(), label: item.label.clone(), alternatives });
        }
        Ok(Self(known))
    }

    /// The first item that a text, in the form of [`key`], is.
    pub(super) fn identify(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|item| item.is_in(key)).map(|item| item.id.as_str())
    }

    /// Whether a text, in the form of [`key`], holds a whole alternative of that item.
    pub(super) fn names(&self, id: &str, key: &str) -> bool {
        self.0.iter().any(|item| item.id == id && item.is_in(key))
    }

    /// Id and label of every item, in the order of the table.
    pub(super) fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|item| (item.id.as_str(), item.label.as_str()))
    }
}

impl KnownItem {
    fn is_in(&self, key: &str) -> bool {
        self.alternatives.iter().any(|all| all.iter().all(|token| key.contains(token.as_str())))
    }
}

/// The form in which texts and tokens are compared: lower case, one blank between words, without
/// the signs of emphasis.
pub(super) fn key(text: &str) -> String {
    let text = text.replace(['*', '_', '`'], "");
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The first words of a text as an id: what an item that nobody knows is called by.
pub(super) fn slug(text: &str) -> String {
    const WORDS: usize = 6;
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.take(WORDS).collect::<Vec<_>>().join("-").to_lowercase();
    slug.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::super::settings::ItemDefinition;
    use super::*;

    fn table(items: &[(&str, &[&[&str]])]) -> ItemTable {
        let owned = |all: &&[&str]| all.iter().map(|token| (*token).to_owned()).collect();
        let items = items.iter().map(|(id, tokens)| ItemDefinition {
            id: (*id).to_owned(),
            label: String::new(),
            tokens: tokens.iter().map(owned).collect(),
        });
        ItemTable { items: items.collect() }
    }

    #[test]
    fn all_words_of_one_alternative_and_the_first_item_that_has_them() {
        let known = KnownItems::new(&table(&[
            ("a", &[&["draft", "as it ships"], &["X_Y"]]),
            ("b", &[&["draft"]]),
        ]))
        .expect("the table is sound");
        assert_eq!(known.identify(&key("Every **Draft**  is served\nas _it_ ships")), Some("a"));
        assert_eq!(known.identify(&key("the draft")), Some("b"));
        assert_eq!(known.identify(&key("`X_Y` is off")), Some("a"));
        assert_eq!(known.identify(&key("nothing")), None);
    }

    #[test]
    fn a_table_that_cannot_be_matched_is_refused() {
        for (bad, field) in [
            (table(&[("a", &[])]), "items[0].tokens"),
            (table(&[("a", &[&[]])]), "items[0].tokens"),
            (table(&[("a", &[&["**"]])]), "items[0].tokens"),
            (table(&[("A b", &[&["x"]])]), "items[0].id"),
            (table(&[("a", &[&["x"]]), ("a", &[&["y"]])]), "items[1].id"),
        ] {
            assert_eq!(
                KnownItems::new(&bad).err().map(|error| error.field),
                Some(field.to_owned())
            );
        }
    }

    #[test]
    fn a_slug_is_the_first_words() {
        assert_eq!(
            slug("Verified that (all) KV-cache dtypes are listed below."),
            "verified-that-all-kv-cache-dtypes"
        );
        assert_eq!(slug("…"), "");
    }
}
