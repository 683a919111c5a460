//! When cuts are committed: every so often, and at once where a partition is given up or has made much.
//!
//! A thread of its own asks each partition task for its cut, adds it to what an aborted transaction left, and commits all of them together. What is
//! not known to be committed stays here until it is, or until its partition is lost.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::{mpsc, oneshot, watch};

use super::Cut;
use super::mark::Mark;
use super::raw::RawSender;
use super::transaction::{Group, Transaction, TransactionError};
use crate::events;

/// Asks a partition task for its cut.
pub type Ask = oneshot::Sender<Cut>;

/// After a transaction that failed.
const BACK_OFF: Duration = Duration::from_millis(100);

struct Line {
    /// to the task; none once it has given its last cut
    asks: Option<mpsc::Sender<Ask>>,
    /// cuts not known to be committed
    kept: Option<Cut>,
    /// what the last commit said of its input
    committed: watch::Sender<Option<(i64, Mark)>>,
    /// told when its last cut is durable
    last: Option<oneshot::Sender<()>>,
}

#[derive(Default)]
struct State {
    lines: HashMap<i32, Line>,
    woken: bool,
    closed: bool,
}

/// The line between partition tasks and the committing thread.
#[derive(Default)]
pub struct Committer {
    state: Mutex<State>,
    changed: Condvar,
}

