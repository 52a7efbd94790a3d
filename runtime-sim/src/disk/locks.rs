//! Who may touch a file: the five levels of a database file and the eight locks of its shared memory.
//!
//! As SQLite's own VFS for Unix has them; see "File Locking" and "WAL-mode File Format" in its documentation.

use std::collections::{BTreeMap, BTreeSet};

/// How far a connection holds a database file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Shared,
    Reserved,
    /// On the way to exclusive: no new readers.
    Pending,
    Exclusive,
}

/// The levels of one file, by handle.
#[derive(Default)]
pub(super) struct Levels(BTreeMap<u64, Level>);

impl Levels {
    /// Raises `handle` to `wanted`; `false` when another one is in the way.
    pub(super) fn raise(&mut self, handle: u64, wanted: Level) -> bool {
        if self.0.get(&handle).is_some_and(|level| *level >= wanted) {
            return true;
        }
        match wanted {
            Level::Shared if self.others(handle, Level::Pending) => return false,
            Level::Reserved | Level::Pending if self.others(handle, Level::Reserved) => {
                return false;
            }
            Level::Exclusive if self.others(handle, Level::Reserved) => return false,
            Level::Exclusive if self.others(handle, Level::Shared) => {
                self.0.insert(handle, Level::Pending);
                return false;
            }
            Level::Shared | Level::Reserved | Level::Pending | Level::Exclusive => {}
        }
        self.0.insert(handle, wanted);
        true
    }

    /// Lowers `handle` to shared.
    pub(super) fn share(&mut self, handle: u64) {
        if let Some(level) = self.0.get_mut(&handle) {
            *level = Level::Shared;
        }
    }

    /// Takes `handle` off the file.
    pub(super) fn release(&mut self, handle: u64) {
        self.0.remove(&handle);
    }

    /// Whether anybody means to write.
    pub(super) fn is_reserved(&self) -> bool {
        self.0.values().any(|level| *level >= Level::Reserved)
    }

    fn others(&self, handle: u64, at_least: Level) -> bool {
        self.0
            .iter()
            .any(|(other, level)| *other != handle && *level >= at_least)
    }
}

/// Locks of the shared memory: WAL mode has eight.
const LOCKS: usize = 8;

/// The shared-memory locks of one file.
#[derive(Default)]
pub(super) struct Slots([Slot; LOCKS]);

#[derive(Default)]
struct Slot {
    exclusive: Option<u64>,
    shared: BTreeSet<u64>,
}

impl Slots {
    /// Shares `count` locks from `first` on, all or none.
    pub(super) fn share(&mut self, handle: u64, first: usize, count: usize) -> bool {
        let slots = self.range(first, count);
        if slots
            .iter()
            .any(|slot| slot.exclusive.is_some_and(|holder| holder != handle))
        {
            return false;
        }
        for slot in slots {
            slot.shared.insert(handle);
        }
        true
    }

    /// Takes `count` locks from `first` on, all or none.
    pub(super) fn take(&mut self, handle: u64, first: usize, count: usize) -> bool {
        let slots = self.range(first, count);
        let free = |slot: &Slot| {
            slot.exclusive.is_none_or(|holder| holder == handle)
                && slot.shared.iter().all(|holder| *holder == handle)
        };
        if !slots.iter().all(free) {
            return false;
        }
        for slot in slots {
            slot.exclusive = Some(handle);
        }
        true
    }

    /// Gives `count` locks from `first` on back.
    pub(super) fn give_back(&mut self, handle: u64, first: usize, count: usize) {
        for slot in self.range(first, count) {
            slot.shared.remove(&handle);
            slot.exclusive = slot.exclusive.filter(|holder| *holder != handle);
        }
    }

    /// Gives back all that `handle` has.
    pub(super) fn release(&mut self, handle: u64) {
        self.give_back(handle, 0, LOCKS);
    }

    fn range(&mut self, first: usize, count: usize) -> &mut [Slot] {
        let end = first.saturating_add(count).min(LOCKS);
        &mut self.0[first.min(end)..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_share_and_one_of_them_may_prepare_to_write() {
        let mut levels = Levels::default();
        assert!(levels.raise(1, Level::Shared) && levels.raise(2, Level::Shared));
        assert!(levels.raise(1, Level::Reserved) && levels.is_reserved());
        assert!(!levels.raise(2, Level::Reserved));
        assert!(
            levels.raise(3, Level::Shared),
            "a reservation stops no reader"
        );
    }

    #[test]
    fn a_writer_waits_for_readers_and_lets_no_new_one_in() {
        let mut levels = Levels::default();
        assert!(levels.raise(1, Level::Shared) && levels.raise(2, Level::Shared));
        assert!(levels.raise(1, Level::Reserved));
        assert!(!levels.raise(1, Level::Exclusive));
        assert!(!levels.raise(3, Level::Shared), "pending");
        levels.release(2);
        assert!(levels.raise(1, Level::Exclusive));
        levels.share(1);
        assert!(levels.raise(3, Level::Shared) && !levels.is_reserved());
    }

    #[test]
    fn shared_memory_locks_are_taken_all_or_none() {
        let mut slots = Slots::default();
        assert!(slots.share(1, 3, 1) && slots.share(2, 3, 1));
        assert!(!slots.take(1, 2, 3), "2 shares the middle one");
        assert!(slots.take(3, 2, 1), "and nothing of it was taken");
        slots.release(2);
        slots.give_back(3, 2, 1);
        assert!(slots.take(1, 2, 3), "its own share is not in the way");
        assert!(!slots.share(2, 4, 1));
    }
}
