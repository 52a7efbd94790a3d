//! One folder of a disk that forgets at a crash what was not synced: any part of it.

use segue_core::delivery::{Facts, Intent};
use segue_core::io::{Digest, Seen};
use std::collections::BTreeMap;

/// A file's bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct File {
    pub(crate) bytes: Digest,
    /// Whether a crash leaves them alone.
    pub(crate) durable: bool,
}

/// Names and what they stand for.
pub(crate) type Names = BTreeMap<String, File>;

/// What was done to the names and is not durable: each is kept or lost as a whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Put(String, File),
    Gone(String),
    Renamed(String, String, File),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Disk {
    pub(crate) live: Names,
    durable: Names,
    log: Vec<Change>,
}

fn torn() -> Digest {
    Digest::of(b"half of it")
}

impl Disk {
    /// A disk on which this lies, durable.
    pub(crate) fn with(files: &[(&str, Digest)]) -> Self {
        let file = |bytes| File {
            bytes,
            durable: true,
        };
        let names: Names = files
            .iter()
            .map(|(name, bytes)| ((*name).to_owned(), file(*bytes)))
            .collect();
        Disk {
            live: names.clone(),
            durable: names,
            log: Vec::new(),
        }
    }

    pub(crate) fn seen(&self, name: &str) -> Seen {
        self.live
            .get(name)
            .map_or(Seen::Absent, |f| Seen::File(f.bytes))
    }

    pub(crate) fn facts(&self, intent: &Intent) -> Facts {
        let retiring = intent.retires.as_ref();
        Facts {
            target: self.seen(&intent.target.path),
            temp: self.seen(&intent.temp.path),
            retiring: retiring.map_or(Seen::Absent, |(place, _)| self.seen(&place.path)),
        }
    }

    pub(crate) fn put(&mut self, name: &str, bytes: Digest, durable: bool) {
        self.note(Change::Put(name.to_owned(), File { bytes, durable }));
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.note(Change::Gone(name.to_owned()));
    }

    pub(crate) fn rename(&mut self, from: &str, to: &str) {
        let file = self.live[from];
        self.note(Change::Renamed(from.to_owned(), to.to_owned(), file));
    }

    pub(crate) fn settle(&mut self) {
        self.durable = self.live.clone();
        self.log.clear();
    }

    fn note(&mut self, change: Change) {
        apply(&mut self.live, &change);
        self.log.push(change);
    }

    /// What a crash now may leave: any part of what is not durable, whole or torn.
    pub(crate) fn crashes(&self) -> Vec<Disk> {
        let kept_parts = 0..1_u32 << self.log.len();
        let mut disks = Vec::new();
        for kept in kept_parts {
            let mut names = self.durable.clone();
            for (i, change) in self.log.iter().enumerate() {
                if kept & (1 << i) != 0 {
                    apply(&mut names, change);
                }
            }
            let doubtful: Vec<String> = (names.iter())
                .filter(|(_, file)| !file.durable)
                .map(|(name, _)| name.clone())
                .collect();
            for torn_ones in 0..1_u32 << doubtful.len() {
                let mut names = names.clone();
                for (i, name) in doubtful.iter().enumerate() {
                    let file = names.get_mut(name).expect("it is there");
                    file.durable = true;
                    if torn_ones & (1 << i) != 0 {
                        file.bytes = torn();
                    }
                }
                disks.push(Disk {
                    live: names.clone(),
                    durable: names,
                    log: Vec::new(),
                });
            }
        }
        disks
    }
}

fn apply(names: &mut Names, change: &Change) {
    match change {
        Change::Put(name, file) => drop(names.insert(name.clone(), *file)),
        Change::Gone(name) => drop(names.remove(name)),
        Change::Renamed(from, to, file) => {
            // The old name may have gone another way already; the new one is there in any case.
            if names.get(from).is_some_and(|f| f.bytes == file.bytes) {
                names.remove(from);
            }
            names.insert(to.clone(), *file);
        }
    }
}
