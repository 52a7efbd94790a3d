//! The key that secrets at rest are sealed with, and new secrets (architecture section 8).

use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::{Aes256Gcm, Key, Nonce};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Bytes of a key.
const KEY: usize = 32;

/// Bytes in front of each sealed text.
const NONCE: usize = 12;

/// Characters of a password: 100 bits, with no letter that is taken for a digit when read aloud.
const PASSWORD: usize = 20;
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Why there is no key, or no secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The file cannot be read or made.
    #[error("the key file {0} cannot be used: {1}")]
    Io(PathBuf, #[source] io::Error),
    /// Others than its owner may read it.
    #[error("the key file {path} may be read by others (mode {mode:03o}); make it 600")]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Not a regular file of 32 bytes.
    #[error("{0} is not a key file")]
    NotAKey(PathBuf),
    /// Sealed with another key or for another purpose, or damaged.
    #[error("the secret cannot be opened with this key")]
    Unopened,
    /// The system gives no random bytes.
    #[error("the system gives no random bytes")]
    NoRandomness,
}

/// The key of this hub, read from its file.
pub struct KeyFile(Aes256Gcm);

impl fmt::Debug for KeyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyFile(***)")
    }
}

impl KeyFile {
    /// Reads the key at `path`, and makes one that only its owner may read when there is none. Of several
    /// that make it at the same time all get the same key.
    ///
    /// # Errors
    /// See [`SecretError`]. A key that others may read is refused: it must be taken for known.
    pub fn open_or_create(path: &Path) -> Result<Self, SecretError> {
        match Self::open(path) {
            Err(SecretError::Io(_, error)) if error.kind() == ErrorKind::NotFound => {
                create(path)?;
                Self::open(path)
            }
            opened => opened,
        }
    }

    /// Reads the key at `path`.
    ///
    /// # Errors
    /// See [`SecretError`].
    pub fn open(path: &Path) -> Result<Self, SecretError> {
        let failed = |error| SecretError::Io(path.to_owned(), error);
        let not_a_key = || SecretError::NotAKey(path.to_owned());
        if !fs::metadata(path).map_err(failed)?.is_file() {
            return Err(not_a_key());
        }
        let file = File::open(path).map_err(failed)?;
        let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            let path = path.to_owned();
            return Err(SecretError::Exposed { path, mode });
        }
        let mut key = Vec::with_capacity(KEY + 1);
        file.take(KEY as u64 + 1)
            .read_to_end(&mut key)
            .map_err(failed)?;
        let key: [u8; KEY] = key.try_into().map_err(|_| not_a_key())?;
        Ok(Self(Aes256Gcm::new(&Key::<Aes256Gcm>::from(key))))
    }

    /// Encrypts `secret` so that it can be opened again for the same `purpose` only (say `user:alice`): a
    /// sealed secret that is moved to another row does not open there. Gives nonce and ciphertext.
    ///
    /// # Errors
    /// [`SecretError::NoRandomness`].
    pub fn seal(&self, secret: &[u8], purpose: &str) -> Result<Vec<u8>, SecretError> {
        let nonce: [u8; NONCE] = random()?;
        let payload = Payload {
            msg: secret,
            aad: purpose.as_bytes(),
        };
        let sealed = self.0.encrypt(&Nonce::from(nonce), payload);
        // Fails only for a message of 64 GiB.
        let sealed = sealed.map_err(|_| SecretError::Unopened)?;
        Ok([&nonce[..], &sealed].concat())
    }

    /// Opens what [`KeyFile::seal`] gave.
    ///
    /// # Errors
    /// [`SecretError::Unopened`] for anything else, down to a single changed bit.
    pub fn unseal(&self, sealed: &[u8], purpose: &str) -> Result<Vec<u8>, SecretError> {
        let (nonce, ciphertext) = sealed
            .split_first_chunk::<NONCE>()
            .ok_or(SecretError::Unopened)?;
        let payload = Payload {
            msg: ciphertext,
            aad: purpose.as_bytes(),
        };
        self.0
            .decrypt(&Nonce::from(*nonce), payload)
            .map_err(|_| SecretError::Unopened)
    }
}

/// A password that can be read aloud and typed.
///
/// # Errors
/// [`SecretError::NoRandomness`].
pub fn random_password() -> Result<String, SecretError> {
    let bytes: [u8; PASSWORD] = random()?;
    let letters = bytes.iter().map(|byte| LETTERS[usize::from(*byte) % 32]);
    Ok(letters.map(char::from).collect())
}

/// A token of 256 bits, for URLs and headers as it is.
///
/// # Errors
/// [`SecretError::NoRandomness`].
pub fn random_token() -> Result<String, SecretError> {
    let bytes: [u8; 32] = random()?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

fn random<const N: usize>() -> Result<[u8; N], SecretError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| SecretError::NoRandomness)?;
    Ok(bytes)
}

