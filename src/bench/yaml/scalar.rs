//! The implicit types of plain scalars, spelling by spelling as PyYAML resolves them.
//!
//! Source: `Resolver.yaml_implicit_resolvers` and `SafeConstructor.construct_yaml_*` of PyYAML 6.

use super::Value;

/// What a scalar is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Resolved {
    /// An ordinary value.
    Value(Value),
    /// A plain `<<`: as a key, it merges.
    Merge,
    /// A plain `=`: as a key it is text, elsewhere PyYAML has no constructor for it.
    Equals,
}

/// The type of a plain scalar without a tag. `Err` says what is wrong with one that looks like a
/// number or a date and is none.
pub(super) fn plain(text: &str) -> Result<Resolved, String> {
    // PyYAML looks by the first character which types are possible at all.
    Ok(Resolved::Value(match text.as_bytes().first() {
        None => Value::Null,
        Some(b'<') if text == "<<" => return Ok(Resolved::Merge),
        Some(b'=') if text == "=" => return Ok(Resolved::Equals),
        Some(b'~') if text == "~" => Value::Null,
        Some(b'n' | b'N') if matches!(text, "null" | "Null" | "NULL") => Value::Null,
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O') => {
            boolean(text).map_or_else(|| Value::Text(text.to_owned()), Value::Bool)
        }
        Some(b'-' | b'+' | b'.' | b'0'..=b'9') => {
            if is_float(text) {
                Value::Float(float(text).ok_or("it looks like a number and is none")?)
            } else if is_int(text) {
                int(text)?
            } else if is_timestamp(text) {
                if !is_date(text) {
                    return Err("it looks like a date and there is no such day or time".to_owned());
                }
                Value::Timestamp(text.to_owned())
            } else {
                Value::Text(text.to_owned())
            }
        }
        Some(_) => Value::Text(text.to_owned()),
    }))
}

/// A scalar under an explicit tag of YAML's own (`!!int` and its like).
pub(super) fn tagged(text: &str, tag: &str) -> Result<Value, String> {
    let wrong = || format!("it is no {tag}");
    match tag {
        "str" => Ok(Value::Text(text.to_owned())),
        "null" => Ok(Value::Null),
        "bool" => boolean(&text.to_lowercase()).map(Value::Bool).ok_or_else(wrong),
        "int" if is_int(text) => int(text),
        "float" if is_float(text) || is_int(text) => {
            float(text).map(Value::Float).ok_or_else(wrong)
        }
        "int" | "float" => Err(wrong()),
        _ => Err(format!("the tag !!{tag} is not read here")),
    }
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

fn unsigned(text: &str) -> (bool, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    }
}

