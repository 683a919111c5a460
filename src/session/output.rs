//! The output of a stream: segments to format, requests for the model, its tail; and its names.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::buffer::{BufferedWord, FreezeCause};
use super::{Source, Time, Word};
use crate::infer::Row;
use crate::infer::second::Question;
use crate::record::{Counts, Timing, Turn};
use crate::redact::speakers::NamedSpeakers;
use crate::tags::Tags;

/// A session and one of its channels.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamKey {
    /// the record key
    pub session: Arc<str>,
    /// the speaker track
    pub channel: Arc<str>,
}

/// Names one epoch of one stream while this process holds it.
pub type StreamId = u64;

/// An output of a stream, with what a segment needs to know of the stream.
#[derive(Debug)]
pub struct StreamEvent {
    /// which epoch of which stream
    pub stream: StreamRef,
    /// what happened
    pub output: StreamOutput,
}

/// An open or just closed epoch.
#[derive(Clone, Debug)]
pub struct StreamRef {
    /// its name in this process
    pub id: StreamId,
    /// session and channel
    pub key: StreamKey,
    /// offset of the record that opened it
    pub epoch: i64,
    /// name of the profile it was opened with
    pub profile: Arc<str>,
    /// the hash of its model and decoding rules, if segments carry it
    pub origin: Option<Arc<str>>,
    /// name of the model that tags it
    pub model: Arc<str>,
    /// the source of its last word
    pub source: Option<Arc<Source>>,
    /// the speakers of its channel whose names are not shown where the profile redacts
    pub speakers: NamedSpeakers,
}

/// Why an epoch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EndCause {
    /// `end: "channel"`
    Channel,
    /// `end: "session"`
    Session,
    /// the recogniser's counter stepped back
    Restart,
    /// nothing was heard for `session_ttl_ms`
    Expired,
}

impl EndCause {
    /// The cause's name in the `end` record.
    pub fn name(self) -> &'static str {
        match self {
            EndCause::Channel => "channel",
            EndCause::Session => "session",
            EndCause::Restart => "restart",
            EndCause::Expired => "expired",
        }
    }
}

/// Words that leave the buffer, in order.
#[derive(Debug)]
pub struct Release {
    /// number of the segment in its epoch
    pub seq: u64,
    /// index of the first word in the epoch
    pub from: u64,
    /// whether what was released before ended a sentence
    pub sentence_start: bool,
    /// whether the sentence ends with them whatever its mark: another speaker follows, or the turn is complete
    pub turn_ends: bool,
    /// the words released before, as redaction needs them ([`crate::redact::RedactionWord::add_to`])
    pub before: Box<str>,
    /// the words that follow, as far as they are known
    pub after: Box<str>,
    /// whether more may follow
    pub more: bool,
    /// the words, all frozen
    pub entries: Vec<BufferedWord>,
    /// what the clock decided since the segment before
    pub timing: Vec<Timing>,
    /// the latest turn that ends with one of the words
    pub turn: Option<Turn>,
}

/// An event of a stream.
#[derive(Debug)]
pub enum StreamOutput {
    /// a final segment
    Release(Release),
    /// a turn is over: its words are final
    Turn {
        /// number of the segment to come
        seq: u64,
        /// the turn
        turn: Turn,
        /// why its words are final
        cause: FreezeCause,
        /// milliseconds since the utterance end came
        delay_ms: u64,
    },
    /// the epoch is closed
    Closed {
        /// number of the end segment
        seq: u64,
        /// counts of the epoch
        counts: Counts,
        /// why
        cause: EndCause,
        /// what the clock decided since the segment before
        timing: Vec<Timing>,
    },
}

/// What a request asks.
#[derive(Debug)]
pub enum RequestBody {
    /// tags of the words of a row
    Tags(Row),
    /// the second stage about some spans
    Spans(Vec<Question>),
    /// nothing: these are the tags of the words, because the stream has no model
    Known(Vec<Tags>),
}

/// A request for the model, or for the second stage.
#[derive(Debug)]
pub struct InferenceRequest {
    /// names the answer
    pub id: u64,
    /// what it asks
    pub asks: RequestBody,
    /// whether it is for a hypothesis only
    pub hypothesis: bool,
    /// whether all its words came before the partition had caught up
    pub backlog: bool,
    /// the deadline of the answer
    pub due: Time,
}

/// The unreleased tail: buffered entries and how many are frozen, then hypothesis words with their tags.
#[derive(Debug)]
pub struct Tail {
    /// index of the first word in the epoch
    pub from: u64,
    /// whether what was released before ended a sentence
    pub sentence_start: bool,
    /// what was released before, as redaction must know it
    pub before: Box<str>,
    /// final words
    pub entries: Vec<BufferedWord>,
    /// hypothesis words
    pub hypothesis: Vec<(Word, Tags)>,
    /// how many of `entries` are frozen
    pub frozen: usize,
    /// number of the segment to come
    pub seq: u64,
    /// number of words that the latest pass saw
    pub seen: u64,
}
