//! Music folders in memory that may be written to, and that forget at a crash what was not made durable.
//!
//! A file's bytes are durable once it was staged, a name once its folder was settled. A [`Shelf::stage`] that a crash
//! cuts short leaves any part of the file, and each change of a name is kept or lost by itself.

use crate::SimClock;
use crate::disk::Dice;
use bytes::Bytes;
use madsim::rand::{Rng, thread_rng};
use segue_core::driver::lock;
use segue_core::io::{Clock, Digest, Place, SIDECAR_LIMIT, Seen, Shelf, ShelfError};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The shelves of all sources of a simulation. Clones share them.
#[derive(Clone)]
pub struct SimShelf {
    state: Arc<Mutex<State>>,
    clock: SimClock,
}

#[derive(Clone, Debug)]
struct File {
    bytes: Bytes,
    durable: bool,
}

type Names = BTreeMap<Place, File>;

#[derive(Clone, Debug)]
enum Change {
    Put(Place, File),
    Gone(Place),
    Renamed(Place, Place, File),
}

impl Change {
    fn apply(&self, names: &mut Names) {
        match self {
            Change::Put(place, file) => drop(names.insert(place.clone(), file.clone())),
            Change::Gone(place) => drop(names.remove(place)),
            Change::Renamed(from, to, file) => {
                if names.get(from).is_some_and(|f| f.bytes == file.bytes) {
                    names.remove(from);
                }
                names.insert(to.clone(), file.clone());
            }
        }
    }

    fn place(&self) -> &Place {
        match self {
            Change::Put(place, _) | Change::Gone(place) | Change::Renamed(place, ..) => place,
        }
    }
}

#[derive(Debug, Default)]
struct State {
    writable: BTreeSet<String>,
    live: Names,
    durable: Names,
    log: Vec<Change>,
    failing: Option<ShelfError>,
    writes: u64,
}

impl State {
    fn make(&mut self, change: Change) {
        change.apply(&mut self.live);
        self.log.push(change);
    }

    /// As by somebody else: durable at once.
    fn settle_all(&mut self) {
        for file in self.live.values_mut() {
            file.durable = true;
        }
        self.durable = self.live.clone();
        self.log.clear();
    }

