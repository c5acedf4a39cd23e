//! Markdown, as GitHub reads it, taken apart into rows: one a line of a paragraph, list item,
//! heading or table cell, one a code block or HTML block. Everything else in this room works on
//! rows, so that no second reading of Markdown exists.

use std::ops::Range;
use std::sync::LazyLock;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};
use regex::Regex;

use crate::limits;

/// What a row is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A line of a paragraph or of a list item.
    Text,
    /// A line of a heading.
    Heading,
    /// A table cell.
    Cell,
    /// A whole code block, fenced or indented; `start..end` is its content.
    Code,
    /// A whole block of HTML.
    Html,
}

/// One line of text, or one opaque block.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) kind: Kind,
    /// First byte of it in the text.
    pub(super) start: usize,
    /// The byte after it.
    pub(super) end: usize,
    /// The byte after the whole block, for headings, code and HTML; else that after the row.
    pub(super) after: usize,
    /// A heading's level, 1 to 6; else 0.
    pub(super) level: u8,
    /// Its text without emphasis and link targets; raw for code and HTML.
    pub(super) plain: String,
    /// The same with each link's target behind its text.
    pub(super) marked: String,
    /// The list item that it stands in, else the block: an index into [`Rows::parents`].
    pub(super) home: usize,
    /// Whether it stands in a list item.
    pub(super) in_item: bool,
    /// Whether it is the first row of its list item.
    pub(super) opens_item: bool,
    /// Whether it stands in a block quote.
    pub(super) quoted: bool,
    /// The box that Markdown draws here.
    pub(super) drawn: Option<Range<usize>>,
    /// Whether all of its text is struck through.
    pub(super) struck: bool,
    /// Whether it begins with a code span.
    pub(super) code_first: bool,
    /// Links with the byte at which each stands, in order.
    pub(super) links: Vec<(usize, String)>,
}

/// A whole text in rows.
pub(super) struct Rows {
    /// The rows in the order of the text.
    pub(super) rows: Vec<Row>,
    /// For each home the list item around it; a home is numbered after what stands before it.
    pub(super) parents: Vec<Option<usize>>,
}

impl Rows {
    /// Reads a cleaned text.
    pub(super) fn of(text: &str) -> Self {
        let options = Options::ENABLE_TASKLISTS
            | Options::ENABLE_TABLES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_GFM;
        let mut walk = Walk::default();
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            walk.step(event, range);
        }
        walk.close();
        walk.collect_bare_links(text);
        Self { rows: walk.rows, parents: walk.parents }
    }
}

/// The walk over the parser's events.
#[derive(Default)]
struct Walk {
    rows: Vec<Row>,
    parents: Vec<Option<usize>>,
    /// The row that is being filled.
    open: Option<Row>,
    /// List items around the current place, innermost last.
    items: Vec<usize>,
    /// Whether the innermost list item has no row yet.
    item_begins: bool,
    /// Home of the current block outside lists.
    block: usize,
    kind: Option<Kind>,
    quotes: usize,
    strikes: usize,
    /// Non-blank characters of the open row that are not struck through, and all of them.
    kept: usize,
    seen: usize,
    /// Targets of the links around the current place.
    targets: Vec<Option<String>>,
    links: usize,
    /// How many images are around the current place.
    images: usize,
    /// Ranges in which a bare URL is none of its own, ascending and disjoint.
    masks: Vec<Range<usize>>,
}

