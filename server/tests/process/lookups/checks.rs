//! What has to be right: in the folder, in the database, in what clients are told and in what the provider heard.

use super::{HANGS, Stage};
use crate::client::Client;
use crate::songs::{Has, Song, files, nfc};
use segue_core::driver::lyrics::render;
use segue_core::io::{Clock, TEMP_PREFIX};
use segue_core::lyrics::lrc::LrcStyle;
use segue_core::queue::Status;
use segue_sqlite::{Db, QueueDetail, Reader, TargetStatus};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with(TEMP_PREFIX))
}

impl Stage {
    /// Looks at the folder: whatever was there is as it was, and what is new may be there.
    pub(super) fn look(&mut self) {
        let found = files(&self.music);
        for (path, was) in &self.files {
            let is = found.get(path);
            assert!(is == Some(was), "S2: {path:?} was changed or is gone");
        }
        let nobody_lives = self.hub.is_none() && self.beside.is_none();
        let expected: BTreeSet<PathBuf> = self.songs.iter().flat_map(Song::sidecars).collect();
        for (path, file) in found {
            if is_unfinished(&path) {
                if nobody_lives && self.orphans.insert(path) {
                    self.run.orphans += 1;
                }
            } else if let Entry::Vacant(new) = self.files.entry(path) {
                let path = new.key();
                assert!(expected.contains(path), "nobody asked for {path:?}");
                new.insert(file);
            }
        }
    }

    /// What nobody finished is finished or gone after a start.
    pub(super) async fn adopt(&mut self) {
        let late = self.clock.now() + HANGS;
        while self
            .orphans
            .iter()
            .any(|path| self.music.join(path).exists())
        {
            assert!(self.clock.now() < late, "left: {:?}", self.orphans);
            let soon = self.clock.now() + Duration::from_millis(2);
            self.clock.sleep_until(soon).await;
        }
        self.orphans.clear();
    }

    /// What is in the queue is sound, and what was answered stays as it was; how many songs wait to be taken or to be found.
    pub(super) fn check_rows(&mut self, reader: &Reader) -> usize {
        let now = self.clock.wall();
        let rows = reader.queue_list(None, 0, 10_000).expect("read");
        let mut documents = BTreeMap::new();
        let askable = self.songs.iter().filter(|song| song.has != Has::Untagged);
        let mut waiting = askable.count() - rows.len();
        let mut songs = BTreeSet::new();
        for row in rows {
            let (artist, title) = (nfc(&row.song.artist), nfc(&row.song.title));
            let id = row.work_id;
            assert!(songs.insert((artist, title)), "Q5: {row:?}");
            let detail = reader.queue_show(id).expect("read").expect("a row");
            let QueueDetail {
                row,
                targets,
                document_id,
                ..
            } = detail;
            match row.status {
                Status::Done => {
                    let all = targets.iter().all(|t| t.status == TargetStatus::Done);
                    assert!(all, "Q2: {row:?} {targets:?}");
                    let is = (row.claim_epoch, row.completed_at, document_id.clone());
                    let was = self.done.entry(id).or_insert_with(|| is.clone());
                    assert_eq!(*was, is, "Q1: {row:?}");
                    let body = document_id.and_then(|id| reader.document(&id).expect("read"));
                    documents.insert(nfc(&row.song.title), body.expect("a document"));
                }
                Status::Processing => {
                    self.run.in_work += 1;
                    let until = row.lease_until.expect("a lease");
                    let (left, over) = (
                        until.millis_since(self.clock.wall()),
                        now.millis_since(until),
                    );
                    // Whoever has just been started gets a moment to sweep.
                    assert!(left <= 2_000 && over <= 3_000, "Q4: {row:?}");
                    assert!(!self.done.contains_key(&id), "Q1: {row:?}");
                }
                Status::Pending | Status::Failed | Status::Parked => {
                    // Parked is what too many workers did not come back from.
                    let due = row.next_attempt_at.is_some_and(|at| at <= now);
                    waiting += usize::from(due || row.status != Status::Pending);
                    assert!(!self.done.contains_key(&id), "Q1: {row:?}");
                }
                Status::Deferred | Status::Retired => {
                    panic!("the provider has it: {row:?}");
                }
            }
        }
        for song in &self.songs {
            for sidecar in song.sidecars() {
                let Some((bytes, _)) = self.files.get(&sidecar) else {
                    continue;
                };
                let body = documents.get(&song.title);
                let body = body.unwrap_or_else(|| panic!("Q3: {sidecar:?} without an answer"));
                let rendered = render(body, LrcStyle::default()).expect("words");
                assert!(
                    rendered.bytes == bytes,
                    "S1: {sidecar:?} is not what is stored"
                );
                let text = String::from_utf8_lossy(bytes);
                let whole = [1, 54].iter().all(|at| text.contains(&song.line(*at)));
                assert!(whole, "not the words of {song:?}: {text}");
            }
        }
        waiting
    }

