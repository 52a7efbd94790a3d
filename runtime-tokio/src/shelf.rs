//! Files beside the music on this machine: small, whole, and never out of a folder's root.
//!
//! Every name is resolved beneath the root by `cap-std`, so no symbolic link and no `..` leads out of it
//! (architecture section 8). The order of the steps, and what a crash leaves of them, is `segue_core::delivery`'s.

use crate::folder::RelativePath;
use bytes::Bytes;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, MetadataExt, OpenOptions, OpenOptionsExt};
use rustix::fs::{Gid, OFlags, RenameFlags, Uid};
use rustix::io::Errno;
use segue_core::io::{Digest, Place, SIDECAR_LIMIT, Seen, Shelf, ShelfError};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use tokio::task::spawn_blocking;

/// The roots below which files may be written, by instance.
pub type Roots = BTreeMap<String, PathBuf>;

/// The folders of this machine that may be written to. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct FolderShelf(Arc<RwLock<Roots>>);

impl FolderShelf {
    /// Writes below these roots.
    pub fn new(roots: Roots) -> Self {
        FolderShelf(Arc::new(RwLock::new(roots)))
    }

    /// Writes below these roots from now on, and nowhere else.
    pub fn set_roots(&self, roots: Roots) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = roots;
    }

    fn root(&self, at: &Place) -> Result<PathBuf, ShelfError> {
        let roots = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let root = roots.get(&at.source);
        root.cloned().ok_or(ShelfError::NotWritable)
    }

    /// Opens the folder of `at` and takes `step` there, on a thread where blocking is allowed.
    async fn within<T: Send + 'static>(
        &self,
        at: &Place,
        step: impl FnOnce(&Folder) -> Result<T, ShelfError> + Send + 'static,
    ) -> Result<T, ShelfError> {
        let root = self.root(at)?;
        let at = at.clone();
        let step = spawn_blocking(move || step(&Folder::open(&root, &at)?));
        step.await.unwrap_or(Err(ShelfError::Failed))
    }
}

/// One folder, open, and what else is needed to find names in it.
struct Folder {
    dir: Dir,
    /// Path of the folder below the root.
    path: RelativePath,
}

impl Folder {
    fn open(root: &Path, at: &Place) -> Result<Self, ShelfError> {
        let file = RelativePath::from_text(&at.path);
        if !file.is_beneath() {
            return Err(ShelfError::Outside);
        }
        let root = Dir::open_ambient_dir(root, ambient_authority()).map_err(judge)?;
        let path = file.parent();
        let dir = match path.as_path().as_os_str().is_empty() {
            true => root,
            false => root.open_dir(path.as_path()).map_err(judge)?,
        };
        Ok(Folder { dir, path })
    }

    /// The name of `at`, which lies in this folder.
    fn name(&self, at: &Place) -> Result<PathBuf, ShelfError> {
        let file = RelativePath::from_text(&at.path);
        if !file.is_beneath() || file.parent() != self.path {
            return Err(ShelfError::Outside);
        }
        let name: Option<&OsStr> = file.as_path().file_name();
        name.map(PathBuf::from).ok_or(ShelfError::Outside)
    }

