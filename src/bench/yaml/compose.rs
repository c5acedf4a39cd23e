//! Events → nodes: anchors, aliases, merge keys, duplicate keys, bounds.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use granit_parser::{Event, Parser, ScalarStyle, Span, Tag};

use super::scalar::{self, Resolved};
use super::{Document, Node, Note, Pair, Place, Value, YamlError, number};
use crate::limits;

/// The namespace of YAML's own tags.
const CORE: &str = "tag:yaml.org,2002:";

/// A collection that is still open.
struct Open {
    at: Place,
    anchor: usize,
    kind: Kind,
    /// What was used before it began; the difference at its end is what an alias to it costs.
    before: Cost,
}

enum Kind {
    Sequence(Vec<Node>),
    Mapping { pairs: Vec<(Key, Node)>, key: Option<Key> },
}

/// A key of a mapping that is still open.
enum Key {
    Node(Node),
    Merge(Place),
}

/// Nodes and bytes of scalars.
#[derive(Clone, Copy, Default)]
struct Cost {
    nodes: usize,
    bytes: usize,
}

struct Anchored {
    node: Node,
    cost: Cost,
}

#[derive(Default)]
struct Composer {
    stack: Vec<Open>,
    anchors: BTreeMap<usize, Anchored>,
    names: BTreeSet<String>,
    used: Cost,
    notes: Vec<Note>,
    root: Option<Node>,
}

