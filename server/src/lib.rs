//! The hub: configuration, routes and workers, generic over the runtime they run on.

pub mod activity;
pub mod api;
pub mod assemble;
pub mod cli;
mod client_address;
pub mod config;
pub mod crew;
pub mod demo;
pub mod hub;
pub mod lyrics;
pub mod metrics;
pub mod now_playing;
pub mod pages;
pub mod ports;
pub mod providers_fake;
pub mod rest;
pub mod router;
pub mod sources;
pub mod stream;
pub mod sync;
pub mod upstream;
pub mod wanted;
pub mod world;
