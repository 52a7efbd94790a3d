//! One number for a set of lanes.

use std::collections::BTreeSet;

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// FNV-1a 64 of the sorted, lower-cased, de-duplicated, comma-joined names, masked to 31 bits; 0 without names.
///
/// A function of the set, not of its order (contracts section 5).
///
/// ```
/// use segue_core::queue::providers_version;
/// assert_eq!(providers_version(&["lrclib", "Local"]), providers_version(&["local", "lrclib", "LRCLIB"]));
/// assert_eq!(providers_version::<&str>(&[]), 0);
/// ```
pub fn providers_version<S: AsRef<str>>(names: &[S]) -> u32 {
    let set: BTreeSet<String> = names.iter().map(|n| n.as_ref().to_lowercase()).collect();
    if set.is_empty() {
        return 0;
    }
    let joined = set.into_iter().collect::<Vec<_>>().join(",");
    let hash = joined.bytes().fold(OFFSET, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    });
    (hash & 0x7fff_ffff) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_fnv_1a_masked_to_31_bits() {
        // Published vectors of FNV-1a 64.
        assert_eq!(
            providers_version(&["a"]),
            (0xaf63_dc4c_8601_ec8c_u64 & 0x7fff_ffff) as u32
        );
        let foobar = (0x8594_4171_f739_67e8_u64 & 0x7fff_ffff) as u32;
        assert_eq!(providers_version(&["FooBar", "foobar"]), foobar);
    }
}
