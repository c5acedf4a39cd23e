use super::*;
use proptest::prelude::*;

fn decimal(text: &str) -> Decimal {
    Decimal::parse(text).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn spellings_of_one_number_are_equal() {
    for (a, b) in [
        ("3.3", "3.30"),
        ("0.90", "9e-1"),
        ("100", "1E2"),
        ("-0.0", "0"),
        ("0e999999999999999999999", "0"),
        ("+1.", "01"),
        (".5", "0.5"),
    ] {
        assert_eq!(decimal(a), decimal(b), "{a} {b}");
    }
}

#[test]
fn what_is_no_number_is_none() {
    for text in ["", ".", "-", "1_0", "1e", "1e+", "nan", "inf", " 1", "1 ", "1.2.3", "0x1", "١"] {
        assert_eq!(Decimal::parse(text), None, "{text}");
    }
    assert_eq!(Decimal::parse(&"1".repeat(NUMBER_CHARS + 1)), None);
}

#[test]
fn numbers_of_any_size_are_ordered() {
    let ordered = [
        "-1e99999999999999999999",
        "-2",
        "-1.5",
        "-1e-400",
        "0",
        "1e-400",
        "0.1",
        "0.10000000000000000000000000001",
        "1",
        "9007199254740992",
        "9007199254740993",
        "1e400",
    ];
    for pair in ordered.windows(2) {
        assert!(decimal(pair[0]) < decimal(pair[1]), "{pair:?}");
    }
}

#[test]
fn sums_and_products_are_exact_or_none() {
    assert_eq!(decimal("1.99").plus(&1.into()), Some(decimal("2.99")));
    assert_eq!(decimal("3").minus(&decimal("3.00")), Some(0.into()));
    assert_eq!(decimal("0.1").plus(&decimal("0.2")), Some(decimal("0.3")));
    assert_eq!(decimal("0.397142").times(&7.into()), Some(decimal("2.779994")));
    assert_eq!(decimal("-2e3").times(&decimal("0.5")), Some(decimal("-1000")));
    assert_eq!(decimal("1e400").plus(&1.into()), None);
    assert_eq!(decimal("1e-400").times(&1.into()), None);
    assert_eq!(decimal(&"9".repeat(38)).times(&10.into()), None);
}

#[test]
fn quotients_are_exact_or_none() {
    assert_eq!(decimal("2.36").divided(4), Some(decimal("0.59")));
    assert_eq!(decimal("2.78").divided(7), None);
    assert_eq!(decimal("1").divided(0), None);
    assert_eq!(decimal("0").divided(7), Some(0.into()));
}

#[test]
fn ties_round_to_the_even_digit() {
    for (text, rounded) in [
        ("3.385", "3.38"),
        ("3.395", "3.4"),
        ("3.3850000001", "3.39"),
        ("2.675", "2.68"),
        ("0.005", "0"),
        ("0.015", "0.02"),
        ("0.0051", "0.01"),
        ("0.00999", "0.01"),
        ("0.0009", "0"),
        ("9.996", "10"),
        ("-9.996", "-10"),
        ("-0.001", "0"),
        ("12", "12"),
        ("1e-400", "0"),
        ("1e400", "1e400"),
    ] {
        assert_eq!(decimal(text).rounded(2), decimal(rounded), "{text}");
    }
}

#[test]
fn they_are_written_plainly_where_that_is_short() {
    for text in ["0", "3.39", "-0.05", "1200", "1e400", "1.25e-400", "-7"] {
        assert_eq!(decimal(text).to_string(), text);
    }
}

#[test]
fn a_float_compares_with_integers_as_in_python() {
    // In Python `2**53 + 1 > float(2**53)`, although the float of both is the same.
    let float = Decimal::of_float(9_007_199_254_740_993.0).unwrap();
    assert_eq!(float, decimal("9007199254740992"));
    assert!(decimal("9007199254740993") > float);
    assert_eq!(Decimal::of_float(0.1), Some(decimal("0.1")));
    assert_eq!(Decimal::of_float(f64::NAN), None);
}

proptest! {
    #[test]
    fn floats_keep_their_order(a: f64, b: f64) {
        prop_assume!(a.is_finite() && b.is_finite());
        let (x, y) = (Decimal::of_float(a).unwrap(), Decimal::of_float(b).unwrap());
        prop_assert_eq!(Some(x.cmp(&y)), a.partial_cmp(&b));
    }

    #[test]
    fn small_numbers_add_and_multiply_as_integers_do(a in -100_000_i64..100_000, b in -100_000_i64..100_000) {
        let (x, y) = (Decimal::unscaled(a.into(), 3), Decimal::unscaled(b.into(), 3));
        prop_assert_eq!(x.plus(&y), Some(Decimal::unscaled((a + b).into(), 3)));
        prop_assert_eq!(x.minus(&y), Some(Decimal::unscaled((a - b).into(), 3)));
        prop_assert_eq!(x.times(&y), Some(Decimal::unscaled((a * b).into(), 6)));
        prop_assert_eq!(decimal(&x.to_string()), x);
    }

    #[test]
    fn any_text_is_read_without_panic(text in ".{0,30}") {
        if let Some(read) = Decimal::parse(&text) {
            prop_assert_eq!(decimal(&read.to_string()), read);
        }
    }
}
