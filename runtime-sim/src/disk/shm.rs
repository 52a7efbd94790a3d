//! Memory that the connections to one database share: SQLite keeps the index of its write-ahead log there.
#![allow(
    unsafe_code,
    reason = "SQLite reads and writes this memory through a pointer"
)]

use std::cell::UnsafeCell;
use std::ffi::c_void;

/// Bytes of a region. SQLite asks for no other size.
pub(super) const REGION_BYTES: usize = 32 * 1024;

/// One region, zeroed at first. Its address holds as long as it lives: every handle that mapped it keeps it alive.
pub(super) struct Region(Box<[UnsafeCell<u64>]>);

impl Default for Region {
    fn default() -> Self {
        let words = REGION_BYTES / size_of::<u64>();
        Region((0..words).map(|_| UnsafeCell::new(0)).collect())
    }
}

impl Region {
    /// Where it is, aligned for eight bytes.
    pub(super) fn address(&self) -> *mut c_void {
        UnsafeCell::raw_get(self.0.as_ptr()).cast()
    }
}

// SAFETY: `Region` owns plain memory without thread affinity.
unsafe impl Send for Region {}

// SAFETY: through a shared `Region` nothing can be done but ask for its address, so Rust never reads or writes the memory
// after it was made, and cannot race with anybody. SQLite's accesses from several threads are ordered by its own
// protocol: the locks of xShmLock, which go through the disk's mutex, and xShmBarrier.
unsafe impl Sync for Region {}
