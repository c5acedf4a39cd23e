//! The template's text, filled in as far as somebody else has found out what it asks for. Everything
//! that is not filled in stays as the document has it, byte for byte.

use super::Reader;
use super::fix::{capitalised, last_byte};
use super::form::{Form, details_heading};
use super::mend::{Edit, drawn, edited, line_end, next_line_start};
use super::rows::Rows;
use super::text::CleanText;
use crate::facts::{Details, ItemState, TemplateItem};

/// What is filled in.
#[derive(Debug, Clone, Default)]
pub struct Filling {
    /// One for each item of the template, in its order; items without one stay open.
    pub items: Vec<Filled>,
    /// Markdown for the additional detail section, lines ended by `\n`, without blank lines around
    /// it; where it is empty the section stays as it is.
    pub details: String,
    /// The login for the signature line; the template's placeholder stays where there is none.
    pub signer: Option<String>,
}

/// What is filled in at one item.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filled {
    /// Whether its box is checked.
    pub checked: bool,
    /// Markdown that is put behind its words, on their last line.
    pub behind: Option<String>,
}

impl Reader {
    /// Fills in a template's text (from [`Reader::template_source`]). A heading of the details and a
    /// signature line that it lacks are added.
    pub fn fill_in(&self, template: &str, filling: &Filling) -> String {
        let text = CleanText::new(template);
        let rows = Rows::of(text.as_str());
        let form = Form::read(&self.grammar, &rows, 0..rows.rows.len(), &text);
        let mut edits = Vec::new();
        for (item, filled) in form.items.iter().zip(&filling.items) {
            if filled.checked && item.state != ItemState::Checked {
                edits.extend(drawn(template, &text, item, true));
            }
            if let Some(behind) = &filled.behind {
                let line = text.line_around(item.end);
                let words = text.as_str()[line.clone()].trim_end().len();
                let last = text.original_range(line.start..line.start + words).end;
                edits.push(Edit { range: last..last, text: format!(" {behind}") });
            }
        }
        edits.extend(self.details_edit(template, &text, &rows, &form, &filling.details));
        let signature = form.signature.map(|at| &rows.rows[at]);
        match (signature, &filling.signer) {
            (Some(row), Some(login)) => {
                let typed = text.original_range(row.start..text.line_around(row.start).end);
                edits.push(Edit { range: typed, text: self.signature_line(Some(login)) });
            }
            (Some(_), None) => {}
            (None, login) => {
                let eol = line_end(template);
                let line = self.signature_line(login.as_deref());
                let end = template.trim_end().len();
                let range = end..template.len();
                edits.push(Edit { range, text: format!("{eol}{eol}{line}{eol}") });
            }
        }
        let mut draft = edited(template, edits);
        if !draft.ends_with(['\n', '\r']) {
            draft.push_str(line_end(template));
        }
        draft
    }

    /// The details in place of the template's placeholder; behind them where the section says
    /// something of its own.
    fn details_edit(
        &self,
        template: &str,
        text: &CleanText<'_>,
        rows: &Rows,
        form: &Form,
        details: &str,
    ) -> Option<Edit> {
        if details.is_empty() {
            return None;
        }
        let eol = line_end(template);
        let details = details.trim_end().replace('\n', eol);
        let range = text.original_range(form.details.clone());
        let Some(heading) = form.heading.map(|at| &rows.rows[at]) else {
            let last = form.items.last()?;
            let at = next_line_start(template, last_byte(text, last.after));
            let words = self.grammar.details_headings.first().map_or("", String::as_str);
            let heading = format!("### {}:", capitalised(words));
            // What follows the last item without a heading is the section's.
            let text = format!("{eol}{heading}{eol}{details}{eol}");
            return Some(Edit { range: at..at, text });
        };
        let section = &text.as_str()[form.details.clone()];
        let (_, empty) = self.filled(section);
        if !form.details.is_empty() && !empty {
            return Some(Edit {
                range: range.end..range.end,
                text: format!("{eol}{eol}{details}"),
            });
        }
        if !form.details.is_empty() {
            let inline = details_heading(&self.grammar, heading).is_some_and(|it| !it.is_empty());
            let before = if inline { eol } else { "" };
            return Some(Edit { range, text: format!("{before}{details}") });
        }
        let at = next_line_start(template, text.original_range(heading.end..heading.end).start);
        let open = if template[..at].ends_with(['\n', '\r']) { "" } else { eol };
        Some(Edit { range: at..at, text: format!("{open}{details}{eol}") })
    }

    /// The places (from 1) of the template's items that a section of details would explain.
    pub fn explained_by(&self, details: &str, template: &[TemplateItem]) -> Vec<i64> {
        let section = Details {
            text: details.to_owned(),
            links: Vec::new(),
            placeholder: false,
            empty: false,
            heading: true,
            line: 1,
        };
        let statements = self.statements(&section);
        let explained = template
            .iter()
            .filter(|item| self.explanation(&statements, &item.id, item.position).is_some());
        explained.map(|item| item.position).collect()
    }

    /// The template's words for "not filled in"; a line of the details that holds them explains
    /// nothing.
    pub fn placeholder(&self) -> Option<&str> {
        self.grammar.placeholders.first().map(String::as_str)
    }

    /// The workflow run that a link names, by the profile's patterns.
    pub fn run_of(&self, url: &str) -> Option<i64> {
        self.run_id(url)
    }
}
