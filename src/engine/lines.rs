//! From bytes to lines: cutting, colours, and what stands before a record.

use std::borrow::Cow;

use regex::Regex;

use super::table::{Prefix, Role, Table};
use crate::limits::{LOG_LINE_BYTES, LOG_PREFIX_BYTES, LOG_PREFIXES};

/// A line as it stands in the log.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) bytes: &'a [u8],
    /// Counted by line feeds, from one.
    pub(super) number: u64,
    /// It went on past the bound.
    pub(super) cut: bool,
    /// Something ended it, and not only the log.
    pub(super) ended: bool,
}

/// Puts lines together from chunks of bytes. A carriage return ends a line too, for progress bars overwrite
/// theirs and records are glued to them, but does not count as one.
#[derive(Debug)]
pub(super) struct Splitter {
    pending: Vec<u8>,
    number: u64,
    cut: bool,
}

impl Default for Splitter {
    fn default() -> Self {
        Self { pending: Vec::new(), number: 1, cut: false }
    }
}

impl Splitter {
    /// Hands over each line that ends in the chunk.
    pub(super) fn feed(&mut self, mut bytes: &[u8], mut line: impl FnMut(&Line<'_>)) {
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.keep(&bytes[..end]);
            line(&Line { bytes: &self.pending, number: self.number, cut: self.cut, ended: true });
            self.pending.clear();
            self.cut = false;
            self.number += u64::from(bytes[end] == b'\n');
            bytes = &bytes[end + 1..];
        }
        self.keep(bytes);
    }

    /// Hands over what is left.
    pub(super) fn finish(&mut self, mut line: impl FnMut(&Line<'_>)) {
        if !self.pending.is_empty() {
            line(&Line { bytes: &self.pending, number: self.number, cut: self.cut, ended: false });
        }
        self.pending.clear();
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = LOG_LINE_BYTES.saturating_sub(self.pending.len());
        self.cut |= bytes.len() > room;
        self.pending.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

/// The line without colours and zero bytes, where it has any.
pub(super) fn plain(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !bytes.iter().any(|byte| matches!(byte, 0 | 0x1b)) {
        return Cow::Borrowed(bytes);
    }
    let bytes: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte == 0x1b {
            at += escape(&bytes[at..]);
        } else {
            out.push(*byte);
            at += 1;
        }
    }
    Cow::Owned(out)
}

/// The length of the terminal's sequence that begins here.
fn escape(bytes: &[u8]) -> usize {
    match bytes.get(1) {
        Some(b'[') => {
            let mut at = 2;
            while bytes.get(at).is_some_and(|byte| matches!(byte, b'0'..=b'9' | b';' | b':' | b'?'))
            {
                at += 1;
            }
            while bytes.get(at).is_some_and(|byte| matches!(byte, b' '..=b'/')) {
                at += 1;
            }
            if bytes.get(at).is_some_and(|byte| matches!(byte, b'@'..=b'~')) { at + 1 } else { 2 }
        }
        Some(b']') => {
            let ends = |pair: &[u8]| pair[0] == 0x07 || pair == [0x1b, b'\\'];
            // An unended one is dropped only by its first bytes: the rest may be a record.
            match bytes[2..].windows(2).position(ends) {
                Some(end) if bytes[2 + end] == 0x07 => 2 + end + 1,
                Some(end) => 2 + end + 2,
                None if bytes.last() == Some(&0x07) => bytes.len(),
                None => 2,
            }
        }
        _ => 1,
    }
}

/// The text of a line; colours that lost their first byte are gone too.
pub(super) fn text<'a>(bytes: &'a [u8], orphans: &Regex) -> Cow<'a, str> {
    let text = String::from_utf8_lossy(bytes);
    match orphans.replace_all(&text, "") {
        Cow::Borrowed(_) => text,
        Cow::Owned(cleaned) => Cow::Owned(cleaned),
    }
}

/// Which process wrote a line, as far as its prefixes say.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Source {
    /// Labels of launchers and processes.
    pub(super) who: String,
    /// Ranks within the process.
    pub(super) rank: String,
}

/// A line's prefixes.
#[derive(Debug, Default)]
pub(super) struct Peeled {
    /// Where the line's own text begins.
    pub(super) at: usize,
    pub(super) source: Source,
    /// One of them begins a record.
    pub(super) record: bool,
    /// One of them stands on every physical line.
    pub(super) outer: bool,
}

/// Peels prefixes until none is left; of a wrapped line's rest the outer ones only.
pub(super) fn peel(line: &str, table: &Table, outer_only: bool) -> Peeled {
    let mut peeled = Peeled::default();
    let head_end =
        (0..=line.len().min(LOG_PREFIX_BYTES)).rev().find(|at| line.is_char_boundary(*at));
    let head = &line[..head_end.unwrap_or(0)];
    'again: for _ in 0..LOG_PREFIXES {
        for Prefix { role, pattern } in &table.prefixes {
            if outer_only && *role == Role::Record {
                continue;
            }
            let Some(found) = pattern.captures(&head[peeled.at..]) else { continue };
            let length = found.get(0).map_or(0, |all| all.end());
            if length == 0 {
                continue;
            }
            if let Some(who) = found.name("who") {
                peeled.source.who.push_str(who.as_str().trim());
                peeled.source.who.push('/');
            }
            if let Some(rank) = found.name("rank").filter(|rank| !rank.is_empty()) {
                peeled.source.rank.push_str(rank.as_str().trim());
            }
            peeled.record |= *role == Role::Record;
            peeled.outer |= *role == Role::Outer;
            peeled.at += length;
            continue 'again;
        }
        break;
    }
    peeled
}

/// Whether a line begins a record by itself, past its outer prefixes.
pub(super) fn begins_record(text: &str, table: &Table) -> bool {
    let records = table.prefixes.iter().filter(|prefix| prefix.role == Role::Record);
    records.into_iter().any(|prefix| prefix.pattern.is_match(text))
}
