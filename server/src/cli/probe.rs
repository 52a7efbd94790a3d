//! `segue source test`: tries a source the way the hub will use it, and says what to do about what does not work.

use super::failure::Failure;
use super::{Common, show};
use crate::config::{SourceConfig, SourceKey};
use crate::sources::{LinkSpec, salt};
use crate::sync::subsonic::sentence;
use crate::world::World;
use bytes::Bytes;
use futures_util::future::{Either, select};
use segue_core::catalog::model::InstanceTrack;
use segue_core::driver::call::call_once;
use segue_core::driver::exchange::{Answer, Progress, Wanted, open_one};
use segue_core::driver::open::OpenRequest;
use segue_core::driver::pull::negotiate;
use segue_core::io::{Clock, Runtime};
use segue_core::source::opening::{MediaHead, Served};
use segue_core::source::range;
use segue_core::source::refusal::{Refusal, Stage};
use segue_core::source::subsonic::parse::{self, BODY_LIMIT, Envelope, Warnings};
use segue_core::source::subsonic::{Auth, Endpoint, Negotiation};
use segue_runtime_tokio::clock::TokioClock;
use segue_runtime_tokio::folder::Ffmpeg;
use segue_runtime_tokio::net::TokioNetwork;
use segue_runtime_tokio::store::{SqliteStore, StoreOptions};
use serde::Serialize;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

/// How long one step may take: what the hub gives an opening.
const PATIENCE: Duration = Duration::from_secs(15);
/// Artists and albums looked through for something to play.
const DEPTH: usize = 5;

/// One thing that was tried.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Finding {
    state: State,
    what: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Works,
    /// Works, but not as well as it could.
    Limited,
    Fails,
}

fn works(what: impl Into<String>) -> Finding {
    let what = what.into();
    Finding {
        state: State::Works,
        what,
    }
}

fn limited(what: impl Into<String>) -> Finding {
    let what = what.into();
    Finding {
        state: State::Limited,
        what,
    }
}

fn fails(what: impl Into<String>) -> Finding {
    let what = what.into();
    Finding {
        state: State::Fails,
        what,
    }
}

pub(super) async fn test(id: Option<String>, json: bool, common: Common) -> Result<(), Failure> {
    let config = common.load(None)?.config;
    let wanted: Vec<&SourceConfig> = config
        .sources
        .iter()
        .filter(|source| id.as_ref().is_none_or(|id| source.id == *id))
        .collect();
    match (&id, wanted.is_empty()) {
        (Some(id), true) => {
            let what =
                format!("there is no source `{id}`; `segue source list` shows what there is");
            return Err(Failure::new(what));
        }
        (None, true) => {
            println!("There are no sources yet. `segue source add --help` shows how to add one.")
        }
        (_, false) => {}
    }
    let store = SqliteStore::open_in_memory(StoreOptions::default())?;
    let world = World::new(TokioClock::new(), TokioNetwork::new(), store);
    let mut all = serde_json::Map::new();
    let mut any_fails = false;
    for source in wanted {
        let findings = try_source(&world, source).await?;
        any_fails |= findings.iter().any(|finding| finding.state == State::Fails);
        if json {
            all.insert(
                source.id.clone(),
                serde_json::to_value(&findings).unwrap_or_default(),
            );
        } else {
            print(&source.id, &findings);
        }
    }
    if json {
        show::json(&all)?;
    }
    match any_fails {
        true => Err(Failure::told()),
        false => Ok(()),
    }
}

fn print(id: &str, findings: &[Finding]) {
    println!("{id}");
    for finding in findings {
        let mark = match finding.state {
            State::Works => "ok   ",
            State::Limited => "note ",
            State::Fails => "FAIL ",
        };
        println!("  {mark} {}", finding.what);
    }
}

async fn try_source(world: &World, source: &SourceConfig) -> Result<Vec<Finding>, Failure> {
    if let SourceKey::Folder { path, .. } = &source.key {
        return Ok(folder(path, Ffmpeg::find().is_some()));
    }
    let spec = source.spec()?;
    let LinkSpec::Subsonic { endpoint, auth } = &spec.link else {
        return Ok(Vec::new());
    };
    let mut findings = Vec::new();
    // An `Err` is the last finding: nothing after it can be tried.
    let tried = server(world, endpoint, *auth, &mut findings).await;
    findings.extend(tried.err());
    Ok(findings)
}

