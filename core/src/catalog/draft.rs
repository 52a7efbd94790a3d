//! The library in the making: who is who is settled, ids are not. What is shown of an entity comes from its best-ranked source that says it.

use super::artists::{Artists, artist_key};
use super::facts::{AlbumFacts, TrackFacts};
use super::matching::Cluster;
use super::model::{
    CoverRef, InstanceAlbum, InstanceTrack, TrackSource, UnifiedArtist, UnifiedRelease,
    UnifiedReleaseGroup, UnifiedTrack,
};
use super::normalise::{display, fold, sort_key};
use super::rows::Rows;
use super::sets::index;
use crate::rank::{RankKey, compare_unpreferred, format_rank};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Shown for an album without a name.
const UNKNOWN_ALBUM: &str = "[Unknown Album]";

/// Shown for a track without a title.
const UNKNOWN_TRACK: &str = "[Unknown Track]";

/// Which rows are one. Groups, releases and recordings are numbered; the lists say each row's number.
pub(super) struct Identity<'a> {
    pub(super) artists: Artists<'a>,
    pub(super) albums: Vec<AlbumFacts<'a>>,
    pub(super) tracks: Vec<TrackFacts<'a>>,
    /// The release group of each album, and how many there are.
    pub(super) group_of: (Vec<u32>, usize),
    /// The release of each album, and how many there are.
    pub(super) release_of: (Vec<u32>, usize),
    /// The tracks of each recording.
    pub(super) recordings: Vec<Cluster>,
    /// The release group of each recording, ascending.
    pub(super) group_of_recording: Vec<u32>,
}

/// Unified rows without ids, by number.
pub(super) struct Draft {
    pub(super) artists: Vec<UnifiedArtist>,
    pub(super) groups: Vec<UnifiedReleaseGroup>,
    pub(super) releases: Vec<UnifiedRelease>,
    pub(super) tracks: Vec<UnifiedTrack>,
    /// One for each track row, in the order of the rows.
    pub(super) track_sources: Vec<TrackSource>,
    /// Numbers of the artists of groups and tracks, of the groups of releases and tracks, of the tracks of track rows.
    pub(super) artist_of_group: Vec<u32>,
    pub(super) artist_of_track: Vec<u32>,
    pub(super) group_of_release: Vec<u32>,
    pub(super) group_of_track: Vec<u32>,
    pub(super) track_of_row: Vec<u32>,
}

impl Draft {
    /// Writes down what the sources say of each entity.
    pub(super) fn of(rows: &Rows<'_>, identity: &Identity<'_>) -> Self {
        let mut draft = Draft {
            artists: identity
                .artists
                .all
                .iter()
                .map(|artist| an_artist(rows, artist))
                .collect(),
            groups: Vec::with_capacity(identity.group_of.1),
            releases: Vec::with_capacity(identity.release_of.1),
            tracks: Vec::with_capacity(identity.recordings.len()),
            track_sources: rows
                .tracks
                .iter()
                .map(|row| a_source(rows, row.instance, row.row))
                .collect(),
            artist_of_group: Vec::with_capacity(identity.group_of.1),
            artist_of_track: Vec::with_capacity(identity.recordings.len()),
            group_of_release: vec![0; identity.release_of.1],
            group_of_track: identity.group_of_recording.clone(),
            track_of_row: vec![0; rows.tracks.len()],
        };
        let mut writer = Writer {
            rows,
            identity,
            draft: &mut draft,
        };
        writer.tracks();
        writer.groups();
        writer.releases();
        draft
    }

    /// Puts the artists' ids in place.
    pub(super) fn name_artists(&mut self, ids: &[String]) {
        for (artist, id) in self.artists.iter_mut().zip(ids) {
            artist.id.clone_from(id);
        }
        for (group, artist) in self.groups.iter_mut().zip(&self.artist_of_group) {
            group.artist_id.clone_from(&ids[*artist as usize]);
        }
        for (track, artist) in self.tracks.iter_mut().zip(&self.artist_of_track) {
            track.artist_id.clone_from(&ids[*artist as usize]);
        }
    }

