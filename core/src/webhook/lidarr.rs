//! Lidarr's webhook, as Lidarr really sends it.
//!
//! Keys are camelCase. The artist is `artist.name`; `Download` has `tracks` and `trackFiles` that do not pair by index;
//! `Retag` has one `trackFile`; `deletedFiles` is a list in one event and a boolean in others. Whatever is not needed is
//! not looked at, so that a later version of Lidarr is understood as well.

use super::{Event, Import, Named};
use serde::Deserialize;
use serde_json::Value;

/// The largest payload that is read, in bytes. An import of a box set of some hundred tracks is a few hundred kilobytes.
pub const PAYLOAD_LIMIT: usize = 4 * 1024 * 1024;

/// Why a payload could not be read.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LidarrError {
    /// Not JSON.
    #[error("the webhook's body is not JSON; let Lidarr send it, with method POST")]
    NotJson,
    /// Not a webhook of Lidarr.
    #[error("the webhook's body has no eventType; is it Lidarr that sends it?")]
    NoEventType,
}

/// The parts that are looked at; each may be missing or of a kind we did not expect.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Payload {
    artist: Value,
    album: Value,
    tracks: Value,
    track: Value,
    track_files: Value,
    track_file: Value,
    renamed_track_files: Value,
}

/// Reads one event.
///
/// # Errors
/// When it is no event of Lidarr at all. An event that we do not know is [`Event::Ignored`]: Lidarr takes any other
/// answer than success for a broken connection.
pub fn parse(body: &[u8]) -> Result<Event, LidarrError> {
    let value: Value = serde_json::from_slice(body).map_err(|_| LidarrError::NotJson)?;
    let kind = value.get("eventType").and_then(Value::as_str);
    let kind = kind.ok_or(LidarrError::NoEventType)?.to_ascii_lowercase();
    let payload = Payload::deserialize(value).unwrap_or_default();
    Ok(match kind.as_str() {
        "download" => imported(&payload),
        "retag" => Event::Retagged {
            paths: files(&[&payload.track_file, &payload.track_files], "path"),
        },
        "rename" => renamed(&payload),
        _ => Event::Ignored,
    })
}

fn imported(payload: &Payload) -> Event {
    let artist = text(&payload.artist, "name");
    let album = text(&payload.album, "title");
    let songs = each(&[&payload.tracks, &payload.track])
        .filter_map(|track| {
            Some(Named {
                artist: artist.clone()?,
                title: text(track, "title")?,
                album: album.clone(),
            })
        })
        .collect();
    Event::Imported(Import {
        songs,
        paths: files(&[&payload.track_files, &payload.track_file], "path"),
    })
}

fn renamed(payload: &Payload) -> Event {
    let moves = each(&[&payload.renamed_track_files])
        .filter_map(|file| Some((path(file, "previousPath"), path(file, "path")?)))
        .collect();
    Event::Renamed { moves }
}

/// The objects in some values, each of which is an object or a list of them.
fn each<'v>(values: &[&'v Value]) -> impl Iterator<Item = &'v Value> {
    let all: Vec<&Value> = values
        .iter()
        .flat_map(|value| match value {
            Value::Array(items) => items.iter().collect::<Vec<_>>(),
            Value::Object(_) => vec![*value],
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
        })
        .collect();
    all.into_iter()
}

fn files(values: &[&Value], key: &str) -> Vec<String> {
    each(values).filter_map(|file| path(file, key)).collect()
}