impl Committer {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }

    /// A partition's task is ready: from now on it is asked for cuts, and told what is committed.
    pub fn open(&self, partition: i32) -> (mpsc::Receiver<Ask>, watch::Receiver<Option<(i64, Mark)>>) {
        let (asks, receiver) = mpsc::channel(1);
        let (committed, durable) = watch::channel(None);
        self.lock().lines.insert(partition, Line { asks: Some(asks), kept: None, committed, last: None });
        (receiver, durable)
    }

    /// A partition's task ends with this cut. What comes back is told once it is durable.
    pub fn close(&self, partition: i32, cut: Cut) -> oneshot::Receiver<()> {
        let (done, durable) = oneshot::channel();
        let mut state = self.lock();
        if let Some(line) = state.lines.get_mut(&partition) {
            line.asks = None;
            line.last = Some(done);
            keep(line, cut);
        }
        state.woken = true;
        self.changed.notify_all();
        durable
    }

    /// A partition is another worker's: nothing of it is to be sent any more.
    pub fn forget(&self, partition: i32) {
        self.lock().lines.remove(&partition);
    }

    /// Commits soon, not at the next interval.
    pub fn wake(&self) {
        self.lock().woken = true;
        self.changed.notify_all();
    }

    /// Lets the thread end once every line is closed.
    pub fn finish(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Commits every `interval` until it is finished. Where it fails, nothing that is open or comes later is committed.
    ///
    /// # Errors
    /// The producer was fenced, or failed for good.
    pub fn run(
        &self,
        transaction: Transaction,
        partials: &RawSender,
        topic: &str,
        group: &Arc<dyn Group>,
        interval: Duration,
    ) -> Result<(), TransactionError> {
        let result = self.keep_committing(transaction, partials, topic, group, interval);
        self.lock().lines.clear(); // who waits for a last cut is told that it is not durable
        result
    }

    fn keep_committing(
        &self,
        mut transaction: Transaction,
        partials: &RawSender,
        topic: &str,
        group: &Arc<dyn Group>,
        interval: Duration,
    ) -> Result<(), TransactionError> {
        let mut due = Instant::now() + interval;
        loop {
            if self.wait(due) {
                return Ok(());
            }
            due = Instant::now() + interval;
            self.gather();
            let mut cuts = self.take();
            if cuts.is_empty() {
                continue;
            }
            let (began, wall) = (Instant::now(), SystemTime::now());
            let mut parts: Vec<(i32, &mut Cut)> = cuts.iter_mut().map(|(partition, cut)| (*partition, cut)).collect();
            let result = transaction.commit(&mut parts, topic, &**group);
            let error = result.as_ref().err().map(ToString::to_string);
            let changelog_bytes = cuts.iter().map(|(_, cut)| cut.changelog_bytes()).sum();
            events::Committed { partitions: cuts.len(), changelog_bytes, took: began.elapsed(), error: error.as_deref() }.emit();
            match result {
                Ok(()) => {
                    let outlet = transaction.outlet();
                    cuts.iter().flat_map(|(_, cut)| &cut.partials).for_each(|tail| partials.forget(outlet.partial(tail)));
                    cuts.iter().for_each(|(_, cut)| cut.emit_released(&outlet.topics.formatted, wall));
                    self.committed(cuts);
                }
                Err(TransactionError::Again(_)) => {
                    self.keep_again(cuts);
                    std::thread::sleep(BACK_OFF);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits until it is time; `true` where there is nothing more to do.
    fn wait(&self, due: Instant) -> bool {
        let mut state = self.lock();
        loop {
            if state.closed && state.lines.is_empty() {
                return true;
            }
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() || std::mem::take(&mut state.woken) {
                return false;
            }
            state = self.changed.wait_timeout(state, left).expect("no holder panics").0;
        }
    }

    /// Asks every task for its cut and keeps what it gives. Tasks answer between two records, so this takes no longer than one of them.
    fn gather(&self) {
        let asks: Vec<(i32, mpsc::Sender<Ask>)> =
            self.lock().lines.iter().filter_map(|(p, line)| Some((*p, line.asks.clone()?))).collect();
        let mut answers = Vec::with_capacity(asks.len());
        for (partition, asks) in asks {
            let (ask, answer) = oneshot::channel();
            if asks.blocking_send(ask).is_ok() {
                answers.push((partition, answer));
            }
        }
        for (partition, answer) in answers {
            // A task that is told to stop gives its cut by `close`.
            let Ok(cut) = answer.blocking_recv() else { continue };
            if let Some(line) = self.lock().lines.get_mut(&partition) {
                keep(line, cut);
            }
        }
    }

    /// What there is to commit. Lines that have given their last cut and have nothing left of it are done with.
    fn take(&self) -> Vec<(i32, Cut)> {
        let mut state = self.lock();
        // Where whoever waited for the last cut has given up, the next owner goes on from the commit before.
        state.lines.retain(|_, line| !line.last.as_ref().is_some_and(oneshot::Sender::is_closed));
        let mut cuts = Vec::new();
        for (partition, line) in &mut state.lines {
            let Some(cut) = line.kept.take() else { continue };
            if !cut.is_empty() || *line.committed.borrow() != Some((cut.resume_at, cut.mark)) {
                cuts.push((*partition, cut));
            }
        }
        state.lines.retain(|partition, line| {
            let done = line.last.is_some() && cuts.iter().all(|(p, _)| p != partition);
            if done && let Some(last) = line.last.take() {
                let _ = last.send(());
            }
            !done
        });
        cuts
    }

    fn committed(&self, cuts: Vec<(i32, Cut)>) {
        let mut state = self.lock();
        for (partition, cut) in cuts {
            let Some(line) = state.lines.get_mut(&partition) else { continue };
            line.committed.send_replace(Some((cut.resume_at, cut.mark)));
            if line.kept.is_none()
                && let Some(last) = line.last.take()
            {
                let _ = last.send(());
                state.lines.remove(&partition);
            }
        }
    }

    /// Cuts of an aborted transaction wait for the next one, before what has come since; but not those of partitions that were lost.
    fn keep_again(&self, cuts: Vec<(i32, Cut)>) {
        let mut state = self.lock();
        for (partition, mut cut) in cuts {
            if let Some(line) = state.lines.get_mut(&partition) {
                if let Some(later) = line.kept.take() {
                    cut.extend(later);
                }
                line.kept = Some(cut);
            }
        }
    }
}

fn keep(line: &mut Line, cut: Cut) {
    match &mut line.kept {
        Some(kept) => kept.extend(cut),
        None => line.kept = Some(cut),
    }
}
