//! What one sound file says about itself, read with `lofty`.

use super::audio;
use lofty::config::{GlobalOptions, ParseOptions, apply_global_options};
use lofty::error::FileParseError;
use lofty::file::{AudioFile, FileType, TaggedFile, TaggedFileExt};
use lofty::id3::v1::GENRES;
use lofty::mp4::{Mp4Codec, Mp4File};
use lofty::probe::Probe;
use lofty::tag::{ItemKey, Tag};
use rustix::io::Errno;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use unicode_normalization::UnicodeNormalization;

/// The most a single tag field or picture may ask for.
const MAX_FIELD: usize = super::cover::MAX_COVER;

/// Separators inside one field that holds several MusicBrainz ids.
const ID_SEPARATORS: [char; 5] = ['/', ';', ',', ' ', '\0'];

/// Why a file gives no track.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    /// Its content is not what it should be; reading it again gives the same.
    #[error("{0}")]
    Broken(&'static str),
    /// The disk failed; the file may be fine.
    #[error("it cannot be read: {0}")]
    Io(#[source] io::Error),
}

/// A named artist, with its MusicBrainz id when the tags say it beyond doubt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Credit {
    pub(super) name: String,
    pub(super) musicbrainz_id: Option<String>,
}

impl Credit {
    /// Where the same file names the same artist twice and gives the id once, both have it.
    fn agree(&mut self, other: &mut Credit) {
        if self.name == other.name {
            let id = self.musicbrainz_id.take().or(other.musicbrainz_id.take());
            self.musicbrainz_id.clone_from(&id);
            other.musicbrainz_id = id;
        }
    }
}

/// Tags and audio properties of a file. Texts are in NFC, trimmed, never empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) title: Option<String>,
    /// All track artists as one text.
    pub(super) artist_name: Option<String>,
    /// The first track artist.
    pub(super) artist: Option<Credit>,
    pub(super) album: Option<String>,
    pub(super) album_artist: Option<Credit>,
    pub(super) track_number: Option<u32>,
    pub(super) disc_number: Option<u32>,
    pub(super) year: Option<i32>,
    pub(super) genres: Vec<String>,
    pub(super) recording_id: Option<String>,
    pub(super) release_id: Option<String>,
    pub(super) release_group_id: Option<String>,
    pub(super) isrc: Option<String>,
    pub(super) is_compilation: bool,
    pub(super) duration_ms: Option<u64>,
    pub(super) bit_rate: Option<u32>,
    pub(super) sampling_rate: Option<u32>,
    pub(super) bit_depth: Option<u32>,
    pub(super) channel_count: Option<u32>,
    pub(super) format: String,
    pub(super) has_picture: bool,
}

/// Whether embedded pictures are read along with the tags. They are most of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pictures {
    Read,
    Skip,
}

/// Reads tags and properties.
///
/// # Errors
/// See [`ReadError`]; a panic of the parser counts as broken content.
pub(super) fn read(file: File, suffix: &str, pictures: Pictures) -> Result<Facts, ReadError> {
    let (tagged, format) = parse(file, suffix, pictures)?;
    let facts = facts(&tagged, format);
    if facts.duration_ms.is_none() && facts.sampling_rate.is_none() {
        return Err(ReadError::Broken("there is no sound in it"));
    }
    Ok(facts)
}

/// Reads the file with `lofty`; the format is told by codec where the container leaves it open.
pub(super) fn parse(
    file: File,
    suffix: &str,
    pictures: Pictures,
) -> Result<(TaggedFile, String), ReadError> {
    let options = ParseOptions::new().read_cover_art(pictures == Pictures::Read);
    guarded(|| parse_unguarded(file, suffix, options))
}

/// Runs `lofty` with bounded fields; a panic of it counts as broken content.
pub(super) fn guarded<T>(reading: impl FnOnce() -> Result<T, ReadError>) -> Result<T, ReadError> {
    let reading = AssertUnwindSafe(|| {
        apply_global_options(GlobalOptions::new().allocation_limit(MAX_FIELD));
        reading()
    });
    catch_unwind(reading).unwrap_or(Err(ReadError::Broken("its tags cannot be understood")))
}

fn parse_unguarded(
    file: File,
    suffix: &str,
    options: ParseOptions,
) -> Result<(TaggedFile, String), ReadError> {
    let promised = audio::promised_type(suffix).ok_or(ReadError::Broken("not a sound file"))?;
    let probe = Probe::with_file_type(BufReader::new(file), promised)
        .options(options)
        .guess_file_type()
        .map_err(ReadError::Io)?;
    if probe.file_type() != Some(FileType::Mp4) {
        let file_type = probe.file_type().unwrap_or(promised);
        let tagged = probe.read().map_err(judge)?;
        let format = audio::format_name(file_type).unwrap_or(suffix);
        return Ok((tagged, format.to_owned()));
    }
    let mp4 = Mp4File::read_from(&mut probe.into_inner(), options).map_err(judge)?;
    if mp4.properties().is_drm_protected() {
        return Err(ReadError::Broken("it is protected against copying"));
    }
    let format = match mp4.properties().codec() {
        Some(Mp4Codec::ALAC) => "alac",
        Some(Mp4Codec::MP3) => "mp3",
        Some(Mp4Codec::FLAC) => "flac",
        // AAC, and what lofty cannot tell.
        _ => "m4a",
    };
    Ok((mp4.into(), format.to_owned()))
}

