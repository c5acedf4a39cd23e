//! Decimal numbers as they are written, compared exactly: bars, scores and acceptance lengths.
//!
//! A binary float would make `0.9` and `0.90` the same by luck and `2.675` round down; digits do not.
//! Comparing works for any size; adding and multiplying for what fits 38 digits, and says so otherwise.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::limits::NUMBER_CHARS;

/// Zeros that are written out around the digits; past it an exponent is.
const PLAIN_ZEROS: i64 = 30;

/// An exact decimal number: `0.DIGITS × 10^point`.
///
/// The digits have no zero at either end, so equal numbers are equal values; zero has none, and no sign.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Decimal {
    negative: bool,
    /// ASCII digits.
    digits: Vec<u8>,
    point: i64,
}

impl Decimal {
    /// Reads a number as JSON, YAML and shells write it: sign, digits with at most one point, exponent.
    /// `None` of anything else: blanks, `_`, `inf`, a lone point, more than [`NUMBER_CHARS`] characters.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > NUMBER_CHARS {
            return None;
        }
        let (negative, rest) = match text.strip_prefix(['-', '+']) {
            Some(rest) => (text.starts_with('-'), rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match rest.find(['e', 'E']) {
            Some(at) => (rest.get(..at)?, exponent(rest.get(at + 1..)?)?),
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
        if !all_digits(whole) || !all_digits(fraction) || (whole.is_empty() && fraction.is_empty())
        {
            return None;
        }
        let digits = whole.bytes().chain(fraction.bytes()).collect();
        let point = i64::try_from(whole.len()).ok()?.checked_add(exponent)?;
        Some(Self::normal(negative, digits, point))
    }

    /// The number that a double stands for: its shortest spelling, and all its digits where it is a whole
    /// number too large for every whole number to have a double. Two doubles, and a double and an
    /// integer, compare as in Python. `None` of what is not finite.
    pub fn of_float(float: f64) -> Option<Self> {
        /// 2^53.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if !float.is_finite() {
            return None;
        }
        let text = if float.abs() >= EXACT { format!("{float:.0}") } else { format!("{float:e}") };
        Self::parse(&text)
    }

    /// Whether it is greater than zero.
    pub fn is_positive(&self) -> bool {
        !self.negative && !self.digits.is_empty()
    }

    /// Whether it is less than zero.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// The sum; `None` where 38 digits do not hold it.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let ((a, a_scale), (b, b_scale)) = (self.scaled()?, other.scaled()?);
        let scale = a_scale.max(b_scale);
        let lift = |n: i128, from: u32| n.checked_mul(10_i128.checked_pow(scale - from)?);
        Some(Self::unscaled(lift(a, a_scale)?.checked_add(lift(b, b_scale)?)?, scale))
    }

    /// The difference; `None` where 38 digits do not hold it.
    pub fn minus(&self, other: &Self) -> Option<Self> {
        let negated = Self { negative: !other.negative && !other.is_zero(), ..other.clone() };
        self.plus(&negated)
    }

    /// The product; `None` where 38 digits do not hold it.
    pub fn times(&self, other: &Self) -> Option<Self> {
        let ((a, a_scale), (b, b_scale)) = (self.scaled()?, other.scaled()?);
        Some(Self::unscaled(a.checked_mul(b)?, a_scale.checked_add(b_scale)?))
    }

    /// The quotient by a whole number; `None` where it is no decimal of 38 digits: a third is none.
    pub fn divided(&self, by: i64) -> Option<Self> {
        let (mut value, mut scale) = self.scaled()?;
        let by = i128::from(by);
        while value.checked_rem(by)? != 0 {
            value = value.checked_mul(10)?;
            scale += 1;
        }
        Some(Self::unscaled(value.checked_div(by)?, scale))
    }

    /// Rounded to so many places after the point, a tie to the even digit, as Python's `round` and its
    /// `decimal` module do.
    pub fn rounded(&self, places: u32) -> Self {
        // How many digits stay.
        let keep = self.point.saturating_add(i64::from(places));
        let Ok(keep) = usize::try_from(keep) else { return Self::from(0) };
        if keep >= self.digits.len() {
            return self.clone();
        }
        let (kept, cut) = self.digits.split_at(keep);
        let mut kept = kept.to_vec();
        let odd = kept.last().is_some_and(|digit| digit % 2 == 1);
        let up = match cut.first() {
            Some(b'6'..) => true,
            Some(b'5') => cut.len() > 1 || odd,
            _ => false,
        };
        let mut point = self.point;
        if up {
            let nines = kept.iter().rev().take_while(|&&digit| digit == b'9').count();
            kept.truncate(kept.len() - nines);
            match kept.last_mut() {
                Some(last) => *last += 1,
                None => {
                    kept.push(b'1');
                    point += 1;
                }
            }
        }
        Self::normal(self.negative, kept, point)
    }

    fn normal(negative: bool, mut digits: Vec<u8>, mut point: i64) -> Self {
        let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
        digits.drain(..zeros);
        point = point.saturating_sub(i64::try_from(zeros).unwrap_or(i64::MAX));
        let end = digits.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
        digits.truncate(end);
        if digits.is_empty() {
            return Self { negative: false, digits, point: 0 };
        }
        Self { negative, digits, point }
    }

    /// Integer and number of places that it is to be divided by.
    fn scaled(&self) -> Option<(i128, u32)> {
        let text = std::str::from_utf8(&self.digits).ok()?;
        let digits: i128 = if text.is_empty() { 0 } else { text.parse().ok()? };
        let signed = if self.negative { -digits } else { digits };
        let scale = i64::try_from(self.digits.len()).ok()?.checked_sub(self.point)?;
        if scale >= 0 {
            let scale = u32::try_from(scale).ok().filter(|scale| *scale <= 38)?;
            return Some((signed, scale));
        }
        let zeros = u32::try_from(scale.unsigned_abs()).ok()?;
        Some((signed.checked_mul(10_i128.checked_pow(zeros)?)?, 0))
    }

    fn unscaled(value: i128, scale: u32) -> Self {
        let digits = value.unsigned_abs().to_string().into_bytes();
        let point = i64::try_from(digits.len()).unwrap_or(i64::MAX) - i64::from(scale);
        Self::normal(value < 0, digits, point)
    }

    /// Compares the absolute values.
    fn magnitude(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => {
                self.point.cmp(&other.point).then_with(|| self.digits.cmp(&other.digits))
            }
        }
    }
}

