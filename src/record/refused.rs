//! Why a record cannot be taken.

/// Why a record cannot be taken: a short machine-readable reason and a sentence for people. Never quotes the record's
/// words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}: {detail}")]
pub struct Refused {
    /// `json`, `contract`, `limit`, `key`, …; the dead letter's `reason` header
    pub reason: &'static str,
    /// expected, got, remedy
    pub detail: String,
}

impl Refused {
    /// A refusal for `reason`, explained by `detail`.
    pub fn new(reason: &'static str, detail: impl Into<String>) -> Refused {
        Refused { reason, detail: detail.into() }
    }
}
