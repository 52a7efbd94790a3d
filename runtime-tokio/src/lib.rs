//! The real world for `segue-core`: tokio's clock, HTTP over real sockets, SQLite on its threads, folders
//! and keys. Thin: it moves bytes and keeps time, decisions live in core.

pub mod art;
pub mod clock;
pub mod command;
pub mod folder;
pub mod net;
mod pace;
pub mod secrets;
pub mod serve;
pub mod shelf;
pub mod sockopt;
pub mod store;
