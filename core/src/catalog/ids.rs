//! Ids that last: an entity keeps its id while any of its sources lives, and an id once given out goes on leading somewhere.
//!
//! Who was in an entity before says which id it keeps. Where no source row survived (a server that renumbers, a file replaced by a
//! better one), the content says it. Only then is an id made, out of the row that founded the entity, so that a source that is
//! removed and added again finds its ids again.

use super::model::Alias;
use super::sets::index;
use md5::{Digest, Md5};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// What kind of entity an id is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Artist,
    ReleaseGroup,
    Release,
    Track,
}

impl Kind {
    const fn prefix(self) -> &'static str {
        match self {
            Kind::Artist => "ar",
            Kind::ReleaseGroup => "al",
            Kind::Release => "re",
            Kind::Track => "tr",
        }
    }
}

/// How well the content of a previous entity fits a new one of the same content key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// It is the same.
    Good,
    /// It may be the same, if nothing else claims either.
    Poor,
    /// It is another.
    None,
}

/// A member of an entity that was in a previous one: (previous entity, entity).
pub(super) type Vote = (u32, u32);

/// The previous ids of one kind, and what is known of the entities that want one. `K` is the content key.
pub(super) struct Census<'c, K> {
    pub(super) kind: Kind,
    /// The previous ids, sorted; a previous entity is known by its place here.
    pub(super) previous: Vec<&'c str>,
    /// How many members each previous entity had, the dead included.
    pub(super) sizes: Vec<u32>,
    /// The row that founds each entity: source and remote id.
    pub(super) founders: Vec<(&'c str, &'c str)>,
    /// Votes, strongest evidence first.
    pub(super) rounds: Vec<Vec<Vote>>,
    /// Content keys of the previous entities.
    pub(super) previous_key: &'c dyn Fn(u32) -> Option<K>,
    /// Content keys of the entities.
    pub(super) key: &'c dyn Fn(u32) -> Option<K>,
    /// How a previous entity and an entity of one content key fit.
    pub(super) fit: &'c dyn Fn(u32, u32) -> Fit,
}

/// The ids of one kind, and where the previous ones went.
pub(super) struct Assigned {
    /// The id of each entity.
    pub(super) ids: Vec<String>,
    /// For each previous entity the entity that now answers to its id.
    pub(super) heirs: Vec<Option<u32>>,
    /// Previous ids that died and lead to a living one.
    pub(super) aliases: Vec<Alias>,
}

/// Gives every entity an id. `given_out` holds every id that is an alias already.
pub(super) fn assign<K: Ord>(census: Census<'_, K>, given_out: &BTreeSet<&str>) -> Assigned {
    let mut claims = Claims {
        of_entity: vec![None; census.founders.len()],
        of_previous: vec![None; census.previous.len()],
        strongest: vec![None; census.previous.len()],
    };
    for votes in &census.rounds {
        claims.by_votes(&census, votes);
    }
    claims.by_content(&census);
    let ids = claims.named(&census, given_out);
    let mut aliases = Vec::new();
    let heirs = (0..census.previous.len())
        .map(|at| claims.of_previous[at].or(claims.strongest[at]))
        .collect();
    for (at, old) in census.previous.iter().enumerate() {
        if let (None, Some(heir)) = (claims.of_previous[at], claims.strongest[at]) {
            aliases.push(Alias {
                old_id: (*old).to_owned(),
                new_id: ids[heir as usize].clone(),
            });
        }
    }
    Assigned {
        ids,
        heirs,
        aliases,
    }
}

struct Claims {
    /// The previous entity whose id an entity keeps.
    of_entity: Vec<Option<u32>>,
    /// The entity that keeps a previous id.
    of_previous: Vec<Option<u32>>,
    /// The entity with the strongest claim on a previous id, whether it got that id or another.
    strongest: Vec<Option<u32>>,
}

impl Claims {
    /// The largest previous entity chooses first: its id survives a join, and stays with the part that holds most of it in a split.
    fn by_votes<K>(&mut self, census: &Census<'_, K>, votes: &[Vote]) {
        let mut votes = votes.to_vec();
        votes.sort_unstable();
        let mut order: Vec<&[Vote]> = votes.chunk_by(|a, b| a.0 == b.0).collect();
        order.sort_by_key(|votes| (Reverse(census.sizes[votes[0].0 as usize]), votes[0].0));
        for votes in order {
            let previous = votes[0].0;
            let mut parts: Vec<&[Vote]> = votes.chunk_by(|a, b| a == b).collect();
            if parts.len() > 1 {
                parts.sort_by_cached_key(|part| {
                    let entity = part[0].1;
                    let founded = census.fresh(entity, 0) == census.previous[previous as usize];
                    (
                        Reverse(part.len()),
                        !founded,
                        census.founders[entity as usize],
                        entity,
                    )
                });
            }
            self.strongest[previous as usize].get_or_insert(parts[0][0].1);
            self.claim(previous, parts.iter().map(|part| part[0].1));
        }
    }

