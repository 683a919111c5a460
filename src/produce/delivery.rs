//! At-least-once delivery: the one owner of the producer.
//!
//! Effects come in over a bounded channel, in each partition's order; their records are handed to librdkafka at once and their
//! acknowledgements awaited in the same order. Once all records of an effect are acknowledged, the partition's
//! [`Progress`] moves to its `resume_at`; the consumer commits that.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::future_producer::DeliveryFuture;
use rdkafka::producer::{FutureProducer, FutureRecord, Producer};
use tokio::sync::{mpsc, oneshot};

use super::{DeadLetter, Effect, Headers, Outgoing};
use crate::config::{Settings, Topics};
use crate::events;
use crate::kafka::{self, ClientLog};
use crate::record::Segment;

/// Up to where a partition's input is done with, -1 before the first effect. Shared with the consumer, which commits it.
#[derive(Clone, Debug)]
pub struct Progress(Arc<AtomicI64>);

impl Default for Progress {
    fn default() -> Self {
        Progress(Arc::new(AtomicI64::new(-1)))
    }
}

impl Progress {
    /// The offset to commit, if any.
    pub fn resume_at(&self) -> Option<i64> {
        Some(self.0.load(Ordering::Acquire)).filter(|&o| o >= 0)
    }
}

/// What partition tasks send here.
pub enum Command {
    /// a step, and where its completion is noted
    Effect(Effect, Progress),
    /// a tail: sent once, not waited for
    Partial(Box<Segment>),
    /// say when all before it is acknowledged
    Flush(oneshot::Sender<()>),
}

/// Sending failed for good. Nothing after the failed record was committed, so a restart loses nothing.
#[derive(Debug, thiserror::Error)]
#[error("cannot send to topic {topic}: {error}; nothing is lost: the input is not committed and is read again after a restart")]
pub struct DeliveryError {
    topic: String,
    error: KafkaError,
}

impl DeliveryError {
    fn is_too_large(&self) -> bool {
        self.error.rdkafka_error_code() == Some(RDKafkaErrorCode::MessageSizeTooLarge)
    }
}

/// The producer and what it waits for.
pub struct Delivery {
    outlet: Arc<Outlet>,
    max_unacknowledged: usize,
}

struct Outlet {
    producer: FutureProducer<ClientLog>,
    topics: Topics,
    coordinates_only: bool,
}

enum Done {
    Effect { partition: i32, resume_at: i64, progress: Progress },
    Flush(oneshot::Sender<()>),
}

struct Sent {
    topic: String,
    ack: DeliveryFuture,
    /// what to send instead where the broker finds the record too large
    instead: Option<OwnedHeaders>,
}

impl Delivery {
    /// A producer with the settings' properties.
    ///
    /// `coordinates_only`: a dead letter says where its record stands, and carries nothing of it, since some profile redacts and nobody knows
    /// what a record holds that could not be read.
    pub fn new(settings: &Settings, coordinates_only: bool) -> Result<Delivery, KafkaError> {
        // Murmur2: a session's outputs land where its inputs would with Java producers.
        let producer = kafka::client(settings)
            .set("partitioner", "murmur2_random")
            .set("enable.idempotence", "true")
            .set("linger.ms", "2")
            .set("compression.type", "zstd")
            .create_with_context(ClientLog::default())?;
        let outlet = Arc::new(Outlet { producer, topics: settings.topics.clone(), coordinates_only });
        Ok(Delivery { outlet, max_unacknowledged: settings.delivery.max_unacknowledged })
    }

