//! Which profile a subcommand works with: the one that `--rules` names, else the one by which the
//! configuration serves the repository, else the default.

use std::path::{Path, PathBuf};

use super::rules::{LoadError, load, load_named, load_profile};
use crate::config::{Config, Served};
use crate::profile::{DEFAULT_PROFILE, Profile, builtin};
use crate::rules::RuleSet;
use crate::sources::RepoName;

/// Arguments of every subcommand that works with a profile.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ProfileArgs {
    /// A profile's folder, or the name of a built-in profile (`rules list` names them). Without it the
    /// configuration says which profile serves the repository.
    #[arg(long, value_name = "DIR|NAME")]
    pub rules: Option<PathBuf>,
    /// The configuration whose `[[repository]]` entries say which profile serves which repository
    /// [default: countersign.toml, where it exists]
    #[arg(long, value_name = "FILE", env = "COUNTERSIGN_CONFIG")]
    pub config: Option<PathBuf>,
}

/// Where a profile comes from.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// What `--rules` names; the default where `None`.
    Given(Option<PathBuf>),
    /// A profile of the configuration, in its folder of profiles or built in.
    Configured { profile: String, dir: Option<PathBuf> },
}

impl Place {
    /// The rules that lie there.
    ///
    /// # Errors
    /// What could not be read, or every mistake in the files.
    pub(super) fn load(&self) -> Result<RuleSet, Box<LoadError>> {
        match self {
            Self::Given(place) => load(place.as_deref()),
            Self::Configured { profile, dir } => load_named(profile, dir.as_deref()),
        }
    }

    /// The profile alone.
    ///
    /// # Errors
    /// As [`Place::load`].
    pub(super) fn profile(&self) -> Result<Profile, Box<LoadError>> {
        match self {
            Self::Given(place) => load_profile(place.as_deref()),
            Self::Configured { .. } => self.load().map(|rules| rules.profile),
        }
    }
}

/// What a record says of the rules that it was made with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recorded<'a> {
    pub(super) profile: Option<&'a str>,
    pub(super) digest: &'a str,
}

impl ProfileArgs {
    /// The place of the profile of a repository. Says on standard error where there is a configuration
    /// that does not speak of it.
    ///
    /// # Errors
    /// What is wrong with the configuration.
    pub(super) fn place(&self, repo: &RepoName) -> Result<Place, String> {
        if let Some(given) = &self.rules {
            return self.given(given);
        }
        let Some(served) = self.served()? else { return Ok(Place::Given(None)) };
        let Some(profile) = served.profile_of(repo) else {
            super::to_stderr(&format!(
                "note: {} serves no {repo}; the profile `{DEFAULT_PROFILE}` is used (--rules names another)",
                served.file.display()
            ));
            return Ok(Place::Given(None));
        };
        Ok(Place::Configured { profile: profile.to_owned(), dir: served.rules.clone() })
    }

    /// The rules for a repository; for a record those that it was made with, where they are built in.
    ///
    /// # Errors
    /// A text for standard error.
    pub(super) fn rules_for(
        &self,
        repo: &RepoName,
        recorded: Option<Recorded<'_>>,
    ) -> Result<RuleSet, String> {
        let built_in =
            recorded.and_then(|recorded| recorded.profile).filter(|_| self.rules.is_none());
        if let Some(name) = built_in.filter(|name| builtin(name).is_some())
            && let Ok(rules) = load_named(name, None)
            && recorded.is_some_and(|recorded| recorded.digest == rules.digest)
        {
            return Ok(rules);
        }
        let rules = self.place(repo)?.load().map_err(|error| error.to_string())?;
        let made_with = recorded.and_then(|recorded| recorded.profile);
        match made_with.filter(|name| self.rules.is_none() && *name != rules.profile.settings.name)
        {
            None => Ok(rules),
            Some(name) => Err(format!(
                "the record was made with the profile `{name}`, and here {repo} is verified by `{}`; \
                 give the folder of `{name}` with --rules",
                rules.profile.settings.name
            )),
        }
    }

    /// What `--rules` says: a folder, the name of a built-in profile, or else the name of one that the
    /// configuration serves, as the last line of a verdict names it.
    fn given(&self, given: &Path) -> Result<Place, String> {
        let here = || Place::Given(Some(given.to_owned()));
        let Some(name) = given.to_str().filter(|name| !given.exists() && builtin(name).is_none())
        else {
            return Ok(here());
        };
        let Some(served) = self.served()? else { return Ok(here()) };
        let is_served = served.repositories.iter().any(|entry| entry.profile == name);
        Ok(match is_served {
            true => Place::Configured { profile: name.to_owned(), dir: served.rules.clone() },
            false => here(),
        })
    }

    /// The place of the profile where no repository is known: that of all that are served, if it is one.
    ///
    /// # Errors
    /// What is wrong with the configuration, or that it has several profiles.
    pub(super) fn only_place(&self) -> Result<Place, String> {
        if let Some(given) = &self.rules {
            return self.given(given);
        }
        let Some(served) = self.served()? else { return Ok(Place::Given(None)) };
        let mut profiles: Vec<&str> =
            served.repositories.iter().map(|entry| entry.profile.as_str()).collect();
        profiles.sort_unstable();
        profiles.dedup();
        match profiles.as_slice() {
            [] => Ok(Place::Given(None)),
            [profile] => {
                Ok(Place::Configured { profile: (*profile).to_owned(), dir: served.rules.clone() })
            }
            several => Err(format!(
                "{} serves repositories by several profiles ({}); say with --rules which one is meant",
                served.file.display(),
                several.join(", ")
            )),
        }
    }

    fn served(&self) -> Result<Option<Served>, String> {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let file: Option<&Path> =
            self.config.as_deref().filter(|file| !file.as_os_str().is_empty());
        Config::served(file, variables).map_err(|error| error.to_string())
    }
}