/// Writes a new key beside `path` and links it there: whoever comes second finds the first one's, whole.
fn create(path: &Path) -> Result<(), SecretError> {
    let key: [u8; KEY] = random()?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let unfinished = folder.join(format!(".key-{}", hex::encode(random::<8>()?)));
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&unfinished)
        .and_then(|mut file| {
            file.write_all(&key)?;
            file.sync_all()
        })
        .and_then(|()| fs::hard_link(&unfinished, path));
    let _ = fs::remove_file(&unfinished);
    match made {
        Ok(()) => File::open(folder).and_then(|folder| folder.sync_all()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
    .map_err(|error| SecretError::Io(path.to_owned(), error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn a_place() -> (TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("segue.key");
        (dir, path)
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn the_key_is_made_once_and_for_its_owner_only() {
        let (dir, path) = a_place();
        let first = KeyFile::open_or_create(&path).unwrap();
        assert_eq!((mode(&path), fs::read(&path).unwrap().len()), (0o600, 32));
        let sealed = first.seal(b"sesame", "user:alice").unwrap();
        let second = KeyFile::open_or_create(&path).unwrap();
        assert_eq!(second.unseal(&sealed, "user:alice").unwrap(), b"sesame");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn all_who_make_the_key_at_once_get_the_same() {
        let (_dir, path) = a_place();
        let keys: Vec<KeyFile> = std::thread::scope(|scope| {
            let makers: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| KeyFile::open_or_create(&path).unwrap()))
                .collect();
            makers
                .into_iter()
                .map(|maker| maker.join().unwrap())
                .collect()
        });
        let sealed = keys[0].seal(b"sesame", "").unwrap();
        assert!(keys.iter().all(|key| key.unseal(&sealed, "").is_ok()));
    }

    #[test]
    fn a_key_that_others_may_read_is_refused() {
        let (_dir, path) = a_place();
        KeyFile::open_or_create(&path).unwrap();
        for exposed in [0o640, 0o604, 0o660, 0o620] {
            fs::set_permissions(&path, fs::Permissions::from_mode(exposed)).unwrap();
            let error = KeyFile::open_or_create(&path).unwrap_err();
            let expected = format!("may be read by others (mode {exposed:03o}); make it 600");
            assert!(error.to_string().ends_with(&expected), "{error}");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
        KeyFile::open_or_create(&path).unwrap();
    }

    #[test]
    fn what_is_no_key_is_refused_and_left_alone() {
        let (dir, path) = a_place();
        for content in [&b""[..], &[0; 31], &[0; 33]] {
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            let error = KeyFile::open_or_create(&path).unwrap_err();
            assert!(matches!(error, SecretError::NotAKey(_)), "{error}");
            assert_eq!(fs::read(&path).unwrap(), content);
        }
        let error = KeyFile::open_or_create(dir.path()).unwrap_err();
        assert!(matches!(error, SecretError::NotAKey(_)), "{error}");
        let error = KeyFile::open_or_create(&dir.path().join("none/segue.key")).unwrap_err();
        assert!(matches!(error, SecretError::Io(..)), "{error}");
    }

    #[test]
    fn a_changed_bit_another_purpose_or_another_key_does_not_open() {
        let (_dir, path) = a_place();
        let key = KeyFile::open_or_create(&path).unwrap();
        let sealed = key.seal(b"sesame", "user:alice").unwrap();
        for bit in 0..sealed.len() * 8 {
            let mut tampered = sealed.clone();
            tampered[bit / 8] ^= 1 << (bit % 8);
            assert!(key.unseal(&tampered, "user:alice").is_err(), "bit {bit}");
        }
        for end in 0..sealed.len() {
            assert!(key.unseal(&sealed[..end], "user:alice").is_err());
        }
        assert!(key.unseal(&sealed, "user:bob").is_err());
        let (_dir, path) = a_place();
        let other = KeyFile::open_or_create(&path).unwrap();
        assert!(other.unseal(&sealed, "user:alice").is_err());
    }

    #[test]
    fn the_same_secret_never_looks_the_same() {
        let (_dir, path) = a_place();
        let key = KeyFile::open_or_create(&path).unwrap();
        let sealed = key.seal(b"", "").unwrap();
        assert_ne!(sealed, key.seal(b"", "").unwrap());
        assert_eq!(key.unseal(&sealed, "").unwrap(), b"");
        assert_eq!(format!("{key:?}"), "KeyFile(***)");
    }

    #[test]
    fn passwords_and_tokens_are_long_and_plain() {
        let password = random_password().unwrap();
        assert_eq!(password.len(), PASSWORD);
        assert!(password.bytes().all(|byte| LETTERS.contains(&byte)));
        assert_ne!(password, random_password().unwrap());
        let token = random_token().unwrap();
        assert_eq!(token.len(), 43);
        assert!(
            token
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
        );
    }
}
