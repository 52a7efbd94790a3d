//! `[federation]`: hubs that share their libraries.

use super::section::Section;
use std::path::PathBuf;

/// `[federation]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Federation {
    /// Whether peers may ask this hub, and it them.
    pub enabled: bool,
    /// This hub's name among its peers.
    pub instance_id: String,
    /// Its signing key.
    pub private_key_file: Option<PathBuf>,
    /// The list of peers.
    pub peers_file: Option<PathBuf>,
}

pub(super) fn read(mut section: Section<'_>) -> Federation {
    let enabled_place = section.place_of("enabled");
    let federation = Federation {
        enabled: section.flag("enabled", false),
        instance_id: section
            .text("instance_id")
            .map(|(id, _)| id)
            .unwrap_or_default(),
        private_key_file: section.path("private_key_file").map(|(path, _)| path),
        peers_file: section.path("peers_file").map(|(path, _)| path),
    };
    if federation.enabled {
        let missing = [
            ("instance_id", federation.instance_id.is_empty()),
            ("private_key_file", federation.private_key_file.is_none()),
            ("peers_file", federation.peers_file.is_none()),
        ];
        for (key, _) in missing.iter().filter(|(_, is_missing)| *is_missing) {
            section.wrong(
                enabled_place.clone(),
                "enabled",
                &format!("is true, but {key} is not set"),
                Some(format!("add `{key}`")),
            );
        }
    }
    section.finish();
    federation
}
