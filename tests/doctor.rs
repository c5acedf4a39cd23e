//! `countersign doctor` as people run it: a line a finding, and its exit code.

use std::path::Path;
use std::process::Command;

use crate::support::{APP_ID, Case, Options, RequiredCheck, StandIn};

const PARCEL: &str = "[[repository]]\nname = \"example/parcel\"\nprofile = \"example\"\n";

/// What a run of the program gave.
struct Report {
    code: i32,
    text: String,
}

impl Report {
    /// The first line about something: `WORD TEXT`.
    fn says(&self, about: &str) -> Vec<String> {
        let lines = self.text.lines().filter_map(|line| {
            let (word, rest) = line.split_once(' ')?;
            let rest = rest.trim_start().strip_prefix(about)?;
            Some(format!("{word} {}", rest.trim_start()))
        });
        lines.filter(|line| !line.starts_with(' ')).collect()
    }

    fn wrong(&self) -> Vec<&str> {
        self.text.lines().filter(|line| line.starts_with("wrong")).collect()
    }
}

/// Runs it in a folder of its own, with nothing in its environment but what is given.
async fn doctor(folder: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Report {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.arg("doctor").args(arguments).current_dir(folder);
    command.env_clear().envs(variables.iter().copied()).env("NO_COLOR", "1");
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    Report {
        code: output.status.code().unwrap(),
        text: String::from_utf8(output.stdout).unwrap()
            + &String::from_utf8(output.stderr).unwrap(),
    }
}

/// The doctor of a server for a case, with this configuration.
async fn examined(case: Case, config: &str) -> (Report, tempfile::TempDir) {
    let stand_in = StandIn::start(case, Options::default()).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("countersign.toml"), config).unwrap();
    let environment = stand_in.environment();
    let variables: Vec<(&str, &str)> = environment
        .iter()
        .filter(|(name, _)| *name != "COUNTERSIGN_NOW")
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    (doctor(folder.path(), &variables, &[]).await, folder)
}

async fn of(change: impl FnOnce(&mut Case)) -> Report {
    examined(Case::load("library-release").with(change), PARCEL).await.0
}

fn requiring(case: &mut Case, integration_id: Option<u64>) {
    case.spec.required_checks =
        vec![RequiredCheck { context: "countersign".to_owned(), integration_id }];
}

#[tokio::test]
async fn a_server_that_lacks_nothing_is_told_so() {
    let case = Case::load("library-release").with(|case| requiring(case, Some(APP_ID)));
    let (report, folder) = examined(case, PARCEL).await;
    assert_eq!((report.code, report.wrong()), (0, vec![]), "{}", report.text);
    for line in [
        "ok     configuration  serves example/parcel",
        "ok     rules          example: 5 rules, 0 of them not machine-checked yet",
        "ok     database       SQLite; `serve` makes ",
        "ok     credentials    GitHub knows the App `countersign`",
        "ok     events         the App is told of everything that starts a verification",
        "ok     permissions    example/parcel: all that is needed is granted",
        "ok     codeowners     example/parcel: .github/CODEOWNERS on main",
        "ok     template       example/parcel: docs/SIGNOFF_TEMPLATE.md on main, 5 items",
        "ok     enforcement    example/parcel: main requires `countersign` of this App",
    ] {
        assert!(report.text.contains(line), "no {line:?} in\n{}", report.text);
    }
    assert!(!report.text.contains("note "), "{}", report.text);
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(files.len(), 1, "it leaves nothing behind: {files:?}");
}

#[tokio::test]
async fn what_the_repository_lacks_is_named_with_its_fix() {
    let report = of(|case| {
        case.remove("base/.github/CODEOWNERS");
        case.remove("base/docs/SIGNOFF_TEMPLATE.md");
    })
    .await;
    assert_eq!(report.code, 1);
    assert_eq!(
        report.says("codeowners"),
        [
            "wrong example/parcel: there is none on main (looked for .github/CODEOWNERS, CODEOWNERS, docs/CODEOWNERS)"
        ]
    );
    assert_eq!(
        report.says("template"),
        [
            "wrong example/parcel: there is none on main (looked for docs/SIGNOFF_TEMPLATE.md, .github/SIGNOFF_TEMPLATE.md)"
        ]
    );
    assert!(report.text.contains("fix: add one: without it nobody can sign"), "{}", report.text);

    let report = of(|case| {
        case.spec.codeowners_errors = vec!["Unknown owner on line 3: @gone".into()];
    })
    .await;
    assert_eq!(report.code, 1);
    assert_eq!(
        report.says("codeowners"),
        [
            "wrong example/parcel: .github/CODEOWNERS on main, line 1: Unknown owner on line 3: @gone"
        ]
    );

    let report = of(|case| case.write("base/docs/SIGNOFF_TEMPLATE.md", "# Nothing here\n")).await;
    assert_eq!(report.code, 1);
    assert!(
        report.says("template")[0].starts_with("wrong example/parcel: docs/SIGNOFF_TEMPLATE.md")
    );
}

#[tokio::test]
async fn an_item_that_no_rule_answers_for_is_noted() {
    let report = of(|case| {
        let item = "- [ ] I read every changed line.\n";
        case.replace(
            "base/docs/SIGNOFF_TEMPLATE.md",
            item,
            &format!("{item}- [ ] The version follows semantic versioning.\n"),
        );
    })
    .await;
    assert_eq!(report.code, 0, "{}", report.text);
    let told = report.says("template");
    assert!(told[0].starts_with("note example/parcel: docs/SIGNOFF_TEMPLATE.md on main has items"));
    assert!(told[0].contains("\"The version follows semantic versioning.\""), "{told:?}");
}

