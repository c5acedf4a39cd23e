//! Rule files from the outside: the built-in ones, and what a maintainer is told of each kind of mistake.

use std::fmt::Write as _;

use countersign::facts::{Facts, Missing};
use countersign::profile::{Diagnostic, Files, builtin, builtin_names};
use countersign::rules::{self, RowStatus, RuleSet};

fn inferencex() -> Files {
    builtin("inferencex").unwrap()
}

fn rules_of(files: &Files) -> Result<RuleSet, Vec<Diagnostic>> {
    RuleSet::from_files("inferencex", files)
}

#[test]
fn the_built_in_profiles_have_no_mistakes_and_their_examples_come_out() {
    assert_eq!(builtin_names(), ["example", "inferencex"]);
    for name in builtin_names() {
        let files = builtin(name).unwrap();
        let rules = RuleSet::from_files(name, &files).unwrap_or_else(|found| {
            let all: String = found.iter().map(|mistake| format!("{mistake}\n")).collect();
            panic!("{name}: {all}")
        });
        for tested in rules.test() {
            assert_eq!(tested.failures, [], "{name}: {}", tested.rule);
        }
    }
}

/// Ids, numbers, titles and severities are an interface.
#[test]
fn the_checks_are_those_of_the_contract() {
    let rules = rules_of(&inferencex()).unwrap();
    let mut list = String::new();
    for rule in &rules.rules {
        let advisory = if rule.severity == rules::Severity::Advisory { " (advisory)" } else { "" };
        writeln!(list, "{} {} {}{advisory}", rule.number, rule.id, rule.title).unwrap();
    }
    assert_eq!(
        list,
        "0 codeowner Code owner\n1 sweep Sweep\n2 evals Evals\n3 upstream-recipe Upstream recipe\n\
         4 reuse-command Reuse command (advisory)\n5 checklist Checklist\n\
         6 upstream-image Upstream image and engine order\n7 deprecated-model Deprecated models\n\
         8 architecture Architecture and event publication\n9 chat-template Chat template\n\
         10 engine-patch Engine patches\n11 golden-al Golden AL\n12 append-only Append-only\n\
         13 draft-as-shipped Draft as shipped\n14 pareto-coverage Pareto coverage (advisory)\n\
         15 description PR description (advisory)\n16 claims Claims in the details (advisory)\n\
         17 code-quality Code quality\n18 vendor-overview Vendor overview (advisory)\n"
    );
}

/// Breaks one thing in one built-in file and says what is reported there.
fn broken(path: &str, from: &str, to: &str) -> Vec<String> {
    let mut files = inferencex();
    let text = &files[path];
    assert_eq!(
        text.matches(from).count(),
        1,
        "`{from}` stands {} times in {path}",
        text.matches(from).count()
    );
    files.insert(path.to_owned(), text.replace(from, to));
    rules_of(&files).unwrap_err().iter().map(Diagnostic::to_string).collect()
}

/// 1-based line and column of a text in a built-in file.
fn place(path: &str, text: &str) -> String {
    let files = inferencex();
    let at = files[path].find(text).unwrap();
    let before = &files[path][..at];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
    format!("{path}:{line}:{column}")
}

const REUSE: &str = "04-reuse-command.yaml";

#[test]
fn an_unknown_key_is_reported_with_the_nearest_one() {
    let at = place(REUSE, "severity: advisory");
    assert_eq!(
        broken(REUSE, "severity: advisory", "severity: advisory\nserverity: advisory"),
        [format!(
            "{}: unknown key `serverity` in a rule; did you mean `severity`?",
            at.replace(":4:", ":5:")
        )]
    );
}

#[test]
fn an_unknown_fact_is_reported_with_the_nearest_one() {
    let at = place(REUSE, "reuse, pr]");
    let found = broken(REUSE, "needs: [reuse, pr]", "needs: [reues, pr]");
    assert_eq!(found[0], format!("{at}: unknown fact `reues`; did you mean `reuse`?"));
}

#[test]
fn an_unknown_field_is_reported_where_it_stands_in_the_expression() {
    let at = place(REUSE, "winner is not none\n");
    assert_eq!(
        broken(REUSE, "assert: reuse.winner is not none", "assert: reuse.winer is not none")[0],
        format!("{at}: `reuse` has no field `winer`; did you mean `winner`?")
    );
    // Deep inside a quoted text, too.
    let at = place(REUSE, "association }}\"");
    assert_eq!(
        broken(REUSE, "{{ c.association }}", "{{ c.asociation }}"),
        [format!("{at}: `c` has no field `asociation`; did you mean `association`?")]
    );
}

