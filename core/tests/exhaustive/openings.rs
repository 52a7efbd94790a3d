//! Every opening over a few sources, each of which does one of all the things that sources do, through the real
//! drivers and with a client who may leave.

use crate::explore::{Broken, quietly};
use crate::toy::scene::*;
use crate::toy::{Host, Toy, ToyBody};
use segue_core::Tick;
use segue_core::breaker::{Bank, Lane, Phase};
use segue_core::driver::exchange::Wanted;
use segue_core::driver::open::{Opened, open};
use segue_core::failover::{AttemptOutcome, LAST_RESORT_AFTER, Limits, Outcome, StreamMode};
use segue_core::io::Clock;
use std::sync::Mutex;
use std::time::Duration;

/// What a source does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Good,
    /// Accepts after a second.
    SlowToAccept,
    /// Sends its head at the very moment at which its budget ends.
    SlowHead,
    Refuses,
    BlackHole,
    /// Accepts, and says nothing more.
    Hangs,
    /// Sends its head late, and no body.
    HeadOnly,
    Missing,
    Odd4xx,
    Busy,
    Locked,
    Broken,
    /// A page to log in, as HTML.
    Page,
    /// An envelope as audio, its first byte alone.
    Envelope,
    Empty,
    Playlist,
    /// Sends us to a host that we do not know.
    Elsewhere,
    /// A part, though the whole was asked for.
    OtherPart,
}

pub(crate) const KINDS: [Kind; 18] = [
    Kind::Good,
    Kind::SlowToAccept,
    Kind::SlowHead,
    Kind::Refuses,
    Kind::BlackHole,
    Kind::Hangs,
    Kind::HeadOnly,
    Kind::Missing,
    Kind::Odd4xx,
    Kind::Busy,
    Kind::Locked,
    Kind::Broken,
    Kind::Page,
    Kind::Envelope,
    Kind::Empty,
    Kind::Playlist,
    Kind::Elsewhere,
    Kind::OtherPart,
];

pub(crate) const MODES: [StreamMode; 3] = [
    StreamMode::Ordered,
    StreamMode::Hedged,
    StreamMode::Parallel,
];

const LEN: usize = 2_500;

const SLOW_ACCEPT: Duration = Duration::from_secs(1);

const LATE_HEAD: Duration = Duration::from_secs(4);

/// How long the busy one asks us to stay away.
const BUSY: Duration = Duration::from_secs(600);

impl Kind {
    fn host(self, at: usize) -> Host {
        let good = || Host::serving(&music(at as u8, LEN));
        let with = |status, name, value: &str| Host {
            status,
            headers: vec![(name, value.to_owned())],
            ..Host::default()
        };
        match self {
            Kind::Good => good(),
            Kind::SlowToAccept => Host {
                accept: Some(SLOW_ACCEPT),
                ..good()
            },
            Kind::SlowHead => Host {
                head: Some(Limits::default().head),
                ..good()
            },
            Kind::Refuses => Host::refusing(),
            Kind::BlackHole => Host::black_hole(),
            Kind::Hangs => Host {
                head: None,
                ..Host::default()
            },
            Kind::HeadOnly => Host {
                head: Some(LATE_HEAD),
                body: vec![(Duration::from_secs(3_600), Ok("late".into()))],
                ..Host::default()
            },
            Kind::Missing => Host::saying(404, "text/plain", "gone"),
            Kind::Odd4xx => Host::saying(418, "text/plain", "short and stout"),
            Kind::Busy => with(429, "retry-after", &BUSY.as_secs().to_string()),
            Kind::Locked => Host::saying(401, "text/plain", "who?"),
            Kind::Broken => Host::saying(500, "text/plain", "oh"),
            Kind::Page => Host::saying(200, "text/html", "<!doctype html><title>Log in</title>"),
            Kind::Envelope => Host {
                body: ["{", "\"subsonic-response\":{\"status\":\"failed\"}}"]
                    .map(|text| (Duration::ZERO, Ok(text.into())))
                    .to_vec(),
                ..Host::default()
            },
            Kind::Empty => Host::saying(200, "audio/flac", ""),
            Kind::Playlist => Host::saying(200, "application/vnd.apple.mpegurl", "#EXTM3U"),
            Kind::Elsewhere => with(302, "location", "http://elsewhere/stream"),
            Kind::OtherPart => Host {
                headers: vec![
                    ("content-type", "audio/flac".to_owned()),
                    ("content-range", "bytes 5-9/10".to_owned()),
                ],
                body: vec![(Duration::ZERO, Ok("music".into()))],
                status: 206,
                ..Host::default()
            },
        }
    }

