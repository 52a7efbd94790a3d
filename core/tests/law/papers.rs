//! The papers: what they promise is tested, and where they point there is something.

use crate::house::{files, root, text};
use std::collections::BTreeSet;

/// The numbered rules of this release: letter, and how many.
const RULES: [(&str, u32); 6] = [("B", 11), ("D", 11), ("F", 7), ("R", 3), ("Q", 8), ("S", 4)];

#[test]
fn every_rule_is_in_guarantees_with_a_test_that_exists() {
    let guarantees = text("docs/guarantees.md");
    let tests = test_names();
    for (letter, count) in RULES {
        for number in 1..=count {
            let rule = format!("{letter}{number}");
            let start = format!("| {rule} |");
            let row = guarantees.lines().find(|line| line.starts_with(&start));
            let row = row.unwrap_or_else(|| panic!("{rule} is not in docs/guarantees.md"));
            let held_by = row.trim_end_matches([' ', '|']).rsplit('|').next();
            let named: Vec<&str> = quoted(held_by.unwrap_or_default());
            assert!(!named.is_empty(), "{rule} names no test");
            for test in named {
                assert!(tests.contains(test), "{rule}: there is no test {test}");
            }
        }
    }
    // Names in the text around the tables are held to the same.
    for word in guarantees.lines().flat_map(quoted) {
        let is_name = word.matches('_').count() > 2;
        assert!(!is_name || tests.contains(word), "there is no test {word}");
    }
}

#[test]
fn links_lead_somewhere() {
    for page in files("", ".md") {
        let folder = root().join(&page);
        let folder = folder.parent().expect("a folder");
        for link in links(&text(&page)) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match path {
                "" => root().join(&page),
                path => folder.join(path),
            };
            assert!(target.exists(), "{page} links to {link}");
            if !anchor.is_empty() {
                let target = std::fs::read_to_string(&target).expect("a page");
                assert!(anchors(&target).contains(anchor), "{page} links to {link}");
            }
        }
    }
}

/// The names of all functions of the workspace that are tests by their place.
fn test_names() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in files("", ".rs") {
        for line in text(&file).lines() {
            let line = line.trim_start();
            let line = line.strip_prefix("async ").unwrap_or(line);
            if let Some((name, _)) = line.strip_prefix("fn ").and_then(|l| l.split_once('(')) {
                names.insert(name.to_owned());
            }
        }
    }
    names
}

/// What stands between backquotes.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The targets of `[text](target)`, outside code.
fn links(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(page) {
        for (at, _) in line.match_indices("](") {
            let target = line[at + 2..].split([')', ' ']).next();
            found.extend(target.map(str::to_owned));
        }
    }
    found
}

/// The lines outside fenced code.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    page.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The anchors that a page's headings make: lower case, dashes for blanks, no punctuation.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = prose(page).filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| -> String {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || matches!(c, '-' | '_') => Some(c),
            _ => None,
        });
        kept.collect()
    };
    headings.map(anchor).collect()
}
