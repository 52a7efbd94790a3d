//! Lyrics as values: what they are, how they are written down, and whether they belong to a song.

pub mod accept;
pub mod document;
pub mod intake;
pub mod lrc;
pub mod model;
pub mod plain;
pub mod read;
pub mod script;
pub mod text;

pub use lrc::ParseHints;
pub use model::{Body, Copy, Line, Lyrics, Matched, Song, Word};
pub use read::{TextKind, Unreadable, read, read_bytes};
