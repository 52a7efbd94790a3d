//! Many sources' rows in, one library out.

pub mod model;
pub mod normalise;
mod version;
