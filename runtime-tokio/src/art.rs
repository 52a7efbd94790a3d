//! Pictures: made smaller for clients, and kept on disk once made.

mod cache;

pub use cache::{Cache, CacheError};

use bytes::Bytes;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageReader, Limits};
use std::io::Cursor;

/// No side of a picture may be longer.
const MAX_SIDE: u32 = 16_384;

/// A picture may not have more pixels: a few bytes can claim billions of them.
const MAX_PIXELS: u64 = 40_000_000;

/// Memory one picture may take while it is decoded.
const MAX_DECODED: u64 = 192 * 1024 * 1024;

/// Hardly told from the original at the sizes asked for, at a tenth of its length.
const JPEG_QUALITY: u8 = 85;

/// Why a picture cannot be made smaller.
#[derive(Debug, thiserror::Error)]
pub enum ArtError {
    /// Neither JPEG, PNG, WebP nor GIF, by its first bytes.
    #[error("not a picture")]
    NotAPicture,
    /// More pixels than are decoded here.
    #[error("the picture of {width} x {height} pixels is too large")]
    TooLarge {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
    },
    /// Damaged, or beyond the decoder.
    #[error("the picture cannot be decoded: {0}")]
    Broken(#[source] ImageError),
    /// The result cannot be written.
    #[error("the picture cannot be encoded: {0}")]
    Unencoded(#[source] ImageError),
}

/// Media type of a picture by its first bytes: JPEG, PNG, WebP or GIF; `None` for anything else.
pub fn sniff(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', ..] if bytes.get(8..12) == Some(b"WEBP") => Some("image/webp"),
        _ => None,
    }
}

/// Makes a picture fit a square of `size` pixels, keeping its aspect, and says its media type: JPEG, or PNG
/// where something shines through. A picture that fits already comes back as it is; nothing is enlarged.
///
/// Takes up to a second for large pictures: call it where blocking is allowed.
///
/// # Errors
/// See [`ArtError`]; what is too large is refused before it is decoded.
pub fn resize(picture: &Bytes, size: u32) -> Result<(Bytes, &'static str), ArtError> {
    let content_type = sniff(picture).ok_or(ArtError::NotAPicture)?;
    let size = size.clamp(1, MAX_SIDE);
    let mut reader = ImageReader::new(Cursor::new(picture))
        .with_guessed_format()
        .map_err(|error| ArtError::Broken(error.into()))?;
    reader.limits(limits());
    let mut decoder = reader.into_decoder().map_err(ArtError::Broken)?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    if pixels > MAX_PIXELS || width > MAX_SIDE || height > MAX_SIDE {
        return Err(ArtError::TooLarge { width, height });
    }
    if width <= size && height <= size {
        return Ok((picture.clone(), content_type));
    }
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let image = DynamicImage::from_decoder(decoder).map_err(ArtError::Broken)?;
    let mut small = image.resize(size, size, FilterType::Triangle);
    small.apply_orientation(orientation);
    encode(&small)
}

fn limits() -> Limits {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_DECODED);
    limits
}

fn encode(image: &DynamicImage) -> Result<(Bytes, &'static str), ArtError> {
    let mut bytes = Vec::new();
    let content_type = if shines_through(image) {
        let encoder = PngEncoder::new(&mut bytes);
        let pixels = DynamicImage::ImageRgba8(image.to_rgba8());
        pixels
            .write_with_encoder(encoder)
            .map_err(ArtError::Unencoded)?;
        "image/png"
    } else {
        let encoder = JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY);
        let pixels = DynamicImage::ImageRgb8(image.to_rgb8());
        pixels
            .write_with_encoder(encoder)
            .map_err(ArtError::Unencoded)?;
        "image/jpeg"
    };
    Ok((bytes.into(), content_type))
}

