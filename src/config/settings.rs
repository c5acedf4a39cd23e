//! Names and values as they were written, before they mean anything.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use secrecy::{ExposeSecret, SecretString};
use toml::Value;
use url::Url;

use super::{ConfigError, ConfigErrors, FILE, Place, Repository};
use crate::limits::CONFIG_BYTES;

const PREFIX: &str = "COUNTERSIGN_";

/// Every setting but the repositories, by the name that the file uses, and whether it is a secret.
const NAMES: &[(&str, bool)] = &[
    ("listen", false),
    ("public_url", false),
    ("workers", false),
    ("database_url", true),
    ("rules", false),
    ("now", false),
    ("github.api_url", false),
    ("github.app_id", false),
    ("github.private_key", true),
    ("webhook.secret", true),
    ("webhook.secret_previous", true),
    ("hub.url", false),
    ("hub.token", true),
    ("registry.url", false),
    ("pages.url", false),
    ("pages.token", true),
    ("log.filter", false),
    ("log.format", false),
];

/// Variables with our prefix that are no settings: the one that names the file, those of the tests,
/// and those that Kubernetes sets in every pod for a Service that is called `countersign`.
fn is_foreign(variable: &str) -> bool {
    let name = variable.strip_prefix(PREFIX).unwrap_or(variable);
    name == "CONFIG"
        || ["TEST_", "SERVICE_", "PORT_"].iter().any(|prefix| name.starts_with(prefix))
        || name == "PORT"
}

/// The environment variable of a setting.
pub(super) fn variable(name: &str) -> String {
    format!("{PREFIX}{}", name.replace('.', "_").to_ascii_uppercase())
}

#[derive(Debug)]
struct Setting {
    value: String,
    place: Place,
}

/// What was written, and what was found wrong so far.
#[derive(Debug)]
pub(super) struct Settings {
    values: BTreeMap<&'static str, Setting>,
    repositories: Vec<Repository>,
    folder: PathBuf,
    /// The only settings that are looked at; all of them where `None`.
    only: Option<&'static [&'static str]>,
    errors: Vec<ConfigError>,
}

/// The file that is read: the one that was named, else the usual one where it is there.
pub(super) fn file(path: Option<&Path>) -> Option<PathBuf> {
    path.map(Path::to_owned).or_else(|| Some(FILE.into()).filter(|path: &PathBuf| path.exists()))
}

impl Settings {
    pub(super) fn read(
        path: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let mut settings = Self::empty(path);
        if let Some(path) = file(path) {
            settings.read_file(&path);
        }
        settings.read_environment(environment);
        settings
    }

    /// Reads which repositories are served by which profiles, and nothing else.
    pub(super) fn read_served(
        path: &Path,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let mut settings = Self { only: Some(&["rules"]), ..Self::empty(Some(path)) };
        settings.read_file(path);
        let rules = variable("rules");
        settings.read_environment(environment.into_iter().filter(|(name, _)| *name == rules));
        settings
    }

    fn empty(path: Option<&Path>) -> Self {
        Self {
            values: BTreeMap::new(),
            repositories: Vec::new(),
            folder: path.and_then(Path::parent).map(Path::to_owned).unwrap_or_default(),
            only: None,
            errors: Vec::new(),
        }
    }

    fn read_file(&mut self, path: &Path) {
        let Some(text) = self.content(path, None) else { return };
        match text.parse::<toml::Table>() {
            Ok(table) => self.read_table("", table, path),
            Err(error) => self.errors.push(ConfigError::NotToml {
                path: path.to_owned(),
                reason: error.to_string().trim_end().to_owned(),
            }),
        }
    }

    fn read_table(&mut self, above: &str, table: toml::Table, path: &Path) {
        for (key, value) in table {
            let name = if above.is_empty() { key } else { format!("{above}.{key}") };
            match value {
                Value::Table(inner) => self.read_table(&name, inner, path),
                Value::Array(entries) if name == "repository" => {
                    for (n, entry) in entries.into_iter().enumerate() {
                        self.read_repository(n + 1, entry, path);
                    }
                }
                Value::String(text) => self.set(&name, text, Place::File(path.to_owned())),
                Value::Integer(number) => {
                    self.set(&name, number.to_string(), Place::File(path.to_owned()));
                }
                Value::Datetime(time) => {
                    self.set(&name, time.to_string(), Place::File(path.to_owned()));
                }
                _ if self.is_passed_over(&name) => {}
                _ => {
                    self.invalid(&name, Place::File(path.to_owned()), "has the wrong type", "text")
                }
            }
        }
    }

