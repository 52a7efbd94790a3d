//! The merge: all sources' rows in, the unified library out (product.md sections 4 and 5).
//!
//! Pure, and the same for the same rows in any order. It always looks at everything; what did not change comes out equal, id for id,
//! so that the store writes only differences (R3).
//!
//! ```
//! use segue_core::catalog::{merge::merge, model::*};
//! let source = |id: &str| MergeInstance { id: id.to_owned(), local: true };
//! let album = InstanceAlbum { remote_id: "a".into(), name: "Post".into(), artist_name: "Björk".into(), ..Default::default() };
//! let track = InstanceTrack { remote_id: "t".into(), album_remote_id: "a".into(), title: "Hyperballad".into(), ..Default::default() };
//! let at = |instance: &str| instance.to_owned();
//! let input = MergeInput {
//!     instances: vec![source("home"), source("shelf")],
//!     albums: vec![Of { instance: at("home"), row: album.clone() }, Of { instance: at("shelf"), row: album }],
//!     tracks: vec![Of { instance: at("home"), row: track.clone() }, Of { instance: at("shelf"), row: track }],
//!     ..Default::default()
//! };
//! let merged = merge(input.clone());
//! assert_eq!((merged.library.tracks.len(), merged.library.track_sources.len()), (1, 2));
//! let again = merge(MergeInput { previous: merged.library.clone(), ..input });
//! assert_eq!(again.library, merged.library);
//! ```

use super::albums::{release_groups, releases};
use super::artists::{Artist, Artists, artist_key};
use super::draft::{Draft, Identity};
use super::facts::{self, close, differ};
use super::ids::{Assigned, Census, Fit, Kind, Vote, assign, resolve};
use super::matching::{Cluster, recordings};
use super::model::{Alias, ArtistSource, Library, MergeInput, Merged, ReleaseSource, UnifiedTrack};
use super::normalise::fold;
use super::previous::Previous;
use super::rows::Rows;
use std::collections::BTreeSet;

/// Merges all sources' rows. Rows that cannot be used are named in [`Merged::skipped`] and left out; nothing stops the merge.
pub fn merge(input: MergeInput) -> Merged {
    let rows = Rows::of(&input);
    let identity = identify(&rows);
    let draft = Draft::of(&rows, &identity);
    let previous = Previous::of(&input.previous);
    let given_out = input
        .aliases
        .iter()
        .flat_map(|alias| [alias.old_id.as_str(), alias.new_id.as_str()])
        .collect();
    let naming = Naming {
        rows: &rows,
        identity: &identity,
        previous: &previous,
        given_out,
    };
    let (library, new_aliases) = naming.library(draft);
    let aliases = resolve(&input.aliases, new_aliases, &living(&library));
    Merged {
        library,
        aliases,
        skipped: rows.skipped,
    }
}

/// Settles which rows are one.
fn identify<'a>(rows: &Rows<'a>) -> Identity<'a> {
    let mut artists = Artists::of(rows);
    let (albums, tracks) = facts::read(rows, &mut artists);
    let group_of = release_groups(&albums);
    let release_of = releases(&albums, &group_of.0);
    let mut in_group = vec![Vec::new(); group_of.1];
    for (track, album) in (0..).zip(&rows.album_of) {
        in_group[group_of.0[*album as usize] as usize].push(track);
    }
    let mut clusters = Vec::with_capacity(tracks.len());
    let mut group_of_recording = Vec::with_capacity(tracks.len());
    for (group, members) in (0..).zip(in_group) {
        clusters.extend(recordings(&tracks, members));
        group_of_recording.resize(clusters.len(), group);
    }
    Identity {
        artists,
        albums,
        tracks,
        group_of,
        release_of,
        recordings: clusters,
        group_of_recording,
    }
}

/// Gives the drafted library its ids.
struct Naming<'n, 'a> {
    rows: &'n Rows<'a>,
    identity: &'n Identity<'a>,
    previous: &'n Previous<'a>,
    given_out: BTreeSet<&'a str>,
}

