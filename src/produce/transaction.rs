//! The one owner of the producer: begin, send, send-offsets, commit, abort.
//!
//! ```text
//!             begin                 send, send_offsets            all delivered, commit
//!   IDLE ───────────────▶ OPEN ─────────────────────────▶ FULL ─────────────────────────▶ IDLE
//!    ▲                     │                                │
//!    │                     └──────────────┬─────────────────┘
//!    │      abort, what was sent is kept  │ abortable: a record is too large, a member epoch is stale, a broker is gone
//!    └────────────────────────────────────┤
//!                                         │ fenced: the broker gave up on this producer, and aborted what it had open
//!                                         ├──────────────▶ over: drop all state, begin anew with another producer
//!                                         │ fatal
//!                                         └──────────────▶ over: the process ends
//! ```
//!
//! With `at_least_once` there is no transaction. Segments are sent first, then states, then offsets. Each step begins
//! once the step before is delivered. So after a death between two steps segments may come again, and nothing is
//! missing. Before the worker sends anything, it commits offsets that are durable already; the broker refuses this
//! commit to a worker that has lost its membership.

use std::time::{Duration, Instant};

use backon::{BlockingRetryable, ConstantBuilder};
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode};
use rdkafka::producer::{BaseRecord, Producer, ThreadedProducer};
use rdkafka::{Offset, TopicPartitionList};

use super::Outgoing;
use super::commits::{CommitBatch, Position};
use super::deliveries::{DeliveryReports, Failed};
use super::serializer::{ProducerRecord, RecordSerializer};
use crate::config::{Guarantee, Settings};
use crate::events;
use crate::faults::crash_before;
use crate::kafka::crash_mark::CrashMark;
use crate::kafka::membership::{Membership, Proof};
use crate::kafka::notes::PartitionNote;
use crate::kafka::sign_in::{SignedIn, sign_in};
use crate::kafka::{self, rights};
use crate::session::snapshot;

/// Wait when librdkafka's queue is full.
const QUEUE_FULL: Duration = Duration::from_millis(5);
/// Least wait between two tries of a call that may be tried again; the most is twice that.
const RETRY: Duration = Duration::from_millis(50);

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

/// Why a batch was not committed.
#[derive(Debug, thiserror::Error)]
pub enum TransactionError {
    /// nothing was committed; the same checkpoints may be sent again
    #[error("{0}")]
    Again(KafkaError),
    /// as before, and until somebody grants the right
    #[error("the broker does not let this principal do it; it lacks {}", rights::remedy(.0))]
    Rights(Vec<String>),
    /// another producer has taken over, or the broker has given up on this producer: another worker may own the
    /// partitions
    #[error("fenced: {0}")]
    Fenced(KafkaError),
    /// the client cannot go on
    #[error("the producer failed for good: {0}; nothing is lost: restart the worker")]
    Fatal(KafkaError),
}

/// What a missing right may be called, and other things as well.
const UNCLEAR: [RDKafkaErrorCode; 4] = [
    RDKafkaErrorCode::PurgeQueue,
    RDKafkaErrorCode::PurgeInflight,
    RDKafkaErrorCode::State,
    RDKafkaErrorCode::TopicAuthorizationFailed,
];
/// Between two questions for the rights, since nothing is committed while one is asked.
const ASK_AGAIN: Duration = Duration::from_secs(10);

/// The owner of the producer; see the module.
pub struct Transaction {
    producer: ThreadedProducer<DeliveryReports>,
    serializer: RecordSerializer,
    guarantee: Guarantee,
    timeout: Duration,
    settings: Settings,
    /// the rights that were missing when the broker was last asked
    lacking: Option<(Instant, Vec<String>)>,
}

fn plain(error: KafkaError) -> Failed {
    (None, error)
}

impl Transaction {
    /// A producer, ready to begin.
    ///
    /// # Errors
    /// A property that librdkafka does not take, or a broker that does not let it begin.
    pub fn open(settings: &Settings, serializer: RecordSerializer) -> Result<Transaction, OpenError> {
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
        Ok(Transaction { producer, serializer, guarantee: d.guarantee, timeout, settings: settings.clone(), lacking: None })
    }

