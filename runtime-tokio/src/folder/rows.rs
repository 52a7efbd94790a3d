//! From files to the rows of a pass: tracks, and the albums and artists they name.

use super::names;
use super::path::{RelativePath, stable_id};
use super::tags::{Credit, Facts};
use super::walk::{Found, Walked};
use segue_core::catalog::model::{InstanceAlbum, InstanceArtist, InstanceTrack, Pass};
use segue_core::source::media;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use unicode_normalization::UnicodeNormalization;

/// Who an album is by when its tracks disagree.
const VARIOUS_ARTISTS: &str = "Various Artists";

/// Marks ids of albums whose artist is told by their tracks, not by a tag: it is found anew in each pass.
const BY_TRACKS: &str = "f";

/// Marks ids of albums whose artist a tag names.
const BY_TAG: &str = "t";

/// What the previous pass left.
pub(super) struct Known<'a> {
    tracks: BTreeMap<RelativePath, &'a InstanceTrack>,
    albums: BTreeMap<&'a str, &'a InstanceAlbum>,
    artists: BTreeMap<&'a str, &'a InstanceArtist>,
}

impl<'a> Known<'a> {
    /// Indexes a pass; tracks whose album or artist row is missing count as unknown.
    pub(super) fn of(pass: &'a Pass) -> Self {
        let albums: BTreeMap<_, _> = pass
            .albums
            .iter()
            .map(|album| (album.remote_id.as_str(), album))
            .collect();
        let artists: BTreeMap<_, _> = pass
            .artists
            .iter()
            .map(|artist| (artist.remote_id.as_str(), artist))
            .collect();
        let is_whole = |track: &&InstanceTrack| {
            let artist = track.artist_remote_id.as_deref();
            albums.contains_key(track.album_remote_id.as_str())
                && artist.is_none_or(|artist| artists.contains_key(artist))
        };
        let tracks = pass
            .tracks
            .iter()
            .filter(is_whole)
            .filter_map(|track| Some((RelativePath::from_text(track.path.as_deref()?), track)))
            .collect();
        Self {
            tracks,
            albums,
            artists,
        }
    }

    /// The row of a file.
    pub(super) fn track(&self, path: &RelativePath) -> Option<&'a InstanceTrack> {
        self.tracks.get(path).copied()
    }

    /// All rows by path.
    pub(super) fn tracks(&self) -> impl Iterator<Item = (&RelativePath, &'a InstanceTrack)> {
        self.tracks.iter().map(|(path, track)| (path, *track))
    }
}

/// Where the row of a file comes from.
pub(super) enum Row<'a> {
    /// Its tags were read in this pass.
    Fresh(&'a Found, Box<Facts>),
    /// The previous pass.
    Kept(&'a InstanceTrack),
}

/// Makes the rows of a pass. Which files were read anew makes no difference, save for a compilation flag or
/// release group that some tracks of an album have lost: it goes once the last of them is read again.
pub(super) fn assemble(
    root: &Path,
    walked: &Walked,
    known: &Known<'_>,
    rows: BTreeMap<&RelativePath, Row<'_>>,
) -> Pass {
    let mut draft = Draft {
        root,
        walked,
        known,
        artists: BTreeMap::new(),
        albums: BTreeMap::new(),
    };
    let tracks: Vec<InstanceTrack> = rows
        .into_iter()
        .map(|(path, row)| match row {
            Row::Fresh(found, facts) => draft.fresh(found, *facts),
            Row::Kept(track) => draft.kept(path, track),
        })
        .collect();
    let albums = draft.finish_albums(&tracks);
    Pass {
        artists: draft.artists.into_values().collect(),
        albums,
        tracks,
        ..Pass::default()
    }
}

struct Draft<'a> {
    root: &'a Path,
    walked: &'a Walked,
    known: &'a Known<'a>,
    artists: BTreeMap<String, InstanceArtist>,
    albums: BTreeMap<String, InstanceAlbum>,
}

