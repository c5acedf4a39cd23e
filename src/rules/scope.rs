//! What an expression may speak of where it stands, and what can be wrong with it.

use std::collections::{BTreeMap, BTreeSet};

use super::syntax::{self, present_where};
use super::types::Type;
use crate::profile::nearest;

/// What an expression may speak of, and what is known about it where it stands.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    /// Types by name.
    pub(super) names: BTreeMap<String, Type>,
    /// Paths (`sweep.chosen`) that are known not to be `none` here.
    pub(super) present: BTreeSet<String>,
}

impl Scope {
    /// The same scope where a condition is known to be true, or false.
    pub(super) fn knowing(&self, condition: &str, outcome: bool) -> Self {
        let mut scope = self.clone();
        if let Ok(expr) = syntax::expression(condition) {
            scope.present.extend(present_where(&expr, outcome));
        }
        scope
    }

    /// The same scope with one name more.
    pub(super) fn with(&self, name: &str, of: Type) -> Self {
        let mut scope = self.clone();
        scope.names.insert(name.to_owned(), of);
        scope.present.retain(|path| path.split('.').next() != Some(name));
        scope
    }
}

/// One mistake in an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mistake {
    /// Byte offset in the expression or text.
    pub(super) offset: usize,
    /// What is wrong.
    pub(super) message: String,
    /// The nearest valid name.
    pub(super) suggestion: Option<String>,
    /// What to do about it.
    pub(super) help: Option<String>,
}

impl Mistake {
    pub(super) fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, message: message.into(), suggestion: None, help: None }
    }

    pub(super) fn suggesting<'a>(
        mut self,
        wrong: &str,
        valid: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        self.suggestion = nearest(wrong, valid.clone());
        if self.suggestion.is_none() {
            let names: Vec<_> = valid.map(|name| format!("`{name}`")).collect();
            self.help = (!names.is_empty()).then(|| format!("there is {}", names.join(", ")));
        }
        self
    }

    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
