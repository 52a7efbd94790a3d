//! The sources' own lyrics: what a Subsonic server says about its copy of a song.
//!
//! Copies are asked best first. A server that has `getLyricsBySongId` is asked by the copy's id, which leaves no doubt
//! about the recording; only one without it is asked by artist and title. Going on to the next copy ends with the first
//! timed words.
//!
//! A source may itself be a Segue hub, or this very one. What a hub serves it may have learned from us, so taking it for
//! a source's own words would let an answer confirm itself for ever. Such a server names itself in every envelope
//! (`type`), and its lyrics are left alone: it counts as one that cannot be asked. Hubs look songs up by themselves.

use super::{
    Candidate, Lookup, MissReason, Next, Outcome, Question, Reply, Server, Trouble, judge,
};
use crate::dispatch::{Failure, Quality};
use crate::io::NetError;
use crate::lyrics::{Body, Line, Lyrics, Matched, ParseHints, Song, TextKind, Word, read};
use crate::source::Refusal;
use crate::source::subsonic::lyrics::{Legacy, Structured, StructuredLine};
use crate::source::subsonic::parse;
use http::StatusCode;
use std::collections::{BTreeSet, VecDeque};

/// The most copies of one song that are asked for.
const COPY_LIMIT: usize = 4;

/// What hubs call themselves.
const HUB: &str = "segue";

/// The lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subsonic;

impl Subsonic {
    /// Asks the sources of the song's copies.
    pub(super) fn lookup(self, question: &Question<'_>) -> impl Lookup + use<> {
        let song = question.song;
        let copies = song.copies.iter().filter(|copy| !copy.folder);
        let places = copies.filter_map(|copy| {
            let server = question.servers.get(&copy.instance_id)?.clone();
            Some(Place {
                instance: copy.instance_id.clone(),
                id: copy.remote_id.clone(),
                server,
            })
        });
        let places: VecDeque<Place> = places.take(COPY_LIMIT).collect();
        Asking {
            song: song.clone(),
            salt: question.salt.to_owned(),
            places,
            by: None,
            spent: BTreeSet::new(),
            found: Vec::new(),
            trouble: None,
            reason: MissReason::NotAskable,
        }
    }
}

struct Place {
    instance: String,
    id: String,
    server: Server,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Id,
    Name,
}

struct Asking {
    song: Song,
    salt: String,
    /// Still to be asked; the first one is at work while `by` is set.
    places: VecDeque<Place>,
    by: Option<By>,
    /// Servers that have nothing more to say: in trouble, or asked by name.
    spent: BTreeSet<String>,
    found: Vec<Candidate>,
    trouble: Option<Trouble>,
    reason: MissReason,
}

impl Lookup for Asking {
    fn next(&mut self) -> Next {
        while let Some(place) = self.places.front() {
            let by = self.by.unwrap_or(match place.server.structured {
                Some(false) => By::Name,
                Some(true) | None => By::Id,
            });
            let is_nameless =
                self.song.title.trim().is_empty() || self.song.artist.trim().is_empty();
            if self.spent.contains(&place.instance) || (by == By::Name && is_nameless) {
                self.leave();
                continue;
            }
            let params = match by {
                By::Id => [("id", place.id.as_str()), ("enhanced", "true")],
                By::Name => [
                    ("artist", self.song.artist.as_str()),
                    ("title", self.song.title.as_str()),
                ],
            };
            let method = match by {
                By::Id => "getLyricsBySongId",
                By::Name => "getLyrics",
            };
            let server = &place.server;
            match server
                .endpoint
                .request(method, &params, server.auth, &self.salt)
            {
                Ok(request) => {
                    self.by = Some(by);
                    return Next::Send(Box::new(request));
                }
                Err(_) => self.note(Trouble::Net(NetError::BadUrl)),
            }
        }
        Next::Done(self.outcome())
    }

    fn reply(&mut self, reply: Result<Reply, NetError>) {
        let by = self.by.unwrap_or(By::Id);
        match understand(reply, by) {
            Said::Words(structured) => {
                let hints = self.hints();
                let words = structured.into_iter().filter(|entry| entry.is_main);
                let words = words.filter_map(|entry| lyrics_of(entry, hints)).collect();
                self.take(words, &Matched::default());
            }
            Said::Text(legacy) => self.take_text(legacy),
            Said::Nothing => self.miss(MissReason::NoLyrics),
            Said::NoSuchSong => self.miss(MissReason::NotFound),
            Said::NoSuchMethod if by == By::Id => self.by = Some(By::Name),
            Said::NoSuchMethod | Said::Hub => self.abandon(),
            Said::Trouble(trouble) => self.note(trouble),
        }
    }
}

impl Asking {
    fn hints(&self) -> ParseHints {
        ParseHints {
            duration_ms: self.song.duration_ms,
        }
    }

    /// What was found by name belongs to what the server says, else to the name that it was asked for.
    fn take_text(&mut self, legacy: Legacy) {
        let matched = Matched {
            title: Some(legacy.title.unwrap_or_else(|| self.song.title.clone())),
            artist: Some(legacy.artist.unwrap_or_else(|| self.song.artist.clone())),
            ..Matched::default()
        };
        let words = read(TextKind::Sniff, &legacy.value, self.hints());
        self.take(words.into_iter().collect(), &matched);
    }

    fn take(&mut self, words: Vec<Lyrics>, matched: &Matched) {
        if words.is_empty() {
            return self.miss(MissReason::NoLyrics);
        }
        let id = self
            .places
            .front()
            .map(|place| format!("{}/{}", place.instance, place.id));
        let matched = Matched {
            provider_id: id,
            ..matched.clone()
        };
        self.found.extend(words.into_iter().map(|lyrics| Candidate {
            lyrics,
            matched: matched.clone(),
        }));
        let best = self.found.iter().map(|found| found.lyrics.quality()).max();
        if best >= Some(Quality::Line) {
            self.places.clear();
        }
        self.leave();
    }