#[tokio::test]
async fn a_check_that_nothing_enforces_is_noted_and_one_of_another_app_is_wrong() {
    let report = of(|_| {}).await;
    assert_eq!(report.code, 0);
    let said = "note example/parcel: nothing enforces the check: no ruleset of main requires `countersign`";
    assert_eq!(report.says("enforcement"), [said]);
    let anybody = of(|case| requiring(case, None)).await;
    assert_eq!(anybody.code, 0);
    assert!(anybody.says("enforcement")[0].ends_with("but takes it of anybody"));
    let other = of(|case| requiring(case, Some(15_368))).await;
    assert_eq!(other.code, 1);
    assert!(other.says("enforcement")[0].contains("of the App 15368, which is not this one"));
}

#[tokio::test]
async fn permissions_and_events_are_held_against_what_the_rules_need() {
    let without = |case: &mut Case| {
        let lacking = ["statuses", "actions"].map(|name| (name.to_owned(), "none".to_owned()));
        case.spec.app_permissions = Some(lacking.into());
    };
    let report = of(without).await;
    assert_eq!(report.code, 1);
    let told = report.says("permissions");
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].contains("`actions: read`") && told[1].contains("`statuses: read`"),
        "{told:?}"
    );

    let report = of(|case| case.spec.app_events = Some(vec!["issue_comment".to_owned()])).await;
    assert_eq!(report.code, 1);
    let told = report.says("events");
    assert!(told.contains(
        &"wrong the App is not subscribed to `pull_request_review`: sign-offs in reviews are not seen"
            .to_owned()
    ));
    assert!(told.iter().any(|line| line.starts_with("note") && line.contains("`merge_group`")));
}

#[tokio::test]
async fn mistakes_of_the_configuration_are_found_before_an_event_finds_them() {
    let case = || Case::load("library-release");
    let unknown = "[[repository]]\nname = \"example/parcel\"\nprofile = \"exampel\"\n";
    let (report, _) = examined(case(), unknown).await;
    assert_eq!(report.code, 1);
    assert_eq!(
        report.says("rules"),
        [
            "wrong no profile `exampel` is built in; did you mean `example`?, and `rules` names a folder of others"
        ]
    );
    let twice =
        format!("{PARCEL}[[repository]]\nname = \"Example/Parcel\"\nprofile = \"inferencex\"\n");
    let (report, _) = examined(case(), &twice).await;
    assert_eq!(report.code, 1);
    assert_eq!(
        report.says("configuration"),
        ["wrong Example/Parcel has several [[repository]] entries"]
    );
    let absent =
        format!("{PARCEL}[[repository]]\nname = \"elsewhere/box\"\nprofile = \"example\"\n");
    let (report, _) = examined(case(), &absent).await;
    assert!(
        report
            .says("permissions")
            .contains(&"wrong the App is not installed on elsewhere/box".to_owned())
    );
}

#[tokio::test]
async fn a_folder_of_profiles_is_read_and_one_that_nobody_uses_is_noted() {
    let profiles = tempfile::tempdir().unwrap();
    for name in ["mine", "spare", "broken"] {
        let folder = profiles.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        for (path, text) in countersign::profile::builtin("example").unwrap() {
            let text = text.replace("name: example", &format!("name: {name}"));
            let text =
                if name == "broken" { text.replace("c.finished", "c.finnished") } else { text };
            std::fs::write(folder.join(path), text).unwrap();
        }
    }
    let rules = format!("rules = {:?}\n", profiles.path());
    let config =
        |name: &str| format!("{rules}{}", PARCEL.replace("\"example\"", &format!("{name:?}")));
    let case = || Case::load("library-release");
    let (report, _) = examined(case(), &config("mine")).await;
    assert_eq!(report.code, 0, "{}", report.text);
    let told = report.says("rules");
    assert!(told.contains(&"note no repository uses broken, spare".to_owned()), "{told:?}");
    let (report, _) = examined(case(), &config("broken")).await;
    assert_eq!(report.code, 1);
    assert!(report.text.contains("did you mean `finished`?"), "{}", report.text);
    let told = report.says("permissions");
    assert_eq!(told, ["ok example/parcel: all that is needed is granted"], "the rest is looked at");
}

#[tokio::test]
async fn without_a_configuration_the_command_line_is_looked_at() {
    let stand_in = StandIn::start(Case::load("library-release"), Options::default()).await;
    let folder = tempfile::tempdir().unwrap();
    let api = ("COUNTERSIGN_GITHUB_API_URL", stand_in.url.as_str());
    let token = ("GITHUB_TOKEN", crate::support::PERSONAL_TOKEN);

    let report = doctor(folder.path(), &[api, token], &[]).await;
    assert_eq!((report.code, report.wrong()), (0, vec![]), "{}", report.text);
    let said = format!("ok GITHUB_TOKEN is a token of {}", crate::support::PERSONAL_LOGIN);
    assert_eq!(report.says("token"), [said]);
    assert!(report.says("rules")[0].starts_with("ok example: 5 rules"), "{}", report.text);

    let report = doctor(folder.path(), &[api], &[]).await;
    assert_eq!(report.code, 1);
    assert!(report.says("token")[0].starts_with("wrong GITHUB_TOKEN is not set"));
    let report = doctor(folder.path(), &[api, ("GITHUB_TOKEN", "ghp_stale")], &[]).await;
    assert_eq!(report.code, 1);
    assert!(report.says("token")[0].contains("GitHub does not accept the credentials"));
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "no database is made");
}
