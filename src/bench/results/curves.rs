//! Rows → curves: which points are drawn as one series.
//!
//! Source: `pareto.md`, sections "Curve" and "Axes".

use serde::{Deserialize, Serialize};

use super::{Identity, Row, Scenario};
use crate::bench::fields::Measure;
use crate::bench::pareto::{Coordinate, Curve, Flag, Point};

/// How curves are named and which statistics they are drawn of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurveSettings {
    /// The latency that a curve is over, by its name in the rows.
    pub measure: String,
    /// The statistics of fixed-sequence rows, a curve each.
    pub fixed: Vec<String>,
    /// The statistics of agentic rows that are always judged, a curve each.
    pub agentic: Vec<String>,
    /// The name of the agentic scenario in keys.
    pub agentic_scenario: String,
    /// What rows say where there is no speculation.
    pub no_speculation: String,
    /// What stands before the label of a runner's hardware.
    pub cluster: String,
    /// Frameworks whose disaggregated points are a series of their own, and the ending of its name.
    pub disaggregated: Vec<String>,
    /// That ending.
    pub disaggregated_suffix: String,
}

/// A curve and the rows behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    /// Its points, one a row of `rows`.
    pub curve: Curve,
    /// The rows, as indices.
    pub rows: Vec<usize>,
    /// The statistic of its latencies.
    pub statistic: String,
}

/// The curves of the rows of one run, in the order of their first rows; and the rows whose series is not
/// known, as indices. `more` names statistics of agentic rows that are judged as well.
pub fn curves(
    rows: &[Row],
    run: &str,
    more: &[String],
    settings: &CurveSettings,
) -> (Vec<Series>, Vec<usize>) {
    let (mut found, mut unknown): (Vec<Series>, _) = (Vec::new(), Vec::new());
    let mut places = std::collections::BTreeMap::new();
    for (n, row) in rows.iter().enumerate() {
        let Some(name) = series(&row.identity, settings) else {
            unknown.push(n);
            continue;
        };
        let (own, more) = match row.identity.scenario {
            Scenario::Fixed { .. } => (&settings.fixed, &[][..]),
            Scenario::Agentic { .. } => (&settings.agentic, more),
        };
        let mut seen: Vec<&String> = Vec::new();
        for statistic in own.iter().chain(more) {
            if seen.contains(&statistic) {
                continue;
            }
            seen.push(statistic);
            let key = format!("{name}/{run}/{statistic}");
            let place = *places.entry(key.clone()).or_insert_with(|| {
                let curve = Curve { key, points: Vec::new() };
                found.push(Series { curve, rows: Vec::new(), statistic: statistic.clone() });
                found.len() - 1
            });
            if let Some(series) = found.get_mut(place) {
                series.curve.points.push(point(row, statistic, settings));
                series.rows.push(n);
            }
        }
    }
    (found, unknown)
}

/// `MODEL/SCENARIO/HARDWARE/PRECISION`; `None` where a part is not known.
pub fn series(identity: &Identity, settings: &CurveSettings) -> Option<String> {
    let framework = identity.framework.as_ref()?;
    let hw = identity.hw.as_ref()?;
    let base = hw.strip_prefix(settings.cluster.as_str()).unwrap_or(hw);
    let base = base.split('-').next().unwrap_or(base);
    let mut hardware = format!("{base}_{framework}");
    let disaggregated = settings.disaggregated.contains(framework);
    if disaggregated && identity.disagg? {
        hardware.push_str(&settings.disaggregated_suffix);
    }
    let scenario = match &identity.scenario {
        Scenario::Fixed { isl, osl } => {
            let spec = identity.spec_decoding.as_ref()?;
            if *spec != settings.no_speculation {
                hardware.push('_');
                hardware.push_str(spec);
            }
            lengths((*isl)?, (*osl)?)
        }
        Scenario::Agentic { .. } => settings.agentic_scenario.clone(),
    };
    let (model, precision) = (identity.model_prefix.as_ref()?, identity.precision.as_ref()?);
    Some(format!("{model}/{scenario}/{hardware}/{precision}"))
}

/// `8k1k` of 8192 and 1024; `ISL_OSL` of lengths that are no such multiples.
fn lengths(isl: i64, osl: i64) -> String {
    if isl % 1024 == 0 && osl % 1024 == 0 {
        format!("{}k{}k", isl / 1024, osl / 1024)
    } else {
        format!("{isl}_{osl}")
    }
}

fn point(row: &Row, statistic: &str, settings: &CurveSettings) -> Point {
    let coordinate = |measure: Option<&Measure>| match measure.map(|measure| &measure.value) {
        Some(Ok(number)) => Coordinate::number(number),
        Some(Err(found)) => Coordinate::Invalid(format!("{found} is no number")),
        None => Coordinate::missing(),
    };
    Point {
        x: coordinate(row.latency(&settings.measure, statistic)),
        y: coordinate(row.metrics.total_per_gpu.as_ref()),
        flag: Flag::Absent,
    }
}
