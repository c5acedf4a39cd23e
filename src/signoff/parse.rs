//! A body → a sign-off, or the reason why it is none.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use super::form::{Form, FormItem, signature_value};
use super::items::key;
use super::refusal::{NotASignOff, Reason};
use super::rows::{HTML_COMMENT, Kind, Row, Rows};
use super::text::{CleanText, shortened};
use super::{Place, Reader};
use crate::facts::{
    Details, ItemState, Link, Origin, SignOff, SignOffKind, SignedItem, sha256_hex,
};
use crate::limits;

/// What a body says as a sign-off; who posted it and when is not in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ParsedSignOff {
    /// Every list item with a box (or with what looks like one), in the order of the text.
    pub items: Vec<SignedItem>,
    /// The additional detail section.
    pub details: Details,
    /// The login on the signature line.
    pub signed: Option<String>,
    /// SHA-256 of the body as it was given, 64 hex digits.
    pub body_sha256: String,
    /// Where it stands.
    pub origin: Origin,
}

/// How a body was posted: the part of a sign-off that is not in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// The account, as GitHub spells it.
    pub author: String,
    /// How it was posted.
    pub kind: SignOffKind,
    /// GitHub's id; 0 for a file.
    pub id: i64,
    /// RFC 3339; empty for a file.
    pub created: String,
    /// RFC 3339; empty for a file.
    pub updated: String,
    /// The account that edited it last, where somebody did.
    pub edited_by: Option<String>,
    /// For a review: the commit that the reviewer saw.
    pub reviewed_commit: Option<String>,
}

impl Posted {
    /// A local file of that author; empty where it has none.
    pub fn file(author: impl Into<String>) -> Self {
        Self {
            author: author.into(),
            kind: SignOffKind::File,
            id: 0,
            created: String::new(),
            updated: String::new(),
            edited_by: None,
            reviewed_commit: None,
        }
    }
}

impl ParsedSignOff {
    /// The fact: what was said, and how it was posted.
    pub fn into_fact(self, posted: Posted) -> SignOff {
        SignOff {
            author: posted.author,
            kind: posted.kind,
            id: posted.id,
            created: posted.created,
            updated: posted.updated,
            edited_by: posted.edited_by,
            reviewed_commit: posted.reviewed_commit,
            body_sha256: self.body_sha256,
            items: self.items,
            details: self.details,
            signed: self.signed,
            origin: self.origin,
        }
    }
}

/// How a body begins.
enum Opening {
    /// The phrase opens the first block: this row.
    Phrase(usize),
    /// The whole body is one code block: its content.
    Fence(Range<usize>),
}

/// A form in a body, with what it was read from.
pub(super) struct ReadForm<'b> {
    pub(super) form: Form,
    pub(super) rows: Rows,
    pub(super) text: CleanText<'b>,
    /// The bytes of the body in which it stands: all of it, or the content of the code block around it.
    pub(super) part: Range<usize>,
}

impl Reader {
    /// Reads a body as a sign-off.
    ///
    /// The phrase has to open the first block (blank lines, one heading, HTML comments and the head
    /// of a `<details>` may stand before it) or a code block that is the whole body, and enough
    /// items have to follow. A marker that somebody typed has no meaning.
    ///
    /// # Errors
    /// Says why the body is no sign-off, and whether its author seems to have meant one.
    pub fn parse(&self, body: &str, place: &Place) -> Result<ParsedSignOff, NotASignOff> {
        let read = self.read_form(body)?;
        let (form, rows, text) = (&read.form, &read.rows, &read.text);
        let items = form.items.iter().map(|item| self.signed_item(item, text, place)).collect();
        let signature =
            form.signature.and_then(|at| signature_value(&self.grammar, &rows.rows[at]));
        Ok(ParsedSignOff {
            items,
            details: self.details(form, rows, text),
            signed: signature.and_then(|value| self.login(value)),
            body_sha256: sha256_hex(body.as_bytes()),
            origin: place.origin(None),
        })
    }

