//! Lyrics as values: what they are, how they are written down, and whether they belong to a song.

pub mod accept;
pub mod document;
pub mod intake;
pub mod layers;
pub mod lrc;
mod lyricsfile;
pub mod model;
pub mod plain;
pub mod query;
pub mod read;
pub mod script;
mod srt;
pub mod text;
mod timed;
mod ttml;

pub use lrc::ParseHints;
pub use model::{Body, Copy, Line, Lyrics, Matched, Song, Word};
pub use read::{TextKind, Unreadable, read, read_bytes};
