//! What stories about a hub and stories about lookups have in common: each is made from a number, played, checked, counted
//! and made simpler in its own way; how they are replayed, kept and soaked is the same.

use crate::alone::Run;
use crate::marks::Marks;
use crate::replay::verify;
use crate::{check, lyrics, outcome, scenario, seeds, story};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::time::Duration;

/// A scenario of either kind.
pub trait Tale: Clone + Debug + PartialEq + Serialize + DeserializeOwned {
    /// What is left of it when it has been played.
    type Outcome;

    /// Which kind it is.
    const KIND: Kind;

    /// The story of a number, which chooses everything in it.
    fn of(seed: u64) -> Self;

    /// Plays it.
    fn run(&self) -> Run<Self::Outcome>;

    /// What is broken: sentences that begin with the number of the rule.
    fn broken(&self, outcome: &Self::Outcome) -> Vec<String>;

    /// The simplest story found that is still wrong, and its report, from the story of `seed` and its report.
    fn simplest(seed: u64, report: String) -> (Self, String);

    /// Counts what happened.
    fn note(outcome: &Self::Outcome, marks: &mut Marks);

    /// How much simulated time went by.
    fn took(outcome: &Self::Outcome) -> Duration;

    /// Length and hash of the timeline.
    fn fingerprint(outcome: &Self::Outcome) -> (usize, u64);
}

/// What a story is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A hub and its listeners.
    Streams,
    /// Processes that look songs up.
    Lyrics,
}

impl Kind {
    /// How `cargo sim` is told to play the story of a number.
    pub fn line(self, seed: u64) -> String {
        match self {
            Kind::Streams => format!("cargo sim {seed}"),
            Kind::Lyrics => format!("cargo sim --lyrics {seed}"),
        }
    }

    /// Plays the story of a number: how much time went by in it, and what happened.
    ///
    /// # Errors
    /// As [`verify`].
    pub fn play(self, seed: u64) -> Result<(Duration, Marks), String> {
        match self {
            Kind::Streams => play::<scenario::Scenario>(seed),
            Kind::Lyrics => play::<lyrics::scenario::Scenario>(seed),
        }
    }

    /// The report of the simplest story that is wrong as that of `seed` is, and the line that plays that one.
    pub fn simplest(self, seed: u64, report: String) -> String {
        let report = match self {
            Kind::Streams => scenario::Scenario::simplest(seed, report).1,
            Kind::Lyrics => lyrics::scenario::Scenario::simplest(seed, report).1,
        };
        format!("{report}\nas it was found: {}", self.line(seed))
    }
}

fn play<T: Tale>(seed: u64) -> Result<(Duration, Marks), String> {
    let outcome = verify(&T::of(seed))?;
    let mut marks = Marks::default();
    T::note(&outcome, &mut marks);
    Ok((T::took(&outcome), marks))
}

impl Tale for scenario::Scenario {
    type Outcome = outcome::Outcome;

    const KIND: Kind = Kind::Streams;

    fn of(seed: u64) -> Self {
        seeds::story(seed)
    }

    fn run(&self) -> Run<outcome::Outcome> {
        story::run(self)
    }

    fn broken(&self, outcome: &outcome::Outcome) -> Vec<String> {
        check::check(self, outcome)
    }

    fn simplest(seed: u64, report: String) -> (Self, String) {
        seeds::shrunk(seed, report)
    }

    fn note(outcome: &outcome::Outcome, marks: &mut Marks) {
        marks.note(outcome);
    }

    fn took(outcome: &outcome::Outcome) -> Duration {
        Duration::from_nanos(outcome.took.as_nanos())
    }

    fn fingerprint(outcome: &outcome::Outcome) -> (usize, u64) {
        outcome.fingerprint
    }
}

impl Tale for lyrics::scenario::Scenario {
    type Outcome = lyrics::story::Outcome;

    const KIND: Kind = Kind::Lyrics;

    fn of(seed: u64) -> Self {
        lyrics::strategy::story(seed)
    }

    fn run(&self) -> Run<lyrics::story::Outcome> {
        lyrics::story::run(self)
    }

    fn broken(&self, outcome: &lyrics::story::Outcome) -> Vec<String> {
        lyrics::check::check(self, outcome)
    }

    fn simplest(seed: u64, report: String) -> (Self, String) {
        lyrics::shrink::shrunk(&Self::of(seed), report)
    }

    fn note(outcome: &lyrics::story::Outcome, marks: &mut Marks) {
        lyrics::marks::note(outcome, marks);
    }

    fn took(outcome: &lyrics::story::Outcome) -> Duration {
        Duration::from_nanos(outcome.took.as_nanos())
    }

    fn fingerprint(outcome: &lyrics::story::Outcome) -> (usize, u64) {
        outcome.fingerprint
    }
}
