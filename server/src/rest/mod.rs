//! The OpenSubsonic surface, `/rest/*` (product, section 3).

pub mod call;
pub mod document;
pub mod envelope;
pub mod params;
