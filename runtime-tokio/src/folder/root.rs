//! The root of a music folder, and opening beneath it.

use super::path::RelativePath;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Why a file of a folder could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder itself is not there; a disk that is not mounted looks like this.
    #[error("the music folder {0} cannot be opened: {1}")]
    NoRoot(PathBuf, #[source] io::Error),
    /// The path leads out of the folder, by `..` or by a symbolic link.
    #[error("the path leads out of the music folder")]
    Outside,
    /// No such file, or not a regular file.
    #[error("no such file in the music folder")]
    Missing,
    /// The file is there and cannot be read.
    #[error("the file cannot be read: {0}")]
    Unreadable(#[source] io::Error),
}

/// A folder opened for reading. Everything opened through it lies beneath it (architecture section 8).
#[derive(Debug)]
pub struct Root(Dir);

impl Root {
    /// Opens the folder at `path`.
    ///
    /// # Errors
    /// [`OpenError::NoRoot`] when it is missing, not a folder, or not readable.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Dir::open_ambient_dir(path, ambient_authority())
            .map(Self)
            .map_err(|error| OpenError::NoRoot(path.to_owned(), error))
    }

    /// Opens a regular file beneath the root. Symbolic links are followed as long as they stay beneath it.
    ///
    /// # Errors
    /// All of [`OpenError`] but `NoRoot`.
    pub fn open_file(&self, path: &RelativePath) -> Result<(File, Metadata), OpenError> {
        if !path.is_beneath() {
            return Err(OpenError::Outside);
        }
        let mut options = OpenOptions::new();
        // A named pipe would otherwise block the thread until somebody writes to it.
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits();
        options.read(true).custom_flags(nonblocking.cast_signed());
        let file = self
            .0
            .open_with(path.as_path(), &options)
            .map_err(judge)?
            .into_std();
        let metadata = file.metadata().map_err(judge)?;
        if metadata.is_file() {
            Ok((file, metadata))
        } else {
            Err(OpenError::Missing)
        }
    }

    /// Whether a path, symbolic links followed, stays beneath the root and leads somewhere.
    pub(super) fn leads_inside(&self, path: &RelativePath) -> bool {
        path.is_beneath() && self.0.metadata(path.as_path()).is_ok()
    }
}

fn judge(error: io::Error) -> OpenError {
    match error.kind() {
        // Leaving the root is cap-std's own finding and has no number of the operating system's.
        ErrorKind::PermissionDenied if error.raw_os_error().is_none() => OpenError::Outside,
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename => {
            OpenError::Missing
        }
        _ => OpenError::Unreadable(error),
    }
}
