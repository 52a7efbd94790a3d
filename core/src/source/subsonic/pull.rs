//! One pass over a server's whole library: which requests, in which order, and when it was complete.
//!
//! `getMusicFolders`, then `getArtists` and, for each artist, `getArtist`; beside it all pages of
//! `getAlbumList2`, since some albums hang under no listed artist; `getAlbum` for every album seen either way,
//! once. A pass is complete only if every request was answered and nothing was left out, because rows are
//! deleted on its word.
//!
//! ```
//! use segue_core::source::Refusal;
//! use segue_core::io::NetError;
//! use segue_core::source::subsonic::Pull;
//!
//! let mut pull = Pull::new(3);
//! while let Some(request) = pull.poll_request() {
//!     assert_eq!(request.method, "getMusicFolders"); // the first contact goes alone
//!     pull.answer(request.id, Err(Refusal::Net(NetError::Refused)));
//! }
//! assert!(pull.is_done());
//! assert!(!pull.finish().complete);
//! ```

use super::parse::{self, AlbumPage, Envelope, Server, Warnings};
use crate::catalog::model::{InstanceAlbum, InstanceArtist, InstanceTrack, Pass};
use crate::source::{Refusal, RefusalClass};
use bytes::Bytes;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

/// Albums per page of `getAlbumList2`, the most that servers give.
pub const PAGE_SIZE: usize = 500;

/// After so many failures in a row the server is taken to be gone, and the pass ends.
const FAILURE_LIMIT: u32 = 8;

/// The most rows of a kind that one pass keeps.
const ROW_LIMIT: usize = 5_000_000;

/// The machine of one pass. Drain [`Pull::poll_request`] after each other call; any order of answers will do.
#[derive(Debug)]
pub struct Pull {
    concurrency: usize,
    waiting: VecDeque<Ask>,
    running: BTreeMap<u32, Ask>,
    next_id: u32,
    done: usize,
    artists: BTreeMap<String, InstanceArtist>,
    albums: BTreeMap<String, Seen>,
    tracks: BTreeMap<String, InstanceTrack>,
    server: Option<Server>,
    /// Something that the server has was not seen.
    is_partial: bool,
    /// The album list went on without bringing anything new.
    is_stalled: bool,
    /// Ended early: what still runs may end, nothing new begins.
    is_over: bool,
    failure: Option<Refusal>,
    failures_in_a_row: u32,
    warnings: Warnings,
}

/// An album and where it was seen.
#[derive(Debug)]
struct Seen {
    row: InstanceAlbum,
    under_an_artist: bool,
    in_the_list: bool,
}

/// What a request is about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Ask {
    MusicFolders,
    Artists,
    Artist(String),
    Album(String),
    AlbumPage { offset: usize },
}

impl Ask {
    fn method(&self) -> &'static str {
        match self {
            Ask::MusicFolders => "getMusicFolders",
            Ask::Artists => "getArtists",
            Ask::Artist(_) => "getArtist",
            Ask::Album(_) => "getAlbum",
            Ask::AlbumPage { .. } => "getAlbumList2",
        }
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        match self {
            Ask::MusicFolders | Ask::Artists => Vec::new(),
            Ask::Artist(id) | Ask::Album(id) => vec![("id", id.clone())],
            Ask::AlbumPage { offset } => vec![
                ("type", "alphabeticalByName".to_owned()),
                ("size", PAGE_SIZE.to_string()),
                ("offset", offset.to_string()),
            ],
        }
    }
}

/// A request to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequest {
    /// To be given back with the answer.
    pub id: u32,
    /// The method, for [`super::Endpoint::request`].
    pub method: &'static str,
    /// Its parameters.
    pub params: Vec<(&'static str, String)>,
}

/// How far a pass has got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Artists seen.
    pub artists: usize,
    /// Albums seen.
    pub albums: usize,
    /// Tracks seen.
    pub tracks: usize,
    /// Requests answered.
    pub requests_done: usize,
    /// Requests answered, running, or known to be needed.
    pub requests_known: usize,
}

impl Pull {
    /// Begins a pass with at most `concurrency` (at least 1) requests at a time.
    pub fn new(concurrency: usize) -> Self {
        Pull {
            concurrency: concurrency.max(1),
            waiting: VecDeque::from([Ask::MusicFolders]),
            running: BTreeMap::new(),
            next_id: 0,
            done: 0,
            artists: BTreeMap::new(),
            albums: BTreeMap::new(),
            tracks: BTreeMap::new(),
            server: None,
            is_partial: false,
            is_stalled: false,
            is_over: false,
            failure: None,
            failures_in_a_row: 0,
            warnings: Warnings::default(),
        }
    }

