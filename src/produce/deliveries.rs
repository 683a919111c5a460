//! Which records of an attempt the broker has taken.
//!
//! Each record has a number. The client reports every delivery on a thread of its own; the sender waits until nothing
//! is under way.

use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Instant;

use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::DeliveryResult;
use rdkafka::producer::ProducerContext;

use super::producer::Failed;
use crate::kafka::ClientLog;

/// The deliveries under way, and the first failure.
#[derive(Default)]
struct Deliveries {
    under_way: usize,
    failed: Option<(usize, KafkaError)>,
}

/// The producer's context: it counts deliveries.
#[derive(Default)]
pub(super) struct DeliveryReports {
    log: ClientLog,
    deliveries: Mutex<Deliveries>,
    changed: Condvar,
}

impl DeliveryReports {
    /// An attempt begins. Reports of an aborted attempt may still come. They stay counted, and are waited for with the
    /// others.
    pub fn begin(&self) {
        self.lock().failed = None;
    }

    /// A record is handed to the client.
    pub fn sent(&self) {
        self.lock().under_way += 1;
    }

    /// The client did not take the record, and will not report it.
    pub fn not_taken(&self) {
        self.lock().under_way -= 1;
    }

    /// Waits until nothing is under way.
    ///
    /// # Errors
    /// A delivery has failed, or the deadline has passed.
    pub fn all_delivered(&self, deadline: Instant) -> Result<(), Failed> {
        let mut deliveries = self.lock();
        while deliveries.under_way > 0 && deliveries.failed.is_none() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err((None, KafkaError::Flush(RDKafkaErrorCode::OperationTimedOut).into()));
            }
            deliveries = self.changed.wait_timeout(deliveries, left).expect("no holder panics").0;
        }
        match &deliveries.failed {
            None => Ok(()),
            Some((number, error)) => {
                let too_large = error.rdkafka_error_code() == Some(RDKafkaErrorCode::MessageSizeTooLarge);
                Err((too_large.then_some(*number), error.clone().into()))
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Deliveries> {
        self.deliveries.lock().expect("no holder panics")
    }
}

impl ClientContext for DeliveryReports {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        self.log.log(level, facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.log.error(error, reason);
    }
}

impl ProducerContext for DeliveryReports {
    type DeliveryOpaque = usize;

    fn delivery(&self, result: &DeliveryResult<'_>, number: usize) {
        let mut deliveries = self.lock();
        deliveries.under_way -= 1;
        if let Err((error, _)) = result {
            deliveries.failed.get_or_insert((number, error.clone()));
        }
        self.changed.notify_all();
    }
}
