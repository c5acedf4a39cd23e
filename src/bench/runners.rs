//! `runners.yaml`: the labels that jobs ask for, and what hardware stands behind them.

use std::collections::BTreeMap;

use super::yaml::{self, Node, Value, YamlError};

/// Prefix of a label that names one cluster.
const CLUSTER: &str = "cluster:";

/// The runners of a tree.
#[derive(Debug, Clone, Default)]
pub struct Runners {
    /// Names of runners by label.
    pub labels: BTreeMap<String, Vec<String>>,
    /// Hardware by label.
    pub hardware: BTreeMap<String, Hardware>,
}

/// One node of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hardware {
    /// Memory of the host that a benchmark may use, in MiB.
    pub dram_mib: i64,
    /// Accelerators.
    pub gpus: i64,
}

/// Reads them. What is of another shape is left out: it only means that a budget cannot be computed.
///
/// Source: `RunnerConfig` of the benchmark repository's `validation.py`; `hardware:` by label in older
/// files, `clusters:` by the name after `cluster:` in newer ones.
///
/// # Errors
/// What is no YAML.
pub fn read(text: &str) -> Result<Runners, YamlError> {
    let root = yaml::parse(text)?.root;
    let mut runners = Runners::default();
    for (label, names) in pairs(root.get("labels")) {
        let names = names.sequence().unwrap_or_default().iter();
        let names = names.filter_map(|name| name.text().ok()).map(str::to_owned).collect();
        runners.labels.insert(label, names);
    }
    for (label, node) in pairs(root.get("hardware")) {
        runners.hardware.extend(hardware(node).map(|found| (label, found)));
    }
    for (name, node) in pairs(root.get("clusters")) {
        let label = format!("{CLUSTER}{name}");
        runners.hardware.extend(hardware(node).map(|found| (label, found)));
    }
    Ok(runners)
}

fn hardware(node: &Node) -> Option<Hardware> {
    let number = |field: &str| node.get(field)?.int().ok().filter(|n| *n > 0);
    Some(Hardware { dram_mib: number("available-cpu-dram-mib")?, gpus: number("gpus-per-node")? })
}

fn pairs(node: Option<&Node>) -> impl Iterator<Item = (String, &Node)> {
    let pairs = match node.map(|node| &node.value) {
        Some(Value::Mapping(pairs)) => pairs.as_slice(),
        _ => &[],
    };
    pairs.iter().map(|pair| (pair.key.key_name(), &pair.value))
}

#[cfg(test)]
mod tests {
    use super::{Hardware, read};

    #[test]
    fn hardware_is_by_label_or_by_cluster() {
        let older = "labels: {a1: [a1_0, a1_1]}\nhardware:\n  'cluster:a1-x': {available-cpu-dram-mib: 5, gpus-per-node: 8}\n";
        let newer = "labels: {}\nclusters:\n  a1-x: {available-cpu-dram-mib: 5, gpus-per-node: 8, arch: z}\n  b: {gpus-per-node: 8}\n";
        let expected = Some(&Hardware { dram_mib: 5, gpus: 8 });
        assert_eq!(read(older).unwrap().hardware.get("cluster:a1-x"), expected);
        assert_eq!(read(older).unwrap().labels["a1"], ["a1_0", "a1_1"]);
        let newer = read(newer).unwrap();
        assert_eq!(newer.hardware.get("cluster:a1-x"), expected);
        assert_eq!(newer.hardware.len(), 1, "what is not whole is no hardware");
        assert!(read("labels: [").is_err());
        assert!(read("3").unwrap().labels.is_empty());
    }
}
