//! Songs looked up by a whole hub: real files, real sockets, services that say what they are told to.

mod deaths;
mod lanes;
mod serve;
mod sidecars;
mod world;
