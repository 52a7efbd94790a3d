//! A hub that runs beside a command: asked over HTTP, with a key that lives no longer than the question.

use super::data::{People, Running};
use super::failure::Failure;
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use segue_core::io::{Accepted, Clock, Network};
use segue_runtime_tokio::clock::TokioClock;
use segue_runtime_tokio::net::TokioNetwork;
use segue_runtime_tokio::secrets;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::Path;

/// More than a report of very many sources.
const ANSWER_LIMIT: usize = 16 * 1024 * 1024;

/// Posts to `/api/v1/{path}` of the hub that runs on a data directory, as its administrator. `why` names the key.
pub(super) async fn post(
    data_dir: &Path,
    running: &Running,
    path: &str,
    why: &str,
) -> Result<Value, Failure> {
    let Some(url) = &running.url else {
        let what = format!(
            "the hub of process {} is starting; try again in a moment",
            running.pid
        );
        return Err(Failure::new(what));
    };
    let people = People::open(data_dir)?;
    let admin = people
        .read(|r| Ok(r.users()?.into_iter().find(|user| user.is_admin)))
        .await?;
    let admin = admin.ok_or_else(|| Failure::new("the running hub has no administrator"))?;
    let key = secrets::random_token()?;
    let hash: [u8; 32] = Sha256::digest(key.as_bytes()).into();
    let (now, why) = (TokioClock::new().wall(), why.to_owned());
    let key_id = people
        .write(move |w| w.add_api_key(admin.id, &hash, &why, now))
        .await?;
    let answer = ask(&format!("{url}/api/v1/{path}"), &key).await;
    people
        .write(move |w| w.remove_api_key(admin.id, key_id))
        .await?;
    people.close().await;
    answer
}

async fn ask(target: &str, key: &str) -> Result<Value, Failure> {
    let request = http::Request::post(target)
        .header(http::header::AUTHORIZATION, format!("Bearer {key}"))
        .body(Bytes::new())
        .map_err(|error| Failure::new(error.to_string()))?;
    let failed = |what: String| Failure::new(format!("the running hub could not be asked: {what}"));
    let network = TokioNetwork::new();
    let answer = network
        .send(request, Accepted::default())
        .await
        .map_err(|error| failed(error.to_string()))?;
    let status = answer.status();
    let body = Limited::new(answer.into_body(), ANSWER_LIMIT)
        .collect()
        .await;
    let body = body.map_err(|error| failed(error.to_string()))?.to_bytes();
    let report: Value = serde_json::from_slice(&body).map_err(|error| failed(error.to_string()))?;
    match (status.is_success(), report["error"].as_str()) {
        (true, _) => Ok(report),
        (false, Some(error)) => Err(failed(error.to_owned())),
        (false, None) => Err(failed(status.to_string())),
    }
}
