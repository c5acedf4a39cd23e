//! A draft, mended as far as that can be done without saying anything for its author: boxes that
//! Markdown does not draw, items that are missing, the heading of the details, the signature's line.
//!
//! No box is ever checked that was not typed as checked, and nothing that a person wrote is taken
//! away or reworded. Each change is made on trial: it stays only where the draft then reads as it
//! did before, but for that change. So the result needs no trust in how a change was thought up.

use std::ops::Range;

use super::boxes::box_of;
use super::compare::{Versions, pair};
use super::form::FormItem;
use super::mend::{Edit, drawn, edited, line_end, line_start, meaning, next_line_start};
use super::parse::{ReadForm, is_prelude};
use super::refusal::Reason;
use super::rows::{Kind, Rows};
use super::text::{CleanText, lines};
use super::{Place, Posted, Reader};
use crate::facts::{ItemState, TemplateItem};
use crate::limits;

/// Rounds over a draft; one change makes another possible only now and then.
const ROUNDS: usize = 20;

/// Trials of boxes in one round. A last round, in which nothing changes, ends every run, so that the
/// bound makes no second run go on where the first one stopped.
const TRIALS: usize = 64;

/// The template that a draft has to follow.
#[derive(Debug, Clone, Copy)]
pub struct CurrentTemplate<'t> {
    /// Its text, from [`Reader::template_source`].
    pub text: &'t str,
    /// Its items, from [`Reader::parse_template`].
    pub items: &'t [TemplateItem],
}

/// A mended draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed {
    /// Its text.
    pub text: String,
    /// What was changed, in the order of its lines; empty where nothing was.
    pub changes: Vec<Change>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// 1-based line of the mended draft; the first one where lines were put in.
    pub line: i64,
    /// How many lines were put in before what stood there; 0 where a line was mended.
    pub lines: i64,
    /// What was done, a few words.
    pub message: String,
}

/// A change on trial.
struct Trial {
    edit: Edit,
    message: String,
}

/// What a draft says, as far as a change may not touch it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Said {
    items: Vec<(ItemState, String)>,
    details: String,
    heading: bool,
    signature: Option<String>,
}

impl Said {
    fn of(read: &ReadForm<'_>) -> Self {
        let form = &read.form;
        Self {
            items: form.items.iter().map(|item| (item.state, item.text.clone())).collect(),
            details: read.text.as_str()[form.details.clone()].to_owned(),
            heading: form.heading.is_some(),
            signature: form.signature.map(|at| read.rows.rows[at].plain.clone()),
        }
    }
}

impl Reader {
    /// Mends a draft. Without a template no item can be put in, for its wording is not known, and no
    /// opening line that is missing as a whole.
    ///
    /// What is mended once is not changed by a second run. A draft that would not be recognised as a
    /// sign-off, and cannot be made one by its opening phrase alone, is given back as it is.
    pub fn fix(&self, draft: &str, template: Option<CurrentTemplate<'_>>) -> Fixed {
        let mut fixed = Fixed { text: draft.to_owned(), changes: Vec::new() };
        for _ in 0..ROUNDS {
            let before = fixed.changes.len();
            self.fix_opening(&mut fixed, template);
            self.fix_boxes(&mut fixed);
            if let Some(template) = template {
                for item in template.items {
                    self.fix_missing(&mut fixed, template.items, item);
                }
            }
            self.fix_heading(&mut fixed);
            self.fix_signature(&mut fixed);
            if fixed.changes.len() == before {
                break;
            }
        }
        fixed.changes.sort_by_key(|change| change.line);
        fixed
    }

