//! TensorRT-LLM: the draft length that its graphs are warmed up for.

use super::gather::{Gathered, Record};
use super::vllm::after;

/// `… CUDA graph warmup for batch size=…, draft_len=…`. A schedule of lengths prints several.
pub(super) fn draft_len(gathered: &mut Gathered<'_>, record: &Record<'_>) {
    let length = after(record.rest(), "draft_len=").filter(|_| !record.cut);
    if let Some(length) = length.filter(|length| (1.0..=1_000.0).contains(length)) {
        #[allow(clippy::cast_possible_truncation, reason = "between 1 and 1000")]
        gathered.observed_drafts.insert(length as i64);
    }
}
