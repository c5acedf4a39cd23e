//! A checked rule.

use super::row::{RowStatus, Severity};
use crate::facts::Facts;
use crate::profile::{Choices, Place};

/// One rule: what must hold of the facts, and what is said where it does not.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its id, e.g. `append-only`.
    pub id: String,
    /// Its number, by which rows are sorted.
    pub number: i64,
    /// Its title.
    pub title: String,
    /// Whether it may block.
    pub severity: Severity,
    /// Ids of the template items that it answers for.
    pub items: Vec<String>,
    /// What it checks, why, and what a reviewer does about it: Markdown.
    pub doc: String,
    /// The facts that its expressions speak of.
    pub needs: Vec<String>,
    /// When it applies; always where there is none.
    pub applies: Option<Applies>,
    /// The facts that `applies` speaks of.
    pub applies_needs: Vec<String>,
    /// What is said where it does not apply.
    pub otherwise: Option<Source>,
    /// What has to hold.
    pub checks: Vec<Check>,
    /// What is said where everything holds.
    pub pass: Option<Source>,
    /// What a person opens to see that everything holds: origins, or lists of them.
    pub evidence: Vec<Source>,
    /// Where nothing is checked: why.
    pub attested: Option<Attested>,
    /// Its examples.
    pub examples: Vec<Example>,
    /// The file that it stands in.
    pub path: String,
}

/// Why nothing is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attested {
    /// Only a person can judge it.
    ByReviewer,
    /// It could be checked and is not yet.
    NotBuilt,
}

/// An expression or a text, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// As it is evaluated.
    pub text: String,
    /// Where it begins.
    pub place: Place,
}

/// When a rule applies.
#[derive(Debug, Clone)]
pub enum Applies {
    /// Where the condition is true.
    When(Source),
    /// Where it is true of some element.
    Any(Each, Source),
}

/// A loop: the list, and the name of its element.
#[derive(Debug, Clone)]
pub struct Each {
    /// What it goes over.
    pub list: Source,
    /// What the element is called.
    pub name: String,
}

/// One thing that has to hold.
#[derive(Debug, Clone)]
pub struct Check {
    /// Where it begins.
    pub place: Place,
    /// The list whose elements are checked one by one.
    pub each: Option<Each>,
    /// Which elements are checked, or whether it is checked at all.
    pub when: Option<Source>,
    /// What has to be true; without it, whatever `when` lets through is a finding.
    pub assert: Option<Source>,
    /// What a finding is.
    pub outcome: Outcome,
    /// What it says.
    pub text: Source,
    /// What to do about it.
    pub fix: Option<Source>,
    /// What it is about: a text.
    pub subject: Option<Source>,
    /// What a person can open: origins, or lists of them.
    pub evidence: Vec<Source>,
}

/// What a finding of a check is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A violation; in an advisory rule, a warning.
    Fail,
    /// Could not be verified.
    Unverified,
    /// Worth knowing.
    Note,
}

impl Outcome {
    /// The key that a rule file gives it by.
    pub fn key(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Unverified => "unverified",
            Self::Note => "note",
        }
    }
}

/// A submission, made up, and what the rule has to say of it.
#[derive(Debug, Clone)]
pub struct Example {
    /// What it shows.
    pub name: String,
    /// Where it begins.
    pub place: Place,
    /// The facts; those that it does not give are missing.
    pub facts: Facts,
    /// The profile's choices.
    pub choices: Choices,
    /// What has to come of it.
    pub expect: Expect,
}

/// What an example expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expect {
    /// The row's status, where `unverified` is a status of its own.
    pub status: Expected,
    /// What the summary, a message or a fix has to hold.
    pub says: Vec<String>,
}

/// The statuses that an example can expect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expected {
    /// Everything holds.
    Pass,
    /// Something does not.
    Fail,
    /// The same in an advisory rule.
    Warn,
    /// Something could not be verified, and nothing was shown to be wrong.
    Unverified,
    /// The rule does not apply.
    NotApplicable,
    /// The reviewer's word is all there is.
    Attested,
}

impl Expected {
    /// All of them, with their words.
    pub const WORDS: [(Self, &'static str); 6] = [
        (Self::Pass, "pass"),
        (Self::Fail, "fail"),
        (Self::Warn, "warn"),
        (Self::Unverified, "unverified"),
        (Self::NotApplicable, "not_applicable"),
        (Self::Attested, "attested"),
    ];

    /// Its word.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(status, _)| *status == self).map_or("", |(_, word)| word)
    }

    /// What an example calls a row's status; `None` for undecided rows, which no example expects.
    pub fn of(status: RowStatus, verified: bool) -> Option<Self> {
        Some(match status {
            RowStatus::Fail | RowStatus::Warn if !verified => Self::Unverified,
            RowStatus::Pass => Self::Pass,
            RowStatus::Fail => Self::Fail,
            RowStatus::Warn => Self::Warn,
            RowStatus::NotApplicable => Self::NotApplicable,
            RowStatus::Attested => Self::Attested,
            RowStatus::Undecided => return None,
        })
    }
}

impl Rule {
    /// The statuses that it can come to, undecided aside, each of which needs an example.
    pub fn reachable(&self) -> Vec<Expected> {
        if self.attested.is_some() {
            return vec![Expected::Attested];
        }
        let has = |outcome| self.checks.iter().any(|check| check.outcome == outcome);
        let mut all = vec![Expected::Pass];
        if has(Outcome::Fail) {
            all.push(match self.severity {
                Severity::Blocking => Expected::Fail,
                Severity::Advisory => Expected::Warn,
            });
        }
        if has(Outcome::Unverified) || !self.needs.is_empty() {
            all.push(Expected::Unverified);
        }
        if self.applies.is_some() {
            all.push(Expected::NotApplicable);
        }
        all
    }
}
