//! A hub over a database in memory, with a clock that only tests move.

use crate::library;
use crate::xml::assert_same;
use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use segue::hub::{Folders, Hub, HubParts, Passwords, Pictures, Settings};
use segue_core::catalog::model::Pass;
use segue_core::io::{Accepted, Clock, NetError, Network, NoShelf, Runtime, Store, StoreError};
use segue_core::time::{Tick, Wall};
use segue_sqlite::{Db, NewUser, Reader, Writer};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tower::ServiceExt;

/// The administrator of every world, and what goes before her parameters.
pub(crate) const ADMIN: &str = "u=admin&p=sesame&v=1.16.1&c=test";

/// A listener like any other, whose password is hard to carry.
pub(crate) const ALICE: &str = "u=alice&p=%40a%26b%23%25%2B%C3%A9&v=1.16.1&c=test";

/// Alice's API key.
pub(crate) const ALICES_KEY: &str = "key-of-alice";

/// When worlds begin: 2026-01-01T00:00:00Z.
pub(crate) const BEGINNING: Wall = Wall(1_767_225_600_000);

#[derive(Clone)]
pub(crate) struct TestClock(Arc<AtomicU64>);

impl Clock for TestClock {
    fn now(&self) -> Tick {
        Tick::from_millis(self.0.load(Ordering::Relaxed))
    }

    fn wall(&self) -> Wall {
        BEGINNING + Duration::from_millis(self.0.load(Ordering::Relaxed))
    }

    fn sleep_until(&self, _: Tick) -> impl Future<Output = ()> + Send + 'static {
        std::future::pending()
    }
}

#[derive(Clone)]
pub(crate) struct NoNetwork;

impl Network for NoNetwork {
    type Body =
        http_body_util::combinators::MapErr<Full<Bytes>, fn(std::convert::Infallible) -> NetError>;

    async fn send(
        &self,
        _: http::Request<Bytes>,
        _: Accepted,
    ) -> Result<http::Response<Self::Body>, NetError> {
        Err(NetError::Refused)
    }
}

#[derive(Clone)]
pub(crate) struct TestStore(Arc<Mutex<(Writer, Reader)>>);

impl Store for TestStore {
    type Reader = Reader;
    type Writer = Writer;

    async fn read<T, F>(&self, question: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
    {
        question(&self.0.lock().expect("no panic before").1)
    }

    async fn write<T, F>(&self, change: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Writer) -> Result<T, StoreError> + Send + 'static,
    {
        Ok(self.0.lock().expect("no panic before").0.alone(change)?)
    }
}

#[derive(Clone)]
pub(crate) struct TestRuntime {
    clock: TestClock,
    store: TestStore,
}

impl Runtime for TestRuntime {
    type Clock = TestClock;
    type Network = NoNetwork;
    type Store = TestStore;
    type Shelf = NoShelf;

    fn clock(&self) -> &TestClock {
        &self.clock
    }

    fn network(&self) -> &NoNetwork {
        &NoNetwork
    }

    fn store(&self) -> &TestStore {
        &self.store
    }

    fn shelf(&self) -> &NoShelf {
        &NoShelf
    }

    async fn compute<T, F>(&self, work: F) -> T
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        work()
    }
}

/// Passwords in clear text, and no folders or pictures.
struct Bare;

impl Passwords for Bare {
    fn open(&self, sealed: &[u8]) -> Option<String> {
        String::from_utf8(sealed.to_vec()).ok()
    }

    fn seal(&self, clear: &str) -> Result<Vec<u8>, String> {
        Ok(clear.as_bytes().to_vec())
    }
}

impl Folders for Bare {
    fn scan(&self, _: &Path, _: &Pass, _: &dyn Fn(usize)) -> Result<Pass, String> {
        Err("there are no folders here".into())
    }
}

impl Pictures for Bare {
    fn kept(&self, _: &str) -> Option<(Bytes, String)> {
        None
    }

    fn keep(&self, _: &str, _: &Bytes) {}

    fn media_type(&self, _: &Bytes) -> Option<String> {
        None
    }

    fn scale(&self, _: &Bytes, _: u32) -> Option<(Bytes, String)> {
        None
    }
}

/// A reply, read whole.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().expect("ASCII"))
    }

    /// The envelope of a JSON reply.
    pub(crate) fn envelope(&self) -> Value {
        let body: Value = serde_json::from_str(&self.body).expect("JSON");
        body["subsonic-response"].clone()
    }

    /// The error code of a failed JSON reply; 0 is a code, -1 is success.
    pub(crate) fn code(&self) -> i64 {
        let envelope = self.envelope();
        match envelope["status"].as_str() {
            Some("ok") => -1,
            Some("failed") => envelope["error"]["code"].as_i64().expect("a code"),
            other => panic!("status {other:?}"),
        }
    }
}

