//! Songs that are looked up by several processes while things go wrong: random stories, written ones, and those that failed
//! before.

mod random;
mod replay;
mod stories;
