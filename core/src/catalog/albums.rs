//! Which albums of the sources are one release group, and which are one edition of it.
//!
//! By MusicBrainz ids first, then by artist, name and version words. A name alone is weak evidence ("Greatest Hits", "Weezer"), so
//! what the track lists say is heard before two albums join by it: over-merging hurts more than a duplicate.

use super::facts::{AlbumFacts, BLANK, Heard, close, differ};
use super::sets::{MOST_COMPARED, Sets, index};
use std::collections::{BTreeMap, BTreeSet};

/// So many places with two different titles, or all that the smaller album has, make two works of albums that share no track.
const CONTRADICTING_PLACES: usize = 3;

/// Joins albums into release groups: each album's group, and how many groups there are.
pub(super) fn release_groups(albums: &[AlbumFacts<'_>]) -> (Vec<u32>, usize) {
    let mut grouping = Grouping {
        albums,
        sets: Sets::new(albums.len()),
        group_ids: BTreeMap::new(),
        compiled: BTreeSet::new(),
    };
    for (at, album) in albums.iter().enumerate() {
        if let Some(id) = album.release_group {
            grouping.group_ids.entry(index(at)).or_default().insert(id);
        }
    }
    grouping.by_id(|album| album.release_group);
    grouping.by_id(|album| album.release);
    grouping.compilations();
    grouping.by_name();
    grouping.sets.numbered()
}

/// Tells the editions of the groups apart: each album's release, and how many there are. One release is what has one release id, or in one group one
/// name and as many tracks.
pub(super) fn releases(albums: &[AlbumFacts<'_>], group_of: &[u32]) -> (Vec<u32>, usize) {
    let mut sets = Sets::new(albums.len());
    let mut by_id: BTreeMap<(u32, &str), u32> = BTreeMap::new();
    let mut alike: BTreeMap<(u32, u32, usize), Vec<u32>> = BTreeMap::new();
    for (at, album) in (0..).zip(albums) {
        let group = group_of[at as usize];
        if let Some(id) = album.release {
            let first = *by_id.entry((group, id)).or_insert(at);
            sets.join(first, at);
        }
        alike
            .entry((group, album.name, album.listing.len()))
            .or_default()
            .push(at);
    }
    for same in alike.values() {
        let ids: BTreeSet<&str> = same
            .iter()
            .filter_map(|at| albums[*at as usize].release)
            .collect();
        let (identified, plain): (Vec<u32>, Vec<u32>) = same
            .iter()
            .partition(|at| albums[**at as usize].release.is_some());
        // With two ids nobody says which one an album without id is: it is an edition of its own.
        let first = if ids.len() == 1 {
            identified.first()
        } else {
            plain.first()
        };
        for at in &plain {
            sets.join(*first.unwrap_or(at), *at);
        }
    }
    sets.numbered()
}

struct Grouping<'g, 'a> {
    albums: &'g [AlbumFacts<'a>],
    sets: Sets,
    /// The release-group ids of each set, by its root.
    group_ids: BTreeMap<u32, BTreeSet<&'a str>>,
    /// Albums filed under one artist that turned out to be part of a compilation.
    compiled: BTreeSet<u32>,
}

impl<'g, 'a> Grouping<'g, 'a> {
    fn album(&self, at: u32) -> &'g AlbumFacts<'a> {
        &self.albums[at as usize]
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.sets.root(a), self.sets.root(b));
        if a != b {
            let ids = self.group_ids.remove(&a.max(b)).unwrap_or_default();
            if !ids.is_empty() {
                self.group_ids.entry(a.min(b)).or_default().extend(ids);
            }
            self.sets.join(a, b);
        }
    }

    /// Joins what has one id, unless that id is a mistake.
    fn by_id(&mut self, id: impl Fn(&AlbumFacts<'a>) -> Option<&'a str>) {
        let mut same: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (at, album) in self.albums.iter().enumerate() {
            if let Some(id) = id(album) {
                same.entry(id).or_default().push(index(at));
            }
        }
        for bucket in same.values() {
            let mut clusters: Vec<Vec<u32>> = Vec::new();
            for at in bucket {
                let fits = |cluster: &&mut Vec<u32>| {
                    let mut first = cluster.iter().take(MOST_COMPARED / 8);
                    first.any(|other| one_id_can_hold(self.album(*at), self.album(*other)))
                };
                match clusters.iter_mut().take(MOST_COMPARED).find(fits) {
                    Some(cluster) => cluster.push(*at),
                    None => clusters.push(vec![*at]),
                }
            }
            for cluster in clusters {
                cluster.iter().for_each(|at| self.join(cluster[0], *at));
            }
        }
    }

    /// Joins albums of one artist and one name, version words included, where nothing speaks against it.
    fn by_name(&mut self) {
        let mut same: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        for (at, album) in (0..).zip(self.albums) {
            if !self.compiled.contains(&at) {
                same.entry((album.artist, album.name)).or_default().push(at);
            }
        }
        for bucket in same.values().filter(|bucket| bucket.len() > 1) {
            self.cluster(bucket);
        }
    }

    fn cluster(&mut self, bucket: &[u32]) {
        let mut joined: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for at in bucket {
            let root = self.sets.root(*at);
            joined.entry(root).or_default().push(*at);
        }
        // Who is known best goes first and collects the others.
        let mut waiting: Vec<Vec<u32>> = joined.into_values().collect();
        waiting.sort_by_key(|set| {
            let identified = set.iter().any(|at| self.album(*at).release_group.is_some());
            let vague = set.iter().all(|at| self.album(*at).vague);
            let most = set.iter().map(|at| self.album(*at).listing.len()).max();
            (!identified, vague, std::cmp::Reverse(most), set[0])
        });
        let mut settled: Vec<Vec<u32>> = Vec::new();
        for set in waiting {
            let best = (0..settled.len().min(MOST_COMPARED))
                .filter_map(|at| Some((self.likeness(&settled[at], &set)?, std::cmp::Reverse(at))))
                .max();
            match best {
                Some((_, std::cmp::Reverse(at))) => {
                    self.join(settled[at][0], set[0]);
                    settled[at].extend(set);
                }
                None => settled.push(set),
            }
        }
    }

    /// How many tracks two sets of albums of one name share at most; `None` if they are not one work.
    fn likeness(&mut self, a: &[u32], b: &[u32]) -> Option<usize> {
        if self.have_different_ids(a[0], b[0]) {
            return None;
        }
        let mut most = 0;
        let mut overlaps = false;
        let mut vague = false;
        let first =
            |of: &[u32]| -> Vec<u32> { of.iter().copied().take(MOST_COMPARED / 8).collect() };
        let (a, b) = (first(a), first(b));
        for (a, b) in a
            .iter()
            .flat_map(|a| b.iter().map(|b| (self.album(*a), self.album(*b))))
        {
            let shared = common_tracks(a, b);
            let few = shared * 2 < a.listing.len().min(b.listing.len());
            let told_apart = differ(a.year, b.year) || differ(a.release, b.release);
            if few && (told_apart || (shared == 0 && contradict(a, b))) {
                return None;
            }
            most = most.max(shared);
            overlaps |= shared > 0 && !few;
            vague |= a.vague || b.vague;
        }
        (overlaps || !vague).then_some(most)
    }

    fn have_different_ids(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.sets.root(a), self.sets.root(b));
        match (self.group_ids.get(&a), self.group_ids.get(&b)) {
            (Some(a), Some(b)) => a.is_disjoint(b),
            (None, _) | (_, None) => false,
        }
    }

    /// Joins what one source files under "various artists" and another under each track's artist.
    fn compilations(&mut self) {
        let mut same: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (at, album) in self.albums.iter().enumerate() {
            same.entry(album.name).or_default().push(index(at));
        }
        for bucket in same.values().filter(|bucket| bucket.len() > 1) {
            let (various, single): (Vec<u32>, Vec<u32>) =
                bucket.iter().partition(|at| self.album(**at).various);
            for at in single {
                let mut best: Option<(usize, u32)> = None;
                for candidate in various.iter().take(MOST_COMPARED) {
                    let shared = self.shared_by_artist(at, *candidate);
                    if shared > best.map_or(0, |(most, _)| most)
                        && !self.have_different_ids(at, *candidate)
                    {
                        best = Some((shared, *candidate));
                    }
                }
                if let Some((_, with)) = best {
                    self.join(at, with);
                    self.compiled.insert(at);
                }
            }
        }
    }

    /// How many tracks of the same artist two albums share; none if it is less than half of the smaller one.
    fn shared_by_artist(&self, a: u32, b: u32) -> usize {
        let (a, b) = (self.album(a), self.album(b));
        let shared = shared(&a.listing, &b.listing, |a, b| a.artist == b.artist);
        if shared * 2 < a.listing.len().min(b.listing.len()) {
            0
        } else {
            shared
        }
    }
}

