//! Reading outside the group: a whole topic, a whole partition, one record.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::{Offset, TopicPartitionList};

use super::poll::own;
use crate::config::Settings;
use crate::kafka::{self, ClientLog};
use crate::record::RawRecord;

/// For one question to the broker.
pub const ASK: Duration = Duration::from_secs(10);

/// A client that joins no group.
pub struct Reader {
    /// for questions that have no method here
    pub client: BaseConsumer<ClientLog>,
}

impl Reader {
    /// `isolation`: `read_committed`, or `read_uncommitted` to see what is under way.
    pub fn new(settings: &Settings, isolation: &str) -> Result<Reader, KafkaError> {
        let mut config = kafka::client(settings);
        config
            .set("group.id", &settings.kafka.group) // to ask for its offsets
            .set("enable.auto.commit", "false")
            .set("enable.partition.eof", "true")
            .set("auto.offset.reset", "earliest")
            .set("fetch.wait.max.ms", "10") // at the end nothing is waited for but the word that this is it
            .set("isolation.level", isolation)
            .set("fetch.message.max.bytes", settings.largest_record_bytes().to_string());
        Ok(Reader { client: config.create_with_context(ClientLog::default())? })
    }

    /// Partitions of a topic.
    pub fn partitions(&self, topic: &str) -> Result<Vec<i32>, KafkaError> {
        let metadata = self.client.fetch_metadata(Some(topic), ASK)?;
        let partitions: Vec<i32> = metadata.topics().iter().flat_map(|t| t.partitions()).map(|p| p.id()).collect();
        if partitions.is_empty() {
            Err(KafkaError::MetadataFetch(RDKafkaErrorCode::UnknownTopicOrPartition))
        } else {
            Ok(partitions)
        }
    }

    /// Everything in these partitions up to their present end, each in its order.
    pub fn whole(&self, topic: &str, partitions: &[i32], mut each: impl FnMut(RawRecord)) -> Result<(), KafkaError> {
        let mut from = TopicPartitionList::with_capacity(partitions.len());
        for &partition in partitions {
            from.add_partition_offset(topic, partition, Offset::Beginning)?;
        }
        self.client.assign(&from)?;
        let mut open: BTreeSet<i32> = partitions.iter().copied().collect();
        while !open.is_empty() {
            match self.client.poll(ASK) {
                None => {}
                Some(Err(KafkaError::PartitionEOF(partition))) => {
                    open.remove(&partition);
                }
                Some(Err(error)) => return Err(error),
                Some(Ok(message)) => each(own(&message)),
            }
        }
        self.client.unassign()
    }

    /// The record at an offset; `None` where it has expired.
    pub fn one(&self, topic: &str, partition: i32, offset: i64) -> Result<Option<RawRecord>, KafkaError> {
        let mut from = TopicPartitionList::with_capacity(1);
        from.add_partition_offset(topic, partition, Offset::Offset(offset))?;
        self.client.assign(&from)?;
        let began = Instant::now();
        let found = loop {
            match self.client.poll(ASK) {
                Some(Ok(message)) => break Some(own(&message)).filter(|r| r.offset == offset),
                Some(Err(KafkaError::PartitionEOF(_))) => break None,
                Some(Err(error)) => return Err(error),
                None if began.elapsed() > ASK => break None,
                None => {}
            }
        };
        self.client.unassign()?;
        Ok(found)
    }
}
