//! What five real servers say, and what others were seen to say, as rows.
//!
//! The fixtures are replies of the named server versions to a small generated library.

use proptest::prelude::*;
use segue_core::Wall;
use segue_core::catalog::model::{InstanceAlbum, InstanceArtist, InstanceTrack};
use segue_core::source::subsonic::parse::{
    self, Envelope, Server, Standing, WARNING_LIMIT, Warnings,
};
use segue_core::source::{EnvelopeCode, Refusal};

/// 2026-11-29T21:46:07Z.
const SCANNED: Wall = Wall(1_795_988_767_000);

fn fixture(server: &str, file: &str) -> Envelope {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/subsonic");
    let body = std::fs::read(format!("{root}/{server}/{file}")).unwrap();
    parse::reply(&body).unwrap()
}

/// Reads without allowing a warning.
fn cleanly<T>(read: impl FnOnce(&mut Warnings) -> T) -> T {
    let mut warnings = Warnings::default();
    let rows = read(&mut warnings);
    assert_eq!(warnings, Warnings::default());
    rows
}

fn album_of(server: &str, file: &str) -> (InstanceAlbum, Vec<InstanceTrack>) {
    cleanly(|warnings| fixture(server, file).album(warnings)).unwrap()
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn supysonic_is_read_to_the_letter() {
    let (album, tracks) = album_of("supysonic-0.7.9", "getAlbum.json");
    let expected = InstanceAlbum {
        remote_id: "56c3b3dd-b1cd-4b9d-befb-d526b059afc6".into(),
        name: "Homogenic".into(),
        artist_remote_id: text("2b822c42-de4e-4810-8cd3-49b68013de76"),
        artist_name: "Björk".into(),
        year: Some(1997),
        genres: vec!["Electronic".into()],
        cover_art: text("11"),
        created: Some(SCANNED),
        ..InstanceAlbum::default()
    };
    assert_eq!(album, expected);
    let expected = InstanceTrack {
        remote_id: "a1996273-b2b7-49b4-9f6a-e01ab4a0186b".into(),
        album_remote_id: album.remote_id,
        title: "Hunter".into(),
        artist_name: "Björk".into(),
        artist_remote_id: text("2b822c42-de4e-4810-8cd3-49b68013de76"),
        track_number: Some(1),
        disc_number: 1,
        duration_ms: Some(13_000),
        bit_rate: Some(477),
        format: "flac".into(),
        suffix: "flac".into(),
        content_type: "audio/flac".into(),
        size: Some(783_843),
        year: Some(1997),
        genres: vec!["Electronic".into()],
        cover_art: text("a1996273-b2b7-49b4-9f6a-e01ab4a0186b"),
        path: text("Björk/Homogenic/1-01 Hunter.flac"),
        created: Some(SCANNED),
        ..InstanceTrack::default()
    };
    assert_eq!(tracks[0], expected);
    let titles: Vec<_> = tracks.iter().map(|track| track.title.as_str()).collect();
    assert_eq!(titles, ["Hunter", "Jóga", "Unravel"]);
}

#[test]
fn maneki_leaves_the_bit_rate_out_and_lists_genres() {
    let (album, tracks) = album_of("maneki-0.29.0", "getAlbum.json");
    assert_eq!(album.genres, ["Electronic", "Art Pop"]);
    assert_eq!(album.created, Some(Wall(1_795_989_300_000)));
    // 783,843 bytes in 13 seconds.
    assert_eq!((tracks[0].bit_rate, tracks[0].created), (Some(482), None));
    assert_eq!(tracks[0].genres, ["Electronic", "Art Pop"]);
    let envelope = fixture("maneki-0.29.0", "ping.json");
    let server = Server {
        version: text("1.16.1"),
        kind: text("maneki"),
        server_version: text("0.29.0"),
        open_subsonic: true,
    };
    assert_eq!(
        (envelope.server, envelope.standing),
        (server, Standing::Good)
    );
}

#[test]
fn old_supysonic_counts_bits_and_not_kilobits() {
    let (_, tracks) = album_of("supysonic-0.7.2", "getAlbum.json");
    assert!(tracks.iter().all(|track| track.bit_rate == Some(192)));
    let page = cleanly(|w| fixture("supysonic-0.7.2", "getAlbumList2.json").album_list(w));
    // The server writes NFD where the tags do.
    let composed = page
        .albums
        .iter()
        .find(|album| album.name == "Déjà Vu")
        .unwrap();
    assert_eq!(composed.artist_name, "Beyoncé");
}

#[test]
fn beetstream_has_numbers_in_text_and_stars_on_everything() {
    let (album, tracks) = album_of("beetstream-1.4.0", "getAlbum.json");
    assert_eq!(
        (album.remote_id.as_str(), album.name.as_str()),
        ("21", "Homogenic")
    );
    assert_eq!(tracks[0].remote_id, "31");
    let artists = cleanly(|w| fixture("beetstream-1.4.0", "getArtists.json").artists(w)).unwrap();
    let expected = InstanceArtist {
        remote_id: "1RG91YmxlIERpc2MgQmFuZA==".into(),
        name: "Double Disc Band".into(),
        musicbrainz_id: None,
        cover_art: None,
    };
    assert_eq!(artists[1].row, expected);
}

#[test]
fn smolsonic_has_nulls_and_made_up_dates() {
    let page = cleanly(|w| fixture("smolsonic-0.3.0", "getAlbumList2.json").album_list(w));
    assert!(page.albums.iter().all(|album| album.created.is_none()));
    let unknown = page
        .albums
        .iter()
        .find(|album| album.name == "Unknown Album")
        .unwrap();
    assert_eq!(unknown.year, None);
}

#[test]
fn every_fixture_has_its_rows() {
    let servers = [
        ("beetstream-1.4.0", 7, 0),
        ("maneki-0.29.0", 7, 0),
        ("smolsonic-0.3.0", 7, 0),
        ("supysonic-0.7.2", 7, 0),
        ("supysonic-0.7.9", 10, 3),
    ];
    for (server, count, without_albums) in servers {
        let artists = cleanly(|w| fixture(server, "getArtists.json").artists(w)).unwrap();
        assert_eq!(artists.len(), count, "{server}");
        let empty = artists.iter().filter(|artist| artist.has_no_albums).count();
        assert_eq!(empty, without_albums, "{server}");
        let (artist, albums) = cleanly(|w| fixture(server, "getArtist.json").artist(w)).unwrap();
        assert_eq!(
            (artist.name.as_str(), albums.len()),
            ("Björk", 1),
            "{server}"
        );
        let page = cleanly(|w| fixture(server, "getAlbumList2.json").album_list(w));
        assert_eq!((page.length, page.albums.len()), (7, 7), "{server}");
        let (album, tracks) = album_of(server, "getAlbum.json");
        assert_eq!(
            (album.name.as_str(), tracks.len()),
            ("Homogenic", 3),
            "{server}"
        );
        assert_eq!(
            fixture(server, "getMusicFolders.json").music_folders(),
            1,
            "{server}"
        );
    }
}

#[test]
fn xml_gives_the_same_rows_as_json() {
    for server in [
        "beetstream-1.4.0",
        "maneki-0.29.0",
        "smolsonic-0.3.0",
        "supysonic-0.7.2",
        "supysonic-0.7.9",
    ] {
        assert_eq!(
            album_of(server, "getAlbum.xml"),
            album_of(server, "getAlbum.json"),
            "{server}"
        );
        assert_eq!(
            fixture(server, "ping.xml").standing,
            Standing::Good,
            "{server}"
        );
    }
}

/// A reply with one album that has the given songs.
fn album_with(songs: &str) -> (Option<(InstanceAlbum, Vec<InstanceTrack>)>, Vec<String>) {
    let body = format!(
        r#"{{"subsonic-response":{{"status":"ok","album":{{"id":7,"name":"X","song":{songs}}}}}}}"#
    );
    let mut warnings = Warnings::default();
    let album = parse::reply(body.as_bytes()).unwrap().album(&mut warnings);
    (album, warnings.into_vec())
}

fn song(fields: &str) -> InstanceTrack {
    let (album, warnings) = album_with(&format!("[{{\"id\":1,\"title\":\"T\",{fields}}}]"));
    assert!(warnings.is_empty(), "{warnings:?}");
    album.unwrap().1.remove(0)
}

#[test]
fn open_subsonic_fields_are_taken() {
    let track = song(
        r#""musicBrainzId":"8F6BD1E4-FBE1-4F50-AA9B-94C450EC0F11","isrc":["US-RC1-76-07839"],"samplingRate":96000,
        "bitDepth":24,"channelCount":2,"artists":[{"id":9,"name":"A"},{"id":10,"name":"B"}],"duration":13.25,
        "suffix":"OPUS","contentType":"audio/ogg","discNumber":0,"track":0,"year":0,"created":"1970-01-01T00:00:00Z""#,
    );
    let expected = InstanceTrack {
        remote_id: "1".into(),
        album_remote_id: "7".into(),
        title: "T".into(),
        artist_name: "A".into(),
        artist_remote_id: text("9"),
        disc_number: 1,
        duration_ms: Some(13_250),
        format: "opus".into(),
        suffix: "opus".into(),
        content_type: "audio/ogg".into(),
        musicbrainz_id: text("8f6bd1e4-fbe1-4f50-aa9b-94c450ec0f11"),
        isrc: text("USRC17607839"),
        sampling_rate: Some(96_000),
        bit_depth: Some(24),
        channel_count: Some(2),
        ..InstanceTrack::default()
    };
    assert_eq!(track, expected);
}

#[test]
fn formats_are_named_by_codec_where_it_is_told() {
    let cases = [
        (
            r#""suffix":"m4a","contentType":"audio/x-alac""#,
            ("alac", "m4a", "audio/x-alac"),
        ),
        (
            r#""suffix":"ogg","contentType":"audio/opus""#,
            ("opus", "ogg", "audio/opus"),
        ),
        (r#""suffix":"aif""#, ("aiff", "aif", "audio/aiff")),
        (
            r#""contentType":"audio/mpeg""#,
            ("mp3", "mp3", "audio/mpeg"),
        ),
        (r#""path":"a/b.Flac""#, ("flac", "flac", "audio/flac")),
        (
            r#""suffix":".mp3","contentType":"text/html""#,
            ("mp3", "mp3", "audio/mpeg"),
        ),
        (
            r#""suffix":"../../x""#,
            ("", "", "application/octet-stream"),
        ),
    ];
    for (fields, expected) in cases {
        let track = song(fields);
        let got = (
            track.format.as_str(),
            track.suffix.as_str(),
            track.content_type.as_str(),
        );
        assert_eq!(got, expected, "{fields}");
    }
}

#[test]
fn paths_that_lead_elsewhere_are_dropped() {
    for path in [
        "/music/a.mp3",
        "C:\\\\music\\\\a.mp3",
        "../a.mp3",
        "a/../../b.mp3",
        "\\\\\\\\host\\\\a.mp3",
    ] {
        assert_eq!(song(&format!("\"path\":\"{path}\"")).path, None, "{path}");
    }
    assert_eq!(song(r#""path":"A/B/c.mp3""#).path, text("A/B/c.mp3"));
}

#[test]
fn control_characters_are_taken_out_of_names() {
    let track = song("\"artist\":\"A\\u0008B <&\\\"'> \u{1f600}\"");
    assert_eq!(track.artist_name, "AB <&\"'> \u{1f600}");
}

#[test]
fn a_broken_row_costs_only_itself() {
    let songs = r#"[{"title":"no id"},null,7,{"id":"a","title":"A"},{"id":"b"},{"id":"c","path":"x/03 C.mp3"},
        {"id":"d","title":"folder","isDir":true},{"id":"e","title":"clip","isVideo":"true"}]"#;
    let (album, warnings) = album_with(songs);
    let (_, tracks) = album.unwrap();
    let got: Vec<_> = tracks
        .iter()
        .map(|t| (t.remote_id.as_str(), t.title.as_str()))
        .collect();
    assert_eq!(got, [("a", "A"), ("c", "03 C")]);
    let expected = [
        "Album 7: skipped a track without an id.",
        "Album 7: skipped a track without an id.",
        "Album 7: skipped a track without a title.",
    ];
    assert_eq!(warnings, expected);
}

#[test]
fn warnings_are_bounded() {
    let songs = vec!["{}"; WARNING_LIMIT + 5].join(",");
    let (_, warnings) = album_with(&format!("[{songs}]"));
    assert_eq!(warnings.len(), WARNING_LIMIT);
    assert_eq!(warnings.last().unwrap(), "6 more warnings");
}

#[test]
fn one_object_stands_for_a_list_of_one() {
    let (album, _) = album_with(r#"{"id":"a","title":"A"}"#);
    assert_eq!(album.unwrap().1.len(), 1);
    let (album, _) = album_with("null");
    assert_eq!(album.unwrap().1.len(), 0);
}

#[test]
fn a_failed_reply_says_why() {
    let cases = [
        (
            r#"{"subsonic-response":{"status":"failed","error":{"code":40,"message":"x"}}}"#,
            Refusal::Auth,
        ),
        (
            r#"{"subsonic-response":{"status":"failed","error":{"code":"70"}}}"#,
            Refusal::NotFound,
        ),
        (
            r#"{"subsonic-response":{"status":"failed"}}"#,
            Refusal::ErrorDocument(Some(EnvelopeCode::Generic)),
        ),
        (
            r#"<subsonic-response status="failed"><error code="44"/></subsonic-response>"#,
            Refusal::Auth,
        ),
        (r#"{"detail":"x"}"#, Refusal::ErrorDocument(None)),
        (
            "<!doctype html><html><body>Log in</body></html>",
            Refusal::ErrorDocument(None),
        ),
        ("Not found", Refusal::ErrorDocument(None)),
        ("", Refusal::Empty),
    ];
    for (body, expected) in cases {
        assert_eq!(
            parse::reply(body.as_bytes()).unwrap_err(),
            expected,
            "{body}"
        );
    }
}

/// Reads a body as every kind of reply.
fn read_as_everything(body: &[u8]) {
    if let Ok(envelope) = parse::envelope(body) {
        let mut warnings = Warnings::default();
        envelope.music_folders();
        envelope.artists(&mut warnings);
        envelope.artist(&mut warnings);
        envelope.album(&mut warnings);
        envelope.album_list(&mut warnings);
    }
}

/// Any JSON, with the names that the reader looks for.
fn json() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let name = prop::sample::select(vec![
        "id",
        "name",
        "title",
        "song",
        "album",
        "artist",
        "artists",
        "index",
        "albumList2",
        "bitRate",
        "duration",
        "size",
        "year",
        "created",
        "genres",
        "genre",
        "isrc",
        "path",
        "suffix",
        "contentType",
        "status",
        "value",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        "[0-9]{1,4}-[0-9]{2}-[0-9]{2}[T ][0-9:.+Z-]{0,20}".prop_map(Value::from),
        "[\\\\/.]{0,3}[a-z]{0,3}:?[./]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(name.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(body in prop::collection::vec(any::<u8>(), 0..400)) {
        read_as_everything(&body);
    }

    #[test]
    fn no_json_makes_the_reader_panic(content in json()) {
        let mut content = content;
        if let Some(fields) = content.as_object_mut() {
            fields.insert("status".to_owned(), "ok".into());
        }
        read_as_everything(serde_json::json!({ "subsonic-response": content }).to_string().as_bytes());
    }

    #[test]
    fn no_markup_makes_the_reader_panic(inner in "(</?[a-z]{1,6}( [a-z]{1,4}=[\"'][^<]{0,6}[\"'])?/?>|&[#a-z0-9]{0,5};|<!|[a-z\\]>]{0,3}){0,12}") {
        read_as_everything(inner.as_bytes());
        read_as_everything(format!("<subsonic-response status=\"ok\">{inner}</subsonic-response>").as_bytes());
    }

    /// A reply that is cut anywhere is refused or read, never a panic.
    #[test]
    fn no_cut_makes_the_reader_panic(at in 0_usize..2000, xml in any::<bool>()) {
        let file = if xml { "getAlbum.xml" } else { "getAlbum.json" };
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/subsonic/maneki-0.29.0");
        let body = std::fs::read(format!("{root}/{file}")).unwrap();
        let cut = &body[..at.min(body.len())];
        prop_assert!(cut.len() == body.len() || parse::envelope(cut).is_err());
    }
}