impl Draft<'_> {
    fn kept(&mut self, path: &RelativePath, track: &InstanceTrack) -> InstanceTrack {
        self.keep_artist(track.artist_remote_id.as_deref());
        if let Some(album) = self.known.albums.get(track.album_remote_id.as_str()) {
            let id = album.remote_id.clone();
            let row = self.albums.entry(id).or_insert_with(|| (*album).clone());
            row.is_compilation |= album.is_compilation;
            if row.release_group_mbid.is_none() {
                let known = &album.release_group_mbid;
                row.release_group_mbid.clone_from(known);
            }
            if album.remote_id.starts_with(BY_TAG) {
                self.keep_artist(album.artist_remote_id.as_deref());
            }
        }
        let mut track = track.clone();
        if let Some(beside) = self.walked.cover_beside(path) {
            track.cover_art = Some(beside.to_text());
        }
        track
    }

    fn keep_artist(&mut self, id: Option<&str>) {
        if let Some(artist) = id.and_then(|id| self.known.artists.get(id)) {
            self.artists
                .entry(artist.remote_id.clone())
                .or_insert_with(|| (*artist).clone());
        }
    }

    fn fresh(&mut self, found: &Found, facts: Facts) -> InstanceTrack {
        let path = &found.path;
        let suffix = path.suffix();
        let named = names::track(&path.stem());
        let (folder, folder_disc) = names::album_folder(path);
        let artist = facts
            .artist
            .clone()
            .or_else(|| facts.album_artist.clone())
            .or_else(|| self.artist_by_folder(&folder));
        let artist_name = facts.artist_name.clone();
        let artist_name = artist_name.or_else(|| artist.as_ref().map(|artist| artist.name.clone()));
        let artist_remote_id = artist.map(|artist| self.artist(artist));
        let album_remote_id = self.album(&folder, &facts);
        let has_title_tag = facts.title.is_some();
        let cover_art = match self.walked.cover_beside(path) {
            Some(beside) => Some(beside.to_text()),
            None => facts.has_picture.then(|| path.to_text()),
        };
        let created = self.known.track(path).and_then(|track| track.created);
        InstanceTrack {
            remote_id: path.id(),
            album_remote_id,
            title: facts.title.unwrap_or(named.title),
            artist_name: artist_name.unwrap_or_default(),
            artist_remote_id,
            track_number: facts
                .track_number
                .or(named.track_number.filter(|_| !has_title_tag)),
            disc_number: facts
                .disc_number
                .or(folder_disc)
                .or(named.disc_number.filter(|_| !has_title_tag))
                .unwrap_or(1),
            duration_ms: facts.duration_ms,
            bit_rate: facts.bit_rate,
            format: facts.format,
            content_type: media::content_type_of(&suffix).to_owned(),
            suffix,
            size: Some(found.size),
            musicbrainz_id: facts.recording_id,
            isrc: facts.isrc,
            year: facts.year,
            genres: facts.genres,
            cover_art,
            sampling_rate: facts.sampling_rate,
            bit_depth: facts.bit_depth,
            channel_count: facts.channel_count,
            path: Some(path.to_text()),
            modified: Some(found.modified),
            created: created.or(Some(found.modified)),
        }
    }

    /// The folder above an album's folder names the artist of untagged files.
    fn artist_by_folder(&self, album_folder: &RelativePath) -> Option<Credit> {
        let name: String = album_folder.parent().name().nfc().collect();
        (!name.is_empty()).then_some(Credit {
            name,
            musicbrainz_id: None,
        })
    }

    fn artist(&mut self, credit: Credit) -> String {
        let mbid = credit.musicbrainz_id.as_deref().unwrap_or_default();
        let id = stable_id(&[credit.name.to_lowercase().as_bytes(), mbid.as_bytes()]);
        self.artists
            .entry(id.clone())
            .or_insert_with(|| InstanceArtist {
                remote_id: id.clone(),
                name: credit.name,
                musicbrainz_id: credit.musicbrainz_id,
                cover_art: None,
            });
        id
    }

    /// The album of a freshly read file. Tagged albums are told apart by artist, name and release id; the
    /// folder stands in for an artist or a name that no tag gives.
    fn album(&mut self, folder: &RelativePath, facts: &Facts) -> String {
        let (mark, artist) = match &facts.album_artist {
            Some(artist) => (BY_TAG, artist.name.to_lowercase()),
            None => (BY_TRACKS, folder.to_text()),
        };
        let name = facts
            .album
            .clone()
            .unwrap_or_else(|| self.folder_name(folder));
        let place = match facts.album {
            Some(_) => String::new(),
            None => folder.to_text(),
        };
        let release = facts.release_id.as_deref().unwrap_or_default();
        let key = [artist, name.to_lowercase(), release.to_owned(), place];
        let id = format!("{mark}{}", stable_id(&key.each_ref().map(String::as_bytes)));
        let artist = facts.album_artist.clone();
        let artist_name = artist.as_ref().map(|artist| artist.name.clone());
        let artist_remote_id = artist.map(|artist| self.artist(artist));
        let new = || InstanceAlbum {
            remote_id: id.clone(),
            name,
            artist_remote_id,
            artist_name: artist_name.unwrap_or_default(),
            musicbrainz_id: facts.release_id.clone(),
            ..InstanceAlbum::default()
        };
        let row = self.albums.entry(id.clone()).or_insert_with(new);
        row.is_compilation |= facts.is_compilation;
        if row.release_group_mbid.is_none() {
            row.release_group_mbid.clone_from(&facts.release_group_id);
        }
        id
    }

    fn folder_name(&self, folder: &RelativePath) -> String {
        let name: String = folder.name().nfc().collect();
        if name.is_empty() {
            let root = self.root.file_name().unwrap_or_default();
            root.to_string_lossy().into_owned()
        } else {
            name
        }
    }

    /// What only all tracks together tell: year, genres, cover, age, and the artist where no tag says.
    fn finish_albums(&mut self, tracks: &[InstanceTrack]) -> Vec<InstanceAlbum> {
        let mut by_album: BTreeMap<&str, Vec<&InstanceTrack>> = BTreeMap::new();
        for track in tracks {
            let album = track.album_remote_id.as_str();
            by_album.entry(album).or_default().push(track);
        }
        let mut albums = Vec::new();
        for (id, mut row) in std::mem::take(&mut self.albums) {
            let tracks = by_album.remove(id.as_str()).unwrap_or_default();
            if id.starts_with(BY_TRACKS) {
                self.name_artist(&mut row, &tracks);
            }
            row.year = most_common(tracks.iter().filter_map(|track| track.year));
            row.genres = distinct(tracks.iter().flat_map(|track| &track.genres));
            row.cover_art = tracks.iter().find_map(|track| track.cover_art.clone());
            row.created = tracks.iter().filter_map(|track| track.created).min();
            albums.push(row);
        }
        albums
    }

    fn name_artist(&mut self, album: &mut InstanceAlbum, tracks: &[&InstanceTrack]) {
        let ids: BTreeSet<_> = tracks
            .iter()
            .map(|track| track.artist_remote_id.as_deref())
            .collect();
        let one = match tracks
            .first()
            .and_then(|track| track.artist_remote_id.as_ref())
        {
            Some(id) if ids.len() == 1 => self.artists.get(id).cloned(),
            _ => None,
        };
        if let Some(artist) = one {
            album.artist_name = artist.name;
            album.artist_remote_id = Some(artist.remote_id);
        } else if ids.len() > 1 {
            album.artist_name = VARIOUS_ARTISTS.to_owned();
            album.is_compilation = true;
            album.artist_remote_id = Some(self.artist(Credit {
                name: VARIOUS_ARTISTS.to_owned(),
                musicbrainz_id: None,
            }));
        } else {
            album.artist_name = String::new();
            album.artist_remote_id = None;
        }
    }
}

/// The value most often given; the smallest of several.
fn most_common(values: impl Iterator<Item = i32>) -> Option<i32> {
    let mut counts: BTreeMap<i32, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let best = counts.into_iter().rev().max_by_key(|(_, count)| *count);
    best.map(|(value, _)| value)
}

/// Each value once, in order of first mention.
fn distinct<'a>(values: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    values
        .filter(|value| seen.insert(*value))
        .cloned()
        .collect()
}
