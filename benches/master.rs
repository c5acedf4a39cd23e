//! Base and head of a master configuration as long as the largest real one (about 10,000 lines): read,
//! expanded to points and compared.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fmt::Write as _;

use countersign::bench::affected::{affected, by_key, points};
use countersign::bench::matrix::{MatrixSettings, rows};
use countersign::bench::{master, runners};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// Entries of twelve rows each, one changed image among them.
fn text(entries: usize, image: &str) -> String {
    let mut text = String::new();
    for n in 0..entries {
        let image = if n == 7 { image } else { "org/name:v1" };
        _ = write!(
            text,
            "model{n}-fp4-a{n}-frame:\n  image: {image}\n  model: org/model-{n}\n  model-prefix: model{n}\n  runner: cluster:a{n}-pool\n  \
             precision: fp4\n  framework: frame\n  router: {{ name: router, version: \"0.8.1\" }}\n  kv-p2p-transfer: wire\n  multinode: true\n  \
             disagg: true\n  scenarios:\n    fixed-seq-len:\n    - isl: 8192\n      osl: 1024\n      search-space:\n"
        );
        for row in 0..4 {
            _ = write!(
                text,
                "      - spec-decoding: \"mtp\"\n        conc-list: [{row}1, {row}2, {row}4]\n        prefill:\n          num-worker: 1\n          tp: 4\n          \
                 ep: 4\n          dp-attn: true\n          additional-settings:\n          # where it comes from\n          - \"CONFIG_FILE=recipes/x/{n}/{row}.yaml\"\n        \
                 decode:\n          num-worker: {row}\n          tp: 8\n          ep: 8\n          dp-attn: false\n"
            );
        }
    }
    text
}

#[divan::bench]
fn base_and_head(bencher: Bencher<'_, '_>) {
    let (base, head) = (text(130, "org/name:v1"), text(130, "org/name:v2"));
    assert!(head.lines().count() > 9_000);
    let settings = MatrixSettings { dram_cap_mib: 1, agentic_seconds: 1, evals: Vec::new() };
    let runners = runners::Runners::default();
    bencher.bench(|| {
        let read = |text: &str| master::read("a.yaml", black_box(text)).unwrap().entries;
        let (base, head) = (read(&base), read(&head));
        let none = BTreeSet::new();
        let found = affected(&by_key(&base), &by_key(&head), &none, &none);
        assert!(found.len() == 1 && found[0].image_only);
        let all: usize = head
            .iter()
            .zip(&base)
            .map(|(new, old)| {
                let (new, old) = (rows(new, &runners, &settings), rows(old, &runners, &settings));
                points(&old, &new).len()
            })
            .sum();
        assert!(all > 1_000);
    });
}
