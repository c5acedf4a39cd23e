//! Rule files: raw → checked, and facts → rows. Pure and total: no clock, no file, no network.

pub mod escape;
pub mod row;

pub use row::{Finding, Level, Override, Row, RowStatus, Severity};
