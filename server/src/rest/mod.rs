//! The OpenSubsonic surface, `/rest/*` (product, section 3).
//!
//! Every request ends in an envelope with HTTP 200, whatever is wrong with it; only the byte paths
//! (`stream`, `download`, `getCoverArt`) speak HTTP's own language once a call is let in. CORS is on everything.

mod about;
mod annotate;
pub mod auth;
mod browse;
pub mod call;
pub mod credentials;
pub mod document;
pub mod endpoint;
pub mod envelope;
mod fixed;
mod folders;
mod lists;
mod lyrics;
pub mod params;
mod people;
mod scan;
mod scope;
mod search;
mod shapes;
mod shuffle;
pub mod throttle;

use crate::hub::{Hub, HubRuntime};
use crate::stream;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use call::Call;
use credentials::Credentials;
use document::Doc;
use endpoint::Endpoint;
use envelope::{ApiError, ErrorCode, Format, allow_any_origin, preflight};
use http::request::Parts;
use http::{Method, header};
use http_body_util::{BodyExt, Limited};
use lists::Generation;
use params::Params;
use segue_core::io::Clock;
use shuffle::Shuffle;
use std::net::SocketAddr;
use std::sync::Arc;

/// Form bodies up to this size are read: 3,000 ids of a long playlist are about 130 KB.
const FORM_LIMIT: usize = 8 * 1024 * 1024;

/// A client's name for itself is cut to this many characters.
const CLIENT_LIMIT: usize = 64;

/// The routes, to be nested at `/rest`.
pub fn router<R: HubRuntime>() -> Router<Hub<R>> {
    let shuffle = Arc::new(Shuffle::default());
    let serve = move |State(hub): State<Hub<R>>, request: Request| {
        let shuffle = Arc::clone(&shuffle);
        async move {
            let mut response = serve(hub, &shuffle, request).await;
            allow_any_origin(response.headers_mut());
            response
        }
    };
    Router::new().fallback(serve)
}

async fn serve<R: HubRuntime>(hub: Hub<R>, shuffle: &Shuffle, request: Request) -> Response {
    if request.method() == Method::OPTIONS {
        return preflight();
    }
    let (parts, body) = request.into_parts();
    let form = read_form(&parts, body).await;
    let query = parts.uri.query().unwrap_or_default().as_bytes();
    let params = Params::parse(query, form.as_deref().unwrap_or_default());
    let format = match Format::choose(params.get("f"), params.get("callback")) {
        Ok(format) => format,
        Err(error) => return error.response(&Format::Json),
    };
    match form {
        Ok(_) => route(hub, shuffle, parts, params, format).await,
        Err(error) => error.response(&format),
    }
}

/// The form in the body. Other bodies are not read; without a media type a body counts as a form.
async fn read_form(parts: &Parts, body: Body) -> Result<Vec<u8>, ApiError> {
    let media_type = parts.headers.get(header::CONTENT_TYPE);
    let is_form = media_type.is_none_or(|value| {
        let essence = value.as_bytes().split(|b| *b == b';').next();
        essence.is_some_and(|essence| {
            essence
                .trim_ascii()
                .eq_ignore_ascii_case(b"application/x-www-form-urlencoded")
        })
    });
    if parts.method != Method::POST || !is_form {
        return Ok(Vec::new());
    }
    match Limited::new(body, FORM_LIMIT).collect().await {
        Ok(form) => Ok(form.to_bytes().to_vec()),
        Err(_) => Err(ApiError::new(
            ErrorCode::Generic,
            "The form is longer than 8 MiB, or ended too early",
        )),
    }
}

async fn route<R: HubRuntime>(
    hub: Hub<R>,
    shuffle: &Shuffle,
    parts: Parts,
    params: Params,
    format: Format,
) -> Response {
    let name = parts.uri.path().trim_start_matches('/');
    let Some(endpoint) = Endpoint::named(name) else {
        // The URL is not repeated: it holds the password.
        return ApiError::new(ErrorCode::Generic, "Unknown endpoint").response(&format);
    };
    if !matches!(parts.method, Method::GET | Method::HEAD | Method::POST) {
        return ApiError::new(ErrorCode::Generic, "Use GET or POST").response(&format);
    }
    if endpoint == Endpoint::GetOpenSubsonicExtensions {
        // Public: clients look here before they know how to log in.
        return envelope::ok(fixed::extensions(hub.settings().transcodes), &format);
    }
    let call = match admit(&hub, parts, params, format.clone()).await {
        Ok(call) => call,
        Err(error) => return error.response(&format),
    };
    respond(&hub, shuffle, endpoint, call).await
}

/// Lets a call in: version and credentials are right.
async fn admit<R: HubRuntime>(
    hub: &Hub<R>,
    parts: Parts,
    params: Params,
    format: Format,
) -> Result<Call, ApiError> {
    check_version(&params)?;
    let peer = parts.extensions.get::<SocketAddr>().map(SocketAddr::ip);
    let credentials = Credentials::read(&params)?;
    let user = auth::check_credentials(hub, &credentials, peer).await?;
    let client = params.get("c").unwrap_or_default();
    Ok(Call {
        user,
        client: client.chars().take(CLIENT_LIMIT).collect(),
        params,
        format,
        method: parts.method,
        headers: parts.headers,
    })
}

