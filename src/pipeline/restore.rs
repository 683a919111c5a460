//! Taking a partition over: its last owner's states, and the raw topic once more for streams whose states cannot be used.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Shared;
use super::clock::Clock;
use super::partition::Partition;
use super::trial::Trial;
use crate::consume::changelog::{self, Left, RestoreError};
use crate::events;
use crate::health::Reporter;
use crate::produce::commits::Position;
use crate::session::map::reread::{Remaining, Unreadable};

/// Before a restore that failed is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// A partition taken over.
pub struct Restored {
    /// as its last owner left it
    pub partition: Partition,
    /// how its next records are taken
    pub trial: Trial,
    /// what its last owner committed
    pub began_at: Position,
    /// the raw log ended here
    pub end: i64,
}

/// Reads a partition's states, until they can be read: a broker that is away comes back.
///
/// # Errors
/// The changelog is another group's. That does not mend itself.
pub async fn restore(shared: &Arc<Shared>, number: i32, reporter: &Arc<Reporter>) -> Result<Restored, RestoreError> {
    loop {
        let (shared, reporter) = (shared.clone(), reporter.clone());
        match tokio::task::spawn_blocking(move || read(&shared, number, reporter)).await {
            Ok(Ok(restored)) => return Ok(restored),
            Ok(Err(error @ RestoreError::Foreign { .. })) => return Err(error),
            Ok(Err(error)) => tracing::warn!(partition = number, %error, "the partition waits; it is tried again"),
            Err(_) => tracing::warn!(partition = number, "the partition waits; it is tried again"),
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Blocks.
fn read(shared: &Arc<Shared>, number: i32, reporter: Arc<Reporter>) -> Result<Restored, RestoreError> {
    let left = changelog::read(&shared.settings, number)?;
    let (mut partition, unreadable) = Partition::restored(shared.clone(), number, Clock::wall(), reporter, &left);
    if !unreadable.is_empty() {
        read_again(shared, number, &mut partition, unreadable)?;
    }
    let Left { resume_at, mark, end, .. } = left;
    Ok(Restored { partition, trial: Trial::begin(mark, resume_at), began_at: (resume_at, mark), end })
}

/// Makes streams anew from their raw records.
fn read_again(
    shared: &Arc<Shared>,
    number: i32,
    partition: &mut Partition,
    unreadable: Vec<Unreadable>,
) -> Result<(), RestoreError> {
    let began = Instant::now();
    let sessions: BTreeSet<&[u8]> = unreadable.iter().map(|u| u.key.session.as_bytes()).collect();
    let range = |streams: &[&Unreadable]| {
        let from = streams.iter().map(|u| u.outline.epoch).min().unwrap_or_default();
        (from, streams.iter().map(|u| u.applied).max().unwrap_or_default())
    };
    let all: Vec<&Unreadable> = unreadable.iter().collect();
    let mut records = 0;
    let read = |streams: &[&Unreadable], each: &mut dyn FnMut(crate::record::RawRecord)| {
        changelog::read_raw(&shared.settings, number, range(streams), |record| {
            if record.key.as_deref().is_some_and(|key| sessions.contains(key)) {
                each(record);
            }
        })
    };
    // Where the raw topic has lost the first records of a stream, its words are counted first: only so is it known which of them are gone.
    let oldest = read(&[], &mut |_| {})?;
    let cut_off: Vec<&Unreadable> = all.iter().copied().filter(|u| u.outline.epoch < oldest).collect();
    let mut remaining = Remaining::default();
    if !cut_off.is_empty() {
        read(&cut_off, &mut |record| partition.count_again(&cut_off, record, &mut remaining))?;
    }
    for stream in &all {
        let is_cut_off = stream.outline.epoch < oldest;
        let (missing, later) = if is_cut_off { (remaining.missing(stream), remaining.missing_later(stream)) } else { (0, 0) };
        let next = stream.outline.next_epoch.unwrap_or_default();
        for (epoch, from, to) in [(stream.outline.epoch, stream.outline.released, missing), (next, 0, later)] {
            if to > from {
                events::WordsLost { partition: number, epoch, from, to }.emit();
            }
        }
        partition.reopen(stream, missing);
    }
    read(&all, &mut |record| {
        records += 1;
        partition.take_again(&all, &record);
    })?;
    partition.taken_again(&all);
    events::ReadAgain { partition: number, streams: all.len(), records, took: began.elapsed() }.emit();
    Ok(())
}
