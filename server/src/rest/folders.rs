//! Browsing by folders, for clients that know no tags. The tree is made up: music folder, artist, album.

use super::call::Call;
use super::document::Doc;
use super::envelope::ApiError;
use super::scope::Scope;
use super::shapes;
use crate::hub::{Hub, HubRuntime};
use segue_core::Wall;
use segue_core::catalog::normalise;
use segue_sqlite::{AlbumView, ArtistView, InstanceRow, SongView};

/// `getIndexes`: the artists by letter, or no letter when nothing changed since `ifModifiedSince`
/// (milliseconds).
pub(super) async fn get_indexes<R: HubRuntime>(hub: &Hub<R>, call: &Call) -> Result<Doc, ApiError> {
    let (user, folder) = (call.user.id, Scope::asked(&call.params));
    let since = call.params.number::<i64>("ifModifiedSince")?.map(Wall);
    let (modified, artists) = hub
        .read(move |r| {
            let modified = r.library_modified()?;
            if since.is_some_and(|since| since >= modified) {
                return Ok((modified, Vec::new()));
            }
            let scope = Scope::find(r, folder.as_deref())?;
            Ok((modified, scope.ask(|folder| r.artists(user, folder))?))
        })
        .await?;
    let indexes = Doc::new()
        .with("lastModified", modified.0)
        .with("ignoredArticles", normalise::IGNORED_ARTICLES)
        .with_list("index", shapes::indexes(&artists, shapes::artist));
    Ok(Doc::new().with("indexes", indexes))
}

/// What an id can be in the tree.
enum Directory {
    Folder(InstanceRow, Vec<ArtistView>),
    Artist(ArtistView, Vec<AlbumView>),
    Album(AlbumView, Vec<SongView>),
}

/// `getMusicDirectory`, of a music folder's number, an artist or an album.
pub(super) async fn get_music_directory<R: HubRuntime>(
    hub: &Hub<R>,
    call: &Call,
) -> Result<Doc, ApiError> {
    let (user, id) = (call.user.id, call.params.required("id")?.to_owned());
    let found = hub
        .read(move |r| {
            if let Ok(number) = id.parse::<i64>() {
                let instances = r.instances()?;
                let folder = instances.into_iter().find(|i| i.folder_number == number);
                return Ok(match folder {
                    Some(folder) => {
                        let artists = r.artists(user, Some(&folder.id))?;
                        Some(Directory::Folder(folder, artists))
                    }
                    None => None,
                });
            }
            if let Some(artist) = r.artist(user, &id)? {
                let albums = r.albums_of_artist(user, &artist.artist.id)?;
                return Ok(Some(Directory::Artist(artist, albums)));
            }
            if let Some(album) = r.album(user, &id)? {
                let songs = r.songs_of_album(user, &album.group.id)?;
                return Ok(Some(Directory::Album(album, songs)));
            }
            Ok(None)
        })
        .await?;
    let found = found.ok_or_else(|| ApiError::not_found("Directory"))?;
    Ok(Doc::new().with("directory", directory(&found)))
}

fn directory(found: &Directory) -> Doc {
    match found {
        Directory::Folder(folder, artists) => Doc::new()
            .with("id", folder.folder_number.to_string())
            .with("name", &folder.name)
            .with_list("child", artists.iter().map(shapes::artist_folder)),
        Directory::Artist(view, albums) => Doc::new()
            .with("id", &view.artist.id)
            .with("name", &view.artist.name)
            .with_known("starred", view.starred.map(shapes::date))
            .with_list("child", albums.iter().map(shapes::album_folder)),
        Directory::Album(view, songs) => Doc::new()
            .with("id", &view.group.id)
            .with("parent", &view.group.artist_id)
            .with("name", &view.group.name)
            .with("playCount", view.play_count)
            .with_known("starred", view.starred.map(shapes::date))
            .with_list("child", songs.iter().map(shapes::song)),
    }
}
