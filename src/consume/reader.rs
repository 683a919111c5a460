//! Reading outside the group: a whole topic, a whole partition, one record.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::Message;
use rdkafka::{Offset, TopicPartitionList};

use super::poll::own;
use crate::config::Settings;
use crate::kafka::{self, ClientLog};
use crate::record::RawRecord;

/// For one question to the broker.
pub const BROKER_TIMEOUT: Duration = Duration::from_secs(10);
/// Between two looks at how long nothing came.
const POLL: Duration = Duration::from_secs(1);
/// A partition that gives neither a record nor its end for so long is not waited for.
const SILENCE: Duration = Duration::from_secs(30);

/// Why a topic could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// the client's word
    #[error("{0}")]
    Client(#[from] KafkaError),
    /// nobody serves it
    #[error(
        "topic {topic:?}, partitions {partitions:?}: neither a record nor their end came for {SILENCE:?}; expected each to have a leader"
    )]
    Silent {
        /// which
        topic: String,
        /// of which the end is not reached
        partitions: Vec<i32>,
    },
}

/// A client that joins no group.
pub struct TopicReader {
    /// for questions that have no method here
    pub client: BaseConsumer<ClientLog>,
}

impl TopicReader {
    /// `isolation`: `read_committed`, or `read_uncommitted` to see what is under way.
    pub fn new(settings: &Settings, isolation: &str) -> Result<TopicReader, KafkaError> {
        let mut config = kafka::client(settings);
        config
            .set("group.id", &settings.kafka.group) // to ask for its offsets
            .set("enable.auto.commit", "false")
            .set("enable.partition.eof", "true")
            .set("auto.offset.reset", "earliest")
            .set("fetch.wait.max.ms", "10") // at the end nothing is waited for but the word that this is it
            .set("isolation.level", isolation)
            .set("fetch.message.max.bytes", settings.largest_record_bytes().to_string());
        Ok(TopicReader { client: config.create_with_context(ClientLog::default())? })
    }

    /// Partitions of a topic.
    pub fn partitions(&self, topic: &str) -> Result<Vec<i32>, KafkaError> {
        let metadata = self.client.fetch_metadata(Some(topic), BROKER_TIMEOUT)?;
        let partitions: Vec<i32> = metadata.topics().iter().flat_map(|t| t.partitions()).map(|p| p.id()).collect();
        if partitions.is_empty() {
            Err(KafkaError::MetadataFetch(RDKafkaErrorCode::UnknownTopicOrPartition))
        } else {
            Ok(partitions)
        }
    }

    /// Everything in these partitions up to their present end, each in its order.
    ///
    /// # Errors
    /// The client fails, or nothing comes for a while.
    pub fn whole(&self, topic: &str, partitions: &[i32], each: impl FnMut(RawRecord)) -> Result<(), ReadError> {
        let from: Vec<(i32, Offset)> = partitions.iter().map(|p| (*p, Offset::Beginning)).collect();
        self.until_the_end(topic, &from, i64::MAX, each)
    }

    /// The records of a partition from one offset to before another, as far as they are there.
    ///
    /// # Errors
    /// The client fails, or nothing comes for a while.
    pub fn range(
        &self,
        topic: &str,
        partition: i32,
        (from, to): (i64, i64),
        each: impl FnMut(RawRecord),
    ) -> Result<(), ReadError> {
        if from >= to {
            return Ok(());
        }
        self.until_the_end(topic, &[(partition, Offset::Offset(from))], to, each)
    }

    /// Reads each partition until its end, or a record at `to` or after it.
    fn until_the_end(
        &self,
        topic: &str,
        from: &[(i32, Offset)],
        to: i64,
        mut each: impl FnMut(RawRecord),
    ) -> Result<(), ReadError> {
        let mut list = TopicPartitionList::with_capacity(from.len());
        for (partition, offset) in from {
            list.add_partition_offset(topic, *partition, *offset)?;
        }
        self.client.assign(&list)?;
        let mut open: BTreeSet<i32> = from.iter().map(|(partition, _)| *partition).collect();
        let mut heard = Instant::now();
        while !open.is_empty() {
            match self.client.poll(POLL) {
                None if heard.elapsed() > SILENCE => {
                    return Err(ReadError::Silent { topic: topic.to_string(), partitions: open.into_iter().collect() });
                }
                None => continue,
                Some(Err(KafkaError::PartitionEOF(partition))) => _ = open.remove(&partition),
                Some(Err(error)) => return Err(error.into()),
                Some(Ok(message)) if !open.contains(&message.partition()) => {}
                Some(Ok(message)) if message.offset() >= to => _ = open.remove(&message.partition()),
                Some(Ok(message)) => {
                    let last = message.offset() + 1 == to;
                    each(own(&message));
                    if last {
                        open.remove(&message.partition());
                    }
                }
            }
            heard = Instant::now();
        }
        Ok(self.client.unassign()?)
    }

    /// The record at an offset; `None` where it has expired.
    pub fn one(&self, topic: &str, partition: i32, offset: i64) -> Result<Option<RawRecord>, KafkaError> {
        let mut from = TopicPartitionList::with_capacity(1);
        from.add_partition_offset(topic, partition, Offset::Offset(offset))?;
        self.client.assign(&from)?;
        let began = Instant::now();
        let found = loop {
            match self.client.poll(BROKER_TIMEOUT) {
                Some(Ok(message)) => break Some(own(&message)).filter(|r| r.offset == offset),
                Some(Err(KafkaError::PartitionEOF(_))) => break None,
                Some(Err(error)) => return Err(error),
                None if began.elapsed() > BROKER_TIMEOUT => break None,
                None => {}
            }
        };
        self.client.unassign()?;
        Ok(found)
    }
}
