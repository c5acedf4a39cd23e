//! Tells cargo about the folder of rules: the macro that builds it in notices changed files by itself, but not
//! new ones, and a new rule is one new file.

fn main() {
    println!("cargo::rerun-if-changed=rules");
}