    /// The phrase in other letters, or a form whose first line is missing.
    fn fix_opening(&self, fixed: &mut Fixed, template: Option<CurrentTemplate<'_>>) {
        let body = &fixed.text;
        if body.len() > limits::BODY_BYTES {
            return;
        }
        let Err(refused) = self.read_form(body) else { return };
        let text = CleanText::new(body);
        let rows = Rows::of(text.as_str());
        let phrase = self.grammar.phrase.as_str();
        let otherwise = rows.rows.iter().find_map(|row| {
            let spoken = matches!(row.kind, Kind::Text | Kind::Heading) && !row.quoted;
            let typed = text.as_str()[row.start..row.end].get(..phrase.len())?;
            (spoken && typed != phrase && typed.eq_ignore_ascii_case(phrase))
                .then(|| text.original_range(row.start..row.start + phrase.len()))
        });
        let trial = if let Some(range) = otherwise {
            let message = format!("the opening phrase is now \"{phrase}\"");
            Trial { edit: Edit { range, text: phrase.to_owned() }, message }
        } else if let (Some(template), Reason::NoPhrase { .. }, true) =
            (template, &refused.reason, refused.near)
        {
            let Some(opening) = lines(template.text).find(|line| line.trim().starts_with(phrase))
            else {
                return;
            };
            let Some(first) = rows.rows.iter().find(|row| !is_prelude(row)) else { return };
            if box_of(first, &text).is_none() {
                return;
            }
            let at = text.original_range(first.start..first.start).start;
            let at = line_start(body, at);
            let edit =
                Edit { range: at..at, text: format!("{}{}", opening.trim(), line_end(body)) };
            Trial { edit, message: "the template's first line was put in".to_owned() }
        } else {
            return;
        };
        let changed = edited(body, vec![trial.edit.clone()]);
        if self.read_form(&changed).is_ok() {
            fixed.accept(changed, vec![trial]);
        }
    }

    /// Boxes that only look like ones: all at once where that goes well, else by halves.
    fn fix_boxes(&self, fixed: &mut Fixed) {
        let Ok(read) = self.read_form(&fixed.text) else { return };
        let all = 0..read.form.items.len();
        let mut left = vec![all];
        for _ in 0..TRIALS {
            let Some(part) = left.pop() else { break };
            if !self.fix_these_boxes(fixed, &part) && part.len() > 1 {
                let middle = part.start + part.len() / 2;
                left.extend([middle..part.end, part.start..middle]);
            }
        }
    }

    /// Mends those of the items of these indices that can be; whether nothing went wrong.
    fn fix_these_boxes(&self, fixed: &mut Fixed, which: &Range<usize>) -> bool {
        let body = &fixed.text;
        let Ok(read) = self.read_form(body) else { return true };
        let mut wanted = Said::of(&read);
        let mut trials = Vec::new();
        for (at, item) in read.form.items.iter().enumerate() {
            // Behind an empty item no box is drawn, however it is typed.
            let hopeless = item.state != ItemState::Malformed || item.text.trim().is_empty();
            if !which.contains(&at) || hopeless {
                continue;
            }
            let typed = read.text.typed(item.range.clone());
            let Some(checked) = meaning(typed) else { continue };
            let Some(edit) = drawn(body, &read.text, item, checked) else { continue };
            wanted.items[at].0 = if checked { ItemState::Checked } else { ItemState::Unchecked };
            let now = if checked { "[x]" } else { "[ ]" };
            let message = match typed == now {
                true => format!("a box is drawn for `{typed}` now"),
                false => format!("`{typed}` is now `{now}`"),
            };
            trials.push(Trial { edit, message });
        }
        if trials.is_empty() {
            return true;
        }
        let changed = edited(body, trials.iter().map(|trial| trial.edit.clone()).collect());
        let holds = self.said(&changed) == Some(wanted);
        if holds {
            fixed.accept(changed, trials);
        }
        holds
    }

    /// An item of the template that the draft lacks, put in unchecked at its place.
    fn fix_missing(&self, fixed: &mut Fixed, template: &[TemplateItem], item: &TemplateItem) {
        let body = &fixed.text;
        if !self.lacks(body, template, &item.id) {
            return;
        }
        let Ok(read) = self.read_form(body) else { return };
        let Some((at, line)) = self.place_of(body, &read, template, item) else { return };
        let before = Said::of(&read);
        let index = read
            .form
            .items
            .iter()
            .filter(|other| read.text.original_range(other.range.clone()).start < at)
            .count();
        let message = format!("the item `{}` was put in, unchecked", item.id);
        let trial = Trial { edit: whole_line(body, at, &line), message };
        let changed = edited(body, vec![trial.edit.clone()]);
        let Some(mut after) = self.said(&changed) else { return };
        let put_in = after.items.len() > index && {
            let (state, _) = after.items.remove(index);
            state == ItemState::Unchecked
        };
        if put_in && after == before && !self.lacks(&changed, template, &item.id) {
            fixed.accept(changed, vec![trial]);
        }
    }

