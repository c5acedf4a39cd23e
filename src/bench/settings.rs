//! Everything that the readers of artifacts take from a table, in one document.

use serde::{Deserialize, Serialize};

use super::evals::EvalSettings;
use super::golden::GoldenSettings;
use super::pareto::ParetoSettings;
use super::results::ResultsSettings;
use super::thresholds::ThresholdSettings;

/// What the readers of artifacts are told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArtifactSettings {
    /// Measured rows and their curves.
    pub results: ResultsSettings,
    /// Evaluations.
    pub evals: EvalSettings,
    /// Bars that are not in the file of bars.
    pub thresholds: ThresholdSettings,
    /// Golden acceptance lengths.
    pub golden: GoldenSettings,
    /// Frontiers.
    pub pareto: ParetoSettings,
}

#[cfg(test)]
pub(in crate::bench) mod tests {
    use super::*;

    const TABLE: &str = include_str!("../../rules/inferencex/tables/artifacts.yaml");

    /// The table of the profile.
    pub(in crate::bench) fn settings() -> ArtifactSettings {
        serde_yaml::from_str(TABLE).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn the_table_is_read_and_holds_the_values_of_the_pages() {
        let settings = settings();
        assert_eq!(settings.thresholds.otherwise.to_string(), "0.85");
        assert_eq!(settings.results.fixed_failures.to_string(), "0.05");
        assert_eq!(settings.results.agentic_failures.to_string(), "0.1");
        assert_eq!(settings.pareto.recommended, 5);
        assert_eq!(settings.golden.places, 2);
    }

    #[test]
    fn a_misspelt_setting_is_an_error() {
        for (from, to) in [
            ("places:", "place:"),
            ("recommended:", "recomended:"),
            ("acceptance_rate", "acceptance_ratio"),
            ("draft_contains:", "draft_contain:"),
            ("\"0.85\"", "\"0,85\""),
        ] {
            assert!(TABLE.contains(from), "{from}");
            let text = TABLE.replace(from, to);
            assert!(serde_yaml::from_str::<ArtifactSettings>(&text).is_err(), "{to}");
        }
    }
}
