//! One call under `/rest`, as its handler gets it: who, what, and how to answer.

use super::envelope::Format;
use super::params::Params;
use http::{HeaderMap, Method};
use segue_sqlite::UserRow;

/// A call whose user has been checked.
#[derive(Clone, Debug)]
pub struct Call {
    /// Who calls.
    pub user: UserRow,
    /// All parameters, credentials included.
    pub params: Params,
    /// How to answer, errors of binary endpoints included.
    pub format: Format,
    /// The client's own name (`c`), cut to a sane length; empty when it gave none.
    pub client: String,
    /// `GET`, `POST` or `HEAD`.
    pub method: Method,
    /// The request's headers, for ranges and validators.
    pub headers: HeaderMap,
}