    /// The details' heading before what follows the last item.
    fn fix_heading(&self, fixed: &mut Fixed) {
        let body = &fixed.text;
        let Ok(read) = self.read_form(body) else { return };
        let (Some(words), None, Some(last)) =
            (self.grammar.details_headings.first(), read.form.heading, read.form.items.last())
        else {
            return;
        };
        let details = &read.form.details;
        let at = if details.is_empty() {
            next_line_start(body, last_byte(&read.text, last.after))
        } else {
            line_start(body, read.text.original_range(details.clone()).start)
        };
        let eol = line_end(body);
        let mut heading = format!("{}### {}:", common_indent(body, &read), capitalised(words));
        if !ends_in_blank_line(&body[..at]) {
            heading.insert_str(0, eol);
        }
        let message = "the heading of the details was put in".to_owned();
        let trial = Trial { edit: whole_line(body, at, &heading), message };
        let wanted = Said { heading: true, ..Said::of(&read) };
        let changed = edited(body, vec![trial.edit.clone()]);
        if self.said(&changed) == Some(wanted) {
            fixed.accept(changed, vec![trial]);
        }
    }

    /// The signature's line at the end, with the template's word for "not filled in".
    fn fix_signature(&self, fixed: &mut Fixed) {
        let body = &fixed.text;
        let Ok(read) = self.read_form(body) else { return };
        if read.form.signature.is_some() {
            return;
        }
        let at = read.part.end;
        let mut line = format!("{}{}", common_indent(body, &read), self.signature_line(None));
        if !ends_in_blank_line(&body[..at]) {
            line.insert_str(0, line_end(body));
        }
        let message = "the signature's line was put in".to_owned();
        let trial = Trial { edit: whole_line(body, at, &line), message };
        let changed = edited(body, vec![trial.edit.clone()]);
        let Some(after) = self.said(&changed) else { return };
        let before = Said { signature: after.signature.clone(), ..Said::of(&read) };
        if after.signature.is_some() && after == before {
            fixed.accept(changed, vec![trial]);
        }
    }

    /// A signature line with a login, or with the profile's word for "not filled in".
    pub(super) fn signature_line(&self, login: Option<&str>) -> String {
        let placeholder = self.grammar.signature_placeholders.first().map(String::as_str);
        match login.or(placeholder) {
            Some(name) => format!("{} `{name}`", self.grammar.signature),
            None => self.grammar.signature.clone(),
        }
    }

    fn said(&self, body: &str) -> Option<Said> {
        self.read_form(body).ok().map(|read| Said::of(&read))
    }

    fn lacks(&self, body: &str, template: &[TemplateItem], id: &str) -> bool {
        let place = Place::File { path: String::new() };
        self.parse(body, &place).is_ok_and(|parsed| {
            let signoff = parsed.into_fact(Posted::file(""));
            let checklist = self.compare(&signoff, template, Versions::default());
            checklist.missing.iter().any(|missing| missing.id == id)
        })
    }

    /// Where a missing item goes, as a byte of the body at which a line begins, and its line: behind
    /// what precedes it in the template, else before what follows it there.
    fn place_of(
        &self,
        body: &str,
        read: &ReadForm<'_>,
        template: &[TemplateItem],
        item: &TemplateItem,
    ) -> Option<(usize, String)> {
        let place = Place::File { path: String::new() };
        let signed: Vec<_> =
            read.form.items.iter().map(|item| self.signed_item(item, &read.text, &place)).collect();
        let pairs = pair(&signed, template);
        let index = |of: &TemplateItem| {
            let found = pairs.get(of.id.as_str())?;
            signed.iter().position(|signed| std::ptr::eq(signed, *found))
        };
        let wanted = indent_of(&item.paste);
        let here = template.iter().position(|other| other.id == item.id)?;
        let earlier = || template[..here].iter().rev();
        let near = earlier().find_map(index);
        // An earlier item of the same depth shows how this author indents; a shallower one is the parent.
        let level = earlier()
            .filter(|other| indent_of(&other.paste) <= wanted)
            .find_map(|other| Some((other, index(other)?)));
        let later = template[here + 1..].iter().find_map(|other| Some((other, index(other)?)));
        let (model, at) = match (near, level, later) {
            (Some(near), level, _) => {
                let model = level.map(|(other, at)| (other, &read.form.items[at]));
                let indent = model.map_or(wanted, |(other, item)| {
                    typed_indent(body, read, item).len() + wanted - indent_of(&other.paste)
                });
                let below = read.form.items[near + 1..]
                    .iter()
                    .take_while(|item| typed_indent(body, read, item).len() > indent)
                    .last();
                let last = below.unwrap_or(&read.form.items[near]);
                (model, next_line_start(body, last_byte(&read.text, last.after)))
            }
            (None, _, Some((other, at))) => {
                let item = &read.form.items[at];
                let start = read.text.original_range(item.range.clone()).start;
                (Some((other, item)), line_start(body, start))
            }
            (None, _, None) => return None,
        };
        let (indent, bullet) = match model {
            Some((other, model)) => {
                let typed = typed_indent(body, read, model);
                let deeper = wanted.saturating_sub(indent_of(&other.paste));
                (format!("{typed}{}", " ".repeat(deeper)), typed_bullet(body, read, model))
            }
            None => (" ".repeat(wanted), '-'),
        };
        let line = item.paste.trim_start().strip_prefix('-')?;
        Some((at, format!("{indent}{bullet}{line}")))
    }
}

