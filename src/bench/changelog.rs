//! `perf-changelog.yaml`: what a pull request says that it measures anew.
//!
//! The committed history holds stray blank and indented lines, keys that no longer exist and fields that
//! came and went, so it is read leniently; what a pull request adds is held to the form. A squash or a
//! merge can insert in the middle, so that two revisions are compared entry by entry, in order.
//!
//! Source: `ChangelogEntry` of the benchmark repository's `validation.py`, `process_changelog.py`,
//! `validate_perf_changelog.py`.

use super::yaml::{self, Node, Note, Place, Value, YamlError};
use crate::limits::{CHANGELOG_ENTRIES, PROBLEMS};

/// A changelog.
#[derive(Debug, Clone, Default)]
pub struct Changelog {
    /// Its entries, in the file's order.
    pub entries: Vec<Entry>,
    /// What is no entry, or not of the form.
    pub problems: Vec<Note>,
}

/// One entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Where it begins.
    pub at: Place,
    /// The keys of master entries that it names; `*` stands for any run of characters.
    pub config_keys: Vec<String>,
    /// The scenario types that it is limited to; empty for all.
    pub scenarios: Vec<String>,
    /// The pull request that it links.
    pub pr_link: String,
    /// Whether it only appends points.
    pub append_only: bool,
    /// Whether it runs evaluations alone.
    pub evals_only: bool,
    /// Whether it runs every evaluation.
    pub all_evals: bool,
    /// Whether it runs no evaluation.
    pub no_evals: bool,
    /// Whether it drops evaluations by the prefill role's expert parallelism.
    pub eval_min_prefill_ep: Option<i64>,
    /// What is wrong with it, each at its line.
    pub problems: Vec<Note>,
    /// Everything, for comparing.
    pub node: Node,
}

const FIELDS: &[&str] = &[
    "config-keys",
    "description",
    "pr-link",
    "scenario-type",
    "evals-only",
    "all-evals",
    "no-evals",
    "append-only",
    "eval-min-prefill-ep",
];
const PR_LINK: &str = "pr-link";

/// Reads a changelog.
///
/// # Errors
/// What is no YAML or no list.
pub fn read(text: &str) -> Result<Changelog, YamlError> {
    let root = yaml::parse(text)?.root;
    let mut changelog = Changelog::default();
    let items = match &root.value {
        Value::Null => return Ok(changelog),
        Value::Sequence(items) => items,
        _ => {
            return Err(YamlError {
                at: root.at,
                message: format!("expected a list of entries, found {}", root.describe()),
                fix: "write `- config-keys: …`".to_owned(),
            });
        }
    };
    for item in items.iter().take(CHANGELOG_ENTRIES) {
        match &item.value {
            Value::Mapping(_) => changelog.entries.push(entry(item)),
            _ => changelog.problems.push(Note {
                at: item.at,
                message: format!("an entry is a mapping; this is {}", item.describe()),
            }),
        }
    }
    if items.len() > CHANGELOG_ENTRIES {
        let message = format!("the file has more than {CHANGELOG_ENTRIES} entries");
        changelog.problems.push(Note { at: items[CHANGELOG_ENTRIES].at, message });
    }
    changelog.problems.truncate(PROBLEMS);
    Ok(changelog)
}

