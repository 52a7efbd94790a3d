//! Lists: albums in every order, random songs, songs of a genre, what is starred.

use super::browse::song_list;
use super::call::Call;
use super::document::Doc;
use super::envelope::ApiError;
use super::params::Params;
use super::scope::Scope;
use super::shapes;
use crate::hub::{Hub, HubRuntime};
use segue_sqlite::{AlbumOrder, AlbumView, RandomFilter, Starred};

/// Clients ask for "all" with any large number; they page when they get this many.
const PAGE_LIMIT: u32 = 500;

/// The two generations of an answer: by folders, or by tags ("2").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generation {
    /// Albums are folders.
    Folders,
    /// Albums are albums.
    Tags,
}

impl Generation {
    fn albums(self, views: &[AlbumView]) -> Vec<Doc> {
        match self {
            Generation::Folders => views.iter().map(shapes::album_folder).collect(),
            Generation::Tags => views.iter().map(shapes::album).collect(),
        }
    }
}

/// `getAlbumList` and `getAlbumList2`. `seed` shuffles the random list.
pub(super) async fn get_album_list<R: HubRuntime>(
    hub: &Hub<R>,
    call: &Call,
    generation: Generation,
    seed: u64,
) -> Result<Doc, ApiError> {
    let params = &call.params;
    let order = order(params, seed)?;
    let size = params.count("size", 10, PAGE_LIMIT)? as usize;
    let offset = params.count("offset", 0, u32::MAX)? as usize;
    let (user, folder) = (call.user.id, Scope::asked(params));
    let albums = hub
        .read(move |r| {
            let scope = Scope::find(r, folder.as_deref())?;
            scope.ask(|folder| r.album_list(user, &order, size, offset, folder))
        })
        .await?;
    let name = match generation {
        Generation::Folders => "albumList",
        Generation::Tags => "albumList2",
    };
    let albums = generation.albums(&albums);
    Ok(Doc::new().with(name, Doc::new().with_list("album", albums)))
}

/// The order that `type` names.
fn order(params: &Params, seed: u64) -> Result<AlbumOrder, ApiError> {
    Ok(match params.required("type")? {
        "random" => AlbumOrder::Random { seed },
        "newest" => AlbumOrder::Newest,
        "highest" => AlbumOrder::Highest,
        "frequent" => AlbumOrder::Frequent,
        "recent" => AlbumOrder::Recent,
        "starred" => AlbumOrder::Starred,
        "alphabeticalByName" => AlbumOrder::AlphabeticalByName,
        "alphabeticalByArtist" => AlbumOrder::AlphabeticalByArtist,
        "byYear" => AlbumOrder::ByYear {
            from: required_year(params, "fromYear")?,
            to: required_year(params, "toYear")?,
        },
        "byGenre" => AlbumOrder::ByGenre(params.required("genre")?.to_owned()),
        _ => return Err(ApiError::bad_value("type", "a kind of album list")),
    })
}

fn required_year(params: &Params, name: &'static str) -> Result<i32, ApiError> {
    params.number(name)?.ok_or_else(|| ApiError::missing(name))
}

/// `getRandomSongs`.
pub(super) async fn get_random_songs<R: HubRuntime>(
    hub: &Hub<R>,
    call: &Call,
    seed: u64,
) -> Result<Doc, ApiError> {
    let params = &call.params;
    let filter = RandomFilter {
        genre: params.get("genre").map(str::to_owned),
        from_year: params.number("fromYear")?,
        to_year: params.number("toYear")?,
        folder: None,
        size: params.count("size", 10, PAGE_LIMIT)? as usize,
        seed,
    };
    let (user, folder) = (call.user.id, Scope::asked(params));
    let songs = hub
        .read(move |r| {
            let scope = Scope::find(r, folder.as_deref())?;
            let songs = scope.ask(|folder| {
                let folder = folder.map(str::to_owned);
                r.random_songs(user, &RandomFilter { folder, ..filter })
            })?;
            Ok(songs)
        })
        .await?;
    Ok(song_list("randomSongs", &songs))
}

/// `getSongsByGenre`.
pub(super) async fn get_songs_by_genre<R: HubRuntime>(
    hub: &Hub<R>,
    call: &Call,
) -> Result<Doc, ApiError> {
    let params = &call.params;
    let genre = params.required("genre")?.to_owned();
    let count = params.count("count", 10, PAGE_LIMIT)? as usize;
    let offset = params.count("offset", 0, u32::MAX)? as usize;
    let (user, folder) = (call.user.id, Scope::asked(params));
    let songs = hub
        .read(move |r| {
            let scope = Scope::find(r, folder.as_deref())?;
            scope.ask(|folder| r.songs_by_genre(user, &genre, count, offset, folder))
        })
        .await?;
    Ok(song_list("songsByGenre", &songs))
}

/// `getStarred` and `getStarred2`.
pub(super) async fn get_starred<R: HubRuntime>(
    hub: &Hub<R>,
    call: &Call,
    generation: Generation,
) -> Result<Doc, ApiError> {
    let (user, folder) = (call.user.id, Scope::asked(&call.params));
    let starred: Starred = hub
        .read(move |r| {
            let scope = Scope::find(r, folder.as_deref())?;
            scope.ask(|folder| r.starred(user, folder))
        })
        .await?;
    let name = match generation {
        Generation::Folders => "starred",
        Generation::Tags => "starred2",
    };
    let starred = Doc::new()
        .with_list("artist", starred.artists.iter().map(shapes::artist))
        .with_list("album", generation.albums(&starred.albums))
        .with_list("song", starred.songs.iter().map(shapes::song));
    Ok(Doc::new().with(name, starred))
}
