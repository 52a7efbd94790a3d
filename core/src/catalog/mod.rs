//! Many sources' rows in, one library out.

mod albums;
mod artists;
mod draft;
mod facts;
mod ids;
mod matching;
pub mod merge;
pub mod model;
pub mod normalise;
mod previous;
mod rows;
mod sets;
mod version;
