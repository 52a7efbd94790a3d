//! A music folder as people have them: tagged and untagged, names of all kinds, and some words of their own beside it.

use segue::providers_fake::lrclib::{Lrclib, Record};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use unicode_normalization::UnicodeNormalization;

/// Length of each song.
pub(crate) const SECONDS: u32 = 60;

/// What lies in a folder: where, and what it holds since when.
pub(crate) type Files = BTreeMap<PathBuf, (Vec<u8>, SystemTime)>;

/// What there is of a song.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Has {
    /// The provider has timed words.
    Timed,
    /// The provider has words.
    Plain,
    /// The provider knows that nobody sings.
    Nobody,
    /// A file of somebody's own lies beside it, with this suffix.
    Own(&'static str),
    /// No tags: nobody can be asked.
    Untagged,
}

/// One song, in one file or in several.
#[derive(Clone, Debug)]
pub(crate) struct Song {
    /// This and the title as most people write them.
    pub(crate) artist: String,
    pub(crate) title: String,
    /// Below the root, without suffix.
    pub(crate) stems: Vec<String>,
    pub(crate) has: Has,
}

impl Song {
    /// The sidecars that are to lie beside it in the end.
    pub(crate) fn sidecars(&self) -> Vec<PathBuf> {
        let suffix = match self.has {
            Has::Timed => "lrc",
            Has::Plain => "txt",
            Has::Nobody | Has::Own(_) | Has::Untagged => return Vec::new(),
        };
        let sidecar = |stem: &String| PathBuf::from(format!("{stem}.{suffix}"));
        self.stems.iter().map(sidecar).collect()
    }

    /// A line of its words.
    pub(crate) fn line(&self, number: usize) -> String {
        let Song { artist, title, .. } = self;
        match number % 3 {
            0 => format!("{title}, where the river bends for the {number}th time"),
            1 => format!("紙の舟が行く {title} {number}"),
            _ => format!("down with {artist}, {number} boats of paper"),
        }
    }

    fn words(&self, stamped: bool) -> String {
        let stamp = |at: usize| match stamped {
            true => format!("[00:{:02}.{:02}]", at, at * 7 % 100),
            false => String::new(),
        };
        let lines = (1..55).map(|at| format!("{}{}\n", stamp(at), self.line(at)));
        lines.collect()
    }
}

/// A name as most people write it.
pub(crate) fn nfc(name: &str) -> String {
    name.nfc().collect()
}

/// One sitting's songs, of which no two have the same title.
pub(crate) fn album(number: usize) -> Vec<Song> {
    let nfd = "Cafe\u{301} Stu\u{308}ck カ\u{3099}";
    let song = |artist: &str, title: String, file: &str, has: Has| Song {
        artist: nfc(artist),
        stems: vec![format!("{number:03} Rivers/{file}")],
        title: nfc(&title),
        has,
    };
    let boats = "The Paper Boats";
    let own = match number % 2 {
        0 => "lrc",
        _ => "txt",
    };
    let mut songs = vec![
        song(
            boats,
            format!("Lantern {number}"),
            "01. Lantern",
            Has::Timed,
        ),
        song(boats, format!("Harbour {number}"), "02. U.S.A.", Has::Plain),
        song(
            "紙の舟",
            format!("夜の歌 {number}"),
            "03 夜の歌",
            Has::Timed,
        ),
        song("Bjo\u{308}rn", format!("{nfd} {number}"), nfd, Has::Timed),
        song(
            boats,
            format!("By Hand {number}"),
            "05 By Hand",
            Has::Own(own),
        ),
    ];
    match number % 4 {
        0 => songs.push(song("", String::new(), "06 who knows", Has::Untagged)),
        1 => songs.push(song(boats, format!("Drift {number}"), "06", Has::Nobody)),
        2 => songs[0].stems.push(format!("{number:03} Best of/Lantern")),
        _ => {}
    }
    songs
}

