use super::{Topology, Workload, read, sku};

const ENTRY: &str = "\
key-a:
  image: org/name:1
  model: m
  model-prefix: aster
  precision: fp8
  framework: x
  runner: cluster:a1-pool
  multinode: false
  scenarios:
    fixed-seq-len:
    - isl: 8192
      osl: 1024
      search-space:
      - { tp: 4, conc-start: 4, conc-end: 100 }
      - { tp: 8, ep: 8, dp-attn: true, conc-list: [64, 1], spec-decoding: mtp }
";

fn problems(text: &str) -> Vec<String> {
    let found = read("a.yaml", text).unwrap().problems;
    found.iter().map(|note| format!("{}: {}", note.at.line, note.message)).collect()
}

#[test]
fn ranges_double_and_end_where_they_say() {
    let master = read("a.yaml", ENTRY).unwrap();
    assert!(master.problems.is_empty() && master.notes.is_empty(), "{:?}", master.problems);
    let entry = &master.entries[0];
    assert_eq!((entry.key.as_str(), entry.at.line, entry.image.at.line), ("key-a", 1, 2));
    let scenario = &entry.scenarios[0];
    assert_eq!(scenario.workload, Workload::FixedSeqLen { isl: 8192, osl: 1024 });
    assert_eq!(scenario.workload.name(), "8k1k");
    assert_eq!(scenario.rows[0].conc, [4, 8, 16, 32, 64, 100]);
    assert_eq!(
        (scenario.rows[1].conc.as_slice(), scenario.rows[1].at.line),
        ([64, 1].as_slice(), 15)
    );
    assert!(entry.speculates() && !scenario.rows[0].speculates());
    assert_eq!(entry.sku(), "a1");
}

#[test]
fn older_and_newer_forms_of_several_nodes_are_one() {
    let older = ENTRY.replace("multinode: false", "multinode: true").replace(
        "- { tp: 4, conc-start: 4, conc-end: 100 }",
        "- { conc-list: [4], prefill: { num-worker: 2, tp: 4, additional-settings: [\"CONFIG_FILE=recipes/x.yaml:base\", \"NODES=2\"] }, decode: { num-worker: 0, tp: 4 } }",
    );
    let newer = ENTRY.replace("multinode: false", "multinode: true").replace(
        "- { tp: 4, conc-start: 4, conc-end: 100 }",
        "- { conc-list: [4], worker: { num-worker: 2, tp: 4, additional-settings: [\"NODES=2\"] }, num-nodes: 2, srt-recipe: \"recipes/x.yaml:base\" }",
    );
    for text in [older, newer] {
        let master = read("a.yaml", &text).unwrap();
        let row = &master.entries[0].scenarios[0].rows[0];
        assert_eq!(row.recipe.as_ref().unwrap().text, "recipes/x.yaml:base");
        let Topology::Multi { prefill, decode, .. } = &row.topology else { panic!("{row:?}") };
        assert_eq!((prefill.count, decode.count, prefill.parallelism.tp), (2, 0, 4));
        assert_eq!(prefill.settings[0].text, "NODES=2");
    }
}

#[test]
fn wrong_values_are_problems_of_their_line_and_unknown_fields_notes() {
    assert_eq!(
        problems(
            &ENTRY.replace(
                "tp: 4, conc-start: 4, conc-end: 100",
                "tp: '4', conc-start: 9, conc-end: 3"
            )
        ),
        [
            "14: `conc-start` 9 and `conc-end` 3 are no range",
            "14: `tp`: expected an integer, found the text `4`"
        ]
    );
    assert_eq!(problems(&ENTRY.replace("  image: org/name:1\n", "")), ["2: `image` is missing"]);
    assert_eq!(
        problems(&ENTRY.replace("tp: 4, ", "")),
        ["14: the row has no topology; expected `tp`"]
    );
    assert_eq!(problems("a: 3\n"), ["1: the entry `a` is the integer 3"]);
    let odd = read("a.yaml", &ENTRY.replace("  multinode", "  novel: 1\n  multinode")).unwrap();
    assert!(odd.problems.is_empty());
    assert_eq!(odd.notes[0].message, "the field `novel` of an entry is not known");
    assert!(read("a.yaml", "- a\n").is_err());
    assert!(read("a.yaml", "").unwrap().entries.is_empty());
    let many = ENTRY.replace("conc-list: [64, 1]", "conc-start: 1, conc-end: 9223372036854775807");
    assert!(read("a.yaml", &many).unwrap().problems.is_empty(), "64 points");
    let list = vec!["7"; 60_000].join(", ");
    let huge = problems(&ENTRY.replace("[64, 1]", &format!("[{list}]")));
    assert!(huge[0].contains("more than 50000 points"), "{huge:?}");
}

#[test]
fn a_component_is_a_name_or_a_mapping() {
    for (written, version) in [("wire", None), ("{ name: wire, version: '1' }", Some("1"))] {
        let text =
            ENTRY.replace("tp: 8, ep: 8", &format!("tp: 8, kv-offload-backend: {written}, ep: 8"));
        let master = read("a.yaml", &text).unwrap();
        assert!(master.problems.is_empty(), "{:?}", master.problems);
        let backend = master.entries[0].scenarios[0].rows[1].kv_offload_backend.clone().unwrap();
        assert_eq!((backend.name.as_str(), backend.version.as_deref()), ("wire", version));
    }
}

#[test]
fn the_hardware_of_a_runner() {
    assert_eq!((sku("cluster:a1-pool"), sku("a1"), sku("a1-x-y")), ("a1", "a1", "a1"));
}
