//! A URL with places to fill in.
//!
//! `https://lyrics.example/get?artist={artist}&title={title}&duration={duration}`. Values are percent-encoded. A pair of
//! the query whose value is not known is left out; a part of the path that is not known means that the song cannot be
//! asked for, and so does a question in which nothing is left that names the song.

use crate::lyrics::Song;
use crate::provider::request::encoded;
use http::Uri;
use std::fmt;

/// What can be filled in.
pub const VARIABLES: [&str; 8] = [
    "title",
    "artist",
    "artists",
    "album",
    "duration",
    "duration_ms",
    "isrc",
    "mbid",
];

/// A URL with places to fill in, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// As it was written.
    text: String,
    /// Scheme, host and path.
    path: Vec<Piece>,
    /// The pairs of the query.
    pairs: Vec<Vec<Piece>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Place(Variable),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variable {
    Title,
    Artist,
    Artists,
    Album,
    Duration,
    DurationMs,
    Isrc,
    Mbid,
}

/// Why a text is no template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTemplate {
    /// A name in braces that is none of [`VARIABLES`].
    #[error("{{{0}}} is not known")]
    UnknownVariable(String),
    /// A brace without its counterpart.
    #[error("a brace is not closed, or not opened")]
    UnpairedBrace,
    /// No song would change it.
    #[error("nothing in it names the song: {{title}}, {{isrc}} or {{mbid}} is needed")]
    NamesNothing,
    /// Strangers' tags must not say whom we ask.
    #[error("the host must not be filled in")]
    InHost,
    /// Not an HTTP URL, even when filled in.
    #[error("not an http or https URL")]
    NotHttp,
    /// User and password belong into a header.
    #[error("user and password must not stand in it; send them as a header")]
    Credentials,
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// When it could never be asked, with the reason.
    pub fn parse(text: &str) -> Result<Self, BadTemplate> {
        let text = text.split('#').next().unwrap_or("").trim();
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let authority = path.split_once("://").map_or("", |(_, rest)| rest);
        let authority = authority.split(['/', '\\']).next().unwrap_or("");
        if authority.contains(['{', '}']) {
            return Err(BadTemplate::InHost);
        }
        if authority.contains('@') {
            return Err(BadTemplate::Credentials);
        }
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let template = Template {
            text: text.to_owned(),
            path: pieces(path)?,
            pairs: pairs.map(pieces).collect::<Result<_, _>>()?,
        };
        let names = template.path.iter().chain(template.pairs.iter().flatten());
        if !names.clone().any(Piece::names_the_song) {
            return Err(BadTemplate::NamesNothing);
        }
        let example = Song {
            title: "a".to_owned(),
            artist: "a".to_owned(),
            album: Some("a".to_owned()),
            duration_ms: Some(1000),
            isrcs: vec!["a".to_owned()],
            recording_mbid: Some("a".to_owned()),
            ..Song::default()
        };
        let url = template.fill(&example).ok_or(BadTemplate::NotHttp)?;
        let uri: Uri = url.parse().map_err(|_| BadTemplate::NotHttp)?;
        let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
        match is_http && uri.host().is_some_and(|host| !host.is_empty()) {
            true => Ok(template),
            false => Err(BadTemplate::NotHttp),
        }
    }

    /// The URL for `song`; `None` when it cannot be asked for.
    #[must_use]
    pub fn fill(&self, song: &Song) -> Option<String> {
        let mut url = String::new();
        let mut names_it = self.path.iter().any(Piece::names_the_song);
        for (index, piece) in self.path.iter().enumerate() {
            match piece {
                Piece::Text(text) => url.push_str(text),
                Piece::Place(variable) => {
                    let value = variable.value(song)?;
                    // A step up or none at all to whoever resolves paths, encoded or not.
                    let fills = url.ends_with('/') && self.ends_segment(index);
                    if fills && matches!(value.as_str(), "." | "..") {
                        return None;
                    }
                    url.push_str(&encoded(&value));
                }
            }
        }
        let mut before = '?';
        for pair in &self.pairs {
            if let Some(filled) = filled(pair, song) {
                names_it |= pair.iter().any(Piece::names_the_song);
                url.push(before);
                url.push_str(&filled);
                before = '&';
            }
        }
        names_it.then_some(url)
    }

    fn ends_segment(&self, index: usize) -> bool {
        match self.path.get(index + 1) {
            Some(Piece::Text(text)) => text.starts_with('/'),
            Some(Piece::Place(_)) => false,
            None => true,
        }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn filled(pair: &[Piece], song: &Song) -> Option<String> {
    let mut text = String::new();
    for piece in pair {
        match piece {
            Piece::Text(fixed) => text.push_str(fixed),
            Piece::Place(variable) => {
                text.push_str(&encoded(&variable.value(song)?));
            }
        }
    }
    Some(text)
}

fn pieces(text: &str) -> Result<Vec<Piece>, BadTemplate> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').ok_or(BadTemplate::UnpairedBrace)?;
        push_text(&mut pieces, before)?;
        pieces.push(Piece::Place(Variable::named(name)?));
        rest = after;
    }
    push_text(&mut pieces, rest)?;
    Ok(pieces)
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) -> Result<(), BadTemplate> {
    if text.contains('}') {
        return Err(BadTemplate::UnpairedBrace);
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text.to_owned()));
    }
    Ok(())
}

