//! A disk's files and names, what is ordered to fail, and what a crash does to them.

use super::dice::Dice;
use super::image::{Image, Mood};
use super::locks::{Level, Levels, Slots};
use super::shm::Region;
use super::{Counts, Failing, Geometry, Operation};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Why SQLite did not get what it asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// On command, for want of power, or because the file was open when the disk crashed.
    Failed(Operation),
    /// There is no room.
    Full,
    /// Another handle is in the way.
    Busy,
    /// There is no such file.
    Missing,
    /// The file ends before that.
    Short,
}

pub(super) type Outcome<T = ()> = Result<T, Refusal>;

type FileId = u64;

/// An open file, and the life of the disk in which it was opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    life: u64,
    file: FileId,
    handle: u64,
}

impl Key {
    /// Unlike any other open file's, on this disk.
    pub(super) fn handle(self) -> u64 {
        self.handle
    }
}

#[derive(Default)]
struct File {
    image: Image,
    handles: BTreeSet<u64>,
    levels: Levels,
    /// Not on the disk: gone when the last of `mapped` is.
    regions: Vec<Arc<Region>>,
    mapped: BTreeSet<u64>,
    slots: Slots,
}

impl File {
    fn holding(image: Image) -> Self {
        File {
            image,
            ..File::default()
        }
    }
}

/// A change of the folder that is not durable yet.
#[derive(Clone)]
enum Naming {
    Link(String, FileId),
    Unlink(String),
}

/// When the power goes.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    /// At such a change; at any if there is none.
    pub(super) at: Option<Operation>,
    /// How many of them go well before.
    pub(super) after: u64,
}

/// See the module.
pub(super) struct State {
    pub(super) geometry: Geometry,
    pub(super) failing: [Failing; Operation::ALL.len()],
    pub(super) capacity: Option<u64>,
    pub(super) cut: Option<Cut>,
    pub(super) off: bool,
    pub(super) counts: Counts,
    files: BTreeMap<FileId, File>,
    names: BTreeMap<String, FileId>,
    durable_names: BTreeMap<String, FileId>,
    /// What was done to the names since, oldest first. A file system keeps that order.
    namings: Vec<Naming>,
    next: u64,
    life: u64,
}

impl State {
    pub(super) fn new(geometry: Geometry) -> Self {
        State {
            geometry,
            failing: Default::default(),
            capacity: None,
            cut: None,
            off: false,
            counts: Counts::default(),
            files: BTreeMap::new(),
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            namings: Vec::new(),
            next: 0,
            life: 0,
        }
    }

    /// Opens a file, or creates it if `create`. Without a name it is a new one that nobody else will find.
    pub(super) fn open(&mut self, name: Option<&str>, create: bool) -> Outcome<Key> {
        self.begin(Operation::Open)?;
        let known = name.and_then(|name| self.names.get(name)).copied();
        let file = match known {
            Some(file) => file,
            None if create => {
                let file = self.number();
                self.files.insert(file, File::default());
                if let Some(name) = name {
                    self.names.insert(name.to_owned(), file);
                    self.namings.push(Naming::Link(name.to_owned(), file));
                    self.step(Operation::Open)?;
                }
                file
            }
            None => return Err(Refusal::Missing),
        };
        let handle = self.number();
        if let Some(file) = self.files.get_mut(&file) {
            file.handles.insert(handle);
        }
        Ok(Key {
            life: self.life,
            file,
            handle,
        })
    }

    /// Closes a file and gives all its locks back.
    pub(super) fn close(&mut self, key: Key) {
        if let Ok(file) = self.file(key, Operation::Open) {
            file.levels.release(key.handle);
            file.slots.release(key.handle);
            file.handles.remove(&key.handle);
        }
        self.unmap(key);
        self.forget(key.file);
    }

    pub(super) fn read(&mut self, key: Key, at: usize, into: &mut [u8]) -> Outcome {
        self.begin(Operation::Read)?;
        let count = self.file(key, Operation::Read)?.image.read(at, into);
        if count < into.len() {
            return Err(Refusal::Short);
        }
        Ok(())
    }

    pub(super) fn write(&mut self, key: Key, at: usize, bytes: &[u8]) -> Outcome {
        let begun = self.begin(Operation::Write);
        let mut count = match begun {
            Ok(()) => bytes.len(),
            Err(_) if self.off => 0,
            Err(_) => bytes.len() / 2,
        };
        let room = self.capacity.map(|bytes| bytes.saturating_sub(self.used()));
        let file = self.file(key, Operation::Write)?;
        if let Some(room) = room {
            let within = file.image.live().len().saturating_sub(at);
            count = count.min(within.saturating_add(usize::try_from(room).unwrap_or(usize::MAX)));
        }
        file.image.write(at, &bytes[..count]);
        self.counts.written += count as u64;
        begun?;
        if count < bytes.len() {
            self.counts.full += 1;
            return Err(Refusal::Full);
        }
        self.step(Operation::Write)
    }

