//! The endpoints we know, by name.

/// Declares [`Endpoint`] and its names from one list, so that neither can lack what the other has.
macro_rules! endpoints {
    ($($(#[$doc:meta])* $variant:ident = $name:literal),* $(,)?) => {
        /// One endpoint of the API.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Endpoint {
            $(#[doc = concat!("`", $name, "`")] $variant),*
        }

        impl Endpoint {
            /// All endpoints, in the order of the list.
            pub const ALL: &'static [Endpoint] = &[$(Endpoint::$variant),*];

            /// The endpoint of a path's last part, with or without `.view`.
            pub fn named(name: &str) -> Option<Endpoint> {
                match name.strip_suffix(".view").unwrap_or(name) {
                    $($name => Some(Endpoint::$variant),)*
                    _ => None,
                }
            }

            /// The name, without `.view`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Endpoint::$variant => $name),*
                }
            }
        }
    };
}

endpoints! {
    Ping = "ping",
    GetLicense = "getLicense",
    GetOpenSubsonicExtensions = "getOpenSubsonicExtensions",
    TokenInfo = "tokenInfo",
    GetUser = "getUser",
    GetUsers = "getUsers",
    GetMusicFolders = "getMusicFolders",
    GetGenres = "getGenres",
    GetArtists = "getArtists",
    GetIndexes = "getIndexes",
    GetMusicDirectory = "getMusicDirectory",
    GetArtist = "getArtist",
    GetAlbum = "getAlbum",
    GetSong = "getSong",
    GetArtistInfo = "getArtistInfo",
    GetArtistInfo2 = "getArtistInfo2",
    GetAlbumInfo = "getAlbumInfo",
    GetAlbumInfo2 = "getAlbumInfo2",
    GetSimilarSongs = "getSimilarSongs",
    GetSimilarSongs2 = "getSimilarSongs2",
    GetTopSongs = "getTopSongs",
    GetAlbumList = "getAlbumList",
    GetAlbumList2 = "getAlbumList2",
    GetRandomSongs = "getRandomSongs",
    GetSongsByGenre = "getSongsByGenre",
    GetStarred = "getStarred",
    GetStarred2 = "getStarred2",
    Search = "search",
    Search2 = "search2",
    Search3 = "search3",
    Star = "star",
    Unstar = "unstar",
    SetRating = "setRating",
    Scrobble = "scrobble",
    GetNowPlaying = "getNowPlaying",
    GetScanStatus = "getScanStatus",
    StartScan = "startScan",
    Stream = "stream",
    Download = "download",
    GetCoverArt = "getCoverArt",
    GetLyrics = "getLyrics",
    GetLyricsBySongId = "getLyricsBySongId",
    GetPlaylists = "getPlaylists",
    GetPlaylist = "getPlaylist",
    GetPlayQueue = "getPlayQueue",
    GetBookmarks = "getBookmarks",
    GetInternetRadioStations = "getInternetRadioStations",
    GetPodcasts = "getPodcasts",
    GetNewestPodcasts = "getNewestPodcasts",
    GetShares = "getShares",
    GetVideos = "getVideos",
    GetChatMessages = "getChatMessages",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_endpoint_answers_to_its_name_with_and_without_view() {
        for endpoint in Endpoint::ALL {
            let name = endpoint.name();
            assert_eq!(Endpoint::named(name), Some(*endpoint));
            assert_eq!(Endpoint::named(&format!("{name}.view")), Some(*endpoint));
        }
        for unknown in ["", "Ping", "ping.view.view", "ping/", "../ping", ".view"] {
            assert_eq!(Endpoint::named(unknown), None, "{unknown}");
        }
    }
}