    /// Every song answers with its words.
    pub(super) async fn check_words(&self, client: &Client<'_>) {
        let shown = client.songs().await.expect("not killed");
        for song in self.songs.iter().filter(|song| song.has != Has::Untagged) {
            let copies = shown
                .iter()
                .filter(|shown| nfc(shown["title"].as_str().expect("text")) == song.title);
            let ids: Vec<&str> = copies
                .map(|shown| shown["id"].as_str().expect("an id"))
                .collect();
            assert_eq!(ids.len(), song.stems.len(), "{song:?}");
            for id in ids {
                let answer = client.rest("getLyricsBySongId", &format!("id={id}")).await;
                let answer = answer.expect("not killed");
                let words =
                    answer["lyricsList"]["structuredLyrics"][0]["line"][0]["value"].as_str();
                match song.has {
                    Has::Nobody => assert_eq!(words.unwrap_or(""), "", "{song:?}"),
                    Has::Timed | Has::Plain | Has::Own(_) => {
                        assert_eq!(words, Some(&*song.line(1)), "{song:?}");
                    }
                    Has::Untagged => {}
                }
            }
        }
    }

    /// All is written, nothing else is there, and nobody was asked for what was known.
    pub(super) fn check_end(&mut self) {
        self.look();
        let found: BTreeSet<PathBuf> = files(&self.music).into_keys().collect();
        for path in self.songs.iter().flat_map(Song::sidecars) {
            assert!(found.contains(&path), "not written: {path:?}");
        }
        let left: Vec<_> = found.iter().filter(|path| is_unfinished(path)).collect();
        assert!(left.is_empty(), "left: {left:?}");
        let db = Db::open(&self.home.database()).expect("the database");
        let reader = db.reader().expect("a reader");
        assert_eq!(self.check_rows(&reader), 0);
        let askable = self.songs.iter().filter(|song| song.has != Has::Untagged);
        assert_eq!(self.done.len(), askable.count(), "not answered");
        let untagged = self.songs.iter().filter(|song| song.has == Has::Untagged);
        let refused = reader.refused_targets(0, 10_000).expect("read");
        let refused: BTreeSet<_> = refused.into_iter().map(|target| target.track_id).collect();
        assert_eq!(refused.len(), untagged.count(), "{refused:?}");
        let rows = reader.queue_list(Some(Status::Done), 0, 10_000);
        let rows = rows.expect("read").into_iter();
        let answered: BTreeMap<_, _> = rows
            .map(|row| (nfc(&row.song.title), row.completed_at))
            .collect();
        for asked in self.provider.log() {
            let song = self
                .songs
                .iter()
                .find(|song| song.title == nfc(&asked.title));
            let song = song.unwrap_or_else(|| panic!("nobody has {asked:?}"));
            let own = matches!(song.has, Has::Own(_) | Has::Untagged);
            assert!(!own, "asked without need: {asked:?}");
            let answered = answered[&song.title].expect("when");
            assert!(
                asked.at <= answered,
                "S4: {asked:?}, answered at {answered:?}"
            );
        }
    }
}
