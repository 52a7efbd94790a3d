//! Lyrics as they are served, and what a lookup needs to know.

use super::{RANKED, Reader, limit};
use crate::Result;
use crate::columns::json_list;
use crate::queue::{Cached, LaneStateRow, TrackLyrics};
use rusqlite::params;
use segue_core::catalog::model::SourceKind;
use segue_core::lyrics::{Copy, Song};
use segue_core::queue::{Claim, File, Identity, Outcome, Priority, Request, TOLERANCE_MS, Target};
use std::sync::LazyLock;

/// A page of tracks that are not in the queue yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unqueued {
    /// To be put in.
    pub requests: Vec<Request>,
    /// Where the next page begins; `None` after the last.
    pub next: Option<i64>,
}

/// The copies that a row's songs have, by the rank of contracts section 4.
static COPIES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT DISTINCT s.instance_id, s.remote_id, i.kind, it.path FROM work_queue_scan_results j \
         JOIN scan_results t ON t.id = j.scan_id AND t.instance_id IS NULL \
         JOIN track_sources s ON s.track_id = t.track_id JOIN instances i ON i.id = s.instance_id \
         LEFT JOIN instance_tracks it ON it.instance_id = s.instance_id AND it.remote_id = s.remote_id \
         WHERE j.work_id = ?1 ORDER BY {} LIMIT 32",
        *RANKED
    )
});

/// Tracks without a target, with other tags than their target, or with a file that has none.
const UNQUEUED: &str = "SELECT t.seq, t.id, t.title, t.artist_name, g.name, t.duration_ms, t.isrc, t.musicbrainz_id \
    FROM unified_tracks t JOIN unified_release_groups g ON g.id = t.release_group_id \
    LEFT JOIN scan_results s ON s.track_id = t.id AND s.instance_id IS NULL \
    WHERE t.seq > ?1 AND (s.id IS NULL OR s.title <> t.title OR s.artist <> t.artist_name OR EXISTS (\
      SELECT 1 FROM track_sources c WHERE c.track_id = t.id AND c.instance_id IN (SELECT value FROM json_each(?3)) \
      AND NOT EXISTS (SELECT 1 FROM scan_results f WHERE f.instance_id = c.instance_id AND f.remote_id = c.remote_id))) \
    ORDER BY t.seq LIMIT ?2";

