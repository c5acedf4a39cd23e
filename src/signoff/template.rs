//! The checklist document → the template's items.

use std::collections::BTreeSet;
use std::ops::Range;

use super::form::Form;
use super::items::slug;
use super::rows::{Kind, Row, Rows};
use super::text::{CleanText, as_i64, shortened};
use super::{Place, Reader};
use crate::facts::TemplateItem;
use crate::limits;

/// What an unknown item's id begins with.
const UNKNOWN: &str = "item:";

/// A document that holds no template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// Longer than a checklist document may be.
    #[error(
        "{bytes} bytes are more than a checklist document may have ({})",
        limits::DOCUMENT_BYTES
    )]
    TooLong {
        /// Its bytes.
        bytes: usize,
    },
    /// Neither the heading nor the phrase is in it.
    #[error("it has neither a heading \"{heading}\" nor the opening phrase")]
    NoTemplate {
        /// The heading that was looked for.
        heading: String,
    },
    /// The place of the template has no item with a box.
    #[error("the template has no item that begins with `- [ ]`")]
    NoItems,
}

/// Where a document has its template.
struct Located<'d> {
    /// The row of the code block that holds it.
    fence: Option<usize>,
    /// Without such a block: the rows among which it stands.
    section: Range<usize>,
    rows: Rows,
    text: CleanText<'d>,
}

impl Located<'_> {
    /// The bytes of the document that a row has.
    fn original(&self, row: usize) -> Range<usize> {
        let row = &self.rows.rows[row];
        self.text.original_range(row.start..row.end)
    }
}

impl Reader {
    /// Reads the template's items, nested ones included, in order.
    ///
    /// The template is the first code block under the heading that holds the opening phrase, else
    /// the section under the heading itself (June 2026 versions of `docs/PR_REVIEW_CHECKLIST.md` had
    /// no fence); without that heading the first code block with the phrase, or the document. An
    /// item that the item table does not know, or knows only as another item's second copy, has the
    /// id `item:<first words>`.
    ///
    /// # Errors
    /// Says what the document lacks.
    pub fn parse_template(
        &self,
        document: &str,
        heading: &str,
        place: &Place,
    ) -> Result<Vec<TemplateItem>, TemplateError> {
        let located = self.locate(document, heading)?;
        let items = match located.fence {
            Some(fence) => {
                let text = CleanText::within(document, located.original(fence));
                let rows = Rows::of(text.as_str());
                self.template_items(&rows, 0..rows.rows.len(), &text, place)
            }
            None => self.template_items(&located.rows, located.section, &located.text, place),
        };
        if items.is_empty() { Err(TemplateError::NoItems) } else { Ok(items) }
    }

    /// The template as a reviewer pastes it: the lines of the code block that
    /// [`Reader::parse_template`] reads, or those of the section where it has none; without an indent
    /// that all of them have, and without invisible characters.
    ///
    /// # Errors
    /// Says what the document lacks.
    pub fn template_text(&self, document: &str, heading: &str) -> Result<String, TemplateError> {
        let Located { fence, section, rows, text } = self.locate(document, heading)?;
        let lines = match (fence, rows.rows[section.clone()].first()) {
            // Its content, without the closing line and an indent of the block.
            (Some(fence), _) => CleanText::new(&rows.rows[fence].plain),
            (None, Some(first)) => {
                let end = rows.rows.get(section.end).map_or(text.as_str().len(), |row| row.start);
                let start = text.line_around(first.start).start;
                let end = text.line_around(end).start.max(start);
                let whole = section.end == rows.rows.len();
                let end = if whole { text.as_str().len() } else { end };
                CleanText::within(document, text.original_range(start..end))
            }
            (None, None) => return Err(TemplateError::NoItems),
        };
        let lines = lines.as_str().trim_matches('\n').trim_end();
        if lines.is_empty() { Err(TemplateError::NoItems) } else { Ok(lines.to_owned()) }
    }

