//! Sending what partition tasks made, and saying up to where the input is done with.
//!
//! A partition task is asked for a [`Checkpoint`] at every commit: what it made since the last one, what its streams have become, and the offset its successor
//! would go on at. [`commits`] knows what is asked, kept, in flight and durable of each partition; [`transaction`] is the only owner of the producer and
//! of begin, send, send-offsets, commit and abort; [`serializer`] says what a Kafka record of each kind looks like.

mod checkpoint;
pub mod commits;
#[cfg(test)]
mod interleavings;
pub mod plain;
pub mod serializer;
pub mod topics;
pub mod transaction;

use std::sync::Arc;

pub use checkpoint::Checkpoint;

use crate::record::{RawRecord, Refused, Segment};
use crate::session::Source;

/// Headers of a record, name and value.
pub type Headers = Vec<(String, Option<Vec<u8>>)>;

/// A record refused, with its bytes untouched.
#[derive(Clone, Debug)]
pub struct DeadLetter {
    /// `decode` or `contract`, …
    pub stage: &'static str,
    /// why
    pub refused: Refused,
    /// the record
    pub record: RawRecord,
}

/// Something to send that must arrive before its input is committed.
#[derive(Clone, Debug)]
pub enum Outgoing {
    /// a final or an end, for the formatted topic, and the source of its last word, whose headers pass through
    Formatted(Box<Segment>, Option<Arc<Source>>),
    /// a refused record
    DeadLetter(Box<DeadLetter>),
}
