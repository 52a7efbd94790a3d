//! `segue source add`, `list` and `remove`.

use super::data::{Claim, People, has_library};
use super::failure::Failure;
use super::{AddSource, Common, prompt, show};
use crate::assemble::{Setup, assemble};
use crate::config::edit::{self, NewSource};
use crate::config::{Config, Layers, SourceConfig, SourceKey};
use crate::sync::{SyncReport, merge_library};
use segue_sqlite::InstanceRow;
use serde_json::json;
use std::path::{Path, PathBuf, absolute};

pub(super) fn add(args: AddSource) -> Result<(), Failure> {
    let source = written(&args)?;
    let before = edit::read(&args.config)?;
    let after = edit::with_source(&before, &source, &args.config)?;
    // The file must load with it: what is wrong is told before anything is written.
    let layers = Layers {
        file: Some(args.config.clone()),
        ..Layers::default()
    };
    let loaded = layers.load_text(&after, &|path| std::fs::read_to_string(path))?;
    for warning in &loaded.warnings {
        eprintln!("warning: {warning}");
    }
    edit::write(&args.config, &after)?;
    println!("Added `{}` to {}.", args.id, args.config.display());
    println!(
        "`segue source test {}` tries it. A hub that runs takes it up on `kill -HUP`, or after its next start.",
        args.id
    );
    Ok(())
}

fn written(args: &AddSource) -> Result<NewSource, Failure> {
    let source = match (&args.path, &args.url) {
        (Some(path), _) => NewSource::new(&args.id, "folder").text("path", &whole(path)?),
        (None, Some(url)) => server(args, url)?,
        (None, None) => {
            return Err(Failure::new(
                "name a server with --url or a folder with --path",
            ));
        }
    };
    Ok(match args.local {
        Some(local) => source.flag("local", local),
        None => source,
    })
}

fn server(args: &AddSource, url: &str) -> Result<NewSource, Failure> {
    let source = NewSource::new(&args.id, "subsonic").text("url", url);
    let source = match (&args.username, &args.password_file, &args.api_key_file) {
        (Some(name), Some(file), _) => source
            .text("username", name)
            .text("password_file", &whole(file)?),
        (Some(name), None, _) => source
            .text("username", name)
            .text("password", &prompt::password(name)?),
        (None, _, Some(file)) => source.text("api_key_file", &whole(file)?),
        (None, _, None) => {
            return Err(Failure::new("a server needs --username, or --api-key-file"));
        }
    };
    Ok(match &args.auth {
        Some(auth) => source.text("auth", auth),
        None => source,
    })
}

