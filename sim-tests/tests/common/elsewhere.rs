//! A story in another process, as `cargo sim` plays it.

use segue_sim_tests::replay::line;
use segue_sim_tests::tale::Tale;
use std::process::Command;

/// What the program prints of a story that is written out.
///
/// # Panics
/// When it is not well there.
fn told_elsewhere<T: Tale>(scenario: &T) -> String {
    let line = line(scenario);
    let text = line.strip_prefix("cargo sim ").expect("the command");
    let text = text.trim_matches('\'');
    let child = Command::new(env!("CARGO_BIN_EXE_segue-sim"))
        .arg(text)
        .output()
        .expect("a child process");
    let said = String::from_utf8_lossy(&child.stdout).into_owned();
    assert!(child.status.success(), "{said}");
    said
}

/// One seed is one story: the same, line by line, in this process and in another one, and not that of another seed.
///
/// # Panics
/// When it is not.
pub(crate) fn is_the_same_everywhere<T: Tale>(scenario: &T, other: &T) {
    let one = scenario.run().timeline;
    assert_eq!(one, scenario.run().timeline, "in this process");
    assert_ne!(one, other.run().timeline, "of another seed");
    let lines: Vec<String> = one.iter().map(ToString::to_string).collect();
    let said = told_elsewhere(scenario);
    let is_entry = |line: &&str| lines.iter().any(|known| known == line);
    let elsewhere: Vec<&str> = said.lines().filter(is_entry).collect();
    assert_eq!(elsewhere, lines, "in another process");
}
