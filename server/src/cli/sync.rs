//! `segue sync`.

use super::data::{Claim, People, Running};
use super::failure::Failure;
use super::{SyncArgs, show};
use crate::assemble::{Setup, assemble};
use crate::config::Config;
use crate::hub::Hub;
use crate::sync::{DropGuard, sync as sync_library};
use crate::world::World;
use bytes::Bytes;
use futures_util::future::{Either, select};
use http_body_util::{BodyExt, Limited};
use indicatif::{ProgressBar, ProgressStyle};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use segue_core::io::{Accepted, Clock, Network};
use segue_runtime_tokio::clock::TokioClock;
use segue_runtime_tokio::net::TokioNetwork;
use segue_runtime_tokio::secrets;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::pin::pin;
use std::time::Duration;

const TICK: Duration = Duration::from_millis(120);
/// More than a report of very many sources.
const REPORT_LIMIT: usize = 16 * 1024 * 1024;

pub(super) async fn sync(args: SyncArgs) -> Result<(), Failure> {
    let config = args.common.load(None)?.config;
    if let Some(id) = &args.source
        && config.sources.iter().all(|source| source.id != *id)
    {
        return Err(Failure::new(format!(
            "there is no source `{id}`; `segue source list` shows what there is"
        )));
    }
    let report = match Claim::take(&config.server.data_dir)? {
        Ok(_claim) => here(&config, &args).await?,
        Err(running) => there(&config, &args, running).await?,
    };
    let failed = report["sources"]
        .as_array()
        .is_some_and(|sources| sources.iter().any(|source| !source["error"].is_null()));
    match args.json {
        true => show::json(&report)?,
        false => tell(&report),
    }
    match failed {
        true => Err(Failure::told()),
        false => Ok(()),
    }
}

/// Nobody runs a hub: synchronises in this process.
async fn here(config: &Config, args: &SyncArgs) -> Result<Value, Failure> {
    let hub = assemble(Setup {
        data_dir: config.server.data_dir.clone(),
        sources: config.source_specs()?,
        settings: config.settings(false),
    })
    .await?;
    let guard = match args.allow_drop {
        true => DropGuard::Allow,
        false => DropGuard::Refuse,
    };
    let report = watched(&hub, sync_library(hub.clone(), args.source.clone(), guard)).await?;
    hub.runtime().close().await;
    serde_json::to_value(report).map_err(|error| Failure::new(error.to_string()))
}

/// Shows how far a sync is, on a terminal.
async fn watched<T>(hub: &Hub<World>, sync: impl Future<Output = T>) -> T {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    let clock = hub.clock();
    let mut sync = pin!(sync);
    loop {
        let tick = pin!(clock.sleep_until(clock.now() + TICK));
        match select(sync.as_mut(), tick).await {
            Either::Left((done, _)) => {
                bar.finish_and_clear();
                return done;
            }
            Either::Right(((), _)) => {
                let seen = hub.sync_state().status().seen;
                bar.set_message(format!("{} read", show::count(seen, "track")));
                bar.tick();
            }
        }
    }
}

/// A hub runs: asks it, with a key that lives no longer than the question.
async fn there(config: &Config, args: &SyncArgs, running: Running) -> Result<Value, Failure> {
    let Some(url) = running.url else {
        let what = format!(
            "the hub of process {} is starting; try again in a moment",
            running.pid
        );
        return Err(Failure::new(what));
    };
    let people = People::open(&config.server.data_dir)?;
    let admin = people
        .read(|r| Ok(r.users()?.into_iter().find(|user| user.is_admin)))
        .await?;
    let admin = admin.ok_or_else(|| Failure::new("the running hub has no administrator"))?;
    let key = secrets::random_token()?;
    let hash: [u8; 32] = Sha256::digest(key.as_bytes()).into();
    let now = TokioClock::new().wall();
    let key_id = people
        .write(move |w| w.add_api_key(admin.id, &hash, "segue sync", now))
        .await?;
    let answer = ask(&target(&url, args), &key).await;
    people
        .write(move |w| w.remove_api_key(admin.id, key_id))
        .await?;
    people.close().await;
    answer
}

fn target(url: &str, args: &SyncArgs) -> String {
    let mut target = format!("{url}/api/v1/sync?allow_drop={}", args.allow_drop);
    if let Some(id) = &args.source {
        target += &format!("&source={}", utf8_percent_encode(id, NON_ALPHANUMERIC));
    }
    target
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
    let body = Limited::new(answer.into_body(), REPORT_LIMIT)
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

fn tell(report: &Value) {
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let empty = Vec::new();
    for source in report["sources"].as_array().unwrap_or(&empty) {
        let id = source["id"].as_str().unwrap_or("");
        if let Some(error) = source["error"].as_str() {
            println!("{id}: {error}");
            continue;
        }
        let counts = [
            ("artists", "artist"),
            ("albums", "album"),
            ("tracks", "track"),
        ];
        let counts = counts.map(|(key, noun)| show::count(number(&source[key]), noun));
        let (added, updated, removed) = (
            number(&source["added"]),
            number(&source["updated"]),
            number(&source["removed"]),
        );
        println!(
            "{id}: {}; {added} rows new, {updated} changed, {removed} gone",
            counts.join(", ")
        );
        for warning in source["warnings"].as_array().unwrap_or(&empty) {
            println!("  {}", warning.as_str().unwrap_or(""));
        }
    }
    for skipped in report["skipped"].as_array().unwrap_or(&empty) {
        println!("left out: {}", skipped.as_str().unwrap_or(""));
    }
    println!(
        "The library has {}.",
        show::count(number(&report["tracks"]), "track")
    );
}