    fn look(&self, at: &Place) -> Result<Seen, ShelfError> {
        let name = self.name(at)?;
        let metadata = match self.dir.symlink_metadata(&name) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Seen::Absent),
            Err(error) => return Err(judge(error)),
        };
        if !metadata.is_file() || metadata.len() > SIDECAR_LIMIT {
            return Ok(Seen::Other);
        }
        let mut options = OpenOptions::new();
        let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
        options.read(true).custom_flags(flags.bits().cast_signed());
        let file = match self.dir.open_with(&name, &options) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Seen::Absent),
            // A file that cannot be read is somebody else's: it is left alone.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(Seen::Other),
            Err(error) => return Err(judge(error)),
        };
        let mut bytes = Vec::new();
        let read = file.take(SIDECAR_LIMIT + 1).read_to_end(&mut bytes);
        read.map_err(judge)?;
        match bytes.len() as u64 > SIDECAR_LIMIT {
            true => Ok(Seen::Other),
            false => Ok(Seen::File(Digest::of(&bytes))),
        }
    }

    fn stage(&self, temp: &Place, like: &Place, bytes: &[u8]) -> Result<(), ShelfError> {
        // Symbolic links among the tracks are followed, beneath the root of the folder at least.
        let track = self.dir.metadata(self.name(like)?).map_err(judge)?;
        let name = self.name(temp)?;
        self.discard(temp)?;
        let mut options = OpenOptions::new();
        // The system takes from this what the process's mask forbids.
        let mode = track.mode() & 0o666;
        options.write(true).create_new(true).mode(mode);
        let mut file = self.dir.open_with(&name, &options).map_err(judge)?;
        own_like(&file, &track);
        file.write_all(bytes).map_err(judge)?;
        file.sync_all().map_err(judge)
    }

    fn create(&self, temp: &Place, target: &Place) -> Result<(), ShelfError> {
        let (from, to) = (self.name(temp)?, self.name(target)?);
        let (dir, flags) = (&self.dir, RenameFlags::NOREPLACE);
        match rustix::fs::renameat_with(dir, &from, dir, &to, flags) {
            Ok(()) => return Ok(()),
            Err(Errno::EXIST) => return Err(ShelfError::Changed),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            Err(error) => return Err(judge(error.into())),
        }
        // File systems of other houses do not know the above; most know a second name for a file.
        match dir.hard_link(&from, dir, &to) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(ShelfError::Changed),
            // Some know neither: then the name was free a moment ago, and that has to do.
            Err(_) if self.look(target)? == Seen::Absent => {
                dir.rename(&from, dir, &to).map_err(judge)
            }
            Err(_) => Err(ShelfError::Changed),
        }
    }

    fn replace(&self, temp: &Place, target: &Place, old: Digest) -> Result<(), ShelfError> {
        self.still(target, old)?;
        let (from, to) = (self.name(temp)?, self.name(target)?);
        self.dir.rename(from, &self.dir, to).map_err(judge)
    }

    fn remove(&self, at: &Place, only: Digest) -> Result<(), ShelfError> {
        self.still(at, only)?;
        self.dir.remove_file(self.name(at)?).map_err(judge)
    }

    fn still(&self, at: &Place, expected: Digest) -> Result<(), ShelfError> {
        match self.look(at)? {
            Seen::File(there) if there == expected => Ok(()),
            Seen::File(_) | Seen::Absent | Seen::Other => Err(ShelfError::Changed),
        }
    }

    fn discard(&self, temp: &Place) -> Result<(), ShelfError> {
        if !temp.is_temp() {
            return Err(ShelfError::Changed);
        }
        match self.dir.remove_file(self.name(temp)?) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(judge(error)),
        }
    }

    fn settle(&self) -> Result<(), ShelfError> {
        // The folder was opened as a mere path, which cannot be synced.
        let opened = self.dir.open(".").map_err(judge)?;
        match opened.sync_all() {
            Ok(()) => Ok(()),
            // Some network file systems sync names by themselves and refuse to be asked.
            Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
            Err(error) => Err(judge(error)),
        }
    }
}

/// The owner of the track owns its words too, where we may say so.
fn own_like(file: &cap_std::fs::File, track: &cap_std::fs::Metadata) {
    let (uid, gid) = (Uid::from_raw(track.uid()), Gid::from_raw(track.gid()));
    let given = rustix::fs::fchown(file, Some(uid), Some(gid));
    if given.is_err() {
        // Only root may give a file away; whoever is a member may still share it with the group.
        let _ = rustix::fs::fchown(file, None, Some(gid));
    }
}

fn judge(error: io::Error) -> ShelfError {
    match error.kind() {
        // Leaving the root is cap-std's own finding and has no number of the operating system's.
        ErrorKind::PermissionDenied if error.raw_os_error().is_none() => ShelfError::Outside,
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => ShelfError::ReadOnly,
        ErrorKind::NotFound | ErrorKind::NotADirectory => ShelfError::NotFound,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => ShelfError::Full,
        ErrorKind::InvalidFilename => ShelfError::NameTooLong,
        _ => ShelfError::Failed,
    }
}

impl Shelf for FolderShelf {
    async fn look(&self, at: &Place) -> Result<Seen, ShelfError> {
        let place = at.clone();
        self.within(at, move |folder| folder.look(&place)).await
    }

    async fn stage(&self, temp: &Place, like: &Place, bytes: Bytes) -> Result<(), ShelfError> {
        let (place, like) = (temp.clone(), like.clone());
        self.within(temp, move |folder| folder.stage(&place, &like, &bytes))
            .await
    }

    async fn create(&self, temp: &Place, target: &Place) -> Result<(), ShelfError> {
        let (from, to) = (temp.clone(), target.clone());
        self.within(temp, move |folder| folder.create(&from, &to))
            .await
    }

    async fn replace(&self, temp: &Place, target: &Place, old: Digest) -> Result<(), ShelfError> {
        let (from, to) = (temp.clone(), target.clone());
        self.within(temp, move |folder| folder.replace(&from, &to, old))
            .await
    }

    async fn remove(&self, at: &Place, only: Digest) -> Result<(), ShelfError> {
        let place = at.clone();
        self.within(at, move |folder| folder.remove(&place, only))
            .await
    }

    async fn discard(&self, temp: &Place) -> Result<(), ShelfError> {
        let place = temp.clone();
        self.within(temp, move |folder| folder.discard(&place))
            .await
    }

    async fn settle(&self, at: &Place) -> Result<(), ShelfError> {
        self.within(at, Folder::settle).await
    }
}
