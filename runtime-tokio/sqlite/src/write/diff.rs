//! Two lists in key order, compared row by row.

use crate::Result;
use std::cmp::Ordering;

/// What must be done to one stored row.
pub(crate) enum Difference<R> {
    Added(R),
    Updated(R),
    Removed(R),
}

/// What it takes to turn `stored` into `wanted`, and how many rows stay as they are.
pub(crate) struct Differences<R> {
    pub(crate) changes: Vec<Difference<R>>,
    pub(crate) unchanged: u64,
}

/// Both lists are in the strict order of `order`, which looks at the key alone. Holds one stored row at a time.
pub(crate) fn differences<R: PartialEq>(
    stored: impl Iterator<Item = rusqlite::Result<R>>,
    wanted: Vec<R>,
    order: impl Fn(&R, &R) -> Ordering,
) -> Result<Differences<R>> {
    let mut found = Differences {
        changes: Vec::new(),
        unchanged: 0,
    };
    let mut wanted = wanted.into_iter().peekable();
    for old in stored {
        let old = old?;
        while let Some(new) = wanted.next_if(|new| order(new, &old) == Ordering::Less) {
            found.changes.push(Difference::Added(new));
        }
        match wanted.next_if(|new| order(new, &old) == Ordering::Equal) {
            Some(new) if new == old => found.unchanged += 1,
            Some(new) => found.changes.push(Difference::Updated(new)),
            None => found.changes.push(Difference::Removed(old)),
        }
    }
    found.changes.extend(wanted.map(Difference::Added));
    Ok(found)
}

/// Puts rows into key order and drops all but the first of each key, which `repeated` hears of.
pub(crate) fn by_key<R>(
    rows: &mut Vec<R>,
    order: impl Fn(&R, &R) -> Ordering,
    mut repeated: impl FnMut(&R),
) {
    rows.sort_by(&order);
    rows.dedup_by(|later, earlier| {
        let same = order(later, earlier) == Ordering::Equal;
        if same {
            repeated(later);
        }
        same
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_a_change() {
        let stored = [(1, 'a'), (2, 'b'), (4, 'd')];
        let wanted = vec![(0, 'z'), (2, 'b'), (3, 'c'), (4, 'x'), (5, 'e')];
        let found = differences(stored.into_iter().map(Ok), wanted, |a, b| a.0.cmp(&b.0)).unwrap();
        let told: Vec<String> = found
            .changes
            .iter()
            .map(|change| match change {
                Difference::Added(row) => format!("+{}{}", row.0, row.1),
                Difference::Updated(row) => format!("={}{}", row.0, row.1),
                Difference::Removed(row) => format!("-{}{}", row.0, row.1),
            })
            .collect();
        assert_eq!(told, ["+0z", "-1a", "+3c", "=4x", "+5e"]);
        assert_eq!(found.unchanged, 1);
    }

    #[test]
    fn the_first_row_of_a_key_wins() {
        let mut rows = vec![(2, 'b'), (1, 'a'), (2, 'c')];
        let mut dropped = Vec::new();
        by_key(&mut rows, |a, b| a.0.cmp(&b.0), |row| dropped.push(*row));
        assert_eq!(rows, [(1, 'a'), (2, 'b')]);
        assert_eq!(dropped, [(2, 'c')]);
    }
}
