//! Browsing by tags: artists, albums, songs and genres.

use super::call::Call;
use super::document::Doc;
use super::envelope::ApiError;
use super::scope::{Scope, music_folders};
use super::shapes;
use crate::hub::{Hub, HubRuntime};
use segue_core::catalog::normalise;
use segue_sqlite::SongView;

/// `getMusicFolders`: one per source.
pub(super) async fn get_music_folders<R: HubRuntime>(hub: &Hub<R>) -> Result<Doc, ApiError> {
    let instances = hub.read(|r| r.instances()).await?;
    Ok(music_folders(&instances))
}

/// `getGenres`.
pub(super) async fn get_genres<R: HubRuntime>(hub: &Hub<R>) -> Result<Doc, ApiError> {
    let genres = hub.read(|r| r.genres()).await?;
    let genres = genres.iter().map(shapes::genre);
    Ok(Doc::new().with("genres", Doc::new().with_list("genre", genres)))
}

/// `getArtists`: album artists, by letter.
pub(super) async fn get_artists<R: HubRuntime>(hub: &Hub<R>, call: &Call) -> Result<Doc, ApiError> {
    let (user, folder) = (call.user.id, Scope::asked(&call.params));
    let artists = hub
        .read(move |r| {
            let scope = Scope::find(r, folder.as_deref())?;
            scope.ask(|folder| r.artists(user, folder))
        })
        .await?;
    let artists = Doc::new()
        .with("ignoredArticles", normalise::IGNORED_ARTICLES)
        .with_list("index", shapes::indexes(&artists, shapes::artist));
    Ok(Doc::new().with("artists", artists))
}

/// `getArtist`: an artist with their albums.
pub(super) async fn get_artist<R: HubRuntime>(hub: &Hub<R>, call: &Call) -> Result<Doc, ApiError> {
    let (user, id) = (call.user.id, call.params.required("id")?.to_owned());
    let found = hub
        .read(move |r| {
            let Some(artist) = r.artist(user, &id)? else {
                return Ok(None);
            };
            let albums = r.albums_of_artist(user, &artist.artist.id)?;
            Ok(Some((artist, albums)))
        })
        .await?;
    let (artist, albums) = found.ok_or_else(|| ApiError::not_found("Artist"))?;
    let artist = shapes::artist(&artist).with_list("album", albums.iter().map(shapes::album));
    Ok(Doc::new().with("artist", artist))
}

/// `getAlbum`: an album with its songs.
pub(super) async fn get_album<R: HubRuntime>(hub: &Hub<R>, call: &Call) -> Result<Doc, ApiError> {
    let (user, id) = (call.user.id, call.params.required("id")?.to_owned());
    let found = hub
        .read(move |r| {
            let Some(album) = r.album(user, &id)? else {
                return Ok(None);
            };
            let songs = r.songs_of_album(user, &album.group.id)?;
            Ok(Some((album, songs)))
        })
        .await?;
    let (album, songs) = found.ok_or_else(|| ApiError::not_found("Album"))?;
    let album = shapes::album(&album).with_list("song", songs.iter().map(shapes::song));
    Ok(Doc::new().with("album", album))
}

/// `getSong`.
pub(super) async fn get_song<R: HubRuntime>(hub: &Hub<R>, call: &Call) -> Result<Doc, ApiError> {
    let song = the_song(hub, call).await?;
    Ok(Doc::new().with("song", shapes::song(&song)))
}

/// The song of the parameter `id`.
pub(super) async fn the_song<R: HubRuntime>(
    hub: &Hub<R>,
    call: &Call,
) -> Result<SongView, ApiError> {
    let (user, id) = (call.user.id, call.params.required("id")?.to_owned());
    let song = hub.read(move |r| r.song(user, &id)).await?;
    song.ok_or_else(|| ApiError::not_found("Song"))
}

/// Songs in an object of their own.
pub(super) fn song_list(name: &'static str, songs: &[SongView]) -> Doc {
    Doc::new().with(
        name,
        Doc::new().with_list("song", songs.iter().map(shapes::song)),
    )
}