    fn read_environment(&mut self, environment: impl IntoIterator<Item = (String, String)>) {
        let mut variables: BTreeMap<String, String> = environment
            .into_iter()
            .filter(|(name, value)| name.starts_with(PREFIX) && !value.is_empty())
            .filter(|(name, _)| !is_foreign(name))
            .collect();
        for (name, _) in NAMES {
            for suffix in ["", "_file"] {
                let variable = variable(&format!("{name}{suffix}"));
                if let Some(value) = variables.remove(&variable) {
                    self.set(&format!("{name}{suffix}"), value, Place::Variable(variable));
                }
            }
        }
        for (name, _) in variables {
            let known: Vec<String> = NAMES.iter().map(|(name, _)| variable(name)).collect();
            let nearest = nearest(&name, known.iter().map(String::as_str));
            let place = Place::Variable(name.clone());
            self.errors.push(ConfigError::Unknown { name, place, nearest });
        }
    }

    /// Notes a value. The environment comes after the file and wins; two values from one of them clash.
    fn set(&mut self, written: &str, value: String, place: Place) {
        if self.is_passed_over(written) {
            return;
        }
        let plain = NAMES.iter().find(|(name, _)| *name == written);
        let in_a_file = || {
            let name = written.strip_suffix("_file")?;
            NAMES.iter().find(|(known, secret)| *secret && *known == name)
        };
        let (name, value) = if let Some((name, _)) = plain {
            (*name, value)
        } else if let Some((name, _)) = in_a_file() {
            let Some(value) = self.content(&self.resolved(&value, &place), Some(&place)) else {
                return;
            };
            // Editors end a file with a newline; a secret does not.
            (*name, value.trim_end().to_owned())
        } else {
            // Who meant the file of a secret is told the name of the file's setting.
            let nearest = match written.strip_suffix("_file") {
                Some(stem) => {
                    let secrets = NAMES.iter().filter(|(_, secret)| *secret).map(|(name, _)| *name);
                    nearest(stem, secrets).map(|name| format!("{name}_file"))
                }
                None => nearest(written, NAMES.iter().map(|(name, _)| *name)),
            };
            self.errors.push(ConfigError::Unknown { name: written.to_owned(), place, nearest });
            return;
        };
        let same_kind =
            |old: &Place| matches!(old, Place::File(_)) == matches!(place, Place::File(_));
        if let Some(old) = self.values.get(name)
            && same_kind(&old.place)
        {
            let (name, first) = (name.to_owned(), old.place.clone());
            self.errors.push(ConfigError::Twice { name, first, second: place });
            return;
        }
        self.values.insert(name, Setting { value, place });
    }

    fn is_passed_over(&self, name: &str) -> bool {
        self.only.is_some_and(|only| !only.contains(&name))
    }

    /// The text of a file, if it can be had.
    fn content(&mut self, path: &Path, place: Option<&Place>) -> Option<String> {
        let reason = match std::fs::metadata(path) {
            Ok(meta) if meta.len() > CONFIG_BYTES => {
                format!("it has more than {CONFIG_BYTES} bytes")
            }
            Ok(_) => match std::fs::read_to_string(path) {
                Ok(text) => return Some(text),
                Err(error) => error.to_string(),
            },
            Err(error) => error.to_string(),
        };
        let (path, place) = (path.to_owned(), place.cloned());
        self.errors.push(ConfigError::Unreadable { path, place, reason });
        None
    }

    /// Paths in the file are relative to the file, those in variables to the working directory.
    fn resolved(&self, path: &str, place: &Place) -> PathBuf {
        match place {
            Place::File(_) => self.folder.join(path),
            Place::Variable(_) => path.into(),
        }
    }

    fn invalid(&mut self, name: &str, place: Place, problem: &str, expected: &str) {
        let (name, problem) = (name.to_owned(), problem.to_owned());
        let expected = expected.to_owned();
        self.errors.push(ConfigError::Invalid { name, place, problem, expected });
    }

