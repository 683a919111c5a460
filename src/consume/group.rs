//! The consumer client: settings, a look at the broker before anything is consumed, and rebalances.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext, Rebalance};
use rdkafka::error::{KafkaError, KafkaResult};
use rdkafka::topic_partition_list::TopicPartitionList;

use super::assignment::Assignment;
use super::probe;
use crate::config::{GroupProtocol, Settings, Start};
use crate::events;
use crate::kafka::{self, ClientLog};

/// How long the broker may take to answer at start.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Why consuming cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// a property librdkafka does not take
    #[error("kafka: {0}; expected properties of librdkafka in kafka.properties")]
    Properties(KafkaError),
    /// no broker
    #[error(
        "kafka.brokers = {brokers:?}: no broker answered within {START_TIMEOUT:?}: {error}; check the address, that Kafka runs, and kafka.properties (SASL, TLS)"
    )]
    Unreachable {
        /// as set
        brokers: String,
        /// the client's word
        error: KafkaError,
    },
    /// no topic
    #[error("topic {topic:?} does not exist on {brokers}; create it: faircopy topics create")]
    NoTopic {
        /// as set
        topic: String,
        /// as set
        brokers: String,
    },
}

/// Callbacks of the consumer: they run on the polling thread, inside `poll`.
pub struct GroupContext {
    /// the partitions this worker owns
    pub assignment: Arc<Assignment>,
    /// set when a commit failed, so that the next one says everything again
    pub commit_failed: AtomicBool,
    log: ClientLog,
}

impl ClientContext for GroupContext {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        self.log.log(level, facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.log.error(error, reason);
    }
}

impl ConsumerContext for GroupContext {
    fn pre_rebalance(&self, consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Revoke(partitions) = rebalance {
            let partitions = numbers(partitions);
            let drained = self.assignment.drain(&partitions);
            if !consumer.assignment_lost() {
                commit(consumer, &self.assignment.topic, &drained, CommitMode::Sync);
            }
            events::Rebalanced { what: "revoked", partitions: &partitions }.emit();
        }
    }

    fn post_rebalance(&self, _: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        match rebalance {
            Rebalance::Assign(partitions) => {
                let partitions = numbers(partitions);
                self.assignment.add(&partitions);
                events::Rebalanced { what: "assigned", partitions: &partitions }.emit();
            }
            Rebalance::Revoke(_) => {}
            Rebalance::Error(error) => tracing::warn!(%error, "rebalance failed; the group tries again"),
        }
    }

    fn commit_callback(&self, result: KafkaResult<()>, offsets: &TopicPartitionList) {
        let error = result.err().map(|e| e.to_string());
        if error.is_some() {
            self.commit_failed.store(true, Ordering::Relaxed);
        }
        events::Committed { partitions: offsets.count(), error: error.as_deref() }.emit();
    }
}

fn numbers(partitions: &TopicPartitionList) -> Vec<i32> {
    partitions.elements().iter().map(|e| e.partition()).collect()
}

/// Commits `offsets` of `topic`. A failure is an event; what was not committed is read again.
pub fn commit(consumer: &BaseConsumer<GroupContext>, topic: &str, offsets: &[(i32, i64)], mode: CommitMode) {
    if offsets.is_empty() {
        return;
    }
    let mut list = TopicPartitionList::with_capacity(offsets.len());
    for &(partition, offset) in offsets {
        list.add_partition_offset(topic, partition, rdkafka::Offset::Offset(offset)).expect("offsets are not negative");
    }
    if let Err(error) = consumer.commit(&list, mode) {
        consumer.context().commit_failed.store(true, Ordering::Relaxed);
        events::Committed { partitions: offsets.len(), error: Some(&error.to_string()) }.emit();
    } else if matches!(mode, CommitMode::Sync) {
        events::Committed { partitions: offsets.len(), error: None }.emit();
    }
}

/// Makes the consumer, sees that broker and topics are there, and subscribes.
pub fn join(settings: &Settings, assignment: Arc<Assignment>) -> Result<BaseConsumer<GroupContext>, StartError> {
    let k = &settings.kafka;
    let mut config = kafka::client(settings);
    config
        .set("group.id", &k.group)
        .set("enable.auto.commit", "false")
        .set("enable.auto.offset.store", "false")
        .set("enable.partition.eof", "true")
        .set("isolation.level", "read_committed")
        .set("auto.offset.reset", if k.start == Start::Earliest { "earliest" } else { "latest" });
    let kip_848 = match k.group_protocol {
        GroupProtocol::Consumer => true,
        GroupProtocol::Classic => false,
        GroupProtocol::Auto => probe::knows_kip_848(&k.brokers).unwrap_or(false),
    };
    if kip_848 {
        config.set("group.protocol", "consumer");
    } else {
        config.set("group.protocol", "classic").set("partition.assignment.strategy", "range,roundrobin");
    }
    let context = GroupContext { assignment, commit_failed: AtomicBool::new(false), log: ClientLog::default() };
    let consumer: BaseConsumer<GroupContext> = config.create_with_context(context).map_err(StartError::Properties)?;
    let metadata = consumer
        .fetch_metadata(None, START_TIMEOUT)
        .map_err(|error| StartError::Unreachable { brokers: k.brokers.clone(), error })?;
    let t = &settings.topics;
    for topic in [&t.raw, &t.formatted, &t.partial, &t.dead_letter] {
        let there = metadata.topics().iter().any(|m| m.name() == topic && m.error().is_none());
        if !there {
            return Err(StartError::NoTopic { topic: topic.clone(), brokers: k.brokers.clone() });
        }
    }
    tracing::info!(protocol = if kip_848 { "consumer" } else { "classic" }, group = %k.group, topic = %t.raw, "joining the group");
    consumer.subscribe(&[&t.raw]).map_err(StartError::Properties)?;
    Ok(consumer)
}
