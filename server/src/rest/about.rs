//! What is said about artists and albums, and songs that go with others. We ask nobody else for either:
//! what there is comes from the library.

use super::browse::song_list;
use super::call::Call;
use super::document::{Doc, Value};
use super::envelope::ApiError;
use crate::hub::{Hub, HubRuntime};
use segue_core::catalog::normalise;
use segue_sqlite::{RandomFilter, Reader, SearchQuery, SongView};

/// Most songs that a derived list has.
const DERIVED_LIMIT: u32 = 500;

/// `getArtistInfo` and `getArtistInfo2`: we keep no biographies, only what identifies the artist. Asked
/// for an album or a song, which old clients do, it is about its artist.
pub(super) async fn get_artist_info<R: HubRuntime>(
    hub: &Hub<R>,
    call: &Call,
    name: &'static str,
) -> Result<Doc, ApiError> {
    let (user, id) = (call.user.id, call.params.required("id")?.to_owned());
    let artist = hub
        .read(move |r| {
            if let Some(artist) = r.artist(user, &id)? {
                return Ok(Some(artist));
            }
            if let Some(album) = r.album(user, &id)? {
                return r.artist(user, &album.group.artist_id);
            }
            match r.song(user, &id)? {
                Some(song) => r.artist(user, &song.track.artist_id),
                None => Ok(None),
            }
        })
        .await?;
    let artist = artist.ok_or_else(|| ApiError::not_found("Artist"))?;
    let info = Doc::new()
        .with_known(
            "musicBrainzId",
            artist.artist.musicbrainz_id.map(Value::Element),
        )
        .with_list("similarArtist", Vec::<Doc>::new());
    Ok(Doc::new().with(name, info))
}

/// `getAlbumInfo` and `getAlbumInfo2`: likewise.
pub(super) async fn get_album_info<R: HubRuntime>(
    hub: &Hub<R>,
    call: &Call,
) -> Result<Doc, ApiError> {
    let (user, id) = (call.user.id, call.params.required("id")?.to_owned());
    let album = hub
        .read(move |r| {
            if let Some(album) = r.album(user, &id)? {
                return Ok(Some(album));
            }
            match r.song(user, &id)? {
                Some(song) => r.album(user, &song.track.release_group_id),
                None => Ok(None),
            }
        })
        .await?;
    let album = album.ok_or_else(|| ApiError::not_found("Album"))?;
    let info = Doc::new().with_known(
        "musicBrainzId",
        album.group.musicbrainz_id.map(Value::Element),
    );
    Ok(Doc::new().with("albumInfo", info))
}

/// `getSimilarSongs` and `getSimilarSongs2`, for an artist, an album or a song: others of the same genre,
/// or of the same artist where no genre is known.
pub(super) async fn get_similar_songs<R: HubRuntime>(
    hub: &Hub<R>,
    call: &Call,
    name: &'static str,
    seed: u64,
) -> Result<Doc, ApiError> {
    let (user, id) = (call.user.id, call.params.required("id")?.to_owned());
    let count = call.params.count("count", 50, DERIVED_LIMIT)? as usize;
    let songs = hub
        .read(move |r| {
            let seeds = match r.song(user, &id)? {
                Some(song) => vec![song],
                None => match r.album(user, &id)? {
                    Some(album) => r.songs_of_album(user, &album.group.id)?,
                    None => r.songs_of_artist(user, &id)?,
                },
            };
            let genre = seeds.iter().find_map(|s| s.track.genres.first().cloned());
            let songs = match (genre, seeds.first()) {
                (Some(genre), _) => {
                    let filter = RandomFilter {
                        genre: Some(genre),
                        size: count + 1,
                        seed,
                        ..RandomFilter::default()
                    };
                    r.random_songs(user, &filter)?
                }
                (None, Some(song)) => r.songs_of_artist(user, &song.track.artist_id)?,
                (None, None) => Vec::new(),
            };
            let is_itself = |s: &SongView| seeds.len() == 1 && s.track.id == seeds[0].track.id;
            Ok(songs
                .into_iter()
                .filter(|s| !is_itself(s))
                .take(count)
                .collect::<Vec<_>>())
        })
        .await?;
    Ok(song_list(name, &songs))
}

/// `getTopSongs`: an artist's songs, those the user played most first. By name, or by `id`, which wins.
pub(super) async fn get_top_songs<R: HubRuntime>(
    hub: &Hub<R>,
    call: &Call,
) -> Result<Doc, ApiError> {
    let user = call.user.id;
    let id = call.params.get("id").map(str::to_owned);
    let name = match id {
        Some(_) => String::new(),
        None => call.params.required("artist")?.to_owned(),
    };
    let count = call.params.count("count", 50, DERIVED_LIMIT)? as usize;
    let songs = hub
        .read(move |r| {
            let id = match id {
                Some(id) => Some(id),
                None => artist_named(r, user, &name)?,
            };
            match id {
                Some(id) => r.songs_of_artist(user, &id),
                None => Ok(Vec::new()),
            }
        })
        .await?;
    let mut songs = songs;
    songs.sort_by_key(|song| std::cmp::Reverse(song.play_count));
    songs.truncate(count);
    Ok(song_list("topSongs", &songs))
}

fn artist_named(reader: &Reader, user: i64, name: &str) -> segue_sqlite::Result<Option<String>> {
    let key = normalise::fold(name);
    let query = SearchQuery {
        text: name.to_owned(),
        artist_count: 20,
        ..SearchQuery::default()
    };
    let found = reader.search(user, &query)?.artists;
    let same = found.into_iter().find(|view| view.artist.name_key == key);
    Ok(same.map(|view| view.artist.id))
}
