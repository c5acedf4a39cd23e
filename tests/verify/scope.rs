//! Whether a sign-off is asked for at all, and what is said where there is none.

use super::*;

const README: (&str, &str) = ("README.md", "Read me.\n");

/// A pull request that only the core team owns.
fn for_the_core_team(case: &mut Case) {
    changing_only(case, &[README]);
}

fn without_signoff(case: &mut Case) {
    case.spec.comments.retain(|comment| comment.id != SIGNOFF);
}

#[tokio::test]
async fn what_only_the_core_team_owns_needs_no_sign_off() {
    let stand_in = serve(case(B200, |case| {
        for_the_core_team(case);
        without_signoff(case);
    }))
    .await;
    let verdict = verdict_on(&stand_in, &[]).await;
    assert_eq!((verdict.code, verdict.outcome()), (0, "NOT_REQUIRED"));
    assert_eq!(verdict.json["signoff"], Value::Null);
    assert_eq!(verdict.json["checks"], serde_json::json!([]));
    assert_eq!(verdict.json["assessed_commit"], stand_in.sha("head"));

    let text = countersign(&stand_in, &["verify", &stand_in.pull_url()]).await.stdout;
    assert!(text.starts_with("➖ NO SIGN-OFF REQUIRED ➖\n"), "{text}");
}

#[tokio::test]
async fn an_administrators_own_path_needs_none_and_a_writers_does() {
    let owned_by = |login: &'static str| {
        case(B200, move |case| {
            case.write(CODEOWNERS, format!("* @SemiAnalysisAI/core\n/README.md @{login}\n"));
            for_the_core_team(case);
            without_signoff(case);
        })
    };
    let admin = verdict(owned_by("lena-core")).await;
    assert_eq!((admin.code, admin.outcome()), (0, "NOT_REQUIRED"));

    let stand_in = serve(owned_by("nv-ada")).await;
    let ran = countersign(&stand_in, &["verify", &stand_in.pull_url()]).await;
    assert_eq!(ran.code, 2, "{ran:#?}");
}

#[tokio::test]
async fn a_sign_off_that_nobody_needs_is_not_judged() {
    let verdict = verdict(case(B200, for_the_core_team)).await;
    assert_eq!((verdict.code, verdict.outcome()), (0, "NOT_REQUIRED"));
}

#[tokio::test]
async fn the_gate_fails_closed_where_codeowners_is_broken() {
    // GitHub's own report of an error: nothing is exempted.
    let stand_in = serve(case(B200, |case| {
        for_the_core_team(case);
        case.spec.codeowners_errors.push("Unknown owner on line 3".into());
    }))
    .await;
    let verdict = verdict_on(&stand_in, &[]).await;
    assert_ne!(verdict.outcome(), "NOT_REQUIRED");
}

#[tokio::test]
async fn without_a_codeowners_file_a_missing_sign_off_is_missing() {
    let stand_in = serve(case(B200, |case| {
        case.remove(CODEOWNERS);
        without_signoff(case);
    }))
    .await;
    let ran = countersign(&stand_in, &["verify", &stand_in.pull_url()]).await;
    assert_eq!(ran.code, 2, "{ran:#?}");
    assert!(ran.stderr.contains("there is no sign-off on"), "{}", ran.stderr);
    let looked_for =
        "A sign-off begins with \"As a PR reviewer and CODEOWNER\" (profile inferencex;";
    assert!(ran.stderr.contains(looked_for), "{}", ran.stderr);
}

#[tokio::test]
async fn without_a_sign_off_everything_that_came_near_is_listed() {
    let form = case(B200, |_| {}).text("signoff.md").unwrap();
    let quote: String = form.lines().map(|line| format!("> {line}\n")).collect();
    let rendered = form.replace("- [x] ", "\t• ").replace("- [X] ", "\t• ");
    let stand_in = serve(case(B200, |case| {
        without_signoff(case);
        say(case, 41, "nv-tomasz", "2026-09-11T08:01:00Z", &format!("{quote}\nIs this right?"));
        say(case, 42, "nv-ada", "2026-09-11T08:02:00Z", &rendered);
        say(case, 43, "nv-ada", "2026-09-11T08:03:00Z", "Looks good to me.");
        say(case, 44, "image-keeper[bot]", "2026-09-11T08:04:00Z", &form);
    }))
    .await;
    let ran = countersign(&stand_in, &["verify", &stand_in.pull_url(), "--format", "json"]).await;
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    let told = |id: u64| {
        let fragment = format!("#issuecomment-{id} ");
        ran.stderr.lines().find(|line| line.contains(&fragment)).map(str::to_owned)
    };
    let near = |id: u64, why: &str| {
        let line = told(id).unwrap_or_else(|| panic!("{id} is not listed: {}", ran.stderr));
        assert!(line.contains(why), "{line}");
    };
    near(41, "by nv-tomasz: the opening phrase is part of a quote");
    near(
        42,
        "by nv-ada: no box is drawn: the items have no `[ ]` or `[x]`; copy the template from its source",
    );
    near(44, "by image-keeper[bot]: a bot or an app wrote it; only a person can sign");
    assert_eq!(told(43), None, "nobody meant it as one");
    assert_eq!(told(4_110_200_301), None, "a bot that explains the form meant none");
}

#[tokio::test]
async fn where_the_scope_cannot_be_read_nothing_is_concluded() {
    let stand_in = serve(case(B200, without_signoff)).await;
    stand_in.fault(crate::support::Fault {
        pattern: "GET *CODEOWNERS*".to_owned(),
        status: Some(502),
        ..Default::default()
    });
    let ran = countersign(&stand_in, &["verify", &stand_in.pull_url()]).await;
    assert_eq!(ran.code, 3, "{ran:#?}");
    assert!(ran.stderr.contains("Nothing was concluded"), "{}", ran.stderr);
}

#[tokio::test]
async fn a_merged_pull_request_is_judged_by_what_it_changed() {
    let stand_in = serve(case(B200, |case| {
        case.spec.pull_request.state = crate::support::PullState::Merged;
    }))
    .await;
    // Its commits are in the target branch, so that the two tips differ in nothing.
    stand_in.world().move_main("head").unwrap();
    let verdict = verdict_on(&stand_in, &[]).await;
    assert_eq!((verdict.code, verdict.outcome()), (0, "APPROVED"));
    assert_eq!(verdict.json["inputs"]["base"], stand_in.sha("base"));
}
