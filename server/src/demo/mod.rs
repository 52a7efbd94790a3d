//! `segue demo`: a hub with three sources of generated music, one of which dies on a schedule.
//!
//! The attic has the best copies, so it is asked first; it plays them at little more than the speed they are heard at, so
//! that its death falls into the middle of a track. Each source has its own timbre: failover can be heard.

mod music;
mod tell;

use crate::assemble::{self, AssembleError, Setup, assemble};
use crate::cli::{Claim, Failure, People, listen, shutdown, url_of};
use crate::hub::{Hub, Settings};
use crate::sources::{LinkSpec, SourceSpec};
use crate::sync::{DropGuard, sync};
use crate::upstream::{self, Album, Artist, Audio, Fault, Faults, Group, Library, Track, Upstream};
use crate::world::World;
use music::{ALBUMS, Tags, Timbre, wav};
use segue_core::failover::Limits;
use segue_core::io::Clock;
use segue_core::source::subsonic::{Credentials, Endpoint, Secret};
use segue_runtime_tokio::clock::TokioClock;
use segue_runtime_tokio::secrets;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;
use tokio::net::TcpListener;

const ARTIST: &str = "The Segue Ensemble";
/// User and password, to be typed by a newcomer.
const LOGIN: &str = "demo";
/// How long the attic lives, and then how long it is dead.
const ALIVE: Duration = Duration::from_secs(20);
const DEAD: Duration = Duration::from_secs(20);
/// Shorter than it would be in earnest, so that the attic is soon played from again.
const SUSPECT: Duration = Duration::from_secs(8);
/// The attic's pace: 120 KB a second, for music of 64 KB a second.
const PACE: Fault = Fault::SlowDrip {
    bytes: 12 * 1024,
    every: Duration::from_millis(100),
};

/// Runs the demo until the process is asked to end.
pub(crate) async fn demo(wanted: Option<SocketAddr>, data: Option<PathBuf>) -> Result<(), Failure> {
    let shutdown = shutdown()?;
    let listener = listen_somewhere(wanted).await?;
    let url = url_of(listener.local_addr()?);
    let (data_dir, _temporary) = data_dir(data)?;
    let claim = Claim::take_alone(&data_dir)?;
    println!("Composing some music ...");
    let attic = upstream("attic", Timbre::Organ, 32_000).await?;
    let cellar = upstream("cellar", Timbre::Chip, 16_000).await?;
    let shelf = data_dir.join("shelf");
    fill_shelf(&shelf, Timbre::Harp, 16_000)?;
    attic.faults().set(Group::Media, PACE);

    add_user(&data_dir).await?;
    let hub = assemble(Setup {
        data_dir,
        sources: vec![
            source("attic", &attic)?,
            source("cellar", &cellar)?,
            folder("shelf", shelf),
        ],
        settings: Settings {
            limits: Limits {
                suspect: SUSPECT,
                ..Limits::default()
            },
            sync_interval: Duration::ZERO,
            ..Settings::default()
        },
    })
    .await?;
    sync(hub.clone(), None, DropGuard::Refuse).await?;
    claim.answers_at(&url);
    greet(&hub, &url).await?;

    let serving = pin!(assemble::run(hub.clone(), listener, shutdown));
    let failing = pin!(fail_on_schedule(attic.faults()));
    let telling = pin!(tell::tell(&hub));
    let beside = pin!(futures_util::future::select(failing, telling));
    match futures_util::future::select(serving, beside).await {
        futures_util::future::Either::Left((served, _)) => Ok(served?),
        // The other two go on for ever.
        futures_util::future::Either::Right(_) => Ok(()),
    }
}

/// The usual port, or any when something else has it.
async fn listen_somewhere(wanted: Option<SocketAddr>) -> Result<TcpListener, Failure> {
    if let Some(address) = wanted {
        return listen(address).await;
    }
    let usual = SocketAddr::from((Ipv4Addr::LOCALHOST, 4747));
    match TcpListener::bind(usual).await {
        Ok(listener) => Ok(listener),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            println!("Something listens on {usual} already; the demo takes another port.");
            listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await
        }
        Err(error) => Err(Failure::new(format!("{usual}: {error}"))),
    }
}

/// A folder that goes when the demo ends.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // What cannot be removed is left to the system's own tidying.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn data_dir(asked: Option<PathBuf>) -> Result<(PathBuf, Option<Temporary>), Failure> {
    if let Some(dir) = asked {
        return Ok((dir, None));
    }
    let token: String = secrets::random_token()?.chars().take(12).collect();
    let dir = std::env::temp_dir().join(format!("segue-demo-{token}"));
    Ok((dir.clone(), Some(Temporary(dir))))
}

async fn upstream(name: &str, timbre: Timbre, rate: u32) -> Result<Upstream, Failure> {
    let library = tokio::task::spawn_blocking(move || library(timbre, rate)).await;
    let library = library.map_err(|error| Failure::new(error.to_string()))?;
    Ok(Upstream::start(upstream::Setup::new(name, library)).await?)
}

