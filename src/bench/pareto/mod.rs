//! The frontier of a measured curve: which of its points no other one beats, and how many there are.
//!
//! A point is its latency `x` in seconds and its throughput `y` per accelerator. It is on the front where
//! it raises the highest throughput seen at lower latencies, or equals it at a new latency. Values are
//! compared as Python compares what it read, without rounding.
//!
//! Source: `pareto.md`, sections "Axes" and "Algorithm"; the benchmark's dashboard draws this front.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::decimal::Decimal;
use super::python_json::{self, Invalid, JsonError, Node, Number, Value, member};

/// What must hold of a curve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParetoSettings {
    /// Points that a front should have at least.
    pub recommended: usize,
    /// The key that marks the points of the canonical front. Where any point carries it, the front is
    /// restricted to those where it is exactly `true`.
    pub flag: String,
}

/// One coordinate of a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Coordinate {
    /// A number greater than zero.
    Measured(Decimal),
    /// Anything else, and what it is: missing, zero, negative, not finite, a text, a truth value.
    Invalid(String),
}

/// The mark of the canonical front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flag {
    /// The key is not there.
    #[default]
    Absent,
    /// It is exactly `true`.
    Set,
    /// It is anything else.
    Unset,
}

/// A measured point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// End-to-end latency in seconds.
    pub x: Coordinate,
    /// Total token throughput per accelerator, in tokens per second.
    pub y: Coordinate,
    /// Whether it is marked as being on the canonical front.
    pub flag: Flag,
}

/// The points of one curve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Curve {
    /// Its name, unique in a report.
    pub key: String,
    /// Its points, in the order of the source.
    pub points: Vec<Point>,
}

/// Whether a curve is covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Every measurement is valid and the front has the recommended points.
    Pass,
    /// Not so.
    Warn,
}

/// What came of one curve. As JSON it is what `inspect pareto` prints of a curve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The curve.
    pub key: String,
    /// Its points.
    pub measured: usize,
    /// Those of them with an invalid coordinate.
    pub invalid: usize,
    /// The points on the front.
    pub count: usize,
    /// Whether that is enough.
    pub status: Status,
    /// The points on the front, as indices of the curve's points, by rising latency.
    pub frontier: Vec<usize>,
    /// Whether the front was restricted to marked points.
    #[serde(skip)]
    pub restricted: bool,
    /// Where it was: points that carry no mark, as indices, rising. They are left out of the front.
    #[serde(skip)]
    pub unmarked: Vec<usize>,
    /// The points with an invalid coordinate, as indices, rising.
    #[serde(skip)]
    pub invalid_points: Vec<usize>,
}

/// Why no report can be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParetoError {
    /// The file is no JSON.
    #[error("{0}")]
    Json(#[from] JsonError),
    /// Something in it is missing or of another type.
    #[error("{pointer:?}, line {line}: {message}")]
    Shape {
        /// The JSON pointer.
        pointer: String,
        /// Its line.
        line: i64,
        /// What is wrong.
        message: String,
    },
    /// There is no curve: coverage cannot be shown.
    #[error("there is no curve, so that coverage cannot be shown; give at least one")]
    NoCurve,
    /// Two curves have one key.
    #[error("two curves have the key `{0}`; put all points of a series into one curve")]
    SameKey(String),
}

impl Coordinate {
    /// The coordinate that a value of a file stands for.
    pub fn of(node: Option<&Node>) -> Self {
        let Some(node) = node else { return Self::missing() };
        match &node.value {
            Value::Number(number) => Self::number(number),
            Value::Invalid(invalid @ (Invalid::TooLarge(_) | Invalid::TooLong(_))) => {
                Self::Invalid(invalid.to_string())
            }
            Value::Invalid(invalid) => Self::Invalid(format!("{invalid} is not finite")),
            _ => Self::Invalid(format!("{} is no number", node.describe())),
        }
    }

    /// The coordinate that a number stands for.
    pub fn number(number: &Number) -> Self {
        match number.python() {
            value if value.is_positive() => Self::Measured(value),
            _ => Self::Invalid(format!("{} is not greater than zero", number.text())),
        }
    }

    /// The coordinate that is not there.
    pub fn missing() -> Self {
        Self::Invalid("it is missing".to_owned())
    }
}

impl Point {
    /// Both coordinates, where both are valid.
    pub fn eligible(&self) -> Option<(&Decimal, &Decimal)> {
        match (&self.x, &self.y) {
            (Coordinate::Measured(x), Coordinate::Measured(y)) => Some((x, y)),
            _ => None,
        }
    }
}

