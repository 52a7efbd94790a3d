//! The parameters of one call: query and form body in one multimap.
//!
//! Names may repeat (`scrobble?id=a&id=b`); `+` is a space in both places; what is not UTF-8 is
//! replaced, never refused. A value that is there but empty counts as absent, since clients send
//! `musicFolderId=` for "no folder".

use super::envelope::ApiError;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use url::form_urlencoded;

/// All parameters of a call, values in the order they came.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Params(BTreeMap<String, Vec<String>>);

impl Params {
    /// Reads a raw query and a raw form body; the body's values come after the query's.
    pub fn parse(query: &[u8], body: &[u8]) -> Self {
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(query).chain(form_urlencoded::parse(body)) {
            all.entry(name.into_owned())
                .or_default()
                .push(value.into_owned());
        }
        Params(all)
    }

    /// The first value of `name` that is not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// Every value of `name` that is not empty.
    pub fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.given(name).filter(|value| !value.is_empty())
    }

    /// Every value of `name` as it came, empty ones too: what pairs with another parameter by position
    /// must not lose its place.
    pub fn given<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.get(name).into_iter().flatten().map(String::as_str)
    }

    /// Whether `name` is there at all, empty or not.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The first value of `name`, or error 10.
    pub fn required(&self, name: &'static str) -> Result<&str, ApiError> {
        self.get(name).ok_or_else(|| ApiError::missing(name))
    }

    /// The value of `name` as a number; error 0 when it is there and is none.
    pub fn number<T: FromStr>(&self, name: &'static str) -> Result<Option<T>, ApiError> {
        match self.get(name) {
            None => Ok(None),
            Some(text) => match text.trim().parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(ApiError::bad_value(name, "a number")),
            },
        }
    }

    /// A count or an offset: negative ones are 0, and those above `most` are `most`, since clients ask for
    /// "all" with any large number.
    pub fn count(&self, name: &'static str, otherwise: u32, most: u32) -> Result<u32, ApiError> {
        let asked = self.number::<i128>(name)?;
        let clamped = asked.map(|n| n.clamp(0, i128::from(most)));
        Ok(clamped.map_or(otherwise, |n| u32::try_from(n).unwrap_or(most)))
    }

    /// The value of `name` as true or false; error 0 when it is there and is neither.
    pub fn flag(&self, name: &'static str, otherwise: bool) -> Result<bool, ApiError> {
        match self.get(name) {
            None => Ok(otherwise),
            Some(text) if text == "1" || text.eq_ignore_ascii_case("true") => Ok(true),
            Some(text) if text == "0" || text.eq_ignore_ascii_case("false") => Ok(false),
            Some(_) => Err(ApiError::bad_value(name, "true or false")),
        }
    }
}

impl fmt::Debug for Params {
    /// Names only: values hold passwords and keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::envelope::ErrorCode;

    #[test]
    fn query_and_body_merge_and_keys_repeat() {
        let params = Params::parse(b"id=a&id=b&u=x", b"id=c&f=json");
        assert_eq!(params.all("id").collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(params.get("f"), Some("json"));
        assert_eq!(params.get("u"), Some("x"));
    }

    #[test]
    fn a_plus_is_a_space_and_an_escaped_plus_is_not() {
        let params = Params::parse(b"p=a+b%2Bc%26%23%25%C3%A9", b"");
        assert_eq!(params.get("p"), Some("a b+c&#%é"));
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        assert_eq!(Params::parse(b"u=%FF", b"").get("u"), Some("\u{FFFD}"));
        assert_eq!(Params::parse(b"u=%zz&%", b"").get("u"), Some("%zz"));
    }

    #[test]
    fn missing_is_10_and_a_bad_number_is_0() {
        let params = Params::parse(b"size=abc&offset=&year=2001", b"");
        assert_eq!(
            params.required("id").unwrap_err().code,
            ErrorCode::MissingParameter
        );
        assert_eq!(
            params.number::<u32>("size").unwrap_err().code,
            ErrorCode::Generic
        );
        assert_eq!(params.number::<u32>("offset"), Ok(None));
        assert_eq!(params.number::<i32>("year"), Ok(Some(2001)));
    }

    #[test]
    fn counts_are_clamped_never_refused() {
        let params = Params::parse(b"a=-5&b=10000&c=99999999999999999999&d=7", b"");
        assert_eq!(params.count("a", 10, 500), Ok(0));
        assert_eq!(params.count("b", 10, 500), Ok(500));
        assert_eq!(params.count("c", 10, 500), Ok(500));
        assert_eq!(params.count("d", 10, 500), Ok(7));
        assert_eq!(params.count("e", 10, 500), Ok(10));
    }

    #[test]
    fn secrets_are_not_in_the_debug_text() {
        let params = Params::parse(b"u=alice&p=sesame", b"");
        assert_eq!(format!("{params:?}"), r#"{"p", "u"}"#);
    }

    #[test]
    fn three_thousand_ids_are_read_in_order() {
        let body: String = (0..3000).map(|i| format!("id=tr{i}&")).collect();
        let params = Params::parse(b"", body.as_bytes());
        assert_eq!(params.all("id").count(), 3000);
        assert_eq!(params.all("id").last(), Some("tr2999"));
    }
}
