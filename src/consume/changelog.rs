//! What the last owner of a partition left in the changelog.
//!
//! A transaction's offsets can be visible before its markers have reached every partition, so reading to the end that `read_committed` shows may stop
//! early. The order here is that of Kafka Streams' `StoreChangelogReader`: committed offsets first, which waits for commits under way; then the
//! changelog's high watermark as a `read_uncommitted` client sees it; then, once the stable end has reached that, everything up to it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::{Offset, TopicPartitionList};

use super::reader::{ASK, Reader};
use crate::config::{Settings, Start};
use crate::events;
use crate::kafka::ClientLog;
use crate::produce::mark::Mark;

/// Between two looks at the stable end.
const LOOK: Duration = Duration::from_millis(50);
/// Waits so much longer than a transaction may take for the stable end: the broker looks for overdue ones every ten seconds.
const OVERDUE: Duration = Duration::from_secs(20);

/// Why a partition cannot be taken over.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// the client's word
    #[error("the changelog cannot be read: {0}")]
    Client(#[from] KafkaError),
    /// a transaction stays open
    #[error("a transaction of another worker stays open on {topic} partition {partition}; expected it to end within {waited:?}")]
    Held {
        /// the changelog
        topic: String,
        /// which
        partition: i32,
        /// how long
        waited: Duration,
    },
}

/// The latest value of each key, and where the partition's input goes on.
pub struct Left {
    /// by key; those with a tombstone are not among them
    pub states: HashMap<Vec<u8>, Vec<u8>>,
    /// offset of the next raw record
    pub resume_at: i64,
    /// what the last commit said of it
    pub mark: Mark,
}

/// Reads what was left of a partition of the raw topic. Blocks.
///
/// # Errors
/// The broker does not answer, or a transaction stays open for longer than any may.
pub fn read(settings: &Settings, partition: i32) -> Result<Left, RestoreError> {
    let began = Instant::now();
    let topic = &settings.topics.changelog;
    let stable = Reader::new(settings, "read_committed")?;
    let (resume_at, mark) = resume_at(settings, &stable.client, partition)?;
    let (_, end) = Reader::new(settings, "read_uncommitted")?.client.fetch_watermarks(topic, partition, ASK)?;
    let patience = Duration::from_millis(settings.delivery.transaction_timeout_ms) + OVERDUE;
    while stable.client.fetch_watermarks(topic, partition, ASK)?.1 < end {
        if began.elapsed() > patience {
            return Err(RestoreError::Held { topic: topic.clone(), partition, waited: patience });
        }
        std::thread::sleep(LOOK);
    }
    let mut states = HashMap::new();
    let mut records = 0u64;
    stable.whole(topic, &[partition], |record| {
        records += 1;
        match (record.key, record.payload) {
            (Some(key), Some(value)) => _ = states.insert(key, value),
            (Some(key), None) => _ = states.remove(&key),
            (None, _) => {}
        }
    })?;
    events::Restored { partition, streams: states.len(), records, took: began.elapsed() }.emit();
    Ok(Left { states, resume_at, mark })
}

/// Where the group goes on, and what the last commit said of it: its committed offset if the log still has it, else where the settings say that a group begins.
fn resume_at(settings: &Settings, client: &BaseConsumer<ClientLog>, partition: i32) -> Result<(i64, Mark), KafkaError> {
    let topic = &settings.topics.raw;
    let mut list = TopicPartitionList::with_capacity(1);
    list.add_partition(topic, partition);
    let committed = client.committed_offsets(list, ASK)?;
    let (low, high) = client.fetch_watermarks(topic, partition, ASK)?;
    let begin = if settings.kafka.start == Start::Earliest { low } else { high };
    let committed = &committed.elements()[0];
    Ok(match committed.offset() {
        Offset::Offset(at) if at < low => {
            events::InputLost { partition, committed: at, oldest: low }.emit();
            (begin, Mark::Clean)
        }
        Offset::Offset(at) => (at, Mark::from_metadata(committed.metadata())),
        _ => (begin, Mark::Clean),
    })
}
