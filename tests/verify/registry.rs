//! Check 6, what the container registries say: whether a tag is there, and whether a digest is its own.

use super::*;

const MASTER: &str = "head/configs/nvidia-master.yaml";
const IMAGE: &str = "lmsysorg/sglang:v0.5.19-cu130";
const DIGEST: &str = "sha256:d6e7288627be8b02be88e4bba38e73f6d50e2826869f753c13a4c4385ab3eda9";

/// The entry of the case runs another image.
fn runs(case: &mut Case, image: &str) {
    let text = case.text(MASTER).unwrap();
    assert!(text.contains(IMAGE));
    case.write(MASTER, text.replace(IMAGE, image));
}

/// What the registry has under the tag.
fn holds(case: &mut Case, digest: &str) {
    let registry = case.spec.registry.as_mut().unwrap();
    let tags = registry.get_mut("docker.io/lmsysorg/sglang").unwrap();
    *tags.get_mut("v0.5.19-cu130").unwrap() = digest.to_owned();
}

async fn row_of(change: impl FnOnce(&mut Case)) -> Verdict {
    verdict(case(B200, change)).await
}

fn findings(verdict: &Verdict) -> Vec<String> {
    verdict.row("upstream-image").told()
}

#[tokio::test]
async fn an_image_that_its_registry_has_is_no_finding() {
    for image in
        [IMAGE.to_owned(), format!("{IMAGE}@{DIGEST}"), format!("lmsysorg/sglang@{DIGEST}")]
    {
        let verdict = row_of(|case| runs(case, &image)).await;
        verdict.row("upstream-image").expect("pass", &[]);
        let told = findings(&verdict);
        assert!(
            !told.iter().any(|one| one.contains("registry") || one.contains("found out")),
            "{told:#?}"
        );
    }
}

#[tokio::test]
async fn an_image_that_its_registry_has_not_fails() {
    let digest = format!("lmsysorg/sglang@sha256:{}", "0".repeat(64));
    // A tag nobody pushed, a repository nobody has, a digest nobody pushed, and no tag, which is `latest`.
    for image in ["lmsysorg/sglang:v0.5.99", "lmsysorg/sglang-x:v1", &digest, "lmsysorg/sglang"] {
        let verdict = row_of(|case| runs(case, image)).await;
        let row = verdict.row("upstream-image");
        row.expect(
            "fail",
            &[&format!("`{image}` is not in its registry"), "Name an image that can be pulled"],
        );
        row.expect_evidence();
    }
}

#[tokio::test]
async fn a_pinned_digest_is_the_tags_own_or_one_of_its_index() {
    let other = format!("sha256:{}", "1".repeat(64));
    let pinned = format!("{IMAGE}@{DIGEST}");
    let moved = row_of(|case| {
        runs(case, &pinned);
        holds(case, &other);
    })
    .await;
    let said = format!("`{pinned}` pins `{DIGEST}`, and its tag names `{other}` now");
    moved.row("upstream-image").expect("fail", &[&said]);
    moved.row("upstream-image").expect_evidence();

    let of_the_index = row_of(|case| {
        runs(case, &pinned);
        holds(case, &other);
        case.spec
            .registry_parts
            .insert(other.clone(), vec!["sha256:2".to_owned(), DIGEST.to_owned()]);
    })
    .await;
    of_the_index.row("upstream-image").expect("pass", &[]);
}

#[tokio::test]
async fn a_registry_that_cannot_be_asked_is_a_note() {
    let nobody = row_of(|case| case.spec.registry = None).await;
    nobody.row("upstream-image").expect(
        "pass",
        &["note: Whether", "was not found out: `the registry answered 503 Service Unavailable`"],
    );
    let unnamed = row_of(|case| runs(case, "registry.example:5000#lmsysorg/sglang:v1")).await;
    let told = findings(&unnamed);
    assert!(told.iter().any(|one| one.contains("the profile names no such registry")), "{told:#?}");
    // What passes by itself is asked for again.
    let fault = |case: &mut Case, times: u32| {
        let fault = format!("{{ match: \"HEAD /registry/*\", times: {times}, status: 503 }}");
        case.spec.faults.push(serde_yaml::from_str(&fault).unwrap());
    };
    let passing = row_of(|case| fault(case, 1)).await;
    let told = findings(&passing);
    assert!(!told.iter().any(|one| one.contains("found out")), "{told:#?}");
    let lasting = row_of(|case| fault(case, 9)).await;
    lasting.row("upstream-image").expect("pass", &["was not found out"]);
}

#[tokio::test]
async fn a_reference_that_is_none_is_never_sent() {
    for image in [
        "../../../etc/passwd:v1",
        "lmsysorg/sglang:v1?x=y",
        "lmsysorg//sglang:v1",
        "lmsysorg/sg lang:v1",
    ] {
        let stand_in = serve(case(B200, |case| runs(case, image))).await;
        let verdict = verdict_on(&stand_in, &[]).await;
        let told = findings(&verdict);
        assert!(told.iter().any(|one| one.contains("was not found out")), "{image}: {told:#?}");
        let asked = stand_in.requests();
        assert!(!asked.iter().any(|one| one.path.starts_with("/registry")), "{image}");
    }
}
