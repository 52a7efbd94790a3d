//! Two small tools of the merge: who belongs together, and numbers for keys.

use std::collections::BTreeMap;

/// Disjoint sets over `0..n`; a set is known by its smallest element, so that the order of unions does not show.
pub(super) struct Sets {
    parent: Vec<u32>,
}

impl Sets {
    /// `n` sets of one.
    pub(super) fn new(n: usize) -> Self {
        Sets {
            parent: (0..index(n)).collect(),
        }
    }

    /// The smallest element of the set that holds `at`.
    pub(super) fn root(&mut self, mut at: u32) -> u32 {
        while self.parent[at as usize] != at {
            let above = self.parent[self.parent[at as usize] as usize];
            self.parent[at as usize] = above;
            at = above;
        }
        at
    }

    /// Makes one set of two.
    pub(super) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    /// Numbers the sets in the order of their smallest elements: the number of each element's set, and how many there are.
    pub(super) fn numbered(mut self) -> (Vec<u32>, usize) {
        let mut numbers = vec![0; self.parent.len()];
        let mut count = 0;
        for at in 0..index(self.parent.len()) {
            let root = self.root(at);
            numbers[at as usize] = if root == at {
                count
            } else {
                numbers[root as usize]
            };
            count += u32::from(root == at);
        }
        (numbers, count as usize)
    }
}

/// Gives equal keys equal numbers, from 0 in the order of first sight.
#[derive(Default)]
pub(super) struct Numbers {
    ids: BTreeMap<String, u32>,
}

impl Numbers {
    /// The number of a key.
    pub(super) fn of(&mut self, key: String) -> u32 {
        let next = index(self.ids.len());
        *self.ids.entry(key).or_insert(next)
    }
}

/// With how many namesakes one row is compared at most. A source may list a hundred thousand albums of one name, and comparing each with
/// each would take hours; whoever comes after so many stays apart, as always in doubt.
pub(super) const MOST_COMPARED: usize = 64;

/// A position as a number of 32 bits: the merge counts rows of one library, which are fewer.
pub(super) fn index(position: usize) -> u32 {
    u32::try_from(position).expect("a library has fewer than 2^32 rows")
}
