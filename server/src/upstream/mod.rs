//! A Subsonic server of our own that can be made to fail in every way real ones do.
//!
//! `segue demo` plays from it and the black-box tests fail over between several of it. It speaks real
//! HTTP/1.1 over any byte stream ([`serve_connection`]), so the simulator runs the very same one; on
//! loopback it is started with [`Upstream::start`].
//!
//! ```no_run
//! # async fn show() -> std::io::Result<()> {
//! use segue::upstream::{Album, Artist, Fault, Group, Library, Setup, Track, Upstream};
//! let library = Library::new().artist(
//!     Artist::new("Björk").album(Album::new("Homogenic").track(Track::new("Hunter").seconds(13))),
//! );
//! let upstream = Upstream::start(Setup::new("home", library)).await?;
//! upstream.faults().set(Group::Media, Fault::HangBeforeHead);
//! println!("{}", upstream.url());
//! upstream.until(|counters| counters.streams == 1).await;
//! # Ok(())
//! # }
//! ```

mod api;
mod auth;
mod connection;
mod content;
mod cover;
mod document;
mod faults;
mod library;
mod listen;
mod lyrics;
mod media;
mod shared;

pub use auth::AuthMode;
pub use connection::serve_connection;
pub use content::{Content, Mark, marks};
pub use faults::{Door, Fault, Faults, Group};
pub use library::{Album, Artist, Audio, Library, Track};
pub use listen::Upstream;
pub use lyrics::{TimedLine, Words};
pub use shared::{Answers, Counters, LyricsMethods, Quirks, Seen, Setup, Shared};
