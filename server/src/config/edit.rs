//! Adds sources to a configuration file and takes them out, leaving every other byte as it was.

use super::masked::quoted;
use super::section::reason;
use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// Why a file was not changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The file is not TOML.
    #[error("{0} is not valid TOML; `segue config check` says where")]
    NotToml(PathBuf),
    /// There is one with this id.
    #[error("source `{0}` is there already")]
    Exists(String),
    /// There is none with this id.
    #[error("there is no source `{0}` in {1}")]
    Missing(String, PathBuf),
    /// The sources are written in a way that is not edited.
    #[error("the sources in {0} are not written as [[sources]] tables; edit it by hand")]
    NotTables(PathBuf),
    /// The file could not be read or written.
    #[error("{0}: {1}")]
    Io(PathBuf, String),
}

/// A source to add: keys and values in the order they are to be written.
#[derive(Clone, Debug, Default)]
pub struct NewSource {
    lines: Vec<String>,
    id: String,
}

impl NewSource {
    /// A source with this id.
    pub fn new(id: &str, kind: &str) -> Self {
        let source = NewSource {
            lines: Vec::new(),
            id: id.to_owned(),
        };
        source.text("id", id).text("kind", kind)
    }

    /// Adds a text.
    pub fn text(mut self, key: &str, value: &str) -> Self {
        self.lines.push(format!("{key} = {}", quoted(value)));
        self
    }

    /// Adds true or false.
    pub fn flag(mut self, key: &str, value: bool) -> Self {
        self.lines.push(format!("{key} = {value}"));
        self
    }

    fn block(&self) -> String {
        format!("[[sources]]\n{}\n", self.lines.join("\n"))
    }
}

/// The file's text with `source` appended.
pub fn with_source(text: &str, source: &NewSource, path: &Path) -> Result<String, EditError> {
    let found = sources(text, path)?;
    if found.iter().any(|(id, _)| *id == source.id) {
        return Err(EditError::Exists(source.id.clone()));
    }
    let gap = match text {
        "" => "",
        text if text.ends_with("\n\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let text = format!("{text}{gap}{}", source.block());
    // What was written must be there: the end of a file may belong to something odd.
    match sources(&text, path)?.len() == found.len() + 1 {
        true => Ok(text),
        false => Err(EditError::NotTables(path.to_owned())),
    }
}

/// The file's text without the source of this id.
pub fn without_source(text: &str, id: &str, path: &Path) -> Result<String, EditError> {
    let found = sources(text, path)?;
    let Some((_, block)) = found.iter().find(|(of, _)| of == id) else {
        return Err(EditError::Missing(id.to_owned(), path.to_owned()));
    };
    let mut start = block.start;
    // The empty line that set the block apart goes with it.
    if text[..start].ends_with("\n\n") {
        start -= 1;
    }
    let text = format!("{}{}", &text[..start], &text[block.end..]);
    match sources(&text, path)?.len() + 1 == found.len() {
        true => Ok(text),
        false => Err(EditError::NotTables(path.to_owned())),
    }
}

/// Each source's id and the whole lines from its header to its last value.
fn sources(text: &str, path: &Path) -> Result<Vec<(String, Range<usize>)>, EditError> {
    let table = DeTable::parse(text).map_err(|_| EditError::NotToml(path.to_owned()))?;
    let table = table.into_inner();
    let Some(list) = table.get("sources") else {
        return Ok(Vec::new());
    };
    let not_tables = || EditError::NotTables(path.to_owned());
    let DeValue::Array(items) = list.get_ref() else {
        return Err(not_tables());
    };
    let blocks = items.iter().map(|item| {
        let DeValue::Table(source) = item.get_ref() else {
            return Err(not_tables());
        };
        let id = match source.get("id").map(|id| id.get_ref()) {
            Some(DeValue::String(id)) => id.to_string(),
            _ => String::new(),
        };
        let header = text[..item.span().start].rfind('\n').map_or(0, |at| at + 1);
        if !text[header..].trim_start().starts_with("[[") {
            return Err(not_tables());
        }
        let ends = source
            .values()
            .map(|value| last_byte(value.span(), value.get_ref()));
        let last = ends.chain([item.span().end]).max().unwrap_or(header);
        let end = text[last..]
            .find('\n')
            .map_or(text.len(), |at| last + at + 1);
        Ok((id, header..end))
    });
    blocks.collect()
}

fn last_byte(span: Range<usize>, value: &DeValue<'_>) -> usize {
    let inner = match value {
        DeValue::Table(table) => table
            .values()
            .map(|value| last_byte(value.span(), value.get_ref()))
            .max(),
        _ => None,
    };
    inner.unwrap_or(0).max(span.end)
}

/// Reads a file that may not be there yet.
pub fn read(path: &Path) -> Result<String, EditError> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        read => read.map_err(|error| EditError::Io(path.to_owned(), reason(&error))),
    }
}