fn folder(path: &Path, has_ffmpeg: bool) -> Vec<Finding> {
    let mut findings = match std::fs::read_dir(path) {
        Err(error) => {
            let why = crate::config::reason(&error);
            return vec![fails(format!(
                "{} cannot be read: {why}; check the path and its permissions",
                path.display()
            ))];
        }
        Ok(mut entries) => match entries.next() {
            None => vec![limited(format!(
                "{} is empty; is it mounted?",
                path.display()
            ))],
            Some(_) => vec![works(format!("{} can be read", path.display()))],
        },
    };
    findings.push(match has_ffmpeg {
        true => works("ffmpeg is installed: tracks can be transcoded"),
        false => {
            limited("ffmpeg is not installed: tracks are sent as they are; install it to transcode")
        }
    });
    findings
}

async fn server(
    world: &World,
    endpoint: &Endpoint,
    fixed: Option<Auth>,
    findings: &mut Vec<Finding>,
) -> Result<(), Finding> {
    let began = world.clock().now();
    let negotiation = match fixed {
        Some(way) => Negotiation::only(way),
        None => Negotiation::start(endpoint.credentials(), None),
    };
    let ping = |way| endpoint.request("ping", &[], way, &salt());
    let auth = within(world, negotiate(world, negotiation, ping))
        .await
        .map_err(|refusal| fails(sentence(refusal)))?;
    let millis = world.clock().now().since(began).as_millis();
    findings.push(works(format!(
        "logs in with {} ({millis} ms)",
        way_words(auth)
    )));
    if auth == Auth::PasswordPlain {
        findings.push(limited(
            "the server takes the password only in clear; use https if it is not on this machine",
        ));
    }

    let asked = Asked {
        world,
        endpoint,
        auth,
    };
    let artists = asked.ask("getArtists", &[]).await?;
    let listed = artists
        .artists(&mut Warnings::default())
        .unwrap_or_default();
    let count = show::count(listed.len() as u64, "artist");
    findings.push(match listed.is_empty() {
        true => limited("the library is empty: no artists; has the server scanned its music?"),
        false => works(format!("the library can be read: {count}")),
    });
    let ids: Vec<String> = listed
        .into_iter()
        .map(|artist| artist.row.remote_id)
        .take(DEPTH)
        .collect();
    let Some(track) = asked.any_track(&ids).await? else {
        findings.push(limited("nothing was found to play"));
        return Ok(());
    };
    findings.push(asked.play(&track).await?);
    Ok(())
}

/// A server to ask, as a user that is logged in.
struct Asked<'a> {
    world: &'a World,
    endpoint: &'a Endpoint,
    auth: Auth,
}

impl Asked<'_> {
    async fn ask(&self, method: &str, params: &[(&str, &str)]) -> Result<Envelope, Finding> {
        let reply = async {
            let request = self.endpoint.request(method, params, self.auth, &salt())?;
            let body = call_once(self.world, BODY_LIMIT, request).await?;
            parse::reply(&body)
        };
        let reply = within(self.world, reply).await;
        reply.map_err(|refusal| fails(format!("{method}: {}", sentence(refusal))))
    }

    async fn any_track(&self, artists: &[String]) -> Result<Option<InstanceTrack>, Finding> {
        for artist in artists {
            let reply = self.ask("getArtist", &[("id", artist)]).await?;
            let albums = reply
                .artist(&mut Warnings::default())
                .map(|(_, albums)| albums);
            for album in albums.unwrap_or_default().iter().take(DEPTH) {
                let reply = self.ask("getAlbum", &[("id", &album.remote_id)]).await?;
                let tracks = reply
                    .album(&mut Warnings::default())
                    .map(|(_, tracks)| tracks);
                if let Some(track) = tracks.unwrap_or_default().into_iter().next() {
                    return Ok(Some(track));
                }
            }
        }
        Ok(None)
    }

    async fn play(&self, track: &InstanceTrack) -> Result<Finding, Finding> {
        let opening = async {
            let range = range::parse("bytes=0-65535");
            let mut request =
                self.endpoint
                    .request("stream", &[("id", &track.remote_id)], self.auth, &salt())?;
            let value = http::HeaderValue::from_static("bytes=0-65535");
            request.headers_mut().insert(http::header::RANGE, value);
            let open: Result<OpenRequest, Refusal> = Ok(OpenRequest { request, range });
            open_one(self.world, open, Wanted::Media, Progress::default()).await
        };
        let opened = within(self.world, opening).await;
        let opened = opened.map_err(|refusal| {
            fails(format!("playing `{}`: {}", track.title, sentence(refusal)))
        })?;
        Ok(heard(&track.title, &opened.answer, &opened.first))
    }
}

