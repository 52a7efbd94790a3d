//! What the hub acknowledged, and so must know after any number of crashes.

use serde_json::Value;
use std::collections::BTreeMap;

/// What a listener says of a song.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    starred: bool,
    rating: u64,
    plays: u64,
}

/// One change of the marks of a song.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Star,
    Unstar,
    Rate(u64),
    Play,
}

impl Change {
    /// The endpoint and the parameters beside the id.
    pub(crate) fn call(self) -> (&'static str, String) {
        match self {
            Change::Star => ("star", String::new()),
            Change::Unstar => ("unstar", String::new()),
            Change::Rate(rating) => ("setRating", format!("&rating={rating}")),
            Change::Play => ("scrobble", "&submission=true".to_owned()),
        }
    }
}

impl Marks {
    /// Of a song as the hub shows it.
    pub(crate) fn of(song: &Value) -> Self {
        Marks {
            starred: song["starred"].is_string(),
            rating: song["userRating"].as_u64().unwrap_or(0),
            plays: song["playCount"].as_u64().unwrap_or(0),
        }
    }

    fn after(self, change: Change) -> Self {
        match change {
            Change::Star => Marks {
                starred: true,
                ..self
            },
            Change::Unstar => Marks {
                starred: false,
                ..self
            },
            Change::Rate(rating) => Marks { rating, ..self },
            Change::Play => Marks {
                plays: self.plays + 1,
                ..self
            },
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    sure: Marks,
    /// Asked for and not answered: it may have happened.
    asked: Option<Change>,
}

/// Everything acknowledged so far.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// By title, for good: what each song is called by.
    ids: BTreeMap<String, String>,
    songs: BTreeMap<String, Entry>,
    /// Finished operations that a client was shown, by row id: since then they are stored.
    rows: BTreeMap<i64, (String, u64)>,
}

impl Ledger {
    /// What the hub calls the song of that title.
    pub(crate) fn id(&self, title: &str) -> &str {
        &self.ids[title]
    }

    /// Whether the songs have been seen once.
    pub(crate) fn has_begun(&self) -> bool {
        !self.ids.is_empty()
    }

    /// A change is asked for.
    pub(crate) fn ask(&mut self, title: &str, change: Change) {
        self.songs.entry(title.to_owned()).or_default().asked = Some(change);
    }

    /// The change that was asked for is acknowledged; the marks that must show from now on.
    pub(crate) fn acknowledge(&mut self, title: &str) -> Marks {
        let entry = self.songs.entry(title.to_owned()).or_default();
        let change = entry.asked.take().expect("asked for");
        entry.sure = entry.sure.after(change);
        entry.sure
    }

    /// Operations are shown to a client.
    pub(crate) fn note_operations(&mut self, answer: &Value) {
        let rows = answer["operations"].as_array().expect("a list");
        for row in rows.iter().filter(|row| row["status"] != "active") {
            let status = row["status"].as_str().expect("a word").to_owned();
            let bytes = row["bytes"].as_u64().expect("bytes");
            let id = row["id"].as_i64().expect("an id");
            self.rows.insert(id, (status, bytes));
        }
    }

    /// Compares with what a restarted hub shows, and goes on from that.
    ///
    /// # Panics
    /// When anything acknowledged is lost, or anything that was never asked for is there.
    pub(crate) fn check_songs(&mut self, titles: &[&str], shown: &[Value]) {
        for title in titles {
            let song = shown.iter().find(|song| song["title"] == *title);
            let song = song.unwrap_or_else(|| panic!("{title} is gone; there are {shown:?}"));
            let id = song["id"].as_str().expect("an id");
            let known = self.ids.entry((*title).to_owned()).or_insert(id.to_owned());
            assert_eq!(known, id, "the id of {title} changed");
            let marks = Marks::of(song);
            let entry = self.songs.entry((*title).to_owned()).or_default();
            let maybe = entry.asked.take().map(|change| entry.sure.after(change));
            assert!(
                marks == entry.sure || Some(marks) == maybe,
                "{title} shows {marks:?}; acknowledged was {:?}, asked for {maybe:?}",
                entry.sure
            );
            entry.sure = marks;
        }
    }

    /// Compares with the rows of `stream_operations`, and forgets those that were found.
    ///
    /// # Panics
    /// When a row that was shown is gone, or tells another story.
    pub(crate) fn check_operations(&mut self, stored: &BTreeMap<i64, (String, u64)>) {
        for (id, told) in std::mem::take(&mut self.rows) {
            assert_eq!(stored.get(&id), Some(&told), "operation {id}");
        }
    }
}
