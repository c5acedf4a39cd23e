//! The form that sign-off and template share: items with boxes, the additional detail section, the
//! signature line.

use std::ops::Range;

use super::boxes::box_of;
use super::rows::{Kind, Row, Rows};
use super::settings::Grammar;
use super::text::{CleanText, one_line};
use crate::facts::ItemState;
use crate::limits;

/// One form in rows.
pub(super) struct Form {
    /// The items in order.
    pub(super) items: Vec<FormItem>,
    /// The row of the details' heading.
    pub(super) heading: Option<usize>,
    /// The bytes of the details, blank lines around them left out.
    pub(super) details: Range<usize>,
    /// The row of the signature.
    pub(super) signature: Option<usize>,
}

/// One item with what stands under it.
pub(super) struct FormItem {
    pub(super) state: ItemState,
    /// Where its box stands in the cleaned text.
    pub(super) range: Range<usize>,
    /// Its first line with link targets.
    pub(super) first: String,
    /// All of its own text with link targets.
    pub(super) marked: String,
    /// Its text with that of the bullets under it that have no box, for people.
    pub(super) text: String,
    /// Its own text as Markdown, one line, without bullet and box.
    pub(super) markdown: String,
    /// Links in it and in the bullets under it.
    pub(super) links: Vec<(usize, String)>,
    /// The byte after its own text.
    pub(super) end: usize,
    /// The byte after the last row in it or in the bullets under it that have no box.
    pub(super) after: usize,
    /// The list item that it is.
    home: usize,
}

impl FormItem {
    /// Takes in a row that stands in the item or in a bullet under it.
    fn take(&mut self, row: &Row, text: &CleanText<'_>) {
        self.links.extend_from_slice(&row.links);
        self.after = self.after.max(row.after);
        if row.kind != Kind::Text || row.quoted {
            return;
        }
        join(&mut self.text, &row.plain);
        if row.home == self.home {
            join(&mut self.marked, &row.marked);
            join(&mut self.markdown, &text.as_str()[row.start..row.end]);
            self.end = row.end;
        }
    }
}

impl Form {
    /// Reads the form in some of the rows.
    ///
    /// Items end at the details' heading or at the signature; a box after that is somebody's own
    /// list. Without a heading the details are all that follows the last item; with one above the
    /// first item they end there.
    pub(super) fn read(
        grammar: &Grammar,
        rows: &Rows,
        within: Range<usize>,
        text: &CleanText<'_>,
    ) -> Self {
        let row = |at: usize| &rows.rows[at];
        let line_start = |at: usize| text.line_around(row(at).start).start;
        let heading_in =
            |mut part: Range<usize>| part.find(|at| details_heading(grammar, row(*at)).is_some());
        let signature_after = |from: usize| {
            (from..within.end).find(|at| signature_value(grammar, row(*at)).is_some())
        };
        let first_box =
            within.clone().find(|at| box_of(row(*at), text).is_some()).unwrap_or(within.end);
        let below = heading_in(first_box..within.end);
        let heading = below.or_else(|| heading_in(within.start..first_box));
        let Items { items, last } =
            Items::collect(grammar, rows, first_box..below.unwrap_or(within.end), text);
        let end_of_text =
            if within.end < rows.rows.len() { line_start(within.end) } else { text.as_str().len() };
        let (start, signed) = match (heading, last) {
            (Some(at), _) => (details_start(grammar, row(at), text), signature_after(at + 1)),
            (None, Some(last)) => {
                (next_line(text.as_str(), row(last).after), signature_after(last + 1))
            }
            (None, None) => (end_of_text, None),
        };
        let mut end = signed.map_or(end_of_text, line_start);
        if heading.is_some_and(|at| at < first_box) && first_box < within.end {
            end = end.min(line_start(first_box));
        }
        Self {
            items,
            heading,
            details: without_blank_lines(text.as_str(), start..end.max(start)),
            signature: signed.or_else(|| signature_after(within.start)),
        }
    }
}

/// The items of a form while they are collected.
struct Items {
    items: Vec<FormItem>,
    /// The last row that belongs to an item.
    last: Option<usize>,
}

