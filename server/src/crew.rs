//! The processes that work on the queue of one data directory, and whether this one is the only one.
//!
//! Each holds its place as long as it lives, in a way that ends with the process, however it ends. Whoever finds all
//! places empty at its start knows that nothing is under way, and that what was begun was left.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// A place among the processes that work on a queue, until it is dropped or the process ends.
#[derive(Debug)]
pub struct Crew {
    place: File,
    alone: bool,
}

impl Crew {
    /// Takes a place. Who is alone keeps others waiting here until [`Crew::let_in`].
    ///
    /// # Errors
    /// When the file cannot be made or locked.
    pub fn join(data_dir: &Path) -> io::Result<Crew> {
        let mut options = File::options();
        let options = options.write(true).create(true).truncate(false);
        let place = options.open(data_dir.join("segue.workers"))?;
        let alone = match place.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => {
                place.lock_shared()?;
                false
            }
            Err(TryLockError::Error(error)) => return Err(error),
        };
        Ok(Crew { place, alone })
    }

    /// Whether nobody else works on this queue, nor can before [`Crew::let_in`].
    pub fn is_alone(&self) -> bool {
        self.alone
    }

    /// Lets others in: what was left by those before is seen to. Work only after that.
    ///
    /// # Errors
    /// The operating system's.
    pub fn let_in(&mut self) -> io::Result<()> {
        self.alone = false;
        self.place.lock_shared()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_a_crew_is_alone_and_whoever_comes_later_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let mut first = Crew::join(dir.path()).unwrap();
        assert!(first.is_alone());
        first.let_in().unwrap();
        let second = Crew::join(dir.path()).unwrap();
        assert!(!second.is_alone());
        drop(first);
        assert!(!Crew::join(dir.path()).unwrap().is_alone());
        drop(second);
        assert!(Crew::join(dir.path()).unwrap().is_alone());
    }
}
