//! Music folders of this machine: what is in them, and their files answered like a server would.
//!
//! [`scan`] makes the rows of one pass (architecture sections 1 and 8). Paths are bytes below the root and stay below it: files are opened with
//! [`Root::open_file`] only.

mod audio;
mod cover;
mod names;
mod path;
mod root;
mod rows;
mod scan;
mod tags;
mod walk;

pub use path::RelativePath;
pub use root::{OpenError, Root};
pub use scan::{Progress, ScanError, Scanned, Watch, scan};
