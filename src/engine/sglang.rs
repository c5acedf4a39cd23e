//! SGLang: what its ranks load, and what its decode lines measure.

use super::gather::{Gathered, Record};

/// `Load weight end. type=…, quant=…, …`, in any order.
pub(super) fn load(gathered: &mut Gathered<'_>, record: &Record<'_>) {
    let mut class = None;
    let mut quantization = None;
    let fields: Vec<&str> = record.rest().split(", ").collect();
    for (index, field) in fields.iter().enumerate() {
        // The last one of a cut line may be half a name.
        let whole = !record.cut || index + 1 < fields.len();
        match field.trim().trim_end_matches('.').split_once('=') {
            Some(("type", value)) if whole => class = Some(value),
            Some(("quant", value)) if whole => quantization = Some(value),
            _ => {}
        }
    }
    if let Some(class) = class {
        gathered.load(class, quantization.filter(|label| *label != "None"), record);
    }
}

/// `Decode batch… accept len: …`: the mean tokens of one verification since the line before, the target's own
/// included, weighed by the requests that run. The rate beside it has had two formulas and is not read.
pub(super) fn decode(gathered: &mut Gathered<'_>, record: &Record<'_>) {
    let mut rest = record.rest();
    if let Some(numbered) = rest.strip_prefix(" [") {
        let Some((number, after)) = numbered.split_once(']') else { return };
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return;
        }
        rest = after;
    }
    let Some(rest) = rest.strip_prefix(", ").or_else(|| rest.strip_prefix(". ")) else { return };
    let mut weight = None;
    let mut length = None;
    let mut fields = rest.split(',').peekable();
    while let Some(field) = fields.next() {
        let ends_line = fields.peek().is_none();
        let field = field.trim();
        if field.is_empty() {
            continue;
        }
        // A field that is none: characters were lost, and what follows cannot be trusted.
        let Some((name, value)) = field.split_once(": ") else { break };
        if ends_line && record.cut {
            break;
        }
        match name {
            "#running-req" => weight = value.parse::<u32>().ok(),
            "accept len" => {
                length = value.parse::<f64>().ok().filter(|length| *length >= 1.0);
                break;
            }
            _ => {}
        }
    }
    if let (Some(length), Some(weight)) = (length, weight) {
        gathered.intervals.add(length, f64::from(weight));
    }
}

/// `num_tokens_per_req=…` of the verifying graph: the draft tokens and the root.
pub(super) fn verify(gathered: &mut Gathered<'_>, record: &Record<'_>) {
    let Some((_, after)) = record.rest().split_once("num_tokens_per_req=") else { return };
    let digits = after.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    let cut = record.cut && digits.len() == after.len();
    if let (false, Ok(width @ 2..)) = (cut, digits.parse::<u16>()) {
        gathered.observed_drafts.insert(i64::from(width) - 1);
    }
}
