//! Users, their keys, stars, ratings and plays; settings.

use crate::{Error, Result, Writer};
use rusqlite::params;
use segue_core::time::Wall;

/// A user to be added.
#[derive(Clone, PartialEq, Eq)]
pub struct NewUser {
    /// Name, unique without regard to ASCII case.
    pub name: String,
    /// The password, encrypted under the key file.
    pub password_enc: Vec<u8>,
    /// May administer.
    pub is_admin: bool,
}

impl Writer {
    /// Adds a user; its row id.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the name is taken.
    pub fn add_user(&self, user: &NewUser, now: Wall) -> Result<i64> {
        let added = self.run(
            "INSERT INTO users (name, password_enc, is_admin, created) VALUES (?1, ?2, ?3, ?4)",
            params![user.name, user.password_enc, user.is_admin, now.0],
        );
        match added {
            Ok(_) => Ok(self.sql().last_insert_rowid()),
            Err(error) if error.is_unique_violation() => Err(Error::Conflict(format!(
                "there is already a user {:?}",
                user.name
            ))),
            Err(error) => Err(error),
        }
    }

    /// Replaces a user's password; whether there is such a user.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn set_password(&self, user_id: i64, password_enc: &[u8]) -> Result<bool> {
        let touched = self.run(
            "UPDATE users SET password_enc = ?2 WHERE id = ?1",
            params![user_id, password_enc],
        )?;
        Ok(touched > 0)
    }

    /// Makes a user an administrator, or not; whether there is such a user.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn set_admin(&self, user_id: i64, is_admin: bool) -> Result<bool> {
        let touched = self.run(
            "UPDATE users SET is_admin = ?2 WHERE id = ?1",
            params![user_id, is_admin],
        )?;
        Ok(touched > 0)
    }

    /// Removes a user with keys, stars, ratings and plays; whether there was one.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn remove_user(&self, user_id: i64) -> Result<bool> {
        Ok(self.run("DELETE FROM users WHERE id = ?1", [user_id])? > 0)
    }

    /// Adds an API key by its SHA-256; its row id.
    ///
    /// # Errors
    /// SQLite's own, for instance when there is no such user.
    pub fn add_api_key(
        &self,
        user_id: i64,
        hash: &[u8; 32],
        label: &str,
        now: Wall,
    ) -> Result<i64> {
        self.run(
            "INSERT INTO api_keys (user_id, key_hash, label, created) VALUES (?1, ?2, ?3, ?4)",
            params![user_id, hash, label, now.0],
        )?;
        Ok(self.sql().last_insert_rowid())
    }

    /// Removes one of a user's keys; whether there was one.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn remove_api_key(&self, user_id: i64, key_id: i64) -> Result<bool> {
        let touched = self.run(
            "DELETE FROM api_keys WHERE id = ?1 AND user_id = ?2",
            [key_id, user_id],
        )?;
        Ok(touched > 0)
    }

    /// Sets a value, or replaces the one that was there.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn set_setting(&self, key: &str, value: &str) -> Result<()> {
        self.run(
            "INSERT INTO settings (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            [key, value],
        )?;
        Ok(())
    }

    /// Stars a track, album or artist; whether there is one. Starring again keeps the first time.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn star(&self, user_id: i64, id: &str, now: Wall) -> Result<bool> {
        let Some(id) = self.reader().resolve(id)? else {
            return Ok(false);
        };
        self.run(
            "INSERT INTO stars (user_id, target_id, starred_at) VALUES (?1, ?2, ?3) \
             ON CONFLICT (user_id, target_id) DO NOTHING",
            params![user_id, id, now.0],
        )?;
        Ok(true)
    }

    /// Takes a star away; whether the id is known. One that leads nowhere loses its star all the same.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn unstar(&self, user_id: i64, id: &str) -> Result<bool> {
        let living = self.reader().resolve(id)?;
        let touched = self.run(
            "DELETE FROM stars WHERE user_id = ?1 AND target_id = ?2",
            params![user_id, living.as_deref().unwrap_or(id)],
        )?;
        Ok(living.is_some() || touched > 0)
    }

    /// Rates a track, album or artist from 1 to 5, or takes the rating away with 0; whether there is one.
    ///
    /// # Errors
    /// SQLite's own, among them a rating above 5.
    pub fn set_rating(&self, user_id: i64, id: &str, rating: u8, now: Wall) -> Result<bool> {
        let Some(id) = self.reader().resolve(id)? else {
            return Ok(false);
        };
        if rating == 0 {
            self.run(
                "DELETE FROM ratings WHERE user_id = ?1 AND target_id = ?2",
                params![user_id, id],
            )?;
        } else {
            self.run(
                "INSERT INTO ratings (user_id, target_id, rating, rated_at) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT (user_id, target_id) DO UPDATE SET rating = excluded.rating, rated_at = excluded.rated_at",
                params![user_id, id, rating, now.0],
            )?;
        }
        Ok(true)
    }

    /// Notes that a user played a track; whether there is such a track.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn record_play(&self, user_id: i64, id: &str, at: Wall, client: &str) -> Result<bool> {
        let Some(id) = self.reader().resolve(id)? else {
            return Ok(false);
        };
        self.run(
            "INSERT INTO plays (user_id, track_id, played_at, client) VALUES (?1, ?2, ?3, ?4)",
            params![user_id, id, at.0, client],
        )?;
        Ok(true)
    }
}