/// Whether one MusicBrainz id can truly belong to two albums. Names may differ (languages, editions), but not everything at once,
/// and within one source, which tagged both, not beyond the name of an edition.
fn one_id_can_hold(a: &AlbumFacts<'_>, b: &AlbumFacts<'_>) -> bool {
    let related = a.base == b.base
        || (a.instance == b.instance
            && !a.base.is_empty()
            && !b.base.is_empty()
            && (a.base.starts_with(&b.base) || b.base.starts_with(&a.base)))
        || (a.instance != b.instance && a.artist == b.artist);
    let alike = || {
        let shared = common_tracks(a, b);
        shared > 0 && shared * 2 >= a.listing.len().min(b.listing.len())
    };
    related || alike()
}

/// Whether two albums that share no track fill the same places.
fn contradict(a: &AlbumFacts<'_>, b: &AlbumFacts<'_>) -> bool {
    let place = |(disc, number, _): &(u32, u32, u32)| (*disc, *number);
    let taken = |at: &&(u32, u32, u32)| b.positions.binary_search_by_key(&place(at), place).is_ok();
    let enough = CONTRADICTING_PLACES
        .min(a.listing.len())
        .min(b.listing.len());
    enough > 0 && a.positions.iter().filter(taken).count() >= enough
}

/// How many tracks two albums have in common, by title or by recording id.
fn common_tracks(a: &AlbumFacts<'_>, b: &AlbumFacts<'_>) -> usize {
    let by_id = a
        .recordings
        .iter()
        .filter(|id| b.recordings.binary_search(id).is_ok())
        .count();
    by_id.max(shared(&a.listing, &b.listing, |_, _| true))
}

/// How many tracks of one listing have a partner in the other: title, version, length, and what `same` asks for.
fn shared(a: &[Heard], b: &[Heard], same: impl Fn(&Heard, &Heard) -> bool) -> usize {
    let title = |heard: &Heard| (heard.title, heard.version);
    let mut taken = vec![false; b.len()];
    let mut from = 0;
    let mut count = 0;
    for heard in a.iter().filter(|heard| heard.title != BLANK) {
        from += b[from..].partition_point(|other| title(other) < title(heard));
        let partner = b[from..]
            .iter()
            .take_while(|other| title(other) == title(heard))
            .take(MOST_COMPARED)
            .zip(from..);
        let free = partner
            .filter(|(other, at)| {
                !taken[*at] && same(heard, other) && close(heard.duration, other.duration)
            })
            .map(|(_, at)| at)
            .next();
        if let Some(at) = free {
            taken[at] = true;
            count += 1;
        }
    }
    count
}
