//! The raw configuration: values of the file, overlaid with those of the environment, each knowing its place.

use super::problem::{Place, Problem};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A table of values.
pub(super) type Table = BTreeMap<String, Spot>;

/// A value and where it comes from.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    pub(super) node: Node,
    pub(super) place: Place,
}

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Table(Table),
    List(Vec<Spot>),
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    /// From the environment: text that means whatever is asked for.
    Loose(String),
    /// A kind of value that no key takes.
    Other,
}

impl Node {
    /// What it is, in words.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Node::Table(_) => "a table",
            Node::List(_) => "a list",
            Node::Text(_) | Node::Loose(_) => "a text",
            Node::Integer(_) => "a whole number",
            Node::Float(_) => "a number",
            Node::Bool(_) => "true or false",
            Node::Other => "a date",
        }
    }
}

/// Reads TOML.
pub(super) fn parse(text: &str, path: &Arc<PathBuf>) -> Result<Table, Problem> {
    let lines = Lines { text, path };
    match DeTable::parse(text) {
        Ok(table) => Ok(lines.table(table.into_inner())),
        // The message alone: the error's own display quotes the line, and with it maybe a password.
        Err(error) => Err(Problem {
            place: error.span().map(|span| lines.place(span.start)),
            what: error
                .message()
                .lines()
                .next()
                .unwrap_or("not TOML")
                .to_owned(),
            hint: None,
        }),
    }
}

struct Lines<'a> {
    text: &'a str,
    path: &'a Arc<PathBuf>,
}

impl Lines<'_> {
    fn place(&self, at: usize) -> Place {
        let before = self.text.as_bytes().iter().take(at);
        Place::File {
            path: Arc::clone(self.path),
            line: before.filter(|byte| **byte == b'\n').count() + 1,
        }
    }

    fn table(&self, table: DeTable<'_>) -> Table {
        let entries = table.into_iter().map(|(key, value)| {
            let place = self.place(key.span().start);
            let spot = Spot {
                node: self.node(value.into_inner()),
                place,
            };
            (key.into_inner().into_owned(), spot)
        });
        entries.collect()
    }

    fn spot(&self, value: Spanned<DeValue<'_>>) -> Spot {
        let place = self.place(value.span().start);
        Spot {
            node: self.node(value.into_inner()),
            place,
        }
    }

    fn node(&self, value: DeValue<'_>) -> Node {
        match value {
            DeValue::String(text) => Node::Text(text.into_owned()),
            DeValue::Integer(digits) => {
                match i64::from_str_radix(digits.as_str(), digits.radix()) {
                    Ok(number) => Node::Integer(number),
                    Err(_) => Node::Float(f64::INFINITY),
                }
            }
            DeValue::Float(digits) => Node::Float(digits.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(value) => Node::Bool(value),
            DeValue::Datetime(_) => Node::Other,
            DeValue::Array(items) => {
                Node::List(items.into_iter().map(|item| self.spot(item)).collect())
            }
            DeValue::Table(table) => Node::Table(self.table(table)),
        }
    }
}

/// Lays the variables `SEGUE_SECTION__KEY` over the table. Those without a double underscore mean something else.
pub(super) fn overlay(
    table: &mut Table,
    variables: impl IntoIterator<Item = (String, String)>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, value) in variables {
        let path = name
            .strip_prefix("SEGUE_")
            .filter(|rest| rest.contains("__"));
        let Some(path) = path.map(str::to_lowercase) else {
            continue;
        };
        let keys: Vec<&str> = path.split("__").collect();
        let spot = Spot {
            node: Node::Loose(value),
            place: Place::Environment(name.clone()),
        };
        let put = match keys.as_slice() {
            ["sources", id, key] => source(table, &id.replace('_', "-"), &spot.place)
                .map(|source| source.insert((*key).to_owned(), spot)),
            [tables @ .., key] => descend(table, tables, &spot.place)
                .map(|table| table.insert((*key).to_owned(), spot)),
            [] => None,
        };
        if put.is_none() {
            problems.push(Problem {
                place: Some(Place::Environment(name)),
                what: "does not name a setting".to_owned(),
                hint: Some("write SEGUE_SECTION__KEY or SEGUE_SOURCES__ID__KEY".to_owned()),
            });
        }
    }
    problems
}

/// The table of the source with this id, added when there is none.
fn source<'a>(table: &'a mut Table, id: &str, place: &Place) -> Option<&'a mut Table> {
    let empty = || Spot {
        node: Node::List(Vec::new()),
        place: place.clone(),
    };
    let Node::List(sources) = &mut table.entry("sources".to_owned()).or_insert_with(empty).node
    else {
        return None;
    };
    let is_it = |spot: &Spot| match &spot.node {
        Node::Table(source) => {
            matches!(source.get("id"), Some(Spot { node: Node::Text(of), .. }) if of == id)
        }
        _ => false,
    };
    let at = sources.iter().position(is_it).unwrap_or_else(|| {
        let id = Spot {
            node: Node::Text(id.to_owned()),
            place: place.clone(),
        };
        sources.push(Spot {
            node: Node::Table(BTreeMap::from([("id".to_owned(), id)])),
            place: place.clone(),
        });
        sources.len() - 1
    });
    match &mut sources[at].node {
        Node::Table(source) => Some(source),
        _ => None,
    }
}

fn descend<'a>(table: &'a mut Table, path: &[&str], place: &Place) -> Option<&'a mut Table> {
    let mut here = table;
    for key in path {
        let empty = || Spot {
            node: Node::Table(Table::new()),
            place: place.clone(),
        };
        here = match &mut here.entry((*key).to_owned()).or_insert_with(empty).node {
            Node::Table(inner) => inner,
            _ => return None,
        };
    }
    Some(here)
}