impl Items {
    fn collect(grammar: &Grammar, rows: &Rows, within: Range<usize>, text: &CleanText<'_>) -> Self {
        let mut found = Self { items: Vec::new(), last: None };
        // For each home the item that a row there belongs to. A home inside another begins with
        // what its parent belongs to at that point of the text.
        let mut owners: Vec<Option<usize>> = Vec::with_capacity(rows.parents.len());
        for at in within {
            let row = &rows.rows[at];
            while owners.len() <= row.home {
                let parent = rows.parents[owners.len()];
                owners.push(parent.and_then(|parent| owners[parent]));
            }
            if !found.items.is_empty() && signature_value(grammar, row).is_some() {
                break;
            }
            if let Some(item_box) = box_of(row, text) {
                if found.items.len() == limits::ITEMS {
                    break;
                }
                owners[row.home] = Some(found.items.len());
                let markdown = &text.as_str()[item_box.range.end.min(row.end)..row.end];
                found.items.push(FormItem {
                    state: item_box.state,
                    text: one_line(&item_box.plain),
                    markdown: one_line(markdown),
                    first: item_box.marked.clone(),
                    marked: item_box.marked,
                    links: row.links.clone(),
                    end: row.end,
                    after: row.after,
                    range: item_box.range,
                    home: row.home,
                });
                found.last = Some(at);
            } else if let Some(owner) = owners[row.home] {
                found.items[owner].take(row, text);
                found.last = Some(at);
            }
        }
        found
    }
}

/// Adds a line to a text, one blank between them.
fn join(whole: &mut String, line: &str) {
    whole.push(' ');
    whole.push_str(&one_line(line));
}

/// What stands behind the details' heading on its line; `None` where the row is no such heading.
///
/// A heading, a bold line and a plain line all count, in any case, with or without a colon; with a
/// colon the details may begin on the same line.
pub(super) fn details_heading<'r>(grammar: &Grammar, row: &'r Row) -> Option<&'r str> {
    if row.quoted || !matches!(row.kind, Kind::Text | Kind::Heading) {
        return None;
    }
    let line = row.plain.trim_start();
    grammar.details_headings.iter().find_map(|heading| {
        let behind = without_prefix(line, heading)?.trim_start();
        match behind.strip_prefix([':', '：']) {
            Some(rest) => Some(rest.trim()),
            None => behind.is_empty().then_some(""),
        }
    })
}

/// What stands behind the signature's word; `None` where the row is no signature line.
pub(super) fn signature_value<'r>(grammar: &Grammar, row: &'r Row) -> Option<&'r str> {
    let line = row.kind == Kind::Text || row.kind == Kind::Heading;
    if row.quoted || row.opens_item || !line {
        return None;
    }
    without_prefix(row.plain.trim_start(), &grammar.signature)
}

/// The text behind a prefix, any case.
fn without_prefix<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// Where the details begin: below their heading, or behind its colon.
fn details_start(grammar: &Grammar, heading: &Row, text: &CleanText<'_>) -> usize {
    let inline = details_heading(grammar, heading).is_some_and(|behind| !behind.is_empty());
    let source = &text.as_str()[heading.start..heading.end];
    match source.find([':', '：']) {
        Some(colon) if inline => {
            let behind = source[colon..].trim_start_matches([':', '：', '*', '_', ' ']);
            heading.end - behind.len()
        }
        _ => next_line(text.as_str(), heading.after),
    }
}

/// The beginning of the next line, counted from a byte that may be such a beginning itself.
fn next_line(text: &str, at: usize) -> usize {
    if at > 0 && text.as_bytes()[at - 1] == b'\n' {
        return at;
    }
    text[at..].find('\n').map_or(text.len(), |length| at + length + 1)
}

/// A range of whole lines without the blank ones around it.
fn without_blank_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let end = range.start + part.trim_end().len();
    let blank = part.len() - part.trim_start().len();
    let start = match part[..blank].rfind('\n') {
        Some(last) => range.start + last + 1,
        None => range.start,
    };
    start.min(end)..end
}
