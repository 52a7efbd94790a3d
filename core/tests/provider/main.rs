//! What every provider of lyrics does, whatever it speaks (contracts section 2), and what each does in particular.
//!
//! [`rows`] has one row for each codec: how it is asked and what good answers look like there. Everything in [`suite`]
//! runs over all rows, so a new codec is held to it by adding its row.

mod configured;
mod drive;
mod garbage;
mod judging;
mod local;
mod lrclib;
mod musixmatch;
mod petitlyrics;
mod rows;
mod subsonic;
mod suite;
