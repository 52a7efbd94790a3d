//! The fields that the API requires, by type (OpenAPI `required`, and what clients crash without).

use serde_json::Value;

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Number,
    Truth,
    List,
    Object,
}
use Kind::{List, Number, Object, Text, Truth};

const SONG: &[(&str, Kind)] = &[
    ("id", Text),
    ("parent", Text),
    ("isDir", Truth),
    ("title", Text),
    ("album", Text),
    ("artist", Text),
    ("coverArt", Text),
    ("size", Number),
    ("contentType", Text),
    ("suffix", Text),
    ("duration", Number),
    ("bitRate", Number),
    ("path", Text),
    ("isVideo", Truth),
    ("discNumber", Number),
    ("created", Text),
    ("albumId", Text),
    ("artistId", Text),
    ("type", Text),
    ("mediaType", Text),
    ("sortName", Text),
    ("musicBrainzId", Text),
    ("isrc", List),
    ("genres", List),
    ("artists", List),
    ("displayArtist", Text),
    ("albumArtists", List),
    ("displayAlbumArtist", Text),
    ("bitDepth", Number),
    ("samplingRate", Number),
    ("channelCount", Number),
    ("replayGain", Object),
];

const ALBUM: &[(&str, Kind)] = &[
    ("id", Text),
    ("name", Text),
    ("songCount", Number),
    ("duration", Number),
    ("created", Text),
    ("artist", Text),
    ("artistId", Text),
    ("coverArt", Text),
    ("genres", List),
    ("artists", List),
    ("displayArtist", Text),
    ("isCompilation", Truth),
    ("musicBrainzId", Text),
    ("sortName", Text),
];

const FOLDER: &[(&str, Kind)] = &[
    ("id", Text),
    ("isDir", Truth),
    ("title", Text),
    ("artist", Text),
    ("mediaType", Text),
];

const ARTIST: &[(&str, Kind)] = &[
    ("id", Text),
    ("name", Text),
    ("albumCount", Number),
    ("musicBrainzId", Text),
    ("sortName", Text),
];

const USER: &[(&str, Kind)] = &[
    ("username", Text),
    ("scrobblingEnabled", Truth),
    ("adminRole", Truth),
    ("settingsRole", Truth),
    ("downloadRole", Truth),
    ("uploadRole", Truth),
    ("playlistRole", Truth),
    ("coverArtRole", Truth),
    ("commentRole", Truth),
    ("podcastRole", Truth),
    ("streamRole", Truth),
    ("jukeboxRole", Truth),
    ("shareRole", Truth),
    ("videoConversionRole", Truth),
    ("folder", List),
];

pub(crate) fn assert_song(value: &Value) {
    assert_fields("Child", value, SONG);
    assert_eq!(value["isDir"], false);
}

pub(crate) fn assert_album(value: &Value) {
    assert_fields("AlbumID3", value, ALBUM);
}

pub(crate) fn assert_folder(value: &Value) {
    assert_fields("Child (folder)", value, FOLDER);
    assert_eq!(value["isDir"], true);
}

pub(crate) fn assert_artist(value: &Value) {
    assert_fields("ArtistID3", value, ARTIST);
}

pub(crate) fn assert_user(value: &Value) {
    assert_fields("User", value, USER);
}

fn assert_fields(type_name: &str, value: &Value, fields: &[(&str, Kind)]) {
    for (name, kind) in fields {
        let field = &value[*name];
        let fits = match kind {
            Text => field.is_string(),
            Number => field.is_u64(),
            Truth => field.is_boolean(),
            List => field.is_array(),
            Object => field.is_object(),
        };
        assert!(fits, "{type_name}.{name}: {field} in {value}");
    }
}

/// The ids of a list, in order.
pub(crate) fn ids(list: &Value) -> Vec<&str> {
    let items = list.as_array().unwrap_or_else(|| panic!("no list: {list}"));
    items
        .iter()
        .map(|item| item["id"].as_str().expect("an id is a string"))
        .collect()
}