impl Piece {
    fn names_the_song(&self) -> bool {
        matches!(
            self,
            Piece::Place(Variable::Title | Variable::Isrc | Variable::Mbid)
        )
    }
}

impl Variable {
    fn named(name: &str) -> Result<Self, BadTemplate> {
        Ok(match name {
            "title" => Variable::Title,
            "artist" => Variable::Artist,
            "artists" => Variable::Artists,
            "album" => Variable::Album,
            "duration" => Variable::Duration,
            "duration_ms" => Variable::DurationMs,
            "isrc" => Variable::Isrc,
            "mbid" => Variable::Mbid,
            other => return Err(BadTemplate::UnknownVariable(other.to_owned())),
        })
    }

    /// What is known of `song`; blank is not known.
    fn value(self, song: &Song) -> Option<String> {
        let value = match self {
            Variable::Title => song.title.clone(),
            Variable::Artist => song.artist.clone(),
            Variable::Artists if song.artists.is_empty() => song.artist.clone(),
            Variable::Artists => song.artists.join(", "),
            Variable::Album => song.album.clone()?,
            Variable::Duration => (song.duration_ms?.saturating_add(500) / 1000).to_string(),
            Variable::DurationMs => song.duration_ms?.to_string(),
            Variable::Isrc => song.isrcs.first()?.clone(),
            Variable::Mbid => song.recording_mbid.clone()?,
        };
        (!value.trim().is_empty()).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn a_song() -> Song {
        Song {
            title: "Paper & Boats?".to_owned(),
            artist: "AC/DC #1".to_owned(),
            duration_ms: Some(200_501),
            ..Song::default()
        }
    }

    fn filled(template: &str, song: &Song) -> Option<String> {
        let template = Template::parse(template).unwrap();
        template.fill(song)
    }

    #[test]
    fn values_are_encoded_and_unknown_pairs_left_out() {
        let url = filled(
            "https://x.example/get?t={title}&al={album}&v=1&d={duration}",
            &a_song(),
        );
        let expected = "https://x.example/get?t=Paper%20%26%20Boats%3F&v=1&d=201";
        assert_eq!(url.as_deref(), Some(expected));
        let url = filled("http://x.example/v1/{artist}/{title}", &a_song());
        let expected = "http://x.example/v1/AC%2FDC%20%231/Paper%20%26%20Boats%3F";
        assert_eq!(url.as_deref(), Some(expected));
    }

    #[test]
    fn what_cannot_be_asked_for_is_not_asked_for() {
        assert_eq!(filled("http://x.example/{album}/{title}", &a_song()), None);
        assert_eq!(
            filled("http://x.example/?isrc={isrc}&a={artist}", &a_song()),
            None
        );
        let mut song = a_song();
        song.title = "..".to_owned();
        assert_eq!(filled("http://x.example/{artist}/{title}", &song), None);
        assert_eq!(filled("http://x.example/{title}/", &song), None);
        assert!(filled("http://x.example/{title}.txt", &song).is_some());
        song.title = "  ".to_owned();
        assert_eq!(filled("http://x.example/?q={title}", &song), None);
    }

    #[test]
    fn what_is_no_template_is_refused_with_its_reason() {
        let reason = |text| Template::parse(text).unwrap_err();
        assert_eq!(
            reason("http://x.example/{titel}"),
            BadTemplate::UnknownVariable("titel".to_owned())
        );
        assert_eq!(
            reason("http://x.example/{title"),
            BadTemplate::UnpairedBrace
        );
        assert_eq!(
            reason("http://x.example/title}"),
            BadTemplate::UnpairedBrace
        );
        assert_eq!(
            reason("http://x.example/{artist}"),
            BadTemplate::NamesNothing
        );
        assert_eq!(
            reason("http://{artist}.example/{title}"),
            BadTemplate::InHost
        );
        assert_eq!(
            reason("http://u:p@x.example/{title}"),
            BadTemplate::Credentials
        );
        for text in [
            "ftp://x/{title}",
            "{title}",
            "/a?b={title}",
            "http:///{title}",
        ] {
            assert_eq!(reason(text), BadTemplate::NotHttp, "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_a_tag_holds_the_host_and_the_path_stay(title in "\\PC{1,40}", artist in "\\PC{1,40}") {
            let template = Template::parse("http://x.example/v1/{artist}/{title}?q={title}").unwrap();
            let song = Song { title, artist, ..Song::default() };
            if let Some(url) = template.fill(&song) {
                let uri: Uri = url.parse().unwrap();
                prop_assert_eq!(uri.authority().map(|host| host.as_str()), Some("x.example"));
                prop_assert_eq!(uri.path().split('/').count(), 4);
                prop_assert!(uri.query().is_some_and(|query| !query.contains('&')));
            }
        }
    }
}
