//! One pass over a music folder.

use super::path::RelativePath;
use super::root::{OpenError, Root};
use super::rows::{Known, Row, assemble};
use super::tags::{self, Facts, Pictures, ReadError};
use super::walk::{Found, Walked, shown, walk};
use segue_core::catalog::model::{InstanceTrack, Pass};
use std::collections::BTreeMap;
use std::io;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use tokio::task::spawn_blocking;

/// Threads that read tags: enough to keep a disk busy, few enough to leave the machine to its listeners.
const READERS: usize = 3;

/// Warnings kept of one pass; the rest is counted.
const MAX_WARNINGS: usize = 200;

/// Why a pass could not be made. The rows of the folder stay as they are.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// The root cannot be opened.
    #[error(transparent)]
    Root(#[from] OpenError),
    /// The root cannot be listed.
    #[error("the music folder {0} cannot be listed: {1}")]
    Unlisted(PathBuf, #[source] io::Error),
    /// Nothing is there where music was: a disk that is not mounted looks like this.
    #[error(
        "the music folder {folder} is empty, though it held {tracks} tracks; is its disk mounted?"
    )]
    Emptied {
        /// The folder.
        folder: PathBuf,
        /// How many tracks it held.
        tracks: usize,
    },
    /// The caller gave up.
    #[error("the scan was cancelled")]
    Cancelled,
    /// The machine has no thread left.
    #[error("no thread for reading tags: {0}")]
    Thread(#[source] io::Error),
}

/// How far a pass is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Sound files seen.
    pub found: usize,
    /// Those whose tags must be read because they are new or changed.
    pub to_read: usize,
    /// Those read so far.
    pub read: usize,
}

/// How a running pass is watched and stopped.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Set it to stop the pass soon.
    pub cancelled: &'a AtomicBool,
    /// Told after the walk and after each file that was read.
    pub progress: &'a dyn Fn(Progress),
}

/// What a pass came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// The rows; complete whenever there is a pass at all.
    pub pass: Pass,
    /// Files whose tags were read.
    pub read: usize,
    /// Files that were taken from the previous pass because size and time are the same.
    pub kept: usize,
    /// Files that gave no row.
    pub skipped: usize,
}

/// Scans the folder at `root`. Blocks: call it where blocking is allowed.
///
/// Files with the size and modification time they have in `previous` (the rows that the store holds of this
/// source) are not read again. A broken file is skipped with a warning and the pass is complete all the
/// same; what cannot be looked at right now keeps its rows.
///
/// # Errors
/// See [`ScanError`]. A missing or emptied root is an error, never an empty library.
pub fn scan(root: &Path, previous: &Pass, watch: Watch<'_>) -> Result<Scanned, ScanError> {
    let opened = Root::open(root)?;
    let walked = walk(root, &opened, watch.cancelled)
        .map_err(|error| ScanError::Unlisted(root.to_owned(), error))?;
    if watch.cancelled.load(Ordering::Relaxed) {
        return Err(ScanError::Cancelled);
    }
    if walked.is_empty && !previous.tracks.is_empty() {
        return Err(ScanError::Emptied {
            folder: root.to_owned(),
            tracks: previous.tracks.len(),
        });
    }
    let known = Known::of(previous);
    let jobs = plan(&walked, &known);
    let read = read_all(&opened, &walked, &jobs, watch)?;
    Ok(finish(root, &walked, &known, &jobs, read))
}

/// Scans the folder at `root` on a thread where blocking is allowed. Dropping the future cancels the pass.
///
/// # Errors
/// As [`scan`]; also [`ScanError::Cancelled`] when the runtime shuts down.
pub async fn scan_in_background(
    root: PathBuf,
    previous: Pass,
    progress: impl Fn(Progress) + Send + 'static,
) -> Result<Scanned, ScanError> {
    let cancel = CancelOnDrop::default();
    let cancelled = Arc::clone(&cancel.0);
    let scanning = spawn_blocking(move || {
        let watch = Watch {
            cancelled: &cancelled,
            progress: &progress,
        };
        scan(&root, &previous, watch)
    });
    match scanning.await {
        Ok(scanned) => scanned,
        Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
        Err(_) => Err(ScanError::Cancelled),
    }
}

#[derive(Default)]
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A file that must be read.
struct Job<'a> {
    found: &'a Found,
    pictures: Pictures,
}

/// The files that are new or changed, or whose cover can no longer be told.
fn plan<'a>(walked: &'a Walked, known: &Known<'_>) -> Vec<Job<'a>> {
    let jobs = walked.files.iter().filter_map(|found| {
        let beside = walked.cover_beside(&found.path);
        let unchanged = known
            .track(&found.path)
            .is_some_and(|track| is_unchanged(track, found, beside.is_some()));
        let pictures = match beside {
            Some(_) => Pictures::Skip,
            None => Pictures::Read,
        };
        (!unchanged).then_some(Job { found, pictures })
    });
    jobs.collect()
}

fn is_unchanged(track: &InstanceTrack, found: &Found, has_cover_beside: bool) -> bool {
    // With a picture beside it the file was not searched for one; when that picture is gone it must be.
    let own = || found.path.to_text();
    let cover_is_known =
        has_cover_beside || track.cover_art.as_ref().is_none_or(|cover| *cover == own());
    track.size == Some(found.size) && track.modified == Some(found.modified) && cover_is_known
}

type Outcome = Result<Facts, ReadError>;