/// Reads the curves of a file `[{key, points: [{x, y, …}]}]`. A point that is no object is a point with
/// invalid coordinates; other fields are passed over.
///
/// # Errors
/// What is no JSON, and a curve without key or points.
pub fn read(bytes: &[u8], settings: &ParetoSettings) -> Result<Vec<Curve>, ParetoError> {
    let document = python_json::parse(bytes)?;
    let shape = |pointer: &str, at: &Node, message: String| ParetoError::Shape {
        pointer: pointer.to_owned(),
        line: at.at.line,
        message,
    };
    let root = &document.root;
    let curves = root.array().map_err(|wrong| {
        shape("", root, format!("expected {}, found {}", wrong.wanted, wrong.found))
    })?;
    let mut read = Vec::new();
    for (n, curve) in curves.iter().enumerate() {
        let pointer = format!("/{n}");
        let field = |name: &str| {
            curve.get(name).ok_or_else(|| shape(&pointer, curve, format!("`{name}` is missing")))
        };
        let at = |name: &str, wrong: python_json::WrongType| ParetoError::Shape {
            pointer: member(&pointer, name),
            line: wrong.at.line,
            message: format!("expected {}, found {}", wrong.wanted, wrong.found),
        };
        let key = field("key")?.text().map_err(|wrong| at("key", wrong))?;
        let points = field("points")?.array().map_err(|wrong| at("points", wrong))?;
        let points = points.iter().map(|node| Point {
            x: Coordinate::of(node.get("x")),
            y: Coordinate::of(node.get("y")),
            flag: match node.get(&settings.flag).map(|flag| &flag.value) {
                None => Flag::Absent,
                Some(Value::Bool(true)) => Flag::Set,
                Some(_) => Flag::Unset,
            },
        });
        read.push(Curve { key: key.to_owned(), points: points.collect() });
    }
    Ok(read)
}

/// The report of all curves, in their order.
///
/// # Errors
/// There is no curve, or two have one key.
pub fn report(curves: &[Curve], settings: &ParetoSettings) -> Result<Vec<Report>, ParetoError> {
    if curves.is_empty() {
        return Err(ParetoError::NoCurve);
    }
    let mut keys = BTreeSet::new();
    if let Some(twice) = curves.iter().find(|curve| !keys.insert(&curve.key)) {
        return Err(ParetoError::SameKey(twice.key.clone()));
    }
    Ok(curves.iter().map(|curve| cover(curve, settings)).collect())
}

/// The report of one curve.
pub fn cover(curve: &Curve, settings: &ParetoSettings) -> Report {
    let points = &curve.points;
    let indices = |keep: &dyn Fn(&Point) -> bool| -> Vec<usize> {
        points.iter().enumerate().filter(|(_, point)| keep(point)).map(|(n, _)| n).collect()
    };
    let invalid_points = indices(&|point| point.eligible().is_none());
    let restricted = points.iter().any(|point| point.flag != Flag::Absent);
    let mut frontier = front(points);
    let mut unmarked = Vec::new();
    if restricted {
        frontier.retain(|&n| points.get(n).is_some_and(|point| point.flag == Flag::Set));
        unmarked = indices(&|point| point.flag == Flag::Absent);
    }
    let enough = invalid_points.is_empty() && frontier.len() >= settings.recommended;
    Report {
        key: curve.key.clone(),
        measured: points.len(),
        invalid: invalid_points.len(),
        count: frontier.len(),
        status: if enough { Status::Pass } else { Status::Warn },
        frontier,
        restricted,
        unmarked,
        invalid_points,
    }
}

/// The front of the eligible points, as indices by rising latency. Of points that are equal the first one
/// stands for all.
fn front(points: &[Point]) -> Vec<usize> {
    let mut eligible: Vec<(usize, &Decimal, &Decimal)> = points
        .iter()
        .enumerate()
        .filter_map(|(n, point)| point.eligible().map(|(x, y)| (n, x, y)))
        .collect();
    eligible.sort_by(|(_, x1, y1), (_, x2, y2)| x1.cmp(x2).then_with(|| y2.cmp(y1)));
    // Of one latency the highest comes first, so that no later point of it is kept.
    let mut front: Vec<(usize, &Decimal, &Decimal)> = Vec::new();
    for (n, x, y) in eligible {
        let kept = front
            .last()
            .is_none_or(|(_, last_x, highest)| y > highest || (y == *highest && x > last_x));
        if kept {
            front.push((n, x, y));
        }
    }
    front.into_iter().map(|(n, _, _)| n).collect()
}
