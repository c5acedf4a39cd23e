//! Checks 6, 7, 8, 10 and 12: what the repository's own files say, in both directions.

use super::*;

const MASTER: &str = "head/configs/nvidia-master.yaml";
const SCRIPT: &str = "head/benchmarks/single_node/fixed_seq_len/dsr1_fp4_b200.sh";
const LOG: &str = "head/perf-changelog.yaml";
const RECIPE: &str = "head/inferencex-e2e/benchmarks/single_node/srt-slurm-recipes/dsv41flash/sglang/gb200-fp4-mtp/agentic.yaml";

/// Replaces a text in a file of the case; the file of the base is taken where the head has none.
fn edit(case: &mut Case, path: &str, from: &str, to: &str) {
    let base = path.replacen("head/", "base/", 1);
    let text = case.text(path).or_else(|_| case.text(&base)).unwrap();
    assert!(text.contains(from), "{path} has no {from}");
    case.write(path, text.replacen(from, to, 1));
}

/// Puts a text at the end of a file of the case.
fn append(case: &mut Case, path: &str, more: &str) {
    let base = path.replacen("head/", "base/", 1);
    let text = case.text(path).or_else(|_| case.text(&base)).unwrap();
    case.write(path, format!("{text}{more}"));
}

/// Says more in the details of the sign-off.
fn explain(case: &mut Case, more: &str) {
    let comment = signoff(case);
    let file = comment.file.take().unwrap();
    let text = case.text(&file).unwrap();
    signoff(case).body = Some(text.replacen("\nSigned:", &format!("\n{more}\n\nSigned:"), 1));
}

/// Images that nobody has heard of are no matter here.
async fn of(name: &str, change: impl FnOnce(&mut Case)) -> Verdict {
    let without_registry = |case: &mut Case| {
        case.spec.registry = None;
        change(case);
    };
    verdict(case(name, without_registry)).await
}

#[tokio::test]
async fn what_changes_is_said_first() {
    let verdict = of(B200, |_| {}).await;
    let stand_in = serve(Case::load(B200)).await;
    let told = countersign(&stand_in, &["verify", &stand_in.pull_url()]).await.stdout;
    let line = told.lines().nth(2).unwrap();
    assert_eq!(
        line,
        "What changes: image-only bump of 1 entry, 9 points on 1 curve; changelog: 1 entry added, history intact."
    );
    let row = verdict.row("upstream-image");
    row.expect("pass", &["Every image is an engine's own"]);
    row.expect_evidence();
}

#[tokio::test]
async fn an_engine_runs_its_own_image_on_established_hardware() {
    let image = "lmsysorg/sglang:v0.5.19-cu130";
    for (to, status, said) in [
        (
            "rocm/sgl-dev:v1",
            "fail",
            "on established hardware an SGLang entry runs an image of `lmsysorg`",
        ),
        ("ghcr.io#lmsysorg/sglang:v1", "fail", "runs `ghcr.io#lmsysorg/sglang:v1`"),
        ("docker.io#lmsysorg/sglang:v1", "pass", "Every image"),
        (
            "lmsysorg/sglang@sha256:d6e7288627be8b02be88e4bba38e73f6d50e2826869f753c13a4c4385ab3eda9",
            "pass",
            "Every image",
        ),
    ] {
        let verdict = of(B200, |case| edit(case, MASTER, image, to)).await;
        verdict.row("upstream-image").expect(status, &[said]);
        verdict.row("upstream-image").expect_evidence();
    }
    // New hardware, and an architecture that the engine does not support yet.
    let verdict = of(B200, |case| {
        edit(case, MASTER, image, "rocm/sgl-dev:v1");
        edit(case, MASTER, "runner: cluster:b200-nscale", "runner: cluster:vr200-nscale");
    })
    .await;
    verdict.row("upstream-image").expect("pass", &["which is no established hardware"]);
    let verdict = of(B200, |case| {
        edit(case, MASTER, image, "rocm/sgl-dev:v1");
        explain(case, "- dsr1-fp4-b200-sglang: not in a release yet, https://github.com/sgl-project/sglang/issues/77");
    })
    .await;
    verdict
        .row("upstream-image")
        .expect("pass", &["whether that is a reason is a person's to judge"]);
}

