use serde_json::json;

use super::{Launch, Recipe, read};

fn recipe(text: &str) -> Recipe {
    read("recipes/ship.yaml", text).expect("a recipe")
}

fn launch(text: &str, selector: &str) -> Launch {
    let recipe = recipe(text);
    let variants = recipe.select(Some(selector));
    assert_eq!(variants.len(), 1, "{selector}: {variants:?}");
    recipe.launch(variants[0]).expect("a launch")
}

fn refused(text: &str) -> String {
    read("recipes/ship.yaml", text).expect_err("no recipe").to_string()
}

const BUNDLE: &str = "\
schema: 2
base:
  engine: sail
  model: { path: m, container: c }
  roles:
    agg: { nodes: 1, workers: 1, gpus: 4, args: { knots: 3, reef: true }, env: { A: '1', B: '2' } }
  benchmark: { type: custom, env: { CONC: '1' } }
override_fast:
  roles:
    agg:
      args: { knots: 9, reef: null, jib: null }
zip_override_many:
  roles:
    agg:
      args: { knots: [4, 5], list: [[1, 2]] }
      env: { A: x }
  benchmark: { env: { CONC: ['4', '8'] } }
";

fn args(launch: &Launch) -> serde_json::Value {
    let args = launch.roles[0].args.iter();
    args.map(|arg| (arg.name.clone(), arg.value.clone())).collect::<serde_json::Map<_, _>>().into()
}

#[test]
fn an_override_is_merged_and_null_takes_away() {
    let fast = launch(BUNDLE, "override_fast");
    assert_eq!(args(&fast), json!({ "knots": 9 }));
    assert_eq!(fast.roles[0].args[0].at.line, 11, "where the value would be changed");
    assert_eq!(fast.schema, 2, "said once for all variants");
    assert_eq!(fast.engine.as_ref().map(super::Setting::text).as_deref(), Some("sail"));
    assert_eq!((fast.roles[0].nodes, fast.roles[0].gpus), (Some(1), Some(4)));
}

#[test]
fn a_zipped_block_makes_a_variant_of_each_index() {
    let recipe = recipe(BUNDLE);
    let names: Vec<&str> = recipe.variants().iter().map(|v| v.selector.as_str()).collect();
    assert_eq!(names, ["base", "override_fast", "zip_override_many[0]", "zip_override_many[1]"]);
    let second = launch(BUNDLE, "zip_override_many[1]");
    assert_eq!(args(&second), json!({ "knots": 5, "reef": true, "list": [1, 2] }));
    let env: Vec<String> =
        second.roles[0].env.iter().map(|e| format!("{}={}", e.name, e.text())).collect();
    assert_eq!(env, ["A=x", "B=2"]);
    assert_eq!(second.benchmark_env[0].value, json!("8"));
}

#[test]
fn selectors_name_blocks_indices_and_globs() {
    let recipe = recipe(BUNDLE);
    let select = |selector| recipe.select(selector).len();
    assert_eq!(select(None), 3, "every launch; the base alone is none");
    assert_eq!(select(Some("zip_override_many")), 2);
    assert_eq!(select(Some("*override_*")), 3);
    assert_eq!(select(Some("base")), 1);
    assert_eq!(select(Some("override_slow")), 0);
    assert_eq!(select(Some("[")), 0, "no glob at all");
    assert_eq!(super::read("r", "base: { name: x }\n").expect("a recipe").select(None).len(), 1);
}

#[test]
fn lists_that_do_not_fit_are_refused_with_both_lines() {
    let said = refused("zip_override_x:\n  a: [1, 2]\n  b: [1, 2, 3]\n");
    assert!(
        said.starts_with("line 3, column 6: this list has 3 values and the one in line 2 has 2")
    );
    assert!(refused("zip_override_x: { a: [] }\n").contains("names no variant"));
    assert!(refused("override_x: [1]\n").contains("`override_x` is a list; make it a mapping"));
    assert!(refused("- 1\n").contains("a recipe is a mapping"));
    let many = format!("zip_override_x:\n  a: [{}]\n", "1, ".repeat(5000));
    assert!(refused(&many).contains("more than 4096 launches"));
}

#[test]
fn the_older_schema_names_roles_in_its_backend() {
    let text = "\
name: old
environment: { ALL: '1', ONE: '1' }
resources: { prefill_nodes: 1, prefill_workers: 2, decode_nodes: 1, decode_workers: 1, gpus_per_decode: 8 }
backend:
  type: sail
  decode_environment: { ONE: '2' }
  sail_config:
    prefill: { knots: 1 }
    decode: { knots: 2 }
    aggregated: { knots: 3 }
  oar_config:
    decode: { knots: 4 }
benchmark: { type: custom, use_chat_template: true }
";
    let launch = launch(text, "");
    assert_eq!(launch.schema, 1);
    let roles: Vec<(&str, i64)> = launch
        .roles
        .iter()
        .map(|role| (role.name.as_str(), role.args[0].value.as_i64().expect("a number")))
        .collect();
    assert_eq!(roles, [("prefill", 1), ("decode", 2), ("agg", 3)]);
    let env: Vec<String> =
        launch.roles[1].env.iter().map(|e| format!("{}={}", e.name, e.text())).collect();
    assert_eq!(env, ["ALL=1", "ONE=2"]);
    assert_eq!((launch.roles[0].workers, launch.roles[1].gpus), (Some(2), Some(8)));
    assert_eq!(launch.benchmark[1].value, json!(true));
}

#[test]
fn leaves_have_dotted_names_and_their_lines() {
    let launch = launch("a:\n  b: 1\n  c: [1, 2]\nd: null\n", "");
    let leaves: Vec<String> = launch
        .leaves()
        .iter()
        .map(|leaf| format!("{} {} {}", leaf.name, leaf.value, leaf.at.line))
        .collect();
    assert_eq!(leaves, ["a.b 1 2", "a.c [1,2] 3", "d null 4"]);
}

#[test]
fn a_hostile_bundle_costs_what_is_read_of_it() {
    let lists = "1, ".repeat(4000);
    let mut text = String::from("base:\n");
    for n in 0..10_000 {
        text.push_str(&format!("  key{n}: {n}\n"));
    }
    text.push_str(&format!("zip_override_x:\n  key1: [{lists}]\n"));
    let recipe = recipe(&text);
    assert_eq!(recipe.variants().len(), 4001);
    let last = recipe.launch(&recipe.variants()[4000]).expect("a launch");
    assert_eq!(last.root.mapping().expect("a mapping").len(), 10_000);
}
