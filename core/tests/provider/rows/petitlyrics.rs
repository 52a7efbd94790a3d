//! PetitLyrics: in one reply, or in two when the text of the first is protected.

use super::{NotFound, Row, Shape, Side};
use crate::drive::{Sent, reply};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::Request;
use segue_core::dispatch::Quality;
use segue_core::lyrics::Song;
use segue_core::provider::petitlyrics::{PetitLyrics, Settings};
use segue_core::provider::{Lookup, MissReason};

const HOLLOW: &[&str] = &[
    "<response><status>00000000</status></response>",
    "<response><status>00000000</status><returnedCount>3</returnedCount><songs/></response>",
    "<response><status>90000001</status><returnedCount>0</returnedCount></response>",
    "<response/>",
];

pub(super) fn row() -> Row {
    Row {
        name: "petitlyrics",
        lookup,
        hit: |_| xml(&songs(&[song("8", WORDS.as_bytes())])),
        miss: |_| xml(&songs(&[])),
        quality: Quality::Word,
        reason: MissReason::NotFound,
        hollow: HOLLOW,
        most_requests: 1,
        not_found: NotFound::IsTrouble,
        shape: Shape::Document,
        side: Side::Server,
    }
}

/// The best text is protected; in the miss, so is the plain one.
pub(super) fn protected() -> Row {
    Row {
        name: "petitlyrics, protected",
        hit: |request| {
            let data: &[u8] = match is_for_plain(request) {
                true => b"Boats of paper\nlamps of tin",
                false => PROTECTED,
            };
            xml(&songs(&[song("8", data)]))
        },
        miss: |_| xml(&songs(&[song("8", PROTECTED)])),
        quality: Quality::Plain,
        reason: MissReason::Restricted,
        most_requests: 2,
        ..row()
    }
}

pub(crate) const PROTECTED: &[u8] = b"LSY\0\x01\x02\x03\x04\x05\x06\x07\x80\xff";

pub(crate) const WORDS: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><wsy><line><linestring>Boats of paper</linestring>\
    <word><starttime>1500</starttime><endtime>1900</endtime><wordstring>Boats</wordstring></word>\
    <word><starttime>2000</starttime><endtime>2200</endtime><wordstring>of</wordstring></word>\
    <word><starttime>2250</starttime><endtime>3250</endtime><wordstring>paper</wordstring></word></line></wsy>";

pub(crate) fn lookup(song: &Song) -> Box<dyn Lookup> {
    let settings = Settings {
        client_app_id: Some("p0".to_owned()),
        ..Settings::default()
    };
    PetitLyrics::new(settings).expect("configured").lookup(song)
}

pub(crate) fn xml(body: &str) -> Sent {
    Ok(reply(200, &[("content-type", "text/xml")], body.to_owned()))
}

/// Whether the plain tier of one song is asked for.
pub(crate) fn is_for_plain(request: &Request<Bytes>) -> bool {
    let form: Vec<(String, String)> = url::form_urlencoded::parse(request.body())
        .into_owned()
        .collect();
    let has = |key: &str, value: &str| form.iter().any(|(k, v)| k == key && v == value);
    has("lyricsType", "1") && has("key_lyricsId", "8")
}

pub(crate) fn songs(songs: &[String]) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<response><status>00000000</status><returnedCount>{}</returnedCount>\
         <songs>{}</songs></response>",
        songs.len(),
        songs.concat()
    )
}

pub(crate) fn song(id: &str, data: &[u8]) -> String {
    named(id, "Lantern Hill", "The Paper Boats", data)
}

pub(crate) fn named(id: &str, title: &str, artist: &str, data: &[u8]) -> String {
    format!(
        "<song><lyricsId>{id}</lyricsId><title>{title}</title><artist>{artist}</artist><album>Harbour Songs</album>\
         <duration>201000</duration><lyricsType>3</lyricsType><lyricsData>{}</lyricsData></song>",
        STANDARD.encode(data)
    )
}
