use proptest::prelude::*;

use super::*;

fn settings() -> ParetoSettings {
    ParetoSettings { recommended: 5, flag: "isOnNormalizedInteractivityFrontier".to_owned() }
}

fn try_report(json: &str) -> Result<Vec<Report>, ParetoError> {
    report(&read(json.as_bytes(), &settings())?, &settings())
}

/// The report of one curve, from `(x, y[, flag])` as JSON texts.
fn curve(points: &[&[&str]]) -> Report {
    let points: Vec<String> = points
        .iter()
        .map(|point| {
            let names = ["x", "y", "isOnNormalizedInteractivityFrontier"];
            let fields: Vec<_> = names
                .iter()
                .zip(*point)
                .map(|(name, value)| format!("{name:?}: {value}"))
                .collect();
            format!("{{{}}}", fields.join(", "))
        })
        .collect();
    let json = format!("[{{\"key\": \"k\", \"points\": [{}]}}]", points.join(", "));
    try_report(&json).unwrap().remove(0)
}

#[test]
fn example_a_a_dominated_point_leaves_four_of_five() {
    let report =
        curve(&[&["1", "100"], &["2", "150"], &["3", "140"], &["4", "200"], &["5", "260"]]);
    assert_eq!((report.measured, report.count, report.status), (5, 4, Status::Warn));
    assert_eq!(report.frontier, [0, 1, 3, 4]);
}

#[test]
fn example_b_a_plateau_is_kept() {
    assert_eq!(curve(&[&["1", "100"], &["2", "100"], &["3", "100"]]).frontier, [0, 1, 2]);
}

#[test]
fn example_c_of_one_latency_the_highest_is_kept() {
    assert_eq!(curve(&[&["2", "90"], &["2", "120"]]).frontier, [1]);
}

#[test]
fn example_d_a_duplicate_is_kept_once() {
    assert_eq!(curve(&[&["2", "120"], &["2", "120"], &["3", "130"]]).frontier, [0, 2]);
}

#[test]
fn example_e_a_plateau_goes_on_after_a_drop() {
    assert_eq!(curve(&[&["1", "100"], &["2", "90"], &["3", "100"]]).frontier, [0, 2]);
}

#[test]
fn example_f_invalid_measurements_are_counted() {
    let report = curve(&[
        &["1", "100"],
        &["2", "NaN"],
        &["3", "0"],
        &["-1", "50"],
        &["4", "true"],
        &["5", "140"],
    ]);
    assert_eq!((report.measured, report.invalid, report.count), (6, 4, 2));
    assert_eq!(report.status, Status::Warn);
    assert_eq!(report.frontier, [0, 5]);
    assert_eq!(report.invalid_points, [1, 2, 3, 4]);
}

#[test]
fn example_g_five_good_points_and_an_invalid_one_warn() {
    let good: [&[&str]; 5] = [&["1", "1"], &["2", "2"], &["3", "3"], &["4", "4"], &["5", "5"]];
    assert_eq!(curve(&good).status, Status::Pass);
    let mut points = good.to_vec();
    points.push(&["6", "NaN"]);
    let report = curve(&points);
    assert_eq!((report.count, report.invalid, report.status), (5, 1, Status::Warn));
}

#[test]
fn example_h_marks_restrict_the_finished_front() {
    let report = curve(&[&["1", "100", "true"], &["2", "150", "false"], &["3", "200", "true"]]);
    assert_eq!(report.frontier, [0, 2]);
    assert!(report.restricted);
    let report = curve(&[&["1", "100", "true"], &["2", "90", "true"], &["3", "200", "1"]]);
    assert_eq!(report.frontier, [0]);
}

