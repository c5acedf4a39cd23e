use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Node {
    parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}")).root
}

fn error(text: &str) -> JsonError {
    parse(text.as_bytes()).unwrap_err()
}

#[test]
fn what_is_no_number_is_an_explicit_value_and_not_a_broken_file() {
    let root = read(r#"{"a": NaN, "b": [Infinity, -Infinity], "c": 1e400, "d": -1e400, "e": 5}"#);
    let invalid = |pointer: &str| match &root.pointer(pointer).unwrap().value {
        Value::Invalid(invalid) => invalid.clone(),
        other => panic!("{pointer}: {other:?}"),
    };
    assert_eq!(invalid("/a"), Invalid::NotANumber);
    assert_eq!(invalid("/b/0"), Invalid::Infinity);
    assert_eq!(invalid("/b/1"), Invalid::NegativeInfinity);
    assert_eq!(invalid("/c"), Invalid::TooLarge("1e400".to_owned()));
    assert_eq!(invalid("/d"), Invalid::TooLarge("-1e400".to_owned()));
    assert_eq!(root.get("e").unwrap().int(), Ok(5));
    let wrong = root.get("c").unwrap().number().unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "line 1: expected a number, found no number (`1e400` is past the range of a double)"
    );
}

#[test]
fn huge_numbers_are_bounded() {
    let integer = "1".repeat(400);
    let root = read(&format!("[{integer}, {}]", "9".repeat(1 << 20)));
    assert!(
        matches!(&root.pointer("/0").unwrap().value, Value::Invalid(Invalid::TooLarge(text)) if text.len() < 100)
    );
    assert!(
        matches!(&root.pointer("/1").unwrap().value, Value::Invalid(Invalid::TooLong(text)) if text.len() < 100)
    );
    // Many digits after the point are many digits, not a large number.
    let long = format!("0.{}", "3".repeat(4_000));
    assert_eq!(read(&long).number().unwrap().text(), long);
    assert_eq!(read("1e99999999999999999999").number().unwrap_err().wanted, "a number");
    assert!(read("1e-99999999999999999999").number().unwrap().python().is_zero());
}

#[test]
fn numbers_keep_their_text() {
    let root = read("[0.90, 1E2, 9007199254740993, -0, 16.0]");
    let number = |n: usize| root.array().unwrap()[n].number().unwrap().clone();
    assert_eq!(number(0).text(), "0.90");
    assert_eq!(number(0).decimal(), number(0).python());
    assert_eq!(number(1).int(), None);
    assert_eq!(number(2).int(), Some(9_007_199_254_740_993));
    assert_eq!(number(2).python().to_string(), "9007199254740993");
    assert_eq!(number(3).int(), Some(0));
    assert!(root.array().unwrap()[4].int().is_err());
}

#[test]
fn python_rounds_to_a_double_what_is_no_integer() {
    let number = |text: &str| read(text).number().unwrap().clone();
    let (a, b) = (number("0.1"), number("0.10000000000000000001"));
    assert_ne!(a.decimal(), b.decimal());
    assert_eq!(a.python(), b.python());
    assert!(number("1e-400").python().is_zero());
    assert!(!number("1e-400").decimal().is_zero());
}

#[test]
fn the_last_of_two_keys_counts_with_a_note_at_its_pointer() {
    let text = "{\"a\": 1, \"x/y~\": {\"b\": [0, {\"c\": 1,\n \"c\": 2}]}, \"a\": 3}";
    let document = parse(text.as_bytes()).unwrap();
    assert_eq!(document.root.get("a").unwrap().int(), Ok(3));
    assert_eq!(document.root.object().unwrap()[0].0, "a");
    let notes: Vec<_> = document
        .notes
        .iter()
        .map(|note| (note.pointer.as_str(), note.at.line, note.at.column))
        .collect();
    assert_eq!(notes, [("/x~1y~0/b/1/c", 2, 2), ("/a", 2, 13)]);
    assert!(document.notes.iter().all(|note| note.kind == NoteKind::DuplicateKey));
    assert_eq!(document.root.pointer("/x~1y~0/b/1/c").unwrap().int(), Ok(2));
}

