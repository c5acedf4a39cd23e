//! Which checks of other apps count.

use globset::{Glob, GlobMatcher};
use serde::Deserialize;

use super::{Settings, Strictness};

/// Which check runs and commit statuses on the assessed commit count, and how (`ci:` of
/// `profile.yaml`). The globs speak of names; `*` crosses slashes, as names are no paths.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CiSettings {
    /// Checks that do not count.
    pub ignore: Vec<String>,
    /// Checks that have to be there: each glob is matched by at least one. What is required is not
    /// ignored.
    pub required: Vec<String>,
    /// The states in which a check that has ended passes, in GitHub's words.
    pub passing: Vec<String>,
    /// What it means where nothing ran at all; rules see it as `profile.no_ci`.
    pub none: Strictness,
}

impl Default for CiSettings {
    fn default() -> Self {
        // As GitHub reads a required check.
        let passing = ["success", "neutral", "skipped"].map(str::to_owned).into();
        Self { ignore: Vec::new(), required: Vec::new(), passing, none: Strictness::Block }
    }
}

/// The globs of [`CiSettings`], compiled.
#[derive(Debug, Clone, Default)]
pub struct CiChecks {
    ignore: Vec<GlobMatcher>,
    required: Vec<GlobMatcher>,
}

impl CiChecks {
    /// Compiles them.
    ///
    /// # Errors
    /// The first glob that is none: its list, its index and why.
    pub(super) fn new(settings: &Settings) -> Result<Self, (&'static str, usize, String)> {
        let compiled = |list: &'static str, globs: &[String]| {
            let compile = |(index, glob): (usize, &String)| match Glob::new(glob) {
                Ok(glob) => Ok(glob.compile_matcher()),
                Err(error) => Err((list, index, error.to_string())),
            };
            globs.iter().enumerate().map(compile).collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            ignore: compiled("ignore", &settings.ci.ignore)?,
            required: compiled("required", &settings.ci.required)?,
        })
    }

    /// Whether a check has to be there.
    pub fn is_required(&self, name: &str) -> bool {
        self.required.iter().any(|glob| glob.is_match(name))
    }

    /// Whether a check does not count.
    pub fn is_ignored(&self, name: &str) -> bool {
        !self.is_required(name) && self.ignore.iter().any(|glob| glob.is_match(name))
    }

    /// The required globs, in the profile's order, that none of the names matches.
    pub fn absent<'n>(&self, names: impl Iterator<Item = &'n str> + Clone) -> Vec<String> {
        let lacking = self.required.iter().filter(|glob| !names.clone().any(|n| glob.is_match(n)));
        lacking.map(|glob| glob.glob().to_string()).collect()
    }
}
