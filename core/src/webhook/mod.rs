//! What other programs tell the hub when they have changed the music, read into one shape.

pub mod lidarr;

/// Something that happened to files, told from outside. Nothing in it is trusted: a path may lie anywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// New files are there. Songs and files are told apart from each other, for one file may hold several songs.
    Imported(Import),
    /// The tags of files have changed.
    Retagged {
        /// The files, as the sender's machine calls them.
        paths: Vec<String>,
    },
    /// Files have other names now.
    Renamed {
        /// The names before and after; the one before is not always told.
        moves: Vec<(Option<String>, String)>,
    },
    /// Nothing that concerns lyrics: a test, a download that begins, a kind of event that we do not know.
    Ignored,
}

/// What came with an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Import {
    /// The songs by name.
    pub songs: Vec<Named>,
    /// The files, as the sender's machine calls them.
    pub paths: Vec<String>,
}

/// A song by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The artist; never blank.
    pub artist: String,
    /// The title; never blank.
    pub title: String,
    /// The album, when it is told.
    pub album: Option<String>,
}