    /// Puts the release groups' ids in place.
    pub(super) fn name_groups(&mut self, ids: &[String]) {
        for (group, id) in self.groups.iter_mut().zip(ids) {
            group.id.clone_from(id);
        }
        for (release, group) in self.releases.iter_mut().zip(&self.group_of_release) {
            release.release_group_id.clone_from(&ids[*group as usize]);
        }
        for (track, group) in self.tracks.iter_mut().zip(&self.group_of_track) {
            track.release_group_id.clone_from(&ids[*group as usize]);
        }
    }

    /// Puts the releases' ids in place.
    pub(super) fn name_releases(&mut self, ids: &[String]) {
        for (release, id) in self.releases.iter_mut().zip(ids) {
            release.id.clone_from(id);
        }
    }

    /// Puts the tracks' ids in place.
    pub(super) fn name_tracks(&mut self, ids: &[String]) {
        for (track, id) in self.tracks.iter_mut().zip(ids) {
            track.id.clone_from(id);
        }
        for (source, track) in self.track_sources.iter_mut().zip(&self.track_of_row) {
            source.track_id.clone_from(&ids[*track as usize]);
        }
    }
}

fn an_artist(rows: &Rows<'_>, artist: &super::artists::Artist<'_>) -> UnifiedArtist {
    let name = artist.name();
    let pictured = artist.rows.iter().map(|at| &rows.artists[*at as usize]);
    let pictured = pictured
        .filter(|row| row.row.cover_art.is_some())
        .min_by_key(|row| !rows.is_local(row.instance));
    UnifiedArtist {
        id: String::new(),
        name_key: fold(&name),
        sort_key: sort_key(&name),
        name,
        musicbrainz_id: artist.mbid.map(str::to_owned),
        cover_art: pictured.and_then(|row| cover(rows, row.instance, row.row.cover_art.as_ref())),
        is_album_artist: false,
    }
}

fn a_source(rows: &Rows<'_>, instance: u32, row: &InstanceTrack) -> TrackSource {
    TrackSource {
        instance: rows.instance(instance).to_owned(),
        remote_id: row.remote_id.clone(),
        track_id: String::new(),
        preferred: false,
        format_rank: format_rank(&row.format),
        bit_rate: bit_rate(row),
        local: rows.is_local(instance),
        format: row.format.clone(),
        suffix: row.suffix.clone(),
        content_type: row.content_type.clone(),
        size: row.size,
        duration_ms: row.duration_ms.filter(|length| *length != 0),
        sampling_rate: row.sampling_rate,
        bit_depth: row.bit_depth,
        channel_count: row.channel_count,
    }
}

/// Kilobits per second as the source says, else as size and length say, else 0.
fn bit_rate(row: &InstanceTrack) -> u32 {
    let said = row.bit_rate.filter(|rate| *rate != 0);
    let computed = || {
        let length = row.duration_ms.filter(|length| *length != 0)?;
        u32::try_from(row.size?.saturating_mul(8) / length).ok()
    };
    said.or_else(computed).unwrap_or(0)
}

fn cover(rows: &Rows<'_>, instance: u32, remote_id: Option<&String>) -> Option<CoverRef> {
    let remote_id = remote_id.filter(|id| !id.is_empty())?;
    Some(CoverRef {
        instance: rows.instance(instance).to_owned(),
        remote_id: remote_id.clone(),
    })
}

fn rank(source: &TrackSource) -> RankKey<'_> {
    RankKey {
        preferred: source.preferred,
        format_rank: source.format_rank,
        bit_rate: source.bit_rate,
        local: source.local,
        instance: &source.instance,
        remote_id: &source.remote_id,
    }
}

struct Writer<'w, 'a> {
    rows: &'w Rows<'a>,
    identity: &'w Identity<'a>,
    draft: &'w mut Draft,
}

