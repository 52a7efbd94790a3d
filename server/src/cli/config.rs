//! `segue config`.

use super::Common;
use super::failure::Failure;
use super::show::count;

pub(super) fn check(common: Common) -> Result<(), Failure> {
    let loaded = common.load(None)?;
    let sources = count(loaded.config.sources.len() as u64, "source");
    match common.file() {
        Some(file) => println!("{} is fine: {sources}.", file.display()),
        None => println!(
            "There is no configuration file; the defaults and the environment are fine: {sources}."
        ),
    }
    Ok(())
}

pub(super) fn show(common: Common) -> Result<(), Failure> {
    print!("{}", common.load(None)?.config.masked());
    Ok(())
}
