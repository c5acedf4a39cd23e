//! Rule files: raw → checked, and facts → rows. Pure and total: no clock, no file, no network.
//!
//! A rule file is read into a tree with places (`profile::Node`), checked against the facts' own schema
//! (`read`, `typing`, `examples`), and evaluated as it stands (`evaluate`). What a rule file may say is in
//! `docs/rules.md`.

#![deny(clippy::disallowed_methods)]

pub mod escape;
mod evaluate;
mod examples;
mod folder;
mod language;
mod read;
mod reference;
pub mod row;
mod rule;
mod scope;
mod syntax;
mod types;
mod typing;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

pub use evaluate::evaluate;
pub use examples::{Failure, Tested};
pub use reference::{page, reference};
pub use row::{Finding, Level, Override, Row, RowStatus, Severity};
pub use rule::{Applies, Attested, Check, Each, Example, Expect, Outcome, Rule, Source};

use crate::facts::sha256_hex;
use crate::profile::{Diagnostic, Files, Profile};

/// Facts that every verification needs, whatever rules are selected: they say what is verified, when, by
/// whose sign-off, whether one is required at all, and which failures were excepted.
const ALWAYS_NEEDED: [&str; 6] = ["clock", "overrides", "owners", "pr", "signoff", "template"];

/// A profile with its checked rules.
#[derive(Debug, Clone)]
pub struct RuleSet {
    /// How the repository works.
    pub profile: Profile,
    /// The rules, by number.
    pub rules: Vec<Rule>,
    /// `sha256:` and 64 hex digits over all files of the profile: path, length and bytes, by path.
    pub digest: String,
    /// `tables/NAME.yaml` by name; expressions see them as `tables.NAME`.
    pub tables: BTreeMap<String, Json>,
}

impl RuleSet {
    /// Reads and checks all files of the profile called `name`.
    ///
    /// # Errors
    /// Every mistake that could be found, by path and place.
    pub fn from_files(name: &str, files: &Files) -> Result<Self, Vec<Diagnostic>> {
        let mut problems = Vec::new();
        let profile = Profile::from_files(name, files).map_err(|found| problems.extend(found)).ok();
        let tables = folder::tables(files, &mut problems);
        let mut rules = folder::rules(files, &tables, profile.as_ref(), &mut problems);
        rules.sort_by_key(|rule| rule.number);
        match profile {
            Some(profile) if problems.is_empty() => {
                Ok(Self { profile, rules, digest: digest(files), tables })
            }
            _ => {
                problems.sort();
                problems.dedup();
                Err(problems)
            }
        }
    }

    /// The rule of an id.
    pub fn rule(&self, id: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id == id)
    }

    /// The names of the facts that the rules of these ids (`None`: all rules) need.
    pub fn facts_needed(&self, only: Option<&[String]>) -> BTreeSet<&str> {
        let rules = self.rules.iter().filter(|rule| is_selected(rule, only));
        let needed = rules.flat_map(|rule| rule.needs.iter().map(String::as_str));
        needed.chain(ALWAYS_NEEDED).collect()
    }

    /// Rules that are not built yet, which every verdict shows as attested.
    pub fn not_built(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| rule.attested == Some(Attested::NotBuilt))
    }
}

/// Whether a rule is among the ones that were asked for.
fn is_selected(rule: &Rule, only: Option<&[String]>) -> bool {
    only.is_none_or(|ids| ids.contains(&rule.id))
}

fn digest(files: &Files) -> String {
    let mut all = Vec::new();
    for (path, text) in files {
        all.extend_from_slice(format!("{path}\0{}\0", text.len()).as_bytes());
        all.extend_from_slice(text.as_bytes());
    }
    format!("sha256:{}", sha256_hex(&all))
}
