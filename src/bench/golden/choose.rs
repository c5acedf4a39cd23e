//! Which curve applies to a way of speculating.

use serde::Serialize;

use super::{CurveRule, GoldenSettings, ThinkingMode};

/// How a point speculates, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Speculation {
    /// The repository's short name of the model.
    pub model_prefix: String,
    /// The engine's name of the method.
    pub method: Option<String>,
    /// The checkpoint that is served.
    pub checkpoint: Option<String>,
    /// The draft model.
    pub draft_model: Option<String>,
    /// How the draft is sampled, where the launch states it.
    pub sampling: Option<String>,
    /// Draft tokens, without the root: the target's own token of each step does not count.
    pub draft_tokens: Option<i64>,
    /// Candidates that are drafted a step, where the launch states it. Above one the drafts form a tree, to
    /// which no curve applies.
    pub top_k: Option<i64>,
    /// The thinking mode, see [`settle_mode`]; `None` where evidence conflicts.
    pub mode: Option<ThinkingMode>,
}

/// Which curve applies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Choice {
    /// This one.
    Curve {
        /// The name of its file without ending.
        curve: String,
    },
    /// There is none for this model and method.
    None,
    /// It depends on what is not known.
    Unsettled {
        /// What has to be stated.
        missing: String,
    },
}

/// Chooses the curve: the first rule whose conditions hold. A rule before it that might hold, if more were
/// known, leaves the choice open.
pub fn choose(of: &Speculation, settings: &GoldenSettings) -> Choice {
    let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
    let own = |rule: &&CurveRule| rule.prefixes.contains(&of.model_prefix);
    let Some(method) = &of.method else {
        return match settings.curves.iter().find(own) {
            Some(_) => Choice::Unsettled { missing: "the way of speculating".to_owned() },
            None => Choice::None,
        };
    };
    let of_method = |rule: &&CurveRule| rule.methods.iter().any(|known| same(known, method));
    for rule in settings.curves.iter().filter(own).filter(of_method) {
        let contains = |name: &String, part: &String| name.contains(part.as_str());
        let conditions = [
            ("the checkpoint", holds(&rule.checkpoint_contains, &of.checkpoint, contains)),
            ("the draft model", holds(&rule.draft_contains, &of.draft_model, contains)),
            ("how the draft is sampled", holds(&rule.sampling, &of.sampling, |a, b| same(a, b))),
        ];
        if conditions.iter().any(|(_, holds)| *holds == Some(false)) {
            continue;
        }
        return match conditions.iter().find(|(_, holds)| holds.is_none()) {
            Some((what, _)) => Choice::Unsettled { missing: (*what).to_owned() },
            None => Choice::Curve { curve: rule.curve.clone() },
        };
    }
    Choice::None
}

/// Whether a condition holds; `None` where that is not known.
fn holds(
    condition: &Option<String>,
    known: &Option<String>,
    holds: impl Fn(&String, &String) -> bool,
) -> Option<bool> {
    match (condition, known) {
        (None, _) => Some(true),
        (Some(condition), Some(known)) => Some(holds(known, condition)),
        (Some(_), None) => None,
    }
}

/// The mode that everything stated agrees on; the default where nothing is, and `None` where it conflicts.
pub fn settle_mode(stated: &[ThinkingMode], settings: &GoldenSettings) -> Option<ThinkingMode> {
    match stated {
        [] => Some(settings.default_mode),
        [first, rest @ ..] => rest.iter().all(|mode| mode == first).then_some(*first),
    }
}