    /// The copy at work is done with.
    fn leave(&mut self) {
        let left = self.places.pop_front();
        if self.by.take() == Some(By::Name) {
            self.spent.extend(left.map(|place| place.instance));
        }
    }

    fn miss(&mut self, reason: MissReason) {
        // The one that knows most has the word.
        if reason == MissReason::NoLyrics || self.reason == MissReason::NotAskable {
            self.reason = reason;
        }
        self.leave();
    }

    /// The server at work has nothing to ask for.
    fn abandon(&mut self) {
        let instance = self.places.front().map(|place| place.instance.clone());
        self.spent.extend(instance);
        self.leave();
    }

    fn note(&mut self, trouble: Trouble) {
        let weighs = |trouble: Trouble| !matches!(trouble.failure(), Failure::Transport);
        if self
            .trouble
            .is_none_or(|known| weighs(trouble) && !weighs(known))
        {
            self.trouble = Some(trouble);
        }
        self.abandon();
    }

    fn outcome(&self) -> Outcome {
        match (self.found.is_empty(), self.trouble) {
            (false, _) => Outcome::Found(self.found.clone()),
            (true, Some(trouble)) => Outcome::Failed(trouble),
            (true, None) => Outcome::Miss(self.reason),
        }
    }
}

/// What one reply comes to.
enum Said {
    Words(Vec<Structured>),
    Text(Legacy),
    Nothing,
    NoSuchSong,
    NoSuchMethod,
    Hub,
    Trouble(Trouble),
}

fn understand(reply: Result<Reply, NetError>, by: By) -> Said {
    let reply = match reply {
        Ok(reply) => reply,
        Err(net) => return Said::Trouble(Trouble::Net(net)),
    };
    // Servers without lyrics answer so, with or without an envelope: there is nothing else that they could say.
    let unknown = [
        StatusCode::NOT_FOUND,
        StatusCode::METHOD_NOT_ALLOWED,
        StatusCode::GONE,
        StatusCode::NOT_IMPLEMENTED,
    ];
    if unknown.contains(&reply.parts.status) {
        return Said::NoSuchMethod;
    }
    if let Err(trouble) = judge::status(&reply) {
        return Said::Trouble(trouble);
    }
    let envelope = match parse::reply(&reply.body) {
        Ok(envelope) => envelope,
        Err(refusal) => return refused(refusal),
    };
    if envelope
        .server
        .kind
        .as_deref()
        .is_some_and(|kind| kind.eq_ignore_ascii_case(HUB))
    {
        return Said::Hub;
    }
    match by {
        By::Id => match envelope.structured_lyrics() {
            None => Said::NoSuchMethod,
            Some(entries) if entries.is_empty() => Said::Nothing,
            Some(entries) => Said::Words(entries),
        },
        By::Name => envelope.legacy_lyrics().map_or(Said::Nothing, Said::Text),
    }
}

fn refused(refusal: Refusal) -> Said {
    match refusal {
        Refusal::NotFound => Said::NoSuchSong,
        // A failed envelope that is about neither the song nor us: the method is not known, or our version of it.
        Refusal::ErrorDocument(Some(_)) => Said::NoSuchMethod,
        Refusal::Auth => Said::Trouble(Trouble::Refused),
        Refusal::Net(net) => Said::Trouble(Trouble::Net(net)),
        Refusal::Throttled { retry_after } => Said::Trouble(Trouble::RateLimited { retry_after }),
        Refusal::RedirectRefused => Said::Trouble(Trouble::RedirectRefused),
        Refusal::ErrorDocument(None)
        | Refusal::TimedOut(_)
        | Refusal::Status(_)
        | Refusal::WrongMediaType
        | Refusal::Empty
        | Refusal::WrongRange
        | Refusal::Full => Said::Trouble(Trouble::Malformed),
    }
}

/// An entry as lyrics; `None` when it holds no words. What is not timed, whatever it claims, is read as text: stamps
/// that were left in the lines are times all the same.
fn lyrics_of(entry: Structured, hints: ParseHints) -> Option<Lyrics> {
    let first = entry.lines.iter().find_map(|line| line.start);
    let is_timed = entry.synced
        && (entry.lines.len() == 1 || entry.lines.iter().any(|line| line.start > first))
        && first.is_some();
    let lyrics = if is_timed {
        Lyrics {
            lang: entry.lang,
            offset_ms: entry.offset_ms,
            body: Body::Synced(timed(entry.lines)),
        }
    } else {
        let texts: Vec<String> = entry.lines.into_iter().map(|line| line.text).collect();
        let read = read(TextKind::Sniff, &texts.join("\n"), hints).ok()?;
        Lyrics {
            lang: entry.lang.or(read.lang),
            ..read
        }
    };
    (lyrics.quality() > Quality::None).then_some(lyrics)
}

fn timed(lines: Vec<StructuredLine>) -> Vec<Line> {
    let mut at = 0;
    let lines = lines.into_iter().map(|line| {
        at = line.start.unwrap_or(at);
        let words = line.cues.into_iter().map(|cue| Word {
            start: cue.start,
            end: cue.end,
            bytes: cue.bytes,
        });
        Line {
            start: at,
            words: words.collect(),
            text: line.text,
            ..Line::default()
        }
    });
    let mut lines: Vec<Line> = lines.collect();
    lines.sort_by_key(|line| line.start);
    lines
}