#[test]
fn an_unknown_filter_is_reported_with_the_nearest_one() {
    let at =
        place("00-codeowner.yaml", "lower == signoff.author | lower\n    fail: \"The sign-off");
    assert_eq!(
        broken(
            "00-codeowner.yaml",
            "assert: signoff.edited_by | lower ==",
            "assert: signoff.edited_by | lowr =="
        ),
        [format!("{at}: unknown filter `lowr`; did you mean `lower`?")]
    );
}

#[test]
fn an_unknown_test_and_a_function_are_reported() {
    let at = place(REUSE, "none\n    fail");
    assert_eq!(
        broken(REUSE, "assert: reuse.winner is not none", "assert: reuse.winner is not nil")[0],
        format!(
            "{at}: unknown test `nil` (there is `defined`, `endingwith`, `none`, `startingwith`)"
        )
    );
    let at = place(REUSE, "not c.authorised");
    assert_eq!(
        broken(REUSE, "when: not c.authorised", "when: len(c.text) == 3")[0],
        format!(
            "{at}: unknown function `len` (there are no functions, only filters and tests; docs/rules.md lists them)"
        )
    );
}

#[test]
fn a_misspelt_loop_variable_is_reported_with_what_is_in_scope() {
    let at = place(REUSE, "c.authorised");
    assert_eq!(
        broken(REUSE, "when: not c.authorised", "when: not x.authorised"),
        [format!("{at}: unknown name `x`; did you mean `c`?")]
    );
}

#[test]
fn an_unclosed_text_is_reported_where_it_opens() {
    let at = place(REUSE, "{{ c.author }}");
    assert_eq!(
        broken(
            REUSE,
            "{{ c.author }} does not count: the author is {{ c.association }}",
            "{{ c.author"
        ),
        [format!("{at}: unclosed text: `{{{{` has no `}}}}`")]
    );
}

#[test]
fn an_option_of_the_wrong_type_is_reported() {
    let at = place(REUSE, "advisory\nitems");
    assert_eq!(
        broken(REUSE, "severity: advisory", "severity: 3"),
        [format!("{at}: `severity` is a text; this is the number 3")]
    );
    let at = place(REUSE, "reuse.commands\n");
    assert_eq!(
        broken(REUSE, "each: reuse.commands", "each: 5"),
        [format!("{at}: `each` is an expression; this is the number 5")]
    );
    assert_eq!(
        broken(REUSE, "each: reuse.commands", "each: reuse.winner")[0],
        format!("{at}: `each` goes over a list; this is a record (`ReuseCommand`), or none")
    );
    let at = place(REUSE, "reuse.winner is not none\n");
    assert_eq!(
        broken(REUSE, "assert: reuse.winner is not none", "assert: reuse.commands")[0],
        format!("{at}: a condition is true or false; this is a list (ask `| length > 0`)")
    );
}

#[test]
fn an_outcome_without_an_example_is_reported() {
    let at = place(REUSE, "examples:");
    let mut files = inferencex();
    let text = files[REUSE].split("  - name: no command at all").next().unwrap().to_owned();
    files.insert(REUSE.to_owned(), text);
    let found: Vec<String> =
        rules_of(&files).unwrap_err().iter().map(Diagnostic::to_string).collect();
    let help = "(every outcome that a rule can come to has an example)";
    assert_eq!(
        found,
        [
            format!("{at}: no example comes to `unverified` {help}"),
            format!("{at}: no example comes to `warn` {help}")
        ]
    );
}

#[test]
fn a_duplicate_id_and_number_are_reported() {
    let at = place("05-checklist.yaml", "checklist\nnumber");
    let found = broken("05-checklist.yaml", "id: checklist\nnumber", "id: reuse-command\nnumber");
    assert_eq!(found[0], format!("{at}: the id `reuse-command` is taken (by {REUSE}:1)"));
    let at = place("05-checklist.yaml", "5\ntitle");
    let found = broken("05-checklist.yaml", "number: 5\ntitle", "number: 4\ntitle");
    assert_eq!(found, [format!("{at}: the number 4 is taken (by {REUSE}:2)")]);
}

#[test]
fn a_comment_that_yaml_takes_off_an_expression_is_reported() {
    let line = "assert: reuse.winner is not none";
    let at = place(REUSE, line);
    let (head, column) = at.rsplit_once(':').unwrap();
    let column = column.parse::<usize>().unwrap() + line.len() + 1;
    assert_eq!(
        broken(REUSE, line, "assert: reuse.winner is not none # the winner"),
        [format!(
            "{head}:{column}: YAML drops what follows `assert` here \
             (put the comment on a line of its own, or the value in quotes)"
        )]
    );
}

