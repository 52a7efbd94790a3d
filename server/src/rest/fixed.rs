//! Replies that are the same for every library: who we are, and the empty answers to what clients ask
//! for at start and we do not keep. An error there would end their synchronisation.

use super::document::Doc;

/// `getLicense`: free software is always licensed.
pub(super) fn license() -> Doc {
    Doc::new().with("license", Doc::new().with("valid", true))
}

/// `getOpenSubsonicExtensions`. An extension is listed only when it is honoured.
pub(super) fn extensions(transcodes: bool) -> Doc {
    let mut names = vec![
        ("apiKeyAuthentication", &[1u32][..]),
        ("formPost", &[1]),
        ("songLyrics", &[1, 2]),
        ("topSongsByArtistId", &[1]),
    ];
    if transcodes {
        names.push(("transcodeOffset", &[1]));
    }
    let extension = |(name, versions): (&str, &[u32])| {
        Doc::new()
            .with("name", name)
            .with_list("versions", versions.iter().copied())
    };
    Doc::new().with_list("openSubsonicExtensions", names.into_iter().map(extension))
}

/// An object that holds nothing but an empty list.
pub(super) fn no(container: &'static str, list: &'static str) -> Doc {
    Doc::new().with(container, Doc::new().with_list(list, Vec::<Doc>::new()))
}
