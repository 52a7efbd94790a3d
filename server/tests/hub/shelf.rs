//! What a hub shows of its library, to be looked at and compared.

use crate::world::TestHub;
use segue_core::catalog::model::TrackSource;
use serde_json::Value;

impl TestHub {
    /// All albums, by name.
    pub(crate) async fn albums(&self) -> Vec<Value> {
        let list = "type=alphabeticalByName&size=500";
        let answer = self.rest("getAlbumList2", list).await;
        let albums = answer["albumList2"]["album"].as_array();
        albums.expect("a list").clone()
    }

    /// Names of all albums with their artists.
    pub(crate) async fn album_names(&self) -> Vec<(String, String)> {
        let albums = self.albums().await;
        let names = albums
            .iter()
            .map(|album| (text(&album["artist"]), text(&album["name"])));
        names.collect()
    }

    /// The songs of an album.
    pub(crate) async fn songs_of(&self, album: &Value) -> Vec<Value> {
        let id = text(&album["id"]);
        let answer = self.rest("getAlbum", &format!("id={id}")).await;
        let songs = answer["album"]["song"].as_array();
        songs
            .unwrap_or_else(|| panic!("no songs in {answer}"))
            .clone()
    }

    /// All songs, by album.
    pub(crate) async fn songs(&self) -> Vec<Value> {
        let mut songs = Vec::new();
        for album in self.albums().await {
            songs.extend(self.songs_of(&album).await);
        }
        songs
    }

    /// Title and id of all songs.
    pub(crate) async fn ids(&self) -> Vec<(String, String)> {
        let songs = self.songs().await;
        let ids = songs
            .iter()
            .map(|song| (text(&song["title"]), text(&song["id"])));
        ids.collect()
    }

    /// Where a song can be had, best first.
    pub(crate) async fn sources_of(&self, id: &str) -> Vec<TrackSource> {
        let id = id.to_owned();
        self.hub
            .read(move |r| r.candidates(&id))
            .await
            .expect("read")
    }

    /// The library as clients see it and as failover goes by it, to be compared to the byte.
    pub(crate) async fn dump(&self) -> String {
        let mut dump = self.rest("getArtists", "").await.to_string();
        for album in self.albums().await {
            dump += &format!("\n{album}");
            for song in self.songs_of(&album).await {
                let sources = self.sources_of(&text(&song["id"])).await;
                dump += &format!("\n  {song}\n    {sources:?}");
            }
        }
        dump
    }
}

/// A JSON string.
pub(crate) fn text(value: &Value) -> String {
    let text = value.as_str();
    text.unwrap_or_else(|| panic!("{value} is no text"))
        .to_owned()
}

/// Everything in `value` that has a name.
pub(crate) fn each_field(value: &Value, see: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                see(name, value);
                each_field(value, see);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| each_field(item, see)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
