//! The configured sources: what kind each is, its breaker's lane, and how to ask it for bytes.

use bytes::Bytes;
use segue_core::Wall;
use segue_core::breaker::{Bank, Lane, Policy};
use segue_core::catalog::model::{InstanceId, SourceKind};
use segue_core::driver::lock;
use segue_core::driver::open::OpenRequest;
use segue_core::source::folder;
use segue_core::source::range::ByteRange;
use segue_core::source::refusal::Refusal;
use segue_core::source::subsonic::{Auth, Endpoint};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A source as it is configured.
#[derive(Clone, Debug)]
pub struct SourceSpec {
    /// `[a-z0-9-]+`.
    pub id: InstanceId,
    /// Ranks before others at equal quality.
    pub local: bool,
    /// Streams at once at most; 0 means no limit.
    pub max_streams: u32,
    /// How it is reached.
    pub link: LinkSpec,
}

impl SourceSpec {
    /// Its kind.
    pub fn kind(&self) -> SourceKind {
        match self.link {
            LinkSpec::Subsonic { .. } => SourceKind::Subsonic,
            LinkSpec::Folder { .. } => SourceKind::Folder,
        }
    }
}

/// How a source is reached.
#[derive(Clone, Debug)]
pub enum LinkSpec {
    /// Over HTTP.
    Subsonic {
        /// Where, and as whom.
        endpoint: Endpoint,
        /// How to authenticate; `None` finds out.
        auth: Option<Auth>,
    },
    /// On this machine.
    Folder {
        /// The root that nothing is opened above.
        root: PathBuf,
    },
}

/// A source in use.
#[derive(Debug)]
pub struct Source {
    spec: SourceSpec,
    lane: Lane,
    /// What negotiation found; starts with the configured way.
    auth: Mutex<Option<Auth>>,
    /// The last thing that went wrong, for people.
    last_error: Mutex<Option<String>>,
    last_seen: Mutex<Option<Wall>>,
}

impl Source {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.spec.id
    }

    /// Whether it ranks before others at equal quality.
    pub fn is_local(&self) -> bool {
        self.spec.local
    }

    /// Its kind.
    pub fn kind(&self) -> SourceKind {
        self.spec.kind()
    }

    /// How it is reached.
    pub fn link(&self) -> &LinkSpec {
        &self.spec.link
    }

    /// Its breaker.
    pub fn lane(&self) -> Lane {
        self.lane
    }

    /// The way to authenticate that works, as far as it is known.
    pub fn auth(&self) -> Option<Auth> {
        *lock(&self.auth)
    }

    /// The way the operator fixed, if any.
    pub fn fixed_auth(&self) -> Option<Auth> {
        match self.spec.link {
            LinkSpec::Subsonic { auth, .. } => auth,
            LinkSpec::Folder { .. } => None,
        }
    }

    /// Remembers the way to authenticate that worked.
    pub fn set_auth(&self, auth: Auth) {
        *lock(&self.auth) = Some(auth);
    }

    /// Streams at once at most; 0 means no limit.
    pub fn max_streams(&self) -> u32 {
        self.spec.max_streams
    }

    /// The last thing that went wrong, for people.
    pub fn last_error(&self) -> Option<String> {
        lock(&self.last_error).clone()
    }

    /// Notes what went wrong last, or that all is well.
    pub fn note_error(&self, error: Option<String>) {
        *lock(&self.last_error) = error;
    }

    /// It served something good at `now`.
    pub fn note_success(&self, now: Wall) {
        *lock(&self.last_seen) = Some(now);
        *lock(&self.last_error) = None;
    }

    /// When it last served something good, since the hub began.
    pub fn last_seen(&self) -> Option<Wall> {
        *lock(&self.last_seen)
    }

    /// The request for a track's bytes. `query` is what the transcoding rule left (rule 4).
    pub fn track_request(
        &self,
        remote_id: &str,
        path: Option<&str>,
        download: bool,
        query: &[(String, String)],
        range: Option<ByteRange>,
    ) -> Result<OpenRequest, Refusal> {
        let mut request = match &self.spec.link {
            LinkSpec::Subsonic { endpoint, .. } => {
                let mut params = vec![("id", remote_id)];
                params.extend(query.iter().map(|(k, v)| (k.as_str(), v.as_str())));
                let method = if download { "download" } else { "stream" };
                endpoint.request(method, &params, self.auth_or_default(), &salt())?
            }
            LinkSpec::Folder { .. } => {
                let path = path.ok_or(Refusal::NotFound)?;
                local(folder::track_uri(&self.spec.id, path, query))?
            }
        };
        if let Some(range) = range {
            let value = http::HeaderValue::from_str(&range.to_string());
            let value = value.map_err(|_| Refusal::WrongRange)?;
            request.headers_mut().insert(http::header::RANGE, value);
        }
        Ok(OpenRequest { request, range })
    }

    /// The request for a picture, in full size.
    pub fn cover_request(&self, remote_id: &str) -> Result<OpenRequest, Refusal> {
        let request = match &self.spec.link {
            LinkSpec::Subsonic { endpoint, .. } => endpoint.request(
                "getCoverArt",
                &[("id", remote_id)],
                self.auth_or_default(),
                &salt(),
            )?,
            LinkSpec::Folder { .. } => local(folder::cover_uri(&self.spec.id, remote_id))?,
        };
        Ok(OpenRequest {
            request,
            range: None,
        })
    }

    /// Token authentication is what nearly every server takes, until a sync has found out better.
    pub fn auth_or_default(&self) -> Auth {
        self.auth().unwrap_or(Auth::Token)
    }
}

/// A request to a folder; a path that makes no URI names nothing.
fn local(uri: Result<http::Uri, folder::BadFolderUri>) -> Result<http::Request<Bytes>, Refusal> {
    let request = http::Request::get(uri.map_err(|_| Refusal::NotFound)?);
    request.body(Bytes::new()).map_err(|_| Refusal::NotFound)
}

/// All sources of a hub, by id.
#[derive(Debug, Default)]
pub struct Sources(BTreeMap<InstanceId, Arc<Source>>);

impl Sources {
    /// Registers a breaker for each source.
    pub fn new(specs: Vec<SourceSpec>, bank: &mut Bank, suspect: Duration) -> Self {
        let sources = specs.into_iter().zip(0..).map(|(spec, number)| {
            let lane = Lane(number);
            bank.register(lane, Policy::instance(suspect));
            let auth = match &spec.link {
                LinkSpec::Subsonic { auth, .. } => *auth,
                LinkSpec::Folder { .. } => None,
            };
            let source = Source {
                lane,
                auth: Mutex::new(auth),
                last_error: Mutex::default(),
                last_seen: Mutex::default(),
                spec,
            };
            (source.spec.id.clone(), Arc::new(source))
        });
        Sources(sources.collect())
    }

    /// The source of that id.
    pub fn get(&self, id: &str) -> Option<&Arc<Source>> {
        self.0.get(id)
    }

    /// All of them, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Source>> {
        self.0.values()
    }

    /// All but one.
    pub fn without(&self, id: &str) -> Self {
        let mut sources = self.0.clone();
        sources.remove(id);
        Sources(sources)
    }
}

/// A fresh salt for token authentication.
pub fn salt() -> String {
    let mut bytes = [0_u8; 8];
    // An operating system without entropy cannot serve TLS either; a constant salt still authenticates.
    if getrandom::fill(&mut bytes).is_err() {
        tracing::warn!("no entropy for a salt");
    }
    hex::encode(bytes)
}
