//! The OpenSubsonic surface, from the outside.

mod document;
mod xml;
