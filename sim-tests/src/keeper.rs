//! One who stars, rates and counts what was played, and reads it back: real HTTP requests, and a memory for what was
//! acknowledged.

use crate::scenario::Deed;
use bytes::Bytes;
use http::header::AUTHORIZATION;
use http_body_util::BodyExt;
use madsim::time::sleep;
use segue_core::Tick;
use segue_core::io::{Accepted, Clock, Network};
use segue_runtime_sim::{SimClock, SimNetwork, SimTrace};
use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;

/// The node's and user's name. An admin, so everybody's activity is shown.
pub(crate) const NAME: &str = "keeper";

/// `keeper:sesame`, as `Basic` wants it.
const BASIC: &str = "Basic a2VlcGVyOnNlc2FtZQ==";

/// The keeper.
#[derive(Clone)]
pub(crate) struct Keeper {
    /// The hub.
    pub(crate) hub: SocketAddr,
    /// The way there.
    pub(crate) network: SimNetwork,
    /// Its clock.
    pub(crate) clock: SimClock,
    /// Where it notes what it does.
    pub(crate) trace: SimTrace,
    /// The ids of the tracks by number; empty where there is none.
    pub(crate) tracks: Vec<String>,
}

/// One deed, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// What was done.
    pub deed: Deed,
    /// When it was asked for.
    pub asked: Tick,
    /// When the answer was there, or the hope for one gone.
    pub over: Tick,
    /// What the hub said.
    pub answer: Answer,
}

/// What the hub said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is done.
    Acknowledged,
    /// It is not done, and why.
    Refused(String),
    /// Nothing.
    Silence,
    /// How things stand.
    Shown(Shown),
}

/// How things stood when they were looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// The marks of each track; `None` where there is no such track.
    pub marks: Vec<Option<Marks>>,
    /// Everything that was played, newest first.
    pub played: Vec<Played>,
}

/// The keeper's marks of a track.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Whether it is starred.
    pub starred: bool,
    /// 0 is none.
    pub rating: u64,
    /// Plays that were counted.
    pub plays: u64,
}

/// A row of the activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// Its id.
    pub id: i64,
    /// The name of the request.
    pub client: String,
    /// `completed` and so on.
    pub status: String,
    /// Bytes that were sent.
    pub bytes: u64,
}

impl Keeper {
    /// Does one thing after another.
    pub(crate) async fn do_all(&self, deeds: &[(u64, Deed)]) -> Vec<Done> {
        let mut done = Vec::new();
        for (after, deed) in deeds {
            sleep(Duration::from_millis(*after)).await;
            if self.is_possible(*deed) {
                done.push(self.act(*deed).await);
            }
        }
        done
    }

    fn is_possible(&self, deed: Deed) -> bool {
        match deed {
            Deed::Star(track) | Deed::Unstar(track) | Deed::Scrobble(track) => self.has(track),
            Deed::Rate(track, _) => self.has(track),
            Deed::Look => true,
        }
    }

    fn has(&self, track: usize) -> bool {
        self.tracks.get(track).is_some_and(|id| !id.is_empty())
    }

    /// Does one thing.
    pub(crate) async fn act(&self, deed: Deed) -> Done {
        let asked = self.clock.now();
        let id = |track: usize| &self.tracks[track];
        let answer = match deed {
            Deed::Star(track) => self.change("star", format!("id={}", id(track))).await,
            Deed::Unstar(track) => self.change("unstar", format!("id={}", id(track))).await,
            Deed::Rate(track, rating) => {
                let rated = format!("id={}&rating={rating}", id(track));
                self.change("setRating", rated).await
            }
            Deed::Scrobble(track) => self.change("scrobble", format!("id={}", id(track))).await,
            Deed::Look => match self.look().await {
                Ok(shown) => Answer::Shown(shown),
                Err(answer) => answer,
            },
        };
        let said = match &answer {
            Answer::Shown(shown) => format!("{:?}, {} played", shown.marks, shown.played.len()),
            other => format!("{other:?}"),
        };
        self.trace.note(NAME, format!("{deed:?}: {said}"));
        Done {
            deed,
            asked,
            over: self.clock.now(),
            answer,
        }
    }

    async fn change(&self, what: &str, params: String) -> Answer {
        match self.ask(what, &params).await {
            Ok(_) => Answer::Acknowledged,
            Err(answer) => answer,
        }
    }

    async fn look(&self) -> Result<Shown, Answer> {
        let mut shown = Shown::default();
        for id in &self.tracks {
            shown.marks.push(match id.is_empty() {
                true => None,
                false => {
                    let answer = self.ask("getSong", &format!("id={id}")).await?;
                    let song = &answer["song"];
                    Some(Marks {
                        starred: song["starred"].is_string(),
                        rating: song["userRating"].as_u64().unwrap_or(0),
                        plays: song["playCount"].as_u64().unwrap_or(0),
                    })
                }
            });
        }
        let answer = self.get("api/v1/activity?limit=1000").await?;
        let rows = answer["operations"].as_array();
        let rows = rows.ok_or_else(|| Answer::Refused(answer.to_string()))?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        shown.played = rows
            .iter()
            .map(|row| Played {
                id: row["id"].as_i64().unwrap_or_default(),
                client: text(&row["client"]),
                status: text(&row["status"]),
                bytes: row["bytes"].as_u64().unwrap_or_default(),
            })
            .collect();
        Ok(shown)
    }

    /// One question of the Subsonic API, and what stands in the envelope.
    async fn ask(&self, what: &str, params: &str) -> Result<Value, Answer> {
        let path = format!("rest/{what}?u={NAME}&p=sesame&v=1.16.1&f=json&c={NAME}&{params}");
        let mut answer = self.get(&path).await?;
        let envelope = answer["subsonic-response"].take();
        match envelope["status"] == "ok" {
            true => Ok(envelope),
            false => Err(Answer::Refused(envelope.to_string())),
        }
    }

    async fn get(&self, path: &str) -> Result<Value, Answer> {
        let request = http::Request::get(format!("http://{}/{path}", self.hub))
            .header(AUTHORIZATION, BASIC)
            .body(Bytes::new())
            .expect("a request");
        let sent = self.network.send(request, Accepted::default()).await;
        let body = match sent {
            Ok(response) => response.into_body().collect().await,
            Err(_) => return Err(Answer::Silence),
        };
        let body = body.map_err(|_| Answer::Silence)?.to_bytes();
        serde_json::from_slice(&body)
            .map_err(|_| Answer::Refused(String::from_utf8_lossy(&body).into_owned()))
    }
}
