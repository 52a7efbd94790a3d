//! What lies in the music folder, after each step and each crash.

use super::{History, Look, State, name_of};
use crate::lyrics::songs::{beside, track};
use bytes::Bytes;
use segue_core::delivery::Form;
use segue_core::dispatch::Quality;
use segue_core::driver::lock;
use segue_core::io::{Digest, Place, ShelfError};
use segue_core::queue::Status;
use segue_runtime_sim::SimShelf;
use segue_sqlite::DeliveryStatus;
use std::collections::{BTreeMap, BTreeSet};

impl History {
    /// A crash: this is what the disks have kept.
    pub(crate) fn crashed(&self, look: Look, shelf: &SimShelf) {
        let mut state = lock(&self.state);
        for parcel in &look.parcels {
            let Some(delivered) = &parcel.delivered else {
                continue;
            };
            let at = Place::new(parcel.file.instance_id.as_str(), delivered.sidecar.as_str());
            let there = shelf.get(&at);
            let is_there = there.as_ref().map(|bytes| Digest::of(bytes).to_hex());
            let is_users = state.users.contains_key(&at);
            let is_ours = parcel.status == DeliveryStatus::Delivered;
            if is_ours
                && !is_users
                && is_there.as_deref() != Some(delivered.hash.as_str())
                && state.laid.contains_key(&at)
            {
                state.breach(format!(
                    "S1: {} is delivered, and gone in the crash",
                    at.path
                ));
            }
        }
        state.rows = look
            .rows
            .into_iter()
            .map(|row| (row.work_id, row))
            .collect();
        state.parcels = (look.parcels.into_iter())
            .map(|parcel| (parcel.ticket.delivery_id, parcel))
            .collect();
        let kept: BTreeSet<(i64, i64)> = (state.rows.values())
            .filter(|row| row.status == Status::Done)
            .map(|row| (row.work_id, row.claim_epoch))
            .collect();
        state.successes.retain(|success| kept.contains(success));
        // What was not committed may be gone, and so may be worse than before.
        let files: BTreeMap<Place, Bytes> = shelf.files().into_iter().collect();
        state.laid.retain(|at, _| files.contains_key(at));
        state
            .laid
            .values_mut()
            .for_each(|quality| *quality = Quality::None);
        drop(state);
        self.shelf(&shelf.files());
    }

    /// A process has made a step in the music folder.
    pub(crate) fn step(&self, owner: u64, what: &str, at: &Place, error: Option<&ShelfError>) {
        let event = match error {
            None => format!("{what} {}", at.path),
            Some(error) => format!("{what} {}: {error}", at.path),
        };
        self.trace.note(&name_of(owner), event);
    }

    /// This lies in the music folder now.
    pub(crate) fn shelf(&self, files: &[(Place, Bytes)]) {
        let mut state = lock(&self.state);
        let files: BTreeMap<&Place, &Bytes> = files.iter().map(|(at, bytes)| (at, bytes)).collect();
        let users = state.users.clone();
        for (at, bytes) in &users {
            if files.get(at) != Some(&bytes) {
                state.breach(format!("S2: somebody's {} was touched", at.path));
            }
        }
        for song in 0..state.knows.len() {
            for file in 0..2 {
                let mut ours = 0;
                for form in [Form::Plain, Form::Synced] {
                    let at = beside(song, file, form);
                    let Some(bytes) = files.get(&at).filter(|_| !users.contains_key(&at)) else {
                        continue;
                    };
                    ours += 1;
                    state.lies(song, &at, form, bytes);
                }
                if ours > 1 {
                    let track = track(song, file).path;
                    state.breach(format!(
                        "S1: {track} has both plain and timed words of ours"
                    ));
                }
            }
        }
    }

    /// Somebody's file lies there from now on; `None` takes ours away.
    pub fn user_writes(&self, at: &Place, bytes: Option<Bytes>) {
        let mut state = lock(&self.state);
        state.laid.remove(at);
        state.touched.insert(at.clone());
        match bytes {
            Some(bytes) => drop(state.users.insert(at.clone(), bytes)),
            None => drop(state.users.remove(at)),
        }
    }
}

impl State {
    /// A file of ours.
    fn lies(&mut self, song: usize, at: &Place, form: Form, bytes: &Bytes) {
        let known = self.renderings.get(&song);
        let quality = known.and_then(|known| known.get(&Digest::of(bytes)).copied());
        match quality {
            Some(quality) if Form::of(quality) == Some(form) => {
                let before = self.laid.insert(at.clone(), quality);
                if before.is_some_and(|before| before > quality) {
                    self.breach(format!("S3: {} gets worse", at.path));
                }
            }
            Some(_) | None => {
                let path = &at.path;
                self.breach(format!("S1: {path} is neither old nor new: {bytes:?}"));
            }
        }
    }
}
