//! A path below a folder's root: raw bytes inside, readable text outside.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, percent_encode};
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

/// What text form escapes: control characters and the escape sign itself.
const ESCAPED: &AsciiSet = &CONTROLS.add(b'%');

/// A path below the root. File names are bytes, not text, so nothing is lost when one is not UTF-8: its
/// text form escapes what is not readable as `%XX`, and a `%` of the name as `%25`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelativePath(Vec<u8>);

impl RelativePath {
    /// Takes the bytes as they are; whether they stay below the root is judged on opening.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }

    /// Takes a path as the file system gives it.
    pub fn from_path(path: &Path) -> Self {
        Self::from_bytes(path.as_os_str().as_bytes())
    }

    /// Reads the text form, as `InstanceTrack::path` and cover ids hold it.
    pub fn from_text(text: &str) -> Self {
        Self(percent_decode_str(text).collect())
    }

    /// The text form. Every path has one, and [`RelativePath::from_text`] gives the same bytes back.
    pub fn to_text(&self) -> String {
        let mut text = String::with_capacity(self.0.len());
        for chunk in self.0.utf8_chunks() {
            for character in chunk.valid().chars() {
                let mut utf8 = [0; 4];
                let bytes = character.encode_utf8(&mut utf8).as_bytes();
                if character.is_ascii() {
                    text.extend(percent_encode(bytes, ESCAPED));
                } else {
                    text.push(character);
                }
            }
            for byte in chunk.invalid() {
                text.push_str(percent_encoding::percent_encode_byte(*byte));
            }
        }
        text
    }

    /// For the file system.
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// Whether it names something strictly below the root by its form alone: no `..`, not absolute, not
    /// empty. Symbolic links are judged on opening.
    pub fn is_beneath(&self) -> bool {
        let mut named = false;
        for component in self.as_path().components() {
            match component {
                Component::Normal(_) => named = true,
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
            }
        }
        named && !self.0.contains(&0)
    }

    /// The folder it lies in; empty for the root itself.
    pub fn parent(&self) -> RelativePath {
        self.as_path()
            .parent()
            .map_or_else(|| Self(Vec::new()), Self::from_path)
    }

    /// Whether this is `folder` itself or lies somewhere below it.
    pub fn is_under(&self, folder: &RelativePath) -> bool {
        self.as_path().starts_with(folder.as_path())
    }

    /// The last component for people; bytes that are not text show as replacement characters.
    pub fn name(&self) -> String {
        let name = self.as_path().file_name().unwrap_or_default();
        String::from_utf8_lossy(name.as_bytes()).into_owned()
    }

    /// The last component without its extension, for people.
    pub fn stem(&self) -> String {
        let stem = self.as_path().file_stem().unwrap_or_default();
        String::from_utf8_lossy(stem.as_bytes()).into_owned()
    }

    /// The lower-case extension; empty when there is none.
    pub fn suffix(&self) -> String {
        let suffix = self.as_path().extension().unwrap_or_default();
        String::from_utf8_lossy(suffix.as_bytes()).to_lowercase()
    }

    /// An id that stays the same as long as the file stays where it is.
    pub fn id(&self) -> String {
        stable_id(&[&self.0])
    }
}

/// 128 bits of a hash over `parts`, each with its length so that no two lists run together.
pub(super) fn stable_id(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hex::encode(&hash.finalize()[..16])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_readable_path_reads_as_itself() {
        let path = RelativePath::from_bytes("Björk/Jóga 日本 & <x>.flac".as_bytes());
        assert_eq!(path.to_text(), "Björk/Jóga 日本 & <x>.flac");
        assert_eq!(path.suffix(), "flac");
    }

    #[test]
    fn bytes_that_are_not_text_are_escaped() {
        let path = RelativePath::from_bytes(b"caf\xe9/100%\n.mp3");
        assert_eq!(path.to_text(), "caf%E9/100%25%0A.mp3");
    }

    #[test]
    fn only_paths_below_the_root_are_beneath() {
        for good in ["a", "a/b.mp3", "a/..b", "...", "./a"] {
            assert!(RelativePath::from_text(good).is_beneath(), "{good}");
        }
        for bad in ["", ".", "..", "a/../b", "/etc/passwd", "a/..", "a%00b"] {
            assert!(!RelativePath::from_text(bad).is_beneath(), "{bad}");
        }
    }

    #[test]
    fn ids_do_not_run_together() {
        assert_ne!(stable_id(&[b"ab", b"c"]), stable_id(&[b"a", b"bc"]));
    }

    proptest! {
        #[test]
        fn text_form_gives_the_same_bytes_back(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let path = RelativePath::from_bytes(&bytes);
            prop_assert_eq!(RelativePath::from_text(&path.to_text()), path);
        }
    }
}
