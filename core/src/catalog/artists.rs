//! Which artists of the sources are one.
//!
//! By MusicBrainz id first, then by name. Two artists of one name with different ids stay apart; one without an id joins the only
//! one of its name that has an id, or, where there are several, the one whose albums it shares.

use super::model::InstanceArtist;
use super::normalise::{display, fold, trailing_article};
use super::rows::{Row, Rows};
use super::sets::{MOST_COMPARED, Numbers, Sets, index};
use std::collections::{BTreeMap, BTreeSet};

/// Shown where nobody says who plays.
pub(super) const UNKNOWN_ARTIST: &str = "[Unknown Artist]";

/// Shown for albums of several artists.
pub(super) const VARIOUS_ARTISTS: &str = "Various Artists";

/// MusicBrainz's own artist for albums of several artists.
const VARIOUS_MBID: &str = "89ad4ac3-39f7-470e-963a-56509c546377";

/// How well a name is attested; the smallest names the artist.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Attested {
    by: Attestation,
    far: bool,
    row: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Attestation {
    Artist,
    Album,
    Track,
}

/// One artist of the library to be.
pub(super) struct Artist<'a> {
    /// The key of its name, see [`artist_key`].
    pub(super) key: String,
    pub(super) mbid: Option<&'a str>,
    /// Its rows, in order; none for an artist known by name only.
    pub(super) rows: Vec<u32>,
    /// Whether it stands for several artists.
    pub(super) various: bool,
    name: Option<(Attested, &'a str)>,
}

impl Artist<'_> {
    /// The name to show.
    pub(super) fn name(&self) -> String {
        let shown = self.name.map_or("", |(_, name)| name);
        let shown = display(shown);
        if shown.is_empty() {
            UNKNOWN_ARTIST.to_owned()
        } else {
            shown
        }
    }
}

/// All artists, and how rows that name one find it.
pub(super) struct Artists<'a> {
    pub(super) all: Vec<Artist<'a>>,
    /// The artist of each artist row.
    pub(super) of_row: Vec<u32>,
    keys: Numbers,
    by_source_and_key: BTreeMap<(u32, u32), u32>,
    /// The listed artist that a key means wherever it is written.
    by_key: BTreeMap<u32, u32>,
    /// Artists that no row lists, by key.
    by_name_only: BTreeMap<u32, u32>,
}

/// The key that tells artists apart by name: folded, a trailing article put in front, and all words for "various artists" as one.
pub(super) fn artist_key(name: &str) -> String {
    let key = match trailing_article(name) {
        Some((rest, article)) => fold(&format!("{article} {rest}")),
        None => fold(name),
    };
    match key.as_str() {
        "various"
        | "va"
        | "v a"
        | "varios artistas"
        | "vari artisti"
        | "artistes varies"
        | "verschiedene interpreten" => fold(VARIOUS_ARTISTS),
        _ => key,
    }
}

/// A MusicBrainz id worth comparing; broken taggers write several into one field, or all zeros.
pub(super) fn mbid(id: Option<&String>) -> Option<&str> {
    let id = id?.as_str();
    let usable = !id.is_empty()
        && !id.contains([' ', ',', ';', '/', '\0'])
        && id.bytes().any(|b| b != b'0' && b != b'-');
    usable.then_some(id)
}

impl<'a> Artists<'a> {
    /// Finds the artists that the sources list.
    pub(super) fn of(rows: &Rows<'a>) -> Self {
        let mut keys = Numbers::default();
        let names: Vec<String> = rows
            .artists
            .iter()
            .map(|row| artist_key(&row.row.name))
            .collect();
        let numbers: Vec<u32> = names.iter().map(|name| keys.of(name.clone())).collect();
        let (of_row, count) = Identity {
            rows,
            keys: &numbers,
            named: &names,
        }
        .sets()
        .numbered();
        let mut artists = Artists {
            all: Vec::with_capacity(count),
            of_row,
            keys,
            by_source_and_key: BTreeMap::new(),
            by_key: BTreeMap::new(),
            by_name_only: BTreeMap::new(),
        };
        for (at, row) in rows.artists.iter().enumerate() {
            artists.add_row(rows, row, index(at), &names[at], numbers[at]);
        }
        artists.index_by_key(&numbers, &names);
        artists
    }

