//! The scanner: bytes in, a log out. One search finds the lines that say something; only those are read.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::gather::{Gathered, Record};
use super::lines::{self, Line, Source, Splitter};
use super::log::{Kind, Launch, Log};
use super::repr::{self, Balance};
use super::table::{Literal, Reader, Shape, Table};
use super::{atom, command, dynamo, requests, settle, sglang, trtllm, vllm};
use crate::limits::{LOG_LINE_BYTES, LOG_LINE_HITS, LOG_VARIABLES, LOG_WRAPPED_LINES};

/// Reads a log in chunks of any size. Its memory is bounded whatever the log holds.
#[derive(Debug)]
pub struct Scanner<'t> {
    splitter: Splitter,
    reading: Reading<'t>,
}

#[derive(Debug)]
struct Reading<'t> {
    gathered: Gathered<'t>,
    wrapped: Option<Wrapped<'t>>,
    /// Lines left of a block of variables.
    block: usize,
    lines: u64,
    /// The line that is read ends with a line feed.
    ended: bool,
}

/// A dump that has not ended on its line.
#[derive(Debug)]
struct Wrapped<'t> {
    literal: &'t Literal,
    text: String,
    balance: Balance,
    source: Source,
    /// Its first line had prefixes that its others may have too.
    outer: bool,
    line: u64,
    lines: usize,
}

impl<'t> Scanner<'t> {
    /// Begins a log.
    pub fn new(table: &'t Table) -> Self {
        let gathered = Gathered::new(table);
        let reading = Reading { gathered, wrapped: None, block: 0, lines: 0, ended: true };
        Self { splitter: Splitter::default(), reading }
    }

    /// Reads on. Where chunks begin and end makes no difference.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.splitter.feed(bytes, |line| self.reading.line(line));
    }

    /// What the log says.
    pub fn finish(mut self) -> Log {
        self.splitter.finish(|line| self.reading.line(line));
        self.reading.end_wrapped();
        settle::settle(self.reading.gathered, self.reading.lines)
    }
}

impl<'t> Reading<'t> {
    fn line(&mut self, line: &Line<'_>) {
        self.lines = line.number;
        self.ended = line.ended;
        let table = self.gathered.table;
        let bytes = lines::plain(line.bytes);
        if line.cut {
            let number = line.number;
            self.gathered.unknown(format!("line {number}: cut at {LOG_LINE_BYTES} bytes"));
        }
        if self.wrapped.is_some() && self.goes_on(&bytes, line) {
            return;
        }
        if self.block > 0 && self.variable(&bytes, line.number) {
            return;
        }
        if bytes.last() == Some(&b'}')
            && let Some(record) = dynamo::record(&bytes)
        {
            return self.json(&record, line.number);
        }
        if table.search.is_match(bytes.as_ref()) {
            let text = lines::text(&bytes, &table.orphans);
            self.text(&text, &Source::default(), line.number, line.cut);
        }
    }

    /// A record that is JSON: its fields, and its message as if it stood alone.
    fn json(&mut self, record: &Map<String, Value>, line: u64) {
        let field = |name: &str| match record.get(name) {
            Some(Value::String(text)) => Cow::Borrowed(text.as_str()),
            Some(Value::Number(number)) => Cow::Owned(number.to_string()),
            _ => Cow::Borrowed(""),
        };
        requests::fields(&mut self.gathered, &field("method"), &field("uri"), &field("status"));
        for part in field("message").lines() {
            self.text(part, &Source::default(), line, false);
        }
    }

