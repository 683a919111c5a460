//! What Kafka records of each kind look like.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rdkafka::message::{Header, OwnedHeaders};

use super::{DeadLetter, Headers, Outgoing};
use crate::config::Topics;
use crate::events;
use crate::record::Segment;
use crate::trace::RecordSpan;

/// A record on its way out.
#[derive(Debug)]
pub struct ProducerRecord<'a> {
    /// where to
    pub topic: &'a str,
    /// the partition, where it is not the key's to say
    pub partition: Option<i32>,
    /// its key
    pub key: Option<&'a [u8]>,
    /// its value
    pub payload: Option<Vec<u8>>,
    /// its headers
    pub headers: OwnedHeaders,
}

/// Topics, and what may be told of refused records.
#[derive(Clone, Debug)]
pub struct RecordSerializer {
    /// where to
    pub topics: Topics,
    /// A dead letter says where its record stands, and carries nothing of it: some profile redacts, and nobody knows what a record holds that
    /// could not be read.
    pub coordinates_only: Arc<AtomicBool>,
}

impl RecordSerializer {
    /// The record of a segment or a dead letter.
    pub fn outgoing<'a>(&'a self, out: &'a Outgoing) -> ProducerRecord<'a> {
        match out {
            Outgoing::Formatted(segment, source) => ProducerRecord {
                topic: &self.topics.formatted,
                partition: None,
                key: Some(segment.session.as_bytes()),
                payload: Some(serde_json::to_vec(segment).expect("segments are JSON")),
                headers: match source.as_deref() {
                    Some(source) => match RecordSpan::attached(source.attached.as_ref()) {
                        Some(span) => to_headers(&span.carried(&source.headers)),
                        None => to_headers(&source.headers),
                    },
                    None => to_headers(&[]),
                },
            },
            Outgoing::DeadLetter(letter) => {
                let reasons = reasons(letter, &self.topics.raw);
                let (key, payload, headers) = if self.coordinates_only.load(Ordering::Relaxed) || letter.is_coordinates_only() {
                    (None, None, to_headers(&reasons))
                } else {
                    let whole = [letter.record.headers.as_slice(), &reasons].concat();
                    (letter.record.key.as_deref(), letter.record.payload.clone(), to_headers(&whole))
                };
                ProducerRecord { topic: &self.topics.dead_letter, partition: None, key, payload, headers }
            }
        }
    }

    /// The changelog record of a stream, on its input's own partition.
    pub fn state<'a>(&'a self, partition: i32, key: &'a [u8], value: &Option<Vec<u8>>) -> ProducerRecord<'a> {
        let headers = OwnedHeaders::new();
        ProducerRecord {
            topic: &self.topics.changelog,
            partition: Some(partition),
            key: Some(key),
            payload: value.clone(),
            headers,
        }
    }

    /// The record of a tail.
    pub fn partial<'a>(&'a self, segment: &'a Segment) -> ProducerRecord<'a> {
        ProducerRecord {
            topic: &self.topics.partial,
            partition: None,
            key: Some(segment.session.as_bytes()),
            payload: Some(serde_json::to_vec(segment).expect("segments are JSON")),
            headers: OwnedHeaders::new(),
        }
    }

    /// What goes out instead of a record that is too large for its topic: where it stands on the raw topic. Counted as refused.
    pub fn instead(out: &mut Outgoing, partition: i32) {
        let offset = match out {
            Outgoing::DeadLetter(letter) => {
                letter.record.payload = None;
                letter.record.key = None;
                letter.record.headers.clear();
                return;
            }
            Outgoing::Formatted(_, source) => source.as_ref().map_or(-1, |s| s.offset),
        };
        let refused =
            crate::record::Refused { reason: "limit", detail: "its segment is too large for the formatted topic".into() };
        let record = crate::record::RawRecord { partition, offset, ..Default::default() };
        let letter = DeadLetter { stage: "produce", refused, record };
        letter.emit();
        *out = Outgoing::DeadLetter(Box::new(letter));
    }
}

impl DeadLetter {
    /// Whether it carries nothing of its record: all that is left of one that was too large.
    pub fn is_coordinates_only(&self) -> bool {
        self.record.key.is_none() && self.record.payload.is_none() && self.record.headers.is_empty()
    }

    /// Says that a record was refused.
    pub fn emit(&self) {
        events::RecordRefused {
            stage: self.stage,
            reason: self.refused.reason,
            detail: &self.refused.detail,
            partition: self.record.partition,
            offset: self.record.offset,
        }
        .emit();
    }
}

/// Headers as the client takes them.
pub fn to_headers(headers: &[(String, Option<Vec<u8>>)]) -> OwnedHeaders {
    headers.iter().fold(OwnedHeaders::new_with_capacity(headers.len()), |all, (key, value)| {
        all.insert(Header { key, value: value.as_deref() })
    })
}

/// Headers that say to readers of the dead-letter topic why a record was refused, and where it stands.
fn reasons(letter: &DeadLetter, topic: &str) -> Headers {
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
