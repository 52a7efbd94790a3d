//! Lyrics lanes over real HTTP, against fakes of our own.

mod ask;
mod musixmatch;
mod petitlyrics;
