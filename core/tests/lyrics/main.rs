//! Lyrics: every format as it is found in the wild, and whether words belong to a song.

mod accept;
mod bug_log;
mod document;
mod formats;
mod intake;
mod layers;
mod lrc;
mod lrc_laws;
mod made;
mod query;
mod script;
mod text;
mod wild_laws;
