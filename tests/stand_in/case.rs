//! Cases: commits, history, and mistakes.

use super::*;

#[tokio::test]
async fn commits_have_the_same_shas_everywhere() {
    let stand_in = start(small("")).await;
    assert_eq!(stand_in.sha("base"), "169967e6b77876bf865617e170d712f6e4f952b9");
    assert_eq!(stand_in.sha("head"), "ff7b2892218aa09711e6189f9512501c0ea6cc90");
}

#[tokio::test]
async fn the_cases_of_this_repository_load() {
    let folders = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"));
    for folder in folders.unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        let stand_in = StandIn::serving(&name).await;
        let (repo, number) = {
            let world = stand_in.world();
            (world.case.spec.repository.clone(), world.case.spec.pull_request.number)
        };
        let pull = json_of(&stand_in, &format!("/repos/{repo}/pulls/{number}")).await;
        assert_eq!(pull["head"]["sha"], stand_in.sha("head"), "{name}");
        assert!(pull["changed_files"].as_u64().unwrap() > 0, "{name}");
    }
}

#[tokio::test]
async fn the_default_branch_has_a_history() {
    let mut case = small(
        "base: june\nmain:\n  - { id: june, tree: june, date: 2026-06-01T00:00:00Z }\n  \
         - { id: july, tree: july, date: 2026-07-01T00:00:00Z }\n",
    );
    case.write("june/docs/list.md", "one item\n");
    case.write("july/docs/list.md", "two items\n");
    let stand_in = start(case).await;
    let sha = |id: &str| stand_in.world().history.main[id].clone();
    let at = |until: &str| {
        format!("/repos/acme/bench/commits?path=docs/list.md&until={until}&per_page=1")
    };
    let found = json_of(&stand_in, &at("2026-06-20T00:00:00Z")).await;
    assert_eq!(found[0]["sha"], sha("june"));
    let found = json_of(&stand_in, &at("2026-10-13T08:00:00Z")).await;
    assert_eq!(found[0]["sha"], sha("july"));
    assert_eq!(json_of(&stand_in, &at("2026-05-01T00:00:00Z")).await, json!([]));
    let branch = json_of(&stand_in, "/repos/acme/bench/git/ref/heads/main").await;
    assert_eq!(branch["object"]["sha"], sha("july"));
    assert_eq!(stand_in.sha("base"), sha("june"));
}

#[test]
fn a_mistake_in_a_case_is_named_with_its_place() {
    let text = "repository: acme/bench\nnow: 2026-10-13T08:00:00Z\npull_request:\n  number: 7\n  \
                author: rosa\n  titel: Faster\n";
    let error = Case::parse(Path::new("."), text).unwrap_err().to_string();
    assert!(error.contains("line 6") && error.contains("titel"), "{error}");
}

#[tokio::test]
async fn a_case_that_is_not_whole_does_not_start() {
    let cases = [
        ("runs: [ { id: 1, head: nowhere } ]\n", "nowhere"),
        ("runs: [ { id: 1, artifacts: { absent: {} } } ]\n", "absent"),
        ("comments: [ { id: 1, author: rosa, file: absent.md } ]\n", "absent.md"),
        ("comments: [ { id: 1, author: rosa, body: \"{{commit nope}}\" } ]\n", "nope"),
    ];
    for (more, named) in cases {
        let error = StandIn::try_start(small(more), Options::default()).await.unwrap_err();
        assert!(format!("{error:#}").contains(named), "{error:#}");
    }
}

