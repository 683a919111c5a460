//! A partition's task: the loop round its [`Partition`].

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};

use super::Shared;
use super::clock::Clock;
use super::partition::Partition;
use crate::consume::ToPartition;
use crate::consume::assignment::Inbox;
use crate::produce::Effect;
use crate::produce::delivery::{Command, Progress};

/// How often tails that the rate limit held back are looked at again.
const PARTIAL_RETRY: Duration = Duration::from_millis(50);
/// Between clean-ups of the rate limiter's table.
const FORGET_IDLE: Duration = Duration::from_secs(60);

/// Runs until it is told to stop; then waits until what it sent is acknowledged. Words not released by then are not
/// committed either: the next owner reads them again.
pub async fn run(shared: Arc<Shared>, number: i32, inbox: Inbox, commands: mpsc::Sender<Command>, progress: Progress) {
    let Inbox { mut records, mut stop } = inbox;
    let mut partition = Partition::new(shared.clone(), number, Clock::wall());
    let mut sent_up_to = None;
    let mut forgot = Instant::now();
    loop {
        partition.ask();
        let out = partition.drain();
        let resume_at = partition.resume_at();
        if let Some(resume_at) = resume_at
            && (!out.is_empty() || sent_up_to != Some(resume_at))
        {
            sent_up_to = Some(resume_at);
            let effect = Effect { partition: number, resume_at, out };
            if commands.send(Command::Effect(effect, progress.clone())).await.is_err() {
                return; // delivery gave up, and the process stops
            }
        }
        for tail in partition.partials() {
            let _ = commands.send(Command::Partial(Box::new(tail))).await;
        }
        let retry = partition.has_partials().then(|| Instant::now() + PARTIAL_RETRY);
        let wake = [partition.next_due().map(|t| partition.instant(t)), retry].into_iter().flatten().min();
        tokio::select! {
            _ = &mut stop => break,
            record = records.recv(), if !partition.is_full() => match record {
                Some(ToPartition::Record(record)) => partition.take(record),
                Some(ToPartition::CaughtUp) => partition.caught_up(),
                None => break,
            },
            answer = partition.answer() => partition.answered(answer),
            () = sleep_until(wake) => partition.tick(),
        }
        if forgot.elapsed() > FORGET_IDLE {
            forgot = Instant::now();
            shared.partial_limit.forget_idle();
        }
    }
    let (done, acknowledged) = oneshot::channel();
    if commands.send(Command::Flush(done)).await.is_ok() {
        let _ = acknowledged.await;
    }
}

async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
