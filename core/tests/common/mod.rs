//! Random cases that shrink: a case is whatever a generator makes of a row of numbers.

/// Numbers to build a case from: endless from a seed, or a given row and then zeros. Generators
/// put the simplest choice first, so a row of zeros is the simplest case.
pub(crate) struct Dice {
    state: Option<u64>,
    row: Vec<u32>,
    at: usize,
}

impl Dice {
    pub(crate) fn seeded(seed: u64) -> Self {
        Dice {
            state: Some(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1),
            row: Vec::new(),
            at: 0,
        }
    }

    pub(crate) fn loaded(row: Vec<u32>) -> Self {
        Dice {
            state: None,
            row,
            at: 0,
        }
    }

    fn next(&mut self) -> u32 {
        if let (Some(x), true) = (&mut self.state, self.at == self.row.len()) {
            *x ^= *x << 13;
            *x ^= *x >> 7;
            *x ^= *x << 17;
            self.row.push((*x >> 32) as u32);
        }
        self.at += 1;
        self.row.get(self.at - 1).copied().unwrap_or(0)
    }

    /// A number from 0 to `n - 1`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 32) as u64
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// Tries random cases until they have taken `steps` steps. A case that fails is made smaller for as
/// long as it still fails; its message should print it as code.
pub(crate) fn hunt(steps: u64, check: impl Fn(&mut Dice) -> Result<u64, String>) {
    let mut taken = 0;
    for seed in 1.. {
        let mut dice = Dice::seeded(seed);
        match check(&mut dice) {
            Ok(n) => taken += n,
            Err(_) => panic!("seed {seed}: {}", smallest(dice.row, &check)),
        }
        if taken >= steps {
            return;
        }
    }
}

fn smallest(mut row: Vec<u32>, check: &impl Fn(&mut Dice) -> Result<u64, String>) -> String {
    let fails = |row: &[u32]| check(&mut Dice::loaded(row.to_vec())).err();
    let mut message = fails(&row).expect("a case is a function of its numbers");
    loop {
        let smaller = (0..row.len()).rev().flat_map(|i| {
            let (mut cut, mut zero, mut half) = (row.clone(), row.clone(), row.clone());
            cut.remove(i);
            zero[i] = 0;
            half[i] /= 2;
            [cut, zero, half]
        });
        let found = smaller
            .filter(|s| s != &row)
            .find_map(|s| fails(&s).map(|m| (s, m)));
        match found {
            Some((next, m)) => (row, message) = (next, m),
            None => return message,
        }
    }
}