    /// The form of a body that is a sign-off, with enough items in it.
    pub(super) fn read_form<'b>(&self, body: &'b str) -> Result<ReadForm<'b>, NotASignOff> {
        if body.len() > limits::BODY_BYTES {
            return Err(NotASignOff::new(Reason::TooLong { bytes: body.len() }, None, false));
        }
        let text = CleanText::new(body);
        let rows = Rows::of(text.as_str());
        let read = match self.opening(&rows) {
            Some(Opening::Phrase(at)) => self.form_below(at, rows, text, 0..body.len()),
            Some(Opening::Fence(content)) => {
                let part = text.original_range(content);
                let text = CleanText::within(body, part.clone());
                let rows = Rows::of(text.as_str());
                let Some(Opening::Phrase(at)) = self.opening(&rows) else {
                    return Err(self.refuse(&text, &rows));
                };
                let read = self.form_below(at, rows, text, part);
                if read.form.items.iter().all(|item| is_empty_box(item, &read.text)) {
                    let line = Some(read.text.line(read.rows.rows[at].start));
                    return Err(NotASignOff::new(Reason::TemplateShown, line, false));
                }
                read
            }
            None => return Err(self.refuse(&text, &rows)),
        };
        if read.form.items.len() < self.grammar.minimum_items {
            return Err(self.refuse(&read.text, &read.rows));
        }
        Ok(read)
    }

    fn form_below<'b>(
        &self,
        phrase: usize,
        rows: Rows,
        text: CleanText<'b>,
        part: Range<usize>,
    ) -> ReadForm<'b> {
        let form = Form::read(&self.grammar, &rows, phrase + 1..rows.rows.len(), &text);
        ReadForm { form, rows, text, part }
    }

    /// Whether the phrase opens a row, in plain sight.
    pub(super) fn opens_with_phrase(&self, row: &Row) -> bool {
        matches!(row.kind, Kind::Text | Kind::Heading)
            && !row.quoted
            && !row.code_first
            && row.plain.trim_start().starts_with(&self.grammar.phrase)
    }

    fn opening(&self, rows: &Rows) -> Option<Opening> {
        let mut headings = 0;
        let mut blocks = rows.rows.iter().enumerate().filter(|(_, row)| !is_prelude(row));
        let (at, first) = blocks.by_ref().find(|(_, row)| {
            let title = row.kind == Kind::Heading && !row.quoted && !self.opens_with_phrase(row);
            headings += usize::from(title);
            !title || headings > 1
        })?;
        if self.opens_with_phrase(first) && !first.in_item {
            return Some(Opening::Phrase(at));
        }
        let alone = headings == 0 && blocks.next().is_none();
        let is_fence = first.kind == Kind::Code && !first.in_item && !first.quoted;
        (is_fence && alone).then_some(Opening::Fence(first.start..first.end))
    }

    pub(super) fn signed_item(
        &self,
        item: &FormItem,
        text: &CleanText<'_>,
        place: &Place,
    ) -> SignedItem {
        let position = text.position(item.range.start);
        let line = &text.as_str()[text.line_around(item.range.start)];
        SignedItem {
            id: self.identify(item).map(str::to_owned),
            text: shortened(&item.text, limits::ITEM_CHARS),
            checked: item.state == ItemState::Checked,
            state: item.state,
            typed: text.typed(item.range.clone()).to_owned(),
            line: position.line,
            column: position.column,
            links: self.links(&item.links, text),
            origin: place.origin(Some(position.line)).quoting(line.trim()),
        }
    }

    /// The id of an item. Its first line decides where it can: what a reviewer adds below must not
    /// make another item of it.
    pub(super) fn identify(&self, item: &FormItem) -> Option<&str> {
        let by = |text: &str| self.items.identify(&key(text));
        by(&item.first).or_else(|| by(&item.marked))
    }

    fn links(&self, links: &[(usize, String)], text: &CleanText<'_>) -> Vec<Link> {
        let link = |(at, url): &(usize, String)| Link {
            run_id: self.run_id(url),
            url: url.clone(),
            line: text.line(*at),
        };
        links.iter().map(link).collect()
    }

    fn details(&self, form: &Form, rows: &Rows, text: &CleanText<'_>) -> Details {
        let range = form.details.clone();
        let within = |(at, _): &&(usize, String)| range.contains(at);
        let links: Vec<_> =
            rows.rows.iter().flat_map(|row| &row.links).filter(within).cloned().collect();
        let section = &text.as_str()[range.clone()];
        let (placeholder, empty) = self.filled(section);
        let line = match (range.is_empty(), form.heading) {
            (false, _) => text.line(range.start),
            (true, Some(heading)) => text.line(rows.rows[heading].start),
            (true, None) => 0,
        };
        Details {
            text: section.to_owned(),
            links: self.links(&links, text),
            placeholder,
            empty,
            heading: form.heading.is_some(),
            line,
        }
    }

    /// Whether a placeholder stands in the details, and whether nothing else does.
    pub(super) fn filled(&self, section: &str) -> (bool, bool) {
        let mut placeholder = false;
        let mut empty = true;
        for row in Rows::of(CleanText::new(section).as_str()).rows {
            let mut rest = match row.kind {
                Kind::Html => HTML_COMMENT.replace_all(&row.plain, "").into_owned(),
                _ => row.plain,
            };
            if let Some(pattern) = &self.placeholders {
                placeholder |= pattern.is_match(&rest);
                rest = pattern.replace_all(&rest, "").into_owned();
            }
            empty &= !rest.chars().any(char::is_alphanumeric);
        }
        (placeholder, empty)
    }

    /// The login on a signature line.
    fn login(&self, value: &str) -> Option<String> {
        static LOGIN: LazyLock<Regex> = LazyLock::new(|| {
            // GitHub's logins, with the underscore of managed accounts.
            Regex::new(r"^[\s`@\[<]*(?P<login>[A-Za-z0-9][A-Za-z0-9_-]{0,38})")
                .expect("the pattern is a constant")
        });
        let login = LOGIN.captures(value)?.name("login")?.as_str();
        let placeholder = |word: &String| word.eq_ignore_ascii_case(login);
        (!self.grammar.signature_placeholders.iter().any(placeholder)).then(|| login.to_owned())
    }
}

/// What may stand before the first block: HTML comments, and the head of a `<details>`.
pub(super) fn is_prelude(row: &Row) -> bool {
    row.kind == Kind::Html && {
        let html = HTML_COMMENT.replace_all(&row.plain, "");
        let html = html.trim();
        html.is_empty() || html.starts_with("<details") || html == "</details>"
    }
}

/// Whether a box holds nothing: that of a template which nobody filled in.
pub(super) fn is_empty_box(item: &FormItem, text: &CleanText<'_>) -> bool {
    let frame = |c: char| matches!(c, '[' | ']' | '［' | '］' | '\\') || c.is_whitespace();
    text.typed(item.range.clone()).chars().all(frame)
}