#[test]
fn duplicates_are_found_in_large_objects_and_their_notes_are_bounded() {
    let keys: Vec<String> = (0..1_000).chain(0..1_000).map(|n| format!("\"k{n}\": {n}")).collect();
    let document = parse(format!("{{{}}}", keys.join(",")).as_bytes()).unwrap();
    assert_eq!(document.root.object().unwrap().len(), 1_000);
    assert_eq!(document.notes.len(), limits::JSON_NOTES);
    assert_eq!(document.more_notes, 1_000 - limits::JSON_NOTES);
}

#[test]
fn pointers_are_those_of_rfc_6901() {
    let root = read(r#"{"": 1, "a/b": 2, "m~n": 3, "~1": 4, "l": [5, 6], "0": 7}"#);
    for (pointer, value) in
        [("/", 1), ("/a~1b", 2), ("/m~0n", 3), ("/~01", 4), ("/l/0", 5), ("/l/1", 6), ("/0", 7)]
    {
        assert_eq!(root.pointer(pointer).unwrap().int(), Ok(value), "{pointer}");
    }
    assert_eq!(root.pointer(""), Some(&root));
    for pointer in ["l", "/l/00", "/l/01", "/l/2", "/l/-", "/l/+1", "/l/", "/a/b", "/l/0/0"] {
        assert_eq!(root.pointer(pointer), None, "{pointer}");
    }
    assert_eq!(member("/a", "b/c~"), "/a/b~1c~0");
}

#[test]
fn what_is_wrong_is_named_with_line_and_column() {
    for (text, line, column, part) in [
        ("", 1, 1, "the end of the file"),
        ("{\n  \"a\": 1,\n  \"b\" 2\n}", 3, 7, "expected `:`"),
        ("[1, 2", 1, 6, "expected `,` or `]`"),
        ("{\"a\": 1", 1, 8, "which may be cut"),
        ("[1,]", 1, 4, "expected a value, found `]`"),
        ("{\"a\":1,}", 1, 8, "a key in double quotes"),
        ("{a: 1}", 1, 2, "a key in double quotes"),
        ("['a']", 1, 2, "expected a value"),
        ("1 2", 1, 3, "there is more after the value"),
        ("[01]", 1, 3, "expected `,` or `]`"),
        ("[1.]", 1, 4, "expected a digit"),
        ("[.5]", 1, 2, "expected a value"),
        ("[+1]", 1, 2, "expected a value"),
        ("[1e]", 1, 4, "expected a digit"),
        ("[-]", 1, 2, "expected a value"),
        ("[nan]", 1, 2, "expected a value"),
        ("[NaNs]", 1, 5, "expected `,` or `]`"),
        ("[\"é\", x]", 1, 7, "expected a value"),
        ("[\"a\nb\"]", 1, 4, "control character"),
        ("[\"\\x\"]", 1, 3, "escape"),
        ("[\"\\u12\"]", 1, 3, "four hexadecimal digits"),
        ("[\"\\u+123\"]", 1, 3, "four hexadecimal digits"),
        ("[\"abc", 1, 6, "closing double quote"),
        ("[1 // c\n]", 1, 4, "expected `,` or `]`"),
    ] {
        let error = error(text);
        assert_eq!((error.at.line, error.at.column), (line, column), "{text:?}: {error}");
        assert!(error.message.contains(part), "{text:?}: {error}");
        assert!(!error.fix.is_empty());
    }
    let error = parse(b"[\"\xc3\xa9\",\n \"\xff\"]").unwrap_err();
    assert_eq!((error.at.line, error.at.column), (2, 3));
}

#[test]
fn half_surrogate_pairs_are_noted() {
    let document = parse(br#"["\ud83d\ude00", "\ud83d", "\ude00x", "\ud83dA"]"#).unwrap();
    let texts: Vec<_> = document.root.array().unwrap().iter().map(|n| n.text().unwrap()).collect();
    assert_eq!(texts, ["😀", "\u{fffd}", "\u{fffd}x", "\u{fffd}A"]);
    let pointers: Vec<_> = document.notes.iter().map(|note| note.pointer.as_str()).collect();
    assert_eq!(pointers, ["/1", "/2", "/3"]);
    assert!(document.notes.iter().all(|note| note.kind == NoteKind::LoneSurrogate));
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    assert_eq!(parse(b"\xef\xbb\xbf[1]").unwrap().root, read("[1]"));
}

#[test]
fn deep_nesting_is_an_error_and_no_overflow() {
    for open in ["[", "{\"a\":", "[{\"a\":"] {
        let error = error(&open.repeat(100_000));
        assert!(error.message.contains("more than 100 levels"), "{error}");
        assert_eq!(error.at.line, 1);
    }
    let levels = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert!(parse(levels(limits::JSON_DEPTH).as_bytes()).is_ok());
    assert!(parse(levels(limits::JSON_DEPTH + 1).as_bytes()).is_err());
}

#[test]
fn size_is_bounded_in_bytes_values_and_keys() {
    let many = format!("[{}0]", "0,".repeat(limits::JSON_NODES));
    assert!(error(&many).message.contains("more than 1000000 values"));
    let keys = format!("{{{}\"a\":0}}", "\"a\":0,".repeat(limits::JSON_NODES / 2));
    assert!(error(&keys).message.contains("more than 1000000 values"));
    let key = format!("{{\"{}\": 1}}", "k".repeat(limits::JSON_KEY_BYTES + 1));
    assert!(error(&key).message.contains("the key has more than"));
    let large = vec![b' '; limits::JSON_BYTES + 1];
    assert!(parse(&large).unwrap_err().message.contains("bytes"));
}

/// Any JSON value without a key given twice.
fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        ".{0,8}".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(5, 60, 25, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map("[a-c~/é\"\\\\]{0,3}", inner, 0..20)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

/// What `serde_json` would make of a node; numbers by the double they mean.
fn same(node: &Node, json: &serde_json::Value) -> bool {
    match (&node.value, json) {
        (Value::Null, serde_json::Value::Null) => true,
        (Value::Bool(a), serde_json::Value::Bool(b)) => a == b,
        (Value::Text(a), serde_json::Value::String(b)) => a == b,
        (Value::Number(a), serde_json::Value::Number(b)) => match b.as_i64() {
            Some(b) => a.int() == Some(b),
            None => Some(a.float().to_bits()) == b.as_f64().map(f64::to_bits),
        },
        (Value::Array(a), serde_json::Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), serde_json::Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => false,
    }
}

/// Every pointer of a value, with it.
fn pointers(node: &Node, pointer: &str, found: &mut Vec<String>) {
    found.push(pointer.to_owned());
    match &node.value {
        Value::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                pointers(item, &member(pointer, &n.to_string()), found);
            }
        }
        Value::Object(pairs) => {
            for (key, value) in pairs {
                pointers(value, &member(pointer, key), found);
            }
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn what_serde_json_writes_is_read_as_it_was(json in any_json(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&json) } else { serde_json::to_string(&json) };
        let text = text.unwrap();
        let document = parse(text.as_bytes()).unwrap();
        // Against what was written: `serde_json` itself reads some doubles one bit off.
        prop_assert!(same(&document.root, &json), "{text}");
        prop_assert!(document.notes.is_empty());
        let mut found = Vec::new();
        pointers(&document.root, "", &mut found);
        for pointer in found {
            let ours = document.root.pointer(&pointer).unwrap();
            prop_assert!(same(ours, json.pointer(&pointer).unwrap()), "{pointer}");
        }
    }

    #[test]
    fn what_serde_json_refuses_is_refused_but_for_pythons_words(text in "[\\[\\]{}\",:0-9eE.+\\-a\\\\ntrue]{0,12}") {
        let ours = parse(text.as_bytes());
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        let python = ours.as_ref().is_ok_and(|document| {
            !document.notes.is_empty() || format!("{:?}", document.root).contains("Invalid")
        });
        prop_assert!(python || ours.is_ok() == theirs.is_ok(), "{text:?}: {ours:?} {theirs:?}");
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
        let _ = parse(&bytes);
    }
}
