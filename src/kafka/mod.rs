//! What the consumer, the producer and the admin client have in common: properties, one voice for librdkafka's problems, and what they say to each
//! other through the broker: the proof of membership that a commit carries ([`membership`]), the mark on a committed offset ([`crash_mark`]) and the
//! changelog's records about a whole partition ([`notes`]).

pub mod crash_mark;
pub mod membership;
pub mod notes;

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rdkafka::ClientConfig;
use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::ConsumerContext;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};

use crate::config::Settings;
use crate::events;

/// A broker that is down is reported by every connection several times a second; the operator needs it once in a while.
const SAY_AGAIN: Duration = Duration::from_secs(30);

/// Brokers and properties of the settings.
pub fn client(settings: &Settings) -> ClientConfig {
    let mut config = ClientConfig::new();
    for (name, value) in &settings.kafka.properties {
        config.set(name, value);
    }
    config.set("bootstrap.servers", &settings.kafka.brokers);
    config
}

/// Turns librdkafka's errors into events, each kind once in [`SAY_AGAIN`]. Its own log lines are for debugging.
#[derive(Default)]
pub struct ClientLog {
    said: Mutex<HashMap<i32, Instant>>,
}

impl ClientContext for ClientLog {
    fn log(&self, _: RDKafkaLogLevel, facility: &str, message: &str) {
        tracing::debug!(facility, message, "librdkafka");
    }

    fn error(&self, error: KafkaError, reason: &str) {
        let code = error.rdkafka_error_code().unwrap_or(RDKafkaErrorCode::Unknown) as i32;
        if code == RDKafkaErrorCode::PartitionEOF as i32 {
            return; // asked for, and no problem; a client that is closed says it here
        }
        let mut said = self.said.lock().expect("no holder panics");
        if said.get(&code).is_none_or(|at| at.elapsed() > SAY_AGAIN) {
            said.insert(code, Instant::now());
            events::ClientProblem { reason }.emit();
        }
    }
}

impl ConsumerContext for ClientLog {}
