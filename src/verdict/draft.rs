//! What rows prove of a checklist that nobody has filled in yet: per item of the template whether it
//! is proven, does not apply, is open, or stands against what was found. Nothing is said for the
//! reviewer: what no machine has checked stays theirs.

use std::fmt::Write as _;

use super::inert::{label, link, unheard, web};
use super::row::{evidenced, lead, one_line, statement};
use super::terminal::plain;
use crate::facts::{Cause, Facts, Owners, TemplateItem};
use crate::limits::{MESSAGE_CHARS, VALUE_CHARS};
use crate::rules::escape::{code_span, cut};
use crate::rules::{Attested, Finding, Row, RowStatus, Rule, RuleSet};

/// Where an item stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Every rule that answers for it holds; some may not apply.
    Proven,
    /// No rule that answers for it applies.
    NotApplicable,
    /// It is the reviewer's: only a person can judge it, or no rule can yet.
    Yours,
    /// It could not be read, through a fault of ours or GitHub's.
    Unread,
    /// Some rule found that it does not hold, or could not be verified.
    Failing,
}

/// What the rules say of one item of the template, or one rule that answers for none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The item's place in the template, from 1; `None` for a rule that answers for no item.
    pub position: Option<i64>,
    /// What it is called: words only.
    pub title: String,
    /// Where it stands.
    pub standing: Standing,
    /// Why, one line of safe Markdown, with evidence.
    pub said: String,
    /// What to do about it, safe Markdown.
    pub fix: Option<String>,
    /// The addresses that its evidence names.
    pub addresses: Vec<String>,
    /// Whether the item asks for a link to a run.
    pub wants_run_link: bool,
}

/// What is known before anybody signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// One for each item of the template, in its order.
    pub items: Vec<Answer>,
    /// Rules that answer for no item and can be judged without a sign-off.
    pub others: Vec<Answer>,
    /// The assessed commit as a link, safe Markdown.
    commit: String,
    /// Who can sign, a line for people.
    signers: Vec<String>,
}

impl Draft {
    /// Holds rows that were evaluated without a sign-off against the template's items.
    pub fn new(rules: &RuleSet, rows: &[Row], facts: &Facts, template: &[TemplateItem]) -> Self {
        let row = |rule: &Rule| rows.iter().find(|row| row.id == rule.id);
        let judged = |rule: &Rule| Some(judge(rule, row(rule)?, facts));
        let items = template
            .iter()
            .map(|item| {
                let answering = rules.rules.iter().filter(|rule| rule.items.contains(&item.id));
                of_item(item, answering.filter_map(judged).collect())
            })
            .collect();
        let others = rules
            .rules
            .iter()
            .filter(|rule| rule.items.is_empty())
            .filter_map(judged)
            // Whether the signer may sign, and the like, is asked once there is one.
            .filter(|answer| answer.standing != Standing::Yours)
            .collect();
        let commit = facts.pr.known().map_or_else(String::new, |pr| {
            let short: String = pr.head_sha.chars().take(7).collect();
            let origin = pr.commits.iter().find(|commit| commit.sha == pr.head_sha);
            let page = origin.and_then(|commit| commit.origin.url.as_deref());
            link(&code_span(&short), page)
        });
        let signers = facts.owners.known().map_or_else(Vec::new, signers);
        Self { items, others, commit, signers }
    }

    /// Whether something could not be read through a fault of ours.
    pub fn unread(&self) -> bool {
        self.all().any(|answer| answer.standing == Standing::Unread)
    }

    fn all(&self) -> impl Iterator<Item = &Answer> {
        self.items.iter().chain(&self.others)
    }

    /// The additional detail section: what is proven as a quote (a quote explains no item, so that it
    /// cannot speak for an open one), why items do not apply, and a line with the placeholder for
    /// each item that is open.
    ///
    /// `explained` says which items a line would explain. A reason that would also explain another
    /// item is left out, for it holds words from outside. Without a placeholder the open items have
    /// no lines: nothing would tell them from explanations.
    pub fn details(
        &self,
        placeholder: Option<&str>,
        explained: impl Fn(&str) -> Vec<i64>,
    ) -> String {
        let mut out = String::new();
        let proven: Vec<&Answer> =
            self.all().filter(|answer| answer.standing == Standing::Proven).collect();
        if !proven.is_empty() {
            let at = if self.commit.is_empty() { "" } else { " at " };
            let _ = writeln!(out, "> Proven by machine{at}{}:", self.commit);
            for answer in proven {
                let place = answer.position.map_or_else(String::new, |n| format!(" (item {n})"));
                let _ = writeln!(out, "> - **{}**{place}: {}", answer.title, answer.said);
            }
        }
        let mut lines = Vec::new();
        for answer in &self.items {
            let Some(position) = answer.position else { continue };
            let open = placeholder.map(|placeholder| open_line(answer, position, placeholder));
            if answer.standing == Standing::NotApplicable {
                let whole =
                    format!("- {}: not applicable: {}", named(answer, position), answer.said);
                let short = format!("- Item {position}: not applicable");
                let only = |line: &String| explained(line) == [position];
                lines.extend([whole, short].into_iter().find(only).or(open));
            } else if answer.standing != Standing::Proven {
                lines.extend(open);
            }
        }
        if !out.is_empty() && !lines.is_empty() {
            out.push('\n');
        }
        for line in lines {
            out.push_str(&line);
            out.push('\n');
        }
        out
    }

