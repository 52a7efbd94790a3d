//! Lyrics in the tags of a sound file, read with `lofty`.
//!
//! `lofty`'s common view of tags drops timed frames, user text and freeform atoms, so each format's own tags are read.

use super::audio;
use super::tags;
use lofty::aac::AacFile;
use lofty::ape::{ApeFile, ApeTag};
use lofty::config::ParseOptions;
use lofty::error::FileParseError;
use lofty::file::{AudioFile, FileType};
use lofty::flac::FlacFile;
use lofty::id3::v2::{
    BinaryFrame, Frame, Id3v2Tag, SyncTextContentType, SynchronizedTextFrame, TimestampFormat,
};
use lofty::iff::aiff::AiffFile;
use lofty::iff::wav::WavFile;
use lofty::mp4::{AtomData, AtomIdent, Ilst, Mp4File};
use lofty::mpeg::MpegFile;
use lofty::musepack::MpcFile;
use lofty::ogg::tag::VorbisComments;
use lofty::ogg::{OpusFile, SpeexFile, VorbisFile};
use lofty::probe::Probe;
use lofty::tag::ItemValue;
use lofty::wavpack::WavPackFile;
use segue_core::provider::local::Embedded;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};

/// The longest text of one tag that is taken.
const MAX_TEXT: usize = 1024 * 1024;

/// The most pieces of one timed frame.
const MAX_PIECES: usize = 50_000;

/// All lyrics of a file, in the order of its tags. What cannot be understood holds none.
///
/// # Errors
/// When the disk fails; the file may be fine.
pub(super) fn embedded(file: File, suffix: &str) -> io::Result<Vec<Embedded>> {
    let found = tags::guarded(|| read(file, suffix));
    let mut found = match found {
        Ok(found) => found,
        Err(tags::ReadError::Broken(_)) => Vec::new(),
        // A failing disk has a number of the operating system's; a file that ends too early has none.
        Err(tags::ReadError::Io(error)) if error.raw_os_error().is_none() => Vec::new(),
        Err(tags::ReadError::Io(error)) => return Err(error),
    };
    found.retain(|words| match words {
        Embedded::Sylt { entries, .. } => !entries.is_empty(),
        Embedded::Text { text, .. } => !text.trim().is_empty() && text.len() <= MAX_TEXT,
    });
    Ok(found)
}

fn read(file: File, suffix: &str) -> Result<Vec<Embedded>, tags::ReadError> {
    let promised =
        audio::promised_type(suffix).ok_or(tags::ReadError::Broken("not a sound file"))?;
    let probe = Probe::with_file_type(BufReader::new(file), promised)
        .guess_file_type()
        .map_err(tags::ReadError::Io)?;
    let kind = probe.file_type().unwrap_or(promised);
    of_kind(kind, &mut probe.into_inner()).map_err(tags::judge)
}

fn of_kind<R: Read + Seek>(
    kind: FileType,
    reader: &mut R,
) -> Result<Vec<Embedded>, FileParseError> {
    let options = ParseOptions::new()
        .read_properties(false)
        .read_cover_art(false);
    let mut found = Vec::new();
    match kind {
        FileType::Aac => found.id3v2(AacFile::read_from(reader, options)?.id3v2()),
        FileType::Aiff => found.id3v2(AiffFile::read_from(reader, options)?.id3v2()),
        FileType::Ape => {
            let file = ApeFile::read_from(reader, options)?;
            found.ape(file.ape());
            found.id3v2(file.id3v2());
        }
        FileType::Flac => {
            let file = FlacFile::read_from(reader, options)?;
            found.vorbis(file.vorbis_comments());
            found.id3v2(file.id3v2());
        }
        FileType::Mpeg => {
            let file = MpegFile::read_from(reader, options)?;
            found.id3v2(file.id3v2());
            found.ape(file.ape());
        }
        FileType::Mp4 => found.mp4(Mp4File::read_from(reader, options)?.ilst()),
        FileType::Mpc => {
            let file = MpcFile::read_from(reader, options)?;
            found.ape(file.ape());
            found.id3v2(file.id3v2());
        }
        FileType::Opus => found.vorbis(Some(
            OpusFile::read_from(reader, options)?.vorbis_comments(),
        )),
        FileType::Vorbis => {
            found.vorbis(Some(
                VorbisFile::read_from(reader, options)?.vorbis_comments(),
            ));
        }
        FileType::Speex => found.vorbis(Some(
            SpeexFile::read_from(reader, options)?.vorbis_comments(),
        )),
        FileType::Wav => found.id3v2(WavFile::read_from(reader, options)?.id3v2()),
        FileType::WavPack => found.ape(WavPackFile::read_from(reader, options)?.ape()),
        // lofty may learn new types.
        _ => {}
    }
    Ok(found)
}

