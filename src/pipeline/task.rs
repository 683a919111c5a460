//! A partition's task: the loop around its [`Partition`].
//!
//! ```text
//!  RESTORING ──what its last owner left──▶ RUNNING ──told to stop──▶ its last checkpoint ──▶ over
//!   reads no record yet                    gives a checkpoint when asked
//! ```

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use super::Shared;
use super::assignment::{TaskChannels, TaskInput};
use super::careful::{StepTurn, Steps};
use super::clock::sleep_until;
use super::crash_isolation::CrashIsolation;
use super::partition::{Partition, UnpackedCheckpoint};
use super::restore::{RestoredPartition, restore};
use super::schemas;
use crate::consume::changelog::{RestoreError, TakeoverReader};
use crate::faults::crash_on;
use crate::kafka::crash_mark::Position;
use crate::produce::Checkpoint;
use crate::produce::commits::Incarnation;
use crate::record::RawRecord;
use crate::system;

/// Time between two clean-ups of the rate limiter's table.
const FORGET_IDLE: Duration = Duration::from_secs(60);

/// A report of a task to its worker. Reports of a task stay in order.
#[derive(Debug)]
pub enum TaskReport {
    /// its state is restored, up to the last owner's commits
    Restored(Incarnation, Position),
    /// the checkpoint that was asked for
    Checkpoint(Incarnation, Checkpoint),
    /// the last checkpoint
    Last(Incarnation, Checkpoint),
    /// it wants a commit now, because it has made much or waits for one
    WantsCommit,
}

/// Runs until it is told to stop. `changelog` gives what the partition's last owner left.
///
/// # Errors
/// The partition's state is another group's.
pub async fn run(
    shared: Arc<Shared>,
    changelog: Arc<dyn TakeoverReader>,
    incarnation: Incarnation,
    inbox: TaskChannels,
    reports: UnboundedSender<TaskReport>,
) -> Result<(), RestoreError> {
    let TaskChannels { mut records, mut checkpoint_requests, mut durable, mut stop } = inbox;
    // If the worker has ended, nobody reads the reports.
    let report = |what: TaskReport| _ = reports.send(what);
    let reporter = Arc::new(shared.health.assigned(incarnation.partition));
    let RestoredPartition { mut partition, mut isolation, began_at, end } = tokio::select! {
        biased;
        _ = &mut stop => return Ok(()),
        restored = restore(&shared, &changelog, incarnation.partition, &reporter) => restored?,
    };
    report(TaskReport::Restored(incarnation, began_at));
    report(TaskReport::WantsCommit);
    let mut commit_requested = false;
    let mut forgot = system::now();
    let mut waiting = None; // a record whose schema is asked for; those behind it wait as well
    let mut steps = Steps::default();
    caught_up_at(end, &mut partition, &mut isolation);
    loop {
        isolation.look(partition.has_old_words());
        // Before the mark of a takeover is durable nothing is worked on: a death would leave no mark, again and again.
        let is_unmarked = !isolation.is_careful() && isolation.waits();
        partition.be_careful(isolation.is_careful() || is_unmarked);
        if isolation.is_careful() {
            if steps.go_on(&mut partition, &mut isolation) {
                report(TaskReport::WantsCommit);
            }
            caught_up_at(end, &mut partition, &mut isolation);
        } else if let Some(record) = steps.left() {
            take(record, &mut partition);
            caught_up_at(end, &mut partition, &mut isolation);
        }
        if !isolation.is_careful() && !is_unmarked {
            partition.submit_requests();
        }
        if partition.wants_commit() && !std::mem::replace(&mut commit_requested, true) {
            report(TaskReport::WantsCommit);
        }
        partition.report();
        let due = match isolation.is_careful() {
            true => steps.next_due(&partition, &isolation),
            false => partition.next_due().filter(|_| !is_unmarked),
        };
        let wake = due.map(|t| partition.instant(t));
        // What the worker and the model say comes before further records.
        tokio::select! {
            biased;
            _ = &mut stop => break,
            Some(()) = checkpoint_requests.recv() => {
                commit_requested = false;
                let checkpoint = packed(partition.begin_checkpoint()).await;
                report(TaskReport::Checkpoint(incarnation, Checkpoint { mark: isolation.mark(), ..checkpoint }));
            }
            Ok(()) = durable.changed() => {
                if let Some((at, mark)) = *durable.borrow_and_update() {
                    isolation.committed(at, mark);
                }
            }
            turn = StepTurn::of(&shared.turns, steps.is_alone(&isolation)), if isolation.is_idle() && steps.next.is_some() => {
                steps.begin(turn, &mut isolation, partition.next_offset());
                report(TaskReport::WantsCommit);
            }
            answer = partition.answer() => partition.answered(answer),
            () = sleep_until(wake) => partition.tick(),
            record = arrived(&mut waiting), if waiting.is_some() => steps.record = Some(record),
            record = records.recv(),
                if waiting.is_none() && steps.record.is_none() && !partition.is_full() && !isolation.waits() => match record {
                // The consumer asks for its own starting offset, and may get an older one while a dead worker's offsets
                // are pending.
                Some(TaskInput::Record(record)) if record.offset < partition.next_offset() => {}
                Some(TaskInput::Record(record)) => match shared.missing_schema(&record) {
                    Some(id) => waiting = Some(AwaitingSchema { record, schema: Box::pin(schemas::arrival(shared.clone(), id)) }),
                    None => steps.record = Some(record),
                },
                Some(TaskInput::CaughtUp) => {
                    isolation.caught_up();
                    partition.caught_up();
                }
                None => break,
            },
        }
        if system::now().duration_since(forgot) > FORGET_IDLE {
            forgot = system::now();
            shared.partial_limit.forget_idle();
            shared.active_settings().quotas.forget_idle(forgot);
        }
    }
    let last = packed(partition.begin_checkpoint()).await;
    report(TaskReport::Last(incarnation, Checkpoint { mark: isolation.left_behind(), ..last }));
    Ok(())
}

/// A record that cannot be read before its schema is there.
struct AwaitingSchema {
    record: RawRecord,
    schema: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// The record that waits, once its schema is there. Cancel-safe.
async fn arrived(waiting: &mut Option<AwaitingSchema>) -> RawRecord {
    match waiting {
        Some(AwaitingSchema { schema, .. }) => schema.as_mut().await,
        None => std::future::pending().await,
    }
    waiting.take().expect("it was there").record
}

fn take(record: RawRecord, partition: &mut Partition) {
    crash_on(record.key.as_deref());
    partition.take(record);
}

/// Packs a checkpoint on a thread that serves no partition.
async fn packed(unpacked: UnpackedCheckpoint) -> Checkpoint {
    if unpacked.is_packed() {
        return unpacked.pack();
    }
    system::off_thread(move || unpacked.pack()).await.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Delays count from the offset at which the log ended when the partition was taken over.
fn caught_up_at(end: i64, partition: &mut Partition, isolation: &mut CrashIsolation) {
    if partition.next_offset() >= end && !partition.is_running() {
        isolation.caught_up();
        partition.caught_up();
    }
}