    /// Makes the whole batch durable, or nothing of it. If a record is too large for its topic, a smaller record takes
    /// its place in the checkpoint, and the batch is tried again. Every attempt uses the batch's own proof of
    /// membership.
    ///
    /// # Errors
    /// Nothing was committed. With `at_least_once` some of it may have been sent.
    pub fn commit(
        &mut self,
        batch: &mut CommitBatch<Proof>,
        topic: &str,
        member: &dyn Membership,
    ) -> Result<(), TransactionError> {
        loop {
            let done = match self.guarantee {
                Guarantee::ExactlyOnce => self.in_a_transaction(batch, topic),
                Guarantee::AtLeastOnce => self.step_by_step(batch, topic, member),
            };
            let Err((too_large, error)) = done else { return Ok(()) };
            if self.guarantee == Guarantee::ExactlyOnce {
                self.abort(&error)?;
            }
            match too_large {
                Some(number) if replace(batch, number) => {}
                _ => return Err(self.kind(error)),
            }
        }
    }

    /// What follows from an error, and what is to be said of it. Where a right is missing librdkafka tells it nobody:
    /// it calls the transaction's state wrong, or its records purged. So the broker is asked for the rights once more,
    /// now and then.
    fn kind(&mut self, error: KafkaError) -> TransactionError {
        let error = match kind(error) {
            TransactionError::Again(error) => error,
            other => return other,
        };
        if !error.rdkafka_error_code().is_some_and(|code| UNCLEAR.contains(&code)) {
            return TransactionError::Again(error);
        }
        if self.lacking.as_ref().is_none_or(|(asked, _)| asked.elapsed() > ASK_AGAIN) {
            self.lacking = Some((Instant::now(), rights::lacking(&self.settings, self.producer.client())));
        }
        match &self.lacking {
            Some((_, lacking)) if !lacking.is_empty() => TransactionError::Rights(lacking.clone()),
            _ => TransactionError::Again(error),
        }
    }

    fn in_a_transaction(&self, batch: &CommitBatch<Proof>, topic: &str) -> Result<(), Failed> {
        let deadline = self.begin();
        self.producer.begin_transaction().map_err(plain)?;
        self.send_output(batch)?;
        self.send_states(batch)?;
        // An offset that has not moved is sent as well. It fences a worker that does not know yet that another worker
        // owns its partition.
        let offsets = offsets(
            topic,
            batch.checkpoints.iter().map(|(i, checkpoint)| (i.partition, (checkpoint.next_offset, checkpoint.mark))),
        )
        .map_err(plain)?;
        again(deadline, || self.producer.send_offsets_to_transaction(&offsets, &batch.proof, left(deadline))).map_err(plain)?;
        // The client's own flush waits in steps of 100 ms. With nothing under way the call returns at once.
        self.deliveries().all_delivered(deadline)?;
        again(deadline, || self.producer.commit_transaction(left(deadline))).map_err(plain)
    }

    fn step_by_step(&self, batch: &CommitBatch<Proof>, topic: &str, member: &dyn Membership) -> Result<(), Failed> {
        let deadline = self.begin();
        let durable = offsets(topic, batch.positions.iter().copied()).map_err(plain)?;
        member.commit(&durable).map_err(plain)?;
        self.send_output(batch)?;
        self.deliveries().all_delivered(deadline)?;
        crash_before("state");
        self.send_states(batch)?;
        for (incarnation, checkpoint) in &batch.checkpoints {
            let (key, value) = PartitionNote::Progress(checkpoint.next_offset).to_record();
            self.send(self.serializer.state(incarnation.partition, &key, &Some(value)), usize::MAX)?;
        }
        self.deliveries().all_delivered(deadline)?;
        crash_before("offsets");
        let offsets = offsets(
            topic,
            batch.checkpoints.iter().map(|(i, checkpoint)| (i.partition, (checkpoint.next_offset, checkpoint.mark))),
        )
        .map_err(plain)?;
        member.commit(&offsets).map_err(plain)
    }

    fn begin(&self) -> Instant {
        self.deliveries().begin();
        Instant::now() + self.timeout
    }

    /// Sends segments and dead letters. Their numbers come first.
    fn send_output(&self, batch: &CommitBatch<Proof>) -> Result<(), Failed> {
        for (number, out) in batch.checkpoints.iter().flat_map(|(_, checkpoint)| &checkpoint.out).enumerate() {
            self.send(self.serializer.outgoing(out), number)?;
        }
        Ok(())
    }

    /// Sends states of streams. Their numbers follow those of the output.
    fn send_states(&self, batch: &CommitBatch<Proof>) -> Result<(), Failed> {
        let first = batch.checkpoints.iter().map(|(_, checkpoint)| checkpoint.out.len()).sum();
        let states =
            batch.checkpoints.iter().flat_map(|(i, checkpoint)| checkpoint.changelog.iter().map(|state| (i.partition, state)));
        for (number, (partition, (key, value))) in (first..).zip(states) {
            self.send(self.serializer.state(partition, key, value), number)?;
        }
        Ok(())
    }

