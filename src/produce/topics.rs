//! `faircopy topics create`: the topics a deployment needs.

use std::time::Duration;

use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, ResourceSpecifier, TopicReplication};
use rdkafka::error::RDKafkaErrorCode;

use crate::config::Settings;
use crate::events;
use crate::kafka::{self, ClientLog};

/// Looks at how the changelog is kept.
///
/// # Errors
/// It is not compacted: states would expire while their calls go on. A topic that cannot be asked (the demo's broker) passes.
pub async fn check_changelog(settings: &Settings) -> Result<(), String> {
    let topic = &settings.topics.changelog;
    let Ok(admin) = kafka::client(settings).create_with_context::<_, AdminClient<ClientLog>>(ClientLog::default()) else {
        return Ok(());
    };
    let options = AdminOptions::new().request_timeout(Some(Duration::from_secs(10)));
    let asked = admin.describe_configs(&[ResourceSpecifier::Topic(topic)], &options).await;
    let Some(Ok(found)) = asked.ok().and_then(|mut all| all.pop()) else { return Ok(()) };
    let value = |name: &str| found.get(name).and_then(|e| e.value.clone()).unwrap_or_default();
    let policy = value("cleanup.policy");
    if !policy.is_empty() && !policy.split(',').any(|p| p.trim() == "compact") {
        return Err(format!(
            "topic {topic:?} has cleanup.policy={policy}: expected compact, or the state of calls expires while they go on; set it \
             (kafka-configs.sh --alter --entity-type topics --entity-name {topic} --add-config cleanup.policy=compact)"
        ));
    }
    if let Ok(bytes) = value("max.message.bytes").parse::<u64>()
        && bytes < settings.largest_record_bytes()
    {
        events::ChangelogNarrow { bytes, needed: settings.largest_record_bytes() }.emit();
    }
    Ok(())
}

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
