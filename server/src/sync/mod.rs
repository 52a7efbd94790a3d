//! Pulls what the sources have, and merges it beside the requests.

mod state;

pub use state::{ScanStatus, SyncState};