/// The exponent; one of more digits than an `i64` has is as far off as can be said.
fn exponent(text: &str) -> Option<i64> {
    const FAR: i64 = i64::MAX / 4;
    let (negative, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) => (text.starts_with('-'), digits),
        None => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse().unwrap_or(FAR).min(FAR);
    Some(if negative { -size } else { size })
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Self {
        Self::unscaled(i128::from(value), 0)
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.magnitude(other),
            (true, true) => other.magnitude(self),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// `3.39`, `-0.5`, `1e400`: plain digits where that takes few zeros.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = std::str::from_utf8(&self.digits).unwrap_or_default();
        if digits.is_empty() {
            return f.write_str("0");
        }
        if self.negative {
            f.write_str("-")?;
        }
        let length = i64::try_from(digits.len()).unwrap_or(i64::MAX);
        let whole = usize::try_from(self.point).ok();
        match whole.and_then(|whole| digits.split_at_checked(whole)) {
            Some((whole, fraction)) if !whole.is_empty() => {
                f.write_str(whole)?;
                if fraction.is_empty() { Ok(()) } else { write!(f, ".{fraction}") }
            }
            _ if (-PLAIN_ZEROS..=0).contains(&self.point) => {
                let zeros = usize::try_from(-self.point).unwrap_or_default();
                write!(f, "0.{}{digits}", "0".repeat(zeros))
            }
            _ if self.point > length && self.point - length <= PLAIN_ZEROS => {
                let zeros = usize::try_from(self.point - length).unwrap_or_default();
                write!(f, "{digits}{}", "0".repeat(zeros))
            }
            _ => {
                let (first, rest) = digits.split_at(1);
                let dot = if rest.is_empty() { "" } else { "." };
                write!(f, "{first}{dot}{rest}e{}", self.point.saturating_sub(1))
            }
        }
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text)
            .ok_or_else(|| de::Error::custom(format!("`{text}` is no decimal number")))
    }
}
