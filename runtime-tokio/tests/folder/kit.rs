//! What the tests of music folders share.

use segue_core::catalog::model::{InstanceTrack, Pass};
use segue_runtime_tokio::folder::{ScanError, Scanned, Watch, scan};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

/// A music folder under construction.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// The folder that the music folder lies in.
    pub(crate) fn beside(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.0.path().join("music")
    }

    pub(crate) fn write(&self, path: impl AsRef<Path>, bytes: &[u8]) -> PathBuf {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn tone(&self, fixture: &str, path: impl AsRef<Path>) -> PathBuf {
        self.write(path, &fixture_bytes(fixture))
    }

    pub(crate) fn scan(&self) -> Scanned {
        self.scan_after(&Pass::default())
    }

    pub(crate) fn scan_after(&self, previous: &Pass) -> Scanned {
        try_scan(&self.root(), previous).unwrap()
    }
}

pub(crate) fn try_scan(root: &Path, previous: &Pass) -> Result<Scanned, ScanError> {
    let watch = Watch {
        cancelled: &AtomicBool::new(false),
        progress: &|_| {},
    };
    scan(root, previous, watch)
}

pub(crate) fn fixture_bytes(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    fs::read(path.join(name)).unwrap()
}

/// A second of silence without any tag.
pub(crate) fn plain_wav() -> Vec<u8> {
    let samples = 8000_u32 * 2;
    let mut wav = Vec::new();
    wav.extend(b"RIFF");
    wav.extend((36 + samples).to_le_bytes());
    wav.extend(b"WAVEfmt ");
    wav.extend(16_u32.to_le_bytes());
    wav.extend([1_u16.to_le_bytes(), 1_u16.to_le_bytes()].concat());
    wav.extend(8000_u32.to_le_bytes());
    wav.extend(16000_u32.to_le_bytes());
    wav.extend([2_u16.to_le_bytes(), 16_u16.to_le_bytes()].concat());
    wav.extend(b"data");
    wav.extend(samples.to_le_bytes());
    wav.resize(wav.len() + samples as usize, 0);
    wav
}

/// The same with artist and album in an `INFO` list.
pub(crate) fn wav_by(artist: &str, album: &str) -> Vec<u8> {
    let mut info = b"INFO".to_vec();
    for (key, value) in [(b"IART", artist), (b"IPRD", album)] {
        let mut value = value.as_bytes().to_vec();
        value.push(0);
        info.extend(key);
        info.extend(u32::try_from(value.len()).unwrap().to_le_bytes());
        value.resize(value.len().next_multiple_of(2), 0);
        info.extend(value);
    }
    let mut wav = plain_wav();
    wav.extend(b"LIST");
    wav.extend(u32::try_from(info.len()).unwrap().to_le_bytes());
    wav.extend(info);
    let riff = u32::try_from(wav.len() - 8).unwrap();
    wav[4..8].copy_from_slice(&riff.to_le_bytes());
    wav
}

/// Monkey's Audio as its header says it, with an APEv2 tag and no frames worth decoding.
pub(crate) fn tagged_ape() -> Vec<u8> {
    let mut ape = Vec::new();
    ape.extend(b"MAC ");
    ape.extend(3990_u16.to_le_bytes());
    ape.extend(0_u16.to_le_bytes());
    // Descriptor, header, seek table, WAV header, frame data (low and high), trailing data.
    for length in [52_u32, 24, 4, 0, 16, 0, 0] {
        ape.extend(length.to_le_bytes());
    }
    ape.extend([0; 16]);
    // Compression level and flags, then blocks per frame, final blocks, frames; depth, channels, rate.
    ape.extend([2000_u16.to_le_bytes(), 0_u16.to_le_bytes()].concat());
    for count in [73728_u32, 22050, 1] {
        ape.extend(count.to_le_bytes());
    }
    ape.extend([16_u16.to_le_bytes(), 2_u16.to_le_bytes()].concat());
    ape.extend(44100_u32.to_le_bytes());
    ape.extend([0; 4 + 16]);
    let mut items = Vec::new();
    for (key, value) in [("Title", "Jóga"), ("Track", "3/12"), ("Year", "1997")] {
        items.extend(u32::try_from(value.len()).unwrap().to_le_bytes());
        items.extend(0_u32.to_le_bytes());
        items.extend(key.as_bytes());
        items.push(0);
        items.extend(value.as_bytes());
    }
    ape.extend(&items);
    ape.extend(b"APETAGEX");
    let size = u32::try_from(items.len() + 32).unwrap();
    for field in [2000, size, 3, 0, 0, 0] {
        ape.extend(field.to_le_bytes());
    }
    ape
}

pub(crate) fn track<'a>(pass: &'a Pass, path: &str) -> &'a InstanceTrack {
    pass.tracks
        .iter()
        .find(|track| track.path.as_deref() == Some(path))
        .unwrap_or_else(|| panic!("no row for {path}: {pass:#?}"))
}