fn all(text: &str, allowed: impl Fn(u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(allowed)
}

/// `[0-5]?[0-9]`.
fn is_sixty(text: &str) -> bool {
    matches!(text.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9'])
}

fn is_int(text: &str) -> bool {
    let (_, digits) = unsigned(text);
    let decimal = |t: &str| {
        matches!(t.as_bytes().first(), Some(b'1'..=b'9'))
            && t.bytes().all(|b| b.is_ascii_digit() || b == b'_')
    };
    if let Some(rest) = digits.strip_prefix("0b") {
        return all(rest, |b| matches!(b, b'0' | b'1' | b'_'));
    }
    if let Some(rest) = digits.strip_prefix("0x") {
        return all(rest, |b| b.is_ascii_hexdigit() || b == b'_');
    }
    if let Some(rest) = digits.strip_prefix('0') {
        return rest.bytes().all(|b| matches!(b, b'0'..=b'7' | b'_'));
    }
    match digits.split_once(':') {
        None => decimal(digits),
        Some((first, rest)) => decimal(first) && rest.split(':').all(is_sixty),
    }
}

/// The integer that a spelling of [`is_int`] means.
fn int(text: &str) -> Result<Value, String> {
    let plain = text.replace('_', "");
    let (negative, digits) = unsigned(&plain);
    let signed = |n: i128| if negative { -n } else { n };
    let based = |digits: &str, base: u32| {
        i128::from_str_radix(digits, base).map(signed).ok().and_then(|n| i64::try_from(n).ok())
    };
    let other =
        |n: Option<i64>| n.map(Value::Int).ok_or_else(|| "it is no integer of 64 bits".to_owned());
    if digits == "0" {
        Ok(Value::Int(0))
    } else if let Some(rest) = digits.strip_prefix("0b") {
        other(based(rest, 2))
    } else if let Some(rest) = digits.strip_prefix("0x") {
        other(based(rest, 16))
    } else if digits.starts_with('0') {
        other(based(digits, 8))
    } else if digits.contains(':') {
        let sum = digits
            .split(':')
            .try_fold(0_i128, |sum, part| sum.checked_mul(60)?.checked_add(part.parse().ok()?));
        other(sum.map(signed).and_then(|n| i64::try_from(n).ok()))
    } else {
        let sign = if negative { "-" } else { "" };
        let wide = format!("{sign}{digits}");
        Ok(wide.parse().map_or(Value::WideInt(wide), Value::Int))
    }
}

fn is_float(text: &str) -> bool {
    let (_, rest) = unsigned(text);
    let signed = rest.len() != text.len();
    if matches!(rest, ".inf" | ".Inf" | ".INF") {
        return true;
    }
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let starts = |t: &str| matches!(t.as_bytes().first(), Some(b'0'..=b'9'));
    let Some((whole, fraction)) = rest.split_once('.') else { return false };
    if whole.contains(':') {
        let mut parts = whole.split(':');
        let first = parts.next().unwrap_or_default();
        return starts(first) && digits(first) && parts.all(is_sixty) && digits(fraction);
    }
    let (fraction, exponent) = match fraction.find(['e', 'E']) {
        Some(at) => (&fraction[..at], Some(&fraction[at + 1..])),
        None => (fraction, None),
    };
    // An exponent needs its sign: `1.0e5` is text.
    let exponent = exponent
        .is_none_or(|e| e.strip_prefix(['-', '+']).is_some_and(|e| all(e, |b| b.is_ascii_digit())));
    let mantissa = if whole.is_empty() {
        !signed && starts(fraction) && digits(fraction)
    } else {
        starts(whole) && digits(whole) && digits(fraction)
    };
    mantissa && exponent
}

/// The number that a spelling of [`is_float`] (or of a decimal integer, under `!!float`) means.
fn float(text: &str) -> Option<f64> {
    let plain = text.replace('_', "").to_lowercase();
    let (negative, digits) = unsigned(&plain);
    let value = match digits {
        ".inf" => f64::INFINITY,
        ".nan" => return Some(f64::NAN),
        _ if digits.contains(':') => digits
            .split(':')
            .try_fold(0.0, |sum, part| Some(sum * 60.0 + part.parse::<f64>().ok()?))?,
        _ => digits.parse().ok()?,
    };
    Some(if negative { -value } else { value })
}

/// A date, or a date and a time, taken apart.
struct Stamp<'a> {
    date: [&'a str; 3],
    time: Option<[&'a str; 3]>,
    zone: Option<[&'a str; 2]>,
}

/// Splits what the timestamp's regular expression matches.
fn stamp(text: &str) -> Option<Stamp<'_>> {
    let digits = |t: &str, from: usize, to: usize| {
        (from..=to).contains(&t.len()) && t.bytes().all(|b| b.is_ascii_digit())
    };
    let end = text.find(['T', 't', ' ', '\t']).unwrap_or(text.len());
    let mut parts = text.get(..end)?.splitn(3, '-');
    let date = [parts.next()?, parts.next()?, parts.next()?];
    if end == text.len() {
        let full = digits(date[0], 4, 4) && digits(date[1], 2, 2) && digits(date[2], 2, 2);
        return full.then_some(Stamp { date, time: None, zone: None });
    }
    if !(digits(date[0], 4, 4) && digits(date[1], 1, 2) && digits(date[2], 1, 2)) {
        return None;
    }
    let rest = text.get(end..)?;
    let rest = match rest.strip_prefix(['T', 't']) {
        Some(rest) => rest,
        None => rest.trim_start_matches([' ', '\t']),
    };
    let mut parts = rest.splitn(3, ':');
    let (hour, minute, tail) = (parts.next()?, parts.next()?, parts.next()?);
    let second = tail.get(..2)?;
    if !(digits(hour, 1, 2) && digits(minute, 2, 2) && digits(second, 2, 2)) {
        return None;
    }
    let tail = tail.get(2..)?;
    let tail = match tail.strip_prefix('.') {
        Some(tail) => tail.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => tail,
    };
    let zone = tail.trim_start_matches([' ', '\t']);
    let zone = if tail.is_empty() || zone == "Z" {
        None
    } else {
        let zone = zone.strip_prefix(['-', '+'])?;
        let (hours, minutes) = zone.split_once(':').unwrap_or((zone, "00"));
        (digits(hours, 1, 2) && digits(minutes, 2, 2)).then_some([hours, minutes])?;
        Some([hours, minutes])
    };
    Some(Stamp { date, time: Some([hour, minute, second]), zone })
}

fn is_timestamp(text: &str) -> bool {
    stamp(text).is_some()
}

/// Whether Python's `datetime` takes it.
fn is_date(text: &str) -> bool {
    let Some(stamp) = stamp(text) else { return false };
    let number = |t: &str| t.parse::<u32>().unwrap_or(u32::MAX);
    let [year, month, day] = stamp.date.map(number);
    let date = year >= 1
        && i32::try_from(year)
            .ok()
            .and_then(|year| chrono::NaiveDate::from_ymd_opt(year, month, day))
            .is_some();
    let time = stamp.time.is_none_or(|time| {
        let [hour, minute, second] = time.map(number);
        hour < 24 && minute < 60 && second < 60
    });
    let zone = stamp.zone.is_none_or(|zone| {
        let [hours, minutes] = zone.map(number);
        hours * 60 + minutes < 24 * 60
    });
    date && time && zone
}