/// The major version must be ours; what clients say after it has never meant anything. A client that says
/// nothing is let in.
fn check_version(params: &Params) -> Result<(), ApiError> {
    let major = params.get("v").and_then(|v| v.split('.').next());
    match major.and_then(|major| major.parse::<u32>().ok()) {
        None | Some(1) => Ok(()),
        Some(0) => Err(ApiError::new(
            ErrorCode::ClientMustUpgrade,
            "This client speaks a version of the API before 1",
        )),
        Some(_) => Err(ApiError::new(
            ErrorCode::ServerMustUpgrade,
            "This client speaks a version of the API after 1",
        )),
    }
}

async fn respond<R: HubRuntime>(
    hub: &Hub<R>,
    shuffle: &Shuffle,
    endpoint: Endpoint,
    call: Call,
) -> Response {
    let format = call.format.clone();
    let payload = match endpoint {
        Endpoint::Stream => return stream::stream(hub.clone(), call).await,
        Endpoint::Download => return stream::download(hub.clone(), call).await,
        Endpoint::GetCoverArt => return stream::art::cover_art(hub.clone(), call).await,
        Endpoint::Ping => Ok(Doc::new()),
        Endpoint::GetLicense => Ok(fixed::license()),
        Endpoint::GetOpenSubsonicExtensions => Ok(fixed::extensions(hub.settings().transcodes)),
        Endpoint::TokenInfo => Ok(people::token_info(&call)),
        Endpoint::GetUser => people::get_user(hub, &call).await,
        Endpoint::GetUsers => people::get_users(hub, &call).await,
        Endpoint::GetMusicFolders => browse::get_music_folders(hub).await,
        Endpoint::GetGenres => browse::get_genres(hub).await,
        Endpoint::GetArtists => browse::get_artists(hub, &call).await,
        Endpoint::GetArtist => browse::get_artist(hub, &call).await,
        Endpoint::GetAlbum => browse::get_album(hub, &call).await,
        Endpoint::GetSong => browse::get_song(hub, &call).await,
        Endpoint::GetArtistInfo => about::get_artist_info(hub, &call, "artistInfo").await,
        Endpoint::GetArtistInfo2 => about::get_artist_info(hub, &call, "artistInfo2").await,
        Endpoint::GetAlbumInfo | Endpoint::GetAlbumInfo2 => about::get_album_info(hub, &call).await,
        Endpoint::GetSimilarSongs => {
            about::get_similar_songs(hub, &call, "similarSongs", seed(hub)).await
        }
        Endpoint::GetSimilarSongs2 => {
            about::get_similar_songs(hub, &call, "similarSongs2", seed(hub)).await
        }
        Endpoint::GetTopSongs => about::get_top_songs(hub, &call).await,
        Endpoint::GetIndexes => folders::get_indexes(hub, &call).await,
        Endpoint::GetMusicDirectory => folders::get_music_directory(hub, &call).await,
        Endpoint::GetAlbumList => {
            let seed = shuffle.of(&call, seed(hub));
            lists::get_album_list(hub, &call, Generation::Folders, seed).await
        }
        Endpoint::GetAlbumList2 => {
            let seed = shuffle.of(&call, seed(hub));
            lists::get_album_list(hub, &call, Generation::Tags, seed).await
        }
        Endpoint::GetRandomSongs => lists::get_random_songs(hub, &call, seed(hub)).await,
        Endpoint::GetSongsByGenre => lists::get_songs_by_genre(hub, &call).await,
        Endpoint::GetStarred => lists::get_starred(hub, &call, Generation::Folders).await,
        Endpoint::GetStarred2 => lists::get_starred(hub, &call, Generation::Tags).await,
        Endpoint::Search => search::search(hub, &call).await,
        Endpoint::Search2 => search::search2(hub, &call).await,
        Endpoint::Search3 => search::search3(hub, &call).await,
        Endpoint::Star => annotate::star(hub, &call).await,
        Endpoint::Unstar => annotate::unstar(hub, &call).await,
        Endpoint::SetRating => annotate::set_rating(hub, &call).await,
        Endpoint::Scrobble => annotate::scrobble(hub, &call).await,
        Endpoint::GetNowPlaying => annotate::get_now_playing(hub, &call).await,
        Endpoint::GetScanStatus => scan::get_scan_status(hub).await,
        Endpoint::StartScan => scan::start_scan(hub, &call).await,
        Endpoint::GetLyrics => lyrics::by_name(hub, &call).await,
        Endpoint::GetLyricsBySongId => lyrics::by_song_id(hub, &call).await,
        Endpoint::GetPlaylists => Ok(fixed::no("playlists", "playlist")),
        Endpoint::GetPlaylist => Err(ApiError::not_found("Playlist")),
        Endpoint::GetPlayQueue => Ok(Doc::new()),
        Endpoint::GetBookmarks => Ok(fixed::no("bookmarks", "bookmark")),
        Endpoint::GetInternetRadioStations => {
            Ok(fixed::no("internetRadioStations", "internetRadioStation"))
        }
        Endpoint::GetPodcasts => Ok(fixed::no("podcasts", "channel")),
        Endpoint::GetNewestPodcasts => Ok(fixed::no("newestPodcasts", "episode")),
        Endpoint::GetShares => Ok(fixed::no("shares", "share")),
        Endpoint::GetVideos => Ok(fixed::no("videos", "video")),
        Endpoint::GetChatMessages => Ok(fixed::no("chatMessages", "chatMessage")),
    };
    match payload {
        Ok(payload) => envelope::ok(payload, &format),
        Err(error) => error.response(&format),
    }
}

/// A number to shuffle by: nothing depends on nobody guessing it, and in a simulation it is the same each time.
fn seed<R: HubRuntime>(hub: &Hub<R>) -> u64 {
    let wall = hub.clock().wall().0.unsigned_abs();
    wall.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ hub.clock().now().as_nanos()
}
