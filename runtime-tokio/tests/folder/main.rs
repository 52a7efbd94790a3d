//! Music folders on a real file system.

mod answer;
mod kit;
mod lyrics;
mod rescan;
mod scan;
