//! Expressions held against the types of what they speak of, before anything is evaluated.
//!
//! A misspelt field, a comparison that can never hold or a value that may be `none` in a text would
//! otherwise show only on the day on which the rule matters.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::machinery::ast::{BinOpKind, CallArg, CompareOpKind, Expr, Stmt, UnaryOpKind};
use minijinja::value::ValueKind;

use super::language::{FILTERS, TESTS};
use super::scope::{Mistake, Scope};
use super::syntax::{self, argument, constant_text, end, offset, path, present_where, start};
use super::types::Type;

/// Infers types and collects mistakes.
#[derive(Debug)]
pub(super) struct Checker<'a> {
    /// Facts that exist but are not in scope, for a better message.
    pub(super) facts: &'a BTreeMap<String, Type>,
    /// What was wrong.
    pub(super) mistakes: Vec<Mistake>,
    /// Names that expressions used.
    pub(super) used: BTreeSet<String>,
}

impl<'a> Checker<'a> {
    /// A checker that knows all facts by name.
    pub(super) fn new(facts: &'a BTreeMap<String, Type>) -> Self {
        Self { facts, mistakes: Vec::new(), used: BTreeSet::new() }
    }

    /// The type of an expression.
    pub(super) fn expression(&mut self, source: &str, scope: &Scope) -> Type {
        match syntax::expression(source) {
            Ok(expr) => self.infer(&expr, scope),
            Err(error) => self.syntax(source, &error),
        }
    }

    /// Whether an expression is a condition: true or false and nothing else.
    pub(super) fn condition(&mut self, source: &str, scope: &Scope) {
        match syntax::expression(source) {
            Ok(expr) => self.boolean(&expr, scope),
            Err(error) => {
                self.syntax(source, &error);
            }
        }
    }

    /// Whether a text can be shown. `blocks`: whether it may hold more than one line.
    pub(super) fn text(&mut self, source: &str, scope: &Scope, blocks: bool) {
        let template = match syntax::text(source) {
            Ok(template) => template,
            Err(error) => {
                self.syntax(source, &error);
                return;
            }
        };
        let Stmt::Template(template) = template else { return };
        for part in &template.children {
            match part {
                Stmt::EmitRaw(_) => {}
                Stmt::EmitExpr(emit) => self.shown(&emit.expr, scope, blocks),
                _ => {
                    let offset = source.find("{%").unwrap_or(0);
                    self.mistakes.push(
                        Mistake::new(offset, "a text holds `{{ expression }}`, no statements")
                            .with_help("say it with another check and a `when`"),
                    );
                }
            }
        }
    }

    fn shown(&mut self, expr: &Expr<'_>, scope: &Scope, blocks: bool) {
        let of = self.infer(expr, scope);
        let offset = start(expr);
        if matches!(expr, Expr::Filter(filter) if filter.name == "paste") && !blocks {
            self.mistakes.push(
                Mistake::new(offset, "`paste` makes several lines, and this text has one")
                    .with_help("lines to paste stand in `fix`"),
            );
        }
        match &of {
            Type::Nullable(_) | Type::Absent(_) | Type::Null => self.lacking(expr, &of),
            Type::Record(_) => {
                self.mistakes.push(
                    Mistake::new(offset, format!("a text cannot show {of}"))
                        .with_help(format!("name a field: {}", fields(&of))),
                );
            }
            Type::List(inner) if matches!(**inner, Type::Record(_) | Type::List(_)) => {
                self.mistakes.push(
                    Mistake::new(
                        offset,
                        format!("a text cannot show this list; each element is {inner}"),
                    )
                    .with_help("take a field of each, e.g. `| map('path')`, or use `each`"),
                );
            }
            Type::Open(_) => {
                self.mistakes.push(Mistake::new(offset, "a text cannot show a mapping"));
            }
            _ => {}
        }
    }