    fn claim(&mut self, previous: u32, mut entities: impl Iterator<Item = u32>) {
        if self.of_previous[previous as usize].is_some() {
            return;
        }
        if let Some(entity) = entities.find(|entity| self.of_entity[*entity as usize].is_none()) {
            self.of_previous[previous as usize] = Some(entity);
            self.of_entity[entity as usize] = Some(previous);
        }
    }

    /// Previous entities that no row remembers go to the entity that says the same of itself.
    fn by_content<K: Ord>(&mut self, census: &Census<'_, K>) {
        let forgotten: Vec<u32> = (0..index(census.previous.len()))
            .filter(|at| self.strongest[*at as usize].is_none())
            .collect();
        if forgotten.is_empty() {
            return;
        }
        let mut alike: BTreeMap<K, (Vec<u32>, Vec<u32>)> = BTreeMap::new();
        for previous in forgotten {
            if let Some(key) = (census.previous_key)(previous) {
                alike.entry(key).or_default().0.push(previous);
            }
        }
        for entity in 0..index(census.founders.len()) {
            if let Some((_, entities)) = (census.key)(entity).and_then(|key| alike.get_mut(&key)) {
                entities.push(entity);
            }
        }
        for (previous, mut entities) in alike.into_values() {
            entities.sort_by_key(|entity| (census.founders[*entity as usize], *entity));
            let (mut new, named): (Vec<u32>, Vec<u32>) = entities
                .into_iter()
                .partition(|entity| self.of_entity[*entity as usize].is_none());
            let sole = previous.len() == 1 && new.len() == 1;
            for at in previous {
                let fit = |entity: &u32| (census.fit)(at, *entity);
                let taken = new.iter().position(|entity| {
                    fit(entity) == Fit::Good || (sole && fit(entity) == Fit::Poor)
                });
                let heir = match taken {
                    Some(place) => {
                        let entity = new.remove(place);
                        self.claim(at, std::iter::once(entity));
                        Some(entity)
                    }
                    None => named
                        .iter()
                        .copied()
                        .find(|entity| fit(entity) == Fit::Good),
                };
                self.strongest[at as usize] = heir;
            }
        }
    }

    fn named<K>(&self, census: &Census<'_, K>, given_out: &BTreeSet<&str>) -> Vec<String> {
        let mut made: BTreeSet<String> = BTreeSet::new();
        let mut ids = Vec::with_capacity(census.founders.len());
        for entity in 0..index(census.founders.len()) {
            if let Some(previous) = self.of_entity[entity as usize] {
                ids.push(census.previous[previous as usize].to_owned());
                continue;
            }
            let free = |id: &String| {
                census.previous.binary_search(&id.as_str()).is_err()
                    && !given_out.contains(id.as_str())
                    && !made.contains(id)
            };
            let id = (0..)
                .map(|salt| census.fresh(entity, salt))
                .find(free)
                .unwrap_or_default();
            made.insert(id.clone());
            ids.push(id);
        }
        ids
    }
}

impl<K> Census<'_, K> {
    /// The id that an entity gets if nothing else is known: a fixed hash of kind, founder and salt, 80 bits of it.
    fn fresh(&self, entity: u32, salt: u64) -> String {
        let (instance, remote_id) = self.founders[entity as usize];
        let mut hash = Md5::new();
        for part in [self.kind.prefix(), instance, remote_id] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.update(salt.to_le_bytes());
        format!(
            "{}{}",
            self.kind.prefix(),
            hex::encode(&hash.finalize()[..10])
        )
    }
}

/// All aliases, old and new, each leading straight to a living id; those that lead nowhere are left out, as are ids that live.
pub(super) fn resolve(old: &[Alias], new: Vec<Alias>, living: &BTreeSet<&str>) -> Vec<Alias> {
    let mut leads: BTreeMap<&str, &str> = old
        .iter()
        .map(|alias| (alias.old_id.as_str(), alias.new_id.as_str()))
        .collect();
    leads.extend(
        new.iter()
            .map(|alias| (alias.old_id.as_str(), alias.new_id.as_str())),
    );
    let mut resolved = Vec::new();
    for (from, to) in leads.iter().filter(|(from, _)| !living.contains(**from)) {
        let mut at = *to;
        // A chain is no longer than there are links: a circle ends, too.
        for _ in 0..leads.len() {
            match leads.get(at) {
                Some(next) if !living.contains(at) => at = next,
                Some(_) | None => break,
            }
        }
        if living.contains(at) {
            resolved.push(Alias {
                old_id: (*from).to_owned(),
                new_id: at.to_owned(),
            });
        }
    }
    resolved
}
