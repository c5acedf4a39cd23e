use super::*;

fn read(text: &str) -> Node {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}")).root
}

fn json(text: &str) -> serde_json::Value {
    read(text).to_json()
}

fn error(text: &str) -> YamlError {
    parse(text).unwrap_err()
}

/// Spellings and what PyYAML 6.0.3 makes of them; `tests/oracle/` asks it anew.
#[test]
#[allow(clippy::approx_constant)]
fn implicit_types_are_those_of_pyyaml() {
    let text = |t: &str| Value::Text(t.to_owned());
    let table = [
        ("yes", Value::Bool(true)),
        ("On", Value::Bool(true)),
        ("OFF", Value::Bool(false)),
        ("no", Value::Bool(false)),
        ("y", text("y")),
        ("tRue", text("tRue")),
        ("~", Value::Null),
        ("Null", Value::Null),
        ("nULL", text("nULL")),
        ("None", text("None")),
        ("0", Value::Int(0)),
        ("-0", Value::Int(0)),
        ("010", Value::Int(8)),
        ("08", text("08")),
        ("0o17", text("0o17")),
        ("0x_1F", Value::Int(31)),
        ("-0b1_01", Value::Int(-5)),
        ("2_063_920", Value::Int(2_063_920)),
        ("_1", text("_1")),
        ("1:30", Value::Int(90)),
        ("190:20:30", Value::Int(685_230)),
        ("1:60", text("1:60")),
        ("0:30", text("0:30")),
        ("0:30.0", Value::Float(30.0)),
        ("9223372036854775807", Value::Int(i64::MAX)),
        ("9223372036854775808", Value::WideInt("9223372036854775808".to_owned())),
        ("-1_0000000000000000000", Value::WideInt("-10000000000000000000".to_owned())),
        ("1.", Value::Float(1.0)),
        ("1_0.5_0", Value::Float(10.5)),
        (".5", Value::Float(0.5)),
        ("-.5", text("-.5")),
        ("1e3", text("1e3")),
        ("1.0e3", text("1.0e3")),
        ("1.0e+3", Value::Float(1000.0)),
        ("1.5E-1", Value::Float(0.15)),
        ("-.inf", Value::Float(f64::NEG_INFINITY)),
        ("+.INF", Value::Float(f64::INFINITY)),
        ("-.nan", text("-.nan")),
        ("0.80", Value::Float(0.8)),
        ("v0.5.17-cu130", text("v0.5.17-cu130")),
        ("2026-08-22", Value::Timestamp("2026-08-22".to_owned())),
        ("2026-8-2", text("2026-8-2")),
        ("2026-8-2 1:02:03.5 +1", Value::Timestamp("2026-8-2 1:02:03.5 +1".to_owned())),
        ("+1", Value::Int(1)),
        ("'1'", text("1")),
        ("!!str 1", text("1")),
        ("!!float 1", Value::Float(1.0)),
    ];
    for (spelling, expected) in table {
        let root = read(&format!("k: {spelling}"));
        assert_eq!(root.get("k").unwrap().value, expected, "{spelling}");
    }
    assert!(matches!(read("k: .nan").get("k").unwrap().value, Value::Float(f) if f.is_nan()));
}

#[test]
fn what_is_no_value_is_an_error_with_its_place() {
    for (text, line, part) in [
        ("a: 1\nb: 2026-13-01", 2, "no such day"),
        ("a: 0x_", 1, "64 bits"),
        ("a: 0xffffffffffffffff", 1, "64 bits"),
        ("a: =", 1, "only as a key"),
        ("- <<", 1, "only as a key"),
        ("a: !!python/object:os.system x", 1, "not read here"),
        ("a: !!set {x}", 1, "not read here"),
        ("a: !!int x", 1, "no int"),
        ("a: 1\n--- \nb: 2", 2, "second document"),
        ("a: *b", 1, "anchor"),
        ("a: &a 1\nb: &a 2", 2, "twice"),
        ("a: &a [*a]", 1, "inside of what it stands for"),
        ("? [1]\n: 2", 1, "used as a key"),
        ("a: 1\nb:\t2", 2, "tab"),
        ("a: x\ty", 1, "tab"),
        ("a: 1\n\t\nb: 2", 2, "tab"),
        (": 1", 1, "key is empty"),
        ("a: ! 1", 1, "not read here"),
        ("<<: 3", 1, "merges"),
        ("<<: [{a: 1}, 3]", 1, "merges"),
        ("a: b\n c: d", 2, ""),
        ("a: [1", 1, ""),
        ("a: \u{0}", 1, "U+0000"),
        ("a: 1\n# x\u{2028}b: 2", 2, "U+2028"),
    ] {
        let error = error(text);
        assert!(error.message.contains(part), "{text:?}: {error}");
        assert!(part.is_empty() || error.at.line == line, "{text:?}: {error}");
        assert!(!error.fix.is_empty());
    }
}