    fn read_repository(&mut self, n: usize, entry: Value, path: &Path) {
        let at = format!("repository {n}");
        let place = || Place::File(path.to_owned());
        let Value::Table(mut table) = entry else {
            return self.invalid(
                &at,
                place(),
                "is no table",
                "[[repository]] with name and profile",
            );
        };
        let mut field = |key| match table.remove(key) {
            Some(Value::String(text)) if !text.is_empty() => Some(text),
            _ => None,
        };
        let (name, profile) = (field("name"), field("profile"));
        for (key, _) in table {
            let (name, nearest) = (format!("{at}: {key}"), nearest(&key, ["name", "profile"]));
            self.errors.push(ConfigError::Unknown { name, place: place(), nearest });
        }
        let (Some(name), Some(profile)) = (name, profile) else {
            return self.invalid(&at, place(), "is incomplete", "the texts `name` and `profile`");
        };
        match name.parse() {
            Ok(name) => self.repositories.push(Repository { name, profile }),
            Err(problem) => {
                self.invalid(&at, place(), &format!("has a bad name: {problem}"), "owner/name");
            }
        }
    }

    /// The folder of the configuration file; the working directory where there is none.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        debug_assert!(NAMES.iter().any(|(known, _)| *known == name), "{name} is not in the table");
        self.values.get(name).map(|setting| setting.value.clone())
    }

    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        self.values.get(name).map(|setting| self.resolved(&setting.value, &setting.place))
    }

    pub(super) fn parsed<T: FromStr>(&mut self, name: &str, expected: &str) -> Option<T> {
        let text = self.text(name)?;
        let value = text.parse().ok();
        if value.is_none() {
            self.refuse(name, &format!("is `{text}`"), expected);
        }
        value
    }

    pub(super) fn within<T: PartialOrd + Copy + Display>(
        &mut self,
        name: &str,
        value: T,
        range: RangeInclusive<T>,
    ) -> Option<T> {
        if range.contains(&value) {
            return Some(value);
        }
        let expected = format!("a number from {} to {}", range.start(), range.end());
        self.refuse(name, &format!("is {value}"), &expected);
        None
    }

    pub(super) fn one_of<T: Copy>(&mut self, name: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(name)?;
        let value = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if value.is_none() {
            let words: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            self.refuse(name, &format!("is `{text}`"), &words.join(" or "));
        }
        value
    }

    pub(super) fn url(&mut self, name: &str) -> Option<Url> {
        let text = self.text(name)?;
        match Url::parse(&text) {
            Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Some(url),
            _ => {
                self.refuse(name, &format!("is `{text}`"), "an http:// or https:// address");
                None
            }
        }
    }

    pub(super) fn secret(&mut self, name: &str) -> Option<SecretString> {
        let text = self.text(name)?;
        if text.trim().is_empty() {
            // An empty key would make every signature one that anybody can compute.
            self.refuse(name, "is empty", "a secret");
            return None;
        }
        Some(text.into())
    }

    /// A PEM. Where it came through a variable its line breaks may be spelt `\n`.
    pub(super) fn private_key(&mut self, name: &str) -> Option<SecretString> {
        let text = self.secret(name)?.expose_secret().replace("\\n", "\n");
        if !text.trim_start().starts_with("-----BEGIN ") {
            self.refuse(
                name,
                "is no PEM",
                "the text that begins with `-----BEGIN`, or set it as …_FILE",
            );
            return None;
        }
        Some(text.into())
    }

    /// An SQLite path that the file gives is relative to the file.
    pub(super) fn beside_the_file(&self, name: &str, address: SecretString) -> SecretString {
        match (self.values.get(name), address.expose_secret().strip_prefix("sqlite://")) {
            (Some(setting), Some(path)) if !path.is_empty() => {
                format!("sqlite://{}", self.resolved(path, &setting.place).display()).into()
            }
            _ => address,
        }
    }

    pub(super) fn repositories(&mut self) -> Vec<Repository> {
        std::mem::take(&mut self.repositories)
    }

    fn refuse(&mut self, name: &str, problem: &str, expected: &str) {
        if let Some(setting) = self.values.get(name) {
            let place = setting.place.clone();
            self.invalid(name, place, problem, expected);
        }
    }

    /// The result, unless something was wrong.
    pub(super) fn finish<T>(self, result: T) -> Result<T, ConfigErrors> {
        if self.errors.is_empty() { Ok(result) } else { Err(ConfigErrors(self.errors)) }
    }
}

fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate.to_owned())
}
