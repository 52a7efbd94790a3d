//! Songs that are looked up by several processes while things go wrong: random stories, written ones, and those that failed
//! before.

#[path = "../common/elsewhere.rs"]
mod elsewhere;
mod later;
mod random;
mod replay;
mod same_seed;
mod stories;