impl Walk {
    fn step(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag, range),
            Event::Text(text) => self.write(&text, range),
            Event::Code(code) if self.images == 0 => {
                let row = self.row(&range);
                row.code_first |= row.plain.trim().is_empty();
                self.write(&code, range);
            }
            Event::Html(html) => self.write(&html, range),
            Event::InlineHtml(html) => {
                if html.starts_with("<!--") {
                    self.mask(range);
                } else {
                    self.row(&range).end = range.end;
                }
            }
            Event::TaskListMarker(_) => self.row(&range).drawn = Some(range.clone()),
            Event::SoftBreak | Event::HardBreak => self.close(),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Item => {
                self.close();
                self.parents.push(self.items.last().copied());
                self.items.push(self.parents.len() - 1);
                self.item_begins = true;
            }
            Tag::BlockQuote(_) => {
                self.close();
                self.quotes += 1;
            }
            // The marker of a loose item comes inside its paragraph, so that the row opens there.
            Tag::Paragraph => self.block(Kind::Text),
            Tag::Heading { .. } => self.block(Kind::Heading),
            Tag::TableCell => self.block(Kind::Cell),
            Tag::HtmlBlock => self.block(Kind::Html),
            Tag::CodeBlock(_) => {
                self.block(Kind::Code);
                // An empty one has no text of its own to open a row.
                self.row(&(range.end..range.end));
            }
            Tag::List(_) | Tag::Table(_) => self.close(),
            Tag::Strikethrough => self.strikes += 1,
            Tag::Link { link_type, dest_url, .. } => {
                self.mask(range.clone());
                let fits = dest_url.len() <= limits::URL_BYTES && self.links < limits::LINKS;
                let known = fits && link_type != LinkType::Email;
                if known {
                    self.links += 1;
                    self.row(&range).links.push((range.start, dest_url.to_string()));
                }
                let spelt_out = link_type == LinkType::Autolink;
                self.targets.push((known && !spelt_out).then(|| dest_url.into_string()));
            }
            Tag::Image { .. } => {
                self.mask(range);
                self.images += 1;
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::Item => {
                self.close();
                self.items.pop();
                self.item_begins = false;
            }
            TagEnd::BlockQuote(_) => {
                self.close();
                self.quotes = self.quotes.saturating_sub(1);
            }
            TagEnd::Heading(level) => {
                if let Some(row) = &mut self.open {
                    row.level = level as u8;
                }
                self.end_block(range.end);
            }
            TagEnd::HtmlBlock | TagEnd::CodeBlock => self.end_block(range.end),
            TagEnd::Paragraph | TagEnd::TableCell => self.end_block(0),
            TagEnd::Image => self.images = self.images.saturating_sub(1),
            TagEnd::Strikethrough => self.strikes = self.strikes.saturating_sub(1),
            TagEnd::Link => {
                if let Some(Some(target)) = self.targets.pop() {
                    let row = self.row(&range);
                    row.marked.push_str(" (");
                    row.marked.push_str(&target);
                    row.marked.push(')');
                    row.end = row.end.max(range.end);
                }
            }
            _ => {}
        }
    }

    /// Begins a block of its own; in a list item the item stays the home.
    fn block(&mut self, kind: Kind) {
        self.close();
        self.kind = Some(kind);
        if self.items.is_empty() {
            self.parents.push(None);
            self.block = self.parents.len() - 1;
        }
    }

    fn end_block(&mut self, after: usize) {
        if let Some(row) = &mut self.open {
            row.after = after;
        }
        self.close();
        self.kind = None;
    }

    /// The open row; one is opened where there is none.
    fn row(&mut self, range: &Range<usize>) -> &mut Row {
        let kind = self.kind.unwrap_or(Kind::Text);
        let (home, in_item) = match self.items.last() {
            Some(item) => (*item, true),
            None => (self.block, false),
        };
        let opens_item = in_item && self.item_begins;
        let quoted = self.quotes > 0;
        self.open.get_or_insert_with(|| {
            self.item_begins = false;
            Row {
                kind,
                start: range.start,
                end: range.end,
                after: 0,
                level: 0,
                plain: String::new(),
                marked: String::new(),
                home,
                in_item,
                opens_item,
                quoted,
                drawn: None,
                struck: false,
                code_first: false,
                links: Vec::new(),
            }
        })
    }

    fn write(&mut self, text: &str, range: Range<usize>) {
        // The text of an image is not shown where the image is.
        if self.images > 0 {
            return;
        }
        let characters = text.chars().filter(|c| !c.is_whitespace()).count();
        self.seen += characters;
        if self.strikes == 0 {
            self.kept += characters;
        }
        let row = self.row(&range);
        if row.kind == Kind::Code && row.plain.is_empty() {
            // The row was opened with the whole block, fences and all.
            (row.start, row.end) = (range.start, range.end);
        }
        row.plain.push_str(text);
        row.marked.push_str(text);
        row.end = row.end.max(range.end);
    }

    fn mask(&mut self, range: Range<usize>) {
        if self.masks.last().is_none_or(|last| last.end <= range.start) {
            self.masks.push(range);
        }
    }

    fn close(&mut self) {
        if let Some(mut row) = self.open.take() {
            row.struck = self.seen > 0 && self.kept == 0;
            row.after = row.after.max(row.end);
            self.rows.push(row);
        }
        self.seen = 0;
        self.kept = 0;
    }

    /// Adds the URLs that stand in the text as they are. They are looked for in the source, since
    /// the parser cuts text at every character that could have had a meaning.
    fn collect_bare_links(&mut self, text: &str) {
        let mut left = limits::LINKS.saturating_sub(self.links);
        for row in self.rows.iter_mut().filter(|row| row.kind != Kind::Code) {
            let source = &text[row.start..row.end];
            let hidden: Vec<Range<usize>> = match row.kind {
                Kind::Html => HTML_COMMENT.find_iter(source).map(|found| found.range()).collect(),
                _ => Vec::new(),
            };
            for found in BARE_URL.find_iter(source) {
                let at = row.start + found.start();
                let before = self.masks.partition_point(|mask| mask.start <= at);
                let masked = before > 0 && self.masks[before - 1].end > at;
                if masked || hidden.iter().any(|range| range.contains(&found.start())) {
                    continue;
                }
                let url = found.as_str().trim_end_matches(TRAILING).replace("&amp;", "&");
                if left == 0 || url.len() > limits::URL_BYTES {
                    continue;
                }
                left -= 1;
                row.links.push((at, url));
            }
            row.links.sort_by_key(|(at, _)| *at);
        }
    }
}

