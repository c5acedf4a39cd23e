//! Check 1: a complete sweep with evaluations ran on a commit of the pull request.

use super::*;
use crate::support::{CheckSpec, JobSpec};

const NO_SWEEP: &str = "fail: No passing sweep was found on any commit of this pull request";

fn jobs_of<'c>(case: &'c mut Case, family: &str) -> Vec<&'c mut JobSpec> {
    let jobs = run(case).jobs.iter_mut();
    jobs.filter(|job| job.name.starts_with(family)).collect()
}

#[tokio::test]
async fn a_complete_run_passes_with_its_counts() {
    let verdict = verdict(case(GB200, |_| {})).await;
    // Two failed attempts before it take nothing away: each job counts by its latest execution.
    verdict.row("sweep").expect("pass", &["is complete: 8 benchmarks and 2 evaluations succeeded"]);
    assert_eq!(verdict.json["inputs"]["runs"][0], "38412750933/3");
}

#[tokio::test]
async fn a_run_of_a_commit_that_was_rebased_away_proves_nothing() {
    let stand_in = serve(case(B200, |case| run(case).head = "outside".to_owned())).await;
    let verdict = verdict_on(&stand_in, &[]).await;
    assert_eq!(verdict.code, 1);
    let row = verdict.row("sweep");
    let said = format!(
        "The named run {RUN} does not count: it ran on {}, which is no commit of this pull request",
        stand_in.sha("outside")
    );
    row.expect("fail", &[NO_SWEEP, &said]);
    assert!(row.told()[0].starts_with(NO_SWEEP), "the root issue comes first");
    row.expect_evidence();
}

#[tokio::test]
async fn without_any_run_the_fix_says_how_to_start_one() {
    let verdict = verdict(case(B200, |case| case.spec.runs.clear())).await;
    verdict.row("sweep").expect("fail", &[NO_SWEEP, "full-sweep-fail-fast"]);
}

#[tokio::test]
async fn a_green_collector_over_skipped_evaluations_is_no_evaluation() {
    let verdict = verdict(case(B200, |case| {
        for job in jobs_of(case, "eval /") {
            job.conclusion = Some("skipped".to_owned());
        }
    }))
    .await;
    let row = verdict.row("sweep");
    row.expect(
        "fail",
        &[
            "is incomplete: 9 of 12 jobs succeeded",
            "c32` was not evaluated: the run has no executed job of `eval /`",
            "c128` was not evaluated",
            "c256` was not evaluated",
        ],
    );
    row.expect_evidence();
}

#[tokio::test]
async fn one_failed_job_is_named_with_how_many_succeeded() {
    let verdict = verdict(case(B200, |case| {
        jobs_of(case, "single-node 8k1k /")[8].conclusion = Some("failure".to_owned());
        run(case).conclusion = Some("failure".to_owned());
    }))
    .await;
    let row = verdict.row("sweep");
    row.expect(
        "fail",
        &[
            "is incomplete: 11 of 12 jobs succeeded",
            "`single-node 8k1k / / p50 | dsr1 fp4 b200 sgl TP4/EP4/DPA c256` ended `failure`",
            &format!("Re-run the failed jobs of run {RUN}"),
        ],
    );
    row.expect_evidence();
}

#[tokio::test]
async fn a_run_that_is_still_going_on_is_no_pass() {
    let verdict = verdict(case(B200, |case| {
        run(case).status = "in_progress".to_owned();
        run(case).conclusion = None;
        jobs_of(case, "eval /")[2].conclusion = None;
    }))
    .await;
    verdict.row("sweep").expect("fail", &["is still running: 11 of 12 jobs succeeded so far"]);
}

#[tokio::test]
async fn a_pull_request_that_changes_the_sweep_itself_is_no_witness_in_its_own_cause() {
    let stand_in = serve(case(B200, |case| {
        case.write("head/.github/workflows/run-sweep.yml", "name: nothing\n");
    }))
    .await;
    let verdict = verdict_on(&stand_in, &[]).await;
    let row = verdict.row("sweep");
    let paste = format!("/countersign override sweep {}", stand_in.sha("head"));
    row.expect(
        "fail",
        &["unverified: ", "this pull request changes `.github/workflows/run-sweep.yml`", &paste],
    );
    assert_eq!(row.0["verified"], false, "nothing was disproved");
}

