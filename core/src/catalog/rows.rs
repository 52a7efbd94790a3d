//! All sources' rows in one order that does not depend on how they came in; rows that cannot be used are named and left out.

use super::model::{InstanceAlbum, InstanceArtist, InstanceTrack, MergeInput, MergeInstance, Of};
use super::normalise::fold;
use super::sets::index;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// A usable row and the number of its source.
pub(super) struct Row<'a, T> {
    pub(super) instance: u32,
    pub(super) row: &'a T,
}

/// An album, listed by its source or made up for tracks whose album is not.
pub(super) struct AlbumRow<'a> {
    pub(super) instance: u32,
    pub(super) remote_id: Cow<'a, str>,
    pub(super) row: &'a InstanceAlbum,
    pub(super) listed: bool,
}

/// The rows, each list sorted by (source, remote id) and free of duplicates.
pub(super) struct Rows<'a> {
    /// Sorted by id, so that a source's number orders as its id does.
    pub(super) instances: Vec<&'a MergeInstance>,
    pub(super) artists: Vec<Row<'a, InstanceArtist>>,
    pub(super) albums: Vec<AlbumRow<'a>>,
    pub(super) tracks: Vec<Row<'a, InstanceTrack>>,
    /// The album of each track.
    pub(super) album_of: Vec<u32>,
    /// The tracks of each album, in the order of `tracks`.
    pub(super) tracks_of: Vec<Vec<u32>>,
    /// One sentence for each row that was left out.
    pub(super) skipped: Vec<String>,
}

/// More sentences than this help nobody.
const MOST_SKIPPED: usize = 1_000;

impl<'a> Rows<'a> {
    /// Sorts and checks what came in.
    pub(super) fn of(input: &'a MergeInput) -> Self {
        let mut skipped = Vec::new();
        let mut instances: Vec<&MergeInstance> = input.instances.iter().collect();
        instances.sort_by(|a, b| a.id.cmp(&b.id).then(b.local.cmp(&a.local)));
        instances.dedup_by(|again, first| again.id == first.id);
        let artists = usable(&input.artists, &instances, "artist", &mut skipped);
        let listed = usable(&input.albums, &instances, "album", &mut skipped);
        let tracks = usable(&input.tracks, &instances, "track", &mut skipped);
        if skipped.len() > MOST_SKIPPED {
            let more = skipped.len() - MOST_SKIPPED;
            skipped.truncate(MOST_SKIPPED);
            skipped.push(format!("{more} more rows were skipped"));
        }
        let (albums, album_of) = shelve(listed, &tracks);
        let mut tracks_of = vec![Vec::new(); albums.len()];
        for (track, album) in album_of.iter().enumerate() {
            tracks_of[*album as usize].push(index(track));
        }
        Rows {
            instances,
            artists,
            albums,
            tracks,
            album_of,
            tracks_of,
            skipped,
        }
    }

    /// The id of a source by its number.
    pub(super) fn instance(&self, number: u32) -> &'a str {
        &self.instances[number as usize].id
    }

    /// Whether a source is local, by its number.
    pub(super) fn is_local(&self, number: u32) -> bool {
        self.instances[number as usize].local
    }

    /// The artist row that a source knows by `remote_id`.
    pub(super) fn artist_row(&self, instance: u32, remote_id: &str) -> Option<u32> {
        let of = |row: &Row<'_, InstanceArtist>| {
            (row.instance, row.row.remote_id.as_str()).cmp(&(instance, remote_id))
        };
        self.artists.binary_search_by(of).ok().map(index)
    }
}

trait Remote {
    fn remote_id(&self) -> &str;
}

impl Remote for InstanceArtist {
    fn remote_id(&self) -> &str {
        &self.remote_id
    }
}

impl Remote for InstanceAlbum {
    fn remote_id(&self) -> &str {
        &self.remote_id
    }
}

impl Remote for InstanceTrack {
    fn remote_id(&self) -> &str {
        &self.remote_id
    }
}