    fn may_write(&self, at: &Place) -> Result<(), ShelfError> {
        self.may_read(at)?;
        match self.failing {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn may_read(&self, at: &Place) -> Result<(), ShelfError> {
        match self.writable.contains(&at.source) {
            true => Ok(()),
            false => Err(ShelfError::NotWritable),
        }
    }

    fn seen(&self, at: &Place) -> Seen {
        match self.live.get(at) {
            None => Seen::Absent,
            Some(file) if file.bytes.len() as u64 > SIDECAR_LIMIT => Seen::Other,
            Some(file) => Seen::File(Digest::of(&file.bytes)),
        }
    }
}

impl SimShelf {
    /// No folders; nothing may be written.
    pub fn new(clock: SimClock) -> Self {
        SimShelf {
            state: Arc::default(),
            clock,
        }
    }

    /// Allows files beside the music of `source`.
    pub fn allow(&self, source: &str) {
        lock(&self.state).writable.insert(source.to_owned());
    }

    /// Puts a file there as somebody else would, durable at once.
    pub fn put(&self, at: &Place, bytes: impl Into<Bytes>) {
        let mut state = lock(&self.state);
        let file = File {
            bytes: bytes.into(),
            durable: true,
        };
        state.live.insert(at.clone(), file.clone());
        state.durable.insert(at.clone(), file);
        state.log.retain(|change| change.place() != at);
    }

    /// Removes a file as somebody else would.
    pub fn take(&self, at: &Place) {
        let mut state = lock(&self.state);
        state.live.remove(at);
        state.durable.remove(at);
        state.log.retain(|change| change.place() != at);
    }

    /// Lets every change fail in this way from now on, or none.
    pub fn fail(&self, how: Option<ShelfError>) {
        lock(&self.state).failing = how;
    }

    /// What lies there.
    pub fn get(&self, at: &Place) -> Option<Bytes> {
        lock(&self.state).live.get(at).map(|f| f.bytes.clone())
    }

    /// Everything that lies anywhere.
    pub fn files(&self) -> Vec<(Place, Bytes)> {
        let state = lock(&self.state);
        let files = state.live.iter();
        files.map(|(p, f)| (p.clone(), f.bytes.clone())).collect()
    }

    /// Files that were given their names so far.
    pub fn writes(&self) -> u64 {
        lock(&self.state).writes
    }

    /// The machine loses its power: by `seed`, what was not durable is kept, lost or torn.
    pub fn crash(&self, seed: u64) {
        let mut dice = Dice::new(seed);
        let mut state = lock(&self.state);
        let mut names = std::mem::take(&mut state.durable);
        let in_order = dice.coin();
        for change in std::mem::take(&mut state.log) {
            let kept = dice.coin();
            if kept {
                change.apply(&mut names);
            } else if in_order {
                break;
            }
        }
        for file in names.values_mut().filter(|file| !file.durable) {
            let kept = dice.below(file.bytes.len() as u64 + 1);
            file.bytes.truncate(usize::try_from(kept).unwrap_or(0));
        }
        state.live = names;
        state.settle_all();
    }

    async fn wait(&self) {
        let micros = thread_rng().gen_range(100..2_000);
        let at = self.clock.now() + Duration::from_micros(micros);
        self.clock.sleep_until(at).await;
    }

    /// Between two waits, in which a crash or a rival may come.
    async fn at_once<T>(&self, step: impl FnOnce(&mut State) -> T + Send) -> T {
        self.wait().await;
        let done = step(&mut lock(&self.state));
        self.wait().await;
        done
    }
}

impl Shelf for SimShelf {
    async fn look(&self, at: &Place) -> Result<Seen, ShelfError> {
        self.at_once(|state| {
            state.may_read(at)?;
            Ok(state.seen(at))
        })
        .await
    }

    async fn stage(&self, temp: &Place, like: &Place, bytes: Bytes) -> Result<(), ShelfError> {
        let begun = self.at_once(|state| {
            state.may_write(temp)?;
            if state.seen(like) == Seen::Absent {
                return Err(ShelfError::NotFound);
            }
            let half = bytes.slice(..bytes.len() / 2);
            let file = File {
                bytes: half,
                durable: false,
            };
            state.make(Change::Put(temp.clone(), file));
            Ok(())
        });
        begun.await?;
        for durable in [false, true] {
            let bytes = bytes.clone();
            let written = self.at_once(|state| {
                state.may_write(temp)?;
                state.make(Change::Put(temp.clone(), File { bytes, durable }));
                Ok(())
            });
            written.await?;
        }
        Ok(())
    }

    async fn create(&self, temp: &Place, target: &Place) -> Result<(), ShelfError> {
        self.at_once(|state| {
            state.may_write(target)?;
            if state.seen(target) != Seen::Absent {
                return Err(ShelfError::Changed);
            }
            let file = state.live.get(temp).cloned().ok_or(ShelfError::NotFound)?;
            state.make(Change::Renamed(temp.clone(), target.clone(), file));
            state.writes += 1;
            Ok(())
        })
        .await
    }

    async fn replace(&self, temp: &Place, target: &Place, old: Digest) -> Result<(), ShelfError> {
        self.at_once(|state| {
            state.may_write(target)?;
            if state.seen(target) != Seen::File(old) {
                return Err(ShelfError::Changed);
            }
            let file = state.live.get(temp).cloned().ok_or(ShelfError::NotFound)?;
            state.make(Change::Renamed(temp.clone(), target.clone(), file));
            state.writes += 1;
            Ok(())
        })
        .await
    }

    async fn remove(&self, at: &Place, only: Digest) -> Result<(), ShelfError> {
        self.at_once(|state| {
            state.may_write(at)?;
            if state.seen(at) != Seen::File(only) {
                return Err(ShelfError::Changed);
            }
            state.make(Change::Gone(at.clone()));
            Ok(())
        })
        .await
    }

    async fn discard(&self, temp: &Place) -> Result<(), ShelfError> {
        self.at_once(|state| {
            state.may_write(temp)?;
            if temp.is_temp() && state.seen(temp) != Seen::Absent {
                state.make(Change::Gone(temp.clone()));
            }
            Ok(())
        })
        .await
    }

    async fn settle(&self, at: &Place) -> Result<(), ShelfError> {
        self.at_once(|state| {
            state.may_write(at)?;
            let here = |place: &Place| place.source == at.source && place.folder() == at.folder();
            let (settled, rest): (Vec<_>, Vec<_>) =
                (state.log.drain(..)).partition(|change| here(change.place()));
            state.log = rest;
            for change in settled {
                change.apply(&mut state.durable);
            }
            Ok(())
        })
        .await
    }
}