    fn add_row(
        &mut self,
        rows: &Rows<'a>,
        row: &Row<'a, InstanceArtist>,
        at: u32,
        name: &str,
        key: u32,
    ) {
        let artist = self.of_row[at as usize];
        if artist as usize == self.all.len() {
            self.all.push(Artist {
                key: name.to_owned(),
                mbid: None,
                rows: Vec::new(),
                various: false,
                name: None,
            });
        }
        let entry = &mut self.all[artist as usize];
        entry.rows.push(at);
        entry.mbid = entry.mbid.or(mbid(row.row.musicbrainz_id.as_ref()));
        if entry.key.is_empty() {
            name.clone_into(&mut entry.key);
        }
        entry.various |= name == fold(VARIOUS_ARTISTS) || entry.mbid == Some(VARIOUS_MBID);
        if name.is_empty() {
            return;
        }
        self.attest(
            artist,
            Attestation::Artist,
            !rows.is_local(row.instance),
            at,
            &row.row.name,
        );
        self.by_source_and_key
            .entry((row.instance, key))
            .or_insert(artist);
    }

    /// Notes which artists a key may mean.
    fn index_by_key(&mut self, keys: &[u32], names: &[String]) {
        let named = names.iter().map(|name| !name.is_empty());
        let mut meant: Vec<(u32, u32)> = keys
            .iter()
            .copied()
            .zip(self.of_row.iter().copied())
            .zip(named)
            .filter(|(_, named)| *named)
            .map(|(meant, _)| meant)
            .collect();
        meant.sort_unstable();
        meant.dedup();
        for same in meant.chunk_by(|a, b| a.0 == b.0) {
            let only = (same.len() == 1).then_some(same[0].1);
            // Which of several is meant nobody says: only one without a MusicBrainz id can be anyone.
            let anyone = || {
                same.iter()
                    .map(|(_, artist)| *artist)
                    .find(|artist| self.all[*artist as usize].mbid.is_none())
            };
            if let Some(artist) = only.or_else(anyone) {
                self.by_key.insert(same[0].0, artist);
            }
        }
    }

    /// The artist whom an album names, if it names one.
    pub(super) fn named_by_album(&mut self, rows: &Rows<'a>, album: u32) -> Option<u32> {
        let at = &rows.albums[album as usize];
        let artist = self.named(
            rows,
            at.instance,
            at.row.artist_remote_id.as_deref(),
            &at.row.artist_name,
        )?;
        self.attest(
            artist,
            Attestation::Album,
            !rows.is_local(at.instance),
            album,
            &at.row.artist_name,
        );
        Some(artist)
    }

    /// The artist whom a track names, if it names one.
    pub(super) fn named_by_track(&mut self, rows: &Rows<'a>, track: u32) -> Option<u32> {
        let at = &rows.tracks[track as usize];
        let artist = self.named(
            rows,
            at.instance,
            at.row.artist_remote_id.as_deref(),
            &at.row.artist_name,
        )?;
        self.attest(
            artist,
            Attestation::Track,
            !rows.is_local(at.instance),
            track,
            &at.row.artist_name,
        );
        Some(artist)
    }

    fn named(
        &mut self,
        rows: &Rows<'a>,
        instance: u32,
        remote_id: Option<&str>,
        name: &str,
    ) -> Option<u32> {
        let row = remote_id.and_then(|id| rows.artist_row(instance, id));
        if let Some(artist) = row.map(|row| self.of_row[row as usize]) {
            // Sources that give every track of a compilation the album's artist id still write the true name.
            if !self.all[artist as usize].various || artist_key(name).is_empty() {
                return Some(artist);
            }
        }
        let key = artist_key(name);
        if key.is_empty() {
            return None;
        }
        let number = self.keys.of(key.clone());
        let here = self.by_source_and_key.get(&(instance, number)).copied();
        let anywhere = || self.by_key.get(&number).copied();
        Some(
            here.or_else(anywhere)
                .unwrap_or_else(|| self.by_name_only(number, key)),
        )
    }

    fn by_name_only(&mut self, number: u32, key: String) -> u32 {
        let next = index(self.all.len());
        let artist = *self.by_name_only.entry(number).or_insert(next);
        if artist == next {
            let various = key == fold(VARIOUS_ARTISTS);
            self.all.push(Artist {
                key,
                mbid: None,
                rows: Vec::new(),
                various,
                name: None,
            });
        }
        artist
    }

    /// The artist of this name that no row is needed for: "various artists", or nobody known.
    pub(super) fn stand_in(&mut self, name: &'static str) -> u32 {
        let key = artist_key(name);
        let number = self.keys.of(key.clone());
        let listed = self.by_key.get(&number).copied();
        let artist = listed.unwrap_or_else(|| self.by_name_only(number, key));
        self.all[artist as usize].name.get_or_insert((
            Attested {
                by: Attestation::Track,
                far: true,
                row: u32::MAX,
            },
            name,
        ));
        artist
    }

