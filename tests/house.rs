//! The house keeps its own rules: data goes one way, pure rooms stay pure, nothing names a policy.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What each room may import, as `docs/architecture.md` draws it. A room that is not here is new and
/// has to be put in its place.
const ROOMS: &[(&str, &[&str])] = &[
    ("limits", &[]),
    ("facts", &["limits"]),
    ("signoff", &["facts", "limits", "profile::settings"]),
    ("bench", &["facts", "limits"]),
    ("engine", &["limits"]),
    ("profile", &["facts", "signoff", "bench", "limits"]),
    ("rules", &["facts", "profile", "signoff", "limits"]),
    ("verdict", &["rules", "facts", "profile", "limits"]),
    ("github", &["limits"]),
    ("sources", &["github", "facts", "profile", "limits"]),
    (
        "evidence",
        &["sources", "facts", "signoff", "bench", "profile", "rules", "verdict", "limits"],
    ),
    ("publish", &["github", "verdict", "rules", "facts", "sources", "limits"]),
    ("store", &["facts", "limits"]),
    ("config", &["limits", "sources"]),
    (
        "verify",
        &["evidence", "profile", "rules", "verdict", "facts", "signoff", "sources", "limits"],
    ),
    (
        "server",
        &[
            "verify", "publish", "store", "config", "github", "sources", "rules", "verdict",
            "signoff", "facts", "profile", "evidence", "limits",
        ],
    ),
];

/// Engines whose logs have a reader of their own in `src/engine/`.
const FORMATS: [&str; 3] = ["sglang", "vllm", "trtllm"];

fn sources() -> Vec<(PathBuf, String)> {
    fn walk(dir: &Path, out: &mut Vec<(PathBuf, String)>) {
        let mut entries: Vec<_> =
            std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|ext| ext == "rs") && !is_test(&path) {
                out.push((path.clone(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut out = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut out);
    out
}

fn room_of(path: &Path) -> String {
    let inside = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap();
    let first = inside.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

/// The part of a file that is built into the program.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}

/// Whether a file is only there for tests.
fn is_test(path: &Path) -> bool {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    name.ends_with("tests") || name == "hostile"
}

#[test]
fn data_goes_one_way() {
    let allowed: BTreeMap<&str, &[&str]> = ROOMS.iter().copied().collect();
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let room = room_of(&path);
        if ["lib", "main", "cli"].contains(&room.as_str()) {
            continue;
        }
        let may = allowed.get(room.as_str());
        let may = may.unwrap_or_else(|| panic!("the room `{room}` has no place in this table"));
        for (number, line) in (1..).zip(without_tests(&text).lines()) {
            let code = line.split("//").next().unwrap_or_default();
            for used in code.split("crate::").skip(1) {
                let name: String =
                    used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let full: String =
                    used.chars().take_while(|c| c.is_alphanumeric() || "_:".contains(*c)).collect();
                let fits = name == room
                    || may.contains(&name.as_str())
                    || may.iter().any(|m| m.contains("::") && full.starts_with(m));
                if !name.is_empty() && !fits {
                    wrong.push(format!("{}:{number}: `{room}` uses `{name}`", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn pure_rooms_are_pure() {
    let pure = ["facts", "signoff", "bench", "engine", "profile", "rules", "verdict"];
    let forbidden =
        ["async fn", ".await", "std::fs", "std::env", "tokio::", "reqwest::", "::now()", "HashMap"];
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        if !pure.contains(&room_of(&path).as_str()) {
            continue;
        }
        for (number, line) in (1..).zip(without_tests(&text).lines()) {
            let code = line.split("//").next().unwrap_or_default();
            for word in forbidden {
                if code.contains(word) {
                    wrong.push(format!("{}:{number}: `{word}`", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn policy_stays_in_the_rule_files() {
    // Names that only the benchmark's world knows; `github.com` is the platform's.
    let names = [
        "inferencex",
        "semianalysis",
        "sglang",
        "vllm",
        "nvidia",
        "trtllm",
        "dsv4",
        "kimik",
        "lmsysorg",
        "run-sweep",
        "perf-changelog",
        "pr_review_checklist",
        "mooncake",
    ];
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        if path.parent().is_some_and(|folder| folder.ends_with("tests")) {
            continue;
        }
        for (number, line) in (1..).zip(without_tests(&text).lines()) {
            let code = line.split("//").next().unwrap_or_default().to_lowercase();
            for name in names {
                // The profile that is built in has to be asked for by its name somewhere.
                let default_profile = name == "inferencex" && code.contains("default_profile");
                // One reader an engine: the names of formats, not of what is allowed.
                let format = room_of(&path) == "engine" && FORMATS.contains(&name);
                if code.contains(name) && !default_profile && !format {
                    wrong.push(format!("{}:{number}: `{name}`", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// `try_join` gives the error that comes first in time, and then a fact would be missing for another
/// reason in a second run: see `src/evidence/in_order.rs`.
#[test]
fn a_missing_fact_has_the_same_reason_every_time() {
    let in_time: Vec<String> = sources()
        .iter()
        .filter(|(path, _)| room_of(path) == "evidence")
        .filter(|(_, text)| {
            let mut code = without_tests(text).lines().map(|line| line.split("//").next());
            code.any(|code| code.is_some_and(|code| code.contains("try_join")))
        })
        .map(|(path, _)| path.display().to_string())
        .collect();
    assert!(in_time.is_empty(), "in_order! and all_in_order instead:\n{}", in_time.join("\n"));
}

#[test]
fn files_are_small_rooms() {
    let long: Vec<String> = sources()
        .iter()
        .filter(|(_, text)| text.lines().count() > 600)
        .map(|(path, text)| format!("{}: {} lines", path.display(), text.lines().count()))
        .collect();
    assert!(long.is_empty(), "\n{}", long.join("\n"));
}
