//! The document's tables, paragraphs and dated headings, with their lines.

use chrono::NaiveDate;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::limits::MODEL_ROWS;

/// Text of one cell or paragraph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Text {
    /// Without markup, code spans as their words.
    pub(super) plain: String,
    /// The code spans.
    pub(super) codes: Vec<String>,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) line: i64,
    pub(super) cells: Vec<Text>,
}

/// What stands between two headings, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Block {
    Table { header: Vec<String>, rows: Vec<Row> },
    Paragraph { line: i64, text: Text },
}

/// A part of the document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Section {
    /// The date in its heading.
    pub(super) date: Option<String>,
    pub(super) blocks: Vec<Block>,
}

/// The document's sections; a heading of any level begins one.
pub(super) fn sections(markdown: &str) -> Vec<Section> {
    let mut reader = Reader { sections: vec![Section::default()], ..Reader::default() };
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
    // Lines are counted on the way, since events come in the order of the text.
    let (mut line, mut counted) = (1, 0);
    for (event, range) in Parser::new_ext(markdown, options).into_offset_iter() {
        if range.start > counted {
            let passed = markdown.get(counted..range.start).unwrap_or_default();
            line += i64::try_from(passed.matches('\n').count()).unwrap_or(i64::MAX);
            counted = range.start;
        }
        reader.event(event, line);
    }
    reader.sections
}

#[derive(Default)]
struct Reader {
    sections: Vec<Section>,
    heading: Option<(HeadingLevel, String)>,
    text: Option<(i64, Text)>,
    header: Vec<String>,
    in_header: bool,
    row: Option<Row>,
    rows: Vec<Row>,
    in_cell: bool,
}

impl Reader {
    fn section(&mut self) -> Option<&mut Section> {
        self.sections.last_mut()
    }

    fn event(&mut self, event: Event<'_>, line: i64) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => self.heading = Some((level, String::new())),
            Event::End(TagEnd::Heading(_)) => {
                let (_, words) = self.heading.take().unwrap_or((HeadingLevel::H1, String::new()));
                self.sections.push(Section { date: date(&words), blocks: Vec::new() });
            }
            Event::Start(Tag::Table(_)) => {
                self.header.clear();
                self.rows.clear();
            }
            Event::End(TagEnd::Table) => {
                let header = std::mem::take(&mut self.header);
                let rows = std::mem::take(&mut self.rows);
                if let Some(section) = self.section() {
                    section.blocks.push(Block::Table { header, rows });
                }
            }
            Event::Start(Tag::TableHead) => {
                self.in_header = true;
                self.row = Some(Row { line, cells: Vec::new() });
            }
            Event::End(TagEnd::TableHead) => {
                self.in_header = false;
                let cells = self.row.take().map(|row| row.cells).unwrap_or_default();
                self.header =
                    cells.into_iter().map(|cell| cell.plain.trim().to_lowercase()).collect();
            }
            Event::Start(Tag::TableRow) => self.row = Some(Row { line, cells: Vec::new() }),
            Event::End(TagEnd::TableRow) => {
                if let Some(row) = self.row.take().filter(|_| self.rows.len() < MODEL_ROWS) {
                    self.rows.push(row);
                }
            }
            Event::Start(Tag::TableCell) => {
                self.in_cell = true;
                self.text = Some((line, Text::default()));
            }
            Event::End(TagEnd::TableCell) => {
                self.in_cell = false;
                if let (Some((_, text)), Some(row)) = (self.text.take(), &mut self.row) {
                    row.cells.push(text);
                }
            }
            Event::Start(Tag::Paragraph) => self.text = Some((line, Text::default())),
            Event::End(TagEnd::Paragraph) => {
                if let Some((line, text)) = self.text.take()
                    && let Some(section) = self.section()
                {
                    section.blocks.push(Block::Paragraph { line, text });
                }
            }
            Event::Text(words) => self.words(&words),
            Event::Code(words) => {
                if let Some((_, text)) = &mut self.text {
                    text.codes.push(words.to_string());
                }
                self.words(&words);
            }
            Event::SoftBreak | Event::HardBreak => self.words(" "),
            _ => {}
        }
    }

    fn words(&mut self, words: &str) {
        if let Some((_, heading)) = &mut self.heading {
            heading.push_str(words);
        } else if let Some((_, text)) = &mut self.text {
            text.plain.push_str(words);
        }
    }
}

/// `August 3, 2026` anywhere in a text, as `2026-08-03`.
pub(super) fn date(words: &str) -> Option<String> {
    let cleaned = words.replace(',', " ");
    let parts: Vec<&str> = cleaned.split_whitespace().collect();
    parts.windows(3).find_map(|three| {
        let date = NaiveDate::parse_from_str(&three.join(" "), "%B %d %Y").ok()?;
        Some(date.format("%Y-%m-%d").to_string())
    })
}

/// `2026-08-03` in a text: the first.
pub(super) fn iso_date(words: &str) -> Option<String> {
    let is_iso = |word: &&str| NaiveDate::parse_from_str(word, "%Y-%m-%d").is_ok();
    words.split(|c: char| !c.is_ascii_digit() && c != '-').find(is_iso).map(str::to_owned)
}
