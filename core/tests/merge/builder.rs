//! Small libraries, written down in a few lines.

use segue_core::catalog::merge::merge;
use segue_core::catalog::model::*;

/// Sources and their rows, and the library that the last merge made of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) input: MergeInput,
    pub(crate) skipped: Vec<String>,
}

/// A world of sources, all local.
pub(crate) fn sources(ids: &[&str]) -> World {
    let instances = ids.iter().map(|id| MergeInstance {
        id: (*id).to_owned(),
        local: true,
    });
    World {
        input: MergeInput {
            instances: instances.collect(),
            ..Default::default()
        },
        ..Default::default()
    }
}

impl World {
    /// An artist row.
    pub(crate) fn artist(&mut self, instance: &str, id: &str, name: &str) -> &mut InstanceArtist {
        let row = InstanceArtist {
            remote_id: id.to_owned(),
            name: name.to_owned(),
            ..Default::default()
        };
        self.input.artists.push(Of {
            instance: instance.to_owned(),
            row,
        });
        &mut self.input.artists.last_mut().expect("just pushed").row
    }

    /// An album row without tracks. The artist is named by text.
    pub(crate) fn bare_album(
        &mut self,
        instance: &str,
        id: &str,
        name: &str,
        artist: &str,
    ) -> &mut InstanceAlbum {
        let row = InstanceAlbum {
            remote_id: id.to_owned(),
            name: name.to_owned(),
            artist_name: artist.to_owned(),
            ..Default::default()
        };
        self.input.albums.push(Of {
            instance: instance.to_owned(),
            row,
        });
        &mut self.input.albums.last_mut().expect("just pushed").row
    }

    /// A FLAC track of 100 seconds and ten for each number.
    pub(crate) fn track(
        &mut self,
        instance: &str,
        album: &str,
        number: u32,
        title: &str,
    ) -> &mut InstanceTrack {
        let again = self
            .input
            .tracks
            .iter()
            .filter(|row| row.instance == instance && row.row.album_remote_id == album);
        let row = InstanceTrack {
            remote_id: format!("{album}/{}", again.count() + 1),
            album_remote_id: album.to_owned(),
            title: title.to_owned(),
            track_number: Some(number).filter(|number| *number > 0),
            disc_number: 1,
            duration_ms: Some(100_000 + 10_000 * u64::from(number)),
            bit_rate: Some(900),
            format: "flac".to_owned(),
            suffix: "flac".to_owned(),
            content_type: "audio/flac".to_owned(),
            ..Default::default()
        };
        self.input.tracks.push(Of {
            instance: instance.to_owned(),
            row,
        });
        &mut self.input.tracks.last_mut().expect("just pushed").row
    }

    /// An album and its tracks, numbered from 1, by the album's artist.
    pub(crate) fn album(
        &mut self,
        instance: &str,
        id: &str,
        (artist, name): (&str, &str),
        titles: &[&str],
    ) -> &mut InstanceAlbum {
        for (number, title) in (1..).zip(titles) {
            artist.clone_into(&mut self.track(instance, id, number, title).artist_name);
        }
        self.bare_album(instance, id, name, artist)
    }

    /// The last `count` tracks as MP3.
    pub(crate) fn as_mp3(&mut self, count: usize) {
        let from = self.input.tracks.len() - count;
        for track in &mut self.input.tracks[from..] {
            track.row.bit_rate = Some(320);
            (track.row.format, track.row.suffix) = ("mp3".to_owned(), "mp3".to_owned());
        }
    }

    /// All rows of a source go.
    pub(crate) fn without(&self, instance: &str) -> World {
        let mut world = self.clone();
        world.input.instances.retain(|row| row.id != instance);
        world.input.artists.retain(|row| row.instance != instance);
        world.input.albums.retain(|row| row.instance != instance);
        world.input.tracks.retain(|row| row.instance != instance);
        world
    }

    /// These rows, with the library and the aliases of another world as the previous ones.
    pub(crate) fn after(mut self, then: &World) -> World {
        self.input.previous.clone_from(&then.input.previous);
        self.input.aliases.clone_from(&then.input.aliases);
        self
    }

    /// Merges; what came of it is the previous library of the next merge.
    pub(crate) fn merged(mut self) -> World {
        let merged = merge(self.input.clone());
        self.input.previous = merged.library;
        self.input.aliases = merged.aliases;
        self.skipped = merged.skipped;
        self
    }

    /// The library of the last merge.
    pub(crate) fn library(&self) -> &Library {
        &self.input.previous
    }

    /// Artist, name, and track titles of each album, in the order of the words.
    pub(crate) fn albums(&self) -> Vec<String> {
        let library = self.library();
        let mut albums: Vec<String> = library
            .release_groups
            .iter()
            .map(|group| {
                let on_it = library
                    .tracks
                    .iter()
                    .filter(|track| track.release_group_id == group.id);
                let mut titles: Vec<String> = on_it
                    .map(|track| format!("{} x{}", track.title, self.copies(&track.id).len()))
                    .collect();
                titles.sort();
                format!(
                    "{} / {}: {}",
                    group.artist_name,
                    group.name,
                    titles.join(", ")
                )
            })
            .collect();
        albums.sort();
        albums
    }

    /// Names of the artists, in the order of the words.
    pub(crate) fn artist_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .library()
            .artists
            .iter()
            .map(|artist| artist.name.as_str())
            .collect();
        names.sort();
        names
    }

    /// The places a track can be had from.
    pub(crate) fn copies(&self, track: &str) -> Vec<&TrackSource> {
        self.library()
            .track_sources
            .iter()
            .filter(|source| source.track_id == track)
            .collect()
    }

    /// The unified track of a source's track.
    pub(crate) fn track_of(&self, instance: &str, remote_id: &str) -> &UnifiedTrack {
        let library = self.library();
        let source = library
            .track_sources
            .iter()
            .find(|row| row.instance == instance && row.remote_id == remote_id);
        let id = &source.expect("the source has this track").track_id;
        library
            .tracks
            .iter()
            .find(|track| track.id == *id)
            .expect("its track lives")
    }

    /// The album of a source's album.
    pub(crate) fn group_of(&self, instance: &str, remote_id: &str) -> &UnifiedReleaseGroup {
        let library = self.library();
        let source = library
            .release_sources
            .iter()
            .find(|row| row.instance == instance && row.remote_id == remote_id);
        let id = &source.expect("the source has this album").release_group_id;
        library
            .release_groups
            .iter()
            .find(|group| group.id == *id)
            .expect("its album lives")
    }

    /// Where an id leads now.
    pub(crate) fn resolve<'w>(&'w self, id: &'w str) -> &'w str {
        self.input
            .aliases
            .iter()
            .find(|alias| alias.old_id == id)
            .map_or(id, |alias| &alias.new_id)
    }
}
