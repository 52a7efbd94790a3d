//! The hub: configuration, routes and workers, generic over the runtime they run on.

pub mod rest;
