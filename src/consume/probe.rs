//! Whether the broker knows KIP-848. The program asks before it joins the group, because librdkafka joins a broker
//! without KIP-848 too, gets no partition assigned and reports no error.
//!
//! When librdkafka connects (with the security that the settings name), it asks the broker for its APIs and writes the
//! answer to its debug log. This module reads that log, because the client has no call that gives the answer.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use rdkafka::error::KafkaError;

use crate::config::Settings;
use crate::kafka;
use crate::kafka::sign_in::sign_in;

/// The API of KIP-848 as the log names it, with its key.
const HEARTBEAT: &str = "ApiKey ConsumerGroupHeartbeat (68)";
/// An API that every broker has, as the log names it.
const ANY: &str = "ApiKey ";
const TIMEOUT: Duration = Duration::from_secs(10);
/// The log comes through the client's queue. After so long without a line the answer is complete.
const QUIET: Duration = Duration::from_millis(200);

#[derive(Default)]
struct ApiLog {
    /// APIs that the log has named so far
    named: AtomicUsize,
    heartbeat: AtomicBool,
}

impl ClientContext for ApiLog {
    fn log(&self, _: RDKafkaLogLevel, facility: &str, message: &str) {
        if facility == "APIVERSION" && message.contains(ANY) {
            self.named.fetch_add(1, Ordering::Relaxed);
            self.heartbeat.fetch_or(message.contains(HEARTBEAT), Ordering::Relaxed);
        }
    }

    fn error(&self, _: KafkaError, _: &str) {} // the consumer that joins reports errors
}

impl ConsumerContext for ApiLog {}

/// Asks the first broker that answers. `None`: no broker answered in time.
pub fn knows_kip_848(settings: &Settings) -> Option<bool> {
    let mut config = kafka::client(settings).ok()?;
    config.set("debug", "feature").set_log_level(RDKafkaLogLevel::Debug);
    let client: BaseConsumer<ApiLog> = config.create_with_context(ApiLog::default()).ok()?;
    sign_in(settings, client.client()).ok()?;
    let _ = client.fetch_metadata(None, TIMEOUT); // connects; what it says does not matter
    let log = client.context();
    loop {
        let before = log.named.load(Ordering::Relaxed);
        let _ = client.poll(QUIET); // serves the log; nothing is subscribed
        let named = log.named.load(Ordering::Relaxed);
        if log.heartbeat.load(Ordering::Relaxed) || named == before {
            return (named > 0).then(|| log.heartbeat.load(Ordering::Relaxed));
        }
    }
}