    /// Reads what a line says.
    fn text(&mut self, line: &str, outer: &Source, number: u64, cut: bool) {
        let table = self.gathered.table;
        let peeled = lines::peel(line, table, false);
        let mut source = outer.clone();
        source.who.push_str(&peeled.source.who);
        source.rank.push_str(&peeled.source.rank);
        let text = &line[peeled.at..];
        // A literal may itself begin like a prefix: search the whole line.
        let mut from = 0;
        let mut commanded = false;
        for found in table.search.find_iter(line).take(LOG_LINE_HITS) {
            if found.start() < from {
                continue;
            }
            let literal = &table.literals[found.pattern().as_usize()];
            let inside = found.start() >= peeled.at;
            let record = Record {
                text: if inside { text } else { line },
                hit: if inside {
                    (found.start() - peeled.at, found.end() - peeled.at)
                } else {
                    (found.start(), found.end())
                },
                source: &source,
                line: number,
                cut,
            };
            match literal.read {
                Reader::Dump | Reader::EngineLine => {
                    let used = self.dump(literal, &record, peeled.outer);
                    from = found.end() + used;
                }
                Reader::Command if commanded => {}
                Reader::Command => {
                    commanded = true;
                    command::launch(&mut self.gathered, &record);
                }
                _ => self.read(literal, &record),
            }
        }
    }

    fn read(&mut self, literal: &Literal, record: &Record<'_>) {
        let gathered = &mut self.gathered;
        match literal.read {
            Reader::Ready => gathered.ready(&literal.text, record.source, record.line),
            Reader::Version => gathered.version(record.rest()),
            Reader::Banner => {
                if !vllm::banner(gathered, record) {
                    return;
                }
            }
            Reader::SglangLoad => sglang::load(gathered, record),
            Reader::SglangDecode => sglang::decode(gathered, record),
            Reader::SglangVerify => sglang::verify(gathered, record),
            Reader::VllmMetrics => vllm::metrics(gathered, record),
            Reader::VllmMetricsV0 => vllm::metrics_v0(gathered, record),
            Reader::Architecture => vllm::architecture(gathered, record),
            Reader::TrtllmDraftLen => trtllm::draft_len(gathered, record),
            Reader::AtomModel => atom::model(gathered, record),
            Reader::AtomStats => atom::stats(gathered, record),
            Reader::AtomForced => atom::forced(gathered, record),
            Reader::Access => requests::access(gathered, record),
            Reader::Routed => requests::routed(gathered, record),
            Reader::EnvBlock => self.block = LOG_VARIABLES,
            Reader::EnvLine => command::env_line(gathered, record),
            Reader::Export => command::export(gathered, record),
            Reader::Dump | Reader::EngineLine | Reader::Command => {}
        }
        if let Some(engine) = &literal.engine {
            self.gathered.speaks_for(engine, literal.read, literal.kind, record.line);
        }
    }