    fn syntax(&mut self, source: &str, error: &minijinja::Error) -> Type {
        let detail = error.detail().unwrap_or("it cannot be read").replace('\n', " ");
        // The engine reports an end that is missing at the end; the beginning is what to look at.
        let offset = match (error.range(), source.rfind("{{")) {
            (_, Some(open)) if !source[open..].contains("}}") => open,
            (Some(range), _) => range.start.min(source.len()),
            _ => 0,
        };
        let message = match source.rfind("{{") {
            Some(open) if !source[open..].contains("}}") => {
                "unclosed text: `{{` has no `}}`".to_owned()
            }
            _ => format!("not a Jinja expression: {detail}"),
        };
        self.mistakes.push(Mistake::new(offset, message));
        Type::Any
    }

    fn boolean(&mut self, expr: &Expr<'_>, scope: &Scope) {
        let of = self.infer(expr, scope);
        if !matches!(of, Type::Bool | Type::Any) {
            let help = match of.present() {
                _ if of.may_lack() => "ask `is none` or `is not none`",
                Type::List(_) => "ask `| length > 0`",
                _ => "compare it with something",
            };
            self.mistakes.push(
                Mistake::new(start(expr), format!("a condition is true or false; this is {of}"))
                    .with_help(help),
            );
        }
    }

    fn lacking(&mut self, expr: &Expr<'_>, of: &Type) {
        let name = path(expr).unwrap_or_else(|| "this".to_owned());
        let (message, help) = match of {
            Type::Absent(_) => (
                format!("`{name}` may not be there"),
                format!("write `{name} | default(…)`, or ask `{name} is defined` first"),
            ),
            _ => (
                format!("`{name}` may be none here"),
                format!("ask `{name} is not none` in `when`, or write `{name} | default(…)`"),
            ),
        };
        self.mistakes.push(Mistake::new(start(expr), message).with_help(help));
    }

    fn infer(&mut self, expr: &Expr<'_>, scope: &Scope) -> Type {
        let of = self.infer_declared(expr, scope);
        match path(expr) {
            Some(path) if of.may_lack() && scope.present.contains(&path) => of.present().clone(),
            _ => of,
        }
    }