    /// How long it holds up the next one in an ordered opening, or needs itself when it is healthy.
    fn takes(self, limits: &Limits) -> Duration {
        match self {
            Kind::SlowToAccept => SLOW_ACCEPT,
            Kind::SlowHead | Kind::Hangs => limits.head,
            Kind::BlackHole => limits.stagger,
            Kind::HeadOnly => LATE_HEAD + limits.first_byte,
            Kind::Good
            | Kind::Refuses
            | Kind::Missing
            | Kind::Odd4xx
            | Kind::Busy
            | Kind::Locked
            | Kind::Broken
            | Kind::Page
            | Kind::Envelope
            | Kind::Empty
            | Kind::Playlist
            | Kind::Elsewhere
            | Kind::OtherPart => Duration::ZERO,
        }
    }

    /// Whether its bytes may be sent.
    fn is_healthy(self) -> bool {
        matches!(self, Kind::Good | Kind::SlowToAccept | Kind::SlowHead)
    }

    /// Whether nothing is heard of it for the first tenth of a second.
    fn is_silent(self) -> bool {
        matches!(
            self,
            Kind::SlowToAccept | Kind::SlowHead | Kind::BlackHole | Kind::Hangs | Kind::HeadOnly
        )
    }

    /// Whether it accepts at once, so that a later source is held up.
    fn accepts_at_once(self) -> bool {
        !matches!(self, Kind::SlowToAccept | Kind::BlackHole)
    }
}

/// Opens over these sources, and says which rule that broke.
pub(crate) fn check(
    kinds: &[Kind],
    mode: StreamMode,
    leaves: Option<Duration>,
) -> Result<(), String> {
    let (toy, bank) = (Toy::default(), bank());
    for (at, kind) in kinds.iter().enumerate() {
        toy.set(NAMES[at], kind.host(at));
    }
    toy.set("elsewhere", Host::serving(&music(99, LEN)));
    let limits = Limits {
        mode,
        ..Limits::default()
    };
    let lanes = candidates(kinds.len());
    let opening = open(&toy, &bank, lanes, &limits, Wanted::Media, |at| {
        Ok(ask(at, None))
    });
    let opened = match leaves {
        None => Some(toy.run(opening)),
        Some(after) => toy.run_until(after, opening),
    };
    let elsewhere = toy.contacted().iter().any(|name| name == "elsewhere");
    is(!elsewhere, "3.5: redirected elsewhere")?;
    let in_turn = mode == StreamMode::Ordered && kinds.iter().all(|kind| kind.accepts_at_once());
    is(!in_turn || toy.peak() <= 1, "D4: two exchanges at once")?;
    if let Some(opened) = opened {
        judge(kinds, &toy, &bank, &opened, &limits)?;
        is(toy.at() <= limits.open_budget, "F7: too late")?;
        drop(opened);
        again(kinds, &toy, &bank, &limits)?;
    } else {
        let early = toy.at() < limits.connect;
        let is_open = |at| !is_closed(phase(&bank, at, &toy));
        let blamed = early && (0..kinds.len()).any(|at| kinds[at].is_silent() && is_open(at));
        is(!blamed, "B8: the client left, and a source is blamed")?;
    }
    is(toy.open() == 0, "F5: an exchange is left")?;
    is(
        bank.lock().unwrap().outstanding() == 0,
        "F5: a permit is left",
    )
}

/// Opens once more at once: a suspect is left alone while somebody else can serve, and all of them are when
/// they have failed a moment ago.
fn again(kinds: &[Kind], toy: &Toy, bank: &Mutex<Bank>, limits: &Limits) -> Result<(), String> {
    let suspects: Vec<usize> = (0..kinds.len())
        .filter(|at| !is_closed(phase(bank, *at, toy)))
        .collect();
    let (asked, since) = (toy.contacted().len(), toy.at());
    drop(open_with(toy, bank, limits, kinds.len()));
    let asked = toy.contacted().split_off(asked);
    let served = (0..kinds.len()).any(|at| kinds[at].is_healthy() && !suspects.contains(&at));
    let too_soon = suspects.len() == kinds.len() && since < LAST_RESORT_AFTER;
    let spared = served || too_soon;
    let disturbed = suspects
        .iter()
        .any(|at| asked.iter().any(|name| name == NAMES[*at]));
    is(!(spared && disturbed), "F4: a suspect was asked")
}