impl<'a> Writer<'_, 'a> {
    fn tracks(&mut self) {
        for (number, recording) in (0..).zip(&self.identity.recordings) {
            let mut ranked = recording.clone();
            ranked.sort_unstable_by(|a, b| self.by_rank(*a, *b));
            for at in &ranked {
                self.draft.track_of_row[*at as usize] = number;
            }
            self.draft.track_sources[ranked[0] as usize].preferred = true;
            let (track, artist) = self.track(&ranked);
            self.draft.tracks.push(track);
            self.draft.artist_of_track.push(artist);
        }
    }

    fn by_rank(&self, a: u32, b: u32) -> Ordering {
        let source = |at: u32| rank(&self.draft.track_sources[at as usize]);
        compare_unpreferred(&source(a), &source(b))
    }

    /// A recording as its sources, best first, describe it, and its artist.
    fn track(&self, ranked: &[u32]) -> (UnifiedTrack, u32) {
        let rows = || ranked.iter().map(|at| &self.rows.tracks[*at as usize]);
        let facts = || ranked.iter().map(|at| &self.identity.tracks[*at as usize]);
        let title = rows()
            .map(|row| display(&row.row.title))
            .find(|title| !title.is_empty());
        let title = title.unwrap_or_else(|| UNKNOWN_TRACK.to_owned());
        // Who says nothing of the artist got the album's; who says something is believed first.
        let credited = rows()
            .position(|row| !row.row.artist_name.trim().is_empty())
            .unwrap_or(0);
        let artist = self.identity.tracks[ranked[credited] as usize]
            .artist
            .unwrap_or_default();
        let track = UnifiedTrack {
            id: String::new(),
            release_group_id: String::new(),
            title_key: fold(&title),
            title,
            artist_id: String::new(),
            artist_name: self.credit(
                artist,
                &self.rows.tracks[ranked[credited] as usize].row.artist_name,
            ),
            track_number: facts().find_map(|track| track.number),
            disc_number: facts().next().map_or(1, |track| track.disc),
            duration_ms: facts().find_map(|track| track.duration),
            year: rows().find_map(|row| row.row.year.filter(|year| *year != 0)),
            genres: rows()
                .map(|row| &row.row.genres)
                .find(|genres| !genres.is_empty())
                .cloned()
                .unwrap_or_default(),
            musicbrainz_id: facts().find_map(|track| track.recording).map(str::to_owned),
            isrc: rows().find_map(|row| row.row.isrc.clone()),
            cover_art: rows()
                .find_map(|row| cover(self.rows, row.instance, row.row.cover_art.as_ref())),
            created: rows().filter_map(|row| row.row.created).min(),
        };
        (track, artist)
    }

    /// A track artist's name: the artist's own, unless the track credits more than that (`A feat. B`).
    fn credit(&self, artist: u32, text: &str) -> String {
        let own = &self.draft.artists[artist as usize].name;
        let key = artist_key(text);
        if key.is_empty()
            || key == self.identity.artists.all[artist as usize].key
            || key == artist_key(own)
        {
            own.clone()
        } else {
            display(text)
        }
    }

    /// The albums of each of `count` entities, best first: as their best tracks rank.
    fn ranked_albums(&self, of: &[u32], count: usize) -> Vec<Vec<u32>> {
        let best = |album: &u32| {
            let tracks = self.rows.tracks_of[*album as usize].iter().copied();
            tracks.min_by(|a, b| self.by_rank(*a, *b))
        };
        let mut albums = vec![Vec::new(); count];
        for (album, entity) in (0..).zip(of) {
            albums[*entity as usize].push((album, best(&album)));
        }
        let order = |a: &(u32, Option<u32>), b: &(u32, Option<u32>)| match (a.1, b.1) {
            (Some(a), Some(b)) => self.by_rank(a, b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => a.0.cmp(&b.0),
        };
        let sorted = albums.into_iter().map(|mut albums| {
            albums.sort_by(order);
            albums.into_iter().map(|(album, _)| album).collect()
        });
        sorted.collect()
    }

    fn groups(&mut self) {
        let (group_of, count) = &self.identity.group_of;
        let mut tracks = 0..0;
        for (number, albums) in (0..).zip(self.ranked_albums(group_of, *count)) {
            let length = self.identity.group_of_recording[tracks.end..]
                .partition_point(|group| *group == number);
            tracks = tracks.end..tracks.end + length;
            let artist = self.album_artist(&albums);
            let group = self.group(&albums, &self.draft.tracks[tracks.clone()], artist);
            for track in &mut self.draft.tracks[tracks.clone()] {
                if track.cover_art.is_none() {
                    track.cover_art.clone_from(&group.cover_art);
                }
            }
            self.draft.artists[artist as usize].is_album_artist = true;
            self.draft.groups.push(group);
            self.draft.artist_of_group.push(artist);
        }
    }

    /// Various artists if one source says so, else whom the best source names, else the stand-in.
    fn album_artist(&self, albums: &[u32]) -> u32 {
        let facts = || {
            albums
                .iter()
                .map(|album| &self.identity.albums[*album as usize])
        };
        let various = facts().find(|album| album.various && !album.vague);
        let named = || facts().find(|album| !album.vague);
        various
            .or_else(named)
            .or_else(|| facts().next())
            .map_or(0, |album| album.artist)
    }

    /// A release group as its albums, best first, describe it.
    fn group(&self, albums: &[u32], tracks: &[UnifiedTrack], artist: u32) -> UnifiedReleaseGroup {
        let rows = || albums.iter().map(|at| &self.rows.albums[*at as usize]);
        let facts = || albums.iter().map(|at| &self.identity.albums[*at as usize]);
        let name = self.album_name(albums);
        let covered =
            rows().find_map(|album| cover(self.rows, album.instance, album.row.cover_art.as_ref()));
        let genres = rows()
            .map(|album| &album.row.genres)
            .find(|genres| !genres.is_empty())
            .cloned();
        let created = rows().filter_map(|album| album.row.created).min();
        UnifiedReleaseGroup {
            id: String::new(),
            name_key: fold(&name),
            name,
            artist_id: String::new(),
            artist_name: self.draft.artists[artist as usize].name.clone(),
            year: facts()
                .find_map(|album| album.year)
                .or_else(|| tracks.iter().find_map(|track| track.year)),
            genres: genres.unwrap_or_else(|| genres_of(tracks)),
            musicbrainz_id: facts()
                .find_map(|album| album.release_group)
                .map(str::to_owned),
            cover_art: covered.or_else(|| tracks.iter().find_map(|track| track.cover_art.clone())),
            is_compilation: self.identity.artists.all[artist as usize].various
                || rows().any(|album| album.row.is_compilation),
            created: created.or_else(|| tracks.iter().filter_map(|track| track.created).min()),
            song_count: index(tracks.len()),
            duration_ms: tracks
                .iter()
                .filter_map(|track| track.duration_ms)
                .fold(0, u64::saturating_add),
        }
    }

    fn album_name(&self, albums: &[u32]) -> String {
        let row = |at: &u32| -> &InstanceAlbum { self.rows.albums[*at as usize].row };
        let name = albums
            .iter()
            .map(|at| display(&row(at).name))
            .find(|name| !name.is_empty());
        name.unwrap_or_else(|| UNKNOWN_ALBUM.to_owned())
    }

    fn releases(&mut self) {
        let (release_of, count) = &self.identity.release_of;
        for (number, albums) in self
            .ranked_albums(release_of, *count)
            .into_iter()
            .enumerate()
        {
            let tracks = albums
                .iter()
                .flat_map(|album| &self.rows.tracks_of[*album as usize]);
            let tracks: BTreeSet<u32> = tracks
                .map(|row| self.draft.track_of_row[*row as usize])
                .collect();
            let ids = albums
                .iter()
                .filter_map(|album| self.identity.albums[*album as usize].release);
            self.draft.releases.push(UnifiedRelease {
                id: String::new(),
                release_group_id: String::new(),
                name: self.album_name(&albums),
                musicbrainz_id: ids.min().map(str::to_owned),
                track_count: index(tracks.len()),
            });
            self.draft.group_of_release[number] = self.identity.group_of.0[albums[0] as usize];
        }
    }
}

/// The genres of the tracks in order of appearance.
fn genres_of(tracks: &[UnifiedTrack]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    tracks
        .iter()
        .flat_map(|track| &track.genres)
        .filter(|genre| seen.insert(*genre))
        .cloned()
        .collect()
}