    /// Whom credentials are given to.
    pub fn signed_in(&self) -> &dyn SignedIn {
        self.producer.client()
    }

    /// The serializer of its records.
    pub fn serializer(&self) -> &RecordSerializer {
        &self.serializer
    }

    fn deliveries(&self) -> &DeliveryReports {
        self.producer.context()
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
                Some(RDKafkaErrorCode::MessageSizeTooLarge) => return Err((Some(number), error)),
                _ => return Err((None, error)),
            }
            record = back;
        }
    }

    fn abort(&self, cause: &KafkaError) -> Result<(), TransactionError> {
        if fenced(cause) {
            return Err(TransactionError::Fenced(cause.clone()));
        }
        let aborted = again(Instant::now() + self.timeout, || self.producer.abort_transaction(self.timeout));
        // If even the abort takes longer than a transaction may, the broker ends the transaction. The producer counts
        // as fenced then.
        let over = |e: &KafkaError| fenced(e) || matches!(e, KafkaError::Transaction(e) if e.is_retriable());
        aborted.map_err(|e| if over(&e) { TransactionError::Fenced(e) } else { TransactionError::Fatal(e) })
    }
}

/// Replaces a record that is too large by a smaller one. `false` if it was replaced already.
fn replace(batch: &mut CommitBatch<Proof>, number: usize) -> bool {
    let mut at = number;
    for (incarnation, checkpoint) in &mut batch.checkpoints {
        if at < checkpoint.out.len() {
            let out = &mut checkpoint.out[at];
            let replaced = matches!(out, Outgoing::DeadLetter(letter) if letter.is_coordinates_only());
            if !replaced {
                RecordSerializer::instead(out, incarnation.partition);
            }
            return !replaced;
        }
        at -= checkpoint.out.len();
    }
    for (incarnation, checkpoint) in &mut batch.checkpoints {
        let states = checkpoint.changelog.len();
        if let Some((_, value)) = checkpoint.changelog.iter_mut().nth(at) {
            let Some(smaller) = value.as_deref().and_then(snapshot::without_body) else { return false };
            events::SnapshotTooLarge { partition: incarnation.partition, bytes: value.as_ref().map_or(0, Vec::len) }.emit();
            *value = Some(smaller);
            return true;
        }
        at -= states;
    }
    false
}

/// Offsets with their crash marks, in the client's form.
fn offsets(topic: &str, positions: impl Iterator<Item = (i32, Position)>) -> KafkaResult<TopicPartitionList> {
    let mut list = TopicPartitionList::new();
    for (partition, (offset, mark)) in positions {
        let mut place = list.add_partition(topic, partition);
        place.set_offset(Offset::Offset(offset))?;
        if mark != CrashMark::Clean {
            place.set_metadata(mark.to_metadata());
        }
    }
    Ok(list)
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

/// Repeats a call while the client says that another try may help.
fn again(deadline: Instant, call: impl FnMut() -> KafkaResult<()>) -> KafkaResult<()> {
    let may_help = |e: &KafkaError| matches!(e, KafkaError::Transaction(e) if e.is_retriable()) && Instant::now() < deadline;
    let waits = ConstantBuilder::default().with_delay(RETRY).with_jitter().without_max_times();
    call.retry(waits).when(may_help).call()
}

fn fenced(error: &KafkaError) -> bool {
    use RDKafkaErrorCode::{Fenced, InvalidProducerEpoch, InvalidTransactionalState, ProducerFenced};
    // The third code means that a transaction timed out while its broker was away, and that the broker has ended it.
    let codes = [Fenced, ProducerFenced, InvalidTransactionalState, InvalidProducerEpoch];
    error.rdkafka_error_code().is_some_and(|code| codes.contains(&code))
}

fn kind(error: KafkaError) -> TransactionError {
    match &error {
        e if fenced(e) => TransactionError::Fenced(error),
        KafkaError::Transaction(e) if e.is_fatal() => TransactionError::Fatal(error),
        e if e.rdkafka_error_code() == Some(RDKafkaErrorCode::Fatal) => TransactionError::Fatal(error),
        _ => TransactionError::Again(error),
    }
}

/// A number that no other process of the group has.
fn unique() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::time::SystemTime::now())
}