#[test]
fn example_i_one_mark_leaves_out_and_lists_the_unmarked() {
    let report = curve(&[&["1", "100"], &["2", "150", "true"], &["3", "200"]]);
    assert_eq!((report.frontier, report.unmarked), (vec![1], vec![0, 2]));
    assert!(!curve(&[&["1", "100"]]).restricted);
    // Even `false` restricts.
    assert_eq!(curve(&[&["1", "100"], &["2", "150", "false"]]).count, 0);
}

#[test]
fn example_j_falling_throughput_leaves_one() {
    assert_eq!(curve(&[&["1", "300"], &["2", "200"], &["3", "100"]]).frontier, [0]);
}

#[test]
fn the_front_is_in_its_own_order_and_not_that_of_the_file() {
    assert_eq!(curve(&[&["3", "30"], &["1", "10"], &["2", "20"]]).frontier, [1, 2, 0]);
}

#[test]
fn what_is_no_measurement_is_invalid() {
    for value in
        ["null", "\"5\"", "false", "[]", "{}", "Infinity", "-Infinity", "1e400", "1e-400", "-0.0"]
    {
        let report = curve(&[&["1", value], &[value, "1"]]);
        assert_eq!(report.invalid, 2, "{value}");
    }
    let json =
        r#"[{"key": "k", "points": [{"x": 1}, {}, 5, [1, 2], null, {"x": 1, "y": 2, "hw": "h"}]}]"#;
    let report = try_report(json).unwrap().remove(0);
    assert_eq!((report.measured, report.invalid, report.frontier), (6, 5, vec![5]));
    let huge = format!("1{}", "0".repeat(400));
    assert_eq!(curve(&[&["1", &huge]]).invalid, 1);
}

#[test]
fn integers_and_floats_mix_and_compare_exactly() {
    // Equal: a plateau.
    assert_eq!(curve(&[&["1", "100"], &["2.0", "1e2"], &["2", "100.0"]]).frontier, [0, 1]);
    // 2^53 + 1 is above the double 2^53, as in Python.
    assert_eq!(curve(&[&["1", "9007199254740993"], &["2", "9007199254740992.0"]]).frontier, [0]);
    assert_eq!(curve(&[&["1", "0.30000000000000004"], &["2", "0.3"]]).frontier, [0]);
}

#[test]
fn no_curve_is_an_error_and_an_empty_one_is_not() {
    assert_eq!(try_report("[]"), Err(ParetoError::NoCurve));
    let report = curve(&[]);
    assert_eq!((report.measured, report.count, report.status), (0, 0, Status::Warn));
    let twice = r#"[{"key": "k", "points": []}, {"key": "k", "points": []}]"#;
    assert_eq!(try_report(twice), Err(ParetoError::SameKey("k".to_owned())));
}

#[test]
fn a_broken_file_is_named_by_its_place() {
    for (json, part) in [
        (
            "[{\n\"key\": 1, \"points\": []}]",
            "\"/0/key\", line 2: expected text, found the number 1",
        ),
        ("[{\"points\": []}]", "`key` is missing"),
        ("[{\"key\": \"k\"}]", "`points` is missing"),
        ("[{\"key\": \"k\", \"points\": {}}]", "expected a list"),
        ("{}", "expected a list, found an object"),
        ("[{\"key\": ", "line 1, column"),
    ] {
        let error = try_report(json).unwrap_err().to_string();
        assert!(error.contains(part), "{json}: {error}");
    }
}

#[test]
fn the_json_of_a_report_is_the_contracts() {
    let report = curve(&[&["1", "100"], &["2", "NaN", "true"]]);
    assert_eq!(
        serde_json::to_string(&report).unwrap(),
        r#"{"key":"k","measured":2,"invalid":1,"count":0,"status":"WARN","frontier":[]}"#
    );
}

