//! What the fake upstream has on its shelf.

use super::content::{Content, media_type};
use super::lyrics::Words;
use bytes::Bytes;

/// All artists of one upstream, in the order they were added.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// Album artists.
    pub artists: Vec<Artist>,
}

/// An album artist. An empty `id` is filled in when the upstream starts.
#[derive(Clone, Debug, Default)]
#[expect(
    missing_docs,
    reason = "the fields are the Subsonic ones of the same name"
)]
pub struct Artist {
    pub id: String,
    pub name: String,
    pub musicbrainz_id: Option<String>,
    pub albums: Vec<Album>,
}

/// An album. An empty `id` is filled in when the upstream starts.
#[derive(Clone, Debug, Default)]
#[expect(
    missing_docs,
    reason = "the fields are the Subsonic ones of the same name"
)]
pub struct Album {
    pub id: String,
    pub name: String,
    pub year: Option<i32>,
    pub genres: Vec<String>,
    pub musicbrainz_id: Option<String>,
    pub is_compilation: bool,
    pub created: Option<String>,
    pub tracks: Vec<Track>,
}

/// A track. An empty `id` is filled in when the upstream starts.
#[derive(Clone, Debug)]
pub struct Track {
    /// Empty: numbered when the upstream starts.
    pub id: String,
    /// Display title.
    pub title: String,
    /// Track artist where it is not the album's.
    pub artist: Option<String>,
    /// Track number; 0: its place on the album.
    pub number: u32,
    /// Disc number.
    pub disc: u32,
    /// Length in seconds.
    pub seconds: u32,
    /// Kilobits per second.
    pub bit_rate: u32,
    /// File extension without a dot.
    pub suffix: String,
    /// MusicBrainz recording id.
    pub musicbrainz_id: Option<String>,
    /// ISRC.
    pub isrc: Option<String>,
    /// Length in bytes of marked audio; `None`: what length and bit rate come to.
    pub size: Option<u64>,
    /// What is played.
    pub audio: Audio,
    /// What is sung.
    pub words: Option<Words>,
}

/// Where a track's bytes come from.
#[derive(Clone, Debug, Default)]
pub enum Audio {
    /// Self-describing bytes labelled `SOURCE/TRACK`: no other track has the same.
    #[default]
    Own,
    /// Self-describing bytes with this label: the same on every upstream that uses it.
    Labelled(String),
    /// These bytes, for instance real music.
    Bytes(Bytes),
}

impl Library {
    /// An empty shelf.
    pub fn new() -> Self {
        Library::default()
    }

    /// Adds an artist.
    pub fn artist(mut self, artist: Artist) -> Self {
        self.artists.push(artist);
        self
    }

    /// A shelf of one artist and one album with the given tracks, all FLAC of 13 seconds: enough for most tests.
    pub fn of_one_album(artist: &str, album: &str, titles: &[&str]) -> Self {
        let tracks = titles.iter().map(|title| Track::new(title));
        let album = tracks.fold(Album::new(album), Album::track);
        Library::new().artist(Artist::new(artist).album(album))
    }

    /// Every track with its album and album artist.
    pub fn tracks(&self) -> impl Iterator<Item = (&Artist, &Album, &Track)> {
        self.artists.iter().flat_map(|artist| {
            let albums = artist.albums.iter();
            albums
                .flat_map(move |album| album.tracks.iter().map(move |track| (artist, album, track)))
        })
    }

    /// Every album with its album artist.
    pub fn albums(&self) -> impl Iterator<Item = (&Artist, &Album)> {
        self.artists
            .iter()
            .flat_map(|artist| artist.albums.iter().map(move |album| (artist, album)))
    }

    /// The first track with this title.
    pub fn titled(&self, title: &str) -> Option<&Track> {
        self.tracks()
            .map(|(_, _, track)| track)
            .find(|track| track.title == title)
    }

    /// Changes every track.
    pub fn each_track(mut self, change: impl Fn(&mut Track)) -> Self {
        for artist in &mut self.artists {
            for album in &mut artist.albums {
                album.tracks.iter_mut().for_each(&change);
            }
        }
        self
    }

    /// Fills in empty ids and track numbers. `numeric`: ids are numbers, distinct over all kinds.
    pub(super) fn number(&mut self, numeric: bool) {
        let name = |kind: &str, base: u64, n: u64| match numeric {
            true => (base + n).to_string(),
            false => format!("{kind}-{n}"),
        };
        let (mut artists, mut albums, mut tracks) = (0, 0, 0);
        for artist in &mut self.artists {
            artists += 1;
            fill(&mut artist.id, || name("ar", 1_000, artists));
            for album in &mut artist.albums {
                albums += 1;
                fill(&mut album.id, || name("al", 100_000, albums));
                for (place, track) in (1..).zip(&mut album.tracks) {
                    tracks += 1;
                    fill(&mut track.id, || name("tr", 10_000_000, tracks));
                    if track.number == 0 {
                        track.number = place;
                    }
                }
            }
        }
    }
}

fn fill(id: &mut String, name: impl FnOnce() -> String) {
    if id.is_empty() {
        *id = name();
    }
}