impl Reader {
    /// The lyrics a track is served with, by living id or alias.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn lyrics_of_track(&self, track_id: &str) -> Result<Option<TrackLyrics>> {
        let Some(track_id) = self.resolve(track_id)? else {
            return Ok(None);
        };
        self.one(
            "SELECT d.id, d.body, d.quality, coalesce(s.done_at, d.stored_at) FROM scan_results s \
             JOIN documents d ON d.number = s.document WHERE s.track_id = ?1 AND s.instance_id IS NULL",
            [track_id],
            |c| {
                Ok(TrackLyrics {
                    document_id: c.next()?,
                    body: c.next()?,
                    quality: c.quality()?,
                    stored_at: c.wall()?,
                })
            },
        )
    }

    /// A document's canonical JSON.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn document(&self, id: &str) -> Result<Option<String>> {
        self.one("SELECT body FROM documents WHERE id = ?1", [id], |c| {
            c.next()
        })
    }

    /// Where a row's song can be had from, best first: for the lanes that ask the sources themselves.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn copies_of_work(&self, work_id: i64) -> Result<Vec<Copy>> {
        self.all(&COPIES, [work_id], |c| {
            let (instance_id, remote_id): (String, String) = (c.next()?, c.next()?);
            let folder = c.kind()? == SourceKind::Folder;
            let path: Option<String> = c.next()?;
            Ok(Copy {
                instance_id,
                remote_id: path.filter(|_| folder).unwrap_or(remote_id),
                folder,
            })
        })
    }

    /// What a song of this identity was answered with before, unless the lanes are others than when it was put in. Of the
    /// same marker, the nearest in length within the tolerance.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn cached(&self, claim: &Claim, providers_version: u32) -> Result<Option<Cached>> {
        if !claim.may_read_cache(providers_version) {
            return Ok(None);
        }
        let length = claim.identity.duration_ms.map_or(0, crate::columns::signed);
        self.one(
            "SELECT c.outcome, d.id, d.body, d.quality, c.lane FROM lyrics_cache c JOIN documents d ON d.number = c.document \
             WHERE c.artist_key = ?1 AND c.title_key = ?2 AND c.marker = ?3 AND abs(c.duration_ms - ?4) <= ?5 \
             ORDER BY abs(c.duration_ms - ?4), c.duration_ms LIMIT 1",
            params![
                claim.identity.artist_key,
                claim.identity.title_key,
                claim.identity.marker.as_str(),
                length,
                crate::columns::signed(TOLERANCE_MS)
            ],
            |c| {
                Ok(Cached {
                    outcome: c.word(Outcome::of)?,
                    document_id: c.next()?,
                    body: c.next()?,
                    quality: c.quality()?,
                    lane: c.next()?,
                })
            },
        )
    }

    /// Whether a document answers a song of another title and another artist than these, or was found to be given for
    /// anything before: then whoever gave it gives the same words for anything.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn is_of_stranger(&self, document_id: &str, identity: &Identity) -> Result<bool> {
        let found: Option<i64> = self.one(
            "SELECT 1 FROM decoys WHERE document_id = ?1 UNION ALL SELECT w.id FROM documents d JOIN work_queue w ON w.document = d.number WHERE d.id = ?1 AND d.quality >= 2 \
             AND w.title_key <> ?2 AND w.artist_key <> ?3 LIMIT 1",
            params![document_id, identity.title_key, identity.artist_key],
            |c| c.next(),
        )?;
        Ok(found.is_some())
    }

    /// The hashes of the sidecars that we wrote for a row, in hexadecimal.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn sidecars_of_work(&self, work_id: i64) -> Result<Vec<String>> {
        self.all(
            "SELECT d.delivered_hash FROM work_queue_scan_results j JOIN deliveries d ON d.scan_id = j.scan_id \
             WHERE j.work_id = ?1 AND d.delivered_hash IS NOT NULL",
            [work_id],
            |c| c.next(),
        )
    }

    /// Every lane as it was stored, by name.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn lanes(&self) -> Result<Vec<LaneStateRow>> {
        self.all(
            "SELECT lane, breaker, next_call_at, note, saved_at FROM lane_state ORDER BY lane",
            [],
            |c| {
                Ok(LaneStateRow {
                    lane: c.next()?,
                    breaker: c.json()?,
                    next_call_at: c.maybe_wall()?,
                    note: c.next()?,
                    saved_at: c.wall()?,
                })
            },
        )
    }

    /// Up to `count` tracks behind `after` that are to be put into the queue: new ones, those whose tags changed, and those
    /// with a file in one of the folders `sidecars` that has no target yet. Hand them to
    /// [`crate::Writer::enqueue_many`], and go on at `next`.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn tracks_without_lyrics(
        &self,
        after: i64,
        count: usize,
        sidecars: &[String],
    ) -> Result<Unqueued> {
        let folders = json_list(sidecars);
        let found = self.all(UNQUEUED, params![after, limit(count), folders], |c| {
            let (seq, id): (i64, String) = (c.next()?, c.next()?);
            let song = Song {
                title: c.next()?,
                artist: c.next()?,
                album: c.next()?,
                duration_ms: c.maybe_unsigned()?,
                isrcs: c.next::<Option<String>>()?.into_iter().collect(),
                recording_mbid: c.next()?,
                ..Song::default()
            };
            Ok((seq, id, song))
        })?;
        let last = found.last().map(|(seq, ..)| *seq);
        let mut page = Unqueued {
            requests: Vec::with_capacity(found.len()),
            next: last.filter(|_| found.len() >= count),
        };
        for (_, id, song) in found {
            page.requests.push(Request {
                targets: self.targets_of(&id, &folders)?,
                song,
                priority: Priority::SCAN,
            });
        }
        Ok(page)
    }

    /// One track as a request, by living id or alias; `None` when there is no such track.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn request_for(
        &self,
        track_id: &str,
        sidecars: &[String],
        priority: Priority,
    ) -> Result<Option<Request>> {
        let Some(id) = self.resolve(track_id)? else {
            return Ok(None);
        };
        let song = self.one(
            "SELECT t.title, t.artist_name, g.name, t.duration_ms, t.isrc, t.musicbrainz_id FROM unified_tracks t \
             JOIN unified_release_groups g ON g.id = t.release_group_id WHERE t.id = ?1",
            [&id],
            |c| {
                Ok(Song {
                    title: c.next()?,
                    artist: c.next()?,
                    album: c.next()?,
                    duration_ms: c.maybe_unsigned()?,
                    isrcs: c.next::<Option<String>>()?.into_iter().collect(),
                    recording_mbid: c.next()?,
                    ..Song::default()
                })
            },
        )?;
        song.map(|song| {
            Ok(Request {
                song,
                targets: self.targets_of(&id, &json_list(sidecars))?,
                priority,
            })
        })
        .transpose()
    }

    /// The track itself, and its files in these folders.
    fn targets_of(&self, track_id: &str, folders: &str) -> Result<Vec<Target>> {
        let mut targets = vec![Target {
            track_id: track_id.to_owned(),
            file: None,
        }];
        if folders == "[]" {
            return Ok(targets);
        }
        let files = self.all(
            "SELECT c.instance_id, c.remote_id, it.path FROM track_sources c \
             JOIN instance_tracks it ON it.instance_id = c.instance_id AND it.remote_id = c.remote_id \
             WHERE c.track_id = ?1 AND it.path IS NOT NULL AND c.instance_id IN (SELECT value FROM json_each(?2)) \
             ORDER BY c.instance_id, c.remote_id",
            params![track_id, folders],
            |c| {
                Ok(File {
                    instance_id: c.next()?,
                    remote_id: c.next()?,
                    path: c.next()?,
                })
            },
        )?;
        targets.extend(files.into_iter().map(|file| Target {
            track_id: track_id.to_owned(),
            file: Some(file),
        }));
        Ok(targets)
    }
}