    /// Notes how a row writes an artist's name. Only a name with the artist's own key counts: a track may credit guests.
    fn attest(&mut self, artist: u32, by: Attestation, far: bool, row: u32, name: &'a str) {
        let attested = Attested { by, far, row };
        let artist = &mut self.all[artist as usize];
        let better = artist.name.is_none_or(|(best, _)| attested < best);
        if better && (by == Attestation::Artist || artist_key(name) == artist.key) {
            artist.name = Some((attested, name));
        }
    }
}

/// Decides which artist rows are one artist.
struct Identity<'r, 'a> {
    rows: &'r Rows<'a>,
    keys: &'r [u32],
    named: &'r [String],
}

impl<'a> Identity<'_, 'a> {
    fn sets(&self) -> Sets {
        let mut sets = Sets::new(self.rows.artists.len());
        self.by_mbid(&mut sets);
        self.by_name(&mut sets);
        sets
    }

    fn mbid(&self, row: u32) -> Option<&'a str> {
        mbid(self.rows.artists[row as usize].row.musicbrainz_id.as_ref())
    }

    fn by_mbid(&self, sets: &mut Sets) {
        let mut same: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for row in 0..index(self.rows.artists.len()) {
            if let Some(id) = self.mbid(row) {
                same.entry(id).or_default().push(row);
            }
        }
        for rows in same.values() {
            let contradictory = self.one_source_gives_it_to_two(rows);
            let mut first_of: BTreeMap<u32, u32> = BTreeMap::new();
            for row in rows {
                let slot = if contradictory {
                    self.keys[*row as usize]
                } else {
                    0
                };
                sets.join(*first_of.entry(slot).or_insert(*row), *row);
            }
        }
    }

    /// A source that gives one id to artists of two names has mistagged one of them: then only equal names join.
    fn one_source_gives_it_to_two(&self, rows: &[u32]) -> bool {
        let mut name_at: BTreeMap<u32, u32> = BTreeMap::new();
        rows.iter()
            .filter(|row| !self.named[**row as usize].is_empty())
            .any(|row| {
                let key = self.keys[*row as usize];
                *name_at
                    .entry(self.rows.artists[*row as usize].instance)
                    .or_insert(key)
                    != key
            })
    }

    fn by_name(&self, sets: &mut Sets) {
        let all = 0..index(self.rows.artists.len());
        // Sets as the ids made them: joining by name may give a set another root.
        let identified: Vec<u32> = all.clone().map(|row| sets.root(row)).collect();
        let (with_id, without): (Vec<u32>, Vec<u32>) = all
            .filter(|row| !self.named[*row as usize].is_empty())
            .partition(|row| self.mbid(*row).is_some());
        let mut by_key: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for row in with_id {
            by_key
                .entry(self.keys[row as usize])
                .or_default()
                .insert(identified[row as usize]);
        }
        let mut albums = None;
        let mut first_of: BTreeMap<u32, u32> = BTreeMap::new();
        for row in without {
            let key = self.keys[row as usize];
            let candidates = by_key.get(&key).map_or(0, BTreeSet::len);
            let with = match candidates {
                0 => None,
                1 => by_key[&key].first().copied(),
                2..=MOST_COMPARED => {
                    let albums = albums.get_or_insert_with(|| self.albums(&identified));
                    with_the_same_albums(row, &by_key[&key], albums)
                }
                _ => None,
            };
            sets.join(
                with.unwrap_or_else(|| *first_of.entry(key).or_insert(row)),
                row,
            );
        }
    }

    /// The folded album names of each set of artist rows.
    fn albums(&self, set_of: &[u32]) -> BTreeMap<u32, BTreeSet<String>> {
        let mut albums: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
        for album in &self.rows.albums {
            let row = album
                .row
                .artist_remote_id
                .as_deref()
                .and_then(|id| self.rows.artist_row(album.instance, id));
            if let Some(row) = row {
                albums
                    .entry(set_of[row as usize])
                    .or_default()
                    .insert(fold(&album.row.name));
            }
        }
        albums
    }
}

/// Of several artists of one name the one that shares most albums with a row; none if two share as many.
fn with_the_same_albums(
    row: u32,
    candidates: &BTreeSet<u32>,
    albums: &BTreeMap<u32, BTreeSet<String>>,
) -> Option<u32> {
    let own = albums.get(&row)?;
    let shared = |of: &u32| {
        albums
            .get(of)
            .map_or(0, |theirs| own.intersection(theirs).count())
    };
    let most = candidates
        .iter()
        .map(shared)
        .max()
        .filter(|most| *most > 0)?;
    let mut best = candidates
        .iter()
        .copied()
        .filter(|candidate| shared(candidate) == most);
    best.next().filter(|_| best.next().is_none())
}
