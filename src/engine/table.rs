//! The table of log formats: texts, prefixes, names. Everything that is an engine's own word stands in it.

use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use super::log::Kind;

/// Why a table cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// It is no YAML, or does not have the fields.
    #[error("the table of log formats: {0}")]
    Yaml(String),
    /// A pattern is none.
    #[error("the table of log formats: the pattern `{pattern}`: {message}")]
    Pattern {
        /// The pattern as given.
        pattern: String,
        /// What is wrong with it.
        message: String,
    },
    /// The texts cannot be searched for.
    #[error("the table of log formats: the literals: {0}")]
    Literals(String),
}

/// The table, ready for use.
#[derive(Debug)]
pub struct Table {
    pub(super) literals: Vec<Literal>,
    pub(super) search: AhoCorasick,
    pub(super) prefixes: Vec<Prefix>,
    pub(super) orphans: Regex,
    pub(super) commands: Commands,
    pub(super) engines: BTreeMap<String, Engine>,
    pub(super) requests: Paths,
    pub(super) secrets: Secrets,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    literals: Vec<Literal>,
    prefixes: Vec<WrittenPrefix>,
    orphan_colours: String,
    commands: Commands,
    engines: BTreeMap<String, Engine>,
    requests: Paths,
    secrets: Secrets,
}

/// A text and who reads the line that holds it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Literal {
    pub(super) text: String,
    pub(super) read: Reader,
    #[serde(default)]
    pub(super) engine: Option<String>,
    #[serde(default)]
    pub(super) shape: Option<Shape>,
    #[serde(default)]
    pub(super) kind: Option<Kind>,
    /// The dump holds some of the arguments only, even where it is whole.
    #[serde(default)]
    pub(super) partial: bool,
}

/// The readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reader {
    Dump,
    EngineLine,
    Ready,
    Version,
    Banner,
    SglangLoad,
    SglangDecode,
    SglangVerify,
    VllmMetrics,
    VllmMetricsV0,
    Architecture,
    TrtllmDraftLen,
    AtomModel,
    AtomStats,
    AtomForced,
    Access,
    Routed,
    EnvBlock,
    EnvLine,
    Export,
    Command,
}

/// How a dump is bracketed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Shape {
    /// `Name(key=value, …)`.
    Call,
    /// `{'key': value, …}`.
    Dict,
    /// `key=value, …` up to the end of the line.
    Open,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPrefix {
    role: Role,
    pattern: String,
}

/// What a prefix is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Role {
    /// It stands on every physical line.
    Outer,
    /// It begins a record.
    Record,
}

/// A prefix of lines.
#[derive(Debug)]
pub(super) struct Prefix {
    pub(super) role: Role,
    pub(super) pattern: Regex,
}

/// How command lines are known.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Commands {
    pub(super) markers: Vec<String>,
    pub(super) before: Vec<String>,
    pub(super) starts: Vec<Start>,
    pub(super) variables: Vec<String>,
}

/// The words by which an engine is started.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Start {
    pub(super) words: Vec<String>,
    pub(super) engine: String,
    /// The argument that the first word without a flag is.
    #[serde(default)]
    pub(super) positional: Option<String>,
}

/// One engine's names.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Engine {
    #[serde(default)]
    pub(super) plugin: bool,
    #[serde(default)]
    pub(super) per_rank: Vec<String>,
    #[serde(default)]
    pub(super) instance: Vec<String>,
    #[serde(default)]
    pub(super) role: Option<Deciding>,
    #[serde(default)]
    pub(super) synonyms: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) none_is_checkpoint: Vec<String>,
    pub(super) speculation: Speculation,
}

/// Which role decides where roles of a disaggregated server differ.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Deciding {
    pub(super) key: String,
    pub(super) decides: String,
}

/// Where an engine says how it speculates; names may lead into a value by dots.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Speculation {
    pub(super) algorithm: Vec<String>,
    /// Names that the engine turns into others.
    #[serde(default)]
    pub(super) algorithms: BTreeMap<String, String>,
    pub(super) draft_model: Vec<String>,
    pub(super) draft_tokens: Vec<DraftTokens>,
    pub(super) draft_quantization: Vec<String>,
    #[serde(default)]
    pub(super) explicit: Option<String>,
    #[serde(default)]
    pub(super) explicit_none: Option<String>,
    /// Nothing is speculated where all of these that are printed are none; by default the algorithm's.
    #[serde(default)]
    pub(super) off: Vec<String>,
}

/// One way of saying how many tokens are drafted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DraftTokens {
    pub(super) key: String,
    /// What the value counts too many.
    pub(super) less: i64,
    /// In such launches only.
    #[serde(default)]
    pub(super) kind: Option<Kind>,
    /// Only where these have these values.
    #[serde(default, rename = "where")]
    pub(super) conditions: BTreeMap<String, Value>,
    /// Only where this is set and not none.
    #[serde(default)]
    pub(super) where_set: Option<String>,
}

/// Endpoints.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paths {
    pub(super) chat: Vec<String>,
    pub(super) completions: Vec<String>,
}

/// What is masked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Secrets {
    pub(super) parts: Vec<String>,
    pub(super) endings: Vec<String>,
    pub(super) names: Vec<String>,
    pub(super) prefixes: Vec<String>,
}

impl Table {
    /// Reads a table.
    ///
    /// # Errors
    /// The text is no such table, or one of its patterns is none.
    pub fn from_yaml(text: &str) -> Result<Self, TableError> {
        let written = serde_yaml::from_str(text);
        Self::compile(written.map_err(|error| TableError::Yaml(error.to_string()))?)
    }

    /// The same of a table that was read.
    ///
    /// # Errors
    /// As [`Table::from_yaml`].
    pub fn from_value(value: &serde_json::Value) -> Result<Self, TableError> {
        let written = Written::deserialize(value);
        Self::compile(written.map_err(|error| TableError::Yaml(error.to_string()))?)
    }

    fn compile(written: Written) -> Result<Self, TableError> {
        let mut literals = written.literals;
        for start in &written.commands.starts {
            literals.push(Literal {
                text: start.words.join(" "),
                read: Reader::Command,
                engine: Some(start.engine.clone()),
                shape: None,
                kind: Some(Kind::Requested),
                partial: false,
            });
        }
        let search = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(literals.iter().map(|literal| literal.text.as_bytes()))
            .map_err(|error| TableError::Literals(error.to_string()))?;
        if literals.iter().any(|literal| literal.text.is_empty()) {
            return Err(TableError::Literals("one is empty".to_owned()));
        }
        let prefixes = written
            .prefixes
            .into_iter()
            .map(|prefix| {
                let pattern = pattern(&format!("^(?:{})", prefix.pattern))?;
                Ok(Prefix { role: prefix.role, pattern })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            literals,
            search,
            prefixes,
            orphans: pattern(&written.orphan_colours)?,
            commands: written.commands,
            engines: written.engines,
            requests: written.requests,
            secrets: written.secrets,
        })
    }

    /// An engine's own name of an argument, from any spelling.
    pub(super) fn canonical(&self, engine: &str, name: &str) -> String {
        let name = name.trim_start_matches('-').replace('-', "_");
        let synonyms = self.engines.get(engine).map(|engine| &engine.synonyms);
        synonyms.and_then(|names| names.get(&name)).cloned().unwrap_or(name)
    }
}

fn pattern(text: &str) -> Result<Regex, TableError> {
    Regex::new(text).map_err(|error| TableError::Pattern {
        pattern: text.to_owned(),
        message: error.to_string(),
    })
}