/// An entry like the first of the case.
fn entry(key: &str, framework: &str, runner: &str) -> String {
    format!(
        "\n{key}:\n  image: nvcr.io/x/y:1\n  model: m\n  model-prefix: dsv4\n  runner: {runner}\n  precision: fp4\n  \
         framework: {framework}\n  multinode: false\n  scenarios:\n    fixed-seq-len:\n    - isl: 8192\n      osl: 1024\n      \
         search-space:\n      - {{ tp: 8, conc-list: [16] }}\n"
    )
}

#[tokio::test]
async fn a_vendors_framework_follows_an_open_source_engine() {
    // The engine is there on another runner of the same hardware.
    let verdict = of(B200, |case| append(case, MASTER, &entry("a-trt", "trt", "b200"))).await;
    verdict.row("upstream-image").expect("pass", &[]);
    let verdict = of(B200, |case| append(case, MASTER, &entry("a-trt", "trt", "h200"))).await;
    verdict.row("upstream-image").expect(
        "fail",
        &["`a-trt` adds `trt` for `dsv4` on `h200`, and no open-source engine is configured"],
    );
    // One that this pull request adds, too, is enough.
    let verdict = of(B200, |case| {
        append(case, MASTER, &entry("a-trt", "trt", "h200"));
        append(case, MASTER, &entry("b-sgl", "dynamo-sglang", "cluster:h200-x"));
    })
    .await;
    verdict.row("upstream-image").expect("pass", &["for `dynamo-sglang` that is usual"]);
}

#[tokio::test]
async fn the_last_day_of_a_model_is_allowed_and_the_day_after_is_not() {
    const MODELS: &str = "base/MODELS.md";
    let notice = "### Friday, September 11, 2026\n\n**Friday, September 11, 2026** is the last day for the **Single-turn 8k1k** \
                  scenario on **DeepSeek-R1** (`dsr1`).\n\n## Scenarios";
    let with = |case: &mut Case, now: &str| {
        let text = case.text(MODELS).unwrap();
        case.write(MODELS, text.replacen("## Scenarios", notice, 1));
        case.spec.now = now.to_owned();
    };
    let verdict = of(B200, |case| with(case, "2026-09-11T23:59:59Z")).await;
    verdict.row("deprecated-model").expect("pass", &["may be submitted until `2026-09-11`"]);
    let verdict = of(B200, |case| with(case, "2026-09-12T00:00:00Z")).await;
    let row = verdict.row("deprecated-model");
    row.expect(
        "fail",
        &["submits `dsr1` in `8k1k` at `fp4`, which is deprecated", "Take `8k1k` out of"],
    );
    row.expect_evidence();
    let verdict = of(B200, |case| case.remove(MODELS)).await;
    verdict.row("deprecated-model").expect("fail", &["unverified: there is no document of models"]);
}

#[tokio::test]
async fn an_override_that_takes_work_away_is_found_in_a_script_and_in_the_base_of_a_bundle() {
    let flag = "--kv-cache-dtype fp8_e4m3";
    for (argument, status, said) in [
        (
            "--json-model-override-args '{\"index_topk_freq\": 4}'",
            "fail",
            "`index_topk_freq` is set to `4`: the indexer runs on some",
        ),
        (
            "--json-model-override-args '{\"rope_scaling\": {\"factor\": 4}}'",
            "pass",
            "extends the context",
        ),
        (
            "--hf-overrides='{\"mystery\": 1}'",
            "fail",
            "could not be shown to keep the computed work",
        ),
        ("--attention-backend fa3", "pass", "changes nothing of the model's work"),
    ] {
        let verdict = of(B200, |case| edit(case, SCRIPT, flag, argument)).await;
        let row = verdict.row("architecture");
        row.expect(status, &[said]);
        row.expect_evidence();
    }
    // Under a test that no affected point meets, it is not what runs.
    let verdict = of(B200, |case| {
        edit(case, SCRIPT, "SGLANG_CMD=(", "EXTRA=()\nif [[ \"$TP\" == 16 ]]; then EXTRA=(--num-hidden-layers 3); fi\nSGLANG_CMD=(");
        edit(case, SCRIPT, flag, "\"${EXTRA[@]}\"");
    })
    .await;
    verdict.row("architecture").expect("pass", &[]);
    let verdict = of(GB200, |case| {
        edit(case, RECIPE, "mem-fraction-static: 0.76", "mem-fraction-static: 0.76\n        json-model-override-args: {text_config: {num_hidden_layers: 3}}");
    })
    .await;
    let row = verdict.row("architecture");
    row.expect("fail", &["`text_config.num_hidden_layers` is set to `3`: runs fewer layers"]);
    row.expect_evidence();
}