fn heard(title: &str, answer: &Answer, first: &Bytes) -> Finding {
    match answer {
        Answer::Media(MediaHead {
            content_type,
            served,
            ..
        }) => {
            let kind = content_type.as_deref().unwrap_or("audio without a type");
            match served {
                Served::Part(_) => {
                    works(format!("plays `{title}` ({kind}), and from the middle too"))
                }
                Served::Whole => limited(format!(
                    "plays `{title}` ({kind}), but only from the start: seeking is slow"
                )),
            }
        }
        Answer::RangeNotSatisfiable { .. } => {
            fails(format!("`{title}` is empty ({} bytes)", first.len()))
        }
    }
}

async fn within<T>(
    world: &World,
    step: impl Future<Output = Result<T, Refusal>>,
) -> Result<T, Refusal> {
    let clock = world.clock();
    let timer = pin!(clock.sleep_until(clock.now() + PATIENCE));
    match select(pin!(step), timer).await {
        Either::Left((result, _)) => result,
        Either::Right(((), _)) => Err(Refusal::TimedOut(Stage::Head)),
    }
}

fn way_words(auth: Auth) -> &'static str {
    match auth {
        Auth::ApiKey => "an API key",
        Auth::Token => "a token",
        Auth::PasswordHex | Auth::PasswordPlain => "the password",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::AuthChoice;
    use crate::upstream::{AuthMode, Fault, Group, Library, Quirks, Setup, Upstream};
    use segue_core::source::subsonic::Secret;

    async fn findings(setup: Setup, password: &str, fault: Option<Fault>) -> Vec<(State, String)> {
        let upstream = Upstream::start(setup).await.unwrap();
        if let Some(fault) = fault {
            upstream.faults().set(Group::Media, fault);
        }
        let source = SourceConfig {
            id: "home".to_owned(),
            local: false,
            max_streams: 0,
            key: SourceKey::Subsonic {
                url: upstream.url().parse().unwrap(),
                username: "alice".to_owned(),
                password: Some(Secret::new(password)),
                api_key: None,
                auth: AuthChoice::Auto,
            },
        };
        let store = SqliteStore::open_in_memory(StoreOptions::default()).unwrap();
        let world = World::new(TokioClock::new(), TokioNetwork::new(), store);
        let findings = try_source(&world, &source).await.unwrap();
        // How long the ping took is not the same twice.
        let plain = |what: String| what.split(" (").next().unwrap_or_default().to_owned();
        findings
            .into_iter()
            .map(|finding| (finding.state, plain(finding.what)))
            .collect()
    }

    fn setup() -> Setup {
        Setup::new(
            "home",
            Library::of_one_album("Björk", "Homogenic", &["Hunter"]),
        )
    }

    fn last(findings: &[(State, String)]) -> (State, &str) {
        let (state, what) = findings.last().unwrap();
        (*state, what)
    }

    #[tokio::test]
    async fn a_good_server_works_to_the_last_step() {
        let found = findings(setup(), "sesame", None).await;
        assert_eq!(found[0], (State::Works, "logs in with a token".to_owned()));
        assert_eq!(
            found[1],
            (State::Works, "the library can be read: 1 artist".to_owned())
        );
        assert_eq!(last(&found), (State::Works, "plays `Hunter`"));
    }

    #[tokio::test]
    async fn what_does_not_work_is_told_with_advice() {
        let found = findings(setup(), "wrong", None).await;
        let told = "the source rejected our credentials; check its user name, password or API key";
        assert_eq!(found, [(State::Fails, told.to_owned())]);

        let found = findings(setup(), "sesame", Some(Fault::ErrorIn200Xml { code: 70 })).await;
        assert_eq!(last(&found).0, State::Fails);
        assert!(
            last(&found).1.starts_with("playing `Hunter`: the source "),
            "{found:?}"
        );
        assert!(!last(&found).1.contains(Fault::LEAK));
    }

    #[tokio::test]
    async fn what_works_less_well_is_noted() {
        let old = Setup {
            auth: AuthMode::Password { refusal: 41 },
            quirks: Quirks {
                no_ranges: true,
                ..Quirks::default()
            },
            ..setup()
        };
        let found = findings(old, "sesame", None).await;
        assert_eq!(
            found[0],
            (State::Works, "logs in with the password".to_owned())
        );
        assert_eq!(last(&found), (State::Limited, "plays `Hunter`"));
        let empty = findings(Setup::new("home", Library::new()), "sesame", None).await;
        assert_eq!(last(&empty), (State::Limited, "nothing was found to play"));
    }

    #[test]
    fn folders_are_looked_into() {
        let dir = tempfile::tempdir().unwrap();
        let state = |path: &Path| folder(path, true)[0].state;
        assert_eq!(state(dir.path()), State::Limited);
        std::fs::write(dir.path().join("a.flac"), b"x").unwrap();
        assert_eq!(state(dir.path()), State::Works);
        assert_eq!(state(&dir.path().join("gone")), State::Fails);
    }
}
