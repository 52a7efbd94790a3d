//! What sidecars and their unfinished files are called.

use super::Form;
use crate::io::{Digest, Place, ShelfError, TEMP_PREFIX};
use percent_encoding::percent_decode_str;
use sha2::{Digest as _, Sha256};

/// The longest file name, in bytes, that any common file system takes.
pub const NAME_LIMIT: usize = 255;

/// The sidecar of `track`: the bytes of its own name up to the last dot, and the suffix. Nothing is normalised or
/// replaced, for players compare bytes.
///
/// # Errors
/// [`ShelfError::NameTooLong`] beyond [`NAME_LIMIT`].
pub fn sidecar(track: &Place, form: Form) -> Result<Place, ShelfError> {
    let name = track.name();
    let stem = match name.rfind('.') {
        // A name that only begins with a dot has no suffix.
        None | Some(0) => name,
        Some(dot) => &name[..dot],
    };
    let sidecar = format!("{stem}.{}", form.suffix());
    if percent_decode_str(&sidecar).count() > NAME_LIMIT {
        return Err(ShelfError::NameTooLong);
    }
    Ok(track.beside(&sidecar))
}

/// What the unfinished file of `target` is called: short whatever the track's name, hidden, and of no suffix that
/// anybody picks up.
pub fn temp(target: &Place, new: Digest, seed: u64) -> Place {
    let mut hash = Sha256::new();
    for part in [&target.source, &target.path, &new.to_hex()] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.update(seed.to_be_bytes());
    let tag = hex::encode(&hash.finalize()[..8]);
    target.beside(&format!("{TEMP_PREFIX}{tag}.tmp"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lrc(track: &str) -> Result<String, ShelfError> {
        sidecar(&Place::new("shelf", track), Form::Synced).map(|place| place.path)
    }

    #[test]
    fn a_sidecar_has_the_tracks_own_stem() {
        let cases = [
            ("Band/01. Title.mp3", "Band/01. Title.lrc"),
            ("U.S.A..flac", "U.S.A..lrc"),
            ("a.b/no suffix", "a.b/no suffix.lrc"),
            (".mp3", ".mp3.lrc"),
            ("caf%E9/100%25 %0A#?.mp3", "caf%E9/100%25 %0A#?.lrc"),
            ("カ\u{3099}.m4a", "カ\u{3099}.lrc"),
        ];
        for (track, expected) in cases {
            assert_eq!(lrc(track).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn a_name_is_as_long_as_its_bytes() {
        let fits = "x".repeat(251);
        assert_eq!(lrc(&format!("{fits}.mp3")), Ok(format!("{fits}.lrc")));
        let escaped = "%E9".repeat(251);
        assert_eq!(lrc(&format!("{escaped}.mp3")), Ok(format!("{escaped}.lrc")));
        let long = "x".repeat(252);
        assert_eq!(lrc(&format!("{long}.wv")), Err(ShelfError::NameTooLong));
    }

    #[test]
    fn unfinished_files_are_hidden_and_told_apart() {
        let target = Place::new("shelf", "Band/Song.lrc");
        let new = Digest::of(b"la");
        let one = temp(&target, new, 1);
        assert!(one.is_temp());
        assert_eq!(one.folder(), "Band");
        assert!(one.path.ends_with(".tmp"));
        assert_ne!(one, temp(&target, new, 2));
        assert_ne!(one, temp(&target, Digest::of(b"lala"), 1));
    }
}
