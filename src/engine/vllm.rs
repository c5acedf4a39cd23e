//! vLLM: version banners, architectures, and its two lines of speculation metrics.

use super::gather::{Gathered, Record};

/// The number that follows a name.
pub(super) fn after(text: &str, name: &str) -> Option<f64> {
    let (_, rest) = text.split_once(name)?;
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !matches!(c, '0'..='9' | '.' | '-')).unwrap_or(rest.len());
    let number = rest[..end].trim_end_matches('.');
    number.parse().ok().filter(|number: &f64| number.is_finite())
}

/// The version in a banner drawn with block characters. Returns whether it is one.
pub(super) fn banner(gathered: &mut Gathered<'_>, record: &Record<'_>) -> bool {
    let drawn = record.text[..record.hit.0].chars().any(|c| ('\u{2580}'..='\u{259f}').contains(&c));
    if drawn {
        gathered.version(record.rest());
    }
    drawn
}

/// `Resolved architecture: …`, once for the target and once for the draft.
pub(super) fn architecture(gathered: &mut Gathered<'_>, record: &Record<'_>) {
    let class = record.rest().split_whitespace().next().unwrap_or_default();
    if !record.cut {
        gathered.load(class, None, record);
    }
}

/// The metrics of an interval. Means are pooled over verifications and not over lines.
pub(super) fn metrics(gathered: &mut Gathered<'_>, record: &Record<'_>) {
    let text = record.rest();
    let (Some(mean), Some(accepted), Some(drafted)) = (
        after(text, "Mean acceptance length:"),
        after(text, ", Accepted:"),
        after(text, ", Drafted:"),
    ) else {
        return;
    };
    if mean < 1.0 || accepted < 0.0 || drafted <= 0.0 || record.cut {
        return;
    }
    let positions = text
        .split_once("Per-position acceptance rate: ")
        .map(|(_, rest)| {
            rest.split(", ").take_while(|rate| rate.trim().parse::<f64>().is_ok()).count()
        })
        .and_then(|positions| u16::try_from(positions).ok())
        .filter(|positions| *positions > 0)
        .map(f64::from);
    // Exact where the number of draft tokens is fixed, which the printed mean tells.
    let fixed = positions
        .map(|positions| drafted / positions)
        .filter(|drafts| (1.0 + accepted / drafts - mean).abs() <= 0.011);
    let drafts = match fixed {
        Some(drafts) => drafts,
        None if accepted > 0.0 && mean > 1.0 => accepted / (mean - 1.0),
        None => positions.map_or(drafted, |positions| drafted / positions),
    };
    gathered.intervals.add(1.0 + accepted / drafts, drafts);
}

/// The older engine's metrics, which are those of the whole run so far.
pub(super) fn metrics_v0(gathered: &mut Gathered<'_>, record: &Record<'_>) {
    let text = record.rest();
    let drafted = after(text, "Number of draft tokens:")
        .or_else(|| after(text, "Number of draft tokens tokens:"));
    let (Some(tokens), Some(drafted), Some(emitted)) = (
        after(text, "Number of speculative tokens:"),
        drafted,
        after(text, "Number of emitted tokens:"),
    ) else {
        return;
    };
    if tokens > 0.0 && drafted > 0.0 && emitted >= 0.0 && !record.cut {
        let drafts = drafted / tokens;
        gathered.total(record.source, emitted / drafts, drafts);
    }
}
