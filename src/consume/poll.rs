//! The polling thread: records to partition tasks, pauses.

use std::time::Duration;

use rdkafka::TopicPartitionList;
use rdkafka::client::ClientContext;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::message::{Headers, Message};

use super::assignment::Assignment;
use super::group::GroupContext;
use crate::record::RawRecord;

/// Waits at most so long for a record before looking at pauses and the stop flag.
const POLL: Duration = Duration::from_millis(100);
/// The same while a partition waits for room.
const POLL_WHILE_PAUSED: Duration = Duration::from_millis(5);

/// Consuming cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ConsumeError {
    /// the client gave up
    #[error("the Kafka client failed for good: {0}; nothing is lost: restart the worker")]
    Fatal(String),
    /// a bug
    #[error("the task of partition {0} ended on its own; nothing is lost: restart the worker, and report the panic above")]
    TaskDied(i32),
}

/// Polls until `stop` says so, then drains.
pub fn run(consumer: &BaseConsumer<GroupContext>, stop: impl Fn() -> bool) -> Result<(), ConsumeError> {
    let assignment = consumer.context().assignment.clone();
    let result = loop {
        if stop() {
            break Ok(());
        }
        consumer.context().health().polled();
        let timeout = if assignment.any_paused() { POLL_WHILE_PAUSED } else { POLL };
        match consumer.poll(timeout) {
            None => {}
            Some(Ok(message)) => {
                if let Some(full) = assignment.deliver(own(&message)) {
                    pause(consumer, &assignment, full);
                }
            }
            Some(Err(KafkaError::PartitionEOF(partition))) => assignment.reached_end(partition),
            Some(Err(error)) => {
                if let Some((code, reason)) = consumer.client().fatal_error() {
                    break Err(ConsumeError::Fatal(format!("{code}: {reason}")));
                }
                let reason = error.to_string();
                consumer.context().error(error, &reason);
            }
        }
        for partition in assignment.without_end() {
            // Until the end is known the partition counts as a backlog, so a failure here is only tried again.
            if let Ok((_, end)) = consumer.fetch_watermarks(&assignment.topic, partition, Duration::from_secs(5)) {
                assignment.set_end(partition, end);
            }
        }
        let resumed = assignment.unblock();
        if !resumed.is_empty() {
            let _ = consumer.resume(&list(&assignment.topic, &resumed)); // fails only for what was revoked meanwhile
        }
        if let Some(partition) = assignment.dead() {
            break Err(ConsumeError::TaskDied(partition));
        }
    };
    assignment.drain(&assignment.partitions());
    result
}

fn pause(consumer: &BaseConsumer<GroupContext>, assignment: &Assignment, partition: i32) {
    let _ = consumer.pause(&list(&assignment.topic, &[partition])); // fails only for what was revoked meanwhile
}

fn list(topic: &str, partitions: &[i32]) -> TopicPartitionList {
    let mut list = TopicPartitionList::with_capacity(partitions.len());
    for &partition in partitions {
        list.add_partition(topic, partition);
    }
    list
}

/// A copy that outlives the client's buffer.
pub fn own(message: &rdkafka::message::BorrowedMessage<'_>) -> RawRecord {
    RawRecord {
        partition: message.partition(),
        offset: message.offset(),
        timestamp_ms: message.timestamp().to_millis(),
        key: message.key().map(<[u8]>::to_vec),
        payload: message.payload().map(<[u8]>::to_vec),
        headers: message
            .headers()
            .map(|h| h.iter().map(|h| (h.key.to_string(), h.value.map(<[u8]>::to_vec))).collect())
            .unwrap_or_default(),
    }
}