#[tokio::test]
async fn commits_of_an_existing_clone_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| {
        let out = std::process::Command::new("git")
            .arg("-C")
            .arg(folder.path())
            .args(["-c", "user.name=Rosa", "-c", "user.email=rosa@example.org"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "-q"]);
    std::fs::write(folder.path().join("a.txt"), "one\n").unwrap();
    git(&["add", "."]);
    git(&["commit", "-qm", "One"]);
    let base = git(&["rev-parse", "HEAD"]);
    std::fs::write(folder.path().join("a.txt"), "two\n").unwrap();
    git(&["commit", "-qam", "Two"]);
    let head = git(&["rev-parse", "HEAD"]);

    let text = format!(
        "repository: acme/bench\nnow: 2026-10-13T08:00:00Z\n\
         git: {{ dir: ., base: {base}, head: {head} }}\n\
         pull_request: {{ number: 7, author: rosa }}\n\
         runs: [ {{ id: 1, head: outside }} ]\ncommits: [ {{ id: next, tree: next }} ]\n"
    );
    let mut case = Case::parse(folder.path(), &text).unwrap();
    case.write("next/b.txt", "new\n");
    let stand_in = start(case).await;
    let pull = json_of(&stand_in, "/repos/acme/bench/pulls/7").await;
    assert_eq!(pull["base"]["sha"], base);
    assert_eq!(pull["head"]["sha"], head);
    let files = json_of(&stand_in, "/repos/acme/bench/pulls/7/files").await;
    assert_eq!(files[0]["patch"], "@@ -1 +1 @@\n-one\n+two");
    stand_in.push("next");
    let files = json_of(&stand_in, "/repos/acme/bench/pulls/7/files").await;
    assert_eq!(files[0]["filename"], "b.txt", "its tree is laid over the base's");
    let outside = json_of(&stand_in, "/repos/acme/bench/actions/runs/1").await;
    assert!(![base, head].contains(&outside["head_sha"].as_str().unwrap().to_owned()));
}

#[tokio::test]
async fn a_commit_answers_to_the_sha_that_the_case_gives_it() {
    let sha = "deadbeefdeadbeefdeadbeefdeadbeefdeadbeef";
    let text = format!(
        "commits: [ {{ id: c1, sha: {sha} }}, {{ id: head }} ]\n\
         runs: [ {{ id: 1, head: c1, jobs: [ {{ name: \"eval / a\", conclusion: success }} ] }} ]\n"
    );
    let stand_in = start(small(&text)).await;
    let commits = json_of(&stand_in, "/repos/acme/bench/pulls/7/commits").await;
    assert_eq!(commits[0]["sha"], sha);
    assert_eq!(commits[1]["parents"][0]["sha"], sha);
    let checks = json_of(&stand_in, &format!("/repos/acme/bench/commits/{sha}/check-runs")).await;
    assert_eq!(checks["check_runs"][0]["head_sha"], sha);
}

#[tokio::test]
async fn an_upstream_merge_into_a_side_branch_is_not_on_the_default_branch() {
    let merge = "ab".repeat(20);
    let mut case = small(&format!(
        "upstream:\n  up/docs:\n    files: {{ main: upstream }}\n    pulls:\n      \
         1: {{ state: merged, base: release, merge_commit: {merge}, files: [a.md] }}\n      \
         2: {{ state: open, files: [a.md] }}\n"
    ));
    case.write("upstream/a.md", "at {{head}}\n");
    let stand_in = start(case).await;
    let pull = json_of(&stand_in, "/repos/up/docs/pulls/1").await;
    assert_eq!(
        (pull["base"]["ref"].as_str(), pull["merged"].as_bool()),
        (Some("release"), Some(true))
    );
    let compare = json_of(&stand_in, &format!("/repos/up/docs/compare/{merge}...main")).await;
    assert_eq!(compare["status"], "behind", "main does not hold the merge");
    let open = json_of(&stand_in, "/repos/up/docs/pulls/2").await;
    assert_eq!((open["state"].as_str(), open["merged_at"].as_str()), (Some("open"), None));
    let raw = client()
        .get(format!("{}/repos/up/docs/contents/a.md", stand_in.url))
        .header("accept", "application/vnd.github.raw")
        .send()
        .await
        .unwrap();
    assert_eq!(raw.text().await.unwrap(), format!("at {}\n", stand_in.sha("head")));
}

#[tokio::test]
async fn a_fork_is_a_repository_of_its_own() {
    let mut case = small("");
    case.spec.pull_request.head_repository = Some("sam/bench".to_owned());
    let stand_in = start(case).await;
    let pull = json_of(&stand_in, "/repos/acme/bench/pulls/7").await;
    assert_eq!(pull["head"]["repo"]["full_name"], "sam/bench");
    assert_eq!(pull["head"]["repo"]["fork"], true);
    assert_eq!(pull["base"]["repo"]["fork"], false);
    let branch = json_of(&stand_in, "/repos/sam/bench/branches/change").await;
    assert_eq!(branch["commit"]["sha"], stand_in.sha("head"));
}