fn entry(node: &Node) -> Entry {
    let mut problems = Vec::new();
    let mut wrong = |at: Place, message: String| problems.push(Note { at, message });
    let mut texts = |field: &str, required: bool| -> Vec<String> {
        let Some(list) = node.get(field).filter(|list| !list.is_null()) else {
            if required {
                wrong(node.at, format!("`{field}` is missing"));
            }
            return Vec::new();
        };
        let Ok(items) = list.sequence() else {
            wrong(list.at, format!("`{field}` is a list; this is {}", list.describe()));
            return Vec::new();
        };
        if items.is_empty() {
            wrong(list.at, format!("`{field}` is empty"));
        }
        let mut texts = Vec::new();
        for item in items {
            match item.text() {
                Ok(text) => texts.push(text.to_owned()),
                Err(found) => {
                    wrong(item.at, format!("`{field}` holds texts; this is {}", found.found))
                }
            }
        }
        texts
    };
    let config_keys = texts("config-keys", true);
    texts("description", true);
    let scenarios = texts("scenario-type", false);
    let mut flag = |field: &str| match node.get(field).map(|value| (value, value.bool())) {
        None => false,
        Some((_, Ok(value))) => value,
        Some((value, Err(found))) => {
            wrong(value.at, format!("`{field}` is true or false; this is {}", found.found));
            false
        }
    };
    let (append_only, evals_only) = (flag("append-only"), flag("evals-only"));
    let (all_evals, no_evals) = (flag("all-evals"), flag("no-evals"));
    let eval_min_prefill_ep = node.get("eval-min-prefill-ep").and_then(|value| value.int().ok());
    let pr_link = match node.get(PR_LINK).map(|value| (value, value.text())) {
        Some((_, Ok(text))) => text.to_owned(),
        found => {
            let at = found.map_or(node.at, |(value, _)| value.at);
            wrong(at, format!("`{PR_LINK}` is missing or no text"));
            String::new()
        }
    };
    if append_only && (evals_only || all_evals || eval_min_prefill_ep.is_some()) {
        wrong(node.at, "`append-only` goes with no choice of evaluations".to_owned());
    }
    if let Value::Mapping(pairs) = &node.value {
        for pair in pairs {
            let name = pair.key.key_name();
            if !FIELDS.contains(&name.as_str()) {
                wrong(pair.key.at, format!("the field `{name}` is not known"));
            }
        }
    }
    Entry {
        at: node.at,
        config_keys,
        scenarios,
        pr_link,
        append_only,
        evals_only,
        all_evals,
        no_evals,
        eval_min_prefill_ep,
        problems,
        node: node.clone(),
    }
}

impl Entry {
    /// Whether it selects a scenario type.
    pub fn selects_scenario(&self, scenario_type: &str) -> bool {
        self.scenarios.is_empty() || self.scenarios.iter().any(|name| name == scenario_type)
    }

    /// Whether both say the same, but for the pull request that they link.
    fn same(&self, other: &Self) -> bool {
        let but_link = |entry: &Self| {
            let Value::Mapping(pairs) = &entry.node.value else { return entry.node.clone() };
            let kept =
                pairs.iter().filter(|pair| pair.key.key_name() != PR_LINK).cloned().collect();
            Node { value: Value::Mapping(kept), at: entry.node.at }
        };
        self.node.same(&other.node) || but_link(self).same(&but_link(other))
    }
}

/// Whether a key as written selects a master entry's key: `*` stands for any run of characters, also none.
pub fn selects(written: &str, key: &str) -> bool {
    let mut parts = written.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = key.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

/// Two revisions, compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// Entries at the head that were not there, by index.
    pub added: Vec<usize>,
    /// Entries at the base that are gone, by index.
    pub removed: Vec<usize>,
    /// Entries that say something else now: index at the base and at the head.
    pub changed: Vec<(usize, usize)>,
}

/// Compares the entries of two revisions in order.
///
/// What is equal at the beginning and at the end is history. Between the two, an entry is the same where
/// it says the same but for its link, in order; an old one without its like is changed where a new one of
/// the same keys stands in its place, else removed.
pub fn compare(base: &[Entry], head: &[Entry]) -> Difference {
    let before = base.iter().zip(head).take_while(|(a, b)| a.same(b)).count();
    let after = base[before..]
        .iter()
        .rev()
        .zip(head[before..].iter().rev())
        .take_while(|(a, b)| a.same(b))
        .count();
    let old = before..base.len() - after;
    let new = before..head.len() - after;
    let mut difference = Difference::default();
    let mut from = new.start;
    let mut unmatched = Vec::new();
    let mut added: Vec<usize> = Vec::new();
    for index in old {
        match (from..new.end).find(|candidate| base[index].same(&head[*candidate])) {
            Some(found) => {
                added.extend(from..found);
                from = found + 1;
            }
            None => unmatched.push(index),
        }
    }
    added.extend(from..new.end);
    for index in unmatched {
        let like = |candidate: &&usize| head[**candidate].config_keys == base[index].config_keys;
        match added.iter().find(like).copied() {
            Some(found) => {
                added.retain(|candidate| *candidate != found);
                difference.changed.push((index, found));
            }
            None => difference.removed.push(index),
        }
    }
    difference.added = added;
    difference
}