fn library(timbre: Timbre, rate: u32) -> Library {
    let mut artist = Artist::new(ARTIST);
    for (name, year, _) in &ALBUMS {
        artist = artist.album(Album::new(name).year(*year).genre("Generated"));
    }
    for (at, file) in files(timbre, rate).into_iter().enumerate() {
        let track = Track::new(file.title)
            .seconds(file.seconds)
            .format("wav", rate * 16 / 1000)
            .audio(Audio::Bytes(file.bytes.into()));
        artist.albums[at / 4].tracks.push(track);
    }
    Library::new().artist(artist)
}

struct MusicFile {
    album: &'static str,
    title: &'static str,
    seconds: u32,
    bytes: Vec<u8>,
}

fn files(timbre: Timbre, rate: u32) -> Vec<MusicFile> {
    let tunes = ALBUMS
        .iter()
        .flat_map(|(album, year, tunes)| (1..).zip(tunes).map(move |tune| (*album, *year, tune)));
    tunes
        .map(|(album, year, (track, tune))| {
            let tags = Tags {
                artist: ARTIST,
                album,
                title: tune.title,
                track,
                year,
            };
            MusicFile {
                album,
                title: tune.title,
                seconds: tune.seconds(),
                bytes: wav(&tune.render(timbre, rate), rate, &tags),
            }
        })
        .collect()
}

fn fill_shelf(shelf: &Path, timbre: Timbre, rate: u32) -> Result<(), Failure> {
    for file in files(timbre, rate) {
        let album = shelf.join(file.album);
        std::fs::create_dir_all(&album)?;
        std::fs::write(album.join(format!("{}.wav", file.title)), file.bytes)?;
    }
    Ok(())
}

fn source(id: &str, upstream: &Upstream) -> Result<SourceSpec, Failure> {
    let setup = upstream.shared().setup();
    let credentials =
        Credentials::password(setup.username.clone(), Secret::new(setup.password.clone()));
    let url = url::Url::parse(&upstream.url()).map_err(|error| Failure::new(error.to_string()))?;
    Ok(SourceSpec {
        id: id.to_owned(),
        local: false,
        max_streams: 0,
        link: LinkSpec::Subsonic {
            endpoint: Endpoint::new(&url, credentials)?,
            auth: None,
        },
    })
}

fn folder(id: &str, root: PathBuf) -> SourceSpec {
    SourceSpec {
        id: id.to_owned(),
        local: true,
        max_streams: 0,
        link: LinkSpec::Folder {
            root,
            write_sidecars: false,
        },
    }
}

async fn add_user(data_dir: &Path) -> Result<(), Failure> {
    let people = People::open(data_dir)?;
    if people.read(|r| r.user(LOGIN)).await?.is_none() {
        let user = people.sealed(LOGIN, LOGIN, true)?;
        let now = TokioClock::new().wall();
        people.write(move |w| w.add_user(&user, now)).await?;
    }
    people.close().await;
    Ok(())
}

async fn greet(hub: &Hub<World>, url: &str) -> Result<(), Failure> {
    let library = hub
        .read(|r| r.library())
        .await
        .map_err(AssembleError::from)?;
    let track = library
        .tracks
        .iter()
        .find(|track| track.title == ALBUMS[0].2[0].title);
    let id = track.map_or("", |track| track.id.as_str());
    println!(
        "\nSegue's demo listens on {url}\n\
         User {LOGIN}, password {LOGIN}. Open it in a browser, connect any Subsonic client, or try:\n\n  \
         curl -o tune.wav '{url}/rest/stream?u={LOGIN}&p={LOGIN}&v=1.16.1&c=curl&id={id}'\n  \
         curl -u {LOGIN}:{LOGIN} '{url}/api/v1/activity?limit=3'\n  \
         curl -u {LOGIN}:{LOGIN} '{url}/api/v1/sources'\n\n\
         The attic (organ) is played from first, and dies for {} seconds every {}.\n\
         The cellar (chip) and the shelf (harp) have the same tunes. Ctrl-C ends the demo.\n",
        DEAD.as_secs(),
        (ALIVE + DEAD).as_secs(),
    );
    Ok(())
}

/// Kills the attic and brings it back, for ever.
async fn fail_on_schedule(attic: Faults) {
    let clock = TokioClock::new();
    loop {
        clock.sleep_until(clock.now() + ALIVE).await;
        attic.die().await;
        tell::line(&clock, "The attic has died.");
        clock.sleep_until(clock.now() + DEAD).await;
        attic.revive().await;
        attic.set(Group::Media, PACE);
        tell::line(&clock, "The attic is back.");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_sources_have_the_same_tunes_in_their_own_sound() {
        let (one, two) = (files(Timbre::Organ, 8000), files(Timbre::Harp, 8000));
        assert_eq!(one.len(), 8);
        for (one, two) in one.iter().zip(&two) {
            assert_eq!((one.title, one.seconds), (two.title, two.seconds));
            assert_ne!(one.bytes, two.bytes);
        }
        let library = library(Timbre::Chip, 8000);
        assert_eq!(library.tracks().count(), 8);
        assert_eq!(library.albums().count(), 2);
    }

    #[test]
    fn a_temporary_folder_goes_with_the_demo() {
        let (dir, temporary) = data_dir(None).unwrap();
        std::fs::create_dir(&dir).unwrap();
        drop(temporary);
        assert!(!dir.exists());
    }
}