#[tokio::test]
async fn check_runs_of_other_apps_prove_nothing_and_disprove_nothing() {
    let other = |name: &str, conclusion: &str| CheckSpec {
        name: name.to_owned(),
        app: "somebody-elses-ci".to_owned(),
        id: None,
        conclusion: Some(conclusion.to_owned()),
        status: None,
        on: "head".to_owned(),
    };
    let failing = other("single-node 8k1k / / p50 | dsr1 fp4 b200 sgl TP4 c1", "failure");
    let disproved = verdict(case(B200, |case| case.spec.checks.push(failing))).await;
    disproved.row("sweep").expect("pass", &["9 benchmarks and 3 evaluations"]);

    let proven = verdict(case(B200, |case| {
        case.spec.runs.clear();
        case.spec.checks.push(other("single-node 8k1k / / c1", "success"));
        case.spec.checks.push(other("eval / / c1", "success"));
    }))
    .await;
    proven.row("sweep").expect("fail", &[NO_SWEEP]);
}

#[tokio::test]
async fn a_pull_request_without_a_benchmark_needs_no_sweep() {
    let verdict = verdict(case(B200, |case| {
        changing_only(case, &[("MODELS.md", "# Models\n\nOne more line.\n")]);
        case.spec.runs.clear();
    }))
    .await;
    let row = verdict.row("sweep");
    assert_eq!(
        (row.status().as_str(), row.summary().as_str()),
        ("not_applicable", "No affected configuration has anything to run.")
    );
    assert_eq!(row.0["verified"], true);
}

#[tokio::test]
async fn a_run_id_with_a_digit_missing_gets_the_one_that_was_meant() {
    let verdict = verdict(case(B200, |case| {
        case.replace("signoff.md", "runs/34911820457", "runs/3491182045");
    }))
    .await;
    verdict.row("sweep").expect(
        "pass",
        &["note: The named run 3491182045 does not count: no such run exists in this repository; \
           run 34911820457 of this pull request was probably meant"],
    );
}

#[tokio::test]
async fn a_run_on_an_earlier_commit_of_the_pull_request_counts_with_a_note() {
    let stand_in = serve(case(B200, |case| run(case).head = "image".to_owned())).await;
    let verdict = verdict_on(&stand_in, &[]).await;
    let said =
        format!("note: The run was made on `{}`, an earlier commit", &stand_in.sha("image")[..7]);
    verdict.row("sweep").expect("pass", &[&said]);
}

#[tokio::test]
async fn after_a_re_run_of_failed_jobs_the_earlier_successes_stay() {
    let verdict = verdict(case(GB200, |case| {
        let c1 = "agentic / / p50 | dsv41flash fp4 gb200 sgl TP4/EP4 mtp none KV offload c1";
        let of_c1 = |job: &&mut JobSpec| job.name == c1;
        for job in run(case).jobs.iter_mut().filter(of_c1) {
            let first = job.attempt == Some(1);
            job.conclusion = Some(if first { "success" } else { "skipped" }.to_owned());
        }
    }))
    .await;
    verdict.row("sweep").expect("pass", &["8 benchmarks and 2 evaluations succeeded"]);
}

#[tokio::test]
async fn the_latest_execution_counts_where_it_failed() {
    let verdict = verdict(case(GB200, |case| {
        let last = |job: &&mut JobSpec| job.id == Some(99_120_400_192);
        run(case).jobs.iter_mut().find(last).unwrap().conclusion = Some("timed_out".to_owned());
    }))
    .await;
    assert_eq!(verdict.code, 1);
    verdict.row("sweep").expect(
        "fail",
        &["is incomplete: 9 of 10 jobs succeeded", "c192 | eval-only` ended `timed_out`"],
    );
}

#[tokio::test]
async fn a_run_that_was_started_by_hand_is_no_sweep() {
    let verdict =
        verdict(case(B200, |case| run(case).event = "workflow_dispatch".to_owned())).await;
    let said = format!(
        "The named run {RUN} does not count: it was started by `workflow_dispatch`, which does not count"
    );
    verdict.row("sweep").expect("fail", &[NO_SWEEP, &said]);
}

#[tokio::test]
async fn a_run_that_was_cancelled_before_it_did_anything_is_none() {
    let verdict = verdict(case(B200, |case| {
        case.spec.runs.remove(0);
    }))
    .await;
    verdict.row("sweep").expect("fail", &[NO_SWEEP]);
}

