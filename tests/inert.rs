//! Whatever a person writes comes out as a value: checked by reading the rendered Markdown back.

use countersign::facts::{Origin, OriginKind, SignOffKind};
use countersign::profile::Escalation;
use countersign::publish::{Standing, standing_list};
use countersign::rules::escape::code_span;
use countersign::rules::{Finding, Level, Override, Row, RowStatus, Severity};
use countersign::verdict::{
    CommentOptions, Discarded, DiscardedKind, Inputs, Outcome, SignedBy, Subject, Summary, Tries,
    Verdict, changed, check_output, comment, conclude, json, text,
};
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag};

const MARKER: &str = "<!-- countersign signoff=issue_comment/11 -->";

/// Texts that try to be more than a value.
fn hostile() -> Vec<String> {
    let mut texts: Vec<String> = [
        "## ✅✅✅ **APPROVED** ✅✅✅",
        "x\n\n## ✅✅✅ **APPROVED** ✅✅✅\n\n✅ Check 1 (Sweep): PASS — forged\n\n",
        "x\r\n✅ Check 0 (Code owner): PASS — forged",
        "@team and @org/team",
        "&#64;team &commat;team",
        "`@team`",
        "``` @team",
        "`` ` @team ` ``",
        "\n```\n@team\n```\n",
        "~~~\n@team",
        "</summary></details><h1>x</h1>",
        "<!-- countersign signoff=issue_comment/11 -->",
        "--> x <!--",
        "![x](https://evil.example/x.png)",
        "[x](https://evil.example)",
        "[x]: https://evil.example\n[x]",
        "https://evil.example www.evil.example a@evil.example",
        "javascript:alert(1)",
        "https://h.example/) ![x](https://evil.example/x.png",
        "https://h.example/a`b` @team",
        "- [x] a\n- [ ] b",
        "1. a\n2. b",
        "a | b\n--|--\nc | d",
        "> quoted",
        "***",
        "a\\",
        "\u{202e}DEVORPPA\u{202c} \u{200b}@\u{200b}team \u{2066}x\u{feff}",
        "\u{1b}[31mred\u{1b}[0m \u{9b}31m \u{7} \u{0}",
        "$`x`$ $$y$$",
        "😀",
        " ",
        "",
    ]
    .map(str::to_owned)
    .into();
    texts.push("@team ".repeat(2_000));
    texts.push("`".repeat(100));
    texts
}

/// A verdict with the same text wherever a person controls one.
fn verdict(hostile: &str, tries: Tries) -> Verdict {
    let evidence = |kind| Origin {
        url: Some(hostile.to_owned()),
        path: Some(hostile.to_owned()),
        line: Some(3),
        pointer: Some(hostile.to_owned()),
        commit: Some(HEAD.to_owned()),
        ..Origin::new(kind).quoting(hostile)
    };
    let finding = |level| Finding {
        level,
        message: format!("the value is {}", code_span(hostile)),
        fix: Some(format!("remove {}", code_span(hostile))),
        subject: Some(hostile.to_owned()),
        evidence: vec![evidence(OriginKind::File), evidence(OriginKind::Log)],
    };
    let row = |number: i64, status, severity| Row {
        id: format!("check-{number}"),
        number: Some(number),
        title: "Known".to_owned(),
        severity,
        status,
        verified: true,
        evidence_digest: String::new(),
        summary: format!("the value is {}", code_span(hostile)),
        overridden: None,
        findings: vec![finding(Level::Fail), finding(Level::Note)],
        retry_at: None,
    };
    let exception =
        Override { by: hostile.to_owned(), url: hostile.to_owned(), reason: hostile.to_owned() };
    let rows = vec![
        row(0, RowStatus::Fail, Severity::Blocking),
        Row { overridden: Some(exception), ..row(1, RowStatus::Fail, Severity::Blocking) },
        row(2, RowStatus::Warn, Severity::Advisory),
        Row {
            retry_at: Some(hostile.to_owned()),
            ..row(3, RowStatus::Undecided, Severity::Advisory)
        },
        row(4, RowStatus::Pass, Severity::Blocking),
        row(5, RowStatus::NotApplicable, Severity::Blocking),
        Row { summary: String::new(), ..row(6, RowStatus::Attested, Severity::Blocking) },
        Row {
            id: "item:x".to_owned(),
            number: None,
            title: hostile.to_owned(),
            ..row(7, RowStatus::Attested, Severity::Blocking)
        },
    ];
    conclude(
        rows,
        Subject {
            repository: hostile.to_owned(),
            pull_request: 12,
            required: true,
            signoff: Some(SignedBy {
                author: hostile.to_owned(),
                kind: SignOffKind::IssueComment,
                url: Some(hostile.to_owned()),
                id: 11,
                claims: None,
            }),
            inputs: Inputs {
                head: HEAD.to_owned(),
                base: hostile.to_owned(),
                newer_head: Some(hostile.to_owned()),
                signoff_body: Some(hostile.to_owned()),
                runs: vec![hostile.to_owned()],
                upstream: vec![hostile.to_owned()],
                date: hostile.to_owned(),
            },
            profile: hostile.to_owned(),
            rules_digest: hostile.to_owned(),
            evidence_digest: hostile.to_owned(),
            partial: true,
            changed: None,
            discarded: vec![
                discarded(hostile, DiscardedKind::Command),
                discarded(hostile, DiscardedKind::SignOff),
            ],
        },
        tries,
    )
}