    /// Begins a dump. Returns how many bytes behind the literal belong to it.
    fn dump(&mut self, literal: &'t Literal, record: &Record<'_>, outer: bool) -> usize {
        let before = &record.text[..record.hit.0];
        if before.ends_with(['"', '\'']) {
            return 0;
        }
        let all = record.rest();
        let mut rest = all;
        if literal.read == Reader::EngineLine {
            const START: &str = " with config: ";
            self.gathered.version(rest);
            let Some((_, config)) = rest.split_once(START) else { return 0 };
            rest = config;
        }
        let shape = literal.shape.unwrap_or(Shape::Open);
        let first = rest.as_bytes().first();
        let plausible = match shape {
            Shape::Call | Shape::Open => {
                first.is_none_or(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b')'))
            }
            Shape::Dict => first.is_none_or(|byte| matches!(byte, b'\'' | b'"' | b'}')),
        };
        if !plausible {
            return 0;
        }
        self.end_wrapped();
        let mut wrapped = Wrapped {
            literal,
            text: String::new(),
            balance: Balance::default(),
            source: record.source.clone(),
            outer,
            line: record.line,
            lines: 1,
        };
        let end = wrapped.push(rest);
        let used = all.len() - rest.len() + end.unwrap_or(rest.len());
        self.wrapped = Some(wrapped);
        if end.is_some() || record.cut {
            self.end_wrapped_as(!record.cut);
        }
        used
    }

    /// Whether a line goes on with a dump that was begun.
    fn goes_on(&mut self, bytes: &[u8], line: &Line<'_>) -> bool {
        let table = self.gathered.table;
        let Some(wrapped) = &mut self.wrapped else { return false };
        let text = lines::text(bytes, &table.orphans);
        let peeled =
            if wrapped.outer { lines::peel(&text, table, true) } else { lines::Peeled::default() };
        let own = &text[peeled.at..];
        wrapped.lines += usize::from(!own.is_empty());
        let bound =
            wrapped.lines > LOG_WRAPPED_LINES || wrapped.text.len() + own.len() > LOG_LINE_BYTES;
        if bound || lines::begins_record(own, table) {
            self.end_wrapped();
            return false;
        }
        if !peeled.source.who.is_empty() && peeled.source.who != wrapped.source.who {
            return false;
        }
        let ended = wrapped.push(own).is_some();
        if ended || line.cut {
            self.end_wrapped_as(!line.cut);
        }
        true
    }

    fn end_wrapped(&mut self) {
        self.end_wrapped_as(false);
    }

    /// Reads the dump as far as it goes.
    fn end_wrapped_as(&mut self, whole: bool) {
        let Some(wrapped) = self.wrapped.take() else { return };
        let literal = wrapped.literal;
        let shape = literal.shape.unwrap_or(Shape::Open);
        // Without a line feed the last bare value may be half of one.
        let closed = wrapped.text.trim_end().ends_with([')', ']', '}', '>', '\'', '"']);
        let whole = whole && (shape != Shape::Open || self.ended || closed);
        let (Some(engine), Some(kind)) = (&literal.engine, literal.kind) else { return };
        let dump = repr::dump(&wrapped.text, shape, whole);
        if dump.pairs.is_empty()
            && dump.end.is_none()
            && wrapped.text.len() > 1
            && wrapped.lines == 1
        {
            // Source text that looks like a dump.
            let ended = wrapped.balance_ended();
            if ended {
                return;
            }
        }
        let gathered = &mut self.gathered;
        gathered.speaks_for(engine, literal.read, Some(kind), wrapped.line);
        let mut args: Map<String, Value> = dump.pairs.into_iter().collect();
        if engine_model(gathered, engine)
            && let Some(model) = gathered.atom_model.take()
        {
            args.entry("model").or_insert(Value::String(model));
        }
        if kind == Kind::Resolved && shape != Shape::Open {
            gathered.restarts(&wrapped.source);
        }
        let launch = Launch {
            args,
            env: gathered.env.clone(),
            complete: dump.end.is_some() && !literal.partial,
            line: wrapped.line,
            kind,
            engine: engine.clone(),
            lines: vec![wrapped.line],
            ready: false,
            source: wrapped.source.who,
        };
        gathered.launch(launch);
    }

    /// A line of a block of variables. Returns whether it was one.
    fn variable(&mut self, bytes: &[u8], line: u64) -> bool {
        let table = self.gathered.table;
        let text = lines::text(bytes, &table.orphans);
        let peeled = lines::peel(&text, table, true);
        let own = &text[peeled.at..];
        self.block -= 1;
        if own.is_empty() {
            return true;
        }
        if let Some((name, value)) = command::assignment(own) {
            self.gathered.export(name, value, line);
            return true;
        }
        self.block = 0;
        if !own.starts_with("===") {
            self.gathered.unknown(format!("environment: the block is broken at line {line}"));
        }
        own.starts_with("===")
    }
}

impl Wrapped<'_> {
    /// Appends a line without a blank; where the dump ends in it, the place after it.
    fn push(&mut self, text: &str) -> Option<usize> {
        self.text.push_str(text);
        let closed = self.balance.push(text);
        if self.literal.shape.is_some() {
            return closed;
        }
        let open = text.trim_end();
        (closed.is_some() || self.balance.is_even() && !open.ends_with(',')).then_some(text.len())
    }

    fn balance_ended(&self) -> bool {
        Balance::default().push(&self.text).is_some()
    }
}

/// Whether an engine's dumps leave the model out.
fn engine_model(gathered: &Gathered<'_>, engine: &str) -> bool {
    gathered.table.engines.get(engine).is_some_and(|engine| engine.plugin)
}
