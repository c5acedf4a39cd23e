//! Launch recipes: what a benchmark point starts, as srt-slurm reads it.
//!
//! A file is flat, one recipe, or a bundle: `base` with `override_NAME` blocks merged over it and
//! `zip_override_NAME` blocks whose lists are taken apart, one variant an index. A variant is put
//! together only where it is asked for, so that a large bundle costs no more than what is read of it.
//! Every value keeps the place at which it is written, in `base` or in the override.

mod launch;
mod merge;
#[cfg(test)]
mod tests;

use globset::GlobBuilder;

use super::yaml::{self, Node, Place, Value, YamlError};
use crate::limits::RECIPE_VARIANTS;

pub use launch::{Launch, Role, Setting};

const BASE: &str = "base";
const OVERRIDE: &str = "override_";
const ZIP: &str = "zip_override_";
const SCHEMA: &str = "schema";

/// A recipe file.
#[derive(Debug, Clone)]
pub struct Recipe {
    /// Its path.
    pub path: String,
    /// What was odd in it and yet accepted.
    pub notes: Vec<yaml::Note>,
    root: Node,
    variants: Vec<Variant>,
}

/// One launch that a recipe file describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// `base`, `override_NAME`, `zip_override_NAME[INDEX]`; empty in a flat file.
    pub selector: String,
    /// Where its block begins; the file's first line in a flat one.
    pub at: Place,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Flat,
    Base,
    Override,
    Zip { index: usize },
}

/// Reads a recipe file.
///
/// # Errors
/// What is no YAML, no mapping, a block of a bundle that is none, lists of a `zip_override_` block that
/// differ in length, more than [`RECIPE_VARIANTS`] variants.
pub fn read(path: &str, text: &str) -> Result<Recipe, YamlError> {
    let document = yaml::parse(text)?;
    let root = document.root;
    let pairs = root.mapping().map_err(|wrong| YamlError {
        at: root.at,
        message: wrong.to_string(),
        fix: "a recipe is a mapping".to_owned(),
    })?;
    let mut variants = Vec::new();
    let is_bundle = pairs.iter().any(|pair| kind_of(&pair.key.key_name()).is_some());
    if !is_bundle {
        variants.push(Variant { selector: String::new(), at: root.at, kind: Kind::Flat });
    }
    for pair in pairs {
        let name = pair.key.key_name();
        let Some(kind) = kind_of(&name) else { continue };
        if pair.value.mapping().is_err() && !pair.value.is_null() {
            return Err(YamlError {
                at: pair.value.at,
                message: format!("`{name}` is {}", pair.value.describe()),
                fix: "make it a mapping".to_owned(),
            });
        }
        let at = pair.key.at;
        let count = if kind == (Kind::Zip { index: 0 }) { merge::width(&pair.value)? } else { 1 };
        if variants.len() + count > RECIPE_VARIANTS {
            return Err(YamlError {
                at,
                message: format!("the file describes more than {RECIPE_VARIANTS} launches"),
                fix: "split it".to_owned(),
            });
        }
        variants.extend((0..count).map(|index| match kind {
            Kind::Zip { .. } => {
                Variant { selector: format!("{name}[{index}]"), at, kind: Kind::Zip { index } }
            }
            ref kind => Variant { selector: name.clone(), at, kind: kind.clone() },
        }));
    }
    Ok(Recipe { path: path.to_owned(), notes: document.notes, root, variants })
}

fn kind_of(key: &str) -> Option<Kind> {
    if key == BASE {
        Some(Kind::Base)
    } else if key.starts_with(ZIP) {
        Some(Kind::Zip { index: 0 })
    } else if key.starts_with(OVERRIDE) {
        Some(Kind::Override)
    } else {
        None
    }
}

impl Recipe {
    /// All variants, in the order of the file.
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }

    /// The variants that a selector names: an exact name, a block without its index, or a glob. No
    /// selector means every launch of the file; `base` alone is one only where nothing overrides it.
    /// Empty where the selector names nothing.
    pub fn select(&self, selector: Option<&str>) -> Vec<&Variant> {
        let Some(selector) = selector.filter(|selector| !selector.is_empty()) else {
            let launches: Vec<&Variant> =
                self.variants.iter().filter(|variant| variant.kind != Kind::Base).collect();
            return if launches.is_empty() { self.variants.iter().collect() } else { launches };
        };
        let exact =
            |variant: &&Variant| variant.selector == selector || variant.block() == selector;
        let found: Vec<&Variant> = self.variants.iter().filter(exact).collect();
        if !found.is_empty() {
            return found;
        }
        let glob = GlobBuilder::new(selector).literal_separator(false).build();
        let Ok(glob) = glob.map(|glob| glob.compile_matcher()) else { return Vec::new() };
        let matches =
            |variant: &&Variant| glob.is_match(&variant.selector) || glob.is_match(variant.block());
        self.variants.iter().filter(matches).collect()
    }

    /// A variant put together: `base` with its override merged over it.
    ///
    /// # Errors
    /// Lists of a `zip_override_` block that cannot be taken apart.
    pub fn resolve(&self, variant: &Variant) -> Result<Node, YamlError> {
        let empty = Node { value: Value::Mapping(Vec::new()), at: variant.at };
        let block = |name: &str| self.root.get(name).filter(|node| !node.is_null());
        let base = || block(BASE).cloned().unwrap_or_else(|| empty.clone());
        let over = block(variant.block());
        let mut node = match (&variant.kind, over) {
            (Kind::Flat, _) => return Ok(self.root.clone()),
            (Kind::Base, _) | (_, None) => base(),
            (Kind::Override, Some(over)) => merge::over(base(), over),
            (Kind::Zip { index }, Some(over)) => {
                merge::over(base(), &merge::element(over, *index)?)
            }
        };
        // What stands beside `base` and is no block speaks of every variant.
        let said_once = self.root.pair(SCHEMA).filter(|_| node.get(SCHEMA).is_none());
        if let (Some(pair), Value::Mapping(pairs)) = (said_once, &mut node.value) {
            pairs.push(pair.clone());
        }
        Ok(node)
    }

    /// What a variant launches.
    ///
    /// # Errors
    /// As [`Recipe::resolve`].
    pub fn launch(&self, variant: &Variant) -> Result<Launch, YamlError> {
        Ok(launch::of(&self.path, variant, &self.resolve(variant)?))
    }

    /// A block of a bundle as it is written: `base` or an override. `None` where there is none.
    pub fn block(&self, name: &str) -> Option<&Node> {
        self.root.get(name)
    }
}

impl Variant {
    /// The name of its block: the selector without an index.
    pub fn block(&self) -> &str {
        match self.kind {
            Kind::Zip { .. } => self.selector.rsplit_once('[').map_or("", |(block, _)| block),
            _ => &self.selector,
        }
    }
}