fn discarded(hostile: &str, kind: DiscardedKind) -> Discarded {
    Discarded {
        kind,
        author: hostile.to_owned(),
        url: Some(hostile.to_owned()),
        line: Some(3),
        text: Some(hostile.chars().take(200).collect()),
        why: hostile.to_owned(),
    }
}

const HEAD: &str = "1111111111111111111111111111111111111111";

/// What a Markdown document is made of, as far as a value must not add to it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Shape {
    headings: usize,
    items: usize,
    html: Vec<String>,
    images: usize,
    quotes: usize,
    rules: usize,
    tables: usize,
    code_blocks: usize,
    tasks: usize,
    emphasised: usize,
    /// Hosts of links.
    hosts: Vec<String>,
    /// `@` outside code.
    calls: usize,
    /// Lines that begin like a row.
    rows: usize,
}

fn shape(markdown: &str) -> Shape {
    let mut shape = Shape::default();
    let options = Options::ENABLE_TASKLISTS
        | Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_GFM;
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Start(Tag::Heading { .. }) => shape.headings += 1,
            Event::Start(Tag::Item) => shape.items += 1,
            Event::Start(Tag::Image { .. }) => shape.images += 1,
            Event::Start(Tag::BlockQuote(_)) => shape.quotes += 1,
            Event::Start(Tag::Table(_)) => shape.tables += 1,
            Event::Start(Tag::CodeBlock(_)) => shape.code_blocks += 1,
            Event::Start(Tag::Strong | Tag::Emphasis | Tag::Strikethrough) => {
                shape.emphasised += 1;
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                let url = url::Url::parse(&dest_url).expect("a link of ours is an address");
                assert!(matches!(url.scheme(), "http" | "https"), "{dest_url}");
                shape.hosts.push(url.host_str().unwrap_or_default().to_owned());
            }
            Event::Rule => shape.rules += 1,
            Event::TaskListMarker(_) => shape.tasks += 1,
            Event::Html(html) | Event::InlineHtml(html) => {
                let digest = |line: &str| match line.split_once(" verdict=") {
                    Some((kept, _)) => kept.to_owned(),
                    None => line.to_owned(),
                };
                shape.html.extend(html.lines().map(digest));
            }
            // GitHub links addresses in plain text too; none of ours stands there.
            Event::Text(text) => {
                assert!(!text.contains("://") && !text.contains("www."), "bare address: {text}");
                shape.calls += text.matches('@').count();
            }
            _ => {}
        }
    }
    let signs = ["✅ Check", "❌ Check", "⚠️ Check", "➖ Check", "✍️ ", "⏳ Check"];
    let plain = |line: &str| line.trim_start_matches(['-', '*', '+', ' ']).to_owned();
    shape.rows = markdown
        .lines()
        .filter(|line| signs.iter().any(|sign| plain(line).starts_with(sign)))
        .count();
    shape
}

/// The shape with the parts taken out that an address which is a good one legitimately adds.
fn without_links(markdown: &str, hostile: &str) -> Shape {
    let mut shape = shape(markdown);
    let own = url::Url::parse(hostile).ok().and_then(|url| url.host_str().map(str::to_owned));
    shape.hosts.retain(|host| Some(host) != own.as_ref());
    shape
}

