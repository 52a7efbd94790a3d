//! Reading the workspace: its files, its sources without comments, and the modules that they name.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The workspace's root.
pub(crate) fn root() -> PathBuf {
    let core = Path::new(env!("CARGO_MANIFEST_DIR"));
    core.parent().expect("core is a member").to_owned()
}

/// Every file below `dir` (from the root) whose name ends so, as paths from the root, in order.
pub(crate) fn files(dir: &str, suffix: &str) -> Vec<String> {
    let mut found = Vec::new();
    collect(&root().join(dir), suffix, &mut found);
    found.sort();
    found
}

fn collect(dir: &Path, suffix: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(dir).expect("a folder of the workspace") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|n| n.to_str()).expect("UTF-8");
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" {
                collect(&path, suffix, found);
            }
        } else if name.ends_with(suffix) {
            let path = path.strip_prefix(root()).expect("below the root");
            found.push(path.to_str().expect("UTF-8").to_owned());
        }
    }
}

/// A file's text.
pub(crate) fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A source file's text without its comments. Crude: a `//` in a string ends the line as well.
pub(crate) fn code(path: &str) -> String {
    let text = text(path);
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or(""));
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether `code` names `path` (`std::fs`, `axum`), as a whole word, directly or in a braced import.
pub(crate) fn names(code: &str, path: &str) -> bool {
    match path.rsplit_once("::") {
        None => has_word(code, path),
        Some((prefix, last)) => after(code, prefix).contains(last),
    }
}

/// The names that follow `prefix::` anywhere, `prefix::{a, b::c}` included.
pub(crate) fn after(code: &str, prefix: &str) -> BTreeSet<String> {
    let needle = format!("{prefix}::");
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices(&needle) {
        if code[..at].chars().next_back().is_some_and(is_word) {
            continue;
        }
        let rest = &code[at + needle.len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(heads(group)),
            None => found.extend(first_word(rest)),
        }
    }
    found
}

/// The first word of each item of a braced import, nested groups left out.
fn heads(group: &str) -> Vec<String> {
    let (mut depth, mut expects, mut found) = (0, true, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => expects = true,
            c if expects && is_word(c) => {
                found.extend(first_word(&group[at..]));
                expects = false;
            }
            _ => {}
        }
    }
    found
}

fn first_word(text: &str) -> Option<String> {
    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    (end > 0).then(|| text[..end].to_owned())
}

fn has_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[test]
fn names_are_found_in_every_form_of_import() {
    let code = "use std::{cell::RefCell, fs}; crate::a::b(); use crate::{c, d::{e, f}, g};";
    assert!(names(code, "std::fs") && names(code, "std::cell"));
    assert!(!names(code, "std::net") && !names(code, "cell::Ref"));
    let used: Vec<_> = after(code, "crate").into_iter().collect();
    assert_eq!(used, ["a", "c", "d", "g"]);
}
