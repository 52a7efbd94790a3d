//! One file's bytes: what a reader sees, what is on the platter, and the writes between the two.

use super::Geometry;
use super::dice::Dice;
use std::collections::BTreeSet;
use std::ops::Range;

/// A file's contents.
#[derive(Clone, Default)]
pub(super) struct Image {
    /// What a read returns.
    live: Vec<u8>,
    /// What a crash cannot take.
    durable: Vec<u8>,
    /// Not synced yet, oldest first.
    log: Vec<Change>,
    /// Older than the log: a sync of these failed. Later syncs pass them by, as a kernel that has marked the pages clean
    /// does, so they stay in doubt until their sectors are written anew.
    doubtful: Vec<Change>,
    /// The bytes of the writes in both lists.
    bytes: Vec<u8>,
}

#[derive(Clone)]
enum Change {
    /// `source` of the stored bytes went to `at`.
    Write { at: usize, source: Range<usize> },
    /// The file got this length.
    Resize(usize),
}

/// What became of one sector's part of an unsynced write.
enum Fate {
    Kept,
    Lost,
    /// One half of the sector was written.
    Torn,
    /// The head was over the sector when the power went.
    Scrambled,
}

/// How much a crash takes, so that some images are nearly whole and some nearly bare. Even chances alone would never
/// leave a transaction of ten sectors whole.
pub(super) struct Mood {
    /// Of a hundred sectors.
    kept: u64,
    lost: u64,
    torn: u64,
}

impl Mood {
    pub(super) fn of(dice: &mut Dice) -> Self {
        let (kept, lost, torn) = match dice.below(6) {
            0 => (100, 0, 0),
            1 => (0, 100, 0),
            2 => (90, 4, 3),
            3 => (4, 90, 3),
            4 => (0, 0, 50),
            _ => (25, 25, 25),
        };
        Mood { kept, lost, torn }
    }

    fn fate(&self, dice: &mut Dice) -> Fate {
        let roll = dice.below(100);
        if roll < self.kept {
            Fate::Kept
        } else if roll < self.kept + self.lost {
            Fate::Lost
        } else if roll < self.kept + self.lost + self.torn {
            Fate::Torn
        } else {
            Fate::Scrambled
        }
    }
}

impl Image {
    /// Contents that are all on the platter.
    pub(super) fn durable(bytes: Vec<u8>) -> Self {
        Image {
            live: bytes.clone(),
            durable: bytes,
            ..Image::default()
        }
    }

    pub(super) fn live(&self) -> &[u8] {
        &self.live
    }

    /// Whether a crash now could change anything.
    pub(super) fn is_synced(&self) -> bool {
        self.log.is_empty() && self.doubtful.is_empty()
    }

    /// Copies what there is at `at` and fills the rest with zeros, as SQLite asks for; how many bytes there were.
    pub(super) fn read(&self, at: usize, into: &mut [u8]) -> usize {
        let there = self.live.get(at..).unwrap_or_default();
        let count = there.len().min(into.len());
        into[..count].copy_from_slice(&there[..count]);
        into[count..].fill(0);
        count
    }

    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        put(&mut self.live, at, bytes);
        self.log.push(Change::Write {
            at,
            source: start..self.bytes.len(),
        });
    }

    pub(super) fn resize(&mut self, len: usize) {
        self.live.resize(len, 0);
        self.log.push(Change::Resize(len));
    }

    /// Makes the log durable.
    pub(super) fn sync(&mut self, sector: usize) {
        for change in &self.log {
            match change {
                Change::Write { at, source } => {
                    put(&mut self.durable, *at, &self.bytes[source.clone()]);
                }
                Change::Resize(len) => self.durable.resize(*len, 0),
            }
        }
        if self.doubtful.is_empty() {
            self.bytes.clear();
        } else {
            self.settle_doubts(sector);
        }
        self.log.clear();
    }

    /// A sector that was written anew is written whole, and so is what was in doubt on it.
    fn settle_doubts(&mut self, sector: usize) {
        let fresh: BTreeSet<usize> = self
            .log
            .iter()
            .filter_map(|change| match change {
                Change::Write { at, source } => Some(sectors(*at, source.len(), sector)),
                Change::Resize(_) => None,
            })
            .flatten()
            .map(|part| part.start / sector)
            .collect();
        self.durable.resize(self.live.len(), 0);
        for at in &fresh {
            let end = (at + 1).saturating_mul(sector).min(self.live.len());
            if let Some(now) = self.live.get(at * sector..end) {
                self.durable[at * sector..end].copy_from_slice(now);
            }
        }
        let mut left = Vec::new();
        for change in self.doubtful.drain(..) {
            // A length that was in doubt is settled by the sync of any later one, and there is but one length.
            let Change::Write { at, source } = change else {
                continue;
            };
            for part in sectors(at, source.len(), sector) {
                if !fresh.contains(&(part.start / sector)) && part.start < self.live.len() {
                    let from = source.start + (part.start - at);
                    left.push(Change::Write {
                        at: part.start,
                        source: from..from + part.len(),
                    });
                }
            }
        }
        self.doubtful = left;
    }

    /// A sync failed: nobody knows what of the log is durable, and no later sync will say.
    pub(super) fn doubt(&mut self) {
        self.doubtful.append(&mut self.log);
    }

    /// What is found after a crash.
    pub(super) fn crashed(&self, geometry: Geometry, mood: &Mood, dice: &mut Dice) -> Vec<u8> {
        let mut found = self.durable.clone();
        for change in self.doubtful.iter().chain(&self.log) {
            match change {
                Change::Resize(len) => {
                    if matches!(mood.fate(dice), Fate::Kept | Fate::Torn) {
                        found.resize(*len, 0);
                    }
                }
                Change::Write { at, source } => {
                    for part in sectors(*at, source.len(), geometry.sector) {
                        let from = source.start + (part.start - at);
                        let bytes = &self.bytes[from..from + part.len()];
                        strike(&mut found, part.start, bytes, geometry, mood, dice);
                    }
                }
            }
        }
        // The length may be on the platter before the bytes are.
        if !self.is_synced() && found.len() < self.live.len() && dice.coin() {
            found.resize(self.live.len(), 0);
        }
        found
    }
}

