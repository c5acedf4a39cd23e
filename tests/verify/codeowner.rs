//! Check 0: the signer is a code owner of what changed.

use super::*;

/// No team stands on the line of NVIDIA's masters, so that each answer is certain.
fn people_only(case: &mut Case) {
    case.replace(CODEOWNERS, "@nv-tomasz @SemiAnalysisAI/core", "@nv-tomasz");
}

fn signed_by(case: &mut Case, login: &str) {
    signoff(case).author = login.to_owned();
    case.replace("signoff.md", "Signed: nv-ada", &format!("Signed: {login}"));
}

#[tokio::test]
async fn an_owner_of_every_path_passes() {
    let verdict = verdict(case(B200, people_only)).await;
    verdict
        .row("codeowner")
        .expect("pass", &["`nv-ada` is a code owner of everything that changed, 2 paths"]);
}

#[tokio::test]
async fn an_owner_of_another_vendors_file_fails_and_the_real_owners_are_named() {
    let verdict = verdict(case(B200, |case| {
        people_only(case);
        signed_by(case, "amd-noor");
    }))
    .await;
    assert_eq!((verdict.code, verdict.outcome()), (1, "REJECTED"));
    let row = verdict.row("codeowner");
    let said = "`configs/nvidia-master.yaml` is owned by `@nv-ada`, `@nv-tomasz`, and `amd-noor` is none of them";
    row.expect("fail", &[said, "posts a sign-off of their own"]);
    row.expect_evidence();
    assert_eq!(row.0["verified"], true);
    assert_eq!(row.0["findings"][0]["evidence"][0]["line"], 7, "the line of CODEOWNERS");
}

#[tokio::test]
async fn who_owns_one_half_does_not_sign_for_the_other() {
    let verdict = verdict(case(B200, |case| {
        people_only(case);
        case.write("head/configs/amd-master.yaml", "{}\n");
    }))
    .await;
    let said = "`configs/amd-master.yaml` is owned by `@amd-noor`, `@amd-viktor`, and `nv-ada` is none of them";
    verdict.row("codeowner").expect("fail", &[said]);
}

#[tokio::test]
async fn the_old_path_of_a_renamed_file_counts_as_well() {
    let text = "amd:\n  image: rocm/sgl\n  model: a/b\n  runner: mi355x\n  precision: fp4\n";
    let verdict = verdict(case(B200, |case| {
        people_only(case);
        case.write("base/configs/amd-master.yaml", text);
        case.write("head/configs/amd-master.yaml.deleted", "");
        case.write("head/docs/old-amd.yaml", text);
    }))
    .await;
    verdict.row("codeowner").expect("fail", &["`configs/amd-master.yaml` is owned by `@amd-noor`"]);
}

#[tokio::test]
async fn who_stands_nowhere_in_the_file_is_no_code_owner() {
    let verdict = verdict(case(B200, |case| {
        case.write(CODEOWNERS, "* @lena-core\nconfigs/ @nv-ada\n");
        person(case, "kim-cloud", "write", "COLLABORATOR");
        signed_by(case, "kim-cloud");
    }))
    .await;
    verdict.row("codeowner").expect(
        "fail",
        &["`kim-cloud` is no code owner: no line of `.github/CODEOWNERS` names the account"],
    );
}

#[tokio::test]
async fn a_member_of_a_team_on_the_line_owns_the_path() {
    let verdict = verdict(case(B200, |case| signed_by(case, "lena-core"))).await;
    verdict.row("codeowner").expect("pass", &["`lena-core` is a code owner of everything"]);
}

#[tokio::test]
async fn a_team_that_nobody_lets_us_read_leaves_the_path_unverified() {
    // A person's token gets 404 both for "not a member" and for "you may not know".
    let verdict = verdict(case(B200, |case| {
        case.write(
            CODEOWNERS,
            "* @SemiAnalysisAI/core\nconfigs/ @SemiAnalysisAI/nvidia\nMODELS.md @amd-noor\n",
        );
        signed_by(case, "amd-noor");
    }))
    .await;
    let row = verdict.row("codeowner");
    row.expect(
        "fail",
        &["unverified: Ownership of `configs/nvidia-master.yaml` by `@SemiAnalysisAI/nvidia` could not be verified"],
    );
    assert_eq!(row.0["verified"], false);
}

#[tokio::test]
async fn an_author_who_signs_the_own_pull_request_is_noted() {
    let verdict =
        verdict(case(B200, |case| case.spec.pull_request.author = "nv-ada".to_owned())).await;
    verdict
        .row("codeowner")
        .expect("pass", &["note: `nv-ada` signed off a pull request of their own"]);
}

#[tokio::test]
async fn an_edit_by_another_account_fails_and_names_the_editor() {
    let edited_by = |login: &'static str| {
        case(B200, move |case| {
            signoff(case).updated = Some("2026-09-11T08:30:00Z".to_owned());
            signoff(case).edited_by = Some(login.to_owned());
        })
    };
    let by_another = verdict(edited_by("nv-tomasz")).await;
    assert_eq!(by_another.code, 1);
    by_another.row("codeowner").expect(
        "fail",
        &["The sign-off of `nv-ada` was last edited by `nv-tomasz`", "`nv-ada` edits the sign-off"],
    );
    let by_the_signer = verdict(edited_by("nv-ada")).await;
    by_the_signer.row("codeowner").expect("pass", &[]);
}

#[tokio::test]
async fn a_review_of_an_older_commit_is_noted() {
    let stand_in = serve(case(B200, |case| {
        signoff(case).kind = CommentKind::Review;
        signoff(case).commit = Some("image".to_owned());
    }))
    .await;
    let verdict = verdict_on(&stand_in, &[]).await;
    let (seen, head) = (stand_in.sha("image"), stand_in.sha("head"));
    let said = format!(
        "note: The review was made on `{}`, not on the assessed commit `{}`",
        &seen[..7],
        &head[..7]
    );
    verdict.row("codeowner").expect("pass", &[&said]);
}

#[tokio::test]
async fn the_account_counts_and_not_the_signature_line() {
    let verdict = verdict(case(B200, |case| {
        case.replace("signoff.md", "Signed: nv-ada", "Signed: nv-tomasz");
    }))
    .await;
    verdict.row("codeowner").expect("pass", &["The signature line names `nv-tomasz`"]);
}
