//! The library as it was, sorted for looking things up, and who remembers which of its entities.

use super::ids::Vote;
use super::model::{Library, UnifiedArtist, UnifiedRelease, UnifiedReleaseGroup, UnifiedTrack};
use super::sets::index;

/// The previous library; entities are known by their place in these lists.
pub(super) struct Previous<'a> {
    pub(super) artists: Vec<&'a UnifiedArtist>,
    pub(super) groups: Vec<&'a UnifiedReleaseGroup>,
    pub(super) releases: Vec<&'a UnifiedRelease>,
    pub(super) tracks: Vec<&'a UnifiedTrack>,
    library: &'a Library,
}

/// A source's row and the entity it belongs to: source, remote id, and an id or a number.
type Member<'m, T> = (&'m str, &'m str, T);

impl<'a> Previous<'a> {
    /// Sorts the library by id, whatever order it came in.
    pub(super) fn of(library: &'a Library) -> Self {
        Previous {
            artists: by_id(&library.artists, |row| &row.id),
            groups: by_id(&library.release_groups, |row| &row.id),
            releases: by_id(&library.releases, |row| &row.id),
            tracks: by_id(&library.tracks, |row| &row.id),
            library,
        }
    }

    /// The place of an artist.
    pub(super) fn artist(&self, id: &str) -> Option<u32> {
        place(&self.artists, id, |row| &row.id)
    }

    /// The place of a release group.
    pub(super) fn group(&self, id: &str) -> Option<u32> {
        place(&self.groups, id, |row| &row.id)
    }

    /// The release group of a track, by their places.
    pub(super) fn group_of_track(&self, track: u32) -> Option<u32> {
        self.group(&self.tracks[track as usize].release_group_id)
    }

    /// Which previous artist each artist row was in, and how many rows each previous artist had.
    pub(super) fn artist_votes<'m>(
        &self,
        now: impl Iterator<Item = Member<'m, u32>>,
    ) -> (Vec<Vote>, Vec<u32>) {
        let rows = self.library.artist_sources.iter();
        let then = rows.filter_map(|row| {
            Some((
                &*row.instance,
                &*row.remote_id,
                self.artist(&row.artist_id)?,
            ))
        });
        votes(then.collect(), now.collect(), self.artists.len())
    }

    /// The same for the release groups of album rows.
    pub(super) fn group_votes<'m>(
        &self,
        now: impl Iterator<Item = Member<'m, u32>>,
    ) -> (Vec<Vote>, Vec<u32>) {
        let rows = self.library.release_sources.iter();
        let then = rows.filter_map(|row| {
            Some((
                &*row.instance,
                &*row.remote_id,
                self.group(&row.release_group_id)?,
            ))
        });
        votes(then.collect(), now.collect(), self.groups.len())
    }

    /// The same for the releases of album rows.
    pub(super) fn release_votes<'m>(
        &self,
        now: impl Iterator<Item = Member<'m, u32>>,
    ) -> (Vec<Vote>, Vec<u32>) {
        let rows = self.library.release_sources.iter();
        let release = |id: &str| place(&self.releases, id, |row| &row.id);
        let then = rows
            .filter_map(|row| Some((&*row.instance, &*row.remote_id, release(&row.release_id)?)));
        votes(then.collect(), now.collect(), self.releases.len())
    }

    /// The same for the recordings of track rows.
    pub(super) fn track_votes<'m>(
        &self,
        now: impl Iterator<Item = Member<'m, u32>>,
    ) -> (Vec<Vote>, Vec<u32>) {
        let rows = self.library.track_sources.iter();
        let track = |id: &str| place(&self.tracks, id, |row| &row.id);
        let then =
            rows.filter_map(|row| Some((&*row.instance, &*row.remote_id, track(&row.track_id)?)));
        votes(then.collect(), now.collect(), self.tracks.len())
    }
}

fn by_id<T>(rows: &[T], id: impl Fn(&T) -> &String) -> Vec<&T> {
    let mut sorted: Vec<&T> = rows.iter().collect();
    sorted.sort_by(|a, b| id(a).cmp(id(b)));
    sorted.dedup_by(|again, first| id(again) == id(first));
    sorted
}

fn place<T>(sorted: &[&T], wanted: &str, id: impl Fn(&T) -> &String) -> Option<u32> {
    sorted
        .binary_search_by(|row| id(row).as_str().cmp(wanted))
        .ok()
        .map(index)
}

/// Walks both lists at once: each row that was a member then and is one now is a vote.
fn votes(
    mut then: Vec<Member<'_, u32>>,
    mut now: Vec<Member<'_, u32>>,
    count: usize,
) -> (Vec<Vote>, Vec<u32>) {
    then.sort();
    now.sort();
    let mut sizes = vec![0; count];
    let mut votes = Vec::with_capacity(now.len());
    let mut now = now.iter().peekable();
    for (instance, remote_id, previous) in &then {
        sizes[*previous as usize] += 1;
        while now
            .next_if(|row| (row.0, row.1) < (instance, remote_id))
            .is_some()
        {}
        if let Some((_, _, entity)) = now
            .peek()
            .filter(|row| (row.0, row.1) == (*instance, *remote_id))
        {
            votes.push((*previous, *entity));
        }
    }
    (votes, sizes)
}