/// Composes the one document of a text.
pub(super) fn compose(text: &str) -> Result<Document, YamlError> {
    let mut options = granit_parser::options! {
        flow_nesting_limit: limits::YAML_DEPTH + 1,
        block_nesting_limit: limits::YAML_DEPTH + 1,
        bom_inside_document_as_content: true,
        block_scalar_eof_without_line_feed: true,
        emit_anchor_events: true,
    };
    options.set_emit_comments(false);
    let mut composer = Composer::default();
    let mut documents = 0;
    for next in Parser::new_from_str_with_options(text, options) {
        let (event, span) = next.map_err(|error| {
            let mark = error.marker();
            let at = Place { line: number(mark.line()), column: number(mark.col() + 1) };
            YamlError::new(at, error.info(), "correct the YAML there")
        })?;
        let at = place(&span);
        match event {
            Event::DocumentStart(..) => {
                documents += 1;
                if documents > 1 {
                    let message = "a second document begins";
                    return Err(YamlError::new(at, message, "remove the `---` line"));
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                composer.scalar(&text, style, anchor, tag, &span)?
            }
            Event::SequenceStart(_, anchor, tag) => {
                collection_tag(tag.as_deref(), "seq", at)?;
                composer.open(Kind::Sequence(Vec::new()), anchor, at)?;
            }
            Event::MappingStart(_, anchor, tag) => {
                collection_tag(tag.as_deref(), "map", at)?;
                composer.open(Kind::Mapping { pairs: Vec::new(), key: None }, anchor, at)?;
            }
            Event::SequenceEnd | Event::MappingEnd => composer.close()?,
            Event::Alias(anchor) => composer.alias(anchor, at)?,
            Event::Anchor(_, name) => composer.name(name, at)?,
            _ => {}
        }
    }
    let at = Place { line: 1, column: 1 };
    let root = composer.root.unwrap_or(Node { value: Value::Null, at });
    Ok(Document { root, notes: composer.notes })
}

/// Finds a tab that stands neither in quotes, a block of text nor a comment: PyYAML refuses it.
pub(super) fn stray_tab(text: &str) -> Result<(), YamlError> {
    let options = granit_parser::options! {
        flow_nesting_limit: limits::YAML_DEPTH + 1,
        block_nesting_limit: limits::YAML_DEPTH + 1,
        max_buffered_comment_events: text.len(),
        emit_comments: true,
    };
    // A file that cannot be parsed is refused by `compose`, with its reason.
    let may_hold: Vec<_> = Parser::new_from_str_with_options(text, options)
        .map_while(Result::ok)
        .filter(|(event, _)| match event {
            Event::Scalar(_, style, ..) => *style != ScalarStyle::Plain,
            event => matches!(event, Event::Comment(..)),
        })
        .filter_map(|(_, span)| span.byte_range())
        .collect();
    for (offset, _) in text.match_indices('\t') {
        let before = may_hold.partition_point(|range| range.start <= offset);
        let held = before.checked_sub(1).and_then(|n| may_hold.get(n));
        if held.is_none_or(|range| range.end <= offset) {
            let at = super::place_of(text, offset);
            return Err(YamlError::new(at, "a tab stands between values", "use spaces"));
        }
    }
    Ok(())
}

fn place(span: &Span) -> Place {
    Place { line: number(span.start.line()), column: number(span.start.col() + 1) }
}

fn collection_tag(tag: Option<&Tag>, wanted: &str, at: Place) -> Result<(), YamlError> {
    let Some(tag) = tag else { return Ok(()) };
    let given = tag.suffix_in_namespace(CORE);
    if given.as_deref() == Some(wanted) {
        return Ok(());
    }
    Err(YamlError::new(
        at,
        format!("the tag {} is not read here", tag.original()),
        "remove the tag",
    ))
}

impl Composer {
    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<Cow<'_, Tag>>,
        span: &Span,
    ) -> Result<(), YamlError> {
        let at = place(span);
        let cost = Cost { nodes: 1, bytes: text.len() };
        self.spend(cost, at)?;
        let resolved = match &tag {
            None if style == ScalarStyle::Plain => scalar::plain(text),
            None => Ok(Resolved::Value(Value::Text(text.to_owned()))),
            Some(tag) => match tag.suffix_in_namespace(CORE) {
                Some(name) => scalar::tagged(text, &name).map(Resolved::Value),
                None => Err(format!("the tag {} is not read here", tag.original())),
            },
        };
        let shown: String = text.chars().take(40).collect();
        let resolved = resolved.map_err(|wrong| {
            YamlError::new(at, format!("`{shown}`: {wrong}"), "put it in quotes if it is text")
        })?;
        let awaits_key =
            matches!(self.stack.last(), Some(Open { kind: Kind::Mapping { key: None, .. }, .. }));
        if awaits_key && (text.is_empty() || span.is_empty()) && style == ScalarStyle::Plain {
            return Err(YamlError::new(at, "a key is empty", "write the key before the colon"));
        }
        match resolved {
            Resolved::Value(value) => self.anchored(Node { value, at }, anchor, cost),
            Resolved::Equals if awaits_key => {
                self.anchored(Node { value: Value::Text(text.to_owned()), at }, anchor, cost)
            }
            Resolved::Merge if awaits_key && anchor == 0 => {
                if let Some(Open { kind: Kind::Mapping { key, .. }, .. }) = self.stack.last_mut() {
                    *key = Some(Key::Merge(at));
                }
                Ok(())
            }
            Resolved::Merge | Resolved::Equals => {
                let message = format!("`{shown}` means something only as a key");
                Err(YamlError::new(at, message, "put it in quotes"))
            }
        }
    }

    /// Keeps a finished node under its anchor and puts it where it belongs.
    fn anchored(&mut self, node: Node, anchor: usize, cost: Cost) -> Result<(), YamlError> {
        if anchor != 0 {
            self.anchors.insert(anchor, Anchored { node: node.clone(), cost });
        }
        self.put(node)
    }

    fn put(&mut self, node: Node) -> Result<(), YamlError> {
        match self.stack.last_mut().map(|open| &mut open.kind) {
            None => self.root = Some(node),
            Some(Kind::Sequence(items)) => items.push(node),
            Some(Kind::Mapping { pairs, key }) => match key.take() {
                Some(key) => pairs.push((key, node)),
                None if matches!(node.value, Value::Sequence(_) | Value::Mapping(_)) => {
                    let message = "a list or a mapping is used as a key";
                    return Err(YamlError::new(node.at, message, "use text as the key"));
                }
                None => *key = Some(Key::Node(node)),
            },
        }
        Ok(())
    }

    fn open(&mut self, kind: Kind, anchor: usize, at: Place) -> Result<(), YamlError> {
        if self.stack.len() >= limits::YAML_DEPTH {
            let message = format!("more than {} levels are nested", limits::YAML_DEPTH);
            return Err(YamlError::new(at, message, "write it flatter"));
        }
        let before = self.used;
        self.spend(Cost { nodes: 1, bytes: 0 }, at)?;
        self.stack.push(Open { at, anchor, kind, before });
        Ok(())
    }

    fn close(&mut self) -> Result<(), YamlError> {
        let Some(Open { at, anchor, kind, before }) = self.stack.pop() else { return Ok(()) };
        let value = match kind {
            Kind::Sequence(items) => Value::Sequence(items),
            Kind::Mapping { pairs, .. } => Value::Mapping(self.dictionary(pairs)?),
        };
        let cost =
            Cost { nodes: self.used.nodes - before.nodes, bytes: self.used.bytes - before.bytes };
        self.anchored(Node { value, at }, anchor, cost)
    }

    fn alias(&mut self, anchor: usize, at: Place) -> Result<(), YamlError> {
        let Some(Anchored { cost, .. }) = self.anchors.get(&anchor) else {
            let message = "the alias stands inside of what it stands for";
            return Err(YamlError::new(at, message, "write out what is meant"));
        };
        self.spend(*cost, at)?;
        // Its nesting adds to where it stands: a chain of aliases would else be deeper than the file.
        let node = &self.anchors[&anchor].node;
        if self.stack.len() + depth(node) > limits::YAML_DEPTH {
            let message = format!("more than {} levels are nested by aliases", limits::YAML_DEPTH);
            return Err(YamlError::new(at, message, "write it flatter"));
        }
        self.put(node.clone())
    }

    fn name(&mut self, name: Cow<'_, str>, at: Place) -> Result<(), YamlError> {
        if self.names.contains(name.as_ref()) {
            let message = format!("the anchor &{name} is given twice");
            return Err(YamlError::new(at, message, "give the second one another name"));
        }
        self.names.insert(name.into_owned());
        Ok(())
    }

    fn spend(&mut self, cost: Cost, at: Place) -> Result<(), YamlError> {
        self.used.nodes += cost.nodes;
        self.used.bytes += cost.bytes;
        let fix = "split the file, or use fewer aliases";
        if self.used.nodes > limits::YAML_NODES {
            let message = format!("there are more than {} values", limits::YAML_NODES);
            return Err(YamlError::new(at, message, fix));
        }
        if self.used.bytes > limits::YAML_SCALAR_BYTES {
            let message = format!("the values have over {} bytes", limits::YAML_SCALAR_BYTES);
            return Err(YamlError::new(at, message, fix));
        }
        Ok(())
    }

    /// Pairs as written → as Python's dictionary holds them. Merged pairs go before the others, of a
    /// list of mappings the last one first; of one key the first place and the last value stay.
    /// Source: `SafeConstructor.flatten_mapping` of PyYAML.
    fn dictionary(&mut self, pairs: Vec<(Key, Node)>) -> Result<Vec<Pair>, YamlError> {
        let mut merged: Vec<Pair> = Vec::new();
        let mut own = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            match key {
                Key::Node(key) => own.push(Pair { key, value }),
                Key::Merge(at) => merge(value, at, &mut merged)?,
            }
        }
        let count = merged.len();
        let all = merged.into_iter().chain(own).enumerate();
        let mut kept: Vec<Pair> = Vec::new();
        let mut index: BTreeMap<String, (usize, bool)> = BTreeMap::new();
        for (position, pair) in all {
            let is_own = position >= count;
            let form = key_form(&pair.key.value);
            match index.get_mut(&form) {
                Some((place, own)) => {
                    let earlier = &mut kept[*place];
                    if *own && is_own && self.notes.len() < limits::PROBLEMS {
                        let message = format!(
                            "the key {} is given twice, first on line {}; the last one holds",
                            form.get(1..).unwrap_or_default(),
                            earlier.key.at.line,
                        );
                        self.notes.push(Note { at: pair.key.at, message });
                    }
                    *own |= is_own;
                    *earlier = pair;
                }
                None => {
                    index.insert(form, (kept.len(), is_own));
                    kept.push(pair);
                }
            }
        }
        Ok(kept)
    }
}

