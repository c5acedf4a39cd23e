//! One mistake in a rule or profile file: where, what, and what was probably meant.

use std::fmt;

use super::document::Place;

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// Path inside the profile's folder.
    pub path: String,
    /// 1-based line.
    pub line: usize,
    /// 1-based column, in characters.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// The nearest valid name.
    pub suggestion: Option<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A mistake at a place.
    pub fn new(path: &str, place: Place, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line: place.line,
            column: place.column,
            message: message.into(),
            suggestion: None,
            help: None,
        }
    }

    /// The same with the valid name that is nearest to a wrong one; without one near, the help lists
    /// the valid names.
    #[must_use]
    pub fn suggesting<'a>(
        mut self,
        wrong: &str,
        valid: impl IntoIterator<Item = &'a str> + Clone,
    ) -> Self {
        self.suggestion = nearest(wrong, valid.clone());
        if self.suggestion.is_none() && self.help.is_none() {
            let names: Vec<_> = valid.into_iter().map(|name| format!("`{name}`")).collect();
            if !names.is_empty() {
                self.help = Some(format!("there is {}", names.join(", ")));
            }
        }
        self
    }

    /// The same with what to do about it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// A mistake that the YAML reader or a typed reading of it found.
    pub(super) fn of_yaml(path: &str, error: &serde_yaml::Error) -> Self {
        let inner = error.without_snippet();
        let place = error.location().map_or(Place::START, |location| Place {
            line: usize::try_from(location.line()).unwrap_or(1).max(1),
            column: usize::try_from(location.column()).unwrap_or(1).max(1),
            offset: 0,
        });
        if let serde_yaml::Error::SerdeUnknownField { field, expected, .. } = inner {
            return Self::new(path, place, format!("unknown key `{field}`"))
                .suggesting(field, expected.iter().copied());
        }
        let text = inner.to_string();
        let text = text.lines().next().unwrap_or_default();
        // The location stands in front of the message already.
        let text = text.split_once(" at line ").map_or(text, |(message, _)| message);
        Self::new(path, place, text)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.path, self.line, self.column, self.message)?;
        if let Some(name) = &self.suggestion {
            write!(f, "; did you mean `{name}`?")?;
        }
        if let Some(help) = &self.help {
            write!(f, " ({help})")?;
        }
        Ok(())
    }
}

/// The valid name nearest to a wrong one, where one is near enough to have been meant.
pub fn nearest<'a>(wrong: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let limit = (wrong.chars().count() / 3).max(1);
    valid
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(wrong, name), name))
        .filter(|(distance, name)| *distance <= limit || name.eq_ignore_ascii_case(wrong))
        .min()
        .map(|(_, name)| name.to_owned())
}
