//! Cover art beside and inside sound files.

use super::audio;
use super::path::RelativePath;
use super::tags::{self, Pictures};
use bytes::Bytes;
use lofty::file::TaggedFileExt;
use lofty::picture::{Picture, PictureType};
use std::fs::File;

/// The largest picture that is served; larger ones are as good as none.
pub(super) const MAX_COVER: usize = 20 * 1024 * 1024;

/// Names of pictures that stand for the folder they lie in, best first.
const NAMES: [&str; 4] = ["cover", "folder", "front", "album"];

/// How well a picture stands for its folder, 0 best; `None` when it does not.
pub(super) fn rank_beside(path: &RelativePath) -> Option<usize> {
    let stem = path.stem().to_lowercase();
    let suffix = path.suffix();
    (audio::is_picture(&suffix) && suffix != "gif")
        .then(|| NAMES.iter().position(|name| *name == stem))
        .flatten()
}

/// The picture inside a sound file, the front cover before any other. `None` when there is none or the
/// file cannot be read.
pub(super) fn embedded(file: File, suffix: &str) -> Option<Bytes> {
    let (tagged, _) = tags::parse(file, suffix, Pictures::Read).ok()?;
    let pictures = || tagged.tags().iter().flat_map(|tag| tag.pictures());
    let front = pictures().find(|picture| picture.pic_type() == PictureType::CoverFront);
    let picture: &Picture = front.or_else(|| pictures().next())?;
    (picture.data().len() <= MAX_COVER).then(|| Bytes::copy_from_slice(picture.data()))
}
