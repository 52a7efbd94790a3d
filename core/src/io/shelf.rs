//! Small files beside the music: what a runtime provides to write lyrics onto a source's own shelf.
//!
//! Each call is one step that a crash may come after; in which order they follow one another is decided in
//! [`crate::delivery`] (contracts section 6).

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::future::Future;

/// The largest file that is looked into, in bytes. A larger one is no sidecar of ours.
pub const SIDECAR_LIMIT: u64 = 4 * 1024 * 1024;

/// How the names of unfinished files begin: hidden, and without a suffix that scanners pick up.
pub const TEMP_PREFIX: &str = ".segue-";

/// A name in a source's folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The source's instance id.
    pub source: String,
    /// Path below its root, in the text form that the library has: bytes that cannot be read as text are escaped as
    /// `%XX`, and a `%` as `%25`.
    pub path: String,
}

impl Place {
    /// `path` in `source`.
    pub fn new(source: impl Into<String>, path: impl Into<String>) -> Self {
        Place {
            source: source.into(),
            path: path.into(),
        }
    }

    /// The folder it lies in; empty for the root itself.
    pub fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Its last component.
    pub fn name(&self) -> &str {
        self.path.rsplit_once('/').map_or(&self.path, |(_, n)| n)
    }

    /// Another name in the same folder.
    #[must_use]
    pub fn beside(&self, name: &str) -> Place {
        let path = match self.folder() {
            "" => name.to_owned(),
            folder => format!("{folder}/{name}"),
        };
        Place::new(self.source.clone(), path)
    }

    /// Whether the name is one of an unfinished file.
    pub fn is_temp(&self) -> bool {
        self.name().starts_with(TEMP_PREFIX)
    }
}

/// The SHA-256 of a file's bytes: how one that we wrote is known again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Digest(Sha256::digest(bytes).into())
    }

    /// From its hexadecimal form.
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).ok()?;
        Some(Digest(bytes))
    }

    /// In hexadecimal.
    pub fn to_hex(self) -> String {
        hex::encode(self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0[..6]))
    }
}

/// What lies at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seen {
    /// Nothing.
    Absent,
    /// A file with these bytes.
    File(Digest),
    /// A link, a folder, or a file that is larger than [`SIDECAR_LIMIT`].
    Other,
}

/// Why a step was not taken. Each is one sentence for the operator, and names no path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum ShelfError {
    /// The source is no folder, or nothing may be written beside its music.
    #[error("nothing may be written beside the music of this source")]
    NotWritable,
    /// The place is not beneath the source's root.
    #[error("the place leads out of the music folder")]
    Outside,
    /// The folder, or the track beside which to write, is not there.
    #[error("the track is not where the library has it")]
    NotFound,
    /// What is there is not what was expected there.
    #[error("the file was changed by somebody else meanwhile")]
    Changed,
    /// The disk or the folder is read-only, or belongs to somebody else.
    #[error("the music folder may not be written to")]
    ReadOnly,
    /// No room.
    #[error("the disk is full")]
    Full,
    /// The name is longer than the file system takes.
    #[error("the file name is too long for the disk")]
    NameTooLong,
    /// Anything else that a disk can do.
    #[error("the disk failed")]
    Failed,
}

/// Files beside the music, beneath each source's root and never out of it. Only sources whose configuration says that
/// sidecars may be written are there at all; for all others every call is [`ShelfError::NotWritable`].
pub trait Shelf: Clone + Send + Sync + 'static {
    /// What lies at `at`. A missing folder is [`ShelfError::NotFound`].
    fn look(&self, at: &Place) -> impl Future<Output = Result<Seen, ShelfError>> + Send;

    /// Makes the new file `temp` with `bytes`, in the place of one that was left there, with permissions like those of
    /// `like`, the track, as far as the process's own mask allows. Its bytes are durable when this ends; its name
    /// may not be.
    fn stage(
        &self,
        temp: &Place,
        like: &Place,
        bytes: Bytes,
    ) -> impl Future<Output = Result<(), ShelfError>> + Send;

    /// Gives `temp` the name `target`, which nothing has: [`ShelfError::Changed`] otherwise. `temp` may be left as a
    /// second name of the same file.
    fn create(
        &self,
        temp: &Place,
        target: &Place,
    ) -> impl Future<Output = Result<(), ShelfError>> + Send;

    /// Gives `temp` the name `target` in the place of the file with the bytes `old`: [`ShelfError::Changed`] when it
    /// has others.
    fn replace(
        &self,
        temp: &Place,
        target: &Place,
        old: Digest,
    ) -> impl Future<Output = Result<(), ShelfError>> + Send;

    /// Removes the file at `at` if its bytes are `only`: [`ShelfError::Changed`] otherwise.
    fn remove(
        &self,
        at: &Place,
        only: Digest,
    ) -> impl Future<Output = Result<(), ShelfError>> + Send;

    /// Removes an unfinished file; one that is not there is no error. What is not named as one is left alone.
    fn discard(&self, temp: &Place) -> impl Future<Output = Result<(), ShelfError>> + Send;

    /// Makes the names in the folder of `at` durable, as they are now.
    fn settle(&self, at: &Place) -> impl Future<Output = Result<(), ShelfError>> + Send;
}

/// A shelf on which nothing may be written, for a runtime without folders.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoShelf;

impl Shelf for NoShelf {
    async fn look(&self, _: &Place) -> Result<Seen, ShelfError> {
        Err(ShelfError::NotWritable)
    }

    async fn stage(&self, _: &Place, _: &Place, _: Bytes) -> Result<(), ShelfError> {
        Err(ShelfError::NotWritable)
    }

    async fn create(&self, _: &Place, _: &Place) -> Result<(), ShelfError> {
        Err(ShelfError::NotWritable)
    }

    async fn replace(&self, _: &Place, _: &Place, _: Digest) -> Result<(), ShelfError> {
        Err(ShelfError::NotWritable)
    }

    async fn remove(&self, _: &Place, _: Digest) -> Result<(), ShelfError> {
        Err(ShelfError::NotWritable)
    }

    async fn discard(&self, _: &Place) -> Result<(), ShelfError> {
        Err(ShelfError::NotWritable)
    }

    async fn settle(&self, _: &Place) -> Result<(), ShelfError> {
        Err(ShelfError::NotWritable)
    }
}
