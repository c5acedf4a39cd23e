use std::collections::BTreeMap;

use super::{Script, read};

fn walk(text: &str, known: &[(&str, &str)]) -> Script {
    let known: BTreeMap<String, String> =
        known.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    read(text, &known).unwrap()
}

fn lines(text: &str, known: &[(&str, &str)]) -> Vec<String> {
    let script = walk(text, known);
    script
        .commands
        .iter()
        .map(|command| format!("{}: {}", command.at.line, command.line()))
        .collect()
}

#[test]
fn words_are_what_bash_makes_of_them() {
    let text = "A=1\nB=\"x $A\"\nrun \"$B\" ${A:-2} '$A' a\\ b \"${C:-d}\" \\\n  --flag=${A}z\n";
    assert_eq!(lines(text, &[]), ["3: run x 1 1 $A a b ${C:-d} --flag=1z"]);
    assert_eq!(lines(text, &[("C", "")])[0], "3: run x 1 1 $A a b d --flag=1z");
    let script = walk(text, &[]);
    assert!(script.commands[0].words[1].known && !script.commands[0].words[5].known);
    assert_eq!(script.commands[0].words[6].at.line, 4);
}

#[test]
fn arrays_grow_and_are_spread() {
    let text = "ARGS=(--a 1 --b \"$X\")\nARGS+=(--c)\nif [ \"$TP\" = 8 ]; then ARGS+=(--d); fi\nserve \"${ARGS[@]}\" end\n";
    assert_eq!(lines(text, &[("X", "y"), ("TP", "8")]), ["4: serve --a 1 --b y --c --d end"]);
    assert_eq!(lines(text, &[("X", "y"), ("TP", "4")]), ["4: serve --a 1 --b y --c end"]);
    // Not known: both may be.
    assert_eq!(lines(text, &[]), ["4: serve --a 1 --b $X --c --d end"]);
}

#[test]
fn a_test_of_what_is_known_leaves_its_other_branch_out() {
    let text = "if [[ $A == 1 && $B -gt 3 ]]; then\n  one\nelif [ -n \"$C\" ]; then\n  two\nelse\n  three\nfi\ncase \"$A\" in\n  1) c1;;\n  2|3) c2;;\nesac\n";
    assert_eq!(lines(text, &[("A", "1"), ("B", "4")]), ["2: one", "9: c1"]);
    assert_eq!(lines(text, &[("A", "2"), ("C", "x")]), ["4: two", "10: c2"]);
    assert_eq!(lines(text, &[("A", "2"), ("C", "")]), ["6: three", "10: c2"]);
    let open = walk(text, &[]);
    assert_eq!(open.commands.len(), 5, "every branch of what is not known");
    assert_eq!(open.commands[0].guards, ["[[ $A == 1 && $B -gt 3 ]]"]);
    assert!(walk("x\n", &[]).commands[0].guards.is_empty());
}

#[test]
fn texts_inside_and_what_is_written_to_are_kept() {
    let text = "python3 - <<'PY' > out.txt\nimport x\nopen('y')\nPY\ncat > /a/b <<EOF\nz\nEOF\necho hi >> \"$T/log\" 2>&1\n";
    let script = walk(text, &[("T", "/tmp")]);
    let first = &script.commands[0];
    let heredoc = first.heredoc.as_ref().unwrap();
    assert_eq!((heredoc.text.trim(), heredoc.at.line), ("import x\nopen('y')", 2));
    assert_eq!(script.commands[1].writes[0].text, "/a/b");
    assert!(script.commands[1].heredoc.is_some());
    assert_eq!(script.commands[2].writes[0].text, "/tmp/log");
}

#[test]
fn a_variable_that_a_command_set_carries_the_command() {
    let text =
        "DIR=$(python3 -c \"import eng; print(eng.__file__)\")\nsed -i s/a/b/ \"$DIR/x.py\"\n";
    let script = walk(text, &[]);
    let sed = script.commands.last().unwrap();
    assert_eq!(sed.words[3].text, "$(python3 -c \"import eng; print(eng.__file__)\")/x.py");
    assert!(!sed.words[3].known);
}

#[test]
fn exports_and_functions_and_lists() {
    let text = "export A=1 B=$C\nX=3; export X\nf() {\n  inner \"$1\"\n}\nf a && g || h &\n(cd /x && run)\nA=1 env_only run2\n";
    let script = walk(text, &[("C", "c")]);
    let exports: Vec<_> = script.exports.iter().map(|(n, w)| format!("{n}={}", w.text)).collect();
    assert_eq!(exports, ["A=1", "B=c", "X=3"]);
    let said = lines(text, &[]);
    assert_eq!(
        said,
        ["4: inner $1", "6: f a", "6: g", "6: h", "7: cd /x", "7: run", "8: env_only run2"]
    );
}

#[test]
fn a_broken_line_is_a_problem_and_the_rest_is_read() {
    let script = walk("a 1\nif [ x ; then\n)) oops\nb 2\n", &[]);
    assert!(!script.problems.is_empty());
    assert!(script.commands.iter().any(|command| command.line() == "a 1"));
}

#[test]
fn hostile_scripts_end_in_a_problem() {
    let nested = format!("{}x{}", "( ".repeat(20_000), " )".repeat(20_000));
    assert!(read(&nested, &BTreeMap::new()).unwrap_err().message.contains("deeper"));
    let ifs = format!("{}x\n{}", "if a; then\n".repeat(5_000), "fi\n".repeat(5_000));
    assert!(read(&ifs, &BTreeMap::new()).is_err());
    assert!(read(&"x\n".repeat(600_000), &BTreeMap::new()).unwrap_err().message.contains("bytes"));
    let many = walk(&"a b\n".repeat(100_000), &[]);
    assert!(many.problems[0].message.contains("more than 20000 commands"));
    let doubling = format!("A=xxxxxxxx\n{}run $A\n", "A=$A$A\n".repeat(60));
    assert!(walk(&doubling, &[]).commands[0].words[1].text.len() <= crate::limits::WORD_BYTES);
    for text in ["", "\u{0}\u{1}", "<<", "<<E", "$(", "\"", "case x in", "a() {", "${", "𝕏=𝕐 $𝕏"]
    {
        _ = read(text, &BTreeMap::new());
    }
}
