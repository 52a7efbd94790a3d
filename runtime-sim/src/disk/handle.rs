//! One open file as SQLite sees it. Safe; `vfs` translates.

use super::Disk;
use super::locks::Level;
use super::shm::Region;
use super::state::{Key, Outcome, Refusal};
use std::ffi::c_void;
use std::sync::Arc;

/// How SQLite opens a file.
#[derive(Clone, Copy)]
pub(super) struct Mode {
    pub(super) create: bool,
    pub(super) delete_on_close: bool,
}

/// Closes its file when dropped.
pub(super) struct Handle {
    disk: Disk,
    key: Key,
    /// Its name, when the name goes with it.
    delete: Option<String>,
    /// Keeps mapped memory where it is until SQLite unmaps it, though the disk may have crashed meanwhile.
    regions: Vec<Arc<Region>>,
}

impl Handle {
    pub(super) fn open(path: &str, mode: Mode) -> Outcome<Self> {
        let (disk, name) = Disk::find(path).ok_or(Refusal::Missing)?;
        let key = disk.state().open(Some(name), mode.create)?;
        let delete = mode.delete_on_close.then(|| name.to_owned());
        Ok(Handle {
            disk,
            key,
            delete,
            regions: Vec::new(),
        })
    }

    /// A file without a name, on a disk of its own.
    pub(super) fn temporary() -> Outcome<Self> {
        let disk = Disk::new(super::Geometry::COMMON);
        let key = disk.state().open(None, true)?;
        Ok(Handle {
            disk,
            key,
            delete: None,
            regions: Vec::new(),
        })
    }

    pub(super) fn read(&self, at: usize, into: &mut [u8]) -> Outcome {
        self.disk.state().read(self.key, at, into)
    }

    pub(super) fn write(&self, at: usize, bytes: &[u8]) -> Outcome {
        self.disk.state().write(self.key, at, bytes)
    }

    pub(super) fn truncate(&self, len: usize) -> Outcome {
        self.disk.state().truncate(self.key, len)
    }

    pub(super) fn sync(&self) -> Outcome {
        self.disk.state().sync(self.key)
    }

    pub(super) fn len(&self) -> Outcome<usize> {
        self.disk.state().len(self.key)
    }

    pub(super) fn raise(&self, level: Level) -> Outcome {
        self.disk.state().raise(self.key, level)
    }

    pub(super) fn lower(&self, to: Option<Level>) {
        self.disk.state().lower(self.key, to);
    }

    pub(super) fn is_reserved(&self) -> Outcome<bool> {
        self.disk.state().is_reserved(self.key)
    }

    pub(super) fn geometry(&self) -> super::Geometry {
        self.disk.state().geometry
    }

    /// The address of region `index`; `None` when there is no such region and it was not to be made.
    pub(super) fn map(&mut self, index: usize, extend: bool) -> Outcome<Option<*mut c_void>> {
        let regions = self.disk.state().map(self.key, index + 1, extend)?;
        // A region once mapped is the same for as long as it is mapped, so none is taken away here.
        self.regions
            .extend(regions.into_iter().skip(self.regions.len()));
        Ok(self.regions.get(index).map(|region| region.address()))
    }

    pub(super) fn unmap(&mut self) {
        self.disk.state().unmap(self.key);
        self.regions.clear();
    }

    pub(super) fn share(&self, first: usize, count: usize) -> Outcome {
        let mut state = self.disk.state();
        let free = state
            .slots(self.key)?
            .share(self.key.handle(), first, count);
        free.then_some(()).ok_or(Refusal::Busy)
    }

    pub(super) fn take(&self, first: usize, count: usize) -> Outcome {
        let mut state = self.disk.state();
        let free = state.slots(self.key)?.take(self.key.handle(), first, count);
        free.then_some(()).ok_or(Refusal::Busy)
    }

    pub(super) fn give_back(&self, first: usize, count: usize) {
        // A dead file holds nothing that could be given back.
        if let Ok(slots) = self.disk.state().slots(self.key) {
            slots.give_back(self.key.handle(), first, count);
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let mut state = self.disk.state();
        if let Some(name) = &self.delete {
            // SQLite is not told whether it worked, on any system.
            let _ = state.delete(name, false);
        }
        state.close(self.key);
    }
}
