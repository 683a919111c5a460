//! A partition's task: the loop round its [`Partition`].
//!
//! ```text
//!  RESTORING ──what its last owner left──▶ RUNNING ──told to stop──▶ its last cut ──▶ over
//!   reads no record yet                    gives a cut when asked
//! ```

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use super::Shared;
use super::assignment::{Inbox, ToPartition};
use super::partition::Partition;
use super::restore::{Restored, restore};
use crate::consume::changelog::RestoreError;
use crate::faults::crash_on;
use crate::produce::Cut;
use crate::produce::commits::{Incarnation, Position};

/// Between clean-ups of the rate limiter's table.
const FORGET_IDLE: Duration = Duration::from_secs(60);

/// What a task tells its worker. The order of a task's reports is kept.
#[derive(Debug)]
pub enum Report {
    /// its state is restored, to where the last owner's commits had come
    Restored(Incarnation, Position),
    /// the cut that was asked for
    Cut(Incarnation, Cut),
    /// the cut after which there is nothing
    Last(Incarnation, Cut),
    /// it would have a commit now: much was made, or it waits for one
    Wants,
}

/// Runs until it is told to stop.
///
/// # Errors
/// The partition's state is another group's.
pub async fn run(
    shared: Arc<Shared>,
    incarnation: Incarnation,
    inbox: Inbox,
    reports: Sender<Report>,
) -> Result<(), RestoreError> {
    let Inbox { mut records, mut asks, mut durable, mut stop } = inbox;
    // Where the worker has ended, nobody wants to know.
    let report = |what: Report| _ = reports.send(what);
    let reporter = Arc::new(shared.health.assigned(incarnation.partition));
    let Restored { mut partition, mut trial, began_at, end } = tokio::select! {
        _ = &mut stop => return Ok(()),
        restored = restore(&shared, incarnation.partition, &reporter) => restored?,
    };
    report(Report::Restored(incarnation, began_at));
    report(Report::Wants);
    let mut said_much = false;
    let mut forgot = Instant::now();
    caught_up_at(end, &mut partition, &mut trial);
    loop {
        partition.ask();
        if partition.has_much() && !std::mem::replace(&mut said_much, true) {
            report(Report::Wants);
        }
        partition.report();
        let wake = partition.next_due().map(|t| partition.instant(t));
        tokio::select! {
            _ = &mut stop => break,
            Some(()) = asks.recv() => {
                said_much = false;
                report(Report::Cut(incarnation, Cut { mark: trial.mark(), ..partition.cut() }));
            }
            Ok(()) = durable.changed() => {
                if let Some((at, mark)) = *durable.borrow_and_update() {
                    trial.committed(at, mark);
                }
            }
            record = records.recv(), if !partition.is_full() && !trial.waits() => match record {
                // The consumer asks for its own start, and may be given an older one while a dead worker's offsets are pending.
                Some(ToPartition::Record(record)) if record.offset < partition.resume_at() => {}
                Some(ToPartition::Record(record)) => {
                    if trial.convicts(record.offset) {
                        partition.isolate(record);
                    } else {
                        crash_on(record.key.as_deref());
                        partition.take(record);
                    }
                    if trial.took(partition.resume_at()) {
                        report(Report::Wants);
                    }
                    caught_up_at(end, &mut partition, &mut trial);
                }
                Some(ToPartition::CaughtUp) => {
                    trial.caught_up();
                    partition.caught_up();
                }
                None => break,
            },
            answer = partition.answer() => partition.answered(answer),
            () = sleep_until(wake) => partition.tick(),
        }
        if forgot.elapsed() > FORGET_IDLE {
            forgot = Instant::now();
            shared.partial_limit.forget_idle();
            shared.in_force().quotas.forget_idle(Instant::now());
        }
    }
    report(Report::Last(incarnation, partition.cut()));
    Ok(())
}

/// Delays count from where the log ended when the partition was taken over.
fn caught_up_at(end: i64, partition: &mut Partition, trial: &mut super::trial::Trial) {
    if partition.resume_at() >= end && !partition.is_running() {
        trial.caught_up();
        partition.caught_up();
    }
}

async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