#[cfg(test)]
mod tests {
    use super::{Difference, compare, read, selects};

    fn log(entries: &[(&str, &str)]) -> Vec<super::Entry> {
        let text: String = entries
            .iter()
            .map(|(key, what)| format!("- config-keys:\n  - {key}\n  description:\n  - {what}\n  pr-link: https://x/pull/1\n\n"))
            .collect();
        read(&text).unwrap().entries
    }

    #[test]
    fn stars_stand_for_any_run_of_characters() {
        for (written, key, expected) in [
            ("a-b", "a-b", true),
            ("a-b", "a-bc", false),
            ("a-*", "a-bc", true),
            ("*-c", "a-b-c", true),
            ("a*c*e", "abcde", true),
            ("a*c*e", "ace", true),
            ("a*c*e", "aec", false),
            ("*", "", true),
            ("a*a", "a", false),
            ("a.c", "abc", false),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(selects(written, key), expected, "{written} {key}");
        }
    }

    #[test]
    fn what_is_added_anywhere_is_found_and_history_stays_whole() {
        let base = log(&[("a", "1"), ("b", "2"), ("c", "3")]);
        let appended = log(&[("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")]);
        assert_eq!(
            compare(&base, &appended),
            Difference { added: vec![3], ..Difference::default() }
        );
        let between = log(&[("a", "1"), ("x", "9"), ("b", "2"), ("c", "3"), ("d", "4")]);
        assert_eq!(compare(&base, &between).added, [1, 4]);
        let gone = log(&[("a", "1"), ("c", "3"), ("d", "4")]);
        let found = compare(&base, &gone);
        assert_eq!((found.removed, found.added), (vec![1], vec![2]));
        let rewritten = log(&[("a", "1"), ("b", "other"), ("c", "3")]);
        assert_eq!(compare(&base, &rewritten).changed, [(1, 1)]);
        let swapped = log(&[("b", "2"), ("a", "1"), ("c", "3")]);
        let found = compare(&base, &swapped);
        assert_eq!(
            (found.added.len(), found.removed.len(), found.changed.len()),
            (0, 0, 1),
            "{found:?}"
        );
    }

    #[test]
    fn a_corrected_link_is_no_change() {
        let base = log(&[("a", "1"), ("b", "2")]);
        let mut head = base.clone();
        head[1] = read("- config-keys: [b]\n  description: ['2']\n  pr-link: https://x/pull/77\n")
            .unwrap()
            .entries
            .remove(0);
        // A description of one's own digits is a number to YAML; as a text it is the same text.
        let base = vec![
            base[0].clone(),
            read("- config-keys: [b]\n  description: ['2']\n  pr-link: XXX\n")
                .unwrap()
                .entries
                .remove(0),
        ];
        assert_eq!(compare(&base, &head), Difference::default());
    }

    #[test]
    fn entries_of_another_form_are_read_and_said() {
        let text = "- config-keys: a\n  description: []\n- 3\n- config-keys: [x]\n  description: [y]\n  pr-link: z\n  append-only: true\n  evals-only: true\n  novel: 1\n";
        let log = read(text).unwrap();
        assert_eq!(log.entries.len(), 2);
        assert_eq!((log.problems.len(), log.problems[0].at.line), (1, 3));
        let said: Vec<String> = log
            .entries
            .iter()
            .flat_map(|e| &e.problems)
            .map(|n| format!("{}: {}", n.at.line, n.message))
            .collect();
        assert_eq!(
            said,
            [
                "1: `config-keys` is a list; this is the text `a`",
                "2: `description` is empty",
                "1: `pr-link` is missing or no text",
                "4: `append-only` goes with no choice of evaluations",
                "9: the field `novel` is not known",
            ]
        );
        assert!(read("a: 1").is_err());
        assert!(read("").unwrap().entries.is_empty());
    }
}
