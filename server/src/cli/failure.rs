//! Why a command failed, in words for a person.

use crate::assemble::AssembleError;
use crate::config::Problems;
use crate::config::edit::EditError;
use segue_core::io::StoreError;
use segue_core::source::subsonic::BadEndpoint;
use segue_runtime_tokio::secrets::SecretError;
use std::process::ExitCode;

/// What to say before ending with code 1.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure(Vec<String>);

impl Failure {
    /// One sentence.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Failure(vec![what.into()])
    }

    /// Nothing more to say: everything has been printed.
    pub(crate) fn told() -> Self {
        Failure(Vec::new())
    }

    /// Says it.
    pub(crate) fn tell(&self) -> ExitCode {
        for line in &self.0 {
            eprintln!("error: {line}");
        }
        ExitCode::FAILURE
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Failure(problems.0.iter().map(ToString::to_string).collect())
    }
}

impl From<EditError> for Failure {
    fn from(error: EditError) -> Self {
        Failure::new(error.to_string())
    }
}

impl From<AssembleError> for Failure {
    fn from(error: AssembleError) -> Self {
        Failure::new(error.to_string())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Failure::new(error.to_string())
    }
}

impl From<SecretError> for Failure {
    fn from(error: SecretError) -> Self {
        Failure::new(error.to_string())
    }
}

impl From<BadEndpoint> for Failure {
    fn from(error: BadEndpoint) -> Self {
        Failure::new(error.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::new(error.to_string())
    }
}
