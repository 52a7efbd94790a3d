//! The stored form of lyrics: canonical JSON, named by its hash (contracts section 6).

use super::model::{Body, Lyrics};
use super::timed::are_words_in_place;
use crate::catalog::normalise::fold;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use thiserror::Error;

/// The name of a document: SHA-256 of its bytes, in hexadecimal. Equal lyrics have equal names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DocumentId(String);

impl DocumentId {
    /// The name that these bytes have.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        DocumentId(hex::encode(Sha256::digest(bytes)))
    }

    /// The 64 hexadecimal digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A name that was stored; `None` if it cannot be one.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (name.len() == 64 && name.bytes().all(is_hex)).then(|| DocumentId(name.to_owned()))
    }
}

impl fmt::Display for DocumentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Lyrics as they are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Their name.
    pub id: DocumentId,
    /// The canonical JSON.
    pub json: String,
}

/// Why stored bytes are no document.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// Not the JSON of lyrics.
    #[error("not a lyrics document: {0}")]
    Json(String),
    /// Lines out of order, or words that do not lie within their line.
    #[error("a lyrics document whose lines or words are out of place")]
    OutOfPlace,
}

impl Document {
    /// Writes lyrics down. Fields have a fixed order and absent ones are left out, so the bytes are a function of the value.
    #[must_use]
    pub fn of(lyrics: &Lyrics) -> Self {
        let json = serde_json::to_string(lyrics).expect("strings and numbers are always JSON");
        Document {
            id: DocumentId::of(json.as_bytes()),
            json,
        }
    }

    /// Reads lyrics back, and checks what the rest of the program relies on.
    pub fn read(json: &str) -> Result<Lyrics, Malformed> {
        let lyrics: Lyrics =
            serde_json::from_str(json).map_err(|error| Malformed::Json(error.to_string()))?;
        match is_well_formed(&lyrics) {
            true => Ok(lyrics),
            false => Err(Malformed::OutOfPlace),
        }
    }
}

/// Letters from which on equal words are no chance.
const TELLING: usize = 80;

/// The name of the words alone, whatever their times, spelling of marks, credits or language: the same for two unrelated songs
/// means that a provider answers everything with one text (S26). `None` for a few words, which may be the same by chance.
#[must_use]
pub fn fingerprint(lyrics: &Lyrics) -> Option<DocumentId> {
    let sung = super::intake::sung(lyrics).map(fold);
    let words = sung.collect::<Vec<_>>().join(" ");
    let letters = words.chars().filter(|c| c.is_alphanumeric()).count();
    (letters >= TELLING).then(|| DocumentId::of(words.as_bytes()))
}

/// Whether lines are in order of time, and words in order within their lines and on character boundaries.
#[must_use]
pub fn is_well_formed(lyrics: &Lyrics) -> bool {
    match &lyrics.body {
        Body::Instrumental | Body::Plain(_) => true,
        Body::Synced(lines) => {
            lines.is_sorted_by_key(|line| line.start) && lines.iter().all(are_words_in_place)
        }
    }
}
