//! A bounded folder of pictures. Losing any of it costs only time.

use super::sniff;
use bytes::Bytes;
use rustix::fs::{Timespec, Timestamps, UTIME_NOW, futimens};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Length of the checksum in front of each picture.
const CHECKSUM: usize = 32;

/// What names of unfinished files start with.
const UNFINISHED: &str = ".unfinished-";

/// Why a picture was not kept.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// Only what looks like a picture is kept: an error page must not stay.
    #[error("not a picture")]
    NotAPicture,
    /// Larger than the whole cache may be.
    #[error("the picture does not fit the cache")]
    TooLarge,
    /// The folder cannot be used.
    #[error("the picture cache {0} cannot be used: {1}")]
    Io(PathBuf, #[source] io::Error),
}

/// Pictures by key, in files of one folder; the least recently used go when the bound is passed. All calls
/// block.
#[derive(Debug)]
pub struct Cache {
    dir: PathBuf,
    max_bytes: u64,
    index: Mutex<Index>,
}

impl Cache {
    /// Opens the folder, makes it when it is missing, and takes stock of what an earlier run left.
    ///
    /// # Errors
    /// When the folder cannot be made or listed.
    pub fn open(dir: &Path, max_bytes: u64) -> Result<Self, CacheError> {
        let index = Index::of(dir).map_err(|error| CacheError::Io(dir.to_owned(), error))?;
        let cache = Self {
            dir: dir.to_owned(),
            max_bytes,
            index: Mutex::new(index),
        };
        cache.evict(&mut cache.index());
        Ok(cache)
    }

    /// The picture and its media type. What is missing or damaged is a miss.
    pub fn get(&self, key: &str) -> Option<(Bytes, &'static str)> {
        let name = file_name(key);
        let read = read_whole(&self.dir.join(&name)).and_then(|(file, bytes)| {
            let picture = checked(bytes)?;
            // So that the order of use outlives this process; nothing is lost when it cannot be written.
            let _ = futimens(&file, &now());
            Some(picture)
        });
        let mut index = self.index();
        match &read {
            Some((picture, _)) => index.note(&name, (picture.len() + CHECKSUM) as u64),
            None => {
                if index.forget(&name) {
                    let _ = fs::remove_file(self.dir.join(&name));
                }
            }
        }
        read
    }

    /// Keeps a picture.
    ///
    /// # Errors
    /// See [`CacheError`]; the cache stays usable.
    pub fn put(&self, key: &str, picture: &[u8]) -> Result<(), CacheError> {
        sniff(picture).ok_or(CacheError::NotAPicture)?;
        let size = (picture.len() + CHECKSUM) as u64;
        if size > self.max_bytes {
            return Err(CacheError::TooLarge);
        }
        self.write(&file_name(key), picture, size)
            .map_err(|error| CacheError::Io(self.dir.clone(), error))
    }

    /// The bytes it holds.
    pub fn size(&self) -> u64 {
        self.index().total
    }

    /// Writes beside and renames, so that no reader ever sees half a picture.
    fn write(&self, name: &str, picture: &[u8], size: u64) -> io::Result<()> {
        let unfinished = self.dir.join(self.index().unfinished());
        let written = File::create_new(&unfinished).and_then(|mut file| {
            file.write_all(&Sha256::digest(picture))?;
            file.write_all(picture)
        });
        let mut index = self.index();
        if let Err(error) = written.and_then(|()| fs::rename(&unfinished, self.dir.join(name))) {
            let _ = fs::remove_file(&unfinished);
            return Err(error);
        }
        index.note(name, size);
        self.evict(&mut index);
        Ok(())
    }

