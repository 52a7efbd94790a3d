//! What is wrong with a configuration, told to a person: where, what, and what to do.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A line of the file, counted from 1.
    File {
        /// The file as it was named.
        path: Arc<PathBuf>,
        /// The line.
        line: usize,
    },
    /// An environment variable.
    Environment(String),
    /// A command line flag, with its dashes.
    Flag(&'static str),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File { path, line } => write!(f, "{}:{line}", path.display()),
            Place::Environment(name) => f.write_str(name),
            Place::Flag(name) => f.write_str(name),
        }
    }
}

/// One thing that is wrong. Never holds a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub place: Option<Place>,
    /// What.
    pub what: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.what)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

/// Everything that is wrong, one line each, in the order of the sections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.0.iter().enumerate() {
            match at {
                0 => write!(f, "{problem}")?,
                _ => write!(f, "\n{problem}")?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// A hint that names the nearest of `known`, if one is near enough to be meant.
pub(super) fn did_you_mean<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let lower = word.to_lowercase().replace('-', "_");
    let scored = known.into_iter().map(|known| {
        let score = strsim::jaro_winkler(&lower, &known.to_lowercase().replace('-', "_"));
        (score, known)
    });
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.75).then(|| format!("did you mean `{}`?", best.1))
}
