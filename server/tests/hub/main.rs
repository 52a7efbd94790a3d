//! The hub from outside: real HTTP, real SQLite, upstreams that fail on command.

mod failover;
mod world;
