//! What somebody meant to count and what did not is told with its reason, wherever a verdict is shown.

use serde_json::json;

use super::*;

/// The entries of a verdict: kind, author, line, text.
fn entries(verdict: &Verdict) -> Vec<(String, String, Value, Value)> {
    let listed = verdict.json["discarded"].as_array().unwrap().iter();
    listed
        .map(|one| {
            let word = |key: &str| word(&one[key]).to_owned();
            (word("kind"), word("author"), one["line"].clone(), one["text"].clone())
        })
        .collect()
}

/// Why the one entry by an author does not count.
#[track_caller]
fn why(verdict: &Verdict, author: &str) -> String {
    let listed = verdict.json["discarded"].as_array().unwrap();
    let of: Vec<&Value> = listed.iter().filter(|one| one["author"] == author).collect();
    assert_eq!(of.len(), 1, "{listed:#?}");
    word(&of[0]["why"]).to_owned()
}

fn at(minute: u64) -> String {
    format!("2026-09-11T08:{minute:02}:00Z")
}

#[tokio::test]
async fn a_verdict_lists_everything_that_nearly_counted_newest_first() {
    let form = case(B200, |_| {}).text("signoff.md").unwrap();
    let rendered = form.replace("- [x] ", "\t• ").replace("- [X] ", "\t• ");
    let stand_in = serve(case(B200, |case| {
        person(case, "rosa-visitor", "read", "NONE");
        say(case, 41, "nv-tomasz", &at(20), &rendered);
        say(case, 42, "nv-ada", &at(21), "Thanks.\n\nplease /use 34911820457");
        say(case, 43, "rosa-visitor", &at(22), "/use 34911820457");
        say(case, 44, "nv-ada", &at(23), "/countersign override sweep {{head}} it is fine");
        say(case, 45, "lena-core", &at(24), "/countersign override sweep {{head}}");
        say(case, 46, "amd-noor", &at(25), "/countersign recheck");
        say(case, 47, "amd-noor", &at(26), "Looks good to me.");
        say(case, 48, "nv-tomasz", &at(27), "/countersign verify");
    }))
    .await;
    let verdict = verdict_on(&stand_in, &[]).await;
    assert_eq!(verdict.outcome(), "APPROVED", "{}", verdict.stderr);
    let head = stand_in.sha("head");
    let entry = |kind: &str, author: &str, line: i64, text: &str| {
        (kind.to_owned(), author.to_owned(), json!(line), json!(text))
    };
    let listed = entries(&verdict);
    assert_eq!(
        listed[..5],
        [
            entry("command", "amd-noor", 1, "/countersign recheck"),
            entry("override", "lena-core", 1, &format!("/countersign override sweep {head}")),
            entry(
                "override",
                "nv-ada",
                1,
                &format!("/countersign override sweep {head} it is fine")
            ),
            entry("command", "rosa-visitor", 1, "/use 34911820457"),
            entry("command", "nv-ada", 3, "please /use 34911820457"),
        ]
    );
    assert_eq!(
        (listed.len(), listed[5].0.as_str(), listed[5].1.as_str()),
        (6, "sign_off", "nv-tomasz")
    );
    let url = |id: u64| format!("{}#issuecomment-{id}", stand_in.pull_url());
    let urls: Vec<&str> =
        verdict.json["discarded"].as_array().unwrap().iter().map(|one| word(&one["url"])).collect();
    assert_eq!(urls, [46, 45, 44, 43, 42, 41].map(url));
    for (author, said) in [
        ("amd-noor", "it has to be a line of its own, `/countersign verify`"),
        ("lena-core", "the reason is missing; it has to be `/countersign override <check id>"),
        ("rosa-visitor", "is `NONE`, and none of `OWNER`, `MEMBER`, `COLLABORATOR`"),
        ("nv-tomasz", "no box is drawn: the items have no `[ ]` or `[x]`; copy the template"),
    ] {
        assert!(why(&verdict, author).contains(said), "{}", why(&verdict, author));
    }
}