/// Tells a failing disk from a broken file: lofty reports both alike.
pub(super) fn judge(error: FileParseError) -> ReadError {
    let mut source: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(cause) = source {
        if let Some(io) = cause.downcast_ref::<io::Error>()
            && let Some(code) = io.raw_os_error()
            && !is_impossible_seek(code)
        {
            return ReadError::Io(io::Error::from_raw_os_error(code));
        }
        if let Some(io) = cause.downcast_ref::<io::Error>()
            && io.kind() == ErrorKind::UnexpectedEof
        {
            return ReadError::Broken("it ends too early");
        }
        source = cause.source();
    }
    ReadError::Broken("its content is not what its name says")
}

/// A broken length sends the parser before the beginning of the file or beyond all files; the disk is fine.
fn is_impossible_seek(code: i32) -> bool {
    [Errno::INVAL, Errno::OVERFLOW]
        .map(Errno::raw_os_error)
        .contains(&code)
}

fn facts(file: &TaggedFile, format: String) -> Facts {
    let tags = Tags::of(file);
    let properties = file.properties();
    let (artist_name, mut artist) = tags.credit(
        ItemKey::TrackArtist,
        ItemKey::TrackArtists,
        ItemKey::MusicBrainzArtistId,
    );
    let (_, mut album_artist) = tags.credit(
        ItemKey::AlbumArtist,
        ItemKey::AlbumArtists,
        ItemKey::MusicBrainzReleaseArtistId,
    );
    if let (Some(artist), Some(album_artist)) = (&mut artist, &mut album_artist) {
        artist.agree(album_artist);
    }
    let duration_ms = u64::try_from(properties.duration().as_millis()).unwrap_or(0);
    Facts {
        title: tags.text(ItemKey::TrackTitle),
        artist_name,
        artist,
        album: tags.text(ItemKey::AlbumTitle),
        album_artist,
        track_number: tags.number(ItemKey::TrackNumber),
        disc_number: tags.number(ItemKey::DiscNumber),
        year: tags.year(),
        genres: tags.genres(),
        recording_id: tags.musicbrainz_id(ItemKey::MusicBrainzRecordingId),
        release_id: tags.musicbrainz_id(ItemKey::MusicBrainzReleaseId),
        release_group_id: tags.musicbrainz_id(ItemKey::MusicBrainzReleaseGroupId),
        isrc: tags.isrc(),
        is_compilation: tags.flag(ItemKey::FlagCompilation),
        duration_ms: Some(duration_ms).filter(|ms| *ms > 0),
        bit_rate: properties
            .audio_bitrate()
            .or(properties.overall_bitrate())
            .filter(|rate| *rate > 0),
        sampling_rate: properties.sample_rate().filter(|rate| *rate > 0),
        bit_depth: properties.bit_depth().map(u32::from).filter(|d| *d > 0),
        channel_count: properties.channels().map(u32::from).filter(|c| *c > 0),
        format,
        has_picture: file.tags().iter().any(|tag| tag.picture_count() > 0),
    }
}

/// The tags of a file, the format's own kind first: a field missing there is taken from the next.
struct Tags<'a>(Vec<&'a Tag>);

impl<'a> Tags<'a> {
    fn of(file: &'a TaggedFile) -> Self {
        let own = file.primary_tag_type();
        let mut tags: Vec<&Tag> = file.tags().iter().collect();
        tags.sort_by_key(|tag| tag.tag_type() != own);
        Self(tags)
    }

    /// All values of a field, from the first tag that has any.
    fn texts(&self, key: ItemKey) -> Vec<String> {
        self.0
            .iter()
            .map(|tag| tag.get_strings(key).filter_map(clean).collect())
            .find(|texts: &Vec<String>| !texts.is_empty())
            .unwrap_or_default()
    }

    fn text(&self, key: ItemKey) -> Option<String> {
        self.texts(key).into_iter().next()
    }

    /// A number that may come with its total ("3/12"); zero counts as absent.
    fn number(&self, key: ItemKey) -> Option<u32> {
        let text = self.text(key)?;
        let number = text.split('/').next()?.trim().parse().ok()?;
        Some(number).filter(|number| *number > 0)
    }

    fn flag(&self, key: ItemKey) -> bool {
        self.text(key)
            .is_some_and(|text| text == "1" || text.eq_ignore_ascii_case("true"))
    }

    fn year(&self) -> Option<i32> {
        [
            ItemKey::RecordingDate,
            ItemKey::Year,
            ItemKey::ReleaseDate,
            ItemKey::OriginalReleaseDate,
        ]
        .into_iter()
        .find_map(|key| year_in(&self.text(key)?))
    }

