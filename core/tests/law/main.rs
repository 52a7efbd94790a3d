//! The law of the house: who may depend on whom, and whether the papers say what the code does.
//!
//! `docs/architecture.md` states the law in words; these tests read manifests and sources and hold it.

mod arrows;
mod house;
mod papers;
