//! What a file's place says when its tags say nothing.

use super::path::RelativePath;
use unicode_normalization::UnicodeNormalization;

/// Title and numbers read from a file name such as `03 - Title`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NamedTrack {
    pub(super) title: String,
    pub(super) track_number: Option<u32>,
    pub(super) disc_number: Option<u32>,
}

/// Reads `NN - Title`, `NN. Title`, `NN_Title`, `NN Title` and `D-NN Title`; anything else is a title.
pub(super) fn track(stem: &str) -> NamedTrack {
    let stem: String = stem.trim().nfc().collect();
    let untouched = || NamedTrack {
        title: stem.clone(),
        ..NamedTrack::default()
    };
    let Some((first, rest)) = leading_number(&stem) else {
        return untouched();
    };
    if let Some(rest) = rest.strip_prefix('-')
        && let Some((second, rest)) = leading_number(rest)
        && let Some(title) = title_after(second, rest)
    {
        return NamedTrack {
            title,
            track_number: number(second),
            disc_number: number(first),
        };
    }
    match title_after(first, rest) {
        Some(title) => NamedTrack {
            title,
            track_number: number(first),
            disc_number: None,
        },
        None => untouched(),
    }
}

/// One to three digits at the start, and what follows.
fn leading_number(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (1..=3).contains(&digits).then(|| text.split_at(digits))
}

fn number(digits: &str) -> Option<u32> {
    digits.parse().ok().filter(|number| *number > 0)
}

/// The title behind a track number. With nothing but a space between them only `01` to `39` are numbers:
/// "99 Luftballons" and "7 Years" are titles.
fn title_after(digits: &str, rest: &str) -> Option<String> {
    let title = rest.trim_start_matches([' ', '-', '.', '_', '–']);
    let separator = &rest[..rest.len() - title.len()];
    let plausible = digits.len() == 2 && digits < "40";
    let separated = match separator {
        "" => false,
        " " => plausible,
        _ => true,
    };
    (separated && !title.trim().is_empty()).then(|| title.trim().to_owned())
}

/// The folder that stands for the album of a file, and the disc when the file lies in a disc's own folder
/// (`Album/CD 2/...`).
pub(super) fn album_folder(file: &RelativePath) -> (RelativePath, Option<u32>) {
    let folder = file.parent();
    match disc_of(&folder.name()) {
        Some(disc) if !folder.parent().name().is_empty() => (folder.parent(), Some(disc)),
        _ => (folder, None),
    }
}

/// The disc a folder's name speaks of: `CD1`, `Disc 2`, `disk_03`.
fn disc_of(name: &str) -> Option<u32> {
    let name = name.to_lowercase();
    let rest = ["disc", "disk", "cd"]
        .into_iter()
        .find_map(|word| name.strip_prefix(word))?;
    number(rest.trim_matches([' ', '-', '_', '.', '#']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_from_titles() {
        let cases = [
            ("01 - Hunter", "Hunter", Some(1), None),
            ("3. Jóga", "Jóga", Some(3), None),
            ("07_Title", "Title", Some(7), None),
            ("12 Title", "Title", Some(12), None),
            ("2-05 Title", "Title", Some(5), Some(2)),
            ("1-01 - Title", "Title", Some(1), Some(1)),
            ("99 Luftballons", "99 Luftballons", None, None),
            ("7 Years", "7 Years", None, None),
            ("1999", "1999", None, None),
            ("1979 - Live", "1979 - Live", None, None),
            ("100%", "100%", None, None),
            ("noise only", "noise only", None, None),
            ("04", "04", None, None),
        ];
        for (stem, title, track_number, disc_number) in cases {
            let expected = NamedTrack {
                title: title.to_owned(),
                track_number,
                disc_number,
            };
            assert_eq!(track(stem), expected, "{stem}");
        }
    }

    #[test]
    fn a_disc_folder_belongs_to_the_album_above() {
        let file = RelativePath::from_text("Artist/Album/CD 2/01.mp3");
        let (folder, disc) = album_folder(&file);
        assert_eq!((folder.to_text().as_str(), disc), ("Artist/Album", Some(2)));

        let file = RelativePath::from_text("CD 2/01.mp3");
        let (folder, disc) = album_folder(&file);
        assert_eq!((folder.to_text().as_str(), disc), ("CD 2", None));

        let file = RelativePath::from_text("Artist/Cdiscs/01.mp3");
        assert_eq!(album_folder(&file).1, None);
    }
}
