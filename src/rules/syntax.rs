//! Reading an expression's syntax tree: where its parts stand, and what a condition says of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use minijinja::machinery::ast::{BinOpKind, CallArg, CompareOpKind, Expr, Stmt, UnaryOpKind};
use minijinja::machinery::{self, Span};
use minijinja::{Error, ErrorKind};

use crate::limits::EXPRESSION_BYTES;

/// The syntax tree of an expression.
///
/// # Errors
/// What is no expression, and what is too long to be one: its tree is walked by recursion.
pub(super) fn expression(source: &str) -> Result<Expr<'_>, Error> {
    bounded(source)?;
    machinery::parse_expr(source)
}

/// The syntax tree of a text with expressions in it.
///
/// # Errors
/// See [`expression`].
pub(super) fn text(source: &str) -> Result<Stmt<'_>, Error> {
    bounded(source)?;
    machinery::parse(source, "text", Default::default())
}

fn bounded(source: &str) -> Result<(), Error> {
    if source.len() <= EXPRESSION_BYTES {
        return Ok(());
    }
    let message = format!("it has {} bytes, and {EXPRESSION_BYTES} is the most", source.len());
    Err(Error::new(ErrorKind::SyntaxError, message))
}

/// The paths that are not `none` where a condition has an outcome.
pub(super) fn present_where(expr: &Expr<'_>, outcome: bool) -> BTreeSet<String> {
    let both = |left: &Expr<'_>, right: &Expr<'_>| {
        let mut all = present_where(left, outcome);
        all.extend(present_where(right, outcome));
        all
    };
    let compared = |equal: bool, left: &Expr<'_>, right: &Expr<'_>| {
        let other = match (is_none(left), is_none(right)) {
            (false, true) => left,
            (true, false) => right,
            _ => return BTreeSet::new(),
        };
        if equal == outcome { BTreeSet::new() } else { path(other).into_iter().collect() }
    };
    match expr {
        Expr::UnaryOp(op) if matches!(op.op, UnaryOpKind::Not) => present_where(&op.expr, !outcome),
        Expr::BinOp(op) => match op.op {
            BinOpKind::ScAnd if outcome => both(&op.left, &op.right),
            BinOpKind::ScOr if !outcome => both(&op.left, &op.right),
            BinOpKind::Eq => compared(true, &op.left, &op.right),
            BinOpKind::Ne => compared(false, &op.left, &op.right),
            _ => BTreeSet::new(),
        },
        Expr::Compare(chain) => match chain.ops.as_slice() {
            [op] if matches!(op.op, CompareOpKind::Eq) => compared(true, &chain.expr, &op.expr),
            [op] if matches!(op.op, CompareOpKind::Ne) => compared(false, &chain.expr, &op.expr),
            _ => BTreeSet::new(),
        },
        Expr::Test(test) if test.name == "none" && !outcome => {
            path(&test.expr).into_iter().collect()
        }
        Expr::Test(test) if test.name == "defined" && outcome => {
            path(&test.expr).into_iter().collect()
        }
        _ => BTreeSet::new(),
    }
}

fn is_none(expr: &Expr<'_>) -> bool {
    matches!(expr, Expr::Const(constant) if constant.value.is_none())
}

/// `a.b.c`, where an expression is one.
pub(super) fn path(expr: &Expr<'_>) -> Option<String> {
    match expr {
        Expr::Var(var) => Some(var.id.to_owned()),
        Expr::GetAttr(get) => Some(format!("{}.{}", path(&get.expr)?, get.name)),
        _ => None,
    }
}

pub(super) fn constant_text(expr: &Expr<'_>) -> Option<Arc<str>> {
    match expr {
        Expr::Const(constant) => constant.value.to_str(),
        _ => None,
    }
}

pub(super) fn argument<'e, 's>(arg: &'e CallArg<'s>) -> &'e Expr<'s> {
    match arg {
        CallArg::Pos(expr)
        | CallArg::Kwarg(_, expr)
        | CallArg::PosSplat(expr)
        | CallArg::KwargSplat(expr) => expr,
    }
}

/// Where an expression begins. The engine's spans of compound expressions begin at their operator.
pub(super) fn start(expr: &Expr<'_>) -> usize {
    let inner = match expr {
        Expr::BinOp(op) => start(&op.left),
        Expr::Compare(chain) => start(&chain.expr),
        Expr::GetAttr(get) => start(&get.expr),
        Expr::GetItem(get) => start(&get.expr),
        Expr::IfExpr(choice) => start(&choice.true_expr),
        Expr::Test(test) => start(&test.expr),
        Expr::Call(call) => start(&call.expr),
        Expr::UnaryOp(op) => start(&op.expr),
        Expr::Filter(filter) => filter.expr.as_ref().map_or(usize::MAX, start),
        _ => usize::MAX,
    };
    inner.min(offset(expr.span().start_offset))
}

pub(super) fn end(expr: &Expr<'_>) -> usize {
    let Span { end_offset, .. } = expr.span();
    offset(end_offset)
}

pub(super) fn offset(n: u32) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
