//! Numbers of a JSON file: their text, and the value that Python makes of it.

use std::fmt;

use super::short;
use crate::bench::decimal::Decimal;
use crate::limits::NUMBER_CHARS;

/// A finite number, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number {
    text: Box<str>,
}

/// Why what stands for a number is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invalid {
    /// `NaN`.
    NotANumber,
    /// `Infinity`.
    Infinity,
    /// `-Infinity`.
    NegativeInfinity,
    /// Digits of a number past the range of a double, such as `1e400`; the text, cut where it is long.
    TooLarge(String),
    /// More than [`NUMBER_CHARS`] characters; the beginning of the text.
    TooLong(String),
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotANumber => f.write_str("NaN"),
            Self::Infinity => f.write_str("Infinity"),
            Self::NegativeInfinity => f.write_str("-Infinity"),
            Self::TooLarge(text) => write!(f, "`{text}` is past the range of a double"),
            Self::TooLong(text) => write!(f, "`{text}` has more than {NUMBER_CHARS} characters"),
        }
    }
}

impl Number {
    /// The number of a spelling that JSON's grammar allows.
    pub(super) fn new(text: &str) -> Result<Self, Invalid> {
        if text.len() > NUMBER_CHARS {
            return Err(Invalid::TooLong(short(text)));
        }
        match text.parse::<f64>() {
            Ok(float) if float.is_finite() => Ok(Self { text: text.into() }),
            _ => Err(Invalid::TooLarge(short(text))),
        }
    }

    /// As written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is written without point and exponent: an `int` to Python.
    pub fn is_int(&self) -> bool {
        !self.text.contains(['.', 'e', 'E'])
    }

    /// The integer, where it is written as one and 64 bits hold it.
    pub fn int(&self) -> Option<i64> {
        if self.is_int() { self.text.parse().ok() } else { None }
    }

    /// The nearest double.
    pub fn float(&self) -> f64 {
        self.text.parse().unwrap_or(f64::NAN)
    }

    /// What is written, exactly.
    pub fn decimal(&self) -> Decimal {
        Decimal::parse(&self.text).unwrap_or_else(|| Decimal::from(0))
    }

    /// The value that Python holds after reading it: an integer exactly, anything else as a double, so
    /// that `1e-400` is zero. Compares as Python compares.
    pub fn python(&self) -> Decimal {
        if self.is_int() {
            return self.decimal();
        }
        Decimal::of_float(self.float()).unwrap_or_else(|| self.decimal())
    }
}
