//! The partitions this worker owns, from assignment to revocation.
//!
//! ```text
//!            task's channel is full
//!          ┌────────────────────────┐
//!          │                        ▼
//!  add ▶ RUNNING                 PAUSED        drain: the task is told to stop; it leaves what it has not taken, waits until
//!          ▲                        │          its last cut is committed, and ends; gone. lose: it ends at once, uncommitted
//!          └────────────────────────┘
//!             room for what was held
//! ```

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::{
    mpsc::{self, error::TrySendError},
    oneshot,
};
use tokio::task::JoinHandle;

use super::ToPartition;
use crate::record::RawRecord;

/// Records a partition's channel holds.
const CHANNEL_RECORDS: usize = 256;

/// Starts the task of a partition; it ends when it is told to stop.
pub type Spawn = Box<dyn Fn(i32, Inbox) -> JoinHandle<()> + Send + Sync>;

/// A partition task's end of its line to the polling thread.
pub struct Inbox {
    /// records in their order
    pub records: mpsc::Receiver<ToPartition>,
    /// comes true when the partition is given up: what is still in `records` is its next owner's
    pub stop: oneshot::Receiver<()>,
}

struct Partition {
    records: mpsc::Sender<ToPartition>,
    /// dropping it stops the task
    _stop: oneshot::Sender<()>,
    held: VecDeque<ToPartition>,
    paused: bool,
    /// the end it had at assignment, once asked for
    end: Option<i64>,
    caught_up: bool,
    task: JoinHandle<()>,
}

impl Partition {
    /// Hands on what was held and then `next`; keeps what the channel has no room for. Gives back whether all went.
    fn hand_on(&mut self, next: Option<ToPartition>) -> bool {
        self.held.extend(next);
        while let Some(item) = self.held.pop_front() {
            match self.records.try_send(item) {
                Ok(()) => {}
                Err(TrySendError::Full(item) | TrySendError::Closed(item)) => {
                    self.held.push_front(item);
                    return false;
                }
            }
        }
        true
    }
}

/// All partitions of this worker. Used by the polling thread only; the lock is for its callbacks.
pub struct Assignment {
    /// the raw topic
    pub topic: String,
    partitions: Mutex<HashMap<i32, Partition>>,
    spawn: Spawn,
    runtime: Handle,
    drain_deadline: Duration,
}

impl Assignment {
    /// None yet; `spawn` starts a partition's task on `runtime`.
    pub fn new(topic: String, spawn: Spawn, runtime: Handle, drain_deadline: Duration) -> Assignment {
        Assignment { topic, partitions: Mutex::default(), spawn, runtime, drain_deadline }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<i32, Partition>> {
        self.partitions.lock().expect("the polling thread does not panic here")
    }

    /// Takes partitions over.
    pub fn add(&self, partitions: &[i32]) {
        let mut all = self.lock();
        for &number in partitions {
            let (records, inbox) = mpsc::channel(CHANNEL_RECORDS);
            let (stop, stopped) = oneshot::channel();
            let task = (self.spawn)(number, Inbox { records: inbox, stop: stopped });
            let partition =
                Partition { records, _stop: stop, held: VecDeque::new(), paused: false, end: None, caught_up: false, task };
            all.insert(number, partition);
        }
    }

    /// Gives partitions up: their tasks commit what they have made, within the drain deadline.
    pub fn drain(&self, partitions: &[i32]) {
        let deadline = Instant::now() + self.drain_deadline;
        for (number, mut task) in self.take(partitions) {
            let left = deadline.saturating_duration_since(Instant::now());
            let ended = self.runtime.block_on(async { tokio::time::timeout(left, &mut task).await });
            if ended.is_err() {
                task.abort();
                tracing::warn!(partition = number, "drain deadline passed; the next owner goes on from the last commit");
            }
        }
    }

    /// Partitions are another worker's already: their tasks end, and nothing of them is committed any more.
    pub fn lose(&self, partitions: &[i32]) {
        for (_, task) in self.take(partitions) {
            task.abort();
        }
    }

    /// Tells tasks to stop, by dropping what they listen to.
    fn take(&self, partitions: &[i32]) -> Vec<(i32, JoinHandle<()>)> {
        let mut all = self.lock();
        partitions.iter().filter_map(|number| all.remove(number).map(|p| (*number, p.task))).collect()
    }

    /// All partitions of this worker.
    pub fn partitions(&self) -> Vec<i32> {
        self.lock().keys().copied().collect()
    }

    /// A record came. Gives its partition if that must be paused. A record of a partition not owned is dropped: its owner reads it.
    pub fn deliver(&self, record: RawRecord) -> Option<i32> {
        let mut all = self.lock();
        let number = record.partition;
        let partition = all.get_mut(&number)?;
        let last_of_backlog = partition.end.is_some_and(|end| record.offset + 1 >= end);
        let mut went = partition.hand_on(Some(ToPartition::Record(record)));
        if last_of_backlog && !partition.caught_up {
            partition.caught_up = true;
            went = partition.hand_on(Some(ToPartition::CaughtUp));
        }
        let pause = !went && !partition.paused;
        partition.paused |= pause;
        pause.then_some(number)
    }

    /// The end of a partition's log was reached.
    pub fn reached_end(&self, number: i32) {
        if let Some(partition) = self.lock().get_mut(&number)
            && !partition.caught_up
        {
            partition.caught_up = true;
            partition.hand_on(Some(ToPartition::CaughtUp));
        }
    }

    /// Partitions whose end at assignment is not known yet.
    pub fn without_end(&self) -> Vec<i32> {
        self.lock().iter().filter(|(_, p)| p.end.is_none()).map(|(n, _)| *n).collect()
    }

    /// The end a partition had at assignment.
    pub fn set_end(&self, number: i32, end: i64) {
        if let Some(partition) = self.lock().get_mut(&number) {
            partition.end = Some(end);
        }
    }

    /// Hands on what was held; gives the partitions to resume.
    pub fn unblock(&self) -> Vec<i32> {
        let mut resumed = Vec::new();
        for (number, partition) in self.lock().iter_mut() {
            let all_went = partition.hand_on(None);
            if all_went && partition.paused {
                partition.paused = false;
                resumed.push(*number);
            }
        }
        resumed
    }

    /// Whether any partition is paused.
    pub fn any_paused(&self) -> bool {
        self.lock().values().any(|p| p.paused || !p.held.is_empty())
    }

    /// Partitions whose task ended although their channel is open: it panicked.
    pub fn dead(&self) -> Option<i32> {
        self.lock().iter().find(|(_, p)| p.task.is_finished()).map(|(n, _)| *n)
    }
}
