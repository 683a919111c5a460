//! Follows topics from now on, outside any group: what the demo's viewer reads.

use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::message::Message;
use rdkafka::{Offset, TopicPartitionList};

use crate::config::Settings;
use crate::kafka::sign_in::sign_in;
use crate::kafka::{self, ClientLog};

/// An error of the Kafka client, under a name for modules that do not know the client.
pub type ClientError = KafkaError;

/// A reader of whole topics.
pub struct TopicFollower {
    consumer: BaseConsumer<ClientLog>,
}

impl TopicFollower {
    /// Follows `topics` from their present end.
    pub fn follow(settings: &Settings, topics: &[&str]) -> Result<TopicFollower, KafkaError> {
        // librdkafka assigns partitions only with a group.id, and asks for that group's coordinator. The worker's own group is one that it may ask
        // for. The follower neither joins the group nor commits offsets.
        let group = &settings.kafka.group;
        let consumer: BaseConsumer<ClientLog> = kafka::client(settings)?
            .set("group.id", group)
            .set("enable.auto.commit", "false")
            .create_with_context(ClientLog::default())?;
        sign_in(settings, consumer.client())?;
        let mut list = TopicPartitionList::new();
        for topic in topics {
            let metadata = consumer.fetch_metadata(Some(topic), Duration::from_secs(10))?;
            for partition in metadata.topics().iter().flat_map(|t| t.partitions()) {
                let (_, end) = consumer.fetch_watermarks(topic, partition.id(), Duration::from_secs(10))?;
                list.add_partition_offset(topic, partition.id(), Offset::Offset(end))?;
            }
        }
        consumer.assign(&list)?;
        Ok(TopicFollower { consumer })
    }

    /// The next record's topic and value, if one comes within `timeout`.
    pub fn next(&self, timeout: Duration) -> Option<(String, Vec<u8>)> {
        let message = self.consumer.poll(timeout)?.ok()?;
        Some((message.topic().to_string(), message.payload()?.to_vec()))
    }
}
