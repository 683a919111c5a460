//! librdkafka's producer.

use std::time::{Duration, Instant};

use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::producer::{BaseRecord, Producer as _, ThreadedProducer};

use super::deliveries::DeliveryReports;
use super::producer::{CallError, Failed, Producer};
use super::serializer::ProducerRecord;
use crate::config::{Guarantee, Settings};
use crate::kafka::crash_mark::Position;
use crate::kafka::membership::{Proof, offsets};
use crate::kafka::sign_in::{SignedIn, sign_in};
use crate::kafka::{self, rights};

/// Wait when librdkafka's queue is full.
const QUEUE_FULL: Duration = Duration::from_millis(5);

/// Why a producer cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// a property that librdkafka does not take
    #[error("kafka: {0}; expected properties of librdkafka in kafka.properties")]
    Properties(KafkaError),
    /// the broker does not let the producer begin
    #[error(
        "no transaction can be begun within {waited:?} (init_transactions: {error}); check that the brokers are up, that __transaction_state has its \
         replicas, and that this principal has Write on the transactional ids that begin with {prefix:?} (docs/SECURITY.md lists all rights)"
    )]
    Init {
        /// what the Kafka client says
        error: KafkaError,
        /// delivery.transaction_timeout_ms
        waited: Duration,
        /// the group's name
        prefix: String,
    },
}

/// librdkafka's producer.
pub struct KafkaProducer {
    producer: ThreadedProducer<DeliveryReports>,
    settings: Settings,
}

impl KafkaProducer {
    /// A producer, ready to begin.
    ///
    /// # Errors
    /// A property that librdkafka does not take, or a broker that does not let it begin.
    pub fn open(settings: &Settings) -> Result<KafkaProducer, OpenError> {
        let d = &settings.delivery;
        let timeout = Duration::from_millis(d.transaction_timeout_ms);
        let mut config = kafka::client(settings).map_err(OpenError::Properties)?;
        // Murmur2 as in Java clients, so that a session's output has the partition number that Java producers would
        // choose.
        config
            .set("partitioner", "murmur2_random")
            .set("enable.idempotence", "true")
            .set("linger.ms", "0")
            .set("compression.type", "zstd")
            .set("message.timeout.ms", d.transaction_timeout_ms.to_string())
            .set("message.max.bytes", settings.largest_record_bytes().to_string());
        if d.guarantee == Guarantee::ExactlyOnce {
            // The group's member epoch fences zombies (KIP-447), so each process can have a new name.
            let name = format!("{}-{}-{:x}", settings.kafka.group, std::process::id(), unique());
            config.set("transactional.id", name).set("transaction.timeout.ms", d.transaction_timeout_ms.to_string());
        }
        let producer: ThreadedProducer<DeliveryReports> =
            config.create_with_context(DeliveryReports::default()).map_err(OpenError::Properties)?;
        sign_in(settings, producer.client()).map_err(OpenError::Properties)?;
        if d.guarantee == Guarantee::ExactlyOnce {
            let prefix = settings.kafka.group.clone();
            producer.init_transactions(timeout).map_err(|error| OpenError::Init { error, waited: timeout, prefix })?;
        }
        Ok(KafkaProducer { producer, settings: settings.clone() })
    }

    fn deliveries(&self) -> &DeliveryReports {
        self.producer.context()
    }
}

impl Producer for KafkaProducer {
    fn begin_attempt(&self) {
        self.deliveries().begin();
    }

    fn begin(&self) -> Result<(), CallError> {
        Ok(self.producer.begin_transaction()?)
    }

    fn send(&self, made: ProducerRecord<'_>, number: usize) -> Result<(), Failed> {
        let ProducerRecord { topic, partition, key, payload, headers, timestamp_ms } = made;
        let mut record: BaseRecord<'_, [u8], [u8], usize> = BaseRecord::with_opaque_to(topic, number).headers(headers);
        record.partition = partition;
        record.key = key;
        record.payload = payload.as_deref();
        record.timestamp = timestamp_ms;
        loop {
            self.deliveries().sent();
            let Err((error, back)) = self.producer.send(record) else { return Ok(()) };
            self.deliveries().not_taken();
            match error.rdkafka_error_code() {
                Some(RDKafkaErrorCode::QueueFull) => std::thread::sleep(QUEUE_FULL),
                Some(RDKafkaErrorCode::MessageSizeTooLarge) => return Err((Some(number), error.into())),
                _ => return Err((None, error.into())),
            }
            record = back;
        }
    }

    fn all_delivered(&self, deadline: Instant) -> Result<(), Failed> {
        // The client's own flush waits in steps of 100 ms. With nothing under way this returns at once.
        self.deliveries().all_delivered(deadline)
    }

    fn send_offsets(
        &self,
        topic: &str,
        positions: &[(i32, Position)],
        proof: &Proof,
        timeout: Duration,
    ) -> Result<(), CallError> {
        match proof {
            Proof::Client(proof) => Ok(self.producer.send_offsets_to_transaction(&offsets(topic, positions)?, proof, timeout)?),
            #[cfg(any(test, feature = "simulation"))]
            Proof::Simulated { .. } => unreachable!("librdkafka's consumer gives its own proof"),
        }
    }

    fn commit(&self, timeout: Duration) -> Result<(), CallError> {
        Ok(self.producer.commit_transaction(timeout)?)
    }

    fn abort(&self, timeout: Duration) -> Result<(), CallError> {
        Ok(self.producer.abort_transaction(timeout)?)
    }

    fn lacking_rights(&self) -> Vec<String> {
        rights::lacking(&self.settings, self.producer.client())
    }

    fn signed_in(&self) -> &dyn SignedIn {
        self.producer.client()
    }
}

/// A number that no other process of the group has.
fn unique() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::time::SystemTime::now())
}
