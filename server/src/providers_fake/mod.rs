//! Providers of lyrics of our own that can be made to fail in every way real ones do.
//!
//! Each is an axum router with a [`Script`] beside it, so a test serves it on loopback with [`Served::start`] and the
//! simulator runs it on simulated sockets. All words are invented.
//!
//! ```no_run
//! # async fn show() -> std::io::Result<()> {
//! use segue::providers_fake::{Fault, Served, Tune, Words, musixmatch};
//! let tune = Tune::new("The Paper Boats", "Lantern Hill", 201, Words::Plain("boats of paper".into()));
//! let fake = musixmatch::Fake::new("a-token", vec![tune]);
//! let served = Served::start(fake.router()).await?;
//! fake.script().once(Fault::status(429).retry_after(30));
//! println!("{} {:?}", served.url(), fake.script().seen());
//! # Ok(())
//! # }
//! ```

mod fold;
pub mod lrclib;
pub mod musixmatch;
pub mod petitlyrics;
mod script;
mod served;

pub use script::{Fault, Script, Seen};
pub use served::Served;

use segue_core::catalog::normalise::fold;

/// A song that a fake has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tune {
    /// Who sings it.
    pub artist: String,
    /// What it is called.
    pub title: String,
    /// How long it is, in seconds.
    pub seconds: u32,
    /// What the fake has of it.
    pub words: Words,
}

/// What a fake has of a song.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Words {
    /// A time for each word: lines with their beginning in milliseconds. Words follow each other by 300 ms.
    ByWord(Vec<(u64, String)>),
    /// A time for each line.
    ByLine(Vec<(u64, String)>),
    /// No times.
    Plain(String),
    /// Nothing to sing.
    Instrumental,
    /// Known, and not given out.
    Restricted,
    /// In a form that is protected; the plain words, if those are given out.
    Protected(Option<String>),
    /// The song is known, and no words of it.
    Nothing,
}

impl Tune {
    /// A song.
    #[must_use]
    pub fn new(artist: &str, title: &str, seconds: u32, words: Words) -> Self {
        Tune {
            artist: artist.to_owned(),
            title: title.to_owned(),
            seconds,
            words,
        }
    }

    fn is(&self, artist: &str, title: &str) -> bool {
        fold(&self.artist) == fold(artist) && fold(&self.title) == fold(title)
    }
}

/// How far words of one line are apart, in milliseconds.
const WORD_MS: u64 = 300;

/// The words of a line with their beginnings, in milliseconds from the line's.
fn paced(line: &str) -> impl Iterator<Item = (u64, &str)> {
    (0..).map(|at| at * WORD_MS).zip(line.split_whitespace())
}