#[tokio::test]
async fn publication_is_off_in_every_spelling() {
    let at = "  engine: sglang\n";
    for (setting, status, said) in [
        (
            "  engine: {type: sglang, publish_events_and_metrics: false}\n",
            "fail",
            "switched off: `publish_events_and_metrics: false`",
        ),
        ("  engine: {type: sglang, publish_events_and_metrics: 'no'}\n", "fail", "switched off"),
        ("  engine: {type: sglang, publish_events_and_metrics: off}\n", "fail", "switched off"),
        ("  engine: {type: sglang, publish_events_and_metrics: 0}\n", "fail", "switched off"),
        (
            "  engine: {type: sglang, publish_events_and_metrics: true}\n",
            "pass",
            "switches no publication off",
        ),
        (
            "  engine: {type: sglang, publish_events_and_metrics: perhaps}\n",
            "fail",
            "is neither on nor off",
        ),
    ] {
        let verdict = of(GB200, |case| edit(case, RECIPE, at, setting)).await;
        verdict.row("architecture").expect(status, &[said]);
    }
    for (setting, said) in [
        ("DYN_TRTLLM_PUBLISH_EVENTS_AND_METRICS: '0'", "DYN_TRTLLM_PUBLISH_EVENTS_AND_METRICS: 0"),
        ("no-publish-events: true", "no-publish-events: true"),
    ] {
        let line = "SGLANG_DEFAULT_THINKING: '1'";
        let verdict =
            of(GB200, |case| edit(case, RECIPE, line, &format!("{line}\n        {setting}"))).await;
        verdict.row("architecture").expect("fail", &[said]);
    }
    // Where a framework has the setting, leaving it out is no proof.
    let verdict = of(GB200, |case| {
        edit(
            case,
            "head/inferencex-e2e/configs/nvidia-master.yaml",
            "framework: sglang\n  multinode: false\n  srt-recipe-dir",
            "framework: dynamo-trt\n  multinode: false\n  srt-recipe-dir",
        );
    })
    .await;
    verdict.row("architecture").expect("fail", &["the recipe does not set it"]);
}

const WAIVER: &str = "# Waiver 9101\n## What is patched\n`dsr1_fp4_b200.sh` of `dsr1-fp4-b200-sglang`.\n## Why the unmodified image \
                      cannot run it\nIt faults.\n## Removal plan\nWith the next image. https://github.com/sgl-project/sglang/pull/77\n";

