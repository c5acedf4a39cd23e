//! Logs of inference engines.

use std::io::Read;
use std::path::Path;

use serde_json::{Value as Json, json};

use super::table;
use crate::cli::name_of;
use crate::engine::{Scanner, Table};

/// Bytes that are read at once; a log is never held as a whole.
const CHUNK: usize = 256 << 10;

/// What a log says (the contract's form).
pub(super) fn log(file: &Path, rules: Option<&Path>) -> Result<Json, String> {
    let table = Table::from_value(&table::<Json>(rules, "engine-logs")?);
    let table = table.map_err(|error| error.to_string())?;
    let fail = |error: std::io::Error| format!("{}: cannot be read: {error}", name_of(file));
    let mut open: Box<dyn Read> = if file == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(std::fs::File::open(file).map_err(fail)?)
    };
    let mut scanner = Scanner::new(&table);
    let mut chunk = vec![0; CHUNK];
    loop {
        match open.read(&mut chunk) {
            Ok(0) => return Ok(json!(scanner.finish())),
            Ok(read) => scanner.feed(&chunk[..read]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(fail(error)),
        }
    }
}
