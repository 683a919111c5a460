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
//! With `at_least_once` there is no transaction: records are sent, their delivery is waited for, and then the offsets are committed.

use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::ConsumerGroupMetadata;
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode};
use rdkafka::message::DeliveryResult;
use rdkafka::producer::{BaseRecord, Producer, ProducerContext, ThreadedProducer};
use rdkafka::{Offset, TopicPartitionList};

use super::mark::Mark;
use super::outlet::{Made, Outlet};
use super::{Cut, Outgoing};
use crate::config::{Guarantee, Settings};
use crate::kafka::{self, ClientLog};

/// Waits so long where librdkafka's queue is full.
const QUEUE_FULL: Duration = Duration::from_millis(5);
/// Between two tries of a call that may be tried again.
const RETRY: Duration = Duration::from_millis(50);

/// The consumer's side of a commit.
pub trait Group: Send + Sync {
    /// What proves that this worker is a member of the group, now.
    fn metadata(&self) -> Option<ConsumerGroupMetadata>;
    /// Commits offsets outside any transaction.
    fn commit(&self, offsets: &TopicPartitionList) -> KafkaResult<()>;
}

/// Why cuts were not committed.
#[derive(Debug, thiserror::Error)]
pub enum TransactionError {
    /// nothing was committed; the same cuts may be sent again
    #[error("{0}")]
    Again(KafkaError),
    /// another producer has taken over, or the broker has given up on this one: what this worker thinks it owns may be another's
    #[error("fenced: {0}")]
    Fenced(KafkaError),
    /// the client cannot go on
    #[error("the producer failed for good: {0}; nothing is lost: restart the worker")]
    Fatal(KafkaError),
}

/// Deliveries under way, and the first that failed.
#[derive(Default)]
struct Deliveries {
    under_way: usize,
    failed: Option<(usize, KafkaError)>,
}

/// Counts deliveries. An opaque number names a record of the transaction; [`UNCOUNTED`] is for those that nobody waits for.
#[derive(Default)]
struct Reports {
    log: ClientLog,
    deliveries: Mutex<Deliveries>,
    changed: Condvar,
}

impl ClientContext for Reports {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        self.log.log(level, facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.log.error(error, reason);
    }
}

impl ProducerContext for Reports {
    type DeliveryOpaque = usize;

    fn delivery(&self, result: &DeliveryResult<'_>, number: usize) {
        let mut deliveries = self.deliveries.lock().expect("no holder panics");
        deliveries.under_way -= 1;
        if let Err((error, _)) = result {
            deliveries.failed.get_or_insert((number, error.clone()));
        }
        self.changed.notify_all();
    }
}

/// See the module.
pub struct Transaction {
    producer: ThreadedProducer<Reports>,
    outlet: Outlet,
    guarantee: Guarantee,
    timeout: Duration,
}

impl Transaction {
    /// A producer, ready to begin.
    ///
    /// # Errors
    /// A property that librdkafka does not take, or a broker that does not let it begin.
    pub fn open(settings: &Settings, outlet: Outlet) -> KafkaResult<Transaction> {
        let d = &settings.delivery;
        let timeout = Duration::from_millis(d.transaction_timeout_ms);
        let mut config = kafka::client(settings);
        // Murmur2: a session's outputs land where its inputs would with Java producers.
        config
            .set("partitioner", "murmur2_random")
            .set("enable.idempotence", "true")
            .set("linger.ms", "0")
            .set("compression.type", "zstd")
            .set("message.timeout.ms", d.transaction_timeout_ms.to_string())
            .set("message.max.bytes", settings.largest_record_bytes().to_string());
        if d.guarantee == Guarantee::ExactlyOnce {
            // The group's member epoch fences zombies (KIP-447), so a name of its own is enough for each process.
            let name = format!("{}-{}-{:x}", settings.kafka.group, std::process::id(), unique());
            config.set("transactional.id", name).set("transaction.timeout.ms", d.transaction_timeout_ms.to_string());
        }
        let producer: ThreadedProducer<Reports> = config.create_with_context(Reports::default())?;
        if d.guarantee == Guarantee::ExactlyOnce {
            producer.init_transactions(timeout)?;
        }
        Ok(Transaction { producer, outlet, guarantee: d.guarantee, timeout })
    }

    /// Makes the cuts of these partitions durable, all or none. Where a record is too large for its topic, what goes out instead takes its place
    /// in the cut.
    ///
    /// # Errors
    /// Nothing was committed, but with `at_least_once`, where some of it may have been.
    pub fn commit(&mut self, cuts: &mut [(i32, &mut Cut)], topic: &str, group: &dyn Group) -> Result<(), TransactionError> {
        loop {
            let done = self.attempt(cuts, topic, group);
            let Err((too_large, error)) = done else { return Ok(()) };
            if self.guarantee == Guarantee::ExactlyOnce {
                self.abort(&error)?;
            }
            match too_large {
                Some(number) if replace(cuts, number) => {}
                _ => return Err(kind(error)),
            }
        }
    }