    fn infer_declared(&mut self, expr: &Expr<'_>, scope: &Scope) -> Type {
        match expr {
            Expr::Var(var) => self.name(var.id, start(expr), scope),
            Expr::Const(constant) => match constant.value.kind() {
                ValueKind::None => Type::Null,
                ValueKind::Bool => Type::Bool,
                ValueKind::Number if constant.value.is_integer() => Type::Int,
                ValueKind::Number => Type::Float,
                ValueKind::String => Type::Text,
                ValueKind::Seq => Type::List(Box::new(Type::Any)),
                _ => Type::Any,
            },
            Expr::GetAttr(get) => {
                let base = self.infer(&get.expr, scope);
                let offset = end(expr).saturating_sub(get.name.len());
                self.field(&get.expr, &base, get.name, offset)
            }
            Expr::GetItem(get) => {
                let base = self.infer(&get.expr, scope);
                let key = self.infer(&get.subscript_expr, scope);
                if base.may_lack() {
                    self.lacking(&get.expr, &base);
                }
                match (base.present(), constant_text(&get.subscript_expr)) {
                    (Type::Record(_), Some(name)) => {
                        self.field(&get.expr, base.present(), &name, start(&get.subscript_expr))
                    }
                    (Type::Open(inner), _) if key.comparable(&Type::Text) => {
                        Type::Absent(inner.clone())
                    }
                    (Type::List(inner), _) if key == Type::Int => Type::Absent(inner.clone()),
                    (Type::Any, _) => Type::Any,
                    (other, _) => {
                        let message = format!("{other} cannot be asked for {key}");
                        self.mistakes.push(Mistake::new(start(expr), message));
                        Type::Any
                    }
                }
            }
            Expr::UnaryOp(op) => match op.op {
                UnaryOpKind::Not => {
                    self.boolean(&op.expr, scope);
                    Type::Bool
                }
                UnaryOpKind::Neg => self.number(&op.expr, scope),
            },
            Expr::BinOp(op) => self.binary(op.op, &op.left, &op.right, scope),
            Expr::Compare(chain) => {
                let mut left = &chain.expr;
                for op in &chain.ops {
                    self.compare(op.op, left, &op.expr, scope);
                    left = &op.expr;
                }
                Type::Bool
            }
            Expr::IfExpr(choice) => {
                self.boolean(&choice.test_expr, scope);
                let mut then = scope.clone();
                then.present.extend(present_where(&choice.test_expr, true));
                let yes = self.infer(&choice.true_expr, &then);
                let Some(otherwise) = &choice.false_expr else {
                    self.mistakes.push(Mistake::new(start(expr), "this `if` has no `else`"));
                    return yes;
                };
                let mut not = scope.clone();
                not.present.extend(present_where(&choice.test_expr, false));
                yes.join(self.infer(otherwise, &not))
            }
            Expr::Filter(filter) => self.filter(expr, filter, scope),
            Expr::Test(test) => {
                let name = test.name;
                let of = self.infer(&test.expr, scope);
                match name {
                    "none" => {
                        if !of.may_lack() && of != Type::Any {
                            let message = format!("this is {of} and never none");
                            self.mistakes.push(Mistake::new(start(&test.expr), message));
                        }
                    }
                    "defined" => {}
                    "startingwith" | "endingwith" => {
                        self.expect(&test.expr, &of, &Type::Text);
                        for arg in &test.args {
                            let arg = argument(arg);
                            let of = self.infer(arg, scope);
                            self.expect(arg, &of, &Type::Text);
                        }
                    }
                    _ => self.mistakes.push(
                        Mistake::new(
                            offset(expr.span().start_offset),
                            format!("unknown test `{name}`"),
                        )
                        .suggesting(name, TESTS.iter().map(|(name, _)| *name)),
                    ),
                }
                Type::Bool
            }
            Expr::Call(call) => {
                let name = path(&call.expr).unwrap_or_default();
                self.mistakes.push(
                    Mistake::new(start(expr), format!("unknown function `{name}`")).with_help(
                        "there are no functions, only filters and tests; docs/rules.md lists them",
                    ),
                );
                Type::Any
            }
            Expr::List(list) => Type::List(Box::new(
                list.items
                    .iter()
                    .map(|item| self.infer(item, scope))
                    .reduce(Type::join)
                    .unwrap_or(Type::Any),
            )),
            Expr::Tuple(_) | Expr::Map(_) | Expr::Slice(_) => {
                let message = format!("a {} has no use in a rule", expr.description());
                self.mistakes.push(Mistake::new(start(expr), message));
                Type::Any
            }
        }
    }

    fn name(&mut self, name: &str, offset: usize, scope: &Scope) -> Type {
        self.used.insert(name.to_owned());
        if let Some(of) = scope.names.get(name) {
            return of.clone();
        }
        let mistake = if self.facts.contains_key(name) {
            Mistake::new(offset, format!("the fact `{name}` is not in `needs`"))
                .with_help(format!("add `{name}` to `needs`"))
        } else {
            Mistake::new(offset, format!("unknown name `{name}`"))
                .suggesting(name, scope.names.keys().map(String::as_str))
        };
        self.mistakes.push(mistake);
        Type::Any
    }

    fn field(&mut self, owner: &Expr<'_>, base: &Type, name: &str, offset: usize) -> Type {
        if base.may_lack() {
            self.lacking(owner, base);
        }
        match base.present() {
            Type::Any => Type::Any,
            Type::Record(record) => record.fields.get(name).cloned().unwrap_or_else(|| {
                let owner = path(owner).unwrap_or_else(|| record.name.clone());
                self.mistakes.push(
                    Mistake::new(offset, format!("`{owner}` has no field `{name}`"))
                        .suggesting(name, record.fields.keys().map(String::as_str)),
                );
                Type::Any
            }),
            Type::Open(inner) => Type::Absent(inner.clone()),
            other => {
                let mut mistake = Mistake::new(offset, format!("{other} has no field `{name}`"));
                if matches!(other, Type::List(_)) {
                    mistake = mistake.with_help("go over its elements with `each`");
                }
                self.mistakes.push(mistake);
                Type::Any
            }
        }
    }