    pub(super) fn truncate(&mut self, key: Key, len: usize) -> Outcome {
        self.begin(Operation::Truncate)?;
        self.file(key, Operation::Truncate)?.image.resize(len);
        self.step(Operation::Truncate)
    }

    pub(super) fn sync(&mut self, key: Key) -> Outcome {
        let sector = self.geometry.sector;
        let begun = self.begin(Operation::Sync).and_then(|()| {
            // When the power goes now, nothing has been made durable yet.
            self.step(Operation::Sync)
        });
        let failed = begun.is_err() && !self.off;
        let image = &mut self.file(key, Operation::Sync)?.image;
        if failed {
            image.doubt();
        }
        begun?;
        image.sync(sector);
        // A file system that has the file has its name, and what was done to names before.
        let linked = |naming: &Naming| matches!(naming, Naming::Link(_, file) if *file == key.file);
        if let Some(last) = self.namings.iter().rposition(linked) {
            self.settle_names(last + 1);
        }
        Ok(())
    }

    pub(super) fn len(&mut self, key: Key) -> Outcome<usize> {
        Ok(self.file(key, Operation::Read)?.image.live().len())
    }

    /// Removes a name, durably if `durable`.
    pub(super) fn delete(&mut self, name: &str, durable: bool) -> Outcome {
        self.begin(Operation::Delete)?;
        let file = self.names.remove(name).ok_or(Refusal::Missing)?;
        self.namings.push(Naming::Unlink(name.to_owned()));
        self.step(Operation::Delete)?;
        if durable {
            self.settle_names(self.namings.len());
        }
        self.forget(file);
        Ok(())
    }

    /// Whether there is such a file. An empty one counts as none, as on Unix.
    pub(super) fn exists(&self, name: &str) -> bool {
        let file = self.names.get(name).and_then(|file| self.files.get(file));
        file.is_some_and(|file| !file.image.live().is_empty())
    }

    pub(super) fn raise(&mut self, key: Key, level: Level) -> Outcome {
        let file = self.file(key, Operation::Read)?;
        busy_unless(file.levels.raise(key.handle, level))
    }

    /// Lowers to shared, or to nothing. It always succeeds: a dead file holds nothing.
    pub(super) fn lower(&mut self, key: Key, to: Option<Level>) {
        if let Ok(file) = self.file(key, Operation::Read) {
            match to {
                Some(_) => file.levels.share(key.handle),
                None => file.levels.release(key.handle),
            }
        }
    }

    pub(super) fn is_reserved(&mut self, key: Key) -> Outcome<bool> {
        Ok(self.file(key, Operation::Read)?.levels.is_reserved())
    }

    /// The first `count` regions of the file's shared memory; fewer when there are fewer and `extend` is not set.
    pub(super) fn map(
        &mut self,
        key: Key,
        count: usize,
        extend: bool,
    ) -> Outcome<Vec<Arc<Region>>> {
        self.begin(Operation::Map)?;
        let file = self.file(key, Operation::Map)?;
        if extend && file.regions.len() < count {
            file.regions.resize_with(count, Arc::default);
        }
        file.mapped.insert(key.handle);
        Ok(file.regions.iter().take(count).cloned().collect())
    }

    pub(super) fn unmap(&mut self, key: Key) {
        if let Ok(file) = self.file(key, Operation::Map) {
            file.slots.release(key.handle);
            file.mapped.remove(&key.handle);
            if file.mapped.is_empty() {
                file.regions.clear();
            }
        }
    }

    /// The shared-memory locks of a file.
    pub(super) fn slots(&mut self, key: Key) -> Outcome<&mut Slots> {
        Ok(&mut self.file(key, Operation::Map)?.slots)
    }

    pub(super) fn used(&self) -> u64 {
        let linked = self.names.values().filter_map(|file| self.files.get(file));
        linked.map(|file| file.image.live().len() as u64).sum()
    }

    pub(super) fn open_files(&self) -> usize {
        self.files.values().map(|file| file.handles.len()).sum()
    }