/// The page's algorithm step by step, over doubles.
fn slow(points: &[(f64, f64, Flag)]) -> Vec<(f64, f64)> {
    let mut eligible: Vec<_> = points
        .iter()
        .filter(|(x, y, _)| x.is_finite() && y.is_finite() && *x > 0.0 && *y > 0.0)
        .collect();
    eligible.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut highest = f64::NEG_INFINITY;
    let mut front: Vec<&(f64, f64, Flag)> = Vec::new();
    for point in eligible {
        let plateau = front.last().is_some_and(|last| point.1 == highest && point.0 > last.0);
        if point.1 > highest || plateau {
            if front.last().is_some_and(|last| last.0 == point.0) {
                front.pop();
            }
            front.push(point);
            highest = point.1;
        }
    }
    front.iter().map(|(x, y, _)| (*x, *y)).collect()
}

/// By definition: no point at lower or equal latency is higher; at the same latency none is as high.
fn obvious(points: &[(f64, f64, Flag)]) -> BTreeSet<(u64, u64)> {
    let eligible =
        |(x, y, _): &&(f64, f64, Flag)| x.is_finite() && y.is_finite() && *x > 0.0 && *y > 0.0;
    points
        .iter()
        .filter(eligible)
        .filter(|p| !points.iter().filter(eligible).any(|q| q.0 <= p.0 && q.1 > p.1))
        .map(|(x, y, _)| (x.to_bits(), y.to_bits()))
        .collect()
}

fn any_value() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => (1_i32..6).prop_map(f64::from),
        2 => (1_i32..60).prop_map(|n| f64::from(n) / 10.0),
        1 => Just(0.0),
        1 => Just(-2.0),
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => any::<f64>(),
    ]
}

fn as_python_writes(value: f64) -> String {
    match value {
        v if v.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        v => format!("{v:?}"),
    }
}

proptest! {
    #[test]
    fn the_front_is_that_of_a_slow_obvious_model(
        points in prop::collection::vec((any_value(), any_value(), 0_u8..12), 0..25)
    ) {
        let points: Vec<_> = points.into_iter().map(|(x, y, flag)| (x, y, match flag {
            0 => Flag::Set,
            1 => Flag::Unset,
            _ => Flag::Absent,
        })).collect();
        let texts: Vec<Vec<String>> = points.iter().map(|(x, y, flag)| {
            let mut fields = vec![as_python_writes(*x), as_python_writes(*y)];
            if *flag != Flag::Absent { fields.push((*flag == Flag::Set).to_string()); }
            fields
        }).collect();
        let fields: Vec<Vec<&str>> = texts.iter().map(|t| t.iter().map(String::as_str).collect()).collect();
        let slices: Vec<&[&str]> = fields.iter().map(Vec::as_slice).collect();
        let report = curve(&slices);

        let unmarked: Vec<_> = points.iter().map(|(x, y, _)| (*x, *y, Flag::Absent)).collect();
        let full: Vec<_> = front(&read_points(&unmarked)).iter().map(|&n| (points[n].0, points[n].1)).collect();
        prop_assert_eq!(&full, &slow(&points));
        let set: BTreeSet<_> = full.iter().map(|(x, y)| (x.to_bits(), y.to_bits())).collect();
        prop_assert_eq!(set, obvious(&points));

        let restricted = points.iter().any(|(_, _, flag)| *flag != Flag::Absent);
        prop_assert_eq!(report.restricted, restricted);
        let expected: Vec<usize> = front(&read_points(&points)).into_iter()
            .filter(|&n| !restricted || points[n].2 == Flag::Set).collect();
        prop_assert_eq!(&report.frontier, &expected);
        prop_assert_eq!(report.measured, points.len());
    }
}

fn read_points(points: &[(f64, f64, Flag)]) -> Vec<Point> {
    let coordinate = |value: f64| match Decimal::of_float(value) {
        Some(value) if value.is_positive() => Coordinate::Measured(value),
        _ => Coordinate::Invalid(String::new()),
    };
    points
        .iter()
        .map(|(x, y, flag)| Point { x: coordinate(*x), y: coordinate(*y), flag: *flag })
        .collect()
}
