//! Lyrics beside and inside sound files, as they are: what they mean is decided in core.

use super::audio;
use super::path::RelativePath;
use super::root::{OpenError, Root};
use super::words;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use segue_core::provider::REPLY_LIMIT;
use segue_core::provider::local::{Embedded, SUFFIXES, Sidecar};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use unicode_normalization::UnicodeNormalization;

/// The largest sidecar that is read; no larger text is taken for lyrics anyway.
const MAX_SIDECAR: u64 = 1024 * 1024;

/// What the document needs besides its entries.
const FRAME: usize = 64;

/// The document for the sound file at `path`. Blocks.
///
/// # Errors
/// When the root, the sound file or a sidecar cannot be opened. Tags that cannot be understood are no lyrics.
pub(super) fn beside(root: &Root, path: &RelativePath) -> Result<Bytes, OpenError> {
    let suffix = path.suffix();
    if !audio::is_sound(&suffix) {
        return Err(OpenError::Missing);
    }
    let (file, _) = root.open_file(path)?;
    let mut room = REPLY_LIMIT - FRAME;
    let mut sidecars: Vec<Sidecar> = Vec::new();
    for name in names_beside(path) {
        if let Some(sidecar) = read_sidecar(root, &name)?
            && takes_room(&mut room, &sidecar)
        {
            sidecars.push(sidecar);
        }
    }
    let mut embedded: Vec<Embedded> =
        words::embedded(file, &suffix).map_err(OpenError::Unreadable)?;
    embedded.retain(|words| takes_room(&mut room, words));
    let document = segue_core::provider::local::Beside { sidecars, embedded };
    let json =
        serde_json::to_vec(&document).map_err(|error| OpenError::Unreadable(error.into()))?;
    Ok(json.into())
}

/// Whether there is room for one more entry, comma included: the document stays within what a lane reads.
fn takes_room(room: &mut usize, entry: &impl Serialize) -> bool {
    let Ok(json) = serde_json::to_vec(entry) else {
        return false;
    };
    let fits = json.len() < *room;
    if fits {
        *room -= json.len() + 1;
    }
    fits
}

/// Where sidecars may lie: the stem with each suffix, best first. Files that were made elsewhere may write the same
/// letters in another way, so the stem is also tried composed and decomposed; suffixes are tried in capitals.
fn names_beside(path: &RelativePath) -> Vec<RelativePath> {
    let stem = path.as_path().file_stem().unwrap_or_default();
    let mut stems = vec![stem.as_bytes().to_vec()];
    if let Some(text) = stem.to_str() {
        let forms = [
            text.nfc().collect::<String>(),
            text.nfd().collect::<String>(),
        ];
        stems.extend(forms.map(String::into_bytes));
    }
    let mut seen = BTreeSet::new();
    let mut names = Vec::new();
    for (suffix, _) in SUFFIXES {
        for suffix in [suffix.to_owned(), suffix.to_ascii_uppercase()] {
            for stem in &stems {
                let name = [stem.as_slice(), b".", suffix.as_bytes()].concat();
                let name = path.as_path().with_file_name(OsStr::from_bytes(&name));
                let name = RelativePath::from_path(&name);
                if seen.insert(name.clone()) {
                    names.push(name);
                }
            }
        }
    }
    names
}

/// A sidecar; `None` when it is not there, leads out of the root, may not be read or is too large.
fn read_sidecar(root: &Root, path: &RelativePath) -> Result<Option<Sidecar>, OpenError> {
    let file = match root.open_file(path) {
        Ok((file, metadata)) if metadata.len() <= MAX_SIDECAR => file,
        Ok(_) | Err(OpenError::Missing | OpenError::Outside) => return Ok(None),
        Err(OpenError::Unreadable(error)) if error.kind() == ErrorKind::PermissionDenied => {
            tracing::warn!("a sidecar may not be read");
            return Ok(None);
        }
        Err(error @ (OpenError::NoRoot(..) | OpenError::Unreadable(_))) => return Err(error),
    };
    let Some(bytes) = read_bounded(file).map_err(OpenError::Unreadable)? else {
        return Ok(None);
    };
    Ok(Some(Sidecar {
        name: path.name(),
        sha256: hex::encode(Sha256::digest(&bytes)),
        base64: STANDARD.encode(&bytes),
    }))
}

/// A whole file; `None` when it has grown too large meanwhile.
fn read_bounded(file: File) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(MAX_SIDECAR + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= MAX_SIDECAR).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &[u8]) -> Vec<RelativePath> {
        names_beside(&RelativePath::from_bytes(path))
    }

    #[test]
    fn a_stem_is_the_name_without_its_last_extension() {
        for (path, first) in [
            (&b"a/U.S.A..flac"[..], &b"a/U.S.A..ttml"[..]),
            (b"01. Title.mp3", b"01. Title.ttml"),
            (b"caf\xe9.mp3", b"caf\xe9.ttml"),
        ] {
            assert_eq!(names(path)[0], RelativePath::from_bytes(first));
        }
    }

    #[test]
    fn letters_are_looked_for_in_both_forms() {
        let composed = RelativePath::from_bytes("x/ガ.lrc".as_bytes());
        let decomposed = RelativePath::from_bytes("x/カ\u{3099}.lrc".as_bytes());
        for audio in ["x/ガ.flac", "x/カ\u{3099}.flac"] {
            let names = names(audio.as_bytes());
            assert!(names.contains(&composed) && names.contains(&decomposed));
        }
    }
}
