//! `git diff-tree -z --raw --numstat` in the shape of GitHub's list of changed files.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The changed files, in git's order (by path). Names that are no UTF-8 are made so, as GitHub does.
///
/// First come the raw records (`:… STATUS NUL path NUL`, with two paths for a rename or a copy), then
/// the counts (`added TAB removed TAB path NUL`, where a rename has an empty path and then both).
pub(super) fn files(output: &[u8]) -> Vec<Value> {
    let mut fields = output
        .strip_suffix(b"\0")
        .unwrap_or(output)
        .split(|byte| *byte == 0)
        .map(|field| String::from_utf8_lossy(field).into_owned())
        .peekable();
    let mut changes = Vec::new();
    while fields.peek().is_some_and(|field| field.starts_with(':')) {
        let letter = fields.next().and_then(|raw| raw.rsplit(' ').next()?.chars().next());
        let (Some(letter), Some(first)) = (letter, fields.next()) else { break };
        let second = if matches!(letter, 'R' | 'C') { fields.next() } else { None };
        changes.push(match second {
            Some(path) => Change { letter, path, previous: Some(first) },
            None => Change { letter, path: first, previous: None },
        });
    }
    let mut lines = BTreeMap::new();
    while let Some(record) = fields.next() {
        let mut parts = record.splitn(3, '\t');
        let (Some(added), Some(removed), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            break;
        };
        let path =
            if path.is_empty() { fields.nth(1).unwrap_or_default() } else { path.to_owned() };
        // A binary file has `-`; GitHub counts 0.
        let count = |text: &str| text.parse::<i64>().unwrap_or(0);
        lines.insert(path, (count(added), count(removed)));
    }
    changes.into_iter().map(|change| change.file(&lines)).collect()
}

struct Change {
    letter: char,
    path: String,
    previous: Option<String>,
}

impl Change {
    fn file(self, lines: &BTreeMap<String, (i64, i64)>) -> Value {
        let (additions, deletions) = lines.get(&self.path).copied().unwrap_or_default();
        let status = match self.letter {
            'A' => "added",
            'D' => "removed",
            'R' => "renamed",
            'C' => "copied",
            'T' => "changed",
            _ => "modified",
        };
        let mut file = json!({
            "filename": self.path,
            "status": status,
            "additions": additions,
            "deletions": deletions,
            "changes": additions + deletions,
        });
        if let Some(previous) = self.previous {
            file["previous_filename"] = previous.into();
        }
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_records_and_counts_are_joined() {
        let output =
            b":100644 100644 aa bb M\0a\n--b\0:100644 100644 aa aa R090\0old name\0new\tname\0\
                       :100644 000000 aa 00 D\0gone\0:100644 100644 aa bb M\0logo.png\0\
                       1\t2\ta\n--b\x003\t0\t\0old name\0new\tname\x000\t9\tgone\0-\t-\tlogo.png\0";
        let files = files(output);
        let rows: Vec<_> = files
            .iter()
            .map(|file| {
                let text = |name: &str| file[name].as_str().unwrap_or("-").to_owned();
                let count = |name: &str| file[name].as_i64().unwrap();
                (
                    text("filename"),
                    text("previous_filename"),
                    text("status"),
                    count("additions"),
                    count("deletions"),
                )
            })
            .collect();
        let row = |path: &str, previous: &str, status: &str, added, removed| {
            (path.to_owned(), previous.to_owned(), status.to_owned(), added, removed)
        };
        assert_eq!(
            rows,
            [
                row("a\n--b", "-", "modified", 1, 2),
                row("new\tname", "old name", "renamed", 3, 0),
                row("gone", "-", "removed", 0, 9),
                row("logo.png", "-", "modified", 0, 0),
            ]
        );
    }

    #[test]
    fn nothing_changed_is_no_file() {
        assert_eq!(files(b""), Vec::<Value>::new());
    }
}
