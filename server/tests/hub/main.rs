//! The hub from outside: real HTTP, real SQLite, upstreams that fail on command.

mod activity;
mod art;
mod failover;
mod faults;
mod folders;
mod garbage;
mod limits;
mod merging;
mod queue;
mod quirks;
mod ranges;
mod resume;
mod same;
mod shelf;
mod sync;
mod webhook;
mod world;
