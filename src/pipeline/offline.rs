//! A partition fed from a file, without Kafka: `faircopy format`, `faircopy eval` and the benchmarks.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};

use super::clock::Clock;
use super::partition::Partition;
use super::{OnRelease, Shared};
use crate::config::Settings;
use crate::consume::changelog::ChangelogState;
use crate::health::Health;
use crate::kafka::crash_mark::CrashMark;
use crate::produce::Outgoing;
use crate::record::RawRecord;
use crate::session::output::{StreamRef, Tail};

/// An answer of the model is waited for so long: a replay has no deadline to keep.
const PATIENCE_MS: u64 = 3_600_000;

/// A [`Partition`] and who waits for its answers.
pub struct OfflinePipeline {
    partition: Partition,
    runtime: Runtime,
    /// what would be in the compacted changelog
    changelog: HashMap<Vec<u8>, Vec<u8>>,
}

impl OfflinePipeline {
    /// Settings for a replay: no deadline for the model, and partials only for who looks at them.
    pub fn settings(mut settings: Settings, partials: bool) -> Settings {
        settings.infer.timeout_ms = PATIENCE_MS;
        settings.partials.enabled = partials;
        settings
    }

    /// The input is a backlog: no delay counts, so the output is a function of the input alone.
    pub fn backlog(shared: Arc<Shared>) -> OfflinePipeline {
        OfflinePipeline::new(shared, Clock::wall())
    }

    /// The input comes at the pace of [`OfflinePipeline::wait`], and delays count.
    pub fn paced(shared: Arc<Shared>) -> OfflinePipeline {
        let mut replay = OfflinePipeline::new(shared, Clock::simulated());
        replay.partition.caught_up();
        replay
    }

    fn new(shared: Arc<Shared>, clock: Clock) -> OfflinePipeline {
        let runtime = Builder::new_current_thread().enable_all().build().expect("the system has room for a runtime");
        let reporter = Arc::new(Arc::<Health>::default().assigned(0)); // nobody asks how a replay is
        OfflinePipeline { partition: Partition::new(shared, 0, clock, reporter), runtime, changelog: HashMap::new() }
    }

    /// Takes every record as of this profile, whatever its tenant, and tells of every release.
    pub fn try_out(&mut self, profile: &str, on_release: OnRelease) {
        self.partition.try_out(profile, on_release);
    }

    /// Takes the next record and hands its requests to the model, without waiting for answers.
    pub fn take(&mut self, record: RawRecord) {
        self.partition.take(record);
        self.partition.submit_requests();
    }

    /// Waits until the model has answered everything.
    pub fn settle(&mut self) {
        self.partition.submit_requests();
        while self.partition.has_request_in_flight() {
            let answer = self.runtime.block_on(self.partition.answer());
            self.partition.answered(answer);
            self.partition.submit_requests();
        }
    }

    /// Lets `ms` pass on a simulated clock. What falls due on the way is answered before the clock moves on.
    pub fn wait(&mut self, ms: u64) {
        let until = self.partition.now().plus(ms);
        self.settle();
        while let Some(due) = self.partition.next_due().filter(|&due| due <= until) {
            self.partition.clock.move_to(due);
            self.partition.tick();
            self.settle();
        }
        self.partition.clock.move_to(until);
    }

    /// Goes on at the pace of [`OfflinePipeline::wait`] as another worker that knows nothing but what a commit makes durable; what came out before is returned.
    pub fn hand_over(&mut self, shared: Arc<Shared>) -> Vec<Outgoing> {
        let checkpoint = self.partition.checkpoint();
        for (key, state) in checkpoint.changelog {
            match state {
                Some(state) => self.changelog.insert(key, state),
                None => self.changelog.remove(&key),
            };
        }
        let left = ChangelogState {
            states: self.changelog.clone(),
            next_offset: checkpoint.next_offset,
            mark: CrashMark::Clean,
            end: checkpoint.next_offset,
            owned: true,
        };
        let reporter = Arc::new(Arc::<Health>::default().assigned(0));
        let (partition, unreadable) = Partition::restored(shared, 0, Clock::simulated(), reporter, &left);
        assert!(unreadable.is_empty(), "what this program wrote it can read");
        self.partition = partition;
        self.partition.caught_up();
        checkpoint.out
    }

    /// Ends all streams and waits for the last answers.
    pub fn finish(&mut self) {
        self.partition.end_all();
        self.settle();
    }

    /// What came out since the last call, in order.
    pub fn drain(&mut self) -> Vec<Outgoing> {
        self.partition.drain()
    }

    /// Tails that changed since the last call, of sessions in a profile with partials.
    pub fn changed_tails(&mut self) -> Vec<(StreamRef, Tail)> {
        self.partition.changed_tails(|_| true)
    }
}