#[tokio::test]
async fn a_patch_of_the_engine_needs_a_waiver_that_covers_it() {
    let line = "SERVER_LOG=/workspace/server.log";
    for (patch, said) in [
        (
            "sed -i 's/a/b/' /sgl-workspace/sglang/x.py",
            "in-place edit (`/sgl-workspace/sglang/x.py`)",
        ),
        (
            "python3 - <<'PY'\nimport sglang, pathlib\npathlib.Path(sglang.__file__).write_text('x')\nPY",
            "engine source rewritten",
        ),
        (
            "agentic_pip_install --no-deps \\\n  https://x/y/sglang_kernel-1-cp312.whl",
            "package (`https://x/y/sglang_kernel-1-cp312.whl`)",
        ),
        ("git apply fix.patch", "patch command (`fix.patch`)"),
    ] {
        let add = |case: &mut Case| edit(case, SCRIPT, line, &format!("{line}\n{patch}"));
        let verdict = of(B200, add).await;
        let row = verdict.row("engine-patch");
        row.expect("fail", &[said, "and there is no waiver", "file `docs/waiver/9101.md`"]);
        row.expect_evidence();
        // A waiver that covers it and is linked; one of the two is not enough.
        let verdict = of(B200, |case| {
            add(case);
            case.write("head/docs/waiver/9101.md", WAIVER);
        })
        .await;
        verdict.row("engine-patch").expect("fail", &["is not linked in the sign-off's details"]);
        let verdict = of(B200, |case| {
            add(case);
            case.write("head/docs/waiver/9101.md", WAIVER);
            explain(case, "- Waiver: docs/waiver/9101.md, the engine faults otherwise");
        })
        .await;
        verdict.row("engine-patch").expect("pass", &[]);
    }
    let verdict = of(B200, |case| {
        edit(case, SCRIPT, line, &format!("{line}\npip install sglang==9"));
        case.write(
            "head/docs/waiver/9101.md",
            WAIVER
                .replace("Removal plan", "Outlook")
                .replace("sgl-project/sglang", "SemiAnalysisAI/InferenceX"),
        );
        explain(case, "- Waiver: docs/waiver/9101.md");
    })
    .await;
    let lacks = ["does not cover it", "does not say when it is removed", "links no upstream issue"];
    verdict.row("engine-patch").expect("fail", &lacks);
}

#[tokio::test]
async fn what_was_there_is_a_patch_too_and_the_harness_is_none() {
    // The script is not changed; its configuration is affected.
    let verdict = of(B200, |case| {
        let path = SCRIPT.replacen("head/", "base/", 1);
        let text = case.text(&path).unwrap();
        case.write(&path, text.replacen("PORT=", "pip install nixl==1\nPORT=", 1));
    })
    .await;
    verdict
        .row("engine-patch")
        .expect("fail", &["in an unchanged file that an affected configuration runs"]);
    // A script beside it, run by its name.
    let verdict = of(B200, |case| {
        edit(case, SCRIPT, "PORT=", "bash \"$(dirname \"$0\")/prepare.sh\"\nPORT=");
        case.write("head/benchmarks/single_node/fixed_seq_len/prepare.sh", "patch -p1 < /x.diff\n");
    })
    .await;
    verdict.row("engine-patch").expect("fail", &["patch command"]);
    for fine in [
        "pip install aiperf lm-eval datasets",
        "sed -i s/a/b/ results.json",
        "cp a.txt /workspace/",
        "# git apply x.patch",
    ] {
        let verdict = of(B200, |case| edit(case, SCRIPT, "PORT=", &format!("{fine}\nPORT="))).await;
        verdict.row("engine-patch").expect("pass", &[]);
    }
    let verdict = of(B200, |case| {
        case.write("head/runners/launch_b200-nscale.sh", "git apply srt.patch\npip install -e .\n");
    })
    .await;
    verdict.row("engine-patch").expect("pass", &[]);
    let verdict = of(B200, |case| {
        let nested = format!("{}x{}", "( ".repeat(5_000), " )".repeat(5_000));
        edit(case, SCRIPT, "PORT=", &format!("{nested}\nPORT="));
    })
    .await;
    verdict.row("engine-patch").expect("fail", &["could not be verified: the script nests deeper"]);
}

/// Makes the case's change an appending one: a concurrency more, no other image.
fn appending(case: &mut Case, more: &str) {
    edit(case, MASTER, "lmsysorg/sglang:v0.5.19-cu130", "lmsysorg/sglang:v0.5.16-cu130");
    edit(case, MASTER, "conc-start: 64, conc-end: 256 }", more);
    edit(case, LOG, "pull/9101\n", "pull/9101\n  append-only: true\n");
}

