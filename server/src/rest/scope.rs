//! `musicFolderId`: which part of the library a call is about.

use super::document::{Doc, Value};
use super::params::Params;
use segue_sqlite::{InstanceRow, Reader, Result};

/// Which part of the library a call is about. A music folder is a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Everything.
    All,
    /// What one source has.
    Source(String),
    /// A folder that is none: nothing. Not an error, since folders go while clients remember them.
    Nothing,
}

impl Scope {
    /// The value of the parameter, to be looked up by [`Scope::find`].
    pub(super) fn asked(params: &Params) -> Option<String> {
        params.get("musicFolderId").map(str::to_owned)
    }

    /// The scope of a folder number or a source id.
    pub(super) fn find(reader: &Reader, asked: Option<&str>) -> Result<Scope> {
        let Some(asked) = asked else {
            return Ok(Scope::All);
        };
        let instances = reader.instances()?;
        let is_asked = |i: &&InstanceRow| i.id == asked || i.folder_number.to_string() == asked;
        Ok(match instances.iter().find(is_asked) {
            Some(instance) => Scope::Source(instance.id.clone()),
            None => Scope::Nothing,
        })
    }

    /// Asks within the scope; `Nothing` is answered without asking.
    pub(super) fn ask<T: Default>(
        &self,
        question: impl FnOnce(Option<&str>) -> Result<T>,
    ) -> Result<T> {
        match self {
            Scope::All => question(None),
            Scope::Source(id) => question(Some(id)),
            Scope::Nothing => Ok(T::default()),
        }
    }
}

/// The folder numbers, as `getUser` lists them.
pub(super) fn folder_numbers(instances: &[InstanceRow]) -> impl Iterator<Item = Value> {
    instances.iter().map(|i| Value::Int(i.folder_number))
}

/// `getMusicFolders`.
pub(super) fn music_folders(instances: &[InstanceRow]) -> Doc {
    let folder = |i: &InstanceRow| Doc::new().with("id", i.folder_number).with("name", &i.name);
    Doc::new().with(
        "musicFolders",
        Doc::new().with_list("musicFolder", instances.iter().map(folder)),
    )
}
