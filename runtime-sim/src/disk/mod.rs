//! A disk below SQLite: in memory, with faults on command, forgetting at a crash what was not synced.
//!
//! SQLite reaches it as a VFS, so everything above is what runs in production: SQLite itself, its
//! write-ahead log, and the SQL and pragmas of `segue-sqlite`.
//!
//! ```
//! use segue_core::{io::StoreError, time::Wall};
//! use segue_runtime_sim::disk::{Disk, Geometry};
//! use segue_sqlite::NewUser;
//!
//! let disk = Disk::new(Geometry::COMMON);
//! let ann = NewUser { name: "ann".into(), password_enc: vec![], is_admin: false };
//! let db = disk.database()?;
//! db.writer()?.alone(|w| Ok::<_, StoreError>(w.add_user(&ann, Wall(1))?))?;
//! disk.crash(42); // by seed 42: every open file is dead, and what was not synced is kept, lost, torn or scrambled
//! assert!(disk.database()?.reader()?.user("ann")?.is_some());
//! # Ok::<(), segue_sqlite::Error>(())
//! ```
//!
//! No thread, no clock, no entropy, so it runs inside a simulation: the same calls with the same seeds leave the same
//! bytes, but for the salts of the write-ahead log, which are SQLite's own and process-wide (see [`seed_salts`]).

mod dice;
mod handle;
mod image;
mod locks;
mod shm;
mod state;
mod vfs;

pub use dice::Dice;
pub use vfs::seed_salts;

use segue_core::driver::lock;
use segue_sqlite::Db;
use state::{Cut, State};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// The name under which SQLite knows all simulated disks. Which of them is meant, the path says: see [`Disk::path`].
pub const VFS: &str = "segue-disk";

/// The hub's database on a disk.
const DATABASE: &str = "segue.db";

/// How a disk writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes that reach the platter together, or not. A power of two, 512 to 4096.
    pub sector: usize,
    /// Whether a crash in the middle of a write leaves the bytes before and after it alone, even in the same sector.
    /// SQLite assumes so on Unix.
    pub powersafe: bool,
}

impl Geometry {
    /// What SQLite takes for granted of a disk under Linux.
    pub const COMMON: Geometry = Geometry {
        sector: 4096,
        powersafe: true,
    };

    /// Small sectors, each of which may be lost with what it held before.
    pub const HARSH: Geometry = Geometry {
        sector: 512,
        powersafe: false,
    };
}

/// What SQLite asks of a disk and what can be made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// A file is opened or created.
    Open,
    /// Bytes are read.
    Read,
    /// Bytes are written. One that fails leaves its first half.
    Write,
    /// A file is cut.
    Truncate,
    /// What was written is made durable. After one that fails, what it was to make durable stays in doubt for good.
    Sync,
    /// A name is removed.
    Delete,
    /// Shared memory is mapped.
    Map,
}

impl Operation {
    /// All of them.
    pub const ALL: [Operation; 7] = [
        Operation::Open,
        Operation::Read,
        Operation::Write,
        Operation::Truncate,
        Operation::Sync,
        Operation::Delete,
        Operation::Map,
    ];
}

/// When an operation fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Failing {
    /// Not at all.
    #[default]
    Never,
    /// Once, when so many have gone well.
    Once {
        /// Calls before it.
        after: u64,
    },
    /// From now on.
    Always,
}

/// What was asked of a disk so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    made: [u64; Operation::ALL.len()],
    failed: [u64; Operation::ALL.len()],
    /// Steps at which the power may go, see [`Disk::cut_power_after`].
    pub changes: u64,
    /// Writes that found no room.
    pub full: u64,
    /// Bytes that were written.
    pub written: u64,
    /// Crashes so far.
    pub crashes: u64,
}

impl Counts {
    /// How often this was asked for, failures included, while there was power.
    pub fn made(&self, operation: Operation) -> u64 {
        self.made[operation as usize]
    }

    /// How often it was made to fail.
    pub fn failed(&self, operation: Operation) -> u64 {
        self.failed[operation as usize]
    }
}

/// A disk. Clones share it; it lives until the last of them and of the files open on it is gone.
#[derive(Clone)]
pub struct Disk {
    shared: Arc<Shared>,
}

struct Shared {
    number: u64,
    state: Mutex<State>,
}

/// Every disk alive, for SQLite, which knows a file by nothing but its path.
static DISKS: Mutex<BTreeMap<u64, Weak<Shared>>> = Mutex::new(BTreeMap::new());
static NUMBERS: AtomicU64 = AtomicU64::new(0);