impl<'a> Naming<'_, 'a> {
    /// From the artists down: what an entity is in is part of what it says of itself.
    fn library(&self, mut draft: Draft) -> (Library, Vec<Alias>) {
        let artists = self.artists();
        draft.name_artists(&artists.ids);
        let (track_votes, track_sizes) = self.track_votes(&draft);
        let groups = self.groups(&draft, &artists, &track_votes);
        draft.name_groups(&groups.ids);
        let releases = self.releases(&draft, &groups);
        draft.name_releases(&releases.ids);
        let tracks = self.tracks(&draft, &groups, track_votes, track_sizes);
        draft.name_tracks(&tracks.ids);
        let aliases = [
            artists.aliases,
            groups.aliases,
            releases.aliases,
            tracks.aliases,
        ]
        .concat();
        (self.sorted(draft), aliases)
    }

    fn artists(&self) -> Assigned {
        let (all, previous) = (&self.identity.artists.all, &self.previous.artists);
        let rows = self.rows.artists.iter().zip(&self.identity.artists.of_row);
        let now = rows.map(|(row, artist)| {
            (
                self.rows.instance(row.instance),
                row.row.remote_id.as_str(),
                *artist,
            )
        });
        let (votes, sizes) = self.previous.artist_votes(now);
        let founder = |artist: &'_ Artist<'a>| {
            artist
                .rows
                .first()
                .map(|row| &self.rows.artists[*row as usize])
        };
        let founders = all.iter().map(|artist| match founder(artist) {
            Some(row) => (self.rows.instance(row.instance), row.row.remote_id.as_str()),
            // Known by name only: no source is called "".
            None => ("", artist.key.as_str()),
        });
        let census = Census {
            kind: Kind::Artist,
            previous: previous.iter().map(|artist| artist.id.as_str()).collect(),
            sizes,
            founders: founders.collect(),
            rounds: vec![votes],
            previous_key: &|at| Some(artist_key(&previous[at as usize].name)),
            key: &|at| Some(all[at as usize].key.clone()).filter(|key| !key.is_empty()),
            fit: &|at, artist| {
                let (old, new) = (
                    previous[at as usize].musicbrainz_id.as_deref(),
                    all[artist as usize].mbid,
                );
                fit(differ(old, new), old == new)
            },
        };
        assign(census, &self.given_out)
    }

    fn track_votes(&self, draft: &Draft) -> (Vec<Vote>, Vec<u32>) {
        let rows = self.rows.tracks.iter().zip(&draft.track_of_row);
        let now = rows.map(|(row, track)| {
            (
                self.rows.instance(row.instance),
                row.row.remote_id.as_str(),
                *track,
            )
        });
        self.previous.track_votes(now)
    }

    fn albums<'s>(
        &'s self,
        of: &'s [u32],
    ) -> impl DoubleEndedIterator<Item = (&'s str, &'s str, u32)> {
        let rows = self.rows.albums.iter().zip(of);
        rows.map(|(row, entity)| (self.rows.instance(row.instance), &*row.remote_id, *entity))
    }

    /// The first album of each of `count` entities.
    fn founding_albums<'s>(&'s self, of: &'s [u32], count: usize) -> Vec<(&'s str, &'s str)> {
        let mut founders = vec![("", ""); count];
        for (instance, remote_id, entity) in self.albums(of).rev() {
            founders[entity as usize] = (instance, remote_id);
        }
        founders
    }

    fn groups(&self, draft: &Draft, artists: &Assigned, tracks: &[Vote]) -> Assigned {
        let previous = &self.previous.groups;
        let (group_of, count) = &self.identity.group_of;
        let (votes, sizes) = self.previous.group_votes(self.albums(group_of));
        // A server may renumber its albums and keep its tracks.
        let by_tracks = tracks.iter().filter_map(|(old, track)| {
            Some((
                self.previous.group_of_track(*old)?,
                draft.group_of_track[*track as usize],
            ))
        });
        let census = Census {
            kind: Kind::ReleaseGroup,
            previous: previous.iter().map(|group| group.id.as_str()).collect(),
            sizes,
            founders: self.founding_albums(group_of, *count),
            rounds: vec![votes, by_tracks.collect()],
            previous_key: &|at| {
                let group = previous[at as usize];
                let artist = self.previous.artist(&group.artist_id)?;
                Some((artists.heirs[artist as usize]?, group.name_key.clone()))
            },
            key: &|at| {
                Some((
                    draft.artist_of_group[at as usize],
                    draft.groups[at as usize].name_key.clone(),
                ))
            },
            fit: &|at, group| {
                let (old, new) = (previous[at as usize], &draft.groups[group as usize]);
                let contradicts = differ(old.musicbrainz_id.as_ref(), new.musicbrainz_id.as_ref());
                fit(contradicts, old.year.is_some() && old.year == new.year)
            },
        };
        assign(census, &self.given_out)
    }

    fn releases(&self, draft: &Draft, groups: &Assigned) -> Assigned {
        let previous = &self.previous.releases;
        let (release_of, count) = &self.identity.release_of;
        let (votes, sizes) = self.previous.release_votes(self.albums(release_of));
        let census = Census {
            kind: Kind::Release,
            previous: previous.iter().map(|release| release.id.as_str()).collect(),
            sizes,
            founders: self.founding_albums(release_of, *count),
            rounds: vec![votes],
            previous_key: &|at| {
                let release = previous[at as usize];
                let group = self.previous.group(&release.release_group_id)?;
                Some((groups.heirs[group as usize]?, fold(&release.name)))
            },
            key: &|at| {
                Some((
                    draft.group_of_release[at as usize],
                    fold(&draft.releases[at as usize].name),
                ))
            },
            fit: &|at, release| {
                let (old, new) = (previous[at as usize], &draft.releases[release as usize]);
                let contradicts = differ(old.musicbrainz_id.as_ref(), new.musicbrainz_id.as_ref());
                fit(contradicts, old.track_count == new.track_count)
            },
        };
        assign(census, &self.given_out)
    }

    fn tracks(
        &self,
        draft: &Draft,
        groups: &Assigned,
        votes: Vec<Vote>,
        sizes: Vec<u32>,
    ) -> Assigned {
        let previous = &self.previous.tracks;
        let founder = |recording: &Cluster| {
            let first = recording.iter().copied().min().unwrap_or_default();
            let row = &self.rows.tracks[first as usize];
            (self.rows.instance(row.instance), row.row.remote_id.as_str())
        };
        let key = |group: u32, track: &UnifiedTrack| {
            (
                group,
                track.disc_number,
                track.track_number,
                track.title_key.clone(),
            )
        };
        let census = Census {
            kind: Kind::Track,
            previous: previous.iter().map(|track| track.id.as_str()).collect(),
            sizes,
            founders: self.identity.recordings.iter().map(founder).collect(),
            rounds: vec![votes],
            previous_key: &|at| {
                let group = self.previous.group_of_track(at)?;
                Some(key(groups.heirs[group as usize]?, previous[at as usize]))
            },
            key: &|at| {
                Some(key(
                    draft.group_of_track[at as usize],
                    &draft.tracks[at as usize],
                ))
            },
            fit: &|at, track| {
                let (old, new) = (
                    previous[at as usize].duration_ms,
                    draft.tracks[track as usize].duration_ms,
                );
                fit(!close(old, new), old.is_some() && new.is_some())
            },
        };
        assign(census, &self.given_out)
    }

    fn sorted(&self, draft: Draft) -> Library {
        let artist_sources = self
            .rows
            .artists
            .iter()
            .zip(&self.identity.artists.of_row)
            .map(|(row, artist)| ArtistSource {
                instance: self.rows.instance(row.instance).to_owned(),
                remote_id: row.row.remote_id.clone(),
                artist_id: draft.artists[*artist as usize].id.clone(),
            });
        let albums = self
            .rows
            .albums
            .iter()
            .enumerate()
            .filter(|(_, album)| album.listed);
        let release_sources = albums.map(|(at, album)| ReleaseSource {
            instance: self.rows.instance(album.instance).to_owned(),
            remote_id: album.row.remote_id.clone(),
            release_id: draft.releases[self.identity.release_of.0[at] as usize]
                .id
                .clone(),
            release_group_id: draft.groups[self.identity.group_of.0[at] as usize]
                .id
                .clone(),
        });
        let mut library = Library {
            artist_sources: artist_sources.collect(),
            release_sources: release_sources.collect(),
            artists: draft.artists,
            release_groups: draft.groups,
            releases: draft.releases,
            tracks: draft.tracks,
            track_sources: draft.track_sources,
        };
        library.artists.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        library
            .release_groups
            .sort_unstable_by(|a, b| a.id.cmp(&b.id));
        library.releases.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        library.tracks.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        library
    }
}

fn fit(contradicts: bool, agrees: bool) -> Fit {
    match (contradicts, agrees) {
        (true, _) => Fit::None,
        (false, true) => Fit::Good,
        (false, false) => Fit::Poor,
    }
}

fn living(library: &Library) -> BTreeSet<&str> {
    let artists = library.artists.iter().map(|row| row.id.as_str());
    let groups = library.release_groups.iter().map(|row| row.id.as_str());
    let releases = library.releases.iter().map(|row| row.id.as_str());
    let tracks = library.tracks.iter().map(|row| row.id.as_str());
    artists
        .chain(groups)
        .chain(releases)
        .chain(tracks)
        .collect()
}
