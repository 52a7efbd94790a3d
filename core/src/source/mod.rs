//! What upstreams speak, as codecs: requests out, meaning of responses in. No sockets.
//!
//! An opening is judged in three steps, each a plain function: [`opening::judge_head`] on the response
//! head, [`opening::judge_first_chunk`] on the first body bytes, and, where either of them finds a
//! document instead of media, [`opening::judge_error_body`] on at most
//! [`opening::ERROR_BODY_LIMIT`] bytes of it. What went wrong is always a [`Refusal`].
//!
//! ```
//! use segue_core::Wall;
//! use segue_core::source::opening::{FirstChunk, HeadJudgement, Wanted, judge_first_chunk, judge_head};
//!
//! let (head, ()) = http::Response::builder()
//!     .header("content-type", "audio/mpeg")
//!     .body(())
//!     .unwrap()
//!     .into_parts();
//! let HeadJudgement::Media(media) = judge_head(&head, None, Wanted::Media, Wall(0)) else { panic!() };
//! assert_eq!(judge_first_chunk(&media, b"ID3\x04 and so on", false), FirstChunk::Accepted);
//! assert_eq!(judge_first_chunk(&media, b"<?xml version=\"1.0\"?>", false), FirstChunk::ErrorBody);
//! ```

mod envelope;
pub mod folder;
pub mod media;
pub mod opening;
pub mod range;
pub mod redirect;
pub mod refusal;
mod sniff;
pub mod subsonic;
pub mod transcode;

pub use refusal::{EnvelopeCode, Level, Refusal, RefusalClass, Stage};
