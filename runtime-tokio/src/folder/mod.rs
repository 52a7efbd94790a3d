//! Music folders of this machine: what is in them, and their files answered like a server would.
//!
//! [`scan`] makes the rows of one pass, [`FolderSource`] answers `folder:` URIs. Paths are bytes below the
//! root and stay below it: files are opened with [`Root::open_file`] only (architecture section 8).

mod answer;
mod audio;
mod body;
mod cover;
mod lyrics;
mod names;
mod path;
mod root;
mod rows;
mod scan;
mod tags;
mod transcode;
mod walk;
mod words;

pub use answer::FolderSource;
pub use path::RelativePath;
pub use root::{OpenError, Root};
pub use scan::{Progress, ScanError, Scanned, Watch, scan, scan_in_background};
pub use transcode::Ffmpeg;