/// A path that means the same wherever the hub is started.
fn whole(path: &Path) -> Result<String, Failure> {
    let path =
        absolute(path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    let text = path.into_os_string().into_string();
    text.map_err(|path| {
        Failure::new(format!(
            "{}: a path in the file must be UTF-8",
            PathBuf::from(path).display()
        ))
    })
}

pub(super) async fn list(json: bool, common: Common) -> Result<(), Failure> {
    let config = common.load(None)?.config;
    let rows = rows(&config).await?;
    let row = |id: &str| rows.iter().find(|row| row.id == id);
    if json {
        let sources = config
            .sources
            .iter()
            .map(|source| shown(source, row(&source.id)));
        return show::json(&sources.collect::<Vec<_>>());
    }
    if config.sources.is_empty() {
        println!("There are no sources yet. `segue source add --help` shows how to add one.");
    } else {
        let mut table = vec![
            ["ID", "KIND", "WHERE", "TRACKS", "STATE"]
                .map(str::to_owned)
                .to_vec(),
        ];
        table.extend(config.sources.iter().map(|source| {
            let row = row(&source.id);
            let tracks = row.map_or("-".to_owned(), |row| row.track_count.to_string());
            vec![
                source.id.clone(),
                source.kind().as_str().to_owned(),
                place(source),
                tracks,
                state(row),
            ]
        }));
        show::table(&table);
    }
    for row in rows
        .iter()
        .filter(|row| config.sources.iter().all(|source| source.id != row.id))
    {
        let tracks = show::count(row.track_count, "track");
        println!(
            "`{}` is in the library with {tracks}, but not in the configuration; `segue source remove {}` forgets it.",
            row.id, row.id
        );
    }
    Ok(())
}

fn state(row: Option<&InstanceRow>) -> String {
    match row {
        None => "never synchronised".to_owned(),
        Some(InstanceRow {
            last_error: Some(error),
            ..
        }) => error.clone(),
        Some(InstanceRow {
            last_sync: Some(at),
            ..
        }) => format!("synchronised {at}"),
        Some(_) => "never synchronised".to_owned(),
    }
}

fn shown(source: &SourceConfig, row: Option<&InstanceRow>) -> serde_json::Value {
    json!({
        "id": source.id,
        "kind": source.kind().as_str(),
        "where": place(source),
        "local": source.local,
        "tracks": row.map(|row| row.track_count),
        "last_seen": row.and_then(|row| row.last_seen).map(|at| at.to_string()),
        "last_sync": row.and_then(|row| row.last_sync).map(|at| at.to_string()),
        "last_error": row.and_then(|row| row.last_error.clone()),
    })
}

fn place(source: &SourceConfig) -> String {
    match &source.key {
        SourceKey::Subsonic { url, .. } => url.to_string(),
        SourceKey::Folder { path, .. } => path.display().to_string(),
    }
}

/// What the library knows of its sources; nothing is made when there is no library.
async fn rows(config: &Config) -> Result<Vec<InstanceRow>, Failure> {
    if !has_library(&config.server.data_dir) {
        return Ok(Vec::new());
    }
    let people = People::open(&config.server.data_dir)?;
    let rows = people.read(|r| r.instances()).await?;
    people.close().await;
    Ok(rows)
}

pub(super) async fn remove(id: String, common: Common) -> Result<(), Failure> {
    let config = common.load(None)?.config;
    let in_library = rows(&config).await?.into_iter().find(|row| row.id == id);
    let in_file = match common.file() {
        None => false,
        Some(file) => {
            let text = edit::read(&file)?;
            match edit::without_source(&text, &id, &file) {
                Ok(text) => {
                    edit::write(&file, &text)?;
                    println!("Took `{id}` out of {}.", file.display());
                    true
                }
                Err(edit::EditError::Missing(..)) => false,
                Err(error) => return Err(error.into()),
            }
        }
    };
    match (in_file, in_library) {
        (false, None) => Err(Failure::new(format!(
            "there is no source `{id}`; `segue source list` shows what there is"
        ))),
        (true, None) => Ok(()),
        (_, Some(row)) => forget(&id, row, &config).await,
    }
}

/// Takes a source's rows out of the library. Beside a running hub that would pull the rug from under its sync.
async fn forget(id: &str, row: InstanceRow, config: &Config) -> Result<(), Failure> {
    let data_dir = config.server.data_dir.clone();
    let _claim = match Claim::take(&data_dir)? {
        Ok(claim) => claim,
        Err(running) => {
            let (tracks, pid) = (show::count(row.track_count, "track"), running.pid);
            println!(
                "A hub runs (process {pid}). `kill -HUP {pid}` makes it stop playing from `{id}` at once."
            );
            println!(
                "Its {tracks} stay in the library until the hub is stopped and `segue source remove {id}` runs again."
            );
            return Ok(());
        }
    };
    let mut sources = config.source_specs()?;
    sources.retain(|source| source.id != id);
    let hub = assemble(Setup {
        data_dir,
        sources,
        settings: config.settings(false),
    })
    .await?;
    let gone = id.to_owned();
    hub.write(move |w| w.remove_instance(&gone)).await?;
    merge_library(&hub, &mut SyncReport::default()).await?;
    hub.runtime().close().await;
    println!(
        "Forgot `{id}` and {}.",
        show::count(row.track_count, "track")
    );
    Ok(())
}