impl Fixed {
    /// Takes over a changed text; the places of earlier changes move along.
    fn accept(&mut self, text: String, trials: Vec<Trial>) {
        let line_of =
            |at: usize| i64::try_from(lines(&self.text[..at]).count().max(1)).unwrap_or(i64::MAX);
        let mut made = Vec::with_capacity(trials.len());
        for trial in trials {
            let inserted = if trial.edit.range.is_empty() {
                i64::try_from(lines(&trial.edit.text).count() - 1).unwrap_or(i64::MAX)
            } else {
                0
            };
            // Where the body's last line has no end, the new one begins behind it.
            let at = trial.edit.range.start;
            let behind = inserted > 0 && at > line_start(&self.text, at);
            let line = line_of(at) + i64::from(behind);
            for change in self.changes.iter_mut().filter(|change| change.line >= line) {
                change.line += inserted;
            }
            made.push(Change { line, lines: inserted, message: trial.message });
        }
        self.changes.append(&mut made);
        self.text = text;
    }
}

/// A line put in where one begins, or behind a last line that has no end.
fn whole_line(body: &str, at: usize, line: &str) -> Edit {
    let eol = line_end(body);
    let open = at > line_start(body, at);
    let text = if open { format!("{eol}{line}") } else { format!("{line}{eol}") };
    Edit { range: at..at, text }
}

/// The byte of the body behind which an item's last row ends; never behind that line's end.
pub(super) fn last_byte(text: &CleanText<'_>, after: usize) -> usize {
    let ended = after > 0 && text.as_str().as_bytes()[after - 1] == b'\n';
    let last = if ended { after - 1 } else { after };
    text.original_range(last..last).start
}

fn ends_in_blank_line(before: &str) -> bool {
    let all: Vec<&str> = lines(before).collect();
    match all.as_slice() {
        [.., last, ""] => last.trim().is_empty(),
        [only] => only.is_empty(),
        _ => false,
    }
}

/// The blanks before the bullet of a template's line.
fn indent_of(paste: &str) -> usize {
    paste.len() - paste.trim_start().len()
}

/// The blanks with which an item's line was typed.
fn typed_indent<'b>(body: &'b str, read: &ReadForm<'_>, item: &FormItem) -> &'b str {
    let start = line_start(body, read.text.original_range(item.range.clone()).start);
    let line = &body[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The bullet with which it was typed; `-` where it has none of Markdown's three.
fn typed_bullet(body: &str, read: &ReadForm<'_>, item: &FormItem) -> char {
    let indent = typed_indent(body, read, item).len();
    let start = line_start(body, read.text.original_range(item.range.clone()).start);
    let first = body[start + indent..].chars().next();
    first.filter(|c| matches!(c, '*' | '+')).unwrap_or('-')
}

/// The indent that the whole form has.
fn common_indent(body: &str, read: &ReadForm<'_>) -> String {
    let indents = read.form.items.iter().map(|item| typed_indent(body, read, item));
    indents.min_by_key(|indent| indent.len()).unwrap_or_default().to_owned()
}

/// Words with a capital letter at their beginning.
pub(super) fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