    /// The same for a terminal: how many items stand how, what is open and why, who can sign.
    pub fn summary(&self, what: &str) -> String {
        let count = |standing| self.items.iter().filter(|it| it.standing == standing).count();
        let unread = match count(Standing::Unread) {
            0 => String::new(),
            unread => format!(", {unread} not read"),
        };
        let mut out = format!(
            "{what}: {} proven, {} not applicable, {} yours, {} failing{unread}\n",
            count(Standing::Proven),
            count(Standing::NotApplicable),
            count(Standing::Yours),
            count(Standing::Failing),
        );
        for (standing, heading) in [
            (Standing::Failing, "To do first"),
            (Standing::Unread, "Could not be read; draft again later"),
            (Standing::Yours, "Yours to check"),
            (Standing::NotApplicable, "Not applicable"),
            (Standing::Proven, "Proven"),
        ] {
            let mut answers = self.all().filter(|it| it.standing == standing).peekable();
            if answers.peek().is_some() {
                let _ = writeln!(out, "{heading}:");
            }
            for answer in answers {
                let name = match answer.position {
                    Some(position) => format!("item {position} ({})", answer.title),
                    None => format!("beside the checklist ({})", answer.title),
                };
                let _ = writeln!(out, "  {name}: {}", plain(&answer.said));
                for line in answer.fix.iter().flat_map(|fix| lines_of(fix)) {
                    let _ = writeln!(out, "    {line}");
                }
            }
        }
        for line in &self.signers {
            let _ = writeln!(out, "{}", plain(line));
        }
        out
    }
}

impl Answer {
    /// The first of its addresses that is a run's, by what says so, as a link.
    pub fn run_link(&self, run_of: impl Fn(&str) -> Option<i64>) -> Option<String> {
        if !self.wants_run_link || self.standing != Standing::Proven {
            return None;
        }
        let found = self.addresses.iter().find_map(|url| Some((run_of(url)?, url)));
        found.map(|(id, url)| link(&format!("run {id}"), Some(url)))
    }
}

fn named(answer: &Answer, position: i64) -> String {
    format!("Item {position} ({})", answer.title)
}

/// A line that asks for something, and explains nothing while the placeholder stands in it.
fn open_line(answer: &Answer, position: i64, placeholder: &str) -> String {
    let name = named(answer, position);
    if answer.standing != Standing::Failing {
        return format!("- {name}: {placeholder}");
    }
    let fix = answer.fix.as_deref().map(on_one_line).filter(|fix| !fix.is_empty());
    let fix = fix.map(|fix| format!(" Fix: {fix}")).unwrap_or_default();
    format!("- {name}: {placeholder}. To do: {}.{fix}", answer.said)
}

/// A fix on one line; blocks to paste become code spans, for a whole line could be a command.
fn on_one_line(fix: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut fence: Option<&str> = None;
    for line in fix.lines() {
        let run = &line[..line.len() - line.trim_start_matches('`').len()];
        match fence {
            Some(open) if line.trim_end() == open => fence = None,
            Some(_) => out.push(code_span(line)),
            None if run.len() >= 3 && line.trim_end() == run => fence = Some(run),
            None => out.push(line.to_owned()),
        }
    }
    one_line(&out.join(" "))
}

fn lines_of(fix: &str) -> Vec<String> {
    let text = plain(fix.trim());
    let marked = text
        .lines()
        .enumerate()
        .map(|(index, line)| format!("{}{line}", if index == 0 { "fix: " } else { "     " }));
    marked.collect()
}

/// What one rule says without a sign-off.
fn judge(rule: &Rule, row: &Row, facts: &Facts) -> Answer {
    let (standing, said) = match (rule.attested, row.status) {
        (Some(Attested::ByReviewer), _) => (Standing::Yours, "only a person can judge it".into()),
        (Some(Attested::NotBuilt), _) => (Standing::Yours, "not machine-checked yet".into()),
        (None, RowStatus::Pass) => (Standing::Proven, evidenced(row, None)),
        (None, RowStatus::NotApplicable) => (Standing::NotApplicable, statement(row, None)),
        // What an administrator excepted fails all the same: whether that is enough, a person says.
        (None, RowStatus::Fail | RowStatus::Warn) if row.overridden.is_some() => {
            (Standing::Yours, format!("fails, but excepted {}", statement(row, None)))
        }
        (None, RowStatus::Fail | RowStatus::Warn) => {
            (Standing::Failing, cut(&one_line(&statement(row, None)), MESSAGE_CHARS))
        }
        (None, RowStatus::Attested) => (Standing::Yours, statement(row, None)),
        (None, RowStatus::Undecided) => held(rule, row, facts),
    };
    let leading = lead(row);
    Answer {
        position: None,
        title: label(&rule.title),
        standing,
        said: one_line(&said),
        fix: (standing == Standing::Failing)
            .then(|| leading.and_then(|finding| finding.fix.clone()))
            .flatten(),
        addresses: row.findings.iter().flat_map(addresses).collect(),
        wants_run_link: false,
    }
}

