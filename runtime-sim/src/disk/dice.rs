//! Choices from a seed.

/// SplitMix64: small, and the same on every machine and in every version of every crate.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Choices that follow from `seed`.
    pub fn new(seed: u64) -> Self {
        Dice(seed)
    }

    /// Any number.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// One of `0..count`. Not quite even, which nobody here needs.
    pub fn below(&mut self, count: u64) -> u64 {
        self.roll() % count.max(1)
    }

    /// One of two.
    pub fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    /// Bytes like noise.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let word = self.roll().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }
}
