//! Segue's SQL: synchronous, free of any runtime, the same code in production and in simulation.
//!
//! [`Db`] opens a database and brings its tables up to date. A [`Reader`] answers questions, a
//! [`Writer`] changes rows; both wrap one connection and hand out domain rows, never SQL. Time and
//! seeds are arguments: no statement asks SQLite for a clock or for randomness.
//!
//! A runtime owns the threads. It gives one thread the only writer and commits in groups:
//!
//! ```
//! use segue_core::{io::StoreError, time::Wall};
//! use segue_sqlite::{Db, NewUser};
//!
//! let db = Db::open_in_memory()?;
//! let (writer, reader) = (db.writer()?, db.reader()?);
//! let alice = NewUser { name: "alice".into(), password_enc: vec![], is_admin: false };
//! let outcomes = writer.group(|group| {
//!     let added = group.member(|w| Ok::<_, StoreError>(w.add_user(&alice, Wall(0))?));
//!     let again = group.member(|w| Ok::<_, StoreError>(w.add_user(&alice, Wall(0))?));
//!     (added, again)
//! })?;
//! assert!(outcomes.0.is_ok() && outcomes.1.is_err());
//! assert_eq!(reader.snapshot(|r| r.users())?.len(), 1);
//! # Ok::<(), segue_sqlite::Error>(())
//! ```

mod columns;
mod db;
mod error;
mod group;
mod queue;
mod read;
mod rows;
mod views;
mod write;

pub use db::Db;
pub use error::{Error, Result};
pub use group::Group;
pub use queue::{
    Cached, Completed, DeliveredFile, DeliveryEnd, DeliveryIntent, DeliveryRow, DeliveryStatus,
    DeliveryTicket, Discardable, EnqueueReport, Enqueued, LaneStateRow, QueueDetail, QueueRow,
    TargetRow, TargetStatus, TrackLyrics, Unfinished, Wakeup,
};
pub use read::Reader;
pub use read::catalog::Playable;
pub use read::lists::{AlbumOrder, RandomFilter};
pub use read::lyrics::Unqueued;
pub use read::named::{NamedTrack, PlacedTrack};
pub use read::queue::Retention;
pub use read::scope::{Scope, Standing};
pub use read::search::{Found, SearchQuery};
pub use read::sources::Counts;
pub use read::stars::Starred;
pub use views::{
    AlbumView, ApiKeyRow, ArtistView, AttemptRow, GenreView, InstanceRow, OperationStatus,
    SongView, StreamOperation, UserRow,
};
pub use write::Writer;
pub use write::instances::InstanceSpec;
pub use write::merge::{MergeReport, MergeSteps};
pub use write::pass::{DropGuard, PassReport, PassSteps};
pub use write::people::NewUser;
pub use write::queue::Which;
pub use write::step::{RowCounts, Step};
