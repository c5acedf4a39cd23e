//! What has been read of a log so far.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::lines::Source;
use super::log::{Kind, Launch, Load};
use super::table::{Reader, Table};
use crate::limits::{LOG_ITEMS, LOG_PROCESSES, LOG_VARIABLES};

/// A record that is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    /// The line past its prefixes.
    pub(super) text: &'a str,
    /// Where the literal begins in it, and where it ends.
    pub(super) hit: (usize, usize),
    pub(super) source: &'a Source,
    pub(super) line: u64,
    /// The line is cut.
    pub(super) cut: bool,
}

impl<'a> Record<'a> {
    /// What stands behind the literal.
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.hit.1..]
    }
}

/// A mean that is gathered line by line.
#[derive(Debug, Default)]
pub(super) struct Mean {
    weighted: f64,
    weight: f64,
    plain: f64,
    pub(super) lines: u64,
}

impl Mean {
    pub(super) fn add(&mut self, value: f64, weight: f64) {
        if value.is_finite() && weight.is_finite() && weight >= 0.0 {
            self.weighted += value * weight;
            self.weight += weight;
            self.plain += value;
            self.lines += 1;
        }
    }

    /// Weighted; plain where no line weighs anything.
    pub(super) fn value(&self) -> Option<f64> {
        let lines = u32::try_from(self.lines).ok().filter(|lines| *lines > 0)?;
        let mean = if self.weight > 0.0 {
            self.weighted / self.weight
        } else {
            self.plain / f64::from(lines)
        };
        mean.is_finite().then_some(mean)
    }
}

/// Everything so far.
#[derive(Debug)]
pub(super) struct Gathered<'t> {
    pub(super) table: &'t Table,
    pub(super) launches: Vec<Launch>,
    /// By engine, how strongly the log speaks for it and where it did so first.
    pub(super) engines: BTreeMap<String, (u8, u64)>,
    pub(super) versions: BTreeSet<String>,
    /// Exported variables, and where the first stands.
    pub(super) env: BTreeMap<String, String>,
    pub(super) env_line: Option<u64>,
    /// Those of the next command only.
    pub(super) next_env: BTreeMap<String, String>,
    ready_texts: BTreeSet<String>,
    pub(super) ready_line: Option<u64>,
    /// Lines that speak of an interval, and the last lines that speak of the whole run so far.
    pub(super) intervals: Mean,
    pub(super) totals: BTreeMap<String, (f64, f64)>,
    pub(super) total_lines: u64,
    pub(super) access_seen: bool,
    pub(super) chat: u64,
    pub(super) completions: u64,
    pub(super) loads: Vec<Load>,
    load_index: BTreeMap<Source, usize>,
    load_seen: BTreeSet<(usize, String, Option<String>)>,
    pub(super) observed_drafts: BTreeSet<i64>,
    pub(super) atom_model: Option<String>,
    pub(super) forced: Option<f64>,
    pub(super) unknown: Vec<String>,
}

impl<'t> Gathered<'t> {
    pub(super) fn new(table: &'t Table) -> Self {
        Self {
            table,
            launches: Vec::new(),
            engines: BTreeMap::new(),
            versions: BTreeSet::new(),
            env: BTreeMap::new(),
            env_line: None,
            next_env: BTreeMap::new(),
            ready_texts: BTreeSet::new(),
            ready_line: None,
            intervals: Mean::default(),
            totals: BTreeMap::new(),
            total_lines: 0,
            access_seen: false,
            chat: 0,
            completions: 0,
            loads: Vec::new(),
            load_index: BTreeMap::new(),
            load_seen: BTreeSet::new(),
            observed_drafts: BTreeSet::new(),
            atom_model: None,
            forced: None,
            unknown: Vec::new(),
        }
    }

    /// Something that cannot be told.
    pub(super) fn unknown(&mut self, what: String) {
        if self.unknown.len() < LOG_ITEMS && !self.unknown.contains(&what) {
            self.unknown.push(what);
        }
    }

    /// The log speaks for an engine.
    pub(super) fn speaks_for(
        &mut self,
        engine: &str,
        reader: Reader,
        kind: Option<Kind>,
        line: u64,
    ) {
        let strength = match (reader, kind) {
            (Reader::Dump | Reader::EngineLine, Some(Kind::Resolved)) => 3,
            (Reader::Dump | Reader::Version | Reader::Command, _) => 2,
            _ => 1,
        };
        let first = self.engines.entry(engine.to_owned()).or_insert((strength, line));
        first.0 = first.0.max(strength);
    }

