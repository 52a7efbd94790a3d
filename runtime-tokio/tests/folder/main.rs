//! Music folders on a real file system.

mod answer;
mod kit;
mod rescan;
mod scan;
