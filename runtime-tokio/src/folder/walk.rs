//! What lies in a folder: sound files and the pictures beside them.

use super::path::RelativePath;
use super::root::Root;
use super::{audio, cover, names};
use segue_core::time::Wall;
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::UNIX_EPOCH;
use walkdir::{DirEntry, WalkDir};

/// A sound file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) path: RelativePath,
    pub(super) size: u64,
    pub(super) modified: Wall,
}

/// Everything a walk saw.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// In path order.
    pub(super) files: Vec<Found>,
    /// The best picture of each folder that has one.
    pub(super) covers: BTreeMap<RelativePath, RelativePath>,
    /// Files and folders that could not be looked at: what was known of them stays.
    pub(super) unseen: Vec<RelativePath>,
    /// One sentence for each thing passed over.
    pub(super) warnings: Vec<String>,
    /// Whether the root holds anything at all, hidden files apart.
    pub(super) is_empty: bool,
}

/// Walks the tree below `path`, which is also open as `root`. Hidden files are passed over; symbolic links
/// are followed where they stay below the root. Stops early when `cancelled`.
///
/// # Errors
/// When the root itself cannot be listed.
pub(super) fn walk(path: &Path, root: &Root, cancelled: &AtomicBool) -> io::Result<Walked> {
    let mut walked = Walked {
        is_empty: true,
        ..Walked::default()
    };
    let mut strays = Vec::new();
    let entries = WalkDir::new(path)
        .min_depth(1)
        .follow_links(true)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| {
            if is_hidden(entry) {
                return false;
            }
            let relative = relative(path, entry.path());
            if entry.path_is_symlink() && !root.leads_inside(&relative) {
                strays.push(relative);
                return false;
            }
            true
        });
    for entry in entries {
        if cancelled.load(Ordering::Relaxed) {
            break;
        }
        walked.is_empty = false;
        match entry {
            Ok(entry) if entry.file_type().is_file() => {
                walked.note(relative(path, entry.path()), entry.metadata());
            }
            Ok(_) => {}
            Err(error) if error.path().is_none_or(|failed| failed == path) => {
                return Err(error.into());
            }
            Err(error) => walked.note_failure(path, &error),
        }
    }
    walked.warnings.extend(strays.iter().map(|stray| {
        format!(
            "{} was passed over: the link leads out of the folder or nowhere",
            shown(stray)
        )
    }));
    Ok(walked)
}

impl Walked {
    /// The picture that stands for a file: the one in its folder, else the one in its album's.
    pub(super) fn cover_beside(&self, file: &RelativePath) -> Option<&RelativePath> {
        let own = self.covers.get(&file.parent());
        own.or_else(|| self.covers.get(&names::album_folder(file).0))
    }

    fn note(&mut self, path: RelativePath, metadata: walkdir::Result<Metadata>) {
        let suffix = path.suffix();
        if audio::is_sound(&suffix) {
            match metadata {
                Ok(metadata) => self.files.push(Found {
                    path,
                    size: metadata.len(),
                    modified: modified(&metadata),
                }),
                Err(_) => self.note_unseen(path, "it cannot be looked at"),
            }
        } else if let Some(rank) = cover::rank_beside(&path) {
            let best = self.covers.entry(path.parent()).or_insert(path.clone());
            if cover::rank_beside(best).is_none_or(|other| rank < other) {
                *best = path;
            }
        }
    }

    fn note_failure(&mut self, root: &Path, error: &walkdir::Error) {
        let path = error.path().map(|path| relative(root, path));
        let Some(path) = path else { return };
        if error.loop_ancestor().is_some() {
            // What the link leads to is being walked already.
            self.warnings.push(format!(
                "{} was passed over: the link leads in a circle",
                shown(&path)
            ));
        } else {
            self.note_unseen(path, "it cannot be looked at");
        }
    }

    fn note_unseen(&mut self, path: RelativePath, why: &str) {
        self.warnings.push(format!(
            "{} was passed over, what was known of it stays: {why}",
            shown(&path)
        ));
        self.unseen.push(path);
    }
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

fn relative(root: &Path, path: &Path) -> RelativePath {
    RelativePath::from_path(path.strip_prefix(root).unwrap_or(path))
}

/// A path in a sentence.
pub(super) fn shown(path: &RelativePath) -> String {
    format!("\"{}\"", path.to_text())
}

/// Modification time in the resolution it is stored in.
fn modified(metadata: &Metadata) -> Wall {
    let Ok(time) = metadata.modified() else {
        return Wall(0);
    };
    let millis = match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()),
        Err(before) => i64::try_from(before.duration().as_millis()).map(|millis| -millis),
    };
    Wall(millis.unwrap_or(0))
}
