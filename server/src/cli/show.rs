//! Listings: columns for people, JSON for scripts.

use super::failure::Failure;
use serde::Serialize;

/// Prints rows in columns that line up; the first row is the heading.
pub(crate) fn table(rows: &[Vec<String>]) {
    print!("{}", aligned(rows));
}

fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let pad = width.saturating_sub(cell.chars().count());
            line += cell;
            line.extend(std::iter::repeat_n(' ', pad + 2));
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}

/// Prints JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text =
        serde_json::to_string_pretty(value).map_err(|error| Failure::new(error.to_string()))?;
    println!("{text}");
    Ok(())
}

/// `1 track`, `2 tracks`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        number => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_by_characters() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
        let rows = [
            row(&["ID", "TRACKS"]),
            row(&["björk", "7"]),
            row(&["a", ""]),
        ];
        assert_eq!(aligned(&rows), "ID     TRACKS\nbjörk  7\na\n");
    }
}