    fn genres(&self) -> Vec<String> {
        let mut genres = Vec::new();
        for text in self.texts(ItemKey::Genre) {
            let genre = match text.parse::<usize>() {
                Ok(number) => GENRES.get(number).map_or(text, |name| (*name).to_owned()),
                Err(_) => text,
            };
            if !genres.contains(&genre) {
                genres.push(genre);
            }
        }
        genres
    }

    fn musicbrainz_ids(&self, key: ItemKey) -> Vec<String> {
        let texts = self.texts(key);
        let words = texts.iter().flat_map(|text| text.split(ID_SEPARATORS));
        words.filter_map(musicbrainz_id).collect()
    }

    fn musicbrainz_id(&self, key: ItemKey) -> Option<String> {
        self.musicbrainz_ids(key).into_iter().next()
    }

    /// First ISRC: twelve letters and digits once the dashes are gone.
    fn isrc(&self) -> Option<String> {
        self.texts(ItemKey::Isrc).iter().find_map(|text| {
            let code: String = text.chars().filter(|c| *c != '-').collect();
            let valid = code.len() == 12 && code.bytes().all(|b| b.is_ascii_alphanumeric());
            valid.then(|| code.to_ascii_uppercase())
        })
    }

    /// Artists as one text, and the first of them. The display field may hold "A feat. B" as one value
    /// while the list field names each; ids are paired only with a list of the same length.
    fn credit(
        &self,
        display: ItemKey,
        list: ItemKey,
        ids: ItemKey,
    ) -> (Option<String>, Option<Credit>) {
        let displayed = self.texts(display);
        let listed = self.texts(list);
        let ids = self.musicbrainz_ids(ids);
        let names = match displayed.len() {
            0 => &listed,
            1 if listed.len() > 1 => &listed,
            _ => &displayed,
        };
        let Some(first) = names.first() else {
            return (None, None);
        };
        let whole = if displayed.is_empty() {
            listed.join(", ")
        } else {
            displayed.join(", ")
        };
        let paired = ids.len() == names.len();
        let credit = Credit {
            name: first.clone(),
            musicbrainz_id: ids.into_iter().next().filter(|_| paired),
        };
        (Some(whole), Some(credit))
    }
}

/// NFC without surrounding white space and padding; `None` when nothing is left.
fn clean(text: &str) -> Option<String> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.nfc().collect())
}

/// A MusicBrainz id in lower case, if it has the form of one.
fn musicbrainz_id(text: &str) -> Option<String> {
    let groups: Vec<usize> = text.split('-').map(str::len).collect();
    let hexadecimal = text.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit());
    (hexadecimal && groups == [8, 4, 4, 4, 12]).then(|| text.to_ascii_lowercase())
}

/// The first run of exactly four digits that is a year: "1999-03-10", "10.03.1999", "1999".
fn year_in(text: &str) -> Option<i32> {
    text.split(|c: char| !c.is_ascii_digit())
        .filter(|run| run.len() == 4 || run.len() == 8)
        .find_map(|run| run.get(..4)?.parse().ok())
        .filter(|year| *year >= 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_year_is_found_in_every_common_date_form() {
        for text in ["1999", "1999-03-10", "10.03.1999", "19990310", "03/1999"] {
            assert_eq!(year_in(text), Some(1999), "{text}");
        }
        for text in ["", "0000", "99", "12345", "0000-00-00"] {
            assert_eq!(year_in(text), None, "{text}");
        }
    }

    #[test]
    fn a_musicbrainz_id_has_its_form_or_is_none() {
        assert_eq!(
            musicbrainz_id("89AD4AC3-39F7-470E-963A-56509C546377").as_deref(),
            Some("89ad4ac3-39f7-470e-963a-56509c546377")
        );
        assert_eq!(musicbrainz_id("89ad4ac3"), None);
        assert_eq!(musicbrainz_id("89ad4ac3-39f7-470e-963a-56509c54637z"), None);
    }

    #[test]
    fn one_artist_of_one_file_has_one_id() {
        let credit = |name: &str, id: Option<&str>| Credit {
            name: name.to_owned(),
            musicbrainz_id: id.map(str::to_owned),
        };
        let agreed = |mut a: Credit, mut b: Credit| {
            a.agree(&mut b);
            (a, b)
        };
        let (with, without) = (credit("A", Some("1")), credit("A", None));
        let both = (with.clone(), with.clone());
        assert_eq!(agreed(with.clone(), without.clone()), both);
        assert_eq!(agreed(without.clone(), with.clone()), both);
        let other = credit("B", Some("2"));
        assert_eq!(agreed(without.clone(), other.clone()), (without, other));
    }

    #[test]
    fn text_is_cleaned_to_nfc() {
        assert_eq!(clean(" De\u{301}ja\u{300}\0 ").as_deref(), Some("Déjà"));
        assert_eq!(clean(" \0 "), None);
    }
}
