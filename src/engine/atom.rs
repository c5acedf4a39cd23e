//! ATOM: its model, its measured and its forced acceptance.

use super::gather::{Gathered, Record};
use super::vllm::after;

/// `Initializing engine with model <M>...`: the arguments that follow leave it out.
pub(super) fn model(gathered: &mut Gathered<'_>, record: &Record<'_>) {
    let name = record.rest().trim();
    let name = name.strip_suffix("...").unwrap_or(name);
    if !record.cut && !name.is_empty() && !name.contains(' ') {
        gathered.atom_model = Some(gathered.table.secrets.text(name));
    }
}

/// `[MTP Stats         ] Average toks/fwd: …` of the run so far, or `[MTP Stats Interval]`.
pub(super) fn stats(gathered: &mut Gathered<'_>, record: &Record<'_>) {
    let Some((label, text)) = record.rest().split_once(']') else { return };
    let Some(mean) = after(text, "Average toks/fwd:").filter(|mean| *mean >= 1.0) else { return };
    let drafted = text
        .split_once("Draft tokens: ")
        .and_then(|(_, rest)| after(rest, "/"))
        .filter(|drafted| *drafted >= 0.0);
    if record.cut {
        return;
    }
    match label.trim() {
        "" => gathered.total(record.source, mean, drafted.unwrap_or(1.0)),
        "Interval" => gathered.intervals.add(mean, drafted.unwrap_or(1.0)),
        _ => {}
    }
}

/// `Forced speculative acceptance ON: mean acceptance length L over k draft positions …`.
pub(super) fn forced(gathered: &mut Gathered<'_>, record: &Record<'_>) {
    let text = record.rest();
    if record.cut {
        return;
    }
    gathered.forced = after(text, "mean acceptance length").or(gathered.forced);
    let positions = after(text, " over ").filter(|positions| (1.0..=1_000.0).contains(positions));
    if let Some(positions) = positions {
        #[allow(clippy::cast_possible_truncation, reason = "between 1 and 1000")]
        gathered.observed_drafts.insert(positions as i64);
    }
}
