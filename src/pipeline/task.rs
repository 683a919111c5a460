//! A partition's task: the loop round its [`Partition`].
//!
//! ```text
//!  RESTORING ──what its last owner left──▶ RUNNING ──told to stop──▶ CLOSING ──its last cut is durable──▶ over
//!   reads no record yet                    gives a cut when asked
//! ```

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::Shared;
use super::clock::Clock;
use super::partition::Partition;
use super::trial::Trial;
use crate::consume::ToPartition;
use crate::consume::assignment::Inbox;
use crate::consume::changelog::{self, Left};
use crate::produce::Cut;
use crate::produce::committer::Committer;

/// Between clean-ups of the rate limiter's table.
const FORGET_IDLE: Duration = Duration::from_secs(60);
/// Before a restore that failed is tried again.
const RESTORE_AGAIN: Duration = Duration::from_secs(1);

/// Runs until it is told to stop; then waits until what it made is durable.
pub async fn run(shared: Arc<Shared>, number: i32, inbox: Inbox, committer: Arc<Committer>) {
    let Inbox { mut records, mut stop } = inbox;
    let reporter = shared.health.assigned(number);
    let (mut partition, mut trial) = tokio::select! {
        _ = &mut stop => return,
        left = left(&shared, number) => {
            (Partition::restored(shared.clone(), number, Clock::wall(), reporter, &left), Trial::begin(left.mark, left.resume_at))
        }
    };
    let (mut asks, mut durable) = committer.open(number);
    committer.wake();
    let mut forgot = Instant::now();
    loop {
        partition.ask();
        if partition.has_much() {
            committer.wake();
        }
        partition.report();
        let wake = partition.next_due().map(|t| partition.instant(t));
        tokio::select! {
            _ = &mut stop => break,
            Some(ask) = asks.recv() => {
                let _ = ask.send(Cut { mark: trial.mark(), ..partition.cut() });
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
                        crash_if_told(&record);
                        partition.take(record);
                    }
                    if trial.took(partition.resume_at()) {
                        committer.wake();
                    }
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
    drop(asks); // whoever asks now is told nothing; the last cut says all
    let _ = committer.close(number, partition.cut()).await;
}

/// For the tests: a debug build ends at a record whose session the environment names, as a bug that no check foresees would.
fn crash_if_told(record: &crate::record::RawRecord) {
    if cfg!(debug_assertions)
        && let Some(session) = std::env::var_os("FAIRCOPY_CRASH_ON")
        && record.key.as_deref() == Some(session.as_encoded_bytes())
    {
        std::process::abort();
    }
}

/// Reads what the last owner left, until it can be read.
async fn left(shared: &Arc<Shared>, number: i32) -> Left {
    loop {
        let (answer, answered) = oneshot::channel();
        let shared = shared.clone();
        tokio::task::spawn_blocking(move || answer.send(changelog::read(&shared.settings, number)));
        match answered.await {
            Ok(Ok(left)) => return left,
            Ok(Err(error)) => tracing::warn!(partition = number, %error, "the partition waits; it is tried again"),
            Err(_) => tracing::warn!(partition = number, "the partition waits; it is tried again"),
        }
        tokio::time::sleep(RESTORE_AGAIN).await;
    }
}

async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
