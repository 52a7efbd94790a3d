//! Which files of a folder count, and what their bytes are called.

use lofty::file::FileType;

/// Suffixes of sound files, with the type lofty reads them as unless their content says otherwise.
const SOUND: [(&str, FileType); 16] = [
    ("aac", FileType::Aac),
    ("aif", FileType::Aiff),
    ("aifc", FileType::Aiff),
    ("aiff", FileType::Aiff),
    ("ape", FileType::Ape),
    ("flac", FileType::Flac),
    ("m4a", FileType::Mp4),
    ("m4b", FileType::Mp4),
    ("mp3", FileType::Mpeg),
    ("mpc", FileType::Mpc),
    ("oga", FileType::Vorbis),
    ("ogg", FileType::Vorbis),
    ("opus", FileType::Opus),
    ("spx", FileType::Speex),
    ("wav", FileType::Wav),
    ("wv", FileType::WavPack),
];

/// The type a sound file's name promises; `None` for everything that is not a sound file.
pub(super) fn promised_type(suffix: &str) -> Option<FileType> {
    let found = SOUND.iter().find(|(known, _)| *known == suffix);
    found.map(|(_, file_type)| *file_type)
}

/// Whether a suffix is that of a sound file.
pub(super) fn is_sound(suffix: &str) -> bool {
    promised_type(suffix).is_some()
}

/// Whether a suffix is that of a picture.
pub(super) fn is_picture(suffix: &str) -> bool {
    matches!(suffix, "jpg" | "jpeg" | "png" | "webp" | "gif")
}

/// The format name of a container whose codec is not in doubt.
pub(super) fn format_name(file_type: FileType) -> Option<&'static str> {
    match file_type {
        FileType::Aac => Some("aac"),
        FileType::Aiff => Some("aiff"),
        FileType::Ape => Some("ape"),
        FileType::Flac => Some("flac"),
        FileType::Mpeg => Some("mp3"),
        FileType::Mpc => Some("mpc"),
        FileType::Opus => Some("opus"),
        FileType::Vorbis => Some("ogg"),
        FileType::Speex => Some("spx"),
        FileType::Wav => Some("wav"),
        FileType::WavPack => Some("wv"),
        // The codec decides; and lofty may learn new types.
        _ => None,
    }
}
