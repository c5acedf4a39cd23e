//! Whether a model may be submitted in a scenario and a precision on a day.

use super::{Arm, Models, Part};

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Query<'q> {
    /// The repository's own name of the model.
    pub prefix: &'q str,
    /// `8k1k` and its like, or the name of a scenario type.
    pub scenario: &'q str,
    /// The precision as configurations write it.
    pub precision: &'q str,
    /// Whether it decodes speculatively.
    pub speculative: bool,
    /// `YYYY-MM-DD`, UTC.
    pub date: &'q str,
}

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It may be submitted.
    Active,
    /// It may be submitted, until a day that has not passed.
    Scheduled,
    /// It may not be submitted.
    Deprecated,
    /// It may not, but for a condition that is not held against anybody.
    Conditional,
    /// The document does not name it.
    Unlisted,
    /// The document speaks of it in a form that is not known.
    Unknown,
}

/// The answer and the statement that decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The answer.
    pub state: State,
    /// The last day on which it may be submitted, `YYYY-MM-DD`.
    pub last_day: Option<String>,
    /// 1-based line of the statement; 0 where there is none.
    pub line: i64,
    /// The statement.
    pub text: String,
}

impl Part {
    fn touches(&self, query: &Query<'_>) -> bool {
        let has = |list: &[String], word: &str| {
            list.is_empty() || list.iter().any(|known| known.eq_ignore_ascii_case(word))
        };
        has(&self.scenarios, query.scenario)
            && has(&self.precisions, query.precision)
            && (self.arm.is_none() || !query.speculative)
    }

    /// What it means once it is in force.
    fn state(&self) -> State {
        match (self.arm, self.limited) {
            (Some(Arm::Conditional), _) => State::Conditional,
            (Some(Arm::Never), _) | (None, false) => State::Deprecated,
            (None, true) => State::Unknown,
        }
    }
}

impl Models {
    /// Judges by the document. Of several statements the one that forbids counts, then one that is not
    /// understood, then one that will forbid.
    pub fn judge(&self, query: &Query<'_>) -> Judgement {
        let mut all = self.statements(query);
        all.sort_by_key(|judgement| match judgement.state {
            State::Deprecated => 0,
            State::Unknown => 1,
            State::Scheduled => 2,
            State::Conditional => 3,
            State::Unlisted => 4,
            State::Active => 5,
        });
        all.into_iter().next().unwrap_or(Judgement {
            state: State::Unlisted,
            last_day: None,
            line: 0,
            text: String::new(),
        })
    }

    fn statements(&self, query: &Query<'_>) -> Vec<Judgement> {
        let mut all = Vec::new();
        for everywhere in self.scenarios.iter().filter(|one| one.scenario == query.scenario) {
            let begun = everywhere.since.as_deref().is_none_or(|since| query.date >= since);
            if begun {
                all.push(Judgement {
                    state: State::Deprecated,
                    last_day: None,
                    line: everywhere.line,
                    text: everywhere.text.clone(),
                });
            }
        }
        for notice in self.notices.iter().filter(|notice| notice.prefix == query.prefix) {
            let over = query.date > notice.last_day.as_str();
            let state = match &notice.part {
                None => State::Unknown,
                Some(part) if !part.touches(query) => continue,
                Some(part) => match (part.state(), over) {
                    (State::Deprecated, false) => State::Scheduled,
                    (state, _) => state,
                },
            };
            all.push(Judgement {
                state,
                last_day: Some(notice.last_day.clone()),
                line: notice.line,
                text: notice.text.clone(),
            });
        }
        all.extend(self.row(query));
        all
    }

    fn row(&self, query: &Query<'_>) -> Option<Judgement> {
        let model = self.rows.get(query.prefix)?;
        let judged =
            |state| Judgement { state, last_day: None, line: model.line, text: model.text.clone() };
        if let Some(since) = &model.retired {
            let begun = since.as_deref().is_none_or(|since| query.date >= since);
            return Some(judged(if begun { State::Deprecated } else { State::Scheduled }));
        }
        let active = model.active.iter().any(|scenario| scenario == query.scenario);
        let allowed = model.precisions.is_empty()
            || model.precisions.iter().any(|known| known.eq_ignore_ascii_case(query.precision));
        if active && !allowed {
            return Some(judged(State::Deprecated));
        }
        let hit = model.deprecated.iter().filter(|part| part.touches(query));
        // A scenario that is active is not deprecated by being named for an earlier variant of the model.
        let hit = hit.filter(|part| !active || part.arm.is_some() || part.scenarios.is_empty());
        match hit.map(Part::state).min_by_key(|state| *state != State::Deprecated) {
            Some(state) => Some(judged(state)),
            None if active => Some(judged(State::Active)),
            None => Some(judged(State::Unlisted)),
        }
    }
}