    fn evict(&self, index: &mut Index) {
        while index.total > self.max_bytes
            && let Some(name) = index.least_recent()
        {
            index.forget(&name);
            let _ = fs::remove_file(self.dir.join(name));
        }
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What lies in the folder, by use.
#[derive(Debug, Default)]
struct Index {
    /// Size and turn of last use of each file.
    files: BTreeMap<String, (u64, u64)>,
    /// File names by turn of last use.
    turns: BTreeMap<u64, String>,
    total: u64,
    turn: u64,
}

impl Index {
    /// Lists the folder, oldest use first, and clears what an earlier run did not finish.
    fn of(dir: &Path) -> io::Result<Self> {
        fs::create_dir_all(dir)?;
        let mut found = Vec::new();
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if name.starts_with(UNFINISHED) {
                let _ = fs::remove_file(entry.path());
            } else if is_file_name(&name)
                && let Ok(metadata) = entry.metadata()
            {
                found.push((metadata.modified()?, name, metadata.len()));
            }
        }
        found.sort();
        let mut index = Self::default();
        for (_, name, size) in found {
            index.note(&name, size);
        }
        Ok(index)
    }

    /// A file was used just now.
    fn note(&mut self, name: &str, size: u64) {
        self.forget(name);
        self.turn += 1;
        self.total += size;
        self.files.insert(name.to_owned(), (size, self.turn));
        self.turns.insert(self.turn, name.to_owned());
    }

    /// A file is gone; says whether it was known.
    fn forget(&mut self, name: &str) -> bool {
        let Some((size, turn)) = self.files.remove(name) else {
            return false;
        };
        self.turns.remove(&turn);
        self.total -= size;
        true
    }

    fn least_recent(&self) -> Option<String> {
        self.turns.values().next().cloned()
    }

    /// A name no other unfinished file of this process has.
    fn unfinished(&mut self) -> String {
        self.turn += 1;
        format!("{UNFINISHED}{}-{}", std::process::id(), self.turn)
    }
}

/// The name hides the key and is safe whatever the key holds.
fn file_name(key: &str) -> String {
    hex::encode(Sha256::digest(key))
}

fn is_file_name(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn read_whole(path: &Path) -> Option<(File, Vec<u8>)> {
    let mut file = File::open(path).ok()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    Some((file, bytes))
}

/// The picture behind its checksum, if both are whole.
fn checked(bytes: Vec<u8>) -> Option<(Bytes, &'static str)> {
    let bytes = Bytes::from(bytes);
    let (checksum, picture) = bytes.split_at_checked(CHECKSUM)?;
    if Sha256::digest(picture)[..] != *checksum {
        return None;
    }
    let content_type = sniff(picture)?;
    Some((bytes.slice(CHECKSUM..), content_type))
}

fn now() -> Timestamps {
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: UTIME_NOW,
    };
    Timestamps {
        last_access: now,
        last_modification: now,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    /// A picture whose file is 100 bytes long.
    fn a_picture(seed: u8) -> Vec<u8> {
        let mut picture = vec![seed; 100 - CHECKSUM];
        picture[..3].copy_from_slice(&[0xff, 0xd8, 0xff]);
        picture
    }

    fn a_cache(max_bytes: u64) -> (TempDir, Cache) {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(&dir.path().join("art"), max_bytes).unwrap();
        (dir, cache)
    }

    fn files(cache: &Cache) -> Vec<PathBuf> {
        let entries = fs::read_dir(&cache.dir).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn what_is_put_is_got_with_its_type() {
        let (_dir, cache) = a_cache(1000);
        assert_eq!(cache.get("../../a"), None);
        cache.put("../../a", &a_picture(1)).unwrap();
        let (picture, content_type) = cache.get("../../a").unwrap();
        assert_eq!(
            (picture.to_vec(), content_type),
            (a_picture(1), "image/jpeg")
        );
        cache.put("../../a", &a_picture(2)).unwrap();
        assert_eq!(cache.get("../../a").unwrap().0, a_picture(2));
        assert_eq!((cache.size(), files(&cache).len()), (100, 1));
    }

    #[test]
    fn the_least_recently_used_go_first() {
        let (_dir, cache) = a_cache(300);
        for key in ["a", "b", "c"] {
            cache.put(key, &a_picture(1)).unwrap();
        }
        cache.get("a").unwrap();
        cache.put("d", &a_picture(1)).unwrap();
        let kept = ["a", "b", "c", "d"].map(|key| cache.get(key).is_some());
        assert_eq!(kept, [true, false, true, true]);
        assert_eq!((cache.size(), files(&cache).len()), (300, 3));
    }

    #[test]
    fn only_pictures_that_fit_are_kept() {
        let (_dir, cache) = a_cache(99);
        assert!(matches!(
            cache.put("a", b"<html>"),
            Err(CacheError::NotAPicture)
        ));
        assert!(matches!(
            cache.put("a", &a_picture(1)),
            Err(CacheError::TooLarge)
        ));
        assert!(files(&cache).is_empty());
    }

    #[test]
    fn what_is_damaged_is_a_miss_and_goes() {
        let (_dir, cache) = a_cache(1000);
        cache.put("a", &a_picture(1)).unwrap();
        let file = files(&cache).remove(0);
        for damage in [&b""[..], b"short", &fs::read(&file).unwrap()[..99]] {
            cache.put("a", &a_picture(1)).unwrap();
            fs::write(&file, damage).unwrap();
            assert_eq!(cache.get("a"), None);
            assert_eq!((cache.size(), file.exists()), (0, false));
        }
        cache.put("a", &a_picture(1)).unwrap();
        fs::remove_file(&file).unwrap();
        assert_eq!((cache.get("a"), cache.size()), (None, 0));
    }

    #[test]
    fn a_later_run_finds_what_an_earlier_one_left() {
        let (_dir, cache) = a_cache(300);
        for (turn, key) in ["b", "c", "a"].into_iter().enumerate() {
            cache.put(key, &a_picture(1)).unwrap();
            let file = File::open(cache.dir.join(file_name(key))).unwrap();
            let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(turn as u64);
            file.set_modified(at).unwrap();
        }
        cache.get("b").unwrap();
        fs::write(cache.dir.join(".unfinished-1-1"), b"half").unwrap();
        fs::write(cache.dir.join("README"), b"not ours").unwrap();

        let later = Cache::open(&cache.dir, 200).unwrap();
        assert_eq!(later.size(), 200);
        let kept = ["a", "b", "c"].map(|key| later.get(key).is_some());
        assert_eq!(kept, [true, true, false]);
        assert_eq!(files(&later).len(), 3);
    }
}
