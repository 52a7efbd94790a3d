//! `segue lyrics scan`: puts into the queue what lacks lyrics.

use super::data::People;
use super::failure::Failure;
use super::queue::{library, wake};
use super::{ScanArgs, show};
use crate::config::{Config, SourceConfig, SourceKey};
use segue_core::dispatch::Quality;
use segue_core::io::Clock;
use segue_core::queue::{Priority, Status, providers_version};
use segue_runtime_tokio::clock::TokioClock;
use segue_runtime_tokio::folder::RelativePath;
use segue_sqlite::{Enqueued, Scope, Standing};
use serde::Serialize;
use std::path::Path;

/// Tracks in one transaction.
const STEP: usize = 500;

/// What a scan came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
struct Report {
    /// Tracks looked at.
    tracks: u64,
    /// Of those, with words.
    with_lyrics: u64,
    /// Not in the queue before.
    new: u64,
    /// In the queue already, or answered with nothing.
    waiting: u64,
    /// Without artist or title.
    refused: u64,
    /// For which something better is looked for.
    upgrades: u64,
}

pub(super) async fn scan(args: ScanArgs) -> Result<(), Failure> {
    let config = args.common.load(None)?.config;
    let dir = library(&args.common)?;
    let scope = match &args.scope {
        Some(text) => scope(&config, text)?,
        None => Scope::All,
    };
    let people = People::open(&dir)?;
    let report = walk(&people, &config, &args, scope).await;
    people.close().await;
    let report = report?;
    match args.json {
        true => show::json(&report)?,
        false => tell(&report, args.dry_run),
    }
    match report.new + report.upgrades > 0 && !args.dry_run {
        true => wake(&dir).await,
        false => Ok(()),
    }
}

async fn walk(
    people: &People,
    config: &Config,
    args: &ScanArgs,
    scope: Scope,
) -> Result<Report, Failure> {
    let sidecars = sidecars(config);
    let version = providers_version(&config.providers.lanes());
    let now = TokioClock::new().wall();
    let (mut report, mut after) = (Report::default(), 0);
    loop {
        let of = scope.clone();
        let page = people.read(move |r| r.standings(&of, after, STEP)).await?;
        let Some(last) = page.last() else {
            return Ok(report);
        };
        after = last.seq;
        count(&mut report, &page, args.upgrade);
        if args.dry_run {
            continue;
        }
        let (sidecars, upgrade) = (sidecars.clone(), args.upgrade);
        let refused = people
            .write(move |w| {
                let mut refused = 0;
                for track in &page {
                    let request =
                        w.reader()
                            .request_for(&track.track_id, &sidecars, Priority::SCAN)?;
                    let Some(request) = request else {
                        continue;
                    };
                    if let Enqueued::Refused(_) = w.enqueue(&request, version, now)? {
                        refused += 1;
                    }
                    if let (true, Some((work_id, _))) =
                        (upgrade && is_improvable(track), track.work)
                    {
                        w.upgrade_soon(work_id, now)?;
                    }
                }
                Ok(refused)
            })
            .await?;
        report.refused += refused;
        report.new = report.new.saturating_sub(refused);
    }
}

fn count(report: &mut Report, page: &[Standing], upgrade: bool) {
    for track in page {
        report.tracks += 1;
        match (track.quality, &track.work) {
            (Quality::None, None) => report.new += 1,
            (Quality::None, Some(_)) => report.waiting += 1,
            (Quality::Instrumental | Quality::Plain | Quality::Line | Quality::Word, _) => {
                report.with_lyrics += 1;
            }
        }
        report.upgrades += u64::from(upgrade && is_improvable(track));
    }
}

fn is_improvable(track: &Standing) -> bool {
    let is_less = matches!(track.quality, Quality::Plain | Quality::Line);
    is_less && matches!(track.work, Some((_, Status::Done)))
}

/// A source by its id, or what lies below a path.
fn scope(config: &Config, text: &str) -> Result<Scope, Failure> {
    if config.sources.iter().any(|source| source.id == text) {
        return Ok(Scope::Source(text.to_owned()));
    }
    let path = Path::new(text).canonicalize().map_err(|error| {
        Failure::new(format!(
            "`{text}` is no source, and no path: {}",
            crate::config::reason(&error)
        ))
    })?;
    let below = |source: &SourceConfig| {
        let SourceKey::Folder { path: root, .. } = &source.key else {
            return None;
        };
        let rest = path.strip_prefix(root.canonicalize().ok()?).ok()?;
        let path = RelativePath::from_path(rest).to_text();
        Some((source.id.clone(), path))
    };
    // Of folders within folders the innermost.
    let found = config.sources.iter().filter_map(below);
    match found.min_by_key(|(_, path)| path.len()) {
        Some((id, path)) if path.is_empty() => Ok(Scope::Source(id)),
        Some((instance_id, path)) => Ok(Scope::Below { instance_id, path }),
        None => Err(Failure::new(format!(
            "`{text}` lies in none of the music folders"
        ))),
    }
}

/// The folders beside whose files lyrics are written.
fn sidecars(config: &Config) -> Vec<String> {
    let writable = config.sources.iter().filter(|source| match &source.key {
        SourceKey::Folder { write_sidecars, .. } => *write_sidecars,
        SourceKey::Subsonic { .. } => false,
    });
    writable.map(|source| source.id.clone()).collect()
}

fn tell(report: &Report, dry_run: bool) {
    let would = if dry_run { "would be" } else { "will be" };
    println!(
        "{}: {} with lyrics, {} in the queue already",
        show::count(report.tracks, "track"),
        report.with_lyrics,
        report.waiting
    );
    println!("{} {would} looked up", show::count(report.new, "song"));
    if report.upgrades > 0 {
        println!(
            "{} {would} looked up for better lyrics",
            show::count(report.upgrades, "song")
        );
    }
    if report.refused > 0 {
        println!(
            "{} without artist or title: `segue queue list --status refused`",
            show::count(report.refused, "track")
        );
    }
}