pub(crate) struct World {
    pub(crate) router: Router,
    pub(crate) hub: Hub<TestRuntime>,
    clock: TestClock,
}

impl World {
    /// The library of [`library`], two users, one API key.
    pub(crate) fn new() -> Self {
        let db = Db::open_in_memory().expect("a database");
        let writer = db.writer().expect("a writer");
        let fill = writer.alone(|w| {
            library::fill(w)?;
            for (name, password, is_admin) in
                [("admin", "sesame", true), ("alice", "@a&b#%+é", false)]
            {
                let user = NewUser {
                    name: name.into(),
                    password_enc: password.into(),
                    is_admin,
                };
                let id = w.add_user(&user, BEGINNING)?;
                if !is_admin {
                    let hash = Sha256::digest(ALICES_KEY).into();
                    w.add_api_key(id, &hash, "phone", BEGINNING)?;
                }
            }
            Ok::<_, StoreError>(())
        });
        fill.expect("a filled database");
        let reader = db.reader().expect("a reader");
        let clock = TestClock(Arc::default());
        let hub = Hub::new(HubParts {
            runtime: TestRuntime {
                clock: clock.clone(),
                store: TestStore(Arc::new(Mutex::new((writer, reader)))),
            },
            settings: Settings::default(),
            sources: Vec::new(),
            passwords: Arc::new(Bare),
            folders: Arc::new(Bare),
            pictures: Arc::new(Bare),
        });
        let router = Router::new()
            .nest("/rest", segue::rest::router())
            .with_state(hub.clone());
        World { router, hub, clock }
    }

    /// Lets time pass.
    pub(crate) fn wait(&self, by: Duration) {
        let ms = u64::try_from(by.as_millis()).expect("a short time");
        self.clock.0.fetch_add(ms, Ordering::Relaxed);
    }

    /// Sends any request.
    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        let response = self.router.clone().oneshot(request).await.expect("a reply");
        let (parts, body) = response.into_parts();
        let body = body.collect().await.expect("a body").to_bytes();
        Reply {
            status: parts.status,
            headers: parts.headers,
            body: String::from_utf8(body.to_vec()).expect("UTF-8"),
        }
    }

    /// A GET of what comes after `/rest/`.
    pub(crate) async fn get(&self, path_and_query: &str) -> Reply {
        let uri = format!("/rest/{path_and_query}");
        let request = Request::get(uri).body(Body::empty()).expect("a request");
        self.send(request).await
    }

    /// The same from an address.
    pub(crate) async fn get_from(&self, peer: [u8; 4], path_and_query: &str) -> Reply {
        let uri = format!("/rest/{path_and_query}");
        let request = Request::get(uri)
            .extension(SocketAddr::from((peer, 5000)))
            .body(Body::empty())
            .expect("a request");
        self.send(request).await
    }

    /// A POST of a form.
    pub(crate) async fn post(&self, path: &str, form: String) -> Reply {
        let request = Request::post(format!("/rest/{path}"))
            .header(
                "content-type",
                "application/x-www-form-urlencoded; charset=utf-8",
            )
            .body(Body::from(form))
            .expect("a request");
        self.send(request).await
    }

    /// What `user` gets from an endpoint: the payload, after XML and JSON were found to say the same.
    pub(crate) async fn ask_as(&self, user: &str, endpoint: &str, query: &str) -> Value {
        let xml = self.get(&format!("{endpoint}?{user}&{query}")).await;
        let json = self.get(&format!("{endpoint}?{user}&f=json&{query}")).await;
        assert_eq!(xml.header("content-type"), "text/xml; charset=utf-8");
        assert_eq!(json.header("content-type"), "application/json");
        assert_same(&xml.body, &json.body);
        let envelope = json.envelope();
        assert_eq!(envelope["status"], "ok", "{endpoint}?{query}: {envelope}");
        envelope
    }

    /// The same for the administrator.
    pub(crate) async fn ask(&self, endpoint: &str, query: &str) -> Value {
        self.ask_as(ADMIN, endpoint, query).await
    }

    /// The error code that `query` gets the administrator; -1 is success.
    pub(crate) async fn code(&self, endpoint: &str, query: &str) -> i64 {
        let reply = self
            .get(&format!("{endpoint}?{ADMIN}&f=json&{query}"))
            .await;
        assert_eq!(reply.status, StatusCode::OK);
        reply.code()
    }
}
