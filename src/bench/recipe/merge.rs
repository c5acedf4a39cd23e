//! Putting blocks of a bundle together.

use std::collections::{BTreeMap, BTreeSet};

use crate::bench::yaml::{Node, Pair, Value, YamlError};

/// `over` merged over `base`: mappings key by key, everything else replaced, `null` takes a key away.
pub(super) fn over(base: Node, over: &Node) -> Node {
    let (Value::Mapping(mut pairs), Value::Mapping(above)) = (base.value, &over.value) else {
        return over.clone();
    };
    let places = pairs.iter().enumerate().map(|(index, pair)| (pair.key.key_name(), index));
    let places: BTreeMap<String, usize> = places.collect();
    let mut gone = BTreeSet::new();
    for pair in above {
        match (places.get(&pair.key.key_name()), pair.value.is_null()) {
            (Some(index), true) => _ = gone.insert(*index),
            (None, true) => {}
            (Some(index), false) => {
                let below = &mut pairs[*index];
                let empty = Node { value: Value::Null, at: below.value.at };
                below.value = self::over(std::mem::replace(&mut below.value, empty), &pair.value);
                below.key = pair.key.clone();
            }
            (None, false) => pairs.push(Pair { key: pair.key.clone(), value: bare(&pair.value) }),
        }
    }
    let mut index = 0..;
    pairs.retain(|_| index.next().is_none_or(|index| !gone.contains(&index)));
    // A mapping that something is merged into is still written where it began.
    Node { value: Value::Mapping(pairs), at: base.at }
}

/// A node that is merged over nothing: `null` takes away what is not there.
fn bare(node: &Node) -> Node {
    match &node.value {
        Value::Mapping(_) => over(Node { value: Value::Mapping(Vec::new()), at: node.at }, node),
        _ => node.clone(),
    }
}

/// How many variants a `zip_override_` block makes: the length of its longest list.
///
/// # Errors
/// Two lists of different lengths, both longer than one; an empty list.
pub(super) fn width(block: &Node) -> Result<usize, YamlError> {
    let mut width: Option<(usize, &Node)> = None;
    lists(block, &mut |list, length| {
        if length == 0 {
            return Err(YamlError {
                at: list.at,
                message: "an empty list in a `zip_override_` block names no variant".to_owned(),
                fix: "give it a value for each variant, or move it out of the block".to_owned(),
            });
        }
        match width {
            Some((other, first)) if other != length && other > 1 && length > 1 => Err(YamlError {
                at: list.at,
                message: format!(
                    "this list has {length} values and the one in line {} has {other}",
                    first.at.line
                ),
                fix: "give every list of the block as many values, or one".to_owned(),
            }),
            Some((other, _)) if other >= length => Ok(()),
            _ => {
                width = Some((length, list));
                Ok(())
            }
        }
    })?;
    Ok(width.map_or(1, |(length, _)| length))
}

fn lists<'n>(
    node: &'n Node,
    see: &mut impl FnMut(&'n Node, usize) -> Result<(), YamlError>,
) -> Result<(), YamlError> {
    match &node.value {
        Value::Sequence(items) => see(node, items.len()),
        Value::Mapping(pairs) => pairs.iter().try_for_each(|pair| lists(&pair.value, see)),
        _ => Ok(()),
    }
}

/// The block with each list replaced by its `index`th value, or its only one.
///
/// # Errors
/// A list that has no such value.
pub(super) fn element(block: &Node, index: usize) -> Result<Node, YamlError> {
    let value = match &block.value {
        Value::Sequence(items) => {
            let item = if items.len() == 1 { items.first() } else { items.get(index) };
            return item.cloned().ok_or_else(|| YamlError {
                at: block.at,
                message: format!("this list has no value for variant {index}"),
                fix: "give every list of the block as many values, or one".to_owned(),
            });
        }
        Value::Mapping(pairs) => {
            let taken = pairs.iter().map(|pair| {
                Ok(Pair { key: pair.key.clone(), value: element(&pair.value, index)? })
            });
            Value::Mapping(taken.collect::<Result<_, YamlError>>()?)
        }
        scalar => scalar.clone(),
    };
    Ok(Node { value, at: block.at })
}
