//! Cover pictures: a square whose colours follow from the upstream and the id.

use bytes::Bytes;
use image::{ExtendedColorType, ImageEncoder, codecs::png::PngEncoder};
use sha2::{Digest, Sha256};

/// Side of the picture when the request names none.
const SIDE: u32 = 300;
/// Larger sizes are not scaled up.
const LARGEST: u32 = 600;

/// A PNG; equal arguments give equal bytes.
pub(super) fn png(source: &str, id: &str, size: Option<u32>) -> Bytes {
    let side = size.unwrap_or(SIDE).clamp(1, LARGEST);
    let seed = Sha256::digest(format!("{source}/{id}"));
    let channel = |x: u32, y: u32, at: usize| {
        let wave =
            (x * u32::from(seed[at] % 3 + 1) + y * u32::from(seed[at + 1] % 3)) * 255 / (side * 6);
        (u32::from(seed[at + 2]) + wave).min(255) as u8
    };
    let pixels = (0..side).flat_map(|y| (0..side).map(move |x| (x, y)));
    let pixels = pixels.flat_map(|(x, y)| [channel(x, y, 0), channel(x, y, 3), channel(x, y, 6)]);
    let pixels: Vec<u8> = pixels.collect();
    let mut out = Vec::new();
    let written =
        PngEncoder::new(&mut out).write_image(&pixels, side, side, ExtendedColorType::Rgb8);
    assert!(written.is_ok(), "memory takes every picture");
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covers_are_png_of_the_size_asked_and_differ_by_id() {
        let cover = png("home", "al-1", Some(20));
        let decoded = image::load_from_memory(&cover).unwrap();
        assert_eq!((decoded.width(), decoded.height()), (20, 20));
        assert_eq!(cover, png("home", "al-1", Some(20)));
        assert_ne!(cover, png("home", "al-2", Some(20)));
        assert_ne!(cover, png("away", "al-1", Some(20)));
    }
}