    /// Runs until every sender of `commands` is gone and everything is acknowledged.
    pub async fn run(self, mut commands: mpsc::Receiver<Command>) -> Result<(), DeliveryError> {
        let mut waiting = FuturesOrdered::new();
        let mut unacknowledged = 0;
        let mut open = true;
        while open || !waiting.is_empty() {
            tokio::select! {
                command = commands.recv(), if open && unacknowledged < self.max_unacknowledged => {
                    let (sent, done) = match command {
                        None => {
                            open = false;
                            continue;
                        }
                        Some(Command::Partial(segment)) => {
                            self.outlet.partial(&segment);
                            continue;
                        }
                        Some(Command::Flush(done)) => (Vec::new(), Done::Flush(done)),
                        Some(Command::Effect(effect, progress)) => {
                            let mut sent = Vec::with_capacity(effect.out.len());
                            for out in &effect.out {
                                sent.push(self.outlet.send(out).await?);
                            }
                            (sent, Done::Effect { partition: effect.partition, resume_at: effect.resume_at, progress })
                        }
                    };
                    unacknowledged += sent.len();
                    waiting.push_back(acknowledged(self.outlet.clone(), sent, done));
                }
                Some(result) = waiting.next() => {
                    let (count, done) = result?;
                    unacknowledged -= count;
                    match done {
                        Done::Effect { partition, resume_at, progress } => {
                            let before = progress.0.swap(resume_at, Ordering::AcqRel);
                            debug_assert!(before <= resume_at, "partition {partition} stepped back: {before} to {resume_at}");
                        }
                        Done::Flush(done) => {
                            let _ = done.send(());
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

impl Outlet {
    async fn send(&self, out: &Outgoing) -> Result<Sent, DeliveryError> {
        match out {
            Outgoing::Formatted(segment, source) => {
                let payload = serde_json::to_vec(segment).expect("segments are JSON");
                let headers = to_headers(source.as_ref().map_or(&[], |s| &s.headers));
                self.enqueue(&self.topics.formatted, Some(segment.session.as_bytes()), Some(&payload), headers).await
            }
            Outgoing::DeadLetter(letter) => {
                let reasons = reasons(letter, &self.topics.raw);
                let whole = [letter.record.headers.as_slice(), &reasons].concat();
                let (key, payload) = (letter.record.key.as_deref(), letter.record.payload.as_deref());
                let topic = &self.topics.dead_letter;
                if self.coordinates_only {
                    return self.enqueue(topic, None, None, to_headers(&reasons)).await;
                }
                match self.enqueue(topic, key, payload, to_headers(&whole)).await {
                    Ok(sent) => Ok(Sent { instead: Some(to_headers(&reasons)), ..sent }),
                    // What does not fit the dead-letter topic stays on the raw topic; its coordinates say where.
                    Err(e) if e.is_too_large() => self.enqueue(topic, None, None, to_headers(&reasons)).await,
                    Err(e) => Err(e),
                }
            }
        }
    }

    /// Hands a record to librdkafka, waiting where its queue is full.
    async fn enqueue(
        &self,
        topic: &str,
        key: Option<&[u8]>,
        payload: Option<&[u8]>,
        headers: OwnedHeaders,
    ) -> Result<Sent, DeliveryError> {
        loop {
            let record = FutureRecord { topic, partition: None, payload, key, timestamp: None, headers: Some(headers.clone()) };
            match self.producer.send_result(record) {
                Ok(ack) => return Ok(Sent { topic: topic.to_string(), ack, instead: None }),
                Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), _)) => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Err((error, _)) => return Err(DeliveryError { topic: topic.to_string(), error }),
            }
        }
    }

    /// A tail is soon superseded: it is not waited for, and dropped where the queue is full.
    fn partial(&self, segment: &Segment) {
        let payload = serde_json::to_vec(segment).expect("segments are JSON");
        let record: FutureRecord<'_, [u8], [u8]> =
            FutureRecord::to(&self.topics.partial).key(segment.session.as_bytes()).payload(&payload);
        drop(self.producer.send_result(record));
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        // Partials may still be on their way; finals were awaited.
        let _ = self.outlet.producer.flush(Duration::from_secs(1));
    }
}

async fn acknowledged(outlet: Arc<Outlet>, sent: Vec<Sent>, done: Done) -> Result<(usize, Done), DeliveryError> {
    let count = sent.len();
    for sent in sent {
        let (topic, instead) = (sent.topic.clone(), sent.instead.clone());
        match (acknowledgement(sent).await, instead) {
            (Ok(()), _) => {}
            (Err(e), Some(reasons)) if e.is_too_large() => {
                acknowledgement(outlet.enqueue(&topic, None, None, reasons).await?).await?;
            }
            (Err(e), _) => return Err(e),
        }
    }
    Ok((count, done))
}

async fn acknowledgement(sent: Sent) -> Result<(), DeliveryError> {
    let topic = sent.topic;
    match sent.ack.await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err((error, _))) => Err(DeliveryError { topic, error }),
        Err(_) => Err(DeliveryError { topic, error: KafkaError::Canceled }),
    }
}

fn to_headers(headers: &[(String, Option<Vec<u8>>)]) -> OwnedHeaders {
    headers.iter().fold(OwnedHeaders::new_with_capacity(headers.len()), |all, (key, value)| {
        all.insert(Header { key, value: value.as_deref() })
    })
}

/// Says why a record was refused, and headers that say it to readers of the dead-letter topic.
fn reasons(letter: &DeadLetter, topic: &str) -> Headers {
    events::DeadLetter {
        stage: letter.stage,
        reason: letter.refused.reason,
        detail: &letter.refused.detail,
        partition: letter.record.partition,
        offset: letter.record.offset,
    }
    .emit();
    let mut all = Headers::new();
    let mut put = |name: &str, value: String| all.push((format!("faircopy-{name}"), Some(value.into_bytes())));
    put("stage", letter.stage.to_string());
    put("reason", letter.refused.reason.to_string());
    put("detail", letter.refused.detail.clone());
    put("source-topic", topic.to_string());
    put("source-partition", letter.record.partition.to_string());
    put("source-offset", letter.record.offset.to_string());
    if let Some(time) = letter.record.timestamp_ms {
        put("source-time", time.to_string());
    }
    put("version", env!("CARGO_PKG_VERSION").to_string());
    all
}
