//! Waivers: a document that says which patch of an engine is accepted, and why.
//!
//! It is free text, so that what it has to say is looked for by words of a table; whether the reasons are
//! good is a person's to judge.
//!
//! Source: `checks.md`, check 10; `docs/waiver/` of the benchmark repository.

use std::collections::BTreeMap;

use pulldown_cmark::{Event, Parser, Tag};
use serde::{Deserialize, Serialize};

/// What a waiver has to say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaiverTable {
    /// Topics, each with words of which one has to be there.
    pub topics: BTreeMap<String, Vec<String>>,
    /// Beginnings of links that are no upstream: the benchmark repository's own.
    pub own: Vec<String>,
    /// What an upstream link contains.
    pub upstream: Vec<String>,
    /// Words by which it says of itself that it is not accepted yet.
    pub proposed: Vec<String>,
}

/// A waiver.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Waiver {
    /// Its text in lower case.
    text: String,
    /// Where it links to.
    links: Vec<String>,
}

/// What a waiver is held against.
#[derive(Debug, Clone, Copy)]
pub struct Patched<'p> {
    /// The file that does it.
    pub path: &'p str,
    /// The keys of the configurations that run it.
    pub configs: &'p [String],
    /// The recipes that run it.
    pub recipes: &'p [String],
}

/// Reads a waiver.
pub fn read(markdown: &str) -> Waiver {
    let mut waiver = Waiver { text: markdown.to_lowercase(), links: Vec::new() };
    for event in Parser::new(markdown) {
        if let Event::Start(Tag::Link { dest_url, .. }) = event {
            waiver.links.push(dest_url.to_string());
        }
    }
    // Bare addresses are links on GitHub.
    let bare = markdown.split(|c: char| c.is_whitespace() || "()<>[]\"'`".contains(c));
    waiver.links.extend(bare.filter(|word| word.starts_with("https://")).map(str::to_owned));
    waiver
}

impl Waiver {
    /// What it lacks to cover a patch; empty where it covers it.
    pub fn missing(&self, patched: &Patched<'_>, table: &WaiverTable) -> Vec<String> {
        let says = |word: &str| self.text.contains(&word.to_lowercase());
        let mut missing = Vec::new();
        if !self.names(patched.path) {
            missing.push(format!("it does not name {}", patched.path));
        }
        let names = |word: &String| says(word) || says(word.rsplit('/').next().unwrap_or(word));
        let unnamed: Vec<&String> = patched.configs.iter().filter(|key| !names(key)).collect();
        if !unnamed.is_empty() && !patched.recipes.iter().any(names) {
            let list = unnamed.iter().map(|key| key.as_str()).collect::<Vec<_>>().join(", ");
            missing.push(format!("it names neither {list} nor a recipe of it"));
        }
        for (topic, words) in &table.topics {
            if !words.iter().any(|word| says(word)) {
                missing.push(format!("it does not say {topic}"));
            }
        }
        let is_upstream = |link: &String| {
            let link = link.to_lowercase();
            table.upstream.iter().any(|part| link.contains(part.as_str()))
                && !table.own.iter().any(|own| link.starts_with(&own.to_lowercase()))
        };
        if !self.links.iter().any(is_upstream) {
            missing.push("it links no upstream issue or pull request".to_owned());
        }
        missing
    }

    /// Whether it names a file, by its path or by its name alone.
    pub fn names(&self, path: &str) -> bool {
        let base = path.rsplit('/').next().unwrap_or(path);
        self.text.contains(&base.to_lowercase())
    }

    /// Whether it says of itself that it is not accepted yet.
    pub fn is_proposed(&self, table: &WaiverTable) -> bool {
        table.proposed.iter().any(|word| self.text.contains(&word.to_lowercase()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Patched, WaiverTable, read};

    fn table() -> WaiverTable {
        let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        WaiverTable {
            topics: [
                ("what is patched".to_owned(), list(&["what is patched"])),
                ("when it is removed".to_owned(), list(&["removal plan", "remove"])),
            ]
            .into(),
            own: list(&["https://github.com/us/bench"]),
            upstream: list(&["/issues/", "/pull/"]),
            proposed: list(&["not approved"]),
        }
    }

    #[test]
    fn a_waiver_covers_what_it_names_and_explains() {
        let text = "# 7\n## What is patched\n`bench/a_x.sh` for `key-1`.\n## Removal plan\nsoon\nSee [up](https://github.com/them/engine/pull/3).\nStatus: proposed; not approved.\n";
        let configs = ["key-1".to_owned()];
        let patched = Patched { path: "bench/a_x.sh", configs: &configs, recipes: &[] };
        let waiver = read(text);
        assert_eq!(waiver.missing(&patched, &table()), Vec::<String>::new());
        assert!(waiver.is_proposed(&table()));
        let other = ["key-1".to_owned(), "key-2".to_owned()];
        assert_eq!(
            waiver.missing(&Patched { configs: &other, path: "bench/b.sh", ..patched }, &table()),
            ["it does not name bench/b.sh", "it names neither key-2 nor a recipe of it"]
        );
        let recipes = ["recipes/a_x.sh".to_owned()];
        let by_recipe = Patched { configs: &other, recipes: &recipes, ..patched };
        assert!(waiver.missing(&by_recipe, &table()).is_empty());
        let own = text.replace("them/engine", "us/bench").replace("Removal plan", "Later");
        assert_eq!(
            read(&own).missing(&patched, &table()),
            ["it does not say when it is removed", "it links no upstream issue or pull request"]
        );
        assert!(!read("").missing(&patched, &table()).is_empty());
    }
}
