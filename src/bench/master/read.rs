//! Nodes → entries, with every problem by its line.

use super::{AGENTIC_CODING, FIXED_SEQ_LEN};
use super::{
    Component, Entry, Master, Parallelism, Row, Scenario, Topology, Worker, Workload, Written,
};
use crate::bench::yaml::{self, Node, Note, Place, Value, WrongType, YamlError};
use crate::limits::{MATRIX_POINTS, PROBLEMS};

/// The recipe and the evaluations' recipe among a worker's settings, before they had fields.
const RECIPE_SETTING: &str = "CONFIG_FILE=";
const EVAL_RECIPE_SETTING: &str = "EVAL_CONFIG_FILE=";

const ENTRY_FIELDS: &[&str] = &[
    "image",
    "model",
    "model-prefix",
    "precision",
    "framework",
    "runner",
    "multinode",
    "disagg",
    "router",
    "kv-p2p-transfer",
    "srt-recipe-dir",
    "scenarios",
    "power",
    "require-power",
];
const ROW_FIELDS: &[&str] = &[
    "conc-list",
    "conc-start",
    "conc-end",
    "spec-decoding",
    "tp",
    "pp",
    "dcp-size",
    "pcp-size",
    "ep",
    "dp-attn",
    "prefill",
    "decode",
    "worker",
    "num-nodes",
    "kv-offloading",
    "kv-offload-backend",
    "router",
    "kv-p2p-transfer",
    "srt-recipe",
    "eval-srt-recipe",
];

/// Reads a master configuration.
///
/// # Errors
/// What is no YAML or no mapping. Everything else that is wrong stands among the problems.
pub fn read(path: &str, text: &str) -> Result<Master, YamlError> {
    let document = yaml::parse(text)?;
    let mut reader = Reader { problems: Vec::new(), notes: document.notes, points: 0 };
    let mut entries = Vec::new();
    match &document.root.value {
        Value::Null => {}
        Value::Mapping(pairs) => {
            for pair in pairs {
                entries.extend(reader.entry(path, &pair.key, &pair.value));
            }
        }
        _ => {
            return Err(YamlError {
                at: document.root.at,
                message: format!(
                    "expected a mapping of entries, found {}",
                    document.root.describe()
                ),
                fix: "write `key: entry`".to_owned(),
            });
        }
    }
    let Reader { mut problems, mut notes, .. } = reader;
    problems.truncate(PROBLEMS);
    notes.truncate(PROBLEMS);
    Ok(Master { entries, notes, problems })
}

struct Reader {
    problems: Vec<Note>,
    notes: Vec<Note>,
    /// Points so far: a range can stand for many.
    points: usize,
}

impl Reader {
    fn wrong(&mut self, at: Place, message: impl Into<String>) {
        self.problems.push(Note { at, message: message.into() });
    }

