//! The hub's ports in the real world: the key file, music folders, the picture shelf.

use crate::hub::{Folders, Passwords, Pictures};
use bytes::Bytes;
use segue_core::catalog::model::Pass;
use segue_runtime_tokio::art::{self, Cache};
use segue_runtime_tokio::folder::{Progress, Watch, scan};
use segue_runtime_tokio::secrets::KeyFile;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// What a sealed password is sealed for: one moved to another use does not open there.
const PURPOSE: &str = "user password";

/// Passwords under the key file.
pub struct SealedPasswords(KeyFile);

impl SealedPasswords {
    /// Uses `key`.
    pub fn new(key: KeyFile) -> Self {
        SealedPasswords(key)
    }
}

impl Passwords for SealedPasswords {
    fn open(&self, sealed: &[u8]) -> Option<String> {
        let clear = self.0.unseal(sealed, PURPOSE).ok()?;
        String::from_utf8(clear).ok()
    }

    fn seal(&self, clear: &str) -> Result<Vec<u8>, String> {
        let sealed = self.0.seal(clear.as_bytes(), PURPOSE);
        sealed.map_err(|error| error.to_string())
    }
}

/// Folders of this machine.
#[derive(Debug, Default)]
pub struct LocalFolders {
    /// Set when the process ends, so that a long pass ends too.
    cancelled: AtomicBool,
}

impl Folders for LocalFolders {
    fn scan(&self, root: &Path, previous: &Pass, progress: &dyn Fn(usize)) -> Result<Pass, String> {
        let watch = Watch {
            cancelled: &self.cancelled,
            progress: &|at: Progress| progress(at.found - at.to_read + at.read),
        };
        match scan(root, previous, watch) {
            Ok(scanned) => Ok(scanned.pass),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Pictures on disk, bounded.
pub struct PictureShelf(Cache);

impl PictureShelf {
    /// Keeps them in `cache`.
    pub fn new(cache: Cache) -> Self {
        PictureShelf(cache)
    }
}

impl Pictures for PictureShelf {
    fn kept(&self, key: &str) -> Option<(Bytes, String)> {
        let (bytes, content_type) = self.0.get(key)?;
        Some((bytes, content_type.to_owned()))
    }

    fn keep(&self, key: &str, picture: &Bytes) {
        if let Err(error) = self.0.put(key, picture) {
            tracing::warn!(%error, "a picture could not be kept");
        }
    }

    fn media_type(&self, picture: &Bytes) -> Option<String> {
        art::sniff(picture).map(str::to_owned)
    }

    fn scale(&self, picture: &Bytes, size: u32) -> Option<(Bytes, String)> {
        let (bytes, content_type) = art::resize(picture, size).ok()?;
        Some((bytes, content_type.to_owned()))
    }
}
