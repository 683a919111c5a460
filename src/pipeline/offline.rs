//! A partition that is fed from a file, without Kafka. Used by `faircopy format`, `faircopy eval` and the benchmarks.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};

use super::clock::Clock;
use super::partition::Partition;
use super::{OnRelease, Shared};
use crate::config::Settings;
use crate::consume::changelog::ChangelogState;
use crate::health::Health;
use crate::kafka::crash_mark::CrashMark;
use crate::kafka::notes::PartitionNote;
use crate::produce::Outgoing;
use crate::record::{Framing, RawRecord};
use crate::session::Time;
use crate::session::output::{StreamRef, Tail};

/// How long the model's answer is waited for. There is no live deadline here.
const PATIENCE_MS: u64 = 3_600_000;

/// A [`Partition`], with a runtime that waits for the model's answers.
pub struct OfflinePipeline {
    partition: Partition,
    runtime: Runtime,
    /// the states that the changelog would hold
    changelog: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl OfflinePipeline {
    /// Settings for this pipeline: no deadline for the model, no frame before a value, and partials only if `partials`
    /// asks for them.
    pub fn settings(mut settings: Settings, partials: bool) -> Settings {
        settings.infer.timeout_ms = PATIENCE_MS;
        settings.partials.enabled = partials;
        settings.input.framing = Framing::None; // lines of a file have no frame
        settings.topics.conversation.clear(); // who wants turns asks for them
        settings
    }

    /// A pipeline whose input is a backlog. No delay counts, so the output is a function of the input alone.
    pub fn backlog(shared: Arc<Shared>) -> OfflinePipeline {
        OfflinePipeline::new(shared, Clock::wall())
    }

    /// A pipeline whose input comes at the pace of [`OfflinePipeline::wait`]. Delays count.
    pub fn paced(shared: Arc<Shared>) -> OfflinePipeline {
        let mut replay = OfflinePipeline::new(shared, Clock::simulated());
        replay.partition.caught_up();
        replay
    }

    /// A pipeline that decodes records of a partition again. No delay counts but those that are given to
    /// [`OfflinePipeline::partition`] to be repeated.
    pub fn again(shared: Arc<Shared>) -> OfflinePipeline {
        OfflinePipeline::new(shared, Clock::simulated())
    }

    /// The partition.
    pub fn partition(&mut self) -> &mut Partition {
        &mut self.partition
    }

    /// Moves a simulated clock on to `t`, once everything is answered, and does what is due by then.
    pub fn move_to(&mut self, t: Time) {
        self.settle();
        self.partition.clock.move_to(t);
        self.partition.tick();
        self.settle();
    }

    fn new(shared: Arc<Shared>, clock: Clock) -> OfflinePipeline {
        let runtime = Builder::new_current_thread().enable_all().build().expect("the system has room for a runtime");
        let reporter = Arc::new(Arc::<Health>::default().assigned(0)); // nobody reads the health of an offline pipeline
        OfflinePipeline { partition: Partition::new(shared, 0, clock, reporter), runtime, changelog: BTreeMap::new() }
    }

    /// Formats every record by this profile, whatever its tenant, and reports every release.
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

    /// Lets `ms` pass on a simulated clock. Whatever becomes due on the way is done and answered before the clock moves
    /// on.
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

    /// Goes on as another worker would that knows only what a commit makes durable. The clock then moves by
    /// [`OfflinePipeline::wait`]. Returns the output so far.
    pub fn hand_over(&mut self, shared: Arc<Shared>) -> Vec<Outgoing> {
        let checkpoint = self.partition.checkpoint();
        for (key, state) in checkpoint.changelog {
            match state {
                Some(state) => self.changelog.insert(key, state),
                None => self.changelog.remove(&key),
            };
        }
        let notes = self.changelog.iter().filter_map(|(key, value)| PartitionNote::from_record(key, value));
        let conversations = notes.filter_map(|note| match note {
            PartitionNote::Conversation(session, state) => Some((session, state)),
            _ => None,
        });
        let left = ChangelogState {
            conversations: conversations.collect(),
            states: self
                .changelog
                .iter()
                .filter(|(key, _)| !PartitionNote::is_key(key))
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect(),
            next_offset: checkpoint.next_offset,
            mark: CrashMark::Clean,
            end: checkpoint.next_offset,
            owned: true,
            refused: BTreeMap::new(),
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

    /// The output since the last call, in order.
    pub fn drain(&mut self) -> Vec<Outgoing> {
        self.partition.drain()
    }

    /// Tails that changed since the last call, of sessions in a profile with partials.
    pub fn changed_tails(&mut self) -> Vec<(StreamRef, Tail)> {
        self.partition.changed_tails(|_| true)
    }
}