    fn read<T>(&mut self, read: Result<T, WrongType>, what: &str) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(wrong) => {
                let message = format!("`{what}`: expected {}, found {}", wrong.wanted, wrong.found);
                self.wrong(wrong.at, message);
                None
            }
        }
    }

    fn int(&mut self, node: &Node, field: &str) -> Option<i64> {
        let found = node.get(field).filter(|node| !node.is_null())?;
        self.read(found.int(), field)
    }

    fn count(&mut self, node: &Node, field: &str, or: i64) -> i64 {
        match self.int(node, field) {
            Some(n) if n >= 1 => n,
            Some(n) => {
                let at = node.get(field).map_or(node.at, |node| node.at);
                self.wrong(at, format!("`{field}` is {n}; it is at least 1"));
                or
            }
            None => or,
        }
    }

    fn flag(&mut self, node: &Node, field: &str) -> bool {
        let found = node.get(field).filter(|node| !node.is_null());
        found.and_then(|node| self.read(node.bool(), field)).unwrap_or(false)
    }

    /// A text; a number or truth value that YAML made of it counts as written, with a problem.
    fn text(&mut self, node: &Node, field: &str) -> Option<Written> {
        let found = node.get(field).filter(|node| !node.is_null())?;
        let text = self.read(found.text().map(str::to_owned), field)?;
        Some(Written { text, at: found.at })
    }

    fn required(&mut self, node: &Node, field: &str) -> Written {
        if node.get(field).is_none_or(Node::is_null) {
            self.wrong(node.at, format!("`{field}` is missing"));
        }
        self.text(node, field).unwrap_or(Written { text: String::new(), at: node.at })
    }

    fn unknown(&mut self, node: &Node, what: &str, known: &[&str]) {
        let Value::Mapping(pairs) = &node.value else { return };
        for pair in pairs {
            let name = pair.key.key_name();
            if !known.contains(&name.as_str()) {
                let message = format!("the field `{name}` of {what} is not known");
                self.notes.push(Note { at: pair.key.at, message });
            }
        }
    }

    fn entry(&mut self, path: &str, key: &Node, node: &Node) -> Option<Entry> {
        let at = key.at;
        let key = match key.text() {
            Ok(key) => key.to_owned(),
            Err(wrong) => {
                self.wrong(at, format!("the key of an entry is {}", wrong.found));
                return None;
            }
        };
        if node.mapping().is_err() {
            self.wrong(node.at, format!("the entry `{key}` is {}", node.describe()));
            return None;
        }
        if key.contains('*') {
            self.wrong(
                at,
                format!(
                    "the key `{key}` contains `*`, which stands for any run of characters elsewhere"
                ),
            );
        }
        self.unknown(node, "an entry", ENTRY_FIELDS);
        if node.get("multinode").is_none() {
            self.wrong(node.at, "`multinode` is missing");
        }
        let multinode = self.flag(node, "multinode");
        let disagg = self.flag(node, "disagg");
        let router = self.component(node, "router");
        let transfer = self.text(node, "kv-p2p-transfer").map(|written| written.text);
        let shared = Shared { multinode, router, transfer };
        let scenarios = self.scenarios(node, &shared);
        Some(Entry {
            path: path.to_owned(),
            at,
            image: self.required(node, "image"),
            model: self.required(node, "model"),
            model_prefix: self.required(node, "model-prefix"),
            precision: self.required(node, "precision"),
            framework: self.required(node, "framework"),
            runner: self.required(node, "runner"),
            multinode,
            disagg,
            recipe_dir: self.text(node, "srt-recipe-dir"),
            scenarios,
            node: node.clone(),
            key,
        })
    }

    fn scenarios(&mut self, entry: &Node, shared: &Shared) -> Vec<Scenario> {
        let Some(node) = entry.get("scenarios") else {
            self.wrong(entry.at, "`scenarios` is missing");
            return Vec::new();
        };
        let Some(pairs) = self.read(node.mapping(), "scenarios") else { return Vec::new() };
        let mut scenarios = Vec::new();
        for pair in pairs {
            let kind = pair.key.key_name();
            if ![FIXED_SEQ_LEN, AGENTIC_CODING].contains(&kind.as_str()) {
                self.notes.push(Note {
                    at: pair.key.at,
                    message: format!("the scenario type `{kind}` is not known"),
                });
                continue;
            }
            if pair.value.is_null() {
                continue;
            }
            let Some(list) = self.read(pair.value.sequence(), &kind) else { continue };
            for scenario in list {
                scenarios.extend(self.scenario(&kind, scenario, shared));
            }
        }
        if scenarios.is_empty() {
            self.wrong(node.at, "there is no scenario");
        }
        scenarios
    }

    fn scenario(&mut self, kind: &str, node: &Node, shared: &Shared) -> Option<Scenario> {
        self.read(node.mapping(), kind)?;
        let workload = if kind == FIXED_SEQ_LEN {
            let (isl, osl) = (self.int(node, "isl"), self.int(node, "osl"));
            let (Some(isl), Some(osl)) = (isl, osl) else {
                self.wrong(node.at, "a scenario of fixed lengths has `isl` and `osl`");
                return None;
            };
            Workload::FixedSeqLen { isl, osl }
        } else {
            Workload::AgenticCoding
        };
        let dram_utilization = node
            .get("dram-utilization")
            .filter(|node| !node.is_null())
            .and_then(|node| self.read(node.float(), "dram-utilization"))
            .map(|share| share.to_string());
        let mut rows = Vec::new();
        match node.get("search-space") {
            None => self.wrong(node.at, "`search-space` is missing"),
            Some(space) => {
                for row in self.read(space.sequence(), "search-space").unwrap_or_default() {
                    rows.extend(self.row(row, workload, shared));
                }
            }
        }
        Some(Scenario { workload, at: node.at, dram_utilization, rows })
    }

    fn row(&mut self, node: &Node, workload: Workload, shared: &Shared) -> Option<Row> {
        let fields = self.read(node.mapping(), "search-space")?;
        self.unknown(node, "a search space's row", ROW_FIELDS);
        let other = fields
            .iter()
            .map(|pair| (pair.key.key_name(), &pair.value))
            .filter(|(name, _)| !ROW_FIELDS.contains(&name.as_str()))
            .map(|(name, value)| (name, value.to_json()))
            .collect();
        let conc = self.concurrencies(node);
        let mut settings = Vec::new();
        let topology = self.topology(node, workload, shared, &mut settings)?;
        let setting = |name: &str| {
            settings.iter().rev().find_map(|written: &Written| {
                let text = written.text.strip_prefix(name)?.to_owned();
                Some(Written { text, at: written.at })
            })
        };
        let (recipe, eval_recipe) = (setting(RECIPE_SETTING), setting(EVAL_RECIPE_SETTING));
        Some(Row {
            at: node.at,
            conc,
            spec_decoding: self.text(node, "spec-decoding").map_or("none".to_owned(), |w| w.text),
            topology,
            kv_offloading: self.text(node, "kv-offloading").map(|written| written.text),
            kv_offload_backend: self.component(node, "kv-offload-backend"),
            router: self.component(node, "router").or_else(|| shared.router.clone()),
            kv_p2p_transfer: self
                .text(node, "kv-p2p-transfer")
                .map(|written| written.text)
                .or_else(|| shared.transfer.clone()),
            recipe: self.text(node, "srt-recipe").or(recipe),
            eval_recipe: self.text(node, "eval-srt-recipe").or(eval_recipe),
            other,
        })
    }

    fn topology(
        &mut self,
        node: &Node,
        workload: Workload,
        shared: &Shared,
        settings: &mut Vec<Written>,
    ) -> Option<Topology> {
        if let Some(worker) = node.get("worker") {
            let prefill = self.worker(worker, settings);
            let decode =
                Worker { count: 0, settings: Vec::new(), settings_at: None, ..prefill.clone() };
            return Some(multi(prefill, decode, self.int(node, "num-nodes")));
        }
        if let (Some(prefill), Some(decode)) = (node.get("prefill"), node.get("decode")) {
            let (prefill, decode) = (self.worker(prefill, settings), self.worker(decode, settings));
            return Some(multi(prefill, decode, self.int(node, "num-nodes")));
        }
        if node.get("tp").is_some() {
            return Some(Topology::Single(self.parallelism(node)));
        }
        let expected = match (shared.multinode, workload) {
            (false, _) => "`tp`",
            (true, _) => "`prefill` and `decode`, or `worker`",
        };
        self.wrong(node.at, format!("the row has no topology; expected {expected}"));
        None
    }

    fn worker(&mut self, node: &Node, recipes: &mut Vec<Written>) -> Worker {
        let listed = node.get("additional-settings").filter(|node| !node.is_null());
        let mut settings = Vec::new();
        if let Some(list) = listed {
            for setting in self.read(list.sequence(), "additional-settings").unwrap_or_default() {
                if let Some(text) = self.read(setting.text(), "additional-settings") {
                    let written = Written { text: text.to_owned(), at: setting.at };
                    let names_recipe = [RECIPE_SETTING, EVAL_RECIPE_SETTING]
                        .iter()
                        .any(|name| text.starts_with(name));
                    if names_recipe { recipes.push(written) } else { settings.push(written) }
                }
            }
        }
        Worker {
            count: self.int(node, "num-worker").unwrap_or(1),
            parallelism: self.parallelism(node),
            hardware: self.text(node, "hardware").map(|written| written.text),
            settings,
            settings_at: listed.map(|list| list.at),
        }
    }

    fn parallelism(&mut self, node: &Node) -> Parallelism {
        Parallelism {
            tp: self.count(node, "tp", 1),
            pp: self.count(node, "pp", 1),
            dcp: self.count(node, "dcp-size", 1),
            pcp: self.count(node, "pcp-size", 1),
            ep: self.count(node, "ep", 1),
            dp_attn: self.flag(node, "dp-attn"),
        }
    }

    fn component(&mut self, node: &Node, field: &str) -> Option<Component> {
        let found = node.get(field).filter(|node| !node.is_null())?;
        // Older files give the name alone.
        if let Ok(name) = found.text() {
            return Some(Component { name: name.to_owned(), version: None });
        }
        self.read(found.mapping(), field)?;
        let name = self.text(found, "name")?.text;
        Some(Component { name, version: self.text(found, "version").map(|written| written.text) })
    }

    /// A list as it is; a range by doubling, its end last.
    fn concurrencies(&mut self, node: &Node) -> Vec<i64> {
        let list = node.get("conc-list").filter(|node| !node.is_null());
        let (start, end) = (self.int(node, "conc-start"), self.int(node, "conc-end"));
        let mut conc = Vec::new();
        match (list, start, end) {
            (Some(list), None, None) => {
                for value in self.read(list.sequence(), "conc-list").unwrap_or_default() {
                    conc.extend(self.read(value.int(), "conc-list"));
                }
            }
            (None, Some(start), Some(end)) if start >= 1 && start <= end => {
                let mut next = start;
                while next < end {
                    conc.push(next);
                    next = next.saturating_mul(2);
                }
                conc.push(end);
            }
            (None, Some(start), Some(end)) => {
                self.wrong(
                    node.at,
                    format!("`conc-start` {start} and `conc-end` {end} are no range"),
                );
            }
            _ => self
                .wrong(node.at, "a row has either `conc-list` or both `conc-start` and `conc-end`"),
        }
        if conc.iter().any(|conc| *conc < 1) {
            self.wrong(node.at, "a concurrency is at least 1");
            conc.retain(|conc| *conc >= 1);
        }
        self.points += conc.len();
        if self.points > MATRIX_POINTS {
            self.wrong(node.at, format!("the file has more than {MATRIX_POINTS} points"));
            conc.clear();
        }
        conc
    }
}

fn multi(prefill: Worker, decode: Worker, nodes: Option<i64>) -> Topology {
    Topology::Multi { prefill: Box::new(prefill), decode: Box::new(decode), nodes }
}

/// What an entry says for all of its rows.
struct Shared {
    multinode: bool,
    router: Option<Component>,
    transfer: Option<String>,
}
