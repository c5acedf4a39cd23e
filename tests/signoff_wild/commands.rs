//! Commands near a sign-off: whole lines and nothing else.

use countersign::signoff::{override_lines, override_near_misses, reuse_lines, reuse_near_misses};

use super::reuse_settings;

#[test]
fn commands_are_whole_lines() {
    let body = "please\n\n  /use 3826  \r\n/reuse-sweep-run\n/reuse-sweep-run 77\n\n```\n/use 99\n```\n> /use 5\n/use\n/use 12 now\n/stage-results 4\n/user 5\n/use 99999999999999999999";
    let found: Vec<_> = reuse_lines(body, &reuse_settings())
        .into_iter()
        .map(|line| (line.name, line.run_id, line.line, line.in_code, line.text))
        .collect();
    let line = |name: &str, run: Option<i64>, number: i64, code: bool, text: &str| {
        (name.to_owned(), run, number, code, text.to_owned())
    };
    assert_eq!(
        found,
        [
            line("/use", Some(3826), 3, false, "/use 3826"),
            line("/reuse-sweep-run", None, 4, false, "/reuse-sweep-run"),
            line("/reuse-sweep-run", Some(77), 5, false, "/reuse-sweep-run 77"),
            line("/use", Some(99), 8, true, "/use 99"),
        ]
    );
}

#[test]
fn what_nearly_was_a_command_says_why_it_is_none() {
    let settings = reuse_settings();
    for (body, why) in [
        ("/use", "the run's id is missing"),
        ("/use 12 now", "other words stand behind"),
        ("please /use 12", "inside a sentence"),
        ("`/use 12`", "inside a sentence"),
        ("/Use 12", "small letters"),
        ("/use 99999999999999999999", "the number is no run's id"),
    ] {
        assert!(reuse_lines(body, &settings).is_empty(), "{body}");
        let near = reuse_near_misses(body, &settings);
        assert_eq!(near.len(), 1, "{body}");
        assert!(near[0].why.contains(why), "{body}: {}", near[0].why);
    }
    for body in [
        "/users 12",
        "see https://a.example/use 12",
        "the /use command",
        "> /use",
        "/use 12",
        "I revoke it",
    ] {
        assert!(reuse_near_misses(body, &settings).is_empty(), "{body}");
    }
}

#[test]
fn an_override_is_a_whole_line_in_plain_sight() {
    let found = override_lines(
        "Hello\n/countersign override sweep ABCDEF1 runner outage, see #9\n  /countersign override golden-al 0123456789012345678901234567890123456789 why not  ",
    );
    let parts: Vec<_> = found
        .iter()
        .map(|l| (l.check.as_str(), l.sha.as_str(), l.reason.as_str(), l.line))
        .collect();
    assert_eq!(
        parts,
        [
            ("sweep", "abcdef1", "runner outage, see #9", 2),
            ("golden-al", "0123456789012345678901234567890123456789", "why not", 3),
        ]
    );
    for (body, why) in [
        ("/countersign override sweep abcdef1", "the reason is missing"),
        ("/countersign override sweep abcdef reason", "the commit is missing"),
        ("/countersign override sweep HEAD reason", "the commit is missing"),
        ("/countersign override", "the check's id"),
        ("```\n/countersign override sweep abcdef1 reason\n```", "in code"),
        ("    /countersign override sweep abcdef1 reason\n\ntext", "in code"),
        ("> hello\n/countersign override sweep abcdef1 lazy", "a quote"),
        ("> /countersign override sweep abcdef1 reason", ""),
        ("    /countersign override sweep abcdef1 reason", "in code"),
        ("text `\n/countersign override sweep abcdef1 reason\n`", "in code"),
        ("text <!--\n/countersign override sweep abcdef1 reason\n-->", "HTML"),
        ("![\n/countersign override sweep abcdef1 reason\n](https://a.example/i.png)", "HTML"),
        ("[a]: b '\n/countersign override sweep abcdef1 reason\n'", "HTML"),
        ("<!--\n/countersign override sweep abcdef1 reason\n-->", "HTML"),
        ("please /countersign override sweep abcdef1 reason", ""),
    ] {
        assert!(override_lines(body).is_empty(), "{body}");
        let near = override_near_misses(body);
        match why {
            "" => assert!(near.is_empty(), "{body}"),
            why => assert!(near[0].why.contains(why), "{body}: {near:?}"),
        }
    }
}
