//! Cover art beside sound files.

use super::audio;
use super::path::RelativePath;

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