/// A URL in running text: it ends at a blank, a quote, a closing bracket, a table's bar or
/// full-width punctuation.
static BARE_URL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i)https?://[^\s<>"`|)\]}，。、；：！？（）［］｛｝【】《》〈〉「」『』“”‘’]+"#)
        .expect("the pattern is a constant")
});

/// What ends a sentence rather than a URL.
const TRAILING: &[char] = &['.', ',', ';', ':', '!', '?', '\'', '*', '_', '~', '(', '['];

/// A comment inside a block of HTML.
pub(super) static HTML_COMMENT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?s)<!--.*?(?:-->|\z)").expect("the pattern is a constant"));

#[cfg(test)]
mod tests {
    use super::*;

    fn links(text: &str) -> Vec<String> {
        Rows::of(text).rows.into_iter().flat_map(|row| row.links).map(|(_, url)| url).collect()
    }

    #[test]
    fn links_of_every_spelling_are_found_once() {
        assert_eq!(
            links("see [run](https://a.b/1) and <https://a.b/2>, https://a.b/3."),
            ["https://a.b/1", "https://a.b/2", "https://a.b/3"]
        );
        assert_eq!(links("[https://a.b/x](https://a.b/y)"), ["https://a.b/y"]);
        assert_eq!(links("[r][1]\n\n[1]: https://a.b/r"), ["https://a.b/r"]);
        assert_eq!(
            links("[![badge](https://a.b/img)](https://a.b/run) https://a.b/z"),
            ["https://a.b/run", "https://a.b/z"]
        );
    }

    #[test]
    fn a_bare_url_ends_where_people_end_it() {
        for (text, url) in [
            ("结果：https://a.b/1，好", "https://a.b/1"),
            ("(https://a.b/1)", "https://a.b/1"),
            ("（https://a.b/1）", "https://a.b/1"),
            ("**https://a.b/1**", "https://a.b/1"),
            ("https://a.b/run_id_1?x=1&amp;y=2#f", "https://a.b/run_id_1?x=1&y=2#f"),
            ("`https://a.b/1`", "https://a.b/1"),
            ("| https://a.b/1 | x |\n|--|--|", "https://a.b/1"),
        ] {
            assert_eq!(links(text), [url], "{text}");
        }
    }

    #[test]
    fn code_blocks_and_comments_hold_no_links() {
        assert!(links("```\nhttps://a.b/1\n```").is_empty());
        assert!(links("<!-- https://a.b/1 -->").is_empty());
        assert!(links("x <!-- https://a.b/1 --> y").is_empty());
        assert_eq!(links("<div>\nhttps://a.b/1\n</div>"), ["https://a.b/1"]);
    }

    #[test]
    fn a_long_target_used_often_does_not_multiply() {
        let text = format!("[a]: https://a.b/{}\n\n{}", "x".repeat(30_000), "[a]\n".repeat(5_000));
        let rows = Rows::of(&text);
        let held: usize = rows.rows.iter().map(|row| row.marked.len() + row.plain.len()).sum();
        assert!(held < text.len() * 2, "{held} bytes held for {} read", text.len());
    }

    #[test]
    fn rows_say_where_they_stand() {
        let text = "# h\n\n- [x] one\n  two\n  - sub\n\n> q\n\n```\ncode\n```\n";
        let rows = Rows::of(text);
        let seen: Vec<_> = rows
            .rows
            .iter()
            .map(|row| (row.kind, row.plain.as_str(), row.opens_item, row.quoted))
            .collect();
        assert_eq!(
            seen,
            [
                (Kind::Heading, "h", false, false),
                (Kind::Text, "one", true, false),
                (Kind::Text, "two", false, false),
                (Kind::Text, "sub", true, false),
                (Kind::Text, "q", false, true),
                (Kind::Code, "code\n", false, false),
            ]
        );
        assert_eq!(rows.rows[1].home, rows.rows[2].home);
        assert_eq!(rows.parents[rows.rows[3].home], Some(rows.rows[2].home));
    }
}
