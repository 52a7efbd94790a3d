//! Lanes as they are set up, asked over the real network.

use crate::ask::ask;
use segue::sources::salt;
use segue_core::dispatch::Quality;
use segue_core::lyrics::Song;
use segue_core::lyrics::accept::Rules;
use segue_core::provider::{Candidate, Kind, Outcome, Provider, Question, Server, Settings};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A song of invented names.
pub(crate) fn song(title: &str, seconds: u64) -> Song {
    Song {
        artists: vec!["The Paper Boats".to_owned()],
        album: Some("Harbour Songs".to_owned()),
        duration_ms: Some(seconds * 1000),
        ..crate::ask::song(title)
    }
}

/// Looks `song` up by a lane of that kind, with these Subsonic sources at hand.
pub(crate) async fn look_up_at(
    kind: Kind,
    song: &Song,
    servers: &BTreeMap<String, Server>,
) -> Outcome {
    let settings = Settings {
        name: "lane".to_owned(),
        spacing: Duration::ZERO,
        timeout: Duration::from_secs(30),
        kind,
    };
    let provider = Provider::new(settings).expect("fine settings");
    ask(provider.lookup(&Question {
        song,
        rules: &Rules::default(),
        servers,
        salt: &salt(),
        ours: &BTreeSet::new(),
    }))
    .await
}

/// Looks `song` up by a lane of that kind.
pub(crate) async fn look_up(kind: Kind, song: &Song) -> Outcome {
    look_up_at(kind, song, &BTreeMap::new()).await
}

/// The candidates of a hit.
pub(crate) fn found(outcome: &Outcome) -> &[Candidate] {
    match outcome {
        Outcome::Found(found) => found,
        Outcome::Miss(_) | Outcome::Failed(_) => panic!("{outcome:?}"),
    }
}

/// The best quality of a hit.
pub(crate) fn best(outcome: &Outcome) -> Quality {
    let qualities = found(outcome).iter().map(|one| one.lyrics.quality());
    qualities.max().expect("a candidate")
}