impl Artist {
    /// An artist without albums.
    pub fn new(name: &str) -> Self {
        Artist {
            name: name.to_owned(),
            ..Artist::default()
        }
    }

    /// Sets the upstream's own id.
    pub fn id(mut self, id: &str) -> Self {
        self.id = id.to_owned();
        self
    }

    /// Sets the MusicBrainz artist id.
    pub fn mbid(mut self, id: &str) -> Self {
        self.musicbrainz_id = Some(id.to_owned());
        self
    }

    /// Adds an album.
    pub fn album(mut self, album: Album) -> Self {
        self.albums.push(album);
        self
    }
}

impl Album {
    /// An album without tracks.
    pub fn new(name: &str) -> Self {
        Album {
            name: name.to_owned(),
            ..Album::default()
        }
    }

    /// Sets the upstream's own id.
    pub fn id(mut self, id: &str) -> Self {
        self.id = id.to_owned();
        self
    }

    /// Sets the MusicBrainz release id.
    pub fn mbid(mut self, id: &str) -> Self {
        self.musicbrainz_id = Some(id.to_owned());
        self
    }

    /// Sets the year.
    pub fn year(mut self, year: i32) -> Self {
        self.year = Some(year);
        self
    }

    /// Adds a genre.
    pub fn genre(mut self, genre: &str) -> Self {
        self.genres.push(genre.to_owned());
        self
    }

    /// Marks the album as a compilation.
    pub fn compilation(mut self) -> Self {
        self.is_compilation = true;
        self
    }

    /// Adds a track.
    pub fn track(mut self, track: Track) -> Self {
        self.tracks.push(track);
        self
    }

    pub(super) fn seconds(&self) -> u32 {
        self.tracks.iter().map(|track| track.seconds).sum()
    }
}

impl Track {
    /// A FLAC of 13 seconds with bytes of its own.
    pub fn new(title: &str) -> Self {
        Track {
            id: String::new(),
            title: title.to_owned(),
            artist: None,
            number: 0,
            disc: 1,
            seconds: 13,
            bit_rate: 800,
            suffix: "flac".to_owned(),
            musicbrainz_id: None,
            isrc: None,
            size: None,
            audio: Audio::Own,
            words: None,
        }
    }

    /// Sets the upstream's own id.
    pub fn id(mut self, id: &str) -> Self {
        self.id = id.to_owned();
        self
    }

    /// Sets the MusicBrainz recording id.
    pub fn mbid(mut self, id: &str) -> Self {
        self.musicbrainz_id = Some(id.to_owned());
        self
    }

    /// Sets a track artist that is not the album's.
    pub fn by(mut self, artist: &str) -> Self {
        self.artist = Some(artist.to_owned());
        self
    }

    /// Sets disc and track number.
    pub fn place(mut self, disc: u32, number: u32) -> Self {
        (self.disc, self.number) = (disc, number);
        self
    }

    /// Sets the length.
    pub fn seconds(mut self, seconds: u32) -> Self {
        self.seconds = seconds;
        self
    }

    /// Sets file extension and kilobits per second.
    pub fn format(mut self, suffix: &str, bit_rate: u32) -> Self {
        (self.suffix, self.bit_rate) = (suffix.to_owned(), bit_rate);
        self
    }

    /// Sets the length of marked audio in bytes.
    pub fn size(mut self, bytes: u64) -> Self {
        self.size = Some(bytes);
        self
    }

    /// Sets what is played.
    pub fn audio(mut self, audio: Audio) -> Self {
        self.audio = audio;
        self
    }

    /// Sets what is sung.
    pub fn words(mut self, words: Words) -> Self {
        self.words = Some(words);
        self
    }

    /// The original bytes, on the upstream called `source`.
    pub fn content(&self, source: &str) -> Content {
        let label = match &self.audio {
            Audio::Bytes(bytes) => return Content::Bytes(bytes.clone()),
            Audio::Labelled(label) => label.clone(),
            Audio::Own => format!("{source}/{}", self.id),
        };
        Content::Marked {
            label,
            suffix: self.suffix.clone(),
            size: self.size.unwrap_or(estimate(self.seconds, self.bit_rate)),
        }
    }

    /// What a transcode to `suffix` from `offset` seconds on sounds like: other bytes, labelled with what was asked.
    pub fn transcode(&self, source: &str, suffix: &str, bit_rate: u32, offset: u32) -> Content {
        let label = match &self.audio {
            Audio::Labelled(label) => label.clone(),
            Audio::Bytes(_) | Audio::Own => format!("{source}/{}", self.id),
        };
        Content::Marked {
            label: format!("{label}>{suffix}@{bit_rate}+{offset}"),
            suffix: suffix.to_owned(),
            size: estimate(self.seconds.saturating_sub(offset), bit_rate),
        }
    }

    pub(super) fn media_type(&self) -> String {
        media_type(&self.suffix)
    }
}

fn estimate(seconds: u32, bit_rate: u32) -> u64 {
    u64::from(seconds) * u64::from(bit_rate) * 125
}
