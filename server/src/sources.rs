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
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A source as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
        /// Whether lyrics may be written beside the music.
        write_sidecars: bool,
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
    /// Streams being opened there.
    opening: AtomicU32,
}

impl Source {
    fn new(spec: SourceSpec, lane: Lane) -> Self {
        let auth = match &spec.link {
            LinkSpec::Subsonic { auth, .. } => *auth,
            LinkSpec::Folder { .. } => None,
        };
        Source {
            spec,
            lane,
            auth: Mutex::new(auth),
            last_error: Mutex::default(),
            last_seen: Mutex::default(),
            opening: AtomicU32::new(0),
        }
    }

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

    /// Room for one more stream; `None` when it serves as many as it may. `playing` counts those that are past
    /// their opening.
    pub fn take_room(self: &Arc<Self>, playing: impl Fn() -> usize) -> Option<Room> {
        let most = self.spec.max_streams as usize;
        // Counted anew for each try: one that stopped opening meanwhile may be playing now.
        let one_more = |opening: u32| {
            let is_free = most == 0 || playing() + (opening as usize) < most;
            is_free.then_some(opening + 1)
        };
        let order = Ordering::AcqRel;
        let taken = self
            .opening
            .fetch_update(order, Ordering::Acquire, one_more);
        taken.is_ok().then(|| Room(Arc::clone(self)))
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

/// Room for a stream at a source while it is being opened; given back when dropped.
#[derive(Debug)]
#[must_use = "room that is dropped is given back"]
pub struct Room(Arc<Source>);

impl Drop for Room {
    fn drop(&mut self) {
        self.0.opening.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A request to a folder; a path that makes no URI names nothing.
fn local(uri: Result<http::Uri, folder::BadFolderUri>) -> Result<http::Request<Bytes>, Refusal> {
    let request = http::Request::get(uri.map_err(|_| Refusal::NotFound)?);
    request.body(Bytes::new()).map_err(|_| Refusal::NotFound)
}

/// All sources of a hub, by id.
#[derive(Debug, Default)]
pub struct Sources {
    by_id: BTreeMap<InstanceId, Arc<Source>>,
    /// Lanes are never used twice: what a late stream of a removed source says must not meet another's breaker.
    next_lane: u32,
}

impl Sources {
    /// Registers a breaker for each source.
    pub fn new(specs: Vec<SourceSpec>, bank: &mut Bank, suspect: Duration) -> Self {
        Sources::default().updated(specs, bank, suspect)
    }

    /// The sources of a new configuration. One that is configured as before goes on as it is; others start afresh.
    pub fn updated(&self, specs: Vec<SourceSpec>, bank: &mut Bank, suspect: Duration) -> Self {
        let mut next_lane = self.next_lane;
        let sources = specs.into_iter().map(|spec| {
            let same = self.get(&spec.id).filter(|known| known.spec == spec);
            let source = same.map(Arc::clone).unwrap_or_else(|| {
                let lane = Lane(next_lane);
                next_lane += 1;
                bank.register(lane, Policy::instance(suspect));
                Arc::new(Source::new(spec, lane))
            });
            (source.spec.id.clone(), source)
        });
        Sources {
            by_id: sources.collect(),
            next_lane,
        }
    }

    /// The source of that id.
    pub fn get(&self, id: &str) -> Option<&Arc<Source>> {
        self.by_id.get(id)
    }

    /// All of them, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Source>> {
        self.by_id.values()
    }

    /// All but one.
    pub fn without(&self, id: &str) -> Self {
        let mut by_id = self.by_id.clone();
        by_id.remove(id);
        Sources {
            by_id,
            next_lane: self.next_lane,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(id: &str, root: &str) -> SourceSpec {
        SourceSpec {
            id: id.to_owned(),
            local: true,
            max_streams: 0,
            link: LinkSpec::Folder {
                root: root.into(),
                write_sidecars: false,
            },
        }
    }

    #[test]
    fn a_new_configuration_keeps_what_is_unchanged_and_reuses_no_lane() {
        let (mut bank, suspect) = (Bank::new(), Duration::from_secs(60));
        let old = vec![folder("a", "/a"), folder("b", "/b"), folder("c", "/c")];
        let old = Sources::new(old, &mut bank, suspect);
        let new = vec![folder("a", "/a"), folder("b", "/elsewhere")];
        let new = old.updated(new, &mut bank, suspect);
        let kept = new.get("a").expect("kept");
        assert!(Arc::ptr_eq(kept, old.get("a").expect("there")));
        let changed = new.get("b").expect("changed");
        assert_eq!(changed.lane(), Lane(3));
        assert!(new.get("c").is_none());
        let again = new
            .without("b")
            .updated(vec![folder("b", "/b")], &mut bank, suspect);
        assert_eq!(again.get("b").map(|source| source.lane()), Some(Lane(4)));
    }
}
