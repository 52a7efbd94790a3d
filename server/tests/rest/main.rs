//! The OpenSubsonic surface, from the outside: requests into the router, replies out of it.

mod annotate;
mod browse;
mod document;
mod frame;
mod library;
mod lists;
mod login;
mod lyrics;
mod search;
mod shape;
mod world;
mod xml;