    pub(super) fn version(&mut self, text: &str) {
        let end = |c: char| c.is_whitespace() || matches!(c, ')' | ',' | ';' | '"' | '\'');
        let version = text.split(end).next().unwrap_or_default().trim_start_matches('v');
        if version.starts_with(|c: char| c.is_ascii_digit())
            && version.len() <= 100
            && self.versions.len() < LOG_ITEMS
        {
            self.versions.insert(version.trim_end_matches('.').to_owned());
        }
    }

    /// A variable for all servers that follow.
    pub(super) fn export(&mut self, name: &str, value: &str, line: u64) {
        let value = self.table.secrets.variable(name, value);
        if self.env.len() < LOG_VARIABLES || self.env.contains_key(name) {
            self.env.insert(name.to_owned(), value);
            self.env_line.get_or_insert(line);
        }
    }

    /// The server is ready: what came before was warming up.
    pub(super) fn ready(&mut self, text: &str, source: &Source, line: u64) {
        self.ready_line.get_or_insert(line);
        if self.ready_texts.insert(text.to_owned()) {
            self.intervals = Mean::default();
            self.totals.clear();
            self.total_lines = 0;
            self.chat = 0;
            self.completions = 0;
        }
        let of_source =
            |launch: &&mut Launch| launch.kind == Kind::Resolved && launch.source == source.who;
        if let Some(launch) = self.launches.iter_mut().rev().find(of_source) {
            launch.ready = true;
        }
    }

    /// A cumulative line replaces the last one of its process.
    pub(super) fn total(&mut self, source: &Source, value: f64, weight: f64) {
        let key = format!("{}{}", source.who, source.rank);
        if value.is_finite()
            && (self.totals.len() < LOG_PROCESSES || self.totals.contains_key(&key))
        {
            self.totals.insert(key, (value, weight));
            self.total_lines += 1;
        }
    }

    /// Weights were loaded: the same of another rank is the same.
    pub(super) fn load(&mut self, class: &str, quantization: Option<&str>, record: &Record<'_>) {
        if class.is_empty() || class.len() > 200 || self.load_index.len() >= LOG_PROCESSES {
            return;
        }
        let index = self.load_index.entry(record.source.clone()).or_insert(0);
        let key = (*index, class.to_owned(), quantization.map(str::to_owned));
        *index += 1;
        if self.loads.len() < LOG_ITEMS && self.load_seen.insert(key) {
            self.loads.push(Load {
                class: class.to_owned(),
                quantization: quantization.map(str::to_owned),
                line: record.line,
            });
        }
    }

    /// A new server of a process: it loads from the start.
    pub(super) fn restarts(&mut self, source: &Source) {
        for (loaded, index) in &mut self.load_index {
            if loaded.who == source.who {
                *index = 0;
            }
        }
    }

    /// A server. The same as one that is known, but for what differs between ranks, is that one.
    pub(super) fn launch(&mut self, mut new: Launch) {
        let table = self.table;
        new.args = new
            .args
            .into_iter()
            .map(|(name, value)| {
                let value = table.secrets.value(&name, value);
                (table.canonical(&new.engine, &name), value)
            })
            .collect();
        let none = Vec::new();
        let per_rank = table.engines.get(&new.engine).map_or(&none, |engine| &engine.per_rank);
        if let Some(old) = self.launches.iter_mut().find(|old| same(old, &new, per_rank)) {
            if old.lines.len() < LOG_ITEMS {
                old.lines.push(new.line);
            }
            if new.complete && !old.complete {
                old.args = new.args;
                old.complete = true;
            } else if !new.complete && !old.complete {
                old.args.extend(new.args);
            }
        } else if self.launches.len() < LOG_ITEMS {
            self.launches.push(new);
        } else {
            self.unknown(format!("more than {LOG_ITEMS} launches: later ones are left out"));
        }
    }
}

fn same(old: &Launch, new: &Launch, per_rank: &[String]) -> bool {
    if (old.kind, &old.engine, &old.env) != (new.kind, &new.engine, &new.env) {
        return false;
    }
    let agrees = |one: &Map<String, Value>, other: &Map<String, Value>, whole: bool| {
        one.iter()
            .filter(|(name, _)| !per_rank.contains(name))
            .all(|(name, value)| other.get(name).map_or(!whole, |other| other == value))
    };
    agrees(&old.args, &new.args, new.complete) && agrees(&new.args, &old.args, old.complete)
}
