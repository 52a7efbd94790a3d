//! Putting songs in.

use crate::columns::maybe_signed;
use crate::queue::{EnqueueReport, Enqueued};
use crate::{Error, Result, Writer};
use rusqlite::params;
use segue_core::lyrics::Song;
use segue_core::queue::{
    Blank, Choice, Identity, Marker, Request, Status, Target, Variant, choose, identify,
};
use segue_core::time::Wall;
use segue_core::twin::{self, Twin};

/// The rows with a pair of keys.
pub(super) const KNOWN: &str = "SELECT id, variant, marker, duration_ms, status, outcome IS NOT NULL, document FROM work_queue \
             WHERE artist_key = ?1 AND title_key = ?2 ORDER BY variant";

/// A row that a song may belong to.
struct Known {
    work_id: i64,
    variant: Variant,
    status: Status,
    outcome: bool,
    document: Option<i64>,
}

/// The row that a song belongs to.
struct Row {
    work_id: i64,
    /// Whether its targets have their answer: the document, if it has one.
    answered: Option<Option<i64>>,
}

impl Writer {
    /// Puts a song in, or links its targets to the row that it has already (Q5). `providers_version` is stamped on a new
    /// row only (Q7). A target of a song that was answered before has its answer at once.
    ///
    /// # Errors
    /// SQLite's own. A song without a name is no error: it is recorded as refused.
    pub fn enqueue(
        &self,
        request: &Request,
        providers_version: u32,
        now: Wall,
    ) -> Result<Enqueued> {
        let identity = match identify(&request.song) {
            Ok(identity) => identity,
            Err(blank) => return self.refuse(request, blank, now),
        };
        let known = self.known(&identity)?;
        let variants: Vec<Variant> = known.iter().map(|k| k.variant.clone()).collect();
        let joined = match choose(&variants, &identity) {
            Choice::New(number) => {
                let work_id = self.insert(request, &identity, number, providers_version, now)?;
                let row = Row {
                    work_id,
                    answered: None,
                };
                for target in &request.targets {
                    self.link(&row, target, &request.song, now)?;
                }
                return Ok(Enqueued::New { work_id });
            }
            Choice::Join(number) => known.into_iter().find(|k| k.variant.number == number),
        };
        let joined = joined.ok_or_else(|| Error::Conflict("the row is gone".to_owned()))?;
        self.join(&joined, request, &identity, now)?;
        if twin::is(Twin::StampRenewed) {
            self.run(
                "UPDATE work_queue SET providers_version = ?2 WHERE id = ?1",
                params![joined.work_id, providers_version],
            )?;
        }
        let is_answered = joined.status == Status::Done || joined.document.is_some();
        let row = Row {
            work_id: joined.work_id,
            answered: (is_answered && joined.outcome).then_some(joined.document),
        };
        let mut linked = 0;
        for target in &request.targets {
            linked += u32::from(self.link(&row, target, &request.song, now)?);
        }
        Ok(Enqueued::Joined {
            work_id: joined.work_id,
            status: joined.status,
            linked,
            answered: if row.answered.is_some() { linked } else { 0 },
        })
    }