#[tokio::test]
async fn a_point_that_the_run_left_out_is_named() {
    let left_out = "single-node 8k1k / / p50 | dsr1 fp4 b200 sgl TP4/EP4/DPA c64";
    let verdict =
        verdict(case(B200, |case| run(case).jobs.retain(|job| job.name != left_out))).await;
    let row = verdict.row("sweep");
    row.expect(
        "fail",
        &[
            "is incomplete: 11 of 12 jobs succeeded",
            "c64` was not measured: the run has no executed job of `single-node 8k1k /` for it",
            "or run a full sweep on a current commit where jobs were not run at all",
        ],
    );
    row.expect_evidence();
}

#[tokio::test]
async fn a_job_of_another_topology_is_not_the_point() {
    let verdict = verdict(case(B200, |case| {
        let job = &mut jobs_of(case, "single-node 8k1k /")[6].name;
        *job = job.replace("TP4/EP4/DPA c64", "TP4 c64");
    }))
    .await;
    verdict
        .row("sweep")
        .expect("fail", &["is incomplete: 11 of 12 jobs succeeded", "c64` was not measured"]);
}

#[tokio::test]
async fn a_canary_counts_as_its_point() {
    let verdict = verdict(case(B200, |case| {
        let jobs = &mut run(case).jobs;
        jobs.retain(|job| job.name != "canary /");
        let c1 = "single-node 8k1k / / p50 | dsr1 fp4 b200 sgl TP4 c1";
        let canary = jobs.iter_mut().find(|job| job.name == c1).unwrap();
        canary.name = canary.name.replace("single-node 8k1k /", "canary /");
    }))
    .await;
    verdict.row("sweep").expect("pass", &["9 benchmarks and 3 evaluations succeeded"]);
}

#[tokio::test]
async fn a_sweep_of_the_lowest_concurrencies_is_not_complete() {
    let verdict = verdict(case(B200, |case| {
        let kept = ["TP4 c1", "TP4/EP4/DPA c64"];
        let benchmark = |name: &str| name.starts_with("single-node 8k1k /");
        run(case)
            .jobs
            .retain(|job| !benchmark(&job.name) || kept.iter().any(|end| job.name.ends_with(end)));
    }))
    .await;
    verdict
        .row("sweep")
        .expect("fail", &["is incomplete: 5 of 12 jobs succeeded", "was not measured"]);
}

#[tokio::test]
async fn a_run_before_the_image_was_changed_again_does_not_count() {
    let master = "image/configs/nvidia-master.yaml";
    let stand_in = serve(case(B200, |case| {
        run(case).head = "image".to_owned();
        case.replace(master, "lmsysorg/sglang:v0.5.19-cu130", "lmsysorg/sglang:v0.5.18-cu130");
    }))
    .await;
    let verdict = verdict_on(&stand_in, &[]).await;
    let on = &stand_in.sha("image")[..7];
    let measured = format!("c1` was measured on `{on}`, and is configured differently since");
    let row = verdict.row("sweep");
    row.expect("fail", &["is incomplete: 0 of 12 jobs succeeded", &measured]);
    row.expect_evidence();
}

#[tokio::test]
async fn a_script_that_was_edited_after_the_run_is_named() {
    let script = "benchmarks/single_node/fixed_seq_len/dsr1_fp4_b200.sh";
    let stand_in = serve(case(B200, |case| {
        run(case).head = "image".to_owned();
        let text = case.text(&format!("base/{script}")).unwrap();
        case.write(&format!("head/{script}"), format!("{text}\n# One more line.\n"));
    }))
    .await;
    let said = format!("note: Edited since that run: `{script}`");
    verdict_on(&stand_in, &[]).await.row("sweep").expect("pass", &[&said]);
}

#[tokio::test]
async fn an_entry_that_no_changelog_entry_declares_has_to_run_too() {
    let verdict = verdict(case(B200, |case| {
        case.replace(
            "head/configs/nvidia-master.yaml",
            "lmsysorg/sglang:v0.5.16-cu130",
            "lmsysorg/sglang:v0.5.19-cu130",
        );
    }))
    .await;
    verdict.row("sweep").expect(
        "fail",
        &["is incomplete: 12 of 24 jobs succeeded", "`dsr1-fp4-b200-sglang-mtp 8k1k"],
    );
}
