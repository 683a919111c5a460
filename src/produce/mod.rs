//! Sending what partition tasks made, and saying what is safely sent.
//!
//! A partition task turns records and answers into ordered [`Effect`]s. Any prefix of a partition's effects is a consistent
//! cut: once its outputs are acknowledged, the group may continue at its `resume_at`. [`delivery`] is the only owner of the
//! producer; with exactly-once it will own the transaction in the same place.

pub mod delivery;
pub mod raw;
pub mod topics;

use std::sync::Arc;

use crate::record::{RawRecord, Refused, Segment};
use crate::session::Source;

/// Headers of a record, name and value.
pub type Headers = Vec<(String, Option<Vec<u8>>)>;

/// A record refused, with its bytes untouched.
#[derive(Debug)]
pub struct DeadLetter {
    /// `decode` or `contract`, …
    pub stage: &'static str,
    /// why
    pub refused: Refused,
    /// the record
    pub record: RawRecord,
}

/// Something to send that must arrive before its input is committed.
#[derive(Debug)]
pub enum Outgoing {
    /// a final or an end, for the formatted topic, and the source of its last word, whose headers pass through
    Formatted(Box<Segment>, Option<Arc<Source>>),
    /// a refused record
    DeadLetter(Box<DeadLetter>),
}

/// One step of a partition.
#[derive(Debug)]
pub struct Effect {
    /// input partition
    pub partition: i32,
    /// offset to continue at once `out` is acknowledged: the oldest record still needed, else the next one
    pub resume_at: i64,
    /// in order
    pub out: Vec<Outgoing>,
}