    /// Puts many songs in. A few hundred at a time, so that the writer is never held for long.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn enqueue_many(
        &self,
        requests: &[Request],
        providers_version: u32,
        now: Wall,
    ) -> Result<EnqueueReport> {
        let mut report = EnqueueReport::default();
        for request in requests {
            match self.enqueue(request, providers_version, now)? {
                Enqueued::New { .. } => report.new += 1,
                Enqueued::Joined { .. } => report.joined += 1,
                Enqueued::Refused(_) => report.refused += 1,
            }
        }
        Ok(report)
    }

    fn known(&self, identity: &Identity) -> Result<Vec<Known>> {
        self.reader().all(
            KNOWN,
            params![identity.artist_key, identity.title_key],
            |c| {
                Ok(Known {
                    work_id: c.next()?,
                    variant: Variant {
                        number: c.next()?,
                        marker: Marker::stored(c.next()?),
                        duration_ms: c.maybe_unsigned()?,
                    },
                    status: c.word(Status::of)?,
                    outcome: c.next()?,
                    document: c.next()?,
                })
            },
        )
    }

    fn insert(
        &self,
        request: &Request,
        identity: &Identity,
        variant: u32,
        providers_version: u32,
        now: Wall,
    ) -> Result<i64> {
        self.run(
            "INSERT INTO work_queue (artist_key, title_key, variant, marker, duration_ms, song, status, priority, \
             providers_version, next_attempt_at, created_at, updated_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'pending', ?7, ?8, ?9, ?9, ?9)",
            params![
                identity.artist_key,
                identity.title_key,
                variant,
                identity.marker.as_str(),
                maybe_signed(identity.duration_ms),
                song_json(&request.song)?,
                request.priority.get(),
                providers_version,
                now.0,
            ],
        )?;
        Ok(self.sql().last_insert_rowid())
    }

    /// What a row learns from a song that is put in again: it rises, never falls; whoever waits for a song that may be
    /// asked for makes it due; its length, once somebody knows it; and its tags, unless it is in work or done.
    fn join(&self, row: &Known, request: &Request, identity: &Identity, now: Wall) -> Result<()> {
        let learns_length = row.variant.duration_ms.is_none() && identity.duration_ms.is_some();
        let takes_tags = match row.status {
            Status::Processing | Status::Done => false,
            Status::Pending
            | Status::Failed
            | Status::Deferred
            | Status::Parked
            | Status::Retired => true,
        };
        self.run(
            "UPDATE work_queue SET \
             next_attempt_at = CASE WHEN ?3 AND priority < ?2 AND status IN ('pending', 'failed') \
               THEN min(next_attempt_at, ?4) ELSE next_attempt_at END, \
             priority = max(priority, ?2) WHERE id = ?1 AND priority < ?2",
            params![
                row.work_id,
                request.priority.get(),
                request.priority.is_urgent(),
                now.0
            ],
        )?;
        if learns_length {
            self.run(
                "UPDATE work_queue SET duration_ms = ?2 WHERE id = ?1",
                params![row.work_id, maybe_signed(identity.duration_ms)],
            )?;
        }
        if takes_tags {
            // The song itself keeps a length that it knew.
            self.run(
                "UPDATE work_queue SET song = ?2 WHERE id = ?1 AND song <> ?2 AND (?3 OR duration_ms IS NULL)",
                params![
                    row.work_id,
                    song_json(&request.song)?,
                    identity.duration_ms.is_some()
                ],
            )?;
        }
        Ok(())
    }

    /// Links a target; whether it was not linked before. A target that was put in with other tags leaves the row that
    /// belonged to those.
    fn link(&self, row: &Row, target: &Target, song: &Song, now: Wall) -> Result<bool> {
        let (scan_id, is_retagged) = self.target(target, song, now)?;
        if is_retagged {
            self.part(scan_id, Some(row.work_id))?;
        }
        let is_new = self.run(
            "INSERT OR IGNORE INTO work_queue_scan_results (work_id, scan_id) VALUES (?1, ?2)",
            params![row.work_id, scan_id],
        )? > 0;
        if let Some(document) = row.answered
            && is_new
        {
            self.run(
                "UPDATE scan_results SET status = 'done', reason = NULL, document = ?2, done_at = ?3, \
                 quality = coalesce((SELECT quality FROM documents WHERE number = ?2), 0) WHERE id = ?1",
                params![scan_id, document, now.0],
            )?;
            self.want_deliveries(row.work_id, Some(scan_id), now)?;
        }
        Ok(is_new)
    }

    /// Takes a target from all rows but one, and with them the answer, which was another song's.
    fn part(&self, scan_id: i64, but: Option<i64>) -> Result<()> {
        let parted = self.run(
            "DELETE FROM work_queue_scan_results WHERE scan_id = ?1 AND work_id IS NOT ?2",
            params![scan_id, but],
        )?;
        if parted > 0 {
            self.run(
                "UPDATE scan_results SET status = 'pending', document = NULL, quality = 0, done_at = NULL WHERE id = ?1",
                [scan_id],
            )?;
        }
        Ok(())
    }

    /// The id of a target's row, which is made or brought up to date, and whether it had other tags.
    fn target(&self, target: &Target, song: &Song, now: Wall) -> Result<(i64, bool)> {
        let living = self.reader().resolve(&target.track_id)?;
        let track_id = living.as_deref().unwrap_or(&target.track_id);
        type Found = (i64, String, String, String, Option<String>, String);
        let read = |c: &mut crate::columns::Columns<'_, '_>| -> rusqlite::Result<Found> {
            Ok((
                c.next()?,
                c.next()?,
                c.next()?,
                c.next()?,
                c.next()?,
                c.next()?,
            ))
        };
        let found = match &target.file {
            None => self.reader().one(
                "SELECT id, artist, title, status, path, track_id FROM scan_results WHERE track_id = ?1 AND instance_id IS NULL",
                [track_id],
                read,
            )?,
            Some(file) => self.reader().one(
                "SELECT id, artist, title, status, path, track_id FROM scan_results WHERE instance_id = ?1 AND remote_id = ?2",
                [&file.instance_id, &file.remote_id],
                read,
            )?,
        };
        let path = target.file.as_ref().map(|file| file.path.as_str());
        let Some((scan_id, artist, title, status, old_path, old_track)) = found else {
            self.run(
                "INSERT INTO scan_results (track_id, instance_id, remote_id, path, artist, title, status, created_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'pending', ?7)",
                params![
                    track_id,
                    target.file.as_ref().map(|file| &file.instance_id),
                    target.file.as_ref().map(|file| &file.remote_id),
                    path,
                    song.artist,
                    song.title,
                    now.0
                ],
            )?;
            return Ok((self.sql().last_insert_rowid(), false));
        };
        let is_retagged = artist != song.artist || title != song.title || status == "refused";
        if is_retagged {
            self.run(
                "UPDATE scan_results SET artist = ?2, title = ?3, status = iif(status = 'refused', 'pending', status), \
                 reason = NULL WHERE id = ?1",
                params![scan_id, song.artist, song.title],
            )?;
        }
        if old_path.as_deref() != path || old_track != track_id {
            self.run(
                "UPDATE scan_results SET path = ?2, track_id = ?3 WHERE id = ?1",
                params![scan_id, path, track_id],
            )?;
        }
        Ok((scan_id, is_retagged))
    }

    /// Records that these targets cannot be looked up, and why.
    fn refuse(&self, request: &Request, blank: Blank, now: Wall) -> Result<Enqueued> {
        for target in &request.targets {
            let (scan_id, _) = self.target(target, &request.song, now)?;
            self.part(scan_id, None)?;
            self.run(
                "UPDATE scan_results SET status = 'refused', reason = ?2 WHERE id = ?1",
                params![scan_id, blank.to_string()],
            )?;
        }
        Ok(Enqueued::Refused(blank))
    }
}

/// A song as it is stored: without its copies, which are found anew at each claim.
fn song_json(song: &Song) -> Result<String> {
    let song = Song {
        copies: Vec::new(),
        ..song.clone()
    };
    serde_json::to_string(&song)
        .map_err(|error| Error::Conflict(format!("the song cannot be written: {error}")))
}
