//! Named groups of paths.

use std::collections::BTreeMap;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// The `path_groups` of a profile, compiled. In a glob `*` stays within a folder, `**` crosses them.
#[derive(Debug, Clone, Default)]
pub struct PathGroups(BTreeMap<String, GlobSet>);

impl PathGroups {
    /// Compiles all groups.
    ///
    /// # Errors
    /// The first glob that is none: its group, its index and why.
    pub fn new(groups: &BTreeMap<String, Vec<String>>) -> Result<Self, (String, usize, String)> {
        let mut compiled = BTreeMap::new();
        for (name, globs) in groups {
            let mut set = GlobSetBuilder::new();
            let failed = |index, error: globset::Error| (name.clone(), index, error.to_string());
            for (index, glob) in globs.iter().enumerate() {
                let glob = GlobBuilder::new(glob).literal_separator(true).build();
                set.add(glob.map_err(|error| failed(index, error))?);
            }
            let set = set.build().map_err(|error| failed(0, error))?;
            compiled.insert(name.clone(), set);
        }
        Ok(Self(compiled))
    }

    /// Names of the groups that hold one of the paths, sorted.
    pub fn of<'p>(&self, paths: impl IntoIterator<Item = &'p str>) -> Vec<String> {
        let paths: Vec<&str> = paths.into_iter().collect();
        let holds = |set: &GlobSet| paths.iter().any(|path| set.is_match(path));
        self.0.iter().filter(|(_, set)| holds(set)).map(|(name, _)| name.clone()).collect()
    }

    /// Whether a group holds a path; one that is not there holds nothing.
    pub fn holds(&self, group: &str, path: &str) -> bool {
        self.0.get(group).is_some_and(|set| set.is_match(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stays_in_its_folder_and_two_cross() {
        let groups = BTreeMap::from([
            ("deep".to_owned(), vec!["src/**".to_owned()]),
            ("flat".to_owned(), vec!["src/*.rs".to_owned(), "README.md".to_owned()]),
        ]);
        let groups = PathGroups::new(&groups).expect("globs");
        assert_eq!(groups.of(["src/a.rs"]), ["deep", "flat"]);
        assert_eq!(groups.of(["src/a/b.rs"]), ["deep"]);
        assert_eq!(groups.of(["x", "README.md"]), ["flat"]);
        assert!(!groups.holds("none", "src/a.rs"));
        let bad = BTreeMap::from([("g".to_owned(), vec!["a".to_owned(), "[".to_owned()])]);
        assert_eq!(PathGroups::new(&bad).map(drop).map_err(|e| (e.0, e.1)), Err(("g".into(), 1)));
    }
}
