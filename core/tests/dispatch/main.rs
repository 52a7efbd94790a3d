//! The dispatch: every row of its tables, every invariant, and a reference that works a whole
//! dispatch out on paper.

mod case;
#[path = "../common/mod.rs"]
mod common;
mod compare;
mod laws;
mod oracle;
mod paper;
mod play;
mod shared;
mod streams;
mod table;
