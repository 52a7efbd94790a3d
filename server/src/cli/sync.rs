//! `segue sync`.

use super::data::Claim;
use super::failure::Failure;
use super::{SyncArgs, running, show};
use crate::assemble::{Setup, assemble};
use crate::config::Config;
use crate::hub::Hub;
use crate::sync::{DropGuard, sync as sync_library};
use crate::world::World;
use futures_util::future::{Either, select};
use indicatif::{ProgressBar, ProgressStyle};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use segue_core::io::Clock;
use serde_json::Value;
use std::pin::pin;
use std::time::Duration;

const TICK: Duration = Duration::from_millis(120);

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
        Err(hub) => {
            let dir = &config.server.data_dir;
            running::post(dir, &hub, &target(&args), "segue sync").await?
        }
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

fn target(args: &SyncArgs) -> String {
    let mut target = format!("sync?allow_drop={}", args.allow_drop);
    if let Some(id) = &args.source {
        target += &format!("&source={}", utf8_percent_encode(id, NON_ALPHANUMERIC));
    }
    target
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