    /// The template as its document has it, byte for byte: the content of the code block, or the
    /// section from the opening phrase on, without blank lines at its end.
    ///
    /// # Errors
    /// Says what the document lacks, as [`Reader::parse_template`] does.
    pub fn template_source<'d>(
        &self,
        document: &'d str,
        heading: &str,
    ) -> Result<&'d str, TemplateError> {
        let located = self.locate(document, heading)?;
        if let Some(fence) = located.fence {
            return Ok(&document[located.original(fence)]);
        }
        let (rows, text) = (&located.rows.rows, &located.text);
        let within = &rows[located.section];
        let opening = within.iter().find(|row| self.opens_with_phrase(row)).or(within.first());
        let (Some(first), Some(last)) = (opening, within.last()) else {
            return Err(TemplateError::NoItems);
        };
        let lines = text.line_around(first.start).start..text.line_around(last.end).end;
        Ok(document[text.original_range(lines)].trim_end())
    }

    /// Finds the place of the template in its document.
    fn locate<'d>(&self, document: &'d str, heading: &str) -> Result<Located<'d>, TemplateError> {
        if document.len() > limits::DOCUMENT_BYTES {
            return Err(TemplateError::TooLong { bytes: document.len() });
        }
        let text = CleanText::new(document);
        let rows = Rows::of(text.as_str());
        let section = match section_under(&rows, heading) {
            Some(section) => section,
            None if document.contains(&self.grammar.phrase) => 0..rows.rows.len(),
            None => return Err(TemplateError::NoTemplate { heading: heading.to_owned() }),
        };
        let holds_phrase =
            |row: &&Row| row.kind == Kind::Code && row.plain.contains(&self.grammar.phrase);
        let fence = rows.rows[section.clone()]
            .iter()
            .position(|row| holds_phrase(&row))
            .map(|at| section.start + at);
        Ok(Located { fence, section, rows, text })
    }

    fn template_items(
        &self,
        rows: &Rows,
        within: Range<usize>,
        text: &CleanText<'_>,
        place: &Place,
    ) -> Vec<TemplateItem> {
        let form = Form::read(&self.grammar, rows, within, text);
        let mut ids = BTreeSet::new();
        let mut items = Vec::with_capacity(form.items.len());
        for (index, item) in form.items.iter().enumerate() {
            let known = self.identify(item).map(str::to_owned).filter(|id| !ids.contains(id));
            let id = known.unwrap_or_else(|| unknown_id(&item.text, &ids));
            let line = &text.as_str()[text.line_around(item.range.start)];
            let indent = &line[..line.len() - line.trim_start().len()];
            let wanted = item.text.to_lowercase();
            ids.insert(id.clone());
            items.push(TemplateItem {
                id,
                text: shortened(&item.text, limits::ITEM_CHARS),
                paste: format!("{indent}- [ ] {}", item.markdown),
                position: as_i64(index + 1),
                wants_run_link: self
                    .grammar
                    .run_link_wanted
                    .iter()
                    .any(|words| wanted.contains(&words.to_lowercase())),
                origin: place.origin(Some(text.line(item.range.start))),
            });
        }
        items
    }
}

/// The id of an item that nobody knows; numbered where two begin alike.
fn unknown_id(text: &str, taken: &BTreeSet<String>) -> String {
    let id = format!("{UNKNOWN}{}", slug(text));
    let numbered = (2..).map(|n: u32| format!("{id}-{n}"));
    let mut candidates = std::iter::once(id.clone()).chain(numbered);
    candidates.find(|id| !taken.contains(id)).unwrap_or(id)
}

/// The rows under a heading, up to the next one that is no deeper.
fn section_under(rows: &Rows, heading: &str) -> Option<Range<usize>> {
    let wanted = heading.trim_start_matches('#').trim();
    let at = rows.rows.iter().position(|row| {
        row.kind == Kind::Heading
            && row.plain.trim().trim_end_matches(':').eq_ignore_ascii_case(wanted)
    })?;
    let level = rows.rows[at].level;
    let ends = |row: &Row| row.kind == Kind::Heading && row.level <= level;
    let length = rows.rows[at + 1..].iter().position(ends);
    Some(at + 1..length.map_or(rows.rows.len(), |length| at + 1 + length))
}