#[test]
fn a_value_that_may_be_none_does_not_get_into_a_text() {
    let at = place(REUSE, "reuse.winner.text }}");
    let found =
        broken(REUSE, "pass: \"{{ reuse.winner.text }} by", "pass: \"{{ reuse.winner.run_id }} by");
    assert_eq!(
        found,
        [format!(
            "{at}: `reuse.winner.run_id` may be none here (ask `reuse.winner.run_id is not none` in `when`, \
             or write `reuse.winner.run_id | default(…)`)"
        )]
    );
}

#[test]
fn words_that_a_value_never_has_are_reported() {
    let path = "05-checklist.yaml";
    let at = place(path, "'malformed'");
    assert_eq!(
        broken(path, "u.state == 'malformed'", "u.state == 'malfomed'"),
        [format!("{at}: the value is never `malfomed`; did you mean `malformed`?")]
    );
}

#[test]
fn mistakes_in_examples_are_reported() {
    let at = place(REUSE, "author: nora, association");
    assert_eq!(
        broken(REUSE, "winner: { author: nora, association", "winner: { autor: nora, association"),
        [format!("{at}: `reuse.winner` has no field `autor`; did you mean `author`?")]
    );
    let at = place(REUSE, "warn, says: [No");
    assert_eq!(
        broken(REUSE, "status: warn, says: [No", "status: wran, says: [No"),
        [format!("{at}: unknown status `wran`; did you mean `warn`?")]
    );
    let at = place(REUSE, "stands in a code block }");
    assert_eq!(
        broken(REUSE, "says: stands in a code block }", "says: 3 }"),
        [format!("{at}: `says` is a text; this is the number 3")]
    );
}

#[test]
fn a_need_that_nothing_uses_and_a_fact_that_is_not_needed_are_reported() {
    let at = place(REUSE, "reuse, pr]");
    let at = at.replace(":10:9", ":10:20");
    assert_eq!(
        broken(REUSE, "needs: [reuse, pr]", "needs: [reuse, pr, people]"),
        [format!(
            "{at}: nothing uses the fact `people` (a fact that is needed and missing decides the row)"
        )]
    );
    let at = place(REUSE, "pr.origin");
    let found = broken(REUSE, "needs: [reuse, pr]", "needs: [reuse]");
    assert_eq!(found[0], format!("{at}: the fact `pr` is not in `needs` (add `pr` to `needs`)"));
}

#[test]
fn a_template_item_that_no_rule_answers_for_is_reported() {
    let at = place("items.yaml", "pareto\n    label");
    assert_eq!(
        broken("14-pareto-coverage.yaml", "items: [pareto]", "items: []"),
        [format!(
            "{at}: no rule answers for the template item `pareto` \
             (name it in `items` of a rule; `attest: true` is an answer)"
        )]
    );
    let at = place("14-pareto-coverage.yaml", "pareto]");
    let found = broken("14-pareto-coverage.yaml", "items: [pareto]", "items: [paretto]");
    assert_eq!(found[0], format!("{at}: unknown template item `paretto`; did you mean `pareto`?"));
}

#[test]
fn mistakes_of_the_profile_are_reported() {
    let path = "profile.yaml";
    let at = place(path, "exempt_admins");
    assert_eq!(
        broken(path, "exempt_admins: true", "exempt_admin: true"),
        [format!("{at}: unknown key `exempt_admin`; did you mean `exempt_admins`?")]
    );
    let at = place(path, "engine-patch\n");
    assert_eq!(
        broken(path, "- engine-patch\n", "- engine-patches\n"),
        [format!("{at}: no rule has the id `engine-patches`; did you mean `engine-patch`?")]
    );
    let at = place(path, "evidence\n  # By");
    assert_eq!(
        broken(path, "evidence_group: evidence", "evidence_group: evidense"),
        [format!("{at}: no group of `path_groups` is called `evidense`; did you mean `evidence`?")]
    );
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let mut files = inferencex();
    for path in [REUSE, "05-checklist.yaml", "01-sweep.yaml"] {
        let broken = files[path].replacen("severity:", "sverity:", 1);
        files.insert(path.to_owned(), broken);
    }
    let found = rules_of(&files).unwrap_err();
    let paths: std::collections::BTreeSet<_> =
        found.iter().map(|mistake| mistake.path.as_str()).collect();
    assert_eq!(
        paths.into_iter().collect::<Vec<_>>(),
        ["01-sweep.yaml", REUSE, "05-checklist.yaml"]
    );
}