#[tokio::test]
async fn appending_adds_points_and_leaves_everything_else() {
    let added = "conc-start: 64, conc-end: 512 }";
    let verdict = of(B200, |case| appending(case, added)).await;
    let row = verdict.row("append-only");
    row.expect("pass", &["1 point appended to 1 entry; everything that was there stays"]);
    row.expect_evidence();
    for (change, said) in [
        ("conc-start: 64, conc-end: 128 }", "was there and is not any more"),
        ("conc-list: [64, 128, 256], ep: 8 }", "its settings are not any more"),
        ("conc-list: [64, 128, 256] }", "gets no new point"),
    ] {
        let verdict = of(B200, |case| appending(case, change)).await;
        verdict.row("append-only").expect("fail", &[said]);
    }
    // Another image makes every point another one.
    let verdict = of(B200, |case| {
        appending(case, added);
        edit(case, MASTER, "lmsysorg/sglang:v0.5.16-cu130", "lmsysorg/sglang:v0.5.20");
    })
    .await;
    verdict.row("append-only").expect(
        "fail",
        &["its settings are not any more", "its curve was measured with the image"],
    );
    // What other points run must stay.
    let verdict = of(B200, |case| {
        appending(case, added);
        append(case, SCRIPT, "echo more\n");
    })
    .await;
    verdict
        .row("append-only")
        .expect("fail", &["Isolation could not be proven", "was there before"]);
    let verdict = of(B200, |case| {
        appending(case, added);
        case.write("head/runners/launch_b200-nscale.sh", "x\n");
    })
    .await;
    verdict.row("append-only").expect("fail", &["no configuration names it"]);
    // So must other entries, and the changelog's other new entries.
    let verdict = of(B200, |case| {
        appending(case, added);
        edit(case, MASTER, "conc-list: [1, 2, 3, 4, 5]", "conc-list: [1, 2, 3, 4]");
        append(case, LOG, "\n- config-keys:\n    - dsr1-fp4-b200-sglang-mtp\n  description:\n    - again\n  pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/9101\n");
    })
    .await;
    verdict
        .row("append-only")
        .expect("fail", &["no appending changelog entry selects it", "is not append-only"]);
}

#[tokio::test]
async fn a_clone_and_the_api_say_the_same_of_the_files() {
    const FACTS: &[&str] = &[
        "layout",
        "changes",
        "configs",
        "points",
        "changelog",
        "recipes",
        "launches",
        "deprecations",
        "overrides_arch",
        "event_publication",
        "patches",
        "append_only",
    ];
    for name in [B200, GB200] {
        let stand_in = serve(Case::load(name)).await;
        let url = stand_in.pull_url();
        let online = countersign(&stand_in, &["facts", &url]).await;
        let online: Value = serde_json::from_str(&online.stdout).unwrap();
        let (base, head) = (stand_in.sha("base"), stand_in.sha("head"));
        let git_dir = stand_in.git_dir().display().to_string();
        let number = stand_in.world().pull().number.to_string();
        let arguments = [
            "facts",
            "--git-dir",
            &git_dir,
            "--base",
            &base,
            "--head",
            &head,
            "--pr",
            &number,
            "--repo",
            "SemiAnalysisAI/InferenceX",
        ];
        let local = countersign(&stand_in, &arguments).await;
        let local: Value = serde_json::from_str(&local.stdout).unwrap();
        for fact in FACTS {
            // Only GitHub has the page of the pull request, and who explained what.
            let of = |facts: &Value| {
                let mut fact = facts[fact].clone();
                if let Some(known) = fact.get_mut("known") {
                    known["origin"] = Value::Null;
                }
                fact
            };
            let is_list = online[fact]["known"].is_array();
            let (online, local) = if is_list {
                (online[fact].clone(), local[fact].clone())
            } else {
                (of(&online), of(&local))
            };
            assert!(online.get("known").is_some(), "{name} {fact}: {online:#}");
            assert_eq!(online, local, "{name} {fact}");
        }
    }
}