    /// The next request to send; `None` while enough are running or nothing is known to ask.
    pub fn poll_request(&mut self) -> Option<PullRequest> {
        if self.running.len() >= self.concurrency {
            return None;
        }
        let ask = self.waiting.pop_front()?;
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        let request = PullRequest {
            id,
            method: ask.method(),
            params: ask.params(),
        };
        self.running.insert(id, ask);
        Some(request)
    }

    /// What came of a request: the body of its reply (at most [`parse::BODY_LIMIT`] bytes), or why there is
    /// none after all retries. An id that is not running is ignored.
    pub fn answer(&mut self, id: u32, reply: Result<Bytes, Refusal>) {
        let Some(ask) = self.running.remove(&id) else {
            return;
        };
        self.done += 1;
        let envelope = reply.and_then(|body| parse::reply(&body));
        match envelope.and_then(|envelope| self.take(&ask, envelope)) {
            Ok(()) => self.failures_in_a_row = 0,
            Err(refusal) => self.fail(&ask, refusal),
        }
        let rows = [self.artists.len(), self.albums.len(), self.tracks.len()];
        if rows.into_iter().any(|rows| rows > ROW_LIMIT) && !self.is_over {
            self.warnings
                .push(format!("Stopped after {ROW_LIMIT} rows."));
            self.give_up();
        }
        if self.is_over {
            self.waiting.clear();
        }
    }

