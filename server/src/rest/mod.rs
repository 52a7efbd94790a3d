//! The OpenSubsonic surface, `/rest/*` (product, section 3).

pub mod call;
pub mod credentials;
pub mod document;
pub mod envelope;
pub mod params;
pub mod throttle;