    /// The number of the record that is too large, if that is why.
    fn attempt(&self, cuts: &[(i32, &mut Cut)], topic: &str, group: &dyn Group) -> Result<(), (Option<usize>, KafkaError)> {
        let deadline = Instant::now() + self.timeout;
        let plain = |e| (None, e);
        // Reports of an aborted attempt may still come: they stay counted, and are waited for with the others.
        self.deliveries().failed = None;
        let exactly_once = self.guarantee == Guarantee::ExactlyOnce;
        if exactly_once {
            self.producer.begin_transaction().map_err(plain)?;
        }
        let mut offsets = TopicPartitionList::with_capacity(cuts.len());
        let mut number = 0;
        for (partition, cut) in cuts {
            for out in &cut.out {
                self.send(self.outlet.outgoing(out), number)?;
                number += 1;
            }
            for (key, value) in &cut.changelog {
                self.send(self.outlet.state(*partition, key, value), usize::MAX)?;
            }
            let mut offset = offsets.add_partition(topic, *partition);
            offset.set_offset(Offset::Offset(cut.resume_at)).map_err(plain)?;
            if cut.mark != Mark::Clean {
                offset.set_metadata(cut.mark.to_metadata());
            }
        }
        if exactly_once {
            // Also an offset that has not moved: it is what fences a worker that does not know yet that its partition is another's.
            let group = group.metadata().ok_or_else(|| plain(KafkaError::Canceled))?;
            again(deadline, || self.producer.send_offsets_to_transaction(&offsets, &group, left(deadline))).map_err(plain)?;
        }
        // The client's own flush waits in steps of 100 ms. With nothing under way it returns at once.
        self.delivered(deadline)?;
        if exactly_once {
            again(deadline, || self.producer.commit_transaction(left(deadline))).map_err(plain)
        } else {
            group.commit(&offsets).map_err(plain)
        }
    }

    /// What its records look like.
    pub fn outlet(&self) -> &Outlet {
        &self.outlet
    }

    fn deliveries(&self) -> std::sync::MutexGuard<'_, Deliveries> {
        self.producer.context().deliveries.lock().expect("no holder panics")
    }

    fn send(&self, made: Made<'_>, number: usize) -> Result<(), (Option<usize>, KafkaError)> {
        let Made { topic, partition, key, payload, headers } = made;
        let mut record: BaseRecord<'_, [u8], [u8], usize> = BaseRecord::with_opaque_to(topic, number).headers(headers);
        record.partition = partition;
        record.key = key;
        record.payload = payload.as_deref();
        loop {
            self.deliveries().under_way += 1;
            let Err((error, back)) = self.producer.send(record) else { return Ok(()) };
            self.deliveries().under_way -= 1;
            match error.rdkafka_error_code() {
                Some(RDKafkaErrorCode::QueueFull) => std::thread::sleep(QUEUE_FULL),
                Some(RDKafkaErrorCode::MessageSizeTooLarge) => return Err((Some(number), error)),
                _ => return Err((None, error)),
            }
            record = back;
        }
    }

    fn delivered(&self, deadline: Instant) -> Result<(), (Option<usize>, KafkaError)> {
        let mut deliveries = self.deliveries();
        while deliveries.under_way > 0 && deliveries.failed.is_none() {
            if deadline <= Instant::now() {
                return Err((None, KafkaError::Flush(RDKafkaErrorCode::OperationTimedOut)));
            }
            deliveries = self.producer.context().changed.wait_timeout(deliveries, left(deadline)).expect("no holder panics").0;
        }
        match &deliveries.failed {
            None => Ok(()),
            Some((number, error)) => {
                let too_large = error.rdkafka_error_code() == Some(RDKafkaErrorCode::MessageSizeTooLarge);
                Err((too_large.then_some(*number), error.clone()))
            }
        }
    }

    fn abort(&self, cause: &KafkaError) -> Result<(), TransactionError> {
        if fenced(cause) {
            return Err(TransactionError::Fenced(cause.clone()));
        }
        let aborted = again(Instant::now() + self.timeout, || self.producer.abort_transaction(self.timeout));
        // Where even that takes longer than a transaction may, the broker ends it: as if it had been fenced.
        let over = |e: &KafkaError| fenced(e) || matches!(e, KafkaError::Transaction(e) if e.is_retriable());
        aborted.map_err(|e| if over(&e) { TransactionError::Fenced(e) } else { TransactionError::Fatal(e) })
    }
}

/// Puts something smaller in the place of a record; `false` where it is of the changelog, or has been replaced already.
fn replace(cuts: &mut [(i32, &mut Cut)], number: usize) -> bool {
    let mut at = number;
    for (partition, cut) in cuts {
        match cut.out.get_mut(at) {
            Some(Outgoing::DeadLetter(letter)) if letter.record.payload.is_none() && letter.record.headers.is_empty() => {
                return false;
            }
            Some(out) => {
                Outlet::instead(out, *partition);
                return true;
            }
            None => at = at.wrapping_sub(cut.out.len()),
        }
    }
    false
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

/// Calls again while the client says that this may help.
fn again(deadline: Instant, mut call: impl FnMut() -> KafkaResult<()>) -> KafkaResult<()> {
    loop {
        match call() {
            Err(KafkaError::Transaction(e)) if e.is_retriable() && Instant::now() < deadline => std::thread::sleep(RETRY),
            result => return result,
        }
    }
}

fn fenced(error: &KafkaError) -> bool {
    use RDKafkaErrorCode::{Fenced, InvalidProducerEpoch, InvalidTransactionalState, ProducerFenced};
    // The third is said where a transaction timed out while its broker was away, and was ended without us.
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

/// A number that no other process of this group has.
fn unique() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::time::SystemTime::now())
}
