//! Comparing bodies of many bytes.

/// Compares bytes; what differs is told in a line.
macro_rules! assert_bytes {
    ($left:expr, $right:expr) => {
        crate::same::compare(&$left[..], &$right[..], "")
    };
    ($left:expr, $right:expr, $($case:tt)+) => {
        crate::same::compare(&$left[..], &$right[..], &format!($($case)+))
    };
}
pub(crate) use assert_bytes;

#[track_caller]
pub(crate) fn compare(left: &[u8], right: &[u8], case: &str) {
    let pairs = left.iter().zip(right);
    let same = pairs.take_while(|(left, right)| left == right).count();
    let (left, right) = (left.len(), right.len());
    assert!(
        left == right && same == left,
        "{left} bytes, not {right}; the first {same} are equal {case}"
    );
}