    pub(super) fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        self.linked(&self.names)
            .map(|(name, image)| (name.clone(), image.live().to_vec()))
            .collect()
    }

    pub(super) fn heal(&mut self) {
        self.failing = Default::default();
        self.capacity = None;
        self.cut = None;
    }

    /// The same files, all of them durable.
    pub(super) fn copied(&self) -> State {
        let mut copy = State::new(self.geometry);
        for (name, image) in self.linked(&self.names) {
            copy.add(name, Image::durable(image.live().to_vec()));
        }
        copy
    }

    /// The same files in the same doubt, none of them open.
    pub(super) fn forked(&self) -> State {
        State {
            files: self
                .files
                .iter()
                .map(|(id, file)| (*id, File::holding(file.image.clone())))
                .collect(),
            names: self.names.clone(),
            durable_names: self.durable_names.clone(),
            namings: self.namings.clone(),
            next: self.next,
            ..State::new(self.geometry)
        }
    }

    /// See [`Disk::kill`](super::Disk::kill).
    pub(super) fn kill(&mut self) {
        self.life += 1;
        self.off = false;
        self.cut = None;
        let files = std::mem::take(&mut self.files);
        self.files = files
            .into_iter()
            .map(|(id, file)| (id, File::holding(file.image)))
            .collect();
        for file in self.files.keys().copied().collect::<Vec<_>>() {
            self.forget(file);
        }
    }

    /// See [`Disk::scrap`](super::Disk::scrap).
    pub(super) fn scrap(&mut self) {
        *self = State {
            next: self.next,
            life: self.life + 1,
            ..State::new(self.geometry)
        };
    }

    /// See [`Disk::crash`](super::Disk::crash).
    pub(super) fn crash(&mut self, dice: &mut Dice) {
        let reached = dice.below(self.namings.len() as u64 + 1);
        self.settle_names(usize::try_from(reached).unwrap_or(usize::MAX));
        let mood = Mood::of(dice);
        let names = std::mem::take(&mut self.durable_names);
        let found: Vec<_> = self
            .linked(&names)
            .map(|(name, image)| (name.clone(), image.crashed(self.geometry, &mood, dice)))
            .collect();
        self.files.clear();
        self.names.clear();
        self.namings.clear();
        for (name, bytes) in found {
            self.add(&name, Image::durable(bytes));
        }
        self.life += 1;
        self.off = false;
        self.cut = None;
        self.counts.crashes += 1;
    }

    fn add(&mut self, name: &str, image: Image) {
        let file = self.number();
        self.files.insert(file, File::holding(image));
        self.names.insert(name.to_owned(), file);
        self.durable_names.insert(name.to_owned(), file);
    }

    fn linked<'s>(
        &'s self,
        names: &'s BTreeMap<String, FileId>,
    ) -> impl Iterator<Item = (&'s String, &'s Image)> {
        names
            .iter()
            .filter_map(|(name, file)| Some((name, &self.files.get(file)?.image)))
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// The file behind a handle, unless the handle is dead or the power is gone.
    fn file(&mut self, key: Key, operation: Operation) -> Outcome<&mut File> {
        let file = self.files.get_mut(&key.file);
        file.filter(|_| key.life == self.life && !self.off)
            .ok_or(Refusal::Failed(operation))
    }

    /// Counts an operation; an error when it is to fail.
    fn begin(&mut self, operation: Operation) -> Outcome {
        if self.off {
            return Err(Refusal::Failed(operation));
        }
        self.counts.made[operation as usize] += 1;
        let failing = &mut self.failing[operation as usize];
        let fails = match failing {
            Failing::Never => false,
            Failing::Always => true,
            Failing::Once { after: 0 } => {
                *failing = Failing::Never;
                true
            }
            Failing::Once { after } => {
                *after -= 1;
                false
            }
        };
        if fails {
            self.counts.failed[operation as usize] += 1;
            return Err(Refusal::Failed(operation));
        }
        Ok(())
    }

    /// A change was made, or in a sync's case is about to be: the power may go.
    fn step(&mut self, operation: Operation) -> Outcome {
        self.counts.changes += 1;
        match &mut self.cut {
            Some(cut) if cut.at.is_some_and(|at| at != operation) => Ok(()),
            Some(Cut { after: 0, .. }) => {
                self.off = true;
                Err(Refusal::Failed(operation))
            }
            Some(cut) => {
                cut.after -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Makes the oldest `count` changes of names durable.
    fn settle_names(&mut self, count: usize) {
        let count = count.min(self.namings.len());
        for naming in self.namings.drain(..count) {
            match naming {
                Naming::Link(name, file) => self.durable_names.insert(name, file),
                Naming::Unlink(name) => self.durable_names.remove(&name),
            };
        }
    }

    /// Frees a file that has no name, durable or not, and that nobody has open.
    fn forget(&mut self, file: FileId) {
        let named = |names: &BTreeMap<String, FileId>| names.values().any(|named| *named == file);
        let pending =
            |naming: &Naming| matches!(naming, Naming::Link(_, linked) if *linked == file);
        let open = |found: &File| !found.handles.is_empty();
        if !self.files.get(&file).is_some_and(open)
            && !named(&self.names)
            && !named(&self.durable_names)
            && !self.namings.iter().any(pending)
        {
            self.files.remove(&file);
        }
    }
}

fn busy_unless(free: bool) -> Outcome {
    if free { Ok(()) } else { Err(Refusal::Busy) }
}
