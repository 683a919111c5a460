//! `faircopy topics create`: the topics a deployment needs.

use std::time::Duration;

use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::error::RDKafkaErrorCode;

use crate::config::Settings;
use crate::kafka::{self, ClientLog};

/// Creates the five topics, each with `partitions` and `replication`. One that exists is left as it is. Gives a line a topic.
///
/// # Errors
/// The broker cannot be reached or refuses; says which topic and why.
pub async fn create(settings: &Settings, partitions: i32, replication: i32) -> Result<Vec<String>, String> {
    let admin: AdminClient<ClientLog> = kafka::client(settings)
        .create_with_context(ClientLog::default())
        .map_err(|e| format!("kafka.properties: {e}; expected properties of librdkafka"))?;
    let t = &settings.topics;
    let largest = settings.largest_record_bytes().to_string();
    let new: Vec<NewTopic> = [&t.raw, &t.formatted, &t.partial, &t.dead_letter, &t.changelog]
        .into_iter()
        .map(|name| {
            let topic = NewTopic::new(name, partitions, TopicReplication::Fixed(replication));
            if name == &t.partial {
                return topic.set("retention.ms", "3600000"); // a tail is out of date within seconds
            }
            if name != &t.changelog {
                return topic;
            }
            // Small segments and a bound on when the compactor comes: a restore reads what has not been compacted.
            topic
                .set("cleanup.policy", "compact")
                .set("segment.bytes", "67108864")
                .set("max.compaction.lag.ms", "600000")
                .set("max.message.bytes", &largest)
        })
        .collect();
    let options =
        AdminOptions::new().operation_timeout(Some(Duration::from_secs(20))).request_timeout(Some(Duration::from_secs(20)));
    let results = admin.create_topics(&new, &options).await.map_err(|e| {
        format!(
            "kafka.brokers = {:?}: no broker answered: {e}; check the address, the network and kafka.properties",
            settings.kafka.brokers
        )
    })?;
    results
        .into_iter()
        .map(|r| match r {
            Ok(name) => Ok(format!("{name}: created with {partitions} partitions")),
            Err((name, RDKafkaErrorCode::TopicAlreadyExists)) => Ok(format!("{name}: exists, left as it is")),
            Err((name, error)) => Err(format!("{name}: cannot be created: {error}")),
        })
        .collect()
}
