//! The bytes of tracks: made on the fly, and able to tell whose they are.
//!
//! Each 64-byte block of marked content names its label and its own offset. So any piece of a response,
//! however it was cut, shows which source's bytes it is made of and whether it was spliced.

use bytes::{Bytes, BytesMut};

const BLOCK: usize = 64;
const LABEL: usize = 40;
/// An MPEG audio frame header: no sniffer takes what follows for text.
const FRAME: [u8; 4] = [0xff, 0xfb, 0x90, 0x64];

/// The bytes of one representation of a track.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Self-describing bytes: equal label, format and size give equal bytes.
    Marked {
        /// Names whose bytes these are; at most 40 bytes of it are kept.
        label: String,
        /// Decides the magic number at the beginning.
        suffix: String,
        /// Length in bytes.
        size: u64,
    },
    /// Bytes as given.
    Bytes(Bytes),
}

impl Content {
    /// Length in bytes.
    pub fn size(&self) -> u64 {
        match self {
            Content::Marked { size, .. } => *size,
            Content::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// The bytes from `from` to before `to`, both clamped to the size.
    pub fn slice(&self, from: u64, to: u64) -> Bytes {
        let to = to.min(self.size());
        let from = from.min(to);
        match self {
            Content::Marked { label, suffix, .. } => marked(label, suffix, from, to),
            Content::Bytes(bytes) => bytes.slice(from as usize..to as usize),
        }
    }

    /// All bytes.
    pub fn all(&self) -> Bytes {
        self.slice(0, self.size())
    }
}

fn marked(label: &str, suffix: &str, from: u64, to: u64) -> Bytes {
    let first = from / BLOCK as u64;
    let last = to.div_ceil(BLOCK as u64);
    let mut template = [b'.'; BLOCK];
    template[..4].copy_from_slice(&FRAME);
    for (cell, byte) in template[4..4 + LABEL].iter_mut().zip(label.bytes()) {
        *cell = byte;
    }
    template[44] = b'@';
    template[61..].copy_from_slice(b"~~\n");
    let mut out = BytesMut::with_capacity((last - first) as usize * BLOCK);
    for block in first..last {
        write_hex(&mut template[45..61], block * BLOCK as u64);
        let at = out.len();
        out.extend_from_slice(&template);
        if block == 0 {
            out[at..at + 4].copy_from_slice(magic(suffix));
        }
    }
    let skip = (from - first * BLOCK as u64) as usize;
    out.freeze().slice(skip..skip + (to - from) as usize)
}

fn write_hex(cells: &mut [u8], value: u64) {
    let mut rest = value;
    for cell in cells.iter_mut().rev() {
        *cell = b"0123456789abcdef"[(rest & 15) as usize];
        rest >>= 4;
    }
}

fn magic(suffix: &str) -> &'static [u8; 4] {
    match suffix {
        "flac" => b"fLaC",
        "ogg" | "opus" | "oga" => b"OggS",
        "wav" => b"RIFF",
        "mp3" => b"ID3\x04",
        _ => &FRAME,
    }
}

/// What a marked block says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Whose bytes.
    pub label: String,
    /// The offset of the block in its content.
    pub offset: u64,
    /// Where the block was found in the bytes examined.
    pub found_at: usize,
}

/// The whole marked blocks found in `bytes`, in order.
pub fn marks(bytes: &[u8]) -> Vec<Mark> {
    let mut found = Vec::new();
    let mut at = 0;
    while at + BLOCK <= bytes.len() {
        match read_mark(&bytes[at..at + BLOCK]) {
            Some((label, offset)) => {
                found.push(Mark {
                    label,
                    offset,
                    found_at: at,
                });
                at += BLOCK;
            }
            None => at += 1,
        }
    }
    found
}

fn read_mark(block: &[u8]) -> Option<(String, u64)> {
    if block[44] != b'@' || &block[61..] != b"~~\n" {
        return None;
    }
    let offset = u64::from_str_radix(std::str::from_utf8(&block[45..61]).ok()?, 16).ok()?;
    let label = std::str::from_utf8(&block[4..44])
        .ok()?
        .trim_end_matches('.');
    Some((label.to_owned(), offset))
}

/// The media type of a file extension, as Subsonic servers say it.
pub(super) fn media_type(suffix: &str) -> String {
    match suffix {
        "mp3" => "audio/mpeg".to_owned(),
        "ogg" | "oga" | "opus" => "audio/ogg".to_owned(),
        "m4a" | "alac" | "aac" => "audio/mp4".to_owned(),
        "wav" => "audio/x-wav".to_owned(),
        other => format!("audio/{other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(label: &str, size: u64) -> Content {
        Content::Marked {
            label: label.into(),
            suffix: "flac".into(),
            size,
        }
    }

    #[test]
    fn any_slice_equals_the_slice_of_the_whole() {
        let content = some("home/tr-1", 1000);
        let all = content.all();
        assert_eq!(all.len(), 1000);
        assert_eq!(&all[..4], b"fLaC");
        for (from, to) in [
            (0, 1000),
            (0, 1),
            (63, 65),
            (64, 128),
            (100, 999),
            (999, 5000),
            (7, 7),
        ] {
            let expected = &all[from as usize..(to as usize).min(1000)];
            assert_eq!(content.slice(from, to), expected, "{from}..{to}");
        }
    }

    #[test]
    fn every_block_tells_whose_it_is_and_where_it_belongs() {
        let piece = some("home/tr-1", 1000).slice(100, 300);
        let found = marks(&piece);
        assert_eq!(
            found
                .iter()
                .map(|mark| (mark.label.as_str(), mark.offset, mark.found_at))
                .collect::<Vec<_>>(),
            [("home/tr-1", 128, 28), ("home/tr-1", 192, 92)]
        );
    }

    #[test]
    fn different_labels_give_different_bytes() {
        assert_ne!(some("a/1", 640).all(), some("b/1", 640).all());
        assert_eq!(some("a/1", 640).all(), some("a/1", 640).all());
    }
}