    fn expect(&mut self, expr: &Expr<'_>, of: &Type, wanted: &Type) {
        if of.may_lack() {
            self.lacking(expr, of);
        } else if !of.comparable(wanted) {
            let message = format!("this is {of}, expected {wanted}");
            self.mistakes.push(Mistake::new(start(expr), message));
        }
    }

    fn number(&mut self, expr: &Expr<'_>, scope: &Scope) -> Type {
        let of = self.infer(expr, scope);
        self.expect(expr, &of, &Type::Int);
        if of == Type::Float { Type::Float } else { Type::Int }
    }

    fn binary(&mut self, op: BinOpKind, left: &Expr<'_>, right: &Expr<'_>, scope: &Scope) -> Type {
        let compared = match op {
            BinOpKind::ScAnd | BinOpKind::ScOr => {
                self.boolean(left, scope);
                let mut then = scope.clone();
                then.present.extend(present_where(left, matches!(op, BinOpKind::ScAnd)));
                self.boolean(right, &then);
                return Type::Bool;
            }
            BinOpKind::Concat => {
                for side in [left, right] {
                    let of = self.infer(side, scope);
                    if !matches!(of, Type::Int) {
                        self.expect(side, &of, &Type::Text);
                    }
                }
                return Type::Text;
            }
            BinOpKind::Add
            | BinOpKind::Sub
            | BinOpKind::Mul
            | BinOpKind::Div
            | BinOpKind::FloorDiv
            | BinOpKind::Rem
            | BinOpKind::Pow => {
                let (left, right) = (self.number(left, scope), self.number(right, scope));
                return if matches!(op, BinOpKind::Div) { Type::Float } else { left.join(right) };
            }
            BinOpKind::Eq => CompareOpKind::Eq,
            BinOpKind::Ne => CompareOpKind::Ne,
            BinOpKind::Lt => CompareOpKind::Lt,
            BinOpKind::Lte => CompareOpKind::Lte,
            BinOpKind::Gt => CompareOpKind::Gt,
            BinOpKind::Gte => CompareOpKind::Gte,
            BinOpKind::In => CompareOpKind::In,
        };
        self.compare(compared, left, right, scope);
        Type::Bool
    }

    fn compare(&mut self, op: CompareOpKind, left: &Expr<'_>, right: &Expr<'_>, scope: &Scope) {
        let (a, b) = (self.infer(left, scope), self.infer(right, scope));
        for (of, side) in [(&a, left), (&b, right)] {
            let ordered = !matches!(op, CompareOpKind::Eq | CompareOpKind::Ne);
            if matches!(of, Type::Absent(_)) || (ordered && of.may_lack()) {
                return self.lacking(side, of);
            }
        }
        match op {
            CompareOpKind::In | CompareOpKind::NotIn => match b.present() {
                Type::List(inner) => {
                    if !a.comparable(inner) {
                        let message = format!("{a} is never in this list; each element is {inner}");
                        self.mistakes.push(Mistake::new(start(left), message));
                    }
                    if let Some(word) = constant_text(left) {
                        self.word(&word, inner, left);
                    }
                }
                Type::Text | Type::Words(_) | Type::Open(_) => self.expect(left, &a, &Type::Text),
                Type::Any => {}
                other => {
                    let message = format!("nothing can be in {other}");
                    self.mistakes.push(Mistake::new(start(right), message));
                }
            },
            _ if !a.comparable(&b) => {
                let message = format!("{a} never equals {b}");
                self.mistakes.push(Mistake::new(start(right), message));
            }
            CompareOpKind::Eq | CompareOpKind::Ne => {
                for (of, side) in [(&a, right), (&b, left)] {
                    if let Some(word) = constant_text(side) {
                        self.word(&word, of, side);
                    }
                }
            }
            _ => {
                if !matches!(a, Type::Int | Type::Float | Type::Text | Type::Any) {
                    let message = format!("{a} has no order");
                    self.mistakes.push(Mistake::new(start(left), message));
                }
            }
        }
    }

