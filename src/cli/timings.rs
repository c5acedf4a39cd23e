//! `--timings`: what was read, in which round, and how long it took.

use crate::sources::reader::{ReadFrom, Timing};

/// Writes them to standard error, a line a read, grouped by round.
pub(super) fn tell(timings: &[Timing]) {
    let network = |timing: &&Timing| timing.from == ReadFrom::Network;
    let rounds = timings.iter().filter(network).map(|timing| timing.round).max().unwrap_or(0);
    for round in 1..=rounds {
        let reads: Vec<&Timing> =
            timings.iter().filter(network).filter(|timing| timing.round == round).collect();
        let began = reads.iter().map(|timing| timing.started_ms).min().unwrap_or(0);
        let ended = reads.iter().map(|timing| timing.ended_ms).max().unwrap_or(0);
        let noun = if reads.len() == 1 { "read" } else { "reads" };
        line(&format!("round {round}: {} {noun}, {} ms", reads.len(), ended - began));
        for timing in reads {
            line(&format!("  {:>6} ms  {}", timing.ended_ms - timing.started_ms, timing.key));
        }
    }
    let held = timings.iter().filter(|timing| timing.from == ReadFrom::Held).count();
    let total = timings.iter().map(|timing| timing.ended_ms).max().unwrap_or(0);
    line(&format!("{rounds} rounds, {held} reads from memory, {total} ms"));
}

fn line(text: &str) {
    super::to_stderr(text);
}