    /// Nothing is running and nothing is left to ask.
    pub fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.running.is_empty()
    }

    /// How far it has got.
    pub fn progress(&self) -> Progress {
        Progress {
            artists: self.artists.len(),
            albums: self.albums.len(),
            tracks: self.tracks.len(),
            requests_done: self.done,
            requests_known: self.done + self.running.len() + self.waiting.len(),
        }
    }

    /// Why the pass ended early, if it did: rejected credentials, or a server that went away.
    pub fn failure(&self) -> Option<Refusal> {
        self.failure
    }

    /// What the server says of itself.
    pub fn server(&self) -> Option<&Server> {
        self.server.as_ref()
    }

    /// The rows, sorted by id. Complete only when everything was asked and answered.
    pub fn finish(mut self) -> Pass {
        let only_listed = self
            .albums
            .values()
            .filter(|seen| !seen.under_an_artist)
            .count();
        if self.is_stalled && only_listed > 0 {
            // The list shows albums that no artist leads to, and cannot be read to its end.
            self.is_partial = true;
        }
        let complete = self.is_done() && !self.is_partial;
        Pass {
            artists: self.artists.into_values().collect(),
            albums: self.albums.into_values().map(|seen| seen.row).collect(),
            tracks: self.tracks.into_values().collect(),
            complete,
            warnings: self.warnings.into_vec(),
        }
    }

    fn take(&mut self, ask: &Ask, envelope: Envelope) -> Result<(), Refusal> {
        // An envelope without what was asked for is no answer.
        let unusable = Refusal::ErrorDocument(None);
        match ask {
            Ask::MusicFolders => {
                self.waiting
                    .extend([Ask::AlbumPage { offset: 0 }, Ask::Artists]);
            }
            Ask::Artists => {
                let listed = envelope.artists(&mut self.warnings).ok_or(unusable)?;
                for artist in listed {
                    self.take_listed(artist);
                }
            }
            Ask::Artist(id) => {
                let (artist, albums) = envelope.artist(&mut self.warnings).ok_or(unusable)?;
                if artist.remote_id != *id {
                    return Err(unusable);
                }
                self.complete_artist(artist);
                for album in albums {
                    self.see(album).under_an_artist = true;
                }
            }
            Ask::AlbumPage { offset } => {
                let page = envelope.album_list(&mut self.warnings);
                self.take_page(*offset, page);
            }
            Ask::Album(id) => {
                let (album, tracks) = envelope.album(&mut self.warnings).ok_or(unusable)?;
                if album.remote_id != *id {
                    return Err(unusable);
                }
                self.complete_album(album);
                for track in tracks {
                    self.take_track(track);
                }
            }
        }
        self.server.get_or_insert(envelope.server);
        Ok(())
    }

    fn take_listed(&mut self, artist: parse::ListedArtist) {
        let id = artist.row.remote_id.clone();
        if let Entry::Vacant(place) = self.artists.entry(id.clone()) {
            place.insert(artist.row);
            // Artists of single tracks only: their albums are seen under others, or in the list.
            if !artist.has_no_albums {
                self.waiting.push_back(Ask::Artist(id));
            }
        }
    }

    /// What `getArtist` knows beyond `getArtists`.
    fn complete_artist(&mut self, artist: InstanceArtist) {
        if let Some(known) = self.artists.get_mut(&artist.remote_id) {
            known.musicbrainz_id = known.musicbrainz_id.take().or(artist.musicbrainz_id);
            known.cover_art = known.cover_art.take().or(artist.cover_art);
        }
    }

    fn take_page(&mut self, offset: usize, page: AlbumPage) {
        let mut is_news = false;
        for album in page.albums {
            let seen = self.see(album);
            is_news |= !seen.in_the_list;
            seen.in_the_list = true;
        }
        if page.length < PAGE_SIZE {
            return;
        }
        if is_news {
            let offset = offset + page.length;
            self.waiting.push_front(Ask::AlbumPage { offset });
        } else {
            self.is_stalled = true;
            let warning = "The album list repeats itself: the server seems to ignore the offset.";
            self.warnings.push(warning.to_owned());
        }
    }

    /// Notes an album that some list shows; the first time, asks for it.
    fn see(&mut self, album: InstanceAlbum) -> &mut Seen {
        match self.albums.entry(album.remote_id.clone()) {
            Entry::Occupied(known) => {
                let seen = known.into_mut();
                fill_in(&mut seen.row, album);
                seen
            }
            Entry::Vacant(place) => {
                self.waiting.push_back(Ask::Album(album.remote_id.clone()));
                place.insert(Seen {
                    row: album,
                    under_an_artist: false,
                    in_the_list: false,
                })
            }
        }
    }

    /// The album itself says more than a list that shows it, mostly.
    fn complete_album(&mut self, album: InstanceAlbum) {
        if let Some(seen) = self.albums.get_mut(&album.remote_id) {
            let listed = std::mem::replace(&mut seen.row, album);
            fill_in(&mut seen.row, listed);
        }
    }

    /// A track that two albums show stays with the one of the smaller id, whichever was answered first.
    fn take_track(&mut self, track: InstanceTrack) {
        match self.tracks.entry(track.remote_id.clone()) {
            Entry::Vacant(place) => {
                place.insert(track);
            }
            Entry::Occupied(known) if known.get().album_remote_id == track.album_remote_id => {}
            Entry::Occupied(mut known) => {
                let warning = format!("Track {} is on more than one album.", track.remote_id);
                self.warnings.push(warning);
                if track.album_remote_id < known.get().album_remote_id {
                    known.insert(track);
                }
            }
        }
    }

    fn fail(&mut self, ask: &Ask, refusal: Refusal) {
        self.is_partial = true;
        let what = match ask {
            Ask::Artist(id) | Ask::Album(id) => format!("{} {id}", ask.method()),
            Ask::MusicFolders | Ask::Artists | Ask::AlbumPage { .. } => ask.method().to_owned(),
        };
        self.warnings.push(format!("{what}: {refusal}."));
        let is_hopeless = match refusal.class() {
            // Asking on would only repeat the wrong password.
            RefusalClass::Auth => true,
            RefusalClass::Miss => {
                self.failures_in_a_row = 0;
                false
            }
            RefusalClass::Transport | RefusalClass::Throttled { .. } => {
                self.failures_in_a_row += 1;
                self.server.is_none() || self.failures_in_a_row >= FAILURE_LIMIT
            }
        };
        if is_hopeless {
            self.failure.get_or_insert(refusal);
            self.give_up();
        } else if *ask == Ask::MusicFolders {
            // Not every server has folders to tell of.
            self.waiting
                .extend([Ask::AlbumPage { offset: 0 }, Ask::Artists]);
        }
    }

    fn give_up(&mut self) {
        self.is_partial = true;
        self.is_over = true;
    }
}

/// Fills what `row` does not know from `other`.
fn fill_in(row: &mut InstanceAlbum, other: InstanceAlbum) {
    row.artist_remote_id = row.artist_remote_id.take().or(other.artist_remote_id);
    if row.artist_name.is_empty() {
        row.artist_name = other.artist_name;
    }
    row.year = row.year.or(other.year);
    if row.genres.is_empty() {
        row.genres = other.genres;
    }
    row.musicbrainz_id = row.musicbrainz_id.take().or(other.musicbrainz_id);
    row.release_group_mbid = row.release_group_mbid.take().or(other.release_group_mbid);
    row.cover_art = row.cover_art.take().or(other.cover_art);
    row.created = row.created.or(other.created);
    row.is_compilation |= other.is_compilation;
}
