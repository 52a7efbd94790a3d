//! A client of a hub that may be killed at any moment.

use crate::program::{AUTH, Victim};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use segue_core::io::{Accepted, NetError, Network};
use segue_runtime_tokio::net::{Body, TokioNetwork};
use serde_json::Value;

/// The hub was killed in the middle of this.
#[derive(Debug)]
pub(crate) struct Gone;

/// Asks one hub.
pub(crate) struct Client<'v> {
    pub(crate) victim: &'v Victim,
    url: String,
    network: TokioNetwork,
}

impl<'v> Client<'v> {
    pub(crate) fn new(victim: &'v Victim, url: String) -> Self {
        Client {
            victim,
            url,
            network: TokioNetwork::new(),
        }
    }

    /// What an exchange that failed means: the end of the hub, or of the test.
    pub(crate) fn gone(&self, error: NetError) -> Gone {
        assert!(self.victim.is_killed(), "from a hub that lives: {error}");
        Gone
    }

    /// The head and the body to be read.
    pub(crate) async fn open(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
    ) -> Result<Response<Body>, Gone> {
        let request = Request::builder().method(method);
        let mut request = request.uri(format!("{}{target}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Bytes::new()).expect("a request");
        let sent = self.network.send(request, Accepted::default()).await;
        sent.map_err(|error| self.gone(error))
    }

    async fn json(&self, method: &str, target: &str) -> Result<Value, Gone> {
        // ann:sesame
        let auth = [("authorization", "Basic YW5uOnNlc2FtZQ==")];
        let reply = self.open(method, target, &auth).await?;
        let status = reply.status();
        let body = reply.into_body().collect().await;
        let body = body.map_err(|error| self.gone(error))?.to_bytes();
        assert_eq!(status, 200, "{target}: {}", String::from_utf8_lossy(&body));
        Ok(serde_json::from_slice(&body).expect("JSON"))
    }

    /// The inside of a good envelope.
    pub(crate) async fn rest(&self, endpoint: &str, params: &str) -> Result<Value, Gone> {
        let target = format!("/rest/{endpoint}?{AUTH}&f=json&{params}");
        let mut reply = self.json("GET", &target).await?;
        let envelope = reply["subsonic-response"].take();
        assert_eq!(envelope["status"], "ok", "{endpoint} {params}: {envelope}");
        Ok(envelope)
    }

    /// What `/api/v1` says.
    pub(crate) async fn api(&self, method: &str, path: &str) -> Result<Value, Gone> {
        self.json(method, &format!("/api/v1/{path}")).await
    }

    /// All songs with what listeners say of them.
    pub(crate) async fn songs(&self) -> Result<Vec<Value>, Gone> {
        let mut all = Vec::new();
        loop {
            let page = format!("query=&songCount=500&songOffset={}", all.len());
            let found = self.rest("search3", &page).await?;
            match found["searchResult3"]["song"].as_array() {
                Some(songs) if !songs.is_empty() => all.extend(songs.iter().cloned()),
                Some(_) | None => return Ok(all),
            }
        }
    }
}