fn usable<'a, T: Ord + Remote>(
    rows: &'a [Of<T>],
    instances: &[&MergeInstance],
    what: &str,
    skipped: &mut Vec<String>,
) -> Vec<Row<'a, T>> {
    let mut usable = Vec::with_capacity(rows.len());
    let mut refused = Vec::new();
    for Of { instance, row } in rows {
        let known = instances.binary_search_by(|known| known.id.as_str().cmp(instance));
        match known {
            Err(_) => refused.push(format!(
                "{what} {} is of an unknown source {}",
                short(row.remote_id()),
                short(instance)
            )),
            Ok(_) if row.remote_id().is_empty() => {
                refused.push(format!("{what} without an id from {instance}"))
            }
            Ok(at) => usable.push(Row {
                instance: index(at),
                row,
            }),
        }
    }
    // By the whole row: of two rows with one id it must not matter which came first.
    usable.sort_by(|a, b| {
        (a.instance, a.row.remote_id())
            .cmp(&(b.instance, b.row.remote_id()))
            .then_with(|| a.row.cmp(b.row))
    });
    usable.dedup_by(|again, first| {
        let same =
            again.instance == first.instance && again.row.remote_id() == first.row.remote_id();
        if same {
            refused.push(format!(
                "{what} {} of {} came twice",
                short(again.row.remote_id()),
                instances[again.instance as usize].id
            ));
        }
        same
    });
    refused.sort();
    skipped.append(&mut refused);
    usable
}

/// An outside string, quoted and cut: it goes into a sentence.
fn short(text: &str) -> String {
    let cut: String = text.chars().take(40).collect();
    format!("{cut:?}")
}

/// What an album that its source does not list looks like.
static UNLISTED: InstanceAlbum = InstanceAlbum {
    remote_id: String::new(),
    name: String::new(),
    artist_remote_id: None,
    artist_name: String::new(),
    year: None,
    genres: Vec::new(),
    musicbrainz_id: None,
    release_group_mbid: None,
    cover_art: None,
    created: None,
    is_compilation: false,
};

/// Gives each track its album. A track whose album is not listed is not lost: tracks with the same unlisted album share a
/// made-up one, tracks without any album share one for each artist.
fn shelve<'a>(
    listed: Vec<Row<'a, InstanceAlbum>>,
    tracks: &[Row<'a, InstanceTrack>],
) -> (Vec<AlbumRow<'a>>, Vec<u32>) {
    let place = |listed: &[Row<'a, InstanceAlbum>], track: &Row<'a, InstanceTrack>| {
        let wanted = (track.instance, track.row.album_remote_id.as_str());
        listed
            .binary_search_by(|album| (album.instance, album.row.remote_id.as_str()).cmp(&wanted))
            .ok()
    };
    let found: Vec<Option<usize>> = tracks.iter().map(|track| place(&listed, track)).collect();
    let stray = |track: &Row<'a, InstanceTrack>| -> (u32, Cow<'a, str>) {
        let album = track.row.album_remote_id.as_str();
        // A remote id never begins with NUL: no listed album has this one.
        let id = if album.is_empty() {
            Cow::Owned(format!("\0{}", fold(&track.row.artist_name)))
        } else {
            Cow::Borrowed(album)
        };
        (track.instance, id)
    };
    let strays: BTreeSet<(u32, Cow<'a, str>)> = tracks
        .iter()
        .zip(&found)
        .filter(|(_, found)| found.is_none())
        .map(|(track, _)| stray(track))
        .collect();
    let first_stray = listed.len();
    let numbers: BTreeMap<&(u32, Cow<'a, str>), usize> = strays.iter().zip(first_stray..).collect();
    let album_of = tracks
        .iter()
        .zip(found)
        .map(|(track, found)| index(found.unwrap_or_else(|| numbers[&stray(track)])))
        .collect();
    let listed = listed.into_iter().map(|Row { instance, row }| AlbumRow {
        instance,
        remote_id: Cow::Borrowed(row.remote_id.as_str()),
        row,
        listed: true,
    });
    let made_up = strays.iter().map(|(instance, remote_id)| AlbumRow {
        instance: *instance,
        remote_id: remote_id.clone(),
        row: &UNLISTED,
        listed: false,
    });
    (listed.chain(made_up).collect(), album_of)
}
