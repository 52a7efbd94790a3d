//! Lyrics lanes over real HTTP, against fakes of our own.

mod ask;
mod lanes;
mod lrclib;
mod musixmatch;
mod petitlyrics;
mod subsonic;
