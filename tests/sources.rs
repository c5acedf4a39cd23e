//! Reading: the client against a server, the sources against the same keys, the reader's memory.

mod app;
mod fake;
mod git;
mod live;
mod reader;