/// Whether any pixel is not opaque. Many pictures have an alpha channel and no use for it.
fn shines_through(image: &DynamicImage) -> bool {
    image.color().has_alpha() && image.to_rgba8().pixels().any(|pixel| pixel.0[3] < u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};

    fn encoded(image: &DynamicImage, format: ImageFormat) -> Bytes {
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, format).unwrap();
        bytes.into_inner().into()
    }

    fn opaque(width: u32, height: u32) -> DynamicImage {
        DynamicImage::ImageRgb8(RgbImage::from_pixel(width, height, Rgb([200, 30, 30])))
    }

    fn size_of(bytes: &[u8]) -> (u32, u32) {
        let image = image::load_from_memory(bytes).unwrap();
        (image.width(), image.height())
    }

    #[test]
    fn a_picture_is_made_to_fit_and_keeps_its_aspect() {
        for format in [
            ImageFormat::Jpeg,
            ImageFormat::Png,
            ImageFormat::Gif,
            ImageFormat::WebP,
        ] {
            let picture = encoded(&opaque(200, 100), format);
            let (small, content_type) = resize(&picture, 50).unwrap();
            assert_eq!((size_of(&small), content_type), ((50, 25), "image/jpeg"));
            assert_eq!(sniff(&small), Some("image/jpeg"));
        }
        let upright = encoded(&opaque(100, 300), ImageFormat::Png);
        assert_eq!(size_of(&resize(&upright, 150).unwrap().0), (50, 150));
    }

    #[test]
    fn nothing_is_enlarged_or_encoded_again_for_nothing() {
        let picture = encoded(&opaque(40, 30), ImageFormat::Png);
        for size in [40, 41, 4000, u32::MAX] {
            let (same, content_type) = resize(&picture, size).unwrap();
            assert_eq!((same, content_type), (picture.clone(), "image/png"));
        }
        assert_eq!(size_of(&resize(&picture, 0).unwrap().0), (1, 1));
    }

    #[test]
    fn what_shines_through_stays_png() {
        let glass = RgbaImage::from_pixel(64, 64, Rgba([1, 2, 3, 100]));
        let picture = encoded(&DynamicImage::ImageRgba8(glass), ImageFormat::Png);
        assert_eq!(resize(&picture, 32).unwrap().1, "image/png");

        let solid = RgbaImage::from_pixel(64, 64, Rgba([1, 2, 3, 255]));
        let picture = encoded(&DynamicImage::ImageRgba8(solid), ImageFormat::Png);
        assert_eq!(resize(&picture, 32).unwrap().1, "image/jpeg");
    }

    #[test]
    fn a_bomb_is_refused_before_it_is_decoded() {
        let mut bomb = encoded(&opaque(1, 1), ImageFormat::Png).to_vec();
        // Width and height of the header chunk, and its checksum over type and data.
        bomb[16..20].copy_from_slice(&60_000_u32.to_be_bytes());
        bomb[20..24].copy_from_slice(&60_000_u32.to_be_bytes());
        let checksum = crc32(&bomb[12..29]).to_be_bytes();
        bomb[29..33].copy_from_slice(&checksum);
        let error = resize(&bomb.into(), 100).unwrap_err();
        let expected = "the picture of 60000 x 60000 pixels is too large";
        assert_eq!(error.to_string(), expected);
    }

    fn crc32(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc: u32, _| {
                (crc >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(crc & 1))
            })
        })
    }

    #[test]
    fn what_is_no_whole_picture_is_refused() {
        let page = Bytes::from_static(b"<html>no picture</html>");
        assert!(matches!(resize(&page, 10), Err(ArtError::NotAPicture)));
        let whole = encoded(&opaque(200, 200), ImageFormat::Png);
        let cut = whole.slice(..whole.len() / 2);
        assert!(matches!(resize(&cut, 10), Err(ArtError::Broken(_))));
    }

    #[test]
    fn a_turned_photograph_is_set_upright() {
        let mut jpeg = encoded(&opaque(80, 40), ImageFormat::Jpeg).to_vec();
        // An EXIF block with nothing but "turn right", behind the start marker.
        let mut exif =
            b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0".to_vec();
        exif.extend([0; 4]);
        let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
        let segment = [&[0xff, 0xe1], &length[..], &exif].concat();
        jpeg.splice(2..2, segment);
        assert_eq!(size_of(&resize(&jpeg.into(), 20).unwrap().0), (10, 20));
    }
}
