//! Sending what partition tasks made, and saying up to where the input is done with.
//!
//! A partition task is asked for a [`Cut`] at every commit: what it made since the last one, what its streams have become, and the offset its successor
//! would go on at. [`committer`] gathers cuts and decides when; [`transaction`] is the only owner of the producer and of begin, send, send-offsets,
//! commit and abort; [`mark`] finds records that end their worker; [`outlet`] says what a Kafka record of each kind looks like.

pub mod committer;
pub mod mark;
pub mod outlet;
pub mod raw;
pub mod topics;
pub mod transaction;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use self::mark::Mark;
use crate::events;
use crate::record::{Kind, RawRecord, Refused, Segment};
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

/// A partition between two records: what must be sent for its input up to `resume_at` to be done with.
#[derive(Debug, Default)]
pub struct Cut {
    /// offset of the first record that is not in it
    pub resume_at: i64,
    /// what is to be known of that record, should nobody live to commit again
    pub mark: Mark,
    /// segments and dead letters since the cut before, in order
    pub out: Vec<Outgoing>,
    /// changelog keys and values of streams that changed, each once; no value where nothing need be known any more
    pub changelog: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    /// tails as they look once all of this is durable
    pub partials: Vec<Segment>,
}

impl Cut {
    /// Whether there is nothing to make durable.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty() && self.changelog.is_empty()
    }

    /// Bytes of state in it.
    fn changelog_bytes(&self) -> u64 {
        self.changelog.iter().map(|(key, value)| key.len() + value.as_ref().map_or(0, Vec::len)).sum::<usize>() as u64
    }

    /// Says of its finals that they are durable, in a commit that began at `from`.
    fn emit_released(&self, topic: &str, from: SystemTime) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as i64);
        for out in &self.out {
            let Outgoing::Formatted(segment, Some(source)) = out else { continue };
            source.way.as_ref().inspect(|way| way.published(topic, from));
            if segment.kind == Kind::Final
                && let Some(appended) = source.timestamp_ms
            {
                events::Released { latency: Duration::from_millis((now - appended).max(0) as u64) }.emit();
            }
        }
    }

    /// Goes on with the cut after it.
    pub fn extend(&mut self, later: Cut) {
        self.resume_at = later.resume_at;
        self.mark = later.mark;
        self.out.extend(later.out);
        self.changelog.retain(|(key, _)| later.changelog.iter().all(|(k, _)| k != key));
        self.changelog.extend(later.changelog);
        self.partials = later.partials;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_that_was_not_committed_goes_on_with_the_next_and_keeps_each_streams_latest_state() {
        let cut = |at: i64, states: &[(&str, Option<&str>)]| Cut {
            resume_at: at,
            changelog: states.iter().map(|(k, v)| (k.as_bytes().to_vec(), v.map(|v| v.as_bytes().to_vec()))).collect(),
            ..Cut::default()
        };
        let mut kept = cut(5, &[("a", Some("1")), ("b", Some("1"))]);
        kept.extend(cut(9, &[("b", None), ("c", Some("2"))]));
        assert_eq!(kept.resume_at, 9);
        assert_eq!(kept.changelog, cut(9, &[("a", Some("1")), ("b", None), ("c", Some("2"))]).changelog);
    }
}
