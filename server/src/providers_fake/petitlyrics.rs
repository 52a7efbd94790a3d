//! PetitLyrics' XML interface.

use super::script::{Script, Seen, spoilt};
use super::{Tune, WORD_MS, Words, paced};
use axum::Router;
use axum::body::Body;
use axum::extract::{RawForm, State};
use axum::http::{HeaderMap, Method, Response, Uri};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use segue_core::catalog::normalise::fold;
use std::fmt::Write as _;
use std::sync::Arc;

/// What the protected tier looks like from outside.
const PROTECTED: &[u8] = b"LSY\0\x01\x02\x03\x04\x05\x06\x07\x80\xff";

/// The fake. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Fake(Arc<Inside>);

#[derive(Debug)]
struct Inside {
    client_app_id: String,
    tunes: Vec<Tune>,
    script: Script,
}

impl Fake {
    /// Answers to `client_app_id` alone, and has `tunes`. Songs whose title begins like the one that is asked for
    /// come along, whoever sings them.
    #[must_use]
    pub fn new(client_app_id: &str, tunes: Vec<Tune>) -> Self {
        Fake(Arc::new(Inside {
            client_app_id: client_app_id.to_owned(),
            tunes,
            script: Script::default(),
        }))
    }

    /// Its switches and its memory.
    #[must_use]
    pub fn script(&self) -> &Script {
        &self.0.script
    }

    /// What serves it.
    pub fn router(&self) -> Router {
        Router::new().fallback(answer).with_state(self.clone())
    }

    fn right(&self, seen: &Seen) -> String {
        if seen.param("clientAppId") != self.0.client_app_id {
            return "<response><status>90000001</status><returnedCount>0</returnedCount></response>"
                .to_owned();
        }
        let id: Option<usize> = seen.param("key_lyricsId").parse().ok();
        let title = fold(seen.param("key_title"));
        let is_meant = |index: usize, tune: &Tune| match id {
            Some(id) => id == index + 1,
            None => !title.is_empty() && fold(&tune.title).starts_with(&title),
        };
        let wants_plain = seen.param("lyricsType") == "1";
        let tunes = self.0.tunes.iter().enumerate();
        let songs: Vec<String> = tunes
            .filter(|(index, tune)| is_meant(*index, tune))
            .map(|(index, tune)| song(index + 1, tune, seen.param("lyricsType"), wants_plain))
            .collect();
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<response><status>00000000</status>\
             <returnedCount>{}</returnedCount><songs>{}</songs></response>",
            songs.len(),
            songs.concat()
        )
    }
}

async fn answer(
    State(fake): State<Fake>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    RawForm(form): RawForm,
) -> Response<Body> {
    let seen = Seen {
        method,
        path: uri.path().to_owned(),
        params: url::form_urlencoded::parse(&form).into_owned().collect(),
        headers,
    };
    let right = fake.right(&seen);
    let fault = fake.script().record(seen);
    spoilt(right, "text/xml", fault).await
}

/// The best tier there is, whatever is asked for: only the protected one has the plain one in its place.
fn song(id: usize, tune: &Tune, asked: &str, wants_plain: bool) -> String {
    let data = match &tune.words {
        Words::ByWord(lines) => STANDARD.encode(wsy(lines)),
        Words::ByLine(lines) => {
            let stamped = lines.iter().map(|(start, text)| {
                let (minutes, seconds) = (start / 60_000, start / 1000 % 60);
                format!(
                    "[{minutes:02}:{seconds:02}.{:02}]{text}\r\n",
                    start / 10 % 100
                )
            });
            STANDARD.encode(stamped.collect::<String>())
        }
        Words::Plain(text) => STANDARD.encode(text),
        Words::Protected(Some(text)) if wants_plain => STANDARD.encode(text),
        Words::Protected(_) => STANDARD.encode(PROTECTED),
        Words::Instrumental | Words::Restricted | Words::Nothing => String::new(),
    };
    format!(
        "<song><lyricsId>{id}</lyricsId><title>{}</title><artist>{}</artist><album></album>\
         <duration>{}</duration><lyricsType>{asked}</lyricsType><lyricsData>{data}</lyricsData></song>",
        escaped(&tune.title),
        escaped(&tune.artist),
        u64::from(tune.seconds) * 1000,
    )
}

fn wsy(lines: &[(u64, String)]) -> String {
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<wsy>".to_owned();
    for (start, text) in lines {
        let _ = write!(xml, "<line><linestring>{}</linestring>", escaped(text));
        for (at, word) in paced(text) {
            let (from, to) = (start + at, start + at + WORD_MS - 50);
            let _ = write!(
                xml,
                "<word><starttime>{from}</starttime><endtime>{to}</endtime><wordstring>{}</wordstring></word>",
                escaped(word)
            );
        }
        xml += "</line>";
    }
    xml + "</wsy>"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
