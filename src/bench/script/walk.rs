//! The walk over a script's syntax, in the order in which it runs.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::condition::holds;
use super::word::{Value, Variables, raw, word, words};
use super::{Command, Heredoc, Note, Script, Word, place};
use crate::limits::{PROBLEMS, SCRIPT_COMMANDS};

/// Walks a whole script.
pub(super) fn walk(source: &str, root: Node<'_>, known: &BTreeMap<String, String>) -> Script {
    let mut variables = Variables::default();
    for (name, value) in known {
        variables.plain.insert(name.clone(), Value::Known(value.clone()));
    }
    let mut walker = Walker { source, variables, guards: Vec::new(), script: Script::default() };
    walker.node(root);
    let Walker { variables, mut script, .. } = walker;
    script.arrays = variables.arrays;
    script.problems.truncate(PROBLEMS);
    script
}

struct Walker<'s> {
    source: &'s str,
    variables: Variables,
    guards: Vec<String>,
    script: Script,
}

impl Walker<'_> {
    fn children(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for child in children {
            self.node(child);
        }
    }

    fn problem(&mut self, node: Node<'_>, message: &str) {
        self.script.problems.push(Note { at: place(node), message: message.to_owned() });
    }

    fn node(&mut self, node: Node<'_>) {
        if self.script.commands.len() >= SCRIPT_COMMANDS {
            if self.script.commands.len() == SCRIPT_COMMANDS {
                self.problem(
                    node,
                    &format!("more than {SCRIPT_COMMANDS} commands; the rest is not read"),
                );
                self.script.commands.push(Command::default());
            }
            return;
        }
        match node.kind() {
            "comment" | "test_command" => {}
            "command" => self.command(node),
            "variable_assignment" => _ = self.assignment(node, false),
            "declaration_command" => self.declaration(node),
            "if_statement" => self.condition(node),
            "case_statement" => self.case(node),
            "for_statement" | "c_style_for_statement" | "while_statement" => self.repeated(node),
            "redirected_statement" => self.redirected(node),
            "ERROR" => {
                self.problem(node, "this is no bash that can be read");
                self.children(node);
            }
            _ => self.children(node),
        }
    }

    fn command(&mut self, node: Node<'_>) {
        let mut command =
            Command { at: place(node), guards: self.guards.clone(), ..Command::default() };
        let mut cursor = node.walk();
        let parts: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for part in parts {
            match part.kind() {
                // Set for this command alone.
                "variable_assignment" => {}
                "file_redirect" => self.writes(part, &mut command),
                "heredoc_redirect" => self.heredoc(part, &mut command),
                "herestring_redirect" => {}
                _ => command.words.extend(words(self.source, part, &self.variables)),
            }
            self.inside(part);
        }
        if !command.words.is_empty() {
            self.script.commands.push(command);
        }
    }

    /// Commands that stand inside of a word: `$( … )`.
    fn inside(&mut self, node: Node<'_>) {
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            if node.kind() == "command_substitution" || node.kind() == "process_substitution" {
                self.children(node);
                continue;
            }
            let mut cursor = node.walk();
            stack.extend(node.named_children(&mut cursor));
        }
    }

    fn writes(&mut self, redirect: Node<'_>, command: &mut Command) {
        if !raw(self.source, redirect).contains('>') {
            return;
        }
        if let Some(target) = redirect.child_by_field_name("destination") {
            command.writes.push(word(self.source, target, &self.variables));
        }
    }

    fn heredoc(&mut self, redirect: Node<'_>, command: &mut Command) {
        let mut cursor = redirect.walk();
        for part in redirect.named_children(&mut cursor) {
            match part.kind() {
                "heredoc_body" => {
                    command.heredoc =
                        Some(Heredoc { text: raw(self.source, part).to_owned(), at: place(part) });
                }
                "file_redirect" => self.writes(part, command),
                _ => {}
            }
        }
    }

    fn redirected(&mut self, node: Node<'_>) {
        let before = self.script.commands.len();
        if let Some(body) = node.child_by_field_name("body") {
            self.node(body);
        }
        let mut redirects = Command::default();
        let mut cursor = node.walk();
        let parts: Vec<Node<'_>> = node.children_by_field_name("redirect", &mut cursor).collect();
        for part in parts {
            match part.kind() {
                "file_redirect" => self.writes(part, &mut redirects),
                "heredoc_redirect" => {
                    self.heredoc(part, &mut redirects);
                    // What follows on the same line, after the heredoc's name.
                    let mut inner = part.walk();
                    let rest: Vec<Node<'_>> = part.named_children(&mut inner).collect();
                    for child in rest {
                        if matches!(child.kind(), "pipeline" | "command" | "list") {
                            self.node(child);
                        }
                    }
                }
                _ => {}
            }
        }
        // The redirects belong to the first command of the body.
        if let Some(command) = self.script.commands.get_mut(before) {
            command.writes.extend(redirects.writes);
            if command.heredoc.is_none() {
                command.heredoc = redirects.heredoc;
            }
        }
    }

    /// Sets a variable; gives its name.
    fn assignment(&mut self, node: Node<'_>, export: bool) -> Option<String> {
        let name_node = node.child_by_field_name("name")?;
        let name = raw(self.source, name_node).to_owned();
        let append =
            raw(self.source, node).get(name.len()..).is_some_and(|rest| rest.starts_with("+="));
        let Some(value) = node.child_by_field_name("value") else {
            self.set(&name, Word { known: true, at: place(node), ..Word::default() }, append);
            return Some(name);
        };
        self.inside(value);
        if name_node.kind() == "subscript" {
            return None;
        }
        if value.kind() == "array" {
            let mut cursor = value.walk();
            let elements: Vec<Node<'_>> = value.named_children(&mut cursor).collect();
            let mut list = Vec::new();
            for element in elements {
                list.extend(words(self.source, element, &self.variables));
            }
            if append {
                self.variables.arrays.entry(name.clone()).or_default().extend(list);
            } else if self.guards.is_empty() {
                self.variables.arrays.insert(name.clone(), list);
            } else {
                // Under an unknown test both may be: what was, and what is set here.
                self.variables.arrays.entry(name.clone()).or_default().extend(list);
            }
            return Some(name);
        }
        let value = word(self.source, value, &self.variables);
        if export {
            self.script.exports.push((name.clone(), value.clone()));
        }
        self.set(&name, value, append);
        Some(name)
    }

    fn set(&mut self, name: &str, value: Word, append: bool) {
        let before = match self.variables.plain.get(name) {
            Some(Value::Known(text)) if append => text.clone(),
            Some(Value::Unknown(_)) if append => return,
            _ => String::new(),
        };
        let text = format!("{before}{}", value.text);
        let known = value.known && self.guards.is_empty();
        let value = if known { Value::Known(text) } else { Value::Unknown(text) };
        self.variables.plain.insert(name.to_owned(), value);
    }

    fn declaration(&mut self, node: Node<'_>) {
        let export = raw(self.source, node).trim_start().starts_with("export");
        let mut cursor = node.walk();
        let parts: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for part in parts {
            match part.kind() {
                "variable_assignment" => _ = self.assignment(part, export),
                "variable_name" if export => {
                    let name = raw(self.source, part).to_owned();
                    let value = match self.variables.plain.get(&name) {
                        Some(Value::Known(text)) => {
                            Word { text: text.clone(), known: true, at: place(part) }
                        }
                        Some(Value::Unknown(text)) => {
                            Word { text: text.clone(), known: false, at: place(part) }
                        }
                        None => continue,
                    };
                    self.script.exports.push((name, value));
                }
                _ => {}
            }
        }
    }

    fn guarded(&mut self, guard: String, nodes: &[Node<'_>]) {
        self.guards.push(guard);
        for node in nodes {
            self.node(*node);
        }
        self.guards.pop();
    }

    fn condition(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let conditions: Vec<Node<'_>> =
            node.children_by_field_name("condition", &mut cursor).collect();
        let conditions: Vec<Node<'_>> =
            conditions.into_iter().filter(|condition| condition.is_named()).collect();
        let mut cursor = node.walk();
        let after = conditions.last().map_or(0, Node::end_byte);
        let all: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        let rest: Vec<Node<'_>> =
            all.into_iter().filter(|child| child.start_byte() >= after).collect();
        for condition in &conditions {
            self.node(*condition);
        }
        let (branches, body): (Vec<Node<'_>>, Vec<Node<'_>>) = rest
            .into_iter()
            .partition(|child| matches!(child.kind(), "elif_clause" | "else_clause"));
        let first = conditions.first().copied();
        let holds = first
            .filter(|_| conditions.len() == 1)
            .and_then(|condition| holds(self.source, condition, &self.variables));
        let guard = first.map_or(String::new(), |condition| raw(self.source, condition).to_owned());
        match holds {
            Some(true) => body.iter().for_each(|node| self.node(*node)),
            Some(false) => self.branches(&branches),
            None => {
                self.guarded(guard.clone(), &body);
                self.guards.push(format!("not {guard}"));
                self.branches(&branches);
                self.guards.pop();
            }
        }
    }

    /// `elif` and `else`, one after the other.
    fn branches(&mut self, branches: &[Node<'_>]) {
        let Some((first, others)) = branches.split_first() else { return };
        if first.kind() == "else_clause" {
            self.children(*first);
            return;
        }
        let mut cursor = first.walk();
        let parts: Vec<Node<'_>> = first.named_children(&mut cursor).collect();
        let Some((condition, body)) = parts.split_first() else { return };
        self.node(*condition);
        match holds(self.source, *condition, &self.variables) {
            Some(true) => body.iter().for_each(|node| self.node(*node)),
            Some(false) => self.branches(others),
            None => {
                let guard = raw(self.source, *condition).to_owned();
                self.guarded(guard.clone(), body);
                self.guards.push(format!("not {guard}"));
                self.branches(others);
                self.guards.pop();
            }
        }
    }

    fn case(&mut self, node: Node<'_>) {
        let value =
            node.child_by_field_name("value").map(|v| word(self.source, v, &self.variables));
        let mut cursor = node.walk();
        let items: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for item in items.into_iter().filter(|item| item.kind() == "case_item") {
            let mut cursor = item.walk();
            let patterns: Vec<Node<'_>> =
                item.children_by_field_name("value", &mut cursor).collect();
            let after = patterns.last().map_or(0, Node::end_byte);
            let mut cursor = item.walk();
            let body: Vec<Node<'_>> = item
                .named_children(&mut cursor)
                .filter(|child| child.start_byte() >= after)
                .collect();
            let texts: Vec<&str> = patterns.iter().map(|node| raw(self.source, *node)).collect();
            let guard = texts.join("|");
            let exact = |text: &&str| !text.contains(['*', '?', '[', '$']);
            match &value {
                Some(value) if value.known && texts.iter().all(exact) => {
                    let is = texts.iter().any(|text| text.trim_matches(['"', '\'']) == value.text);
                    if is {
                        body.iter().for_each(|node| self.node(*node));
                        return;
                    }
                }
                _ => self.guarded(guard, &body),
            }
        }
    }

    fn repeated(&mut self, node: Node<'_>) {
        let guard = raw(self.source, node).lines().next().unwrap_or_default().to_owned();
        if let Some(name) = node.child_by_field_name("variable") {
            let name = raw(self.source, name).to_owned();
            let written = format!("${{{name}}}");
            self.variables.plain.insert(name, Value::Unknown(written));
        }
        let mut cursor = node.walk();
        let body: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        self.guarded(guard, &body);
    }
}