#[test]
fn yaml_that_cannot_be_read_is_reported_and_hostile_yaml_is_refused() {
    let mut files = inferencex();
    files.insert(REUSE.to_owned(), "id: a\nid: b\n".to_owned());
    let found = rules_of(&files).unwrap_err();
    assert!(found.iter().any(|mistake| mistake.path == REUSE && mistake.line == 2), "{found:?}");
    for text in ["{a: ".repeat(100_000), "[".repeat(100_000), "a".repeat(2 << 20)] {
        files.insert(REUSE.to_owned(), text);
        let found = rules_of(&files).unwrap_err();
        assert!(found.iter().any(|mistake| mistake.path == REUSE), "{found:?}");
    }
}

#[test]
fn the_digest_covers_every_file() {
    let rules = rules_of(&inferencex()).unwrap();
    assert!(rules.digest.starts_with("sha256:") && rules.digest.len() == 71, "{}", rules.digest);
    let mut files = inferencex();
    files.get_mut("items.yaml").unwrap().push('\n');
    assert_ne!(rules_of(&files).unwrap().digest, rules.digest);
}

#[test]
fn the_same_facts_give_the_same_rows() {
    let rules = rules_of(&inferencex()).unwrap();
    let again = rules_of(&inferencex()).unwrap();
    for rule in &rules.rules {
        for example in &rule.examples {
            let rows = rules::evaluate(&rules, &example.facts, None);
            assert_eq!(rows, rules::evaluate(&again, &example.facts, None), "{}", example.name);
            assert_eq!(rows.len(), rules.rules.len());
        }
    }
}

#[test]
fn nothing_is_concluded_of_a_submission_that_could_not_be_read() {
    let rules = rules_of(&inferencex()).unwrap();
    let facts = Facts::all_missing(&Missing::ours("GitHub answered 502"));
    for row in rules::evaluate(&rules, &facts, None) {
        let decided =
            row.status == RowStatus::Attested && rules.rule(&row.id).unwrap().items.is_empty();
        assert!(decided || row.status == RowStatus::Undecided, "{}: {:?}", row.id, row.status);
    }
}

/// Runs `countersign rules …`: exit code, standard output, standard error.
fn countersign(args: &[&str]) -> (i32, String, String) {
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_countersign"))
        .arg("rules")
        .args(args)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (run.status.code().unwrap(), text(run.stdout), text(run.stderr))
}

/// A profile's folder on disk.
fn folder(files: &Files) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let file = dir.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    dir
}

#[test]
fn the_commands_say_what_they_found() {
    let (exit, out, err) = countersign(&["check"]);
    assert_eq!((exit, err.as_str()), (0, ""));
    assert!(out.starts_with("inferencex: 19 rules, no mistakes"), "{out}");

    let (exit, out, _) = countersign(&["test"]);
    assert_eq!(exit, 0);
    assert!(out.ends_with(" examples, 0 failed\n"), "{out}");

    let (exit, out, _) = countersign(&["list", "--format", "json"]);
    let list: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((exit, list["rules"][12]["id"].as_str()), (0, Some("append-only")));

    let (exit, by_number, _) = countersign(&["explain", "5"]);
    assert_eq!(exit, 0);
    assert_eq!(countersign(&["explain", "checklist"]).1, by_number);
    assert!(by_number.starts_with("## 5 `checklist`: Checklist\n"), "{by_number}");

    let (exit, out, err) = countersign(&["explain", "swep"]);
    assert_eq!((exit, out.as_str()), (2, ""));
    assert_eq!(err, "error: no rule has the id or number `swep`; did you mean `sweep`?\n");
}

