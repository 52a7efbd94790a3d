//! Lyrics as values: what they are, how they are written down, and whether they belong to a song.

pub mod model;

pub use model::{Body, Copy, Line, Lyrics, Matched, Song, Word};
