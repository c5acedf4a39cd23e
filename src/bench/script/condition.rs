//! Tests of known values: `[ … ]`, `[[ … ]]` with one comparison.

use tree_sitter::Node;

use super::word::{Variables, raw, word};

/// Whether a condition holds; `None` where that is not known.
pub(super) fn holds(source: &str, node: Node<'_>, variables: &Variables) -> Option<bool> {
    match node.kind() {
        "test_command" => {
            let mut cursor = node.walk();
            let inner = node.named_children(&mut cursor).next()?;
            holds(source, inner, variables)
        }
        "negated_command" => {
            let mut cursor = node.walk();
            let inner = node.named_children(&mut cursor).next()?;
            holds(source, inner, variables).map(|holds| !holds)
        }
        "list" => {
            let mut cursor = node.walk();
            let parts: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
            let [left, right] = parts.as_slice() else { return None };
            let between = source.get(left.end_byte()..right.start_byte())?;
            both(source, *left, *right, between.trim(), variables)
        }
        "parenthesized_expression" => {
            let mut cursor = node.walk();
            let inner = node.named_children(&mut cursor).next()?;
            holds(source, inner, variables)
        }
        "unary_expression" => unary(source, node, variables),
        "binary_expression" => binary(source, node, variables),
        "command" => match raw(source, node).trim() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

fn both(
    source: &str,
    left: Node<'_>,
    right: Node<'_>,
    sign: &str,
    variables: &Variables,
) -> Option<bool> {
    let (left, right) = (holds(source, left, variables), holds(source, right, variables));
    match (sign, left, right) {
        ("&&", Some(false), _) | ("&&", _, Some(false)) => Some(false),
        ("&&", Some(true), Some(true)) => Some(true),
        ("||", Some(true), _) | ("||", _, Some(true)) => Some(true),
        ("||", Some(false), Some(false)) => Some(false),
        _ => None,
    }
}

fn unary(source: &str, node: Node<'_>, variables: &Variables) -> Option<bool> {
    let operator = raw(source, node.child_by_field_name("operator").or_else(|| node.child(0))?);
    let count = node.child_count();
    let operand = node.child(count.checked_sub(1)?)?;
    if operator == "!" {
        return holds(source, operand, variables).map(|holds| !holds);
    }
    let value = word(source, operand, variables);
    match operator {
        "-n" if value.known => Some(!value.text.is_empty()),
        "-z" if value.known => Some(value.text.is_empty()),
        _ => None,
    }
}

fn binary(source: &str, node: Node<'_>, variables: &Variables) -> Option<bool> {
    let left = node.child_by_field_name("left")?;
    let right = node.child_by_field_name("right")?;
    let operator = raw(source, node.child_by_field_name("operator")?);
    if ["&&", "||"].contains(&operator) {
        return both(source, left, right, operator, variables);
    }
    let (left, right) = (word(source, left, variables), word(source, right, variables));
    if !left.known || !right.known {
        return None;
    }
    let numbers =
        || Some((left.text.trim().parse::<i64>().ok()?, right.text.trim().parse::<i64>().ok()?));
    match operator {
        "=" | "==" | "!=" => {
            // A pattern is no text.
            if right.text.contains(['*', '?', '[']) {
                return None;
            }
            Some((left.text == right.text) == (operator != "!="))
        }
        "-eq" => numbers().map(|(a, b)| a == b),
        "-ne" => numbers().map(|(a, b)| a != b),
        "-lt" => numbers().map(|(a, b)| a < b),
        "-le" => numbers().map(|(a, b)| a <= b),
        "-gt" => numbers().map(|(a, b)| a > b),
        "-ge" => numbers().map(|(a, b)| a >= b),
        _ => None,
    }
}