/// A name for people: trimmed, and none when blank.
fn text(value: &Value, key: &str) -> Option<String> {
    let text = value.get(key)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A path: as it is, for blanks at its ends are part of it.
fn path(value: &Value, key: &str) -> Option<String> {
    let path = value.get(key)?.as_str()?;
    (!path.is_empty()).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const IMPORT: &str = r#"{"eventType":"Download","instanceName":"Lidarr","applicationUrl":"","isUpgrade":true,
        "artist":{"id":1,"name":" Ada Quill ","path":"/music/Ada Quill","mbId":"m","type":"Person","genres":[]},
        "album":{"id":2,"mbId":"b","title":"Inkwell","albumType":"Album","secondaryAlbumTypes":[],"genres":[]},
        "tracks":[{"id":3,"title":"Blot","trackNumber":"1"},{"id":4,"title":"Nib","trackNumber":"2"},{"id":5,"title":"  "}],
        "trackFiles":[{"id":9,"path":"/music/Ada Quill/Inkwell/01-02.flac","quality":"FLAC","qualityVersion":1,"size":7}],
        "deletedFiles":[{"id":8,"path":"/music/old.mp3"}],"downloadClient":"d","downloadId":"i"}"#;

    fn named(title: &str, album: Option<&str>) -> Named {
        Named {
            artist: "Ada Quill".to_owned(),
            title: title.to_owned(),
            album: album.map(str::to_owned),
        }
    }

    #[test]
    fn an_import_tells_its_songs_and_its_files() {
        let Event::Imported(import) = parse(IMPORT.as_bytes()).unwrap() else {
            panic!("an import");
        };
        let inkwell = Some("Inkwell");
        assert_eq!(
            import.songs,
            [named("Blot", inkwell), named("Nib", inkwell)]
        );
        assert_eq!(import.paths, ["/music/Ada Quill/Inkwell/01-02.flac"]);
    }

    #[test]
    fn an_older_lidarr_leaves_the_album_out() {
        let body =
            r#"{"eventType":"Download","artist":{"name":"Ada Quill"},"tracks":[{"title":"Blot"}]}"#;
        let wanted = Import {
            songs: vec![named("Blot", None)],
            paths: Vec::new(),
        };
        assert_eq!(parse(body.as_bytes()), Ok(Event::Imported(wanted)));
    }

    #[test]
    fn retagged_and_renamed_files_are_told_by_path() {
        let body =
            r#"{"eventType":"Retag","artist":{"name":"A"},"trackFile":{"path":"/music/a .flac"}}"#;
        let paths = vec!["/music/a .flac".to_owned()];
        assert_eq!(parse(body.as_bytes()), Ok(Event::Retagged { paths }));
        let body = r#"{"eventType":"Rename","renamedTrackFiles":[{"previousPath":"/a","path":"/b"},{"path":"/c"},{}]}"#;
        let moves = vec![
            (Some("/a".to_owned()), "/b".to_owned()),
            (None, "/c".to_owned()),
        ];
        assert_eq!(parse(body.as_bytes()), Ok(Event::Renamed { moves }));
    }

    #[test]
    fn what_does_not_concern_us_is_ignored_and_not_refused() {
        for body in [
            r#"{"eventType":"Test","artist":{"id":1,"name":"Test Name"},"albums":[{"id":1,"title":"Test title"}]}"#,
            r#"{"eventType":"Grab","artist":{"name":"A"},"albums":[],"release":{}}"#,
            r#"{"eventType":"AlbumDelete","album":{"title":"B"},"deletedFiles":true}"#,
            r#"{"eventType":"ArtistDelete","artist":{"name":"A"},"deletedFiles":false}"#,
            r#"{"eventType":"Health","level":"warning","message":"m","type":"t"}"#,
            r#"{"eventType":"SomethingOfNextYear","artist":7}"#,
        ] {
            assert_eq!(parse(body.as_bytes()), Ok(Event::Ignored), "{body}");
        }
    }

    #[test]
    fn parts_of_a_kind_we_did_not_expect_are_left_out() {
        let body = r#"{"eventType":"Download","artist":"A","tracks":{"title":"T"},"trackFiles":"/x","album":[]}"#;
        let nothing = Event::Imported(Import::default());
        assert_eq!(parse(body.as_bytes()), Ok(nothing));
    }

    #[test]
    fn what_is_no_event_is_refused_with_advice() {
        assert_eq!(parse(b"<html>"), Err(LidarrError::NotJson));
        for body in [&b"{}"[..], b"[]", b"7", br#"{"eventType":null}"#] {
            assert_eq!(parse(body), Err(LidarrError::NoEventType));
        }
    }
}
