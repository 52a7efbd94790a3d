//! Between SQLite's values and ours.

use rusqlite::Row;
use rusqlite::types::{FromSql, Type};
use segue_core::catalog::model::{CoverRef, SourceKind};
use segue_core::time::Wall;

/// Reads a row's columns in the order they were asked for.
pub(crate) struct Columns<'r, 's> {
    row: &'r Row<'s>,
    at: usize,
}

impl<'r, 's> Columns<'r, 's> {
    pub(crate) fn of(row: &'r Row<'s>) -> Self {
        Columns { row, at: 0 }
    }

    pub(crate) fn next<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let at = self.at;
        self.at += 1;
        self.row.get(at)
    }

    pub(crate) fn wall(&mut self) -> rusqlite::Result<Wall> {
        self.next().map(Wall)
    }

    pub(crate) fn maybe_wall(&mut self) -> rusqlite::Result<Option<Wall>> {
        Ok(self.next::<Option<i64>>()?.map(Wall))
    }

    /// A number that cannot be negative; SQLite has only signed ones.
    pub(crate) fn unsigned(&mut self) -> rusqlite::Result<u64> {
        let value: i64 = self.next()?;
        Ok(u64::try_from(value).unwrap_or(0))
    }

    pub(crate) fn maybe_unsigned(&mut self) -> rusqlite::Result<Option<u64>> {
        let value: Option<i64> = self.next()?;
        Ok(value.and_then(|v| u64::try_from(v).ok()))
    }

    /// A JSON value in a text column.
    pub(crate) fn json<T: serde::de::DeserializeOwned>(&mut self) -> rusqlite::Result<T> {
        let at = self.at;
        let text: &'r str = {
            self.at += 1;
            self.row.get_ref(at)?.as_str()?
        };
        serde_json::from_str(text)
            .map_err(|e| rusqlite::Error::FromSqlConversionFailure(at, Type::Text, Box::new(e)))
    }

    /// Two columns: instance and remote id, both or none.
    pub(crate) fn cover(&mut self) -> rusqlite::Result<Option<CoverRef>> {
        let instance: Option<String> = self.next()?;
        let remote_id: Option<String> = self.next()?;
        Ok(instance
            .zip(remote_id)
            .map(|(instance, remote_id)| CoverRef {
                instance,
                remote_id,
            }))
    }

    pub(crate) fn kind(&mut self) -> rusqlite::Result<SourceKind> {
        let at = self.at;
        self.maybe_kind()?.ok_or_else(|| {
            rusqlite::Error::FromSqlConversionFailure(at, Type::Text, "unknown source kind".into())
        })
    }

    pub(crate) fn maybe_kind(&mut self) -> rusqlite::Result<Option<SourceKind>> {
        let word: Option<String> = self.next()?;
        Ok(word.and_then(|word| {
            [SourceKind::Subsonic, SourceKind::Folder, SourceKind::Peer]
                .into_iter()
                .find(|kind| kind.as_str() == word)
        }))
    }
}

/// As SQLite keeps it; what does not fit is the largest that does.
pub(crate) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(crate) fn maybe_signed(value: Option<u64>) -> Option<i64> {
    value.map(signed)
}

pub(crate) fn maybe_millis(value: Option<Wall>) -> Option<i64> {
    value.map(|wall| wall.0)
}

/// A list of strings as a JSON array.
pub(crate) fn json_list(list: &[String]) -> String {
    if list.is_empty() {
        return "[]".to_owned();
    }
    serde_json::Value::from(list).to_string()
}
