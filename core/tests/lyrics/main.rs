//! Lyrics: every format as it is found in the wild, and whether words belong to a song.

mod accept;
mod lrc;
mod lrc_laws;
mod made;
mod text;