#[tokio::test]
async fn hostile_files_end_in_a_finding() {
    let bomb = format!("a: &a [{}]\nb: [{}]\n", "x, ".repeat(1_000), "*a, ".repeat(1_000));
    for (path, text, said) in [
        (MASTER, bomb, "cannot be read"),
        (MASTER, "[".repeat(20_000), "cannot be read"),
        (LOG, "- a\n".repeat(1_200_000), "cannot be read"),
    ] {
        let verdict = of(B200, |case| case.write(path, text)).await;
        for id in ["upstream-image", "engine-patch", "append-only"] {
            verdict.row(id).expect("fail", &["unverified: ", said]);
        }
    }
    // Many selections: once each, and no more than anybody needs.
    let entry = |least: usize| {
        format!(
            "- config-keys: [\"*\"]\n  eval-min-prefill-ep: {least}\n  description: [x]\n  \
             pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/9101\n"
        )
    };
    let verdict =
        of(B200, |case| append(case, LOG, &(0..300).map(entry).collect::<String>())).await;
    let said = "adds more than 200 different selections of configurations";
    verdict.row("sweep").expect("fail", &["unverified: ", said, "Put into one changelog entry"]);
    let verdict = of(B200, |case| append(case, LOG, &entry(1).repeat(300))).await;
    assert!(!verdict.row("sweep").told().iter().any(|told| told.contains(said)));
    // A name that looks like an option is a name.
    let verdict = of(B200, |case| {
        case.write("head/benchmarks/single_node/--upload-pack=x.sh", "pip install vllm\n");
    })
    .await;
    let row = verdict.row("engine-patch");
    row.expect("fail", &["`pip install vllm`, and there is no waiver"]);
}

#[tokio::test]
async fn a_branch_that_no_point_takes_patches_nothing() {
    let branch =
        "\ncase \"$KV_OFFLOAD_BACKEND\" in\n  mooncake)\n    pip install vllm==1\n    ;;\nesac\n";
    let base = SCRIPT.replacen("head/", "base/", 1);
    // It was there before, and the points of the case offload nothing.
    let verdict = of(B200, |case| append(case, &base, branch)).await;
    verdict.row("engine-patch").expect("pass", &[]);
    // What is handed by no workflow is not known, so that both branches count.
    let open = branch.replace("KV_OFFLOAD_BACKEND", "SOMETHING_ELSE");
    let verdict = of(B200, |case| append(case, &base, &open)).await;
    verdict.row("engine-patch").expect("fail", &["in an unchanged file", "`pip install vllm==1`"]);
    // What is not read to its end is no script without a patch, old as it may be.
    let verdict = of(B200, |case| append(case, &base, &"true\n".repeat(20_001))).await;
    verdict.row("engine-patch").expect("fail", &["unverified: ", "more than 20000 commands"]);
    // What a pull request adds counts, whoever gets to it.
    let verdict = of(B200, |case| append(case, SCRIPT, branch)).await;
    verdict.row("engine-patch").expect("fail", &["`pip install vllm==1`, and there is no waiver"]);
}

#[tokio::test]
async fn a_setup_script_that_is_not_in_the_tree_is_no_evidence() {
    let verdict = of(GB200, |case| {
        edit(case, RECIPE, "base:\n", "base:\n  setup_script: elsewhere-deps.sh\n");
    })
    .await;
    let row = verdict.row("engine-patch");
    row.expect(
        "fail",
        &[
            "unverified: Whether `elsewhere-deps.sh`",
            "it is not in the tree",
            "Put the script into",
        ],
    );
}

#[tokio::test]
async fn a_patch_in_a_command_of_a_command_is_one() {
    for line in [
        "bash -c 'pip install sglang==9'",
        "sh -lc \"cd /tmp && pip install sglang==9\"",
        "eval \"pip insta\"\"ll sglang==9\"",
        "git -C /sgl-workspace/sglang apply p.diff",
        "bash -c \"eval 'pip install sglang==9'\"",
    ] {
        let verdict = of(B200, |case| append(case, SCRIPT, &format!("\n{line}\n"))).await;
        verdict.row("engine-patch").expect("fail", &["and there is no waiver"]);
    }
    let verdict = of(B200, |case| append(case, SCRIPT, "\nbash -c 'echo pip install'\n")).await;
    verdict.row("engine-patch").expect("pass", &[]);
}
