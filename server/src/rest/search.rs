//! `search3`, `search2` and the first `search`. An empty query, with or without quotes, finds everything:
//! clients page through a library that way.

use super::call::Call;
use super::document::Doc;
use super::envelope::ApiError;
use super::scope::Scope;
use super::shapes;
use crate::hub::{Hub, HubRuntime};
use segue_sqlite::{Found, SearchQuery};

/// A page has at most this many of each kind.
const PAGE_LIMIT: u32 = 500;

/// `search3`: albums as albums.
pub(super) async fn search3<R: HubRuntime>(hub: &Hub<R>, call: &Call) -> Result<Doc, ApiError> {
    let found = find(hub, call).await?;
    let albums = found.albums.iter().map(shapes::album);
    Ok(Doc::new().with("searchResult3", result(&found, albums)))
}

/// `search2`: albums as folders.
pub(super) async fn search2<R: HubRuntime>(hub: &Hub<R>, call: &Call) -> Result<Doc, ApiError> {
    let found = find(hub, call).await?;
    let albums = found.albums.iter().map(shapes::album_folder);
    Ok(Doc::new().with("searchResult2", result(&found, albums)))
}

fn result(found: &Found, albums: impl Iterator<Item = Doc>) -> Doc {
    Doc::new()
        .with_list("artist", found.artists.iter().map(shapes::artist))
        .with_list("album", albums)
        .with_list("song", found.songs.iter().map(shapes::song))
}

async fn find<R: HubRuntime>(hub: &Hub<R>, call: &Call) -> Result<Found, ApiError> {
    let params = &call.params;
    if !params.has("query") {
        return Err(ApiError::missing("query"));
    }
    let count = |name| Ok::<_, ApiError>(params.count(name, 20, PAGE_LIMIT)? as usize);
    let offset = |name| Ok::<_, ApiError>(params.count(name, 0, u32::MAX)? as usize);
    let query = SearchQuery {
        text: params.get("query").unwrap_or_default().to_owned(),
        artist_count: count("artistCount")?,
        artist_offset: offset("artistOffset")?,
        album_count: count("albumCount")?,
        album_offset: offset("albumOffset")?,
        song_count: count("songCount")?,
        song_offset: offset("songOffset")?,
        folder: None,
    };
    run(hub, call, query).await
}

/// `search`, of the API before 1.4: songs only.
pub(super) async fn search<R: HubRuntime>(hub: &Hub<R>, call: &Call) -> Result<Doc, ApiError> {
    let params = &call.params;
    let text = ["any", "title", "album", "artist"]
        .iter()
        .find_map(|name| params.get(name))
        .unwrap_or_default();
    let offset = params.count("offset", 0, u32::MAX)?;
    let query = SearchQuery {
        text: text.to_owned(),
        song_count: params.count("count", 20, PAGE_LIMIT)? as usize,
        song_offset: offset as usize,
        ..SearchQuery::default()
    };
    let found = run(hub, call, query).await?;
    let total = u64::from(offset) + found.songs.len() as u64;
    let result = Doc::new()
        .with("offset", offset)
        .with("totalHits", total)
        .with_list("match", found.songs.iter().map(shapes::song));
    Ok(Doc::new().with("searchResult", result))
}

async fn run<R: HubRuntime>(
    hub: &Hub<R>,
    call: &Call,
    query: SearchQuery,
) -> Result<Found, ApiError> {
    let (user, folder) = (call.user.id, Scope::asked(&call.params));
    let found = hub
        .read(move |r| {
            let scope = Scope::find(r, folder.as_deref())?;
            let found = scope.ask(|folder| {
                let folder = folder.map(str::to_owned);
                r.search(user, &SearchQuery { folder, ..query })
            })?;
            Ok(found)
        })
        .await?;
    Ok(found)
}