#[tokio::test]
async fn every_form_of_the_verdict_shows_it_and_nobody_is_called() {
    let stand_in = serve(case(B200, |case| {
        say(case, 42, "amd-noor", &at(21), "please /use 34911820457");
    }))
    .await;
    let url = stand_in.pull_url();
    let said =
        "the command stands inside a sentence; it has to be a line of its own, `/use <run id>`";
    let markdown = countersign(&stand_in, &["verify", &url, "--format", "markdown"]).await.stdout;
    let fold = markdown.split_once("<details>").unwrap().1.split_once("</details>").unwrap().0;
    let entry = format!(
        "\n\n**Did not count**\n\n- Command `please /use 34911820457` by `@amd-noor` \
         ([comment `:1`]({url}#issuecomment-42)): {said}\n\n"
    );
    assert!(fold.ends_with(&entry), "{fold}");
    assert!(fold.contains("attested, 1 did not count</summary>"), "{fold}");
    assert_eq!(markdown.matches("<details>").count(), 1);

    let text = countersign(&stand_in, &["verify", &url]).await.stdout;
    let entry = format!(
        "\n\nDid not count:\n   - Command “please /use 34911820457” at {url}#issuecomment-42 by \
         amd-noor: {said}\n\n"
    );
    assert!(text.contains(&entry), "{text}");
}

#[tokio::test]
async fn without_a_sign_off_commands_are_listed_too() {
    let stand_in = serve(case(B200, |case| {
        case.spec.comments.retain(|comment| comment.id != SIGNOFF);
        say(case, 42, "amd-noor", &at(21), "please /use 34911820457");
    }))
    .await;
    let ran = countersign(&stand_in, &["verify", &stand_in.pull_url()]).await;
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    let url = stand_in.pull_url();
    let line = format!(
        "\n  Command “please /use 34911820457” at {url}#issuecomment-42 by amd-noor: the command \
         stands inside a sentence; it has to be a line of its own, `/use <run id>`\n"
    );
    assert!(ran.stderr.contains(&line), "{}", ran.stderr);
}

#[tokio::test]
async fn an_earlier_verifiers_verdict_is_no_sign_off_and_anybody_elses_marker_means_nothing() {
    let form = case(B200, |_| {}).text("signoff.md").unwrap();
    for marker in [
        "<!-- codeowner-signoff-verify sha=7a80e4bf3dd2d936031ebd45939326e97c83ffee -->",
        "<!-- codeowner-signoff-verify -->",
        "<!-- codeowner-signoff-verify signoff=issuecomment-4110262733 -->",
        "<!-- codeowner-signoff-verify signoff=pullrequestreview-77 -->",
    ] {
        let body = format!("{marker}\n{form}");
        let verdict_by = |author: &'static str| {
            let body = body.clone();
            verdict(case(B200, move |case| {
                person(case, author, "write", "COLLABORATOR");
                say(case, 61, author, &at(30), &body);
                say(
                    case,
                    62,
                    author,
                    &at(31),
                    "<!-- codeowner-signoff-verify -->\n## REJECTED\n\nAs a PR reviewer and CODEOWNER is missing.",
                );
            }))
        };
        // A person's account posted them for a while.
        let old = verdict_by("Klaud-Cold").await;
        assert_eq!(old.json["signoff"]["author"], "nv-ada", "{marker}");
        assert_eq!(why(&old, "Klaud-Cold"), "it is a verdict of an earlier verifier", "{marker}");
        let typed = verdict_by("nv-tomasz").await;
        assert_eq!(typed.json["signoff"]["author"], "nv-tomasz", "{marker}");
    }
}

#[tokio::test]
async fn what_one_account_writes_does_not_hide_anybody_elses() {
    let verdict = verdict(case(B200, |case| {
        say(case, 42, "nv-tomasz", &at(20), "please /use 1");
        say(case, 43, "amd-noor", &at(21), &"please /use 2\n".repeat(60));
    }))
    .await;
    let listed = entries(&verdict);
    let of = |author: &str| listed.iter().filter(|one| one.1 == author).count();
    assert_eq!((of("amd-noor"), of("nv-tomasz")), (20, 1));
    assert_eq!(listed[0].2, json!(60), "the newest, which is the last line");
}

#[tokio::test]
async fn a_command_in_a_review_says_that_it_stands_in_the_wrong_place() {
    let verdict = verdict(case(B200, |case| {
        say(case, 42, "amd-noor", &at(20), "/use 34911820457");
        case.spec.comments.last_mut().unwrap().kind = CommentKind::Review;
    }))
    .await;
    assert_eq!(verdict.row("reuse-command").status(), "warn");
    let said = "commands count in comments of the conversation only";
    assert!(why(&verdict, "amd-noor").contains(said), "{}", why(&verdict, "amd-noor"));
}
