//! Where the details explain an item that is not checked. The explanation is quoted and never
//! graded: the rule's own evidence decides what it is worth.

use std::sync::LazyLock;

use regex::Regex;

use super::Reader;
use super::boxes::box_of;
use super::items::key;
use super::rows::{Kind, Row, Rows};
use super::text::{CleanText, one_line};
use crate::facts::Details;

/// One sentence or bullet of the details.
pub(super) struct Statement {
    /// As people read it, one line.
    pub(super) quote: String,
    /// 1-based line in the body.
    pub(super) line: i64,
    /// The form in which words are compared, link targets kept.
    key: String,
    /// The items that it names by number.
    numbers: Vec<i64>,
}

impl Statement {
    fn new(quote: &str, marked: &str, line: i64) -> Self {
        let key = key(marked);
        Self { quote: one_line(quote), line, numbers: item_numbers(&key), key }
    }
}

impl Reader {
    /// The sentences and bullets of the details, short ones first: a line of a paragraph stands
    /// before the paragraph, so that a quote is as near as can be.
    ///
    /// Quotes, code, HTML and lines with a box are none: a copy of the template explains nothing.
    pub(super) fn statements(&self, details: &Details) -> Vec<Statement> {
        let text = CleanText::new(&details.text);
        let rows = Rows::of(text.as_str());
        let mut near = Vec::new();
        let mut wide = Vec::new();
        let spoken = |row: &&Row| {
            matches!(row.kind, Kind::Text | Kind::Heading | Kind::Cell)
                && !row.quoted
                && box_of(row, &text).is_none()
        };
        let rows: Vec<&Row> = rows.rows.iter().filter(spoken).collect();
        let same =
            |a: &&Row, b: &&Row| a.home == b.home && a.kind == Kind::Text && b.kind == Kind::Text;
        for block in rows.chunk_by(same) {
            let first = block[0];
            let line = details.line + text.line(first.start) - 1;
            let whole = |part: fn(&Row) -> &str| {
                block.iter().map(|row| part(row)).collect::<Vec<_>>().join(" ")
            };
            let (plain, marked) = (whole(|row| &row.plain), whole(|row| &row.marked));
            if first.in_item || first.kind != Kind::Text {
                near.push(Statement::new(&plain, &marked, line));
                continue;
            }
            for row in block {
                let line = details.line + text.line(row.start) - 1;
                near.extend(sentences(&row.marked).map(|part| Statement::new(part, part, line)));
            }
            if block.len() > 1 {
                wide.extend(sentences(&marked).map(|part| Statement::new(part, part, line)));
            }
        }
        near.append(&mut wide);
        if let Some(pattern) = &self.placeholders {
            near.retain(|statement| !pattern.is_match(&statement.quote));
        }
        near
    }

    /// The first statement that explains an item: it holds a whole alternative of the words that
    /// identify the item, or names it as "item N".
    pub(super) fn explanation<'s>(
        &self,
        statements: &'s [Statement],
        id: &str,
        position: i64,
    ) -> Option<&'s Statement> {
        statements.iter().find(|statement| {
            statement.numbers.contains(&position) || self.items.names(id, &statement.key)
        })
    }
}

/// A reason given on an item's own line, e.g. `N/A: no speculative decoding`.
///
/// "N/A if …" is the template's own wording and no reason.
pub(super) fn own_reason<'t>(text: &'t str, template: &str) -> Option<&'t str> {
    static REASON: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)(?:^|[\s(~.;,:–—-])(?P<reason>(?:n/a|not applicable)\s*(?:[:：–—(,-]|because\b|since\b|as\b)\s*[^\s)]{2}.*)")
            .expect("the pattern is a constant")
    });
    let reason = REASON.captures(text)?.name("reason")?.as_str();
    (!template.contains(reason)).then_some(reason)
}

/// The sentences of a line.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    static END: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"[.!?;]\s+|[。！？；]\s*").expect("the pattern is a constant")
    });
    END.split(text).filter(|part| part.chars().any(char::is_alphanumeric))
}

/// The numbers in "item 5", "items 5, 7 and 9", "item #5", "item no. 5", "items 5-7".
fn item_numbers(key: &str) -> Vec<i64> {
    static ITEMS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\bitems?\s*(?:(?:no\.?|number)\s*)?#?\s*(?P<first>\d{1,3})\b(?P<more>(?:\s*(?:,|&|/|\band\b|\bor\b)+\s*#?\d{1,3}\b)*)")
            .expect("the pattern is a constant")
    });
    // Only of "items": behind "item 5" a dash begins the reason.
    static RANGES: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\bitems\s*#?(?P<from>\d{1,3})\s*(?:[-–—~]|\bto\b)\s*#?(?P<to>\d{1,3})\b")
            .expect("the pattern is a constant")
    });
    let end = |found: &regex::Captures<'_>, name: &str| found[name].parse::<i64>().unwrap_or(0);
    let ranges =
        RANGES.captures_iter(key).flat_map(|found| end(&found, "from")..=end(&found, "to"));
    let digits = |text: &str| {
        let numbers =
            text.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok());
        numbers.collect::<Vec<i64>>()
    };
    ITEMS
        .captures_iter(key)
        .flat_map(|found| digits(found.get(0).map_or("", |all| all.as_str())))
        .chain(ranges)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_named_by_its_number_and_the_word() {
        assert_eq!(item_numbers("item 5: not applicable"), [5]);
        assert_eq!(item_numbers("items 5, 7 and #12 do not apply"), [5, 7, 12]);
        assert_eq!(item_numbers("item #3"), [3]);
        assert_eq!(item_numbers("checklist item no. 15: n/a; item number 7"), [15, 7]);
        assert_eq!(item_numbers("items 4-6 and items 9 to 10"), [4, 9, 4, 5, 6, 9, 10]);
        assert_eq!(item_numbers("item 5 - 9 of 9 points"), [5]);
        assert!(item_numbers("5 is fine; step 5; 5 items").is_empty());
        assert!(item_numbers("item 38266927261").is_empty());
    }

    #[test]
    fn a_reason_on_the_line_is_one_that_the_template_does_not_hold() {
        let template = "Counts per curve. N/A if no curves are affected. Details.";
        assert_eq!(own_reason(template, template), None);
        assert_eq!(
            own_reason("Counts per curve. N/A if no curves are affected. N/A: docs only", template),
            Some("N/A: docs only")
        );
        assert_eq!(own_reason("Chat template — N/A – no drafts", ""), Some("N/A – no drafts"));
        assert_eq!(
            own_reason("Chat template (not applicable since it has no drafts)", ""),
            Some("not applicable since it has no drafts)")
        );
        assert_eq!(own_reason("Chat template N/A", ""), None);
        assert_eq!(own_reason("Chat template N/A:", ""), None);
    }
}
