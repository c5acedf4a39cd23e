//! Tells cargo about the folder of rules: the macro that builds it in notices changed files by itself, but not
//! new ones, and a new rule is one new file.
#![expect(clippy::print_stdout, reason = "a build script speaks to cargo by its standard output")]

fn main() {
    println!("cargo::rerun-if-changed=rules");
}