#[test]
fn merge_keys_fill_in_what_is_not_given() {
    let text = "\
one: &one {a: 1, b: 1}
two: &two {b: 2, c: 2}
single:
  b: own
  <<: *one
list:
  <<: [*one, *two]
  d: own
twice:
  <<: *one
  <<: *two
";
    let root = read(text);
    assert_eq!(root.get("single").unwrap().to_json(), serde_json::json!({"a": 1, "b": "own"}));
    // Of a list the first one wins; of two merge keys the last.
    let list = root.get("list").unwrap();
    assert_eq!(list.to_json(), serde_json::json!({"a": 1, "b": 1, "c": 2, "d": "own"}));
    let twice = root.get("twice").unwrap();
    assert_eq!(twice.to_json(), serde_json::json!({"a": 1, "b": 2, "c": 2}));
    // Places are those of the anchor.
    assert_eq!(list.get("c").unwrap().at, Place { line: 2, column: 21 });
    assert!(parse(text).unwrap().notes.is_empty());
}

#[test]
fn the_last_duplicate_wins_with_a_note() {
    let document = parse("a: 1\nb: 2\na: 3\n").unwrap();
    assert_eq!(document.root.to_json(), serde_json::json!({"a": 3, "b": 2}));
    assert_eq!(document.notes.len(), 1);
    assert_eq!(document.notes[0].at, Place { line: 3, column: 1 });
    assert!(document.notes[0].message.contains("the key a is given twice, first on line 1"));
    assert_eq!(parse("1: a\ntrue: b\n1.0: c").unwrap().notes.len(), 2);
}

#[test]
fn an_alias_keeps_the_place_of_its_anchor() {
    let root = read("a: &x\n  - deep: 1\nb: *x\n");
    let deep = root.get("b").unwrap().sequence().unwrap()[0].get("deep").unwrap();
    assert_eq!(deep.at, Place { line: 2, column: 11 });
}

#[test]
fn texts_are_folded_and_chomped() {
    assert_eq!(json("a: |\n  x\n  y"), serde_json::json!({"a": "x\ny"}));
    assert_eq!(json("a: >-\n  x\n  y\n"), serde_json::json!({"a": "x y"}));
    assert_eq!(json("a: x\n  y # c\n"), serde_json::json!({"a": "x y"}));
    // A tab inside of quotes, a block of text or a comment is fine.
    let text = "a: \"x\ty\" # c\td\n# e\tf\nb: |\n  x\ty\nc: 'x\ty'\n";
    assert_eq!(json(text), serde_json::json!({"a": "x\ty", "b": "x\ty\n", "c": "x\ty"}));
    assert_eq!(json(""), serde_json::Value::Null);
}

#[test]
fn wrong_types_name_their_line() {
    let root = read("a: 1\nb: [x]\nc: '2'\n");
    assert_eq!(
        root.get("b").unwrap().int().unwrap_err().to_string(),
        "line 2: expected an integer, found a list"
    );
    assert_eq!(root.get("c").unwrap().int().unwrap_err().at.line, 3);
    assert_eq!(root.get("a").unwrap().float(), Ok(1.0));
    assert!(root.get("a").unwrap().text().is_err());
    assert!(root.get("nothing").is_none());
}

#[test]
fn same_is_about_what_is_said() {
    let same = |a: &str, b: &str| read(a).same(&read(b));
    assert!(same("{a: 1, b: [x]}", "b:\n- 'x'\na: 1.0 # c\n"));
    assert!(!same("{a: 1}", "{a: '1'}"));
    assert!(!same("{a: [1, 2]}", "{a: [2, 1]}"));
    assert!(!same("{a: 1}", "{a: 1, b: ~}"));
}

/// A quadratic reader takes minutes over these; how fast ours is says the benchmark.
#[allow(clippy::disallowed_methods)]
fn quickly(text: &str) -> YamlError {
    let started = std::time::Instant::now();
    let error = error(text);
    assert!(started.elapsed().as_secs() < 20, "{:?} for {error}", started.elapsed());
    error
}

#[test]
fn hostile_files_end_quickly() {
    for text in [
        "[".repeat(20_000),
        "{a: ".repeat(20_000),
        "- ".repeat(20_000),
        (0..20_000).map(|n| format!("{}a:\n", " ".repeat(n % 3000))).collect(),
        "? ".repeat(20_000),
    ] {
        quickly(&text);
    }
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..10 {
        let row = vec![format!("*a{}", n - 1); 10].join(", ");
        bomb.push_str(&format!("a{n}: &a{n} [{row}]\n"));
    }
    assert!(quickly(&bomb).message.contains("more than 200000 values"));
    let quad = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), vec!["*a"; 20_000].join(", "));
    assert!(quickly(&quad).message.contains("bytes"));
    let mut merges = "m0: &m0 {a: 1}\n".to_owned();
    for n in 1..200 {
        merges.push_str(&format!(
            "m{n}: &m{n} {{<<: [{}]}}\n",
            vec![format!("*m{}", n - 1); 300].join(", ")
        ));
    }
    quickly(&merges);
    let chain: String = std::iter::once("c0: &c0 []\n".to_owned())
        .chain((1..2_000).map(|n| format!("c{n}: &c{n} [*c{}]\n", n - 1)))
        .collect();
    assert!(quickly(&chain).message.contains("levels"));
    assert!(quickly(&"x".repeat(50 << 20)).message.contains("bytes"));
    assert!(quickly(&"- a\n".repeat(1_000_000)).message.contains("values"));
    let long = format!("a: {}", "x".repeat(4 << 20));
    assert_eq!(read(&long).get("a").unwrap().text().unwrap().len(), 4 << 20);
}
