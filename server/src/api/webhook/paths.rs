//! Paths of another machine, and what of the library they may mean. Nothing is opened: a path only finds what is in the
//! library already.

use segue_sqlite::PlacedTrack;
use std::collections::BTreeSet;

/// Files of one event that are looked for.
const FILES: usize = 1_000;

/// The end of a path means something from this many names on: `01.flac` alone is in every folder.
const LEAST_NAMES: usize = 2;

/// Longer ends than this are not compared.
const MOST_NAMES: usize = 8;

/// A music folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Root {
    /// Its source.
    pub(super) instance: String,
    /// Where it is on this machine.
    pub(super) path: String,
}

/// What one path may mean, best first.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// This file of this source, and nothing else.
    Below { instance: String, path: String },
    /// A file whose path ends like this; longest first.
    Ending(Vec<String>),
}

/// What the paths of an event may mean.
#[derive(Debug, Default)]
pub(super) struct Places(Vec<Place>);

impl Places {
    /// Sorts out an event's paths. One that leads upwards, or is not absolute, means nothing.
    pub(super) fn of(roots: &[Root], paths: &[String]) -> Self {
        let place = |path: &String| {
            let names = names(path)?;
            if let Some((instance, path)) = below(roots, &names) {
                return Some(Place::Below { instance, path });
            }
            let most = names.len().min(MOST_NAMES);
            let ends = (LEAST_NAMES..=most)
                .rev()
                .map(|count| text(&names[names.len() - count..]));
            Some(Place::Ending(ends.collect()))
        };
        Places(paths.iter().take(FILES).filter_map(place).collect())
    }

    /// All paths that the library is to be asked for.
    pub(super) fn candidates(&self) -> Vec<String> {
        let all = self.0.iter().flat_map(|place| match place {
            Place::Below { path, .. } => std::slice::from_ref(path),
            Place::Ending(ends) => ends,
        });
        let distinct: BTreeSet<&String> = all.collect();
        distinct.into_iter().cloned().collect()
    }

    /// The tracks that are meant. An end that several tracks have means none of them.
    pub(super) fn tracks(&self, found: &[PlacedTrack]) -> BTreeSet<String> {
        let meant = self.0.iter().filter_map(|place| match place {
            Place::Below { instance, path } => found
                .iter()
                .find(|track| track.instance_id == *instance && track.path == *path)
                .map(|track| track.track_id.clone()),
            Place::Ending(ends) => ends.iter().find_map(|end| {
                let with_end = found.iter().filter(|track| track.path == *end);
                let ids: BTreeSet<&String> = with_end.map(|track| &track.track_id).collect();
                match ids.len() {
                    1 => ids.first().map(|id| (*id).clone()),
                    _ => None,
                }
            }),
        });
        meant.collect()
    }
}

/// The source whose folder holds a path.
pub(super) fn root_of<'r>(roots: &'r [Root], path: &str) -> Option<&'r str> {
    let (instance, _) = below(roots, &names(path)?)?;
    let root = roots.iter().find(|root| root.instance == instance);
    root.map(|root| root.instance.as_str())
}

/// The innermost root that a path lies below, and where it lies there.
fn below(roots: &[Root], path: &[&str]) -> Option<(String, String)> {
    let inside = roots.iter().filter_map(|root| {
        let root_names = names(&root.path)?;
        let rest = path.strip_prefix(root_names.as_slice())?;
        (!rest.is_empty()).then_some((root_names.len(), root, rest))
    });
    let (_, root, rest) = inside.max_by_key(|(depth, ..)| *depth)?;
    Some((root.instance.clone(), text(rest)))
}

/// The names of an absolute path, of Windows as well; `None` for any other, and for one that leads upwards.
fn names(path: &str) -> Option<Vec<&str>> {
    let bytes = path.as_bytes();
    let drive = matches!(bytes, [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
    let is_windows = drive || path.starts_with("\\\\");
    if !is_windows && !path.starts_with('/') {
        return None;
    }
    let is_separator = |c: char| c == '/' || (is_windows && c == '\\');
    let names: Vec<&str> = path
        .split(is_separator)
        .filter(|name| !name.is_empty() && *name != ".")
        .collect();
    let is_upwards = names.contains(&"..") || path.contains('\0');
    (!is_upwards).then_some(names)
}

/// Names as the library writes a folder's path: control characters and the percent sign are escaped.
fn text(names: &[&str]) -> String {
    let mut text = String::new();
    for (at, name) in names.iter().enumerate() {
        if at > 0 {
            text.push('/');
        }
        for c in name.chars() {
            match c {
                '%' => text.push_str("%25"),
                c if c.is_ascii_control() => text.push_str(&format!("%{:02X}", u32::from(c))),
                c => text.push(c),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots() -> Vec<Root> {
        let root = |instance: &str, path: &str| Root {
            instance: instance.to_owned(),
            path: path.to_owned(),
        };
        vec![root("shelf", "/srv/music"), root("new", "/srv/music/new/")]
    }

    fn places(path: &str) -> Vec<String> {
        Places::of(&roots(), &[path.to_owned()]).candidates()
    }

    fn placed(path: &str, instance: &str, track: &str) -> PlacedTrack {
        PlacedTrack {
            path: path.to_owned(),
            instance_id: instance.to_owned(),
            track_id: track.to_owned(),
        }
    }

    #[test]
    fn below_a_root_a_path_means_that_file_only() {
        assert_eq!(places("/srv/music/A/b.flac"), ["A/b.flac"]);
        assert_eq!(places("/srv/music/new/A/b.flac"), ["A/b.flac"]);
        assert_eq!(places("/srv//music/./A/100%\u{1}.mp3"), ["A/100%25%01.mp3"]);
        assert_eq!(root_of(&roots(), "/srv/music/new/x"), Some("new"));
        assert_eq!(root_of(&roots(), "/srv/musical/x"), None);
    }

    #[test]
    fn elsewhere_it_means_what_ends_like_it() {
        assert_eq!(
            places("/data/A/B/c.flac"),
            ["A/B/c.flac", "B/c.flac", "data/A/B/c.flac"]
        );
        assert_eq!(places("/c.flac"), [""; 0]);
        assert_eq!(
            places("D:\\Music\\A\\c.flac"),
            ["A/c.flac", "D:/Music/A/c.flac", "Music/A/c.flac"]
        );
    }

    #[test]
    fn what_leads_upwards_or_is_relative_means_nothing() {
        for path in [
            "/srv/music/../etc/passwd",
            "A/b.flac",
            "",
            "/a/\0/b",
            "..\\x",
        ] {
            assert_eq!(places(path), [""; 0], "{path}");
        }
    }

    #[test]
    fn the_longest_end_counts_and_one_that_several_have_does_not() {
        let places = |path: &str| Places::of(&roots(), &[path.to_owned()]);
        let found = [
            placed("A/One/01.flac", "shelf", "t1"),
            placed("A/One/01.flac", "home", "t1"),
            placed("One/01.flac", "home", "t2"),
            placed("B/02.flac", "shelf", "t3"),
            placed("B/02.flac", "home", "t4"),
        ];
        let tracks =
            |path: &str| -> Vec<String> { places(path).tracks(&found).into_iter().collect() };
        assert_eq!(tracks("/m/A/One/01.flac"), ["t1"]);
        assert_eq!(tracks("/m/C/One/01.flac"), ["t2"]);
        assert_eq!(tracks("/m/B/02.flac"), [""; 0]);
        assert_eq!(tracks("/srv/music/B/02.flac"), ["t3"]);
        assert_eq!(tracks("/srv/music/One/01.flac"), [""; 0]);
    }
}