/// Puts songs into a folder, and their words into the provider's hands; what was put there.
pub(crate) fn release(root: &Path, lrclib: &Lrclib, songs: &[Song]) -> Files {
    let mut put = Files::new();
    for song in songs {
        for (copy, stem) in song.stems.iter().enumerate() {
            let album = stem.split('/').next().expect("a folder");
            fs::create_dir_all(root.join(album)).expect("made");
            let name = PathBuf::from(format!("{stem}.wav"));
            // Tags come from the same hand as the name.
            let tag = |text: &str| match stem.nfc().eq(stem.chars()) {
                true => text.to_owned(),
                false => text.nfd().collect(),
            };
            let (artist, title) = (tag(&song.artist), tag(&song.title));
            put.extend(write(root, name, &wav(&artist, album, &title)));
            if let (Has::Own(suffix), 0) = (song.has, copy) {
                let words = song.words(suffix == "lrc");
                let name = PathBuf::from(format!("{stem}.{suffix}"));
                put.extend(write(root, name, words.as_bytes()));
            }
        }
        let record = Record::new(&song.title, &song.artist, SECONDS.into());
        lrclib.publish(match song.has {
            Has::Untagged => continue,
            Has::Plain => record.plain(&song.words(false)),
            Has::Nobody => record.instrumental(),
            // Somebody's own words need nobody to be asked; if they are, it shows.
            Has::Timed | Has::Own(_) => record.synced(&song.words(true)),
        });
    }
    put
}

fn write(root: &Path, name: PathBuf, bytes: &[u8]) -> [(PathBuf, (Vec<u8>, SystemTime)); 1] {
    let path = root.join(&name);
    // As players and copies do: under another name first, so that no scan sees half a file.
    let unfinished = path.with_extension("part");
    fs::write(&unfinished, bytes).expect("written");
    fs::rename(&unfinished, &path).expect("named");
    let since = fs::metadata(&path).and_then(|found| found.modified());
    [(name, (bytes.to_vec(), since.expect("a time")))]
}

/// All that lies in a folder. What vanishes while it is read is not there.
pub(crate) fn files(root: &Path) -> Files {
    let mut found = Files::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let Ok(metadata) = fs::metadata(&path) else {
                continue;
            };
            if metadata.is_dir() {
                folders.push(path);
            } else if let Ok(bytes) = fs::read(&path) {
                let name = path.strip_prefix(root).expect("below").to_owned();
                found.insert(name, (bytes, metadata.modified().expect("a time")));
            }
        }
    }
    found
}

/// Names only, which is quick enough to catch a file that is there for a moment.
pub(crate) fn names(root: &Path) -> impl Iterator<Item = String> {
    let folders = fs::read_dir(root).expect("a folder");
    let folders = folders.map(|entry| entry.expect("an entry").path());
    let entries = folders.flat_map(|folder| fs::read_dir(folder).into_iter().flatten());
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok())
}

/// Some sound, tagged unless there is nothing to say.
fn wav(artist: &str, album: &str, title: &str) -> Vec<u8> {
    const RATE: u32 = 100;
    let mut info = b"INFO".to_vec();
    for (key, value) in [(b"IART", artist), (b"IPRD", album), (b"INAM", title)] {
        if title.is_empty() {
            continue;
        }
        let mut value = value.as_bytes().to_vec();
        value.push(0);
        info.extend(key);
        info.extend((value.len() as u32).to_le_bytes());
        value.resize(value.len().next_multiple_of(2), 0);
        info.extend(value);
    }
    let samples: Vec<u8> = (0..SECONDS * RATE).map(|n| (n * 7) as u8).collect();
    let mut wav = b"RIFF\0\0\0\0WAVEfmt ".to_vec();
    wav.extend(16_u32.to_le_bytes());
    wav.extend([1, 0, 1, 0]);
    wav.extend(RATE.to_le_bytes());
    wav.extend(RATE.to_le_bytes());
    wav.extend([1, 0, 8, 0]);
    for (name, chunk) in [(b"LIST", &info), (b"data", &samples)] {
        wav.extend(name);
        wav.extend((chunk.len() as u32).to_le_bytes());
        wav.extend(chunk);
    }
    let riff = wav.len() as u32 - 8;
    wav[4..8].copy_from_slice(&riff.to_le_bytes());
    wav
}