    /// A constant that is compared with one of some words has to be one of them.
    fn word(&mut self, word: &str, of: &Type, side: &Expr<'_>) {
        if let Type::Words(words) = of.present()
            && !words.iter().any(|known| known == word)
        {
            self.mistakes.push(
                Mistake::new(start(side), format!("the value is never `{word}`"))
                    .suggesting(word, words.iter().map(String::as_str)),
            );
        }
    }

    fn filter(
        &mut self,
        whole: &Expr<'_>,
        filter: &minijinja::machinery::ast::Filter<'_>,
        scope: &Scope,
    ) -> Type {
        let Some(input) = &filter.expr else { return Type::Any };
        let of = self.infer(input, scope);
        let args: Vec<&Expr<'_>> = filter.args.iter().map(argument).collect();
        let name = filter.name;
        let wanted = match name {
            "default" | "map" | "rejectattr" | "selectattr" => 1,
            "plural" => 2,
            _ => 0,
        };
        if !FILTERS.iter().any(|(known, _)| *known == name) {
            self.mistakes.push(
                Mistake::new(offset(whole.span().start_offset), format!("unknown filter `{name}`"))
                    .suggesting(name, FILTERS.iter().map(|(name, _)| *name)),
            );
            return Type::Any;
        }
        if args.len() != wanted || filter.args.iter().any(|arg| !matches!(arg, CallArg::Pos(_))) {
            self.mistakes.push(Mistake::new(
                start(whole),
                format!("`{name}` takes {wanted} arguments, without names"),
            ));
            return Type::Any;
        }
        match name {
            "default" => {
                let other = self.infer(args[0], scope);
                if !of.may_lack() && of != Type::Any {
                    let message = format!("this is {of} and never none, so `default` does nothing");
                    self.mistakes.push(Mistake::new(start(input), message));
                }
                of.present().clone().join(other)
            }
            "length" => {
                if !matches!(of, Type::List(_) | Type::Open(_) | Type::Any) {
                    let message = format!("this is {of} and has no length");
                    self.mistakes.push(Mistake::new(start(input), message));
                }
                Type::Int
            }
            "lower" | "short" => {
                self.expect(input, &of, &Type::Text);
                Type::Text
            }
            "prose" => {
                self.expect(input, &of, &Type::Text);
                Type::Markup
            }
            "plural" => {
                self.expect(input, &of, &Type::Int);
                for arg in args {
                    let of = self.infer(arg, scope);
                    self.expect(arg, &of, &Type::Text);
                }
                Type::Markup
            }
            "paste" => {
                if !of.comparable(&Type::Text) && !of.comparable(&Type::List(Box::new(Type::Text)))
                {
                    let message = format!("this is {of}; only texts can be pasted");
                    self.mistakes.push(Mistake::new(start(input), message));
                } else if of.may_lack() {
                    self.lacking(input, &of);
                }
                Type::Markup
            }
            _ => self.of_elements(name, input, &of, args[0]),
        }
    }

    /// `map`, `selectattr` and `rejectattr`.
    fn of_elements(&mut self, filter: &str, input: &Expr<'_>, of: &Type, field: &Expr<'_>) -> Type {
        let Type::List(element) = of else {
            if *of != Type::Any {
                let message = format!("`{filter}` takes a list; this is {of}");
                self.mistakes.push(Mistake::new(start(input), message));
            }
            return Type::Any;
        };
        let Some(name) = constant_text(field) else {
            let message = format!("`{filter}` takes the name of a field in quotes");
            self.mistakes.push(Mistake::new(start(field), message));
            return Type::Any;
        };
        let value = self.field(input, element, &name, start(field));
        if filter == "map" {
            return Type::List(Box::new(value));
        }
        if !matches!(value, Type::Bool | Type::Any) {
            let message = format!("`{name}` is {value}, expected true or false");
            self.mistakes.push(Mistake::new(start(field), message));
        }
        of.clone()
    }
}

fn fields(of: &Type) -> String {
    match of.present() {
        Type::Record(record) => {
            record.fields.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
#[path = "typing_tests.rs"]
mod tests;
