//! The HTTP client and the accept loop on real loopback sockets.

mod client;
mod peer;
mod server;
mod tls;