/// Replaces the file in one step: a crash leaves the old one or the new one. It may hold passwords, so a new one is
/// readable to its owner alone; an old one keeps its mode.
pub fn write(path: &Path, text: &str) -> Result<(), EditError> {
    // Replace what a link leads to, not the link.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let replace = || {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let beside = folder
            .unwrap_or(Path::new("."))
            .join(format!(".{name}.new"));
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&beside)?;
        if let Ok(old) = fs::metadata(path) {
            file.set_permissions(old.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    replace().map_err(|error| EditError::Io(path.to_owned(), reason(&error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# mine\n[server]\nlisten = \"127.0.0.1:1\"   # odd   spacing\n\n[[sources]]\nid = \"a\" # keep\nkind = \"folder\"\npath = \"/a\"\n\n# about b\n[[sources]]\nid = \"b\"\nkind = \"folder\"\npath = \"/b\"\n\n[sync]\ninterval = \"1h\"\n";

    fn path() -> &'static Path {
        Path::new("segue.toml")
    }

    #[test]
    fn adding_then_removing_gives_back_every_byte() {
        let source = NewSource::new("c", "subsonic")
            .text("password", "a\"b\\c")
            .flag("local", true);
        for before in [FILE, "", "[sync]\ninterval = \"1h\""] {
            let after = with_source(before, &source, path()).unwrap();
            assert!(after.starts_with(before));
            let again = without_source(&after, "c", path()).unwrap();
            assert_eq!(again.trim_end(), before.trim_end());
        }
        let after = with_source(FILE, &source, path()).unwrap();
        assert_eq!(
            after[FILE.len()..],
            *"\n[[sources]]\nid = \"c\"\nkind = \"subsonic\"\npassword = 'a\"b\\c'\nlocal = true\n"
        );
        assert_eq!(without_source(&after, "c", path()).unwrap(), FILE);
    }

    #[test]
    fn removing_takes_the_block_alone() {
        let expected = FILE.replace(
            "\n[[sources]]\nid = \"a\" # keep\nkind = \"folder\"\npath = \"/a\"\n",
            "",
        );
        assert_eq!(without_source(FILE, "a", path()).unwrap(), expected);
        let expected = FILE.replace(
            "[[sources]]\nid = \"b\"\nkind = \"folder\"\npath = \"/b\"\n",
            "",
        );
        assert_eq!(without_source(FILE, "b", path()).unwrap(), expected);
    }

    #[test]
    fn what_cannot_be_edited_is_said() {
        let source = NewSource::new("a", "folder");
        let add = |text| with_source(text, &source, path()).unwrap_err().to_string();
        assert_eq!(add(FILE), "source `a` is there already");
        assert_eq!(
            add("sources = [{ id = \"x\" }]\n"),
            "the sources in segue.toml are not written as [[sources]] tables; edit it by hand"
        );
        assert_eq!(
            add("[sync\n"),
            "segue.toml is not valid TOML; `segue config check` says where"
        );
        let gone = without_source(FILE, "zz", path()).unwrap_err().to_string();
        assert_eq!(gone, "there is no source `zz` in segue.toml");
    }

    #[test]
    fn a_new_file_is_its_owners_alone_and_an_old_one_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("segue.toml");
        write(&path, "a = 1\n").unwrap();
        assert_eq!(read(&path).unwrap(), "a = 1\n");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&path), 0o600);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
            write(&path, "a = 2\n").unwrap();
            assert_eq!(mode(&path), 0o640);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
