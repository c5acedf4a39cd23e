//! One commit is assessed, whatever happens to the pull request meanwhile.

use super::*;
use crate::support::{CommitSpec, Move};

/// The head moves just before the first request that matches is answered.
fn moving_before(pattern: &str) -> Case {
    case(B200, |case| {
        case.write("newer/configs/nvidia-master.yaml", "{}\n");
        let newer = CommitSpec {
            id: "newer".to_owned(),
            tree: Some("newer".to_owned()),
            ..CommitSpec::default()
        };
        case.spec.commits.push(newer);
        case.spec.moves.push(Move { before: pattern.to_owned(), head: "newer".to_owned() });
    })
}

#[tokio::test]
async fn a_head_that_moves_in_mid_read_is_named_and_not_assessed() {
    for pattern in ["GET *check-runs*", "GET *CODEOWNERS*", "GET *jobs*"] {
        let stand_in = serve(moving_before(pattern)).await;
        let (head, newer) = (stand_in.sha("head"), stand_in.sha("newer"));
        let verdict = verdict_on(&stand_in, &[]).await;
        assert_eq!(stand_in.world().pull().head_sha, newer, "{pattern} was asked for");
        assert_eq!((verdict.code, verdict.outcome()), (0, "APPROVED"), "{pattern}");
        assert_eq!(verdict.json["assessed_commit"], head, "{pattern}");
        assert_eq!(verdict.json["inputs"]["head"], head, "{pattern}");
        assert_eq!(verdict.json["inputs"]["newer_head"], newer, "{pattern}");
        let whole = verdict.row("sweep");
        whole.expect("pass", &["9 benchmarks and 3 evaluations succeeded"]);
    }
}

#[tokio::test]
async fn people_are_told_that_a_newer_commit_stands_unassessed() {
    for format in ["text", "markdown"] {
        let stand_in = serve(moving_before("GET *check-runs*")).await;
        let url = stand_in.pull_url();
        let told = countersign(&stand_in, &["verify", &url, "--format", format]).await.stdout;
        assert!(told.contains("A newer commit stands unassessed: "), "{told}");
        assert!(told.contains(&stand_in.sha("newer")), "{told}");
    }
}

#[tokio::test]
async fn a_head_that_stays_has_nothing_newer() {
    let verdict = verdict(case(B200, |_| {})).await;
    assert_eq!(verdict.json["inputs"]["newer_head"], Value::Null);
}
