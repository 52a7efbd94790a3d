//! Users, their keys, settings.

use super::Reader;
use crate::columns::Columns;
use crate::{ApiKeyRow, Result, UserRow};
use std::fmt::Write as _;

const USER: &str = "SELECT u.id, u.name, u.password_enc, u.is_admin, u.created FROM users u";

fn user(c: &mut Columns<'_, '_>) -> rusqlite::Result<UserRow> {
    Ok(UserRow {
        id: c.next()?,
        name: c.next()?,
        password_enc: c.next()?,
        is_admin: c.next()?,
        created: c.wall()?,
    })
}

fn statement(rest: &str) -> String {
    let mut sql = USER.to_owned();
    let _ = write!(sql, " {rest}");
    sql
}

impl Reader {
    /// The user of that name, without regard to ASCII case.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn user(&self, name: &str) -> Result<Option<UserRow>> {
        self.one(&statement("WHERE u.name = ?1"), [name], user)
    }

    /// All users by name.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn users(&self) -> Result<Vec<UserRow>> {
        self.all(&statement("ORDER BY u.name"), [], user)
    }

    /// Whose key has this SHA-256.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn user_by_api_key(&self, hash: &[u8; 32]) -> Result<Option<UserRow>> {
        self.one(
            &statement("JOIN api_keys k ON k.user_id = u.id WHERE k.key_hash = ?1"),
            [hash],
            user,
        )
    }

    /// A user's keys, oldest first.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn api_keys(&self, user_id: i64) -> Result<Vec<ApiKeyRow>> {
        self.all(
            "SELECT id, label, created FROM api_keys WHERE user_id = ?1 ORDER BY id",
            [user_id],
            |c| {
                Ok(ApiKeyRow {
                    id: c.next()?,
                    label: c.next()?,
                    created: c.wall()?,
                })
            },
        )
    }

    /// What was set under this key.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn setting(&self, key: &str) -> Result<Option<String>> {
        self.one("SELECT value FROM settings WHERE key = ?1", [key], |c| {
            c.next()
        })
    }
}