fn is(so: bool, rule: &str) -> Result<(), String> {
    match so {
        true => Ok(()),
        false => Err(rule.to_owned()),
    }
}

/// Whether some source is healthy, and those before it leave it time enough.
fn can_be_had(kinds: &[Kind], limits: &Limits) -> bool {
    let mut spent = Duration::ZERO;
    for kind in kinds {
        let takes = kind.takes(limits);
        if kind.is_healthy() && spent + takes <= limits.open_budget {
            return true;
        }
        spent += match limits.mode {
            StreamMode::Ordered => takes,
            StreamMode::Hedged => takes.min(limits.stagger),
            StreamMode::Parallel => Duration::ZERO,
        };
    }
    false
}

fn phase(bank: &Mutex<Bank>, at: usize, toy: &Toy) -> Phase {
    let view = bank.lock().unwrap().view(Lane(at as u32), toy.now());
    view.expect("it is registered").phase
}

fn is_closed(phase: Phase) -> bool {
    phase == Phase::Closed
}

fn judge(
    kinds: &[Kind],
    toy: &Toy,
    bank: &Mutex<Bank>,
    opened: &Opened<ToyBody>,
    limits: &Limits,
) -> Result<(), String> {
    let (winner, attempts) = story(opened);
    let expected = can_be_had(kinds, limits);
    let rule = "F3: a healthy source was there, or none was";
    is(winner.is_some() == expected, rule)?;
    if let Outcome::Committed { candidate, opening } = &opened.outcome {
        is(kinds[*candidate].is_healthy(), "F1: not the track")?;
        let track = music(*candidate as u8, LEN);
        is(track.starts_with(&opening.first), "F1: not its bytes")?;
    }
    let served: Vec<usize> = (attempts.iter())
        .filter(|(_, outcome)| *outcome == "served")
        .map(|(at, _)| *at)
        .collect();
    is(served == Vec::from_iter(winner), "F6: who served?")?;
    let swallowed = opened.attempts.iter().any(|attempt| {
        let forgiven = attempt.outcome == AttemptOutcome::GivenUp;
        let silent = kinds[attempt.candidate] == Kind::BlackHole;
        forgiven && silent && attempt.took >= limits.stagger
    });
    is(!swallowed, "3.3: a black hole is forgiven")?;
    for (at, outcome) in attempts {
        let phase = phase(bank, at, toy);
        // At the end of the whole budget nobody is blamed.
        let overall = outcome == "timeout" && toy.at() == limits.open_budget;
        let blameless = matches!(outcome, "served" | "given_up" | "not_found" | "status_4xx");
        let blamed = !is_closed(phase);
        if outcome == "running" || (blamed == blameless && !overall) {
            return Err(format!("3.5: {:?} came to {outcome}, {phase:?}", kinds[at]));
        }
        let due = Tick::ZERO + BUSY;
        if outcome == "throttled" && !matches!(phase, Phase::Open { until } if until >= due) {
            return Err(format!("B7: {phase:?}"));
        }
    }
    Ok(())
}

/// Every pair of sources, every mode, and every time to leave.
pub(crate) fn pairs() -> Result<usize, Broken> {
    let leaves = [0, 100, 300, 1_100, 6_000].map(|ms| Some(Duration::from_millis(ms)));
    let many = KINDS.len();
    let cases = (0..many.pow(2)).flat_map(|n| {
        let kinds = vec![KINDS[n % many], KINDS[n / many]];
        let leaves = leaves.into_iter().chain([None]);
        leaves.map(move |leaves| (kinds.clone(), leaves))
    });
    play(cases)
}

/// Every three sources in every mode.
pub(crate) fn triples() -> Result<usize, Broken> {
    let many = KINDS.len();
    let cases = (0..many.pow(3)).map(|n| {
        let kinds = [n % many, n / many % many, n / many / many];
        (kinds.map(|at| KINDS[at]).to_vec(), None)
    });
    play(cases)
}

fn play(cases: impl Iterator<Item = (Vec<Kind>, Option<Duration>)>) -> Result<usize, Broken> {
    let mut after = 0;
    for (kinds, leaves) in cases {
        for mode in MODES {
            after += 1;
            let checked = quietly(|| check(&kinds, mode, leaves));
            checked.map_err(|why| {
                let leaves =
                    leaves.map_or(String::new(), |after| format!(", left after {after:?}"));
                let story = format!("{why}\n    {kinds:?}, {mode:?}{leaves}");
                Broken { after, story }
            })?;
        }
    }
    Ok(after)
}