#[test]
fn a_folder_of_ones_own_is_checked_and_tested() {
    let mut files = inferencex();
    files.insert("tables/words.yaml".to_owned(), "yes_words: [\"1\", \"true\"]\n".to_owned());
    let dir = folder(&files);
    let path = dir.path().to_str().unwrap();
    assert_eq!(countersign(&["check", "--rules", path]).0, 0);

    // A mistake: drawn where it stands.
    let text = files[REUSE].replace("c.association", "c.asociation");
    std::fs::write(dir.path().join(REUSE), &text).unwrap();
    let (exit, out, _) = countersign(&["check", "--rules", path]);
    assert_eq!(exit, 1);
    assert!(out.contains("`c` has no field `asociation`; did you mean `association`?"), "{out}");
    assert!(out.contains(&place(REUSE, "association }}")), "{out}");
    assert_eq!(countersign(&["test", "--rules", path]).0, 2);

    // An example that does not come out: what was expected and what came.
    let text = files[REUSE].replace("status: warn, says: [No", "status: warn, says: [Nothing, No");
    std::fs::write(dir.path().join(REUSE), &text).unwrap();
    let (exit, out, _) = countersign(&["test", "--rules", path]);
    assert_eq!(exit, 1);
    let at = place(REUSE, "name: no command at all");
    let at = at.rsplit_once(':').unwrap().0;
    assert!(out.contains(&format!("{at}: no command at all")), "{out}");
    assert!(out.contains("expected something that says `Nothing`"), "{out}");
    assert!(out.contains("got      No authorised reuse command has been posted"), "{out}");

    // A table is closed, too.
    let text = files[REUSE].replace("not c.authorised", "c.text in tables.words.yes_word");
    std::fs::write(dir.path().join(REUSE), &text).unwrap();
    let (_, out, _) = countersign(&["check", "--rules", path]);
    assert!(out.contains("no field `yes_word`; did you mean `yes_words`?"), "{out}");

    let empty = tempfile::tempdir().unwrap();
    let (exit, out, err) = countersign(&["check", "--rules", empty.path().to_str().unwrap()]);
    assert_eq!((exit, out.as_str()), (2, ""));
    assert!(err.contains("it has no `profile.yaml`"), "{err}");
    let (exit, _, err) = countersign(&["list", "--rules", "/nowhere/at/all"]);
    assert_eq!(exit, 2);
    assert!(err.starts_with("error: /nowhere/at/all: cannot be read"), "{err}");
}

#[test]
fn a_check_that_no_example_reaches_fails_the_test() {
    let mut files = inferencex();
    let text = &files[REUSE];
    let start = text.find("  - name: a command in a code block").unwrap();
    let end = text.find("  - name: the comments are more").unwrap();
    let text = format!("{}{}", &text[..start], &text[end..]);
    files.insert(REUSE.to_owned(), text);
    let tested = rules_of(&files).unwrap().test();
    let reuse = tested.iter().find(|tested| tested.rule == "reuse-command").unwrap();
    assert_eq!(reuse.failures.len(), 1);
    assert_eq!(reuse.failures[0].expected, "an example in which this check finds something");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(16))]

    /// Whatever is cut out of a rule file or put into it, mistakes are reported with a place in that profile,
    /// and what passes can be evaluated.
    #[test]
    fn a_mangled_file_is_reported_or_evaluated(
        file in 0usize..7,
        at in 0.0f64..1.0,
        length in 0usize..12,
        put in "([ \\n:{}\\[\\]|&*!#'\"]|\\{\\{|\\}\\}|é|\u{202e}|none|0x1|- |  ){0,3}",
    ) {
        let path = ["00-codeowner.yaml", "01-sweep.yaml", REUSE, "05-checklist.yaml", "17-code-quality.yaml",
            "items.yaml", "profile.yaml"][file];
        let mut files = inferencex();
        let text: Vec<char> = files[path].chars().collect();
        let start = (at * text.len() as f64) as usize;
        let end = (start + length).min(text.len());
        let mangled: String = text[..start].iter().chain(put.chars().collect::<Vec<_>>().iter())
            .chain(&text[end..]).collect();
        files.insert(path.to_owned(), mangled);
        match rules_of(&files) {
            Ok(rules) => assert_eq!(rules.test().len(), rules.rules.len()),
            Err(found) => {
                assert!(!found.is_empty());
                for mistake in found {
                    let lines = files[&mistake.path].lines().count() + 1;
                    assert!((1..=lines).contains(&mistake.line), "{mistake}");
                    assert!(mistake.column >= 1, "{mistake}");
                }
            }
        }
    }
}

/// Compares a generated file with the one that is checked in; `UPDATE_DOCS=1` writes it instead.
fn checked_in(path: &str, generated: &str) {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, generated).unwrap();
    }
    let stands = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        stands == generated,
        "{path} is not what is generated; `UPDATE_DOCS=1 cargo test --test e2e rules` writes it"
    );
}

#[test]
fn the_generated_pages_are_checked_in() {
    let rules = rules_of(&inferencex()).unwrap();
    checked_in("docs/rules.md", &rules::reference(&rules));
    checked_in("docs/facts.schema.json", &format!("{:#}\n", Facts::schema()));
}
