//! What must not end the process, whatever bug a stream's words meet: their formatting, and the restoring of a stream's state. A panic here is one stream's
//! matter; outside, it would be everybody's, again and again.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Shared;
use crate::events;
use crate::format::{FormatCounts, FormatMode, Formatter};
use crate::record::Segment;
use crate::session::Time;
use crate::session::map::Sessions;
use crate::session::output::{Release, StreamKey, StreamRef, Tail};
use crate::session::snapshot::{Snapshot, SnapshotError, StoredSnapshot};

/// The formatter of one partition's streams. What panics is formatted as spoken.
pub struct PanicGuard<'a> {
    /// what may panic
    pub formatter: &'a Formatter,
    /// for the event
    pub partition: i32,
}

impl PanicGuard<'_> {
    fn catch<T>(&self, kind: &'static str, stream: &StreamRef, make: impl Fn(FormatMode) -> T) -> T {
        // The formatter keeps nothing between two calls that a panic could leave half done.
        catch_unwind(AssertUnwindSafe(|| make(FormatMode::Written))).unwrap_or_else(|_| {
            events::FormatFailed { kind, partition: self.partition, epoch: stream.epoch }.emit();
            make(FormatMode::Spoken)
        })
    }

    /// As [`Formatter::segment`].
    pub fn segment(&self, stream: &StreamRef, release: &Release) -> (Segment, FormatCounts) {
        self.catch("final", stream, |how| self.formatter.segment_as(how, stream, release))
    }

    /// As [`Formatter::partial`].
    pub fn partial(&self, stream: &StreamRef, tail: &Tail) -> Segment {
        self.catch("partial", stream, |how| self.formatter.partial_as(how, stream, tail))
    }
}

/// Reads a changelog value. One over which something panics is one that cannot be read.
///
/// # Errors
/// Not even its header can be read.
pub fn stored(value: &[u8]) -> Result<StoredSnapshot, SnapshotError> {
    catch_unwind(|| StoredSnapshot::from_bytes(value)).unwrap_or_else(|_| Err(SnapshotError::panicked()))
}

/// Takes one stream over. A state over which something panics is one that cannot be used.
///
/// # Errors
/// The state contradicts itself.
pub fn restore(
    sessions: &mut Sessions,
    shared: &Shared,
    (key, snapshot): (StreamKey, &Snapshot),
    now: Time,
) -> Result<(), SnapshotError> {
    let restore = || sessions.restore(key, snapshot, shared, now); // changes nothing before the state has been looked at
    catch_unwind(AssertUnwindSafe(restore)).unwrap_or_else(|_| Err(SnapshotError::panicked()))
}

/// Makes something of a record that is read again; `None` where that panics.
pub fn caught<T>(make: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(make)).ok()
}