/// An undecided row: a fault of ours, or a fact that only a sign-off or GitHub itself can give.
fn held(rule: &Rule, row: &Row, facts: &Facts) -> (Standing, String) {
    let needed = || rule.needs.iter().chain(&rule.applies_needs);
    let lacks = |cause| {
        needed().filter_map(|name| facts.missing(name)).any(|missing| missing.cause == cause)
    };
    let unsigned = facts.signoff.missing().map(|missing| missing.reason.as_str());
    let only_signoff = needed()
        .filter_map(|name| facts.missing(name))
        .all(|missing| Some(missing.reason.as_str()) == unsigned);
    match (lacks(Cause::Ours), lacks(Cause::Offline)) {
        (false, true) if only_signoff => {
            (Standing::Yours, "it can be judged once there is a sign-off".to_owned())
        }
        (false, true) => (Standing::Yours, statement(row, None)),
        // A rule that could not be evaluated is a fault of ours as well.
        _ => (Standing::Unread, statement(row, None)),
    }
}

fn addresses(finding: &Finding) -> Vec<String> {
    let urls = finding.evidence.iter().filter_map(|origin| origin.url.as_deref());
    urls.filter(|url| web(url).is_some()).map(str::to_owned).collect()
}

/// An item by all rules that answer for it: what is worst decides, and is what is said.
fn of_item(item: &TemplateItem, mut answers: Vec<Answer>) -> Answer {
    let proven = answers.iter().any(|answer| answer.standing == Standing::Proven);
    let worst = answers.iter().map(|answer| answer.standing).max();
    let standing = match worst {
        Some(Standing::NotApplicable) if proven => Standing::Proven,
        Some(worst) => worst,
        None => Standing::Yours,
    };
    let common = Answer {
        position: Some(item.position),
        title: label(&item.text),
        standing,
        said: "no rule knows this item".to_owned(),
        fix: None,
        addresses: answers.iter().flat_map(|answer| answer.addresses.clone()).collect(),
        wants_run_link: item.wants_run_link,
    };
    if answers.is_empty() {
        return common;
    }
    let title = answers.iter().map(|answer| answer.title.as_str()).collect::<Vec<_>>().join(", ");
    answers.retain(|answer| answer.standing == standing);
    let said = answers.iter().map(|answer| answer.said.as_str()).collect::<Vec<_>>().join("; ");
    let fix = answers.into_iter().find_map(|answer| answer.fix);
    Answer { title, said, fix, ..common }
}

/// Who owns all of what changed, else who owns what: what check 0 will ask of the signer.
fn signers(owners: &Owners) -> Vec<String> {
    const SHOWN: usize = 10;
    let mut lines = Vec::new();
    if !owners.scope.required {
        lines
            .push("No sign-off is required here: no owner remains who has to give one.".to_owned());
    }
    let owned: Vec<_> =
        owners.paths.iter().filter(|path| !path.catch_all && !path.owners.is_empty()).collect();
    let is_in = |owner: &String, all: &[String]| all.iter().any(|o| o.eq_ignore_ascii_case(owner));
    let spoken = |all: &[String]| {
        all.iter()
            .map(|owner| unheard(owner.trim_start_matches('@')))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let Some(first) = owned.first() else {
        let anybody = owners.paths.iter().flat_map(|path| path.owners.clone());
        let mut names: Vec<String> = anybody.collect();
        names.sort();
        names.dedup();
        names.truncate(SHOWN);
        let file = code_span(&owners.file);
        lines.push(match names.is_empty() {
            true => format!("Can sign: anybody whom {file} names."),
            false => format!("Can sign: anybody whom {file} names, e.g. {}.", spoken(&names)),
        });
        return lines;
    };
    let of_all: Vec<String> = first
        .owners
        .iter()
        .filter(|owner| owned.iter().all(|path| is_in(owner, &path.owners)))
        .cloned()
        .collect();
    if !of_all.is_empty() {
        lines.push(format!("Can sign: {}.", cut(&spoken(&of_all), MESSAGE_CHARS)));
        return lines;
    }
    lines.push("Nobody owns everything that changed; its owners sign one by one:".to_owned());
    for path in owned.iter().take(SHOWN) {
        let names = cut(&spoken(&path.owners), VALUE_CHARS);
        lines.push(format!("{}: {names}", code_span(&path.path)));
    }
    if owned.len() > SHOWN {
        lines.push(format!("and {} more paths", owned.len() - SHOWN));
    }
    lines
}

#[cfg(test)]
#[path = "draft_tests.rs"]
mod tests;