/// Decides about one sector's part of a write.
fn strike(
    found: &mut Vec<u8>,
    at: usize,
    bytes: &[u8],
    geometry: Geometry,
    mood: &Mood,
    dice: &mut Dice,
) {
    let start = at - at % geometry.sector;
    match mood.fate(dice) {
        Fate::Kept => put(found, at, bytes),
        Fate::Lost => {}
        Fate::Torn => {
            let middle = (start + geometry.sector / 2).clamp(at, at + bytes.len());
            let (first, second) = bytes.split_at(middle - at);
            if dice.coin() {
                put(found, at, first);
            } else {
                put(found, middle, second);
            }
        }
        Fate::Scrambled if geometry.powersafe => {
            let mut noise = vec![0; bytes.len()];
            dice.fill(&mut noise);
            put(found, at, &noise);
        }
        Fate::Scrambled => {
            // Neighbours in the sector go as well, as far as the file reaches.
            let end = (at + bytes.len()).max(found.len().min(start + geometry.sector));
            let mut noise = vec![0; end - start];
            dice.fill(&mut noise);
            put(found, start, &noise);
        }
    }
}

/// Writes, and makes the file longer where it must be. A hole is zeros.
fn put(file: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let end = at + bytes.len();
    if file.len() < end {
        file.resize(end, 0);
    }
    file[at..end].copy_from_slice(bytes);
}

/// The parts of `len` bytes at `at`, each within one sector.
fn sectors(at: usize, len: usize, sector: usize) -> impl Iterator<Item = Range<usize>> {
    let end = at + len;
    (at / sector..end.div_ceil(sector))
        .map(move |n| (n * sector).max(at)..((n + 1) * sector).min(end))
        .filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GEOMETRY: Geometry = Geometry {
        sector: 4,
        powersafe: true,
    };

    /// What a crash may leave, over many seeds.
    fn images(image: &Image, geometry: Geometry) -> BTreeSet<Vec<u8>> {
        (0..400)
            .map(|seed| {
                let mut dice = Dice::new(seed);
                let mood = Mood::of(&mut dice);
                image.crashed(geometry, &mood, &mut dice)
            })
            .collect()
    }

    #[test]
    fn a_write_is_cut_at_the_sectors() {
        let parts: Vec<_> = sectors(3, 7, 4).collect();
        assert_eq!(parts, [3..4, 4..8, 8..10]);
        assert_eq!(sectors(4, 0, 4).count(), 0);
    }

    #[test]
    fn what_was_synced_is_all_that_a_crash_must_leave() {
        let mut image = Image::default();
        image.write(0, b"aaaabbbb");
        image.sync(4);
        assert_eq!(images(&image, GEOMETRY), [b"aaaabbbb".to_vec()].into());
        image.write(4, b"cccc");
        let found = images(&image, GEOMETRY);
        assert!(found.iter().all(|f| f.starts_with(b"aaaa")));
        for expected in [&b"bbbb"[..], b"cccc", b"ccbb", b"bbcc"] {
            assert!(found.iter().any(|f| &f[4..] == expected), "{expected:?}");
        }
        assert!(found.len() > 4, "some are scrambled");
    }

    #[test]
    fn an_unsafe_overwrite_takes_its_neighbours_along() {
        let mut image = Image::durable(b"aaaabbbb".to_vec());
        image.write(6, b"c");
        let unsafe_one = Geometry {
            powersafe: false,
            ..GEOMETRY
        };
        let spared = |f: &Vec<u8>| &f[4..6] == b"bb" && f[7] == b'b';
        assert!(images(&image, GEOMETRY).iter().all(spared));
        assert!(!images(&image, unsafe_one).iter().all(spared));
        assert!(
            images(&image, unsafe_one)
                .iter()
                .all(|f| f.starts_with(b"aaaa"))
        );
    }

    #[test]
    fn after_a_failed_sync_a_good_one_vouches_only_for_what_was_written_since() {
        let mut image = Image::durable(b"aaaabbbb".to_vec());
        image.write(0, b"ccccdddd");
        image.doubt();
        image.write(5, b"e");
        image.sync(4);
        assert_eq!(image.live(), b"ccccdedd");
        let found = images(&image, GEOMETRY);
        assert!(found.iter().all(|f| &f[4..] == b"dedd"));
        assert!(found.iter().any(|f| &f[..4] == b"aaaa"));
        assert!(found.iter().any(|f| &f[..4] == b"cccc"));
        image.write(0, b"f");
        image.sync(4);
        assert_eq!(images(&image, GEOMETRY), [b"fcccdedd".to_vec()].into());
    }

    #[test]
    fn a_length_may_arrive_before_its_bytes_or_not_at_all() {
        let mut image = Image::durable(b"aaaa".to_vec());
        image.write(4, b"bbbb");
        let found = images(&image, GEOMETRY);
        assert!(found.contains(&b"aaaa".to_vec()[..]));
        assert!(found.contains(&b"aaaa\0\0\0\0".to_vec()[..]));
        image.sync(4);
        image.resize(2);
        let found = images(&image, GEOMETRY);
        assert!(found.contains(&b"aa".to_vec()[..]) && found.contains(&b"aaaabbbb".to_vec()[..]));
    }
}