/// What each kind of tag adds.
trait Gather {
    fn text(&mut self, lang: Option<String>, description: &str, text: &str);
    fn id3v2(&mut self, tag: Option<&Id3v2Tag>);
    fn vorbis(&mut self, tag: Option<&VorbisComments>);
    fn ape(&mut self, tag: Option<&ApeTag>);
    fn mp4(&mut self, tag: Option<&Ilst>);
}

impl Gather for Vec<Embedded> {
    fn text(&mut self, lang: Option<String>, description: &str, text: &str) {
        self.push(Embedded::Text {
            lang,
            description: Some(description.to_owned()).filter(|text| !text.is_empty()),
            text: text.to_owned(),
        });
    }

    fn id3v2(&mut self, tag: Option<&Id3v2Tag>) {
        for frame in tag.into_iter().flatten() {
            match frame {
                Frame::UnsynchronizedText(words) => {
                    self.text(language(words.language), &words.description, &words.content);
                }
                Frame::UserText(field) => {
                    if let Some(key) = Key::of(&field.description) {
                        self.text(key.lang, &field.description, &field.content);
                    }
                }
                Frame::Binary(binary) if binary.id().as_str() == "SYLT" => {
                    self.extend(timed(binary));
                }
                _ => {}
            }
        }
    }

    fn vorbis(&mut self, tag: Option<&VorbisComments>) {
        for (name, text) in tag.into_iter().flat_map(VorbisComments::items) {
            if let Some(key) = Key::of(name) {
                self.text(key.lang, name, text);
            }
        }
    }

    fn ape(&mut self, tag: Option<&ApeTag>) {
        for item in tag.into_iter().flatten() {
            if let (Some(key), ItemValue::Text(text)) = (Key::of(item.key()), item.value()) {
                self.text(key.lang, item.key(), text);
            }
        }
    }

    fn mp4(&mut self, tag: Option<&Ilst>) {
        for atom in tag.into_iter().flatten() {
            let (lang, name) = match atom.ident() {
                AtomIdent::Fourcc([0xa9, b'l', b'y', b'r']) => (None, ""),
                AtomIdent::Fourcc(_) => continue,
                AtomIdent::Freeform { name, .. } => match Key::of(name) {
                    Some(key) => (key.lang, name.as_ref()),
                    None => continue,
                },
            };
            for data in atom.data() {
                if let AtomData::UTF8(text) | AtomData::UTF16(text) = data {
                    self.text(lang.clone(), name, text);
                }
            }
        }
    }
}

/// A field whose name says that it holds lyrics.
struct Key {
    lang: Option<String>,
}

impl Key {
    /// `LYRICS`, `SYNCEDLYRICS`, `UNSYNCEDLYRICS`, and `LYRICS-eng` or `LYRICS:eng`, in any case.
    fn of(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let plain = [
            "lyrics",
            "syncedlyrics",
            "unsyncedlyrics",
            "unsynced lyrics",
            "synced lyrics",
        ];
        if plain.contains(&name.as_str()) {
            return Some(Key { lang: None });
        }
        let lang = name.strip_prefix("lyrics")?.strip_prefix(['-', ':'])?;
        let known = (2..=8).contains(&lang.len())
            && lang.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-');
        known.then(|| Key {
            lang: Some(lang.to_owned()),
        })
    }
}

fn language(code: [u8; 3]) -> Option<String> {
    let letters = code.iter().all(u8::is_ascii_alphabetic);
    letters.then(|| String::from_utf8_lossy(&code).to_ascii_lowercase())
}

/// A timed frame. Times in frames of MPEG audio are left alone, and so is what is no singing: chords, slides.
fn timed(frame: &BinaryFrame<'_>) -> Option<Embedded> {
    let frame = SynchronizedTextFrame::parse(&frame.data, frame.flags()).ok()?;
    let sung = matches!(
        frame.content_type,
        SyncTextContentType::Lyrics | SyncTextContentType::TextTranscription
    );
    if frame.timestamp_format != TimestampFormat::MS || !sung {
        return None;
    }
    let pieces = frame.content.iter().take(MAX_PIECES);
    Some(Embedded::Sylt {
        lang: language(frame.language),
        entries: pieces
            .map(|(at, text)| (u64::from(*at), text.clone()))
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_for_lyrics_is_known_by_its_name() {
        for (name, lang) in [
            ("LYRICS", None),
            ("UnsyncedLyrics", None),
            ("SYNCEDLYRICS", None),
            ("lyrics-eng", Some("eng")),
            ("LYRICS:pt-br", Some("pt-br")),
        ] {
            let key = Key::of(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(key.lang.as_deref(), lang, "{name}");
        }
        for name in ["LYRICIST", "LYRICS_BY", "lyrics-", "LYRICS:1", "NOTES"] {
            assert!(Key::of(name).is_none(), "{name}");
        }
    }
}