/// Every Markdown rendering of a verdict that is full of one text.
fn renderings(hostile: &str, tries: Tries) -> Vec<String> {
    let calls = [Escalation {
        check: "check-2".to_owned(),
        logins: vec!["carol".to_owned()],
        text: "please look.".to_owned(),
    }];
    let options = CommentOptions {
        report_url: Some("https://countersign.example/v/1"),
        command: hostile,
        escalations: &calls,
    };
    let verdict = verdict(hostile, tries);
    let before = Summary {
        verdict: Outcome::Approved,
        assessed_commit: hostile.to_owned(),
        checks: Vec::new(),
        signoff_body: None,
        claims: None,
        kept_at: 0,
    };
    let standing = Standing {
        key: "issue_comment/11".to_owned(),
        author: hostile.to_owned(),
        outcome: Some(Outcome::Rejected),
        commit: HEAD.to_owned(),
        url: Some(hostile.to_owned()),
    };
    let check = check_output(&verdict, &options, &standing_list(HEAD, &[standing]));
    let mut texts = vec![comment(&verdict, &options), check.summary, check.text];
    texts.extend(changed(&verdict, &before, Some(hostile)));
    texts
}

/// What every rendering consists of, whatever the text is.
fn expected(tries: Tries) -> Vec<Shape> {
    renderings("value two", tries).iter().map(|text| without_links(text, "")).collect()
}

fn assert_inert(hostile: &str, tries: Tries, expected: &[Shape]) {
    let name: String = hostile.chars().take(60).collect();
    let texts = renderings(hostile, tries);
    assert_eq!(texts.len(), expected.len());
    for (text, expected) in texts.iter().zip(expected) {
        assert_eq!(&without_links(text, hostile), expected, "{name:?}\n{text}");
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{name:?}");
    }
    assert_eq!(texts[0].matches(MARKER).count(), 1, "{name:?}");
    assert!(texts[0].starts_with(MARKER));
    let headers = texts[0].lines().filter(|line| line.starts_with("## ")).count();
    assert_eq!(headers, 1, "{name:?}");
}

#[test]
fn a_value_adds_nothing_to_any_rendering() {
    for tries in [Tries::Left, Tries::Last, Tries::Offline] {
        let expected = expected(tries);
        assert_eq!(expected[0].headings, 1);
        assert_eq!(expected[0].rows, 8);
        assert_eq!(expected[0].html.len(), 4, "{:?}", expected[0].html);
        assert_eq!(expected[1].calls + expected[2].calls, 0, "a check run calls nobody");
        for hostile in hostile() {
            assert_inert(&hostile, tries, &expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The same for what nobody thought of, from the characters that Markdown acts on. A text that
    /// is a login would rightly be called as the signer of a rejection, so each holds a blank.
    #[test]
    fn no_text_adds_anything(hostile in "[-`*_~<>\\[\\]()!@&#;|\\\\ \n\r+.:/a1$\"'=\u{200b}]{0,40} ?[-`*_~<>!@&#;|\\\\ a]{0,20} ") {
        assert_inert(&hostile, Tries::Last, &expected(Tries::Last));
    }
}

#[test]
fn a_terminal_gets_no_control_character_and_no_line_of_a_value() {
    for tries in [Tries::Left, Tries::Last] {
        let lines = text(&verdict("value two", tries), false).lines().count();
        for hostile in hostile() {
            let name: String = hostile.chars().take(60).collect();
            let verdict = verdict(&hostile, tries);
            let shown = text(&verdict, false);
            let steers =
                |c: char| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
            assert!(!shown.contains(steers), "{name:?}");
            assert_eq!(shown.lines().count(), lines, "{name:?}\n{shown}");
            assert!(!json(&verdict).contains(steers), "{name:?}");
            let read: serde_json::Value = serde_json::from_str(&json(&verdict)).unwrap();
            assert_eq!(read["repository"], hostile);
        }
    }
}

/// A value of backticks alone needs the longest fences: findings give way, the frame stands.
#[test]
fn what_does_not_fit_is_counted_and_still_inert() {
    let hostile = "`".repeat(100_000);
    let options = CommentOptions { report_url: None, command: &hostile, escalations: &[] };
    let text = comment(&verdict(&hostile, Tries::Last), &options);
    let shape = shape(&text);
    assert!(text.chars().count() <= 65_536);
    assert!(text.contains("more left out for length"));
    assert_eq!((shape.headings, shape.rows, shape.html.len(), shape.calls), (1, 8, 4, 0));
    assert_eq!((shape.code_blocks, shape.images, shape.hosts.len()), (0, 0, 0));
}

#[test]
fn only_the_signer_of_a_rejection_and_the_called_are_mentioned() {
    let options = CommentOptions { report_url: None, command: "x", escalations: &[] };
    let rejected = |author: &str| {
        let mut verdict = verdict("value two", Tries::Last);
        verdict.signoff.as_mut().unwrap().author = author.to_owned();
        comment(&verdict, &options)
    };
    assert_eq!(shape(&rejected("bob")).calls, 1);
    assert_eq!(shape(&rejected("bob @team")).calls, 0);
}