fn merge(value: Node, at: Place, merged: &mut Vec<Pair>) -> Result<(), YamlError> {
    let wrong = |at| {
        YamlError::new(at, "`<<` merges a mapping or a list of mappings", "give it an alias of one")
    };
    match value.value {
        Value::Mapping(pairs) => merged.extend(pairs),
        Value::Sequence(items) => {
            for item in items.into_iter().rev() {
                match item.value {
                    Value::Mapping(pairs) => merged.extend(pairs),
                    _ => return Err(wrong(item.at)),
                }
            }
        }
        _ => return Err(wrong(at)),
    }
    Ok(())
}

/// What makes two keys one key of a Python dictionary: `1`, `1.0` and `true` are the same.
fn key_form(key: &Value) -> String {
    match key {
        Value::Null => "0null".to_owned(),
        Value::Bool(b) => format!("1{}", i64::from(*b)),
        Value::Int(n) => format!("1{n}"),
        Value::WideInt(digits) => format!("1{digits}"),
        Value::Float(f) if f.fract() == 0.0 && f.abs() < 1e15 => format!("1{f:.0}"),
        Value::Float(f) => format!("1{f:?}"),
        Value::Timestamp(text) => format!("2{text}"),
        Value::Text(text) => format!("3{text}"),
        Value::Sequence(_) | Value::Mapping(_) => String::new(),
    }
}

fn depth(node: &Node) -> usize {
    match &node.value {
        Value::Sequence(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Mapping(pairs) => 1 + pairs.iter().map(|pair| depth(&pair.value)).max().unwrap_or(0),
        _ => 0,
    }
}
