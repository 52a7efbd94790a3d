//! Many sources' rows in, one library out.

pub mod model;