/// Reads all jobs on a few threads; answers in the order of the jobs.
fn read_all(
    root: &Root,
    walked: &Walked,
    jobs: &[Job<'_>],
    watch: Watch<'_>,
) -> Result<Vec<Option<Outcome>>, ScanError> {
    let mut progress = Progress {
        found: walked.files.len(),
        to_read: jobs.len(),
        read: 0,
    };
    (watch.progress)(progress);
    let next = AtomicUsize::new(0);
    let cancelled = watch.cancelled;
    let mut outcomes: Vec<Option<Outcome>> = jobs.iter().map(|_| None).collect();
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(READERS * 4);
        for _ in 0..READERS.min(jobs.len()) {
            let (sender, next) = (sender.clone(), &next);
            let reader = move || {
                while !cancelled.load(Ordering::Relaxed)
                    && let index = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(job) = jobs.get(index)
                    && sender.send((index, read_one(root, job))).is_ok()
                {}
            };
            thread::Builder::new()
                .name("segue-tags".to_owned())
                .spawn_scoped(scope, reader)
                .map_err(ScanError::Thread)?;
        }
        drop(sender);
        for (index, outcome) in receiver {
            outcomes[index] = Some(outcome);
            progress.read += 1;
            (watch.progress)(progress);
        }
        Ok::<(), ScanError>(())
    })?;
    if cancelled.load(Ordering::Relaxed) {
        return Err(ScanError::Cancelled);
    }
    Ok(outcomes)
}

fn read_one(root: &Root, job: &Job<'_>) -> Outcome {
    let path = &job.found.path;
    match root.open_file(path) {
        Ok((file, _)) => tags::read(file, &path.suffix(), job.pictures),
        Err(OpenError::Unreadable(error)) => Err(ReadError::Io(error)),
        Err(OpenError::Missing) => Err(ReadError::Broken("it is gone")),
        Err(OpenError::Outside | OpenError::NoRoot(..)) => {
            Err(ReadError::Broken("it leads out of the folder"))
        }
    }
}

/// Brings what was read and what was known together.
fn finish(
    root: &Path,
    walked: &Walked,
    known: &Known<'_>,
    jobs: &[Job<'_>],
    outcomes: Vec<Option<Outcome>>,
) -> Scanned {
    let mut scanned = Scanned::default();
    let mut warnings = walked.warnings.clone();
    let mut read: BTreeMap<&RelativePath, Outcome> = BTreeMap::new();
    for (job, outcome) in jobs.iter().zip(outcomes) {
        read.extend(outcome.map(|outcome| (&job.found.path, outcome)));
    }
    let mut rows = BTreeMap::new();
    for found in &walked.files {
        match read.remove(&found.path) {
            Some(Ok(facts)) => {
                scanned.read += 1;
                rows.insert(&found.path, Row::Fresh(found, Box::new(facts)));
            }
            Some(Err(error)) => {
                scanned.skipped += 1;
                warnings.push(format!("{} was skipped: {error}", shown(&found.path)));
                // A failing disk says nothing about the file.
                if let (ReadError::Io(_), Some(track)) = (error, known.track(&found.path)) {
                    rows.insert(&found.path, Row::Kept(track));
                }
            }
            None => {
                scanned.kept += 1;
                rows.extend(
                    known
                        .track(&found.path)
                        .map(|track| (&found.path, Row::Kept(track))),
                );
            }
        }
    }
    for (path, track) in known.tracks() {
        if walked.unseen.iter().any(|unseen| path.is_under(unseen)) {
            rows.entry(path).or_insert(Row::Kept(track));
        }
    }
    scanned.pass = assemble(root, walked, known, rows);
    scanned.pass.complete = true;
    scanned.pass.warnings = bounded(warnings);
    scanned
}

fn bounded(mut warnings: Vec<String>) -> Vec<String> {
    let more = warnings.len().saturating_sub(MAX_WARNINGS);
    if more > 0 {
        warnings.truncate(MAX_WARNINGS);
        warnings.push(format!("{more} more warnings are not shown"));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_core::catalog::model::InstanceAlbum;
    use segue_core::time::Wall;

    fn a_track(path: &str) -> InstanceTrack {
        InstanceTrack {
            remote_id: RelativePath::from_text(path).id(),
            album_remote_id: "t1".to_owned(),
            path: Some(path.to_owned()),
            size: Some(1),
            modified: Some(Wall(1)),
            ..InstanceTrack::default()
        }
    }

    #[test]
    fn rows_stay_while_their_folder_or_disk_cannot_be_read() {
        let previous = Pass {
            albums: vec![InstanceAlbum {
                remote_id: "t1".to_owned(),
                ..InstanceAlbum::default()
            }],
            tracks: ["Failing.mp3", "Gone.mp3", "Locked/1.mp3", "Locked2/2.mp3"]
                .map(a_track)
                .to_vec(),
            ..Pass::default()
        };
        let known = Known::of(&previous);
        let walked = Walked {
            files: vec![Found {
                path: RelativePath::from_text("Failing.mp3"),
                size: 2,
                modified: Wall(2),
            }],
            unseen: vec![RelativePath::from_text("Locked")],
            ..Walked::default()
        };
        let jobs = plan(&walked, &known);
        let outcomes = vec![Some(Err(ReadError::Io(io::Error::from_raw_os_error(5))))];
        let pass = finish(Path::new("/music"), &walked, &known, &jobs, outcomes).pass;
        let kept = [&previous.tracks[0], &previous.tracks[2]];
        assert_eq!(pass.tracks.iter().collect::<Vec<_>>(), kept);
        assert!(pass.complete);
        assert_eq!(pass.warnings.len(), 1);
    }
}