impl Disk {
    /// An empty disk.
    ///
    /// # Panics
    /// When `geometry` has no disk's sectors, or SQLite refuses the VFS.
    pub fn new(geometry: Geometry) -> Self {
        let sector = geometry.sector;
        assert!(sector.is_power_of_two() && (512..=4096).contains(&sector));
        Self::holding(State::new(geometry))
    }

    fn holding(state: State) -> Self {
        vfs::register();
        let shared = Arc::new(Shared {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            state: Mutex::new(state),
        });
        lock(&DISKS).insert(shared.number, Arc::downgrade(&shared));
        Disk { shared }
    }

    /// Where SQLite finds the file `name` of this disk on the VFS [`VFS`].
    pub fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/{}/{name}", self.shared.number))
    }

    /// Opens or creates the hub's database on it.
    ///
    /// # Errors
    /// As [`Db::open_with_vfs`].
    pub fn database(&self) -> segue_sqlite::Result<Db> {
        Db::open_with_vfs(&self.path(DATABASE), VFS)
    }

    /// Another disk with the same files as they can be read now, all durable. It has no faults.
    pub fn copy(&self) -> Disk {
        let copied = self.state().copied();
        Self::holding(copied)
    }

    /// Makes an operation fail. What was said about it before no longer holds.
    pub fn fail(&self, operation: Operation, failing: Failing) {
        self.state().failing[operation as usize] = failing;
    }

    /// Gives the disk room for so many bytes in all files together; `None` is no limit.
    pub fn limit(&self, capacity: Option<u64>) {
        self.state().capacity = capacity;
    }

    /// Bytes in all its files.
    pub fn used(&self) -> u64 {
        self.state().used()
    }

    /// Takes back all faults that were ordered and have not come yet.
    pub fn heal(&self) {
        self.state().heal();
    }

    /// Lets so many changes (files created, bytes written, lengths cut, syncs, names removed) go well and cuts the power at
    /// the next one. From then on nothing works until [`Disk::crash`].
    pub fn cut_power_after(&self, changes: u64) {
        self.state().cut = Some(Cut {
            at: None,
            after: changes,
        });
    }

    /// Cuts the power at the next sync but `syncs`: the moment at which a commit is most likely to be found whole, or not
    /// at all.
    pub fn cut_power_after_syncs(&self, syncs: u64) {
        self.state().cut = Some(Cut {
            at: Some(Operation::Sync),
            after: syncs,
        });
    }

    /// Whether the power is gone.
    pub fn is_off(&self) -> bool {
        self.state().off
    }

    /// A crash, now or when the power was cut, and the power is back. Every file that was open is dead. Of what was not
    /// synced, `seed` decides sector by sector whether it is kept, lost, torn or scrambled; names come back or go in the
    /// order in which they were changed, up to some point.
    pub fn crash(&self, seed: u64) {
        self.state().crash(&mut Dice::new(seed));
    }

    /// The process that has files open is killed, now or at the change at which the power was to be cut: they are dead, and
    /// what it wrote stays, synced or not. Kill it on its disk
    /// first and its tasks afterwards, or they would close their connections in good order; the same goes for a crash.
    pub fn kill(&self) {
        self.state().kill();
    }

    /// Forgets everything on it; files that are open are dead. For the end of a simulation: `madsim` keeps what nodes were
    /// made of for ever, and with it their disk, which is most of what a simulation needs of memory.
    pub fn scrap(&self) {
        self.state().scrap();
    }

    /// What a crash would leave, as another disk; this one goes on.
    pub fn crashed(&self, seed: u64) -> Disk {
        let mut left = self.state().forked();
        left.crash(&mut Dice::new(seed));
        Self::holding(left)
    }

    /// What was asked of it so far.
    pub fn counts(&self) -> Counts {
        self.state().counts
    }

    /// Files that are open, dead ones not counted.
    pub fn open_files(&self) -> usize {
        self.state().open_files()
    }

    /// The bytes of every file as they can be read now, by name.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        self.state().contents()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.shared.state)
    }

    /// The disk and the file that a path means.
    fn find(path: &str) -> Option<(Disk, &str)> {
        let (number, name) = path.strip_prefix('/')?.split_once('/')?;
        let shared = lock(&DISKS).get(&number.parse().ok()?)?.upgrade()?;
        Some((Disk { shared }, name))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        lock(&DISKS).remove(&self.number);
    }
}
