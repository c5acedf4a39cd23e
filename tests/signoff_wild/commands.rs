//! Commands near a sign-off: whole lines and nothing else.

use countersign::signoff::{
    CommandKind, near_commands, override_lines, override_near_misses, reuse_lines,
    reuse_near_misses, verify_lines,
};

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

#[test]
fn another_verification_is_asked_for_by_a_whole_line_in_plain_sight() {
    let body = "I mended it.\n\n  /countersign verify  \r\n/countersign\tverify\n";
    let lines: Vec<i64> = verify_lines(body).iter().map(|line| line.line).collect();
    assert_eq!(lines, [3, 4]);
    let near = |body: &str| {
        assert!(verify_lines(body).is_empty(), "{body}");
        near_commands(body, Some(&reuse_settings()))
    };
    let form = "it has to be a line of its own, `/countersign verify`";
    for (body, command, why) in [
        ("/countersign recheck", CommandKind::Verify, "there is no such command; "),
        ("/countersign verfiy", CommandKind::Verify, "there is no such command; "),
        ("/countersign", CommandKind::Verify, "there is no such command; "),
        ("/countersign verify please", CommandKind::Verify, "other words stand behind"),
        ("/Countersign Verify", CommandKind::Verify, "small letters"),
        ("please /countersign verify", CommandKind::Verify, "inside a sentence"),
        ("/countersign overide sweep abcdef1 it broke", CommandKind::Override, "no such command"),
        ("/Countersign override sweep abcdef1 it broke", CommandKind::Override, "small letters"),
    ] {
        let found = near(body);
        assert_eq!(found.len(), 1, "{body}: {found:?}");
        assert_eq!((found[0].command, found[0].text.as_str()), (command, body));
        assert!(found[0].why.contains(why), "{body}: {}", found[0].why);
        let named = if command == CommandKind::Verify { form } else { "`/countersign override <" };
        assert!(found[0].why.contains(named), "{body}: {}", found[0].why);
    }
    for hidden in ["```\n/countersign verify\n```", "<!--\n/countersign verify\n-->"] {
        let found = near(hidden);
        assert_eq!((found[0].line, found[0].command), (2, CommandKind::Verify));
        assert!(found[0].why.contains("it stands in code, a quote or HTML"), "{hidden}");
    }
    for body in [
        "> /countersign verify",
        "`/countersign verify` has it verified again",
        "see /countersign",
        "https://a.example/countersign verify",
        "/countersigned",
    ] {
        assert!(near(body).is_empty(), "{body}: {:?}", near(body));
    }
}

#[test]
fn all_near_misses_of_a_comment_come_in_the_order_of_its_lines() {
    let body = "/countersign recheck\n/use\n/countersign override sweep\n/use 12\nplease /use 13";
    let near = near_commands(body, Some(&reuse_settings()));
    let found: Vec<_> = near.iter().map(|near| (near.line, near.command)).collect();
    let (reuse, verify) = (CommandKind::Reuse, CommandKind::Verify);
    assert_eq!(found, [(1, verify), (2, reuse), (3, CommandKind::Override), (5, reuse)]);
    let without_reuse = near_commands(body, None);
    assert_eq!(without_reuse.iter().map(|near| near.line).collect::<Vec<_>>(), [1, 3]);
}
