//! What happens, said once: each event is one type that is both a log line and a metric.
//!
//! No event carries transcript text, keys of people or secrets: counts, times, offsets and reasons only. Metrics go to
//! OpenTelemetry's global meter; until a provider is installed they cost next to nothing.

use std::sync::LazyLock;
use std::time::Duration;

use opentelemetry::metrics::{Counter, Histogram};
use opentelemetry::{KeyValue, global};

struct Instruments {
    batch_rows: Histogram<u64>,
    batch_tokens: Histogram<u64>,
    batch_padding: Histogram<u64>,
    batch_seconds: Histogram<f64>,
    queue_seconds: Histogram<f64>,
    inference_failures: Counter<u64>,
    dead_letters: Counter<u64>,
    repeats: Counter<u64>,
    frozen_words: Counter<u64>,
    freeze_delay_words: Histogram<u64>,
    freeze_delay_seconds: Histogram<f64>,
    segments: Counter<u64>,
    commits: Counter<u64>,
    commit_seconds: Histogram<f64>,
    restores: Counter<u64>,
    erased: Counter<u64>,
    beyond_quota: Counter<u64>,
    input_lost: Counter<u64>,
    states_refused: Counter<u64>,
    client_problems: Counter<u64>,
    reloads: Counter<u64>,
}

static INSTRUMENTS: LazyLock<Instruments> = LazyLock::new(|| {
    let m = global::meter("faircopy");
    Instruments {
        batch_rows: m.u64_histogram("faircopy.infer.batch.rows").build(),
        batch_tokens: m.u64_histogram("faircopy.infer.batch.tokens").build(),
        batch_padding: m.u64_histogram("faircopy.infer.batch.padding").build(),
        batch_seconds: m.f64_histogram("faircopy.infer.batch.duration").with_unit("s").build(),
        queue_seconds: m.f64_histogram("faircopy.infer.queue.duration").with_unit("s").build(),
        inference_failures: m.u64_counter("faircopy.infer.failures").build(),
        dead_letters: m.u64_counter("faircopy.dead_letters").build(),
        repeats: m.u64_counter("faircopy.repeats").build(),
        frozen_words: m.u64_counter("faircopy.words.frozen").build(),
        freeze_delay_words: m.u64_histogram("faircopy.freeze.delay.words").build(),
        freeze_delay_seconds: m.f64_histogram("faircopy.freeze.delay").with_unit("s").build(),
        segments: m.u64_counter("faircopy.segments").build(),
        commits: m.u64_counter("faircopy.commits").build(),
        beyond_quota: m.u64_counter("faircopy.words.beyond_quota").build(),
        erased: m.u64_counter("faircopy.sessions.erased").build(),
        restores: m.u64_counter("faircopy.restores").build(),
        input_lost: m.u64_counter("faircopy.input.lost").build(),
        states_refused: m.u64_counter("faircopy.states.refused").build(),
        commit_seconds: m.f64_histogram("faircopy.commits.duration").with_unit("s").build(),
        client_problems: m.u64_counter("faircopy.client.problems").build(),
        reloads: m.u64_counter("faircopy.format.reloads").build(),
    }
});

/// A batch went through the model.
pub struct Batch {
    /// rows
    pub rows: usize,
    /// tokens of all rows
    pub tokens: usize,
    /// rows × longest row
    pub padded: usize,
    /// longest wait of a row in the queue
    pub queued: Duration,
    /// time in the model
    pub took: Duration,
    /// why there are no tags
    pub error: Option<String>,
}

impl Batch {
    /// Records it.
    pub fn emit(self) {
        let m = &*INSTRUMENTS;
        m.batch_rows.record(self.rows as u64, &[]);
        m.batch_tokens.record(self.tokens as u64, &[]);
        m.batch_padding.record((self.padded - self.tokens) as u64, &[]);
        m.batch_seconds.record(self.took.as_secs_f64(), &[]);
        m.queue_seconds.record(self.queued.as_secs_f64(), &[]);
        if let Some(error) = self.error {
            m.inference_failures.add(1, &[]);
            tracing::warn!(rows = self.rows, tokens = self.tokens, %error, "inference failed; its words go out as spoken");
        }
    }
}

/// A record was refused.
pub struct DeadLetter<'a> {
    /// where
    pub stage: &'static str,
    /// why, machine-readable
    pub reason: &'static str,
    /// why, for people
    pub detail: &'a str,
    /// its partition
    pub partition: i32,
    /// its offset
    pub offset: i64,
}

impl DeadLetter<'_> {
    /// Records it.
    pub fn emit(self) {
        INSTRUMENTS.dead_letters.add(1, &[KeyValue::new("stage", self.stage), KeyValue::new("reason", self.reason)]);
        tracing::warn!(
            stage = self.stage,
            reason = self.reason,
            detail = self.detail,
            partition = self.partition,
            offset = self.offset,
            "record refused; it is on the dead-letter topic"
        );
    }
}

/// A record repeated its predecessor and was dropped.
pub struct Repeat {
    /// its partition
    pub partition: i32,
    /// its offset
    pub offset: i64,
}

impl Repeat {
    /// Records it.
    pub fn emit(self) {
        INSTRUMENTS.repeats.add(1, &[]);
        tracing::debug!(partition = self.partition, offset = self.offset, "repeated record dropped");
    }
}

/// A word's tags became final.
pub struct Frozen {
    /// `lookahead`, `timer`, `utterance`, `released` or `end`
    pub cause: &'static str,
    /// later words known then
    pub later_words: u64,
    /// time since it arrived
    pub delay: Duration,
}

impl Frozen {
    /// Records it.
    pub fn emit(self) {
        let m = &*INSTRUMENTS;
        let cause = [KeyValue::new("cause", self.cause)];
        m.frozen_words.add(1, &cause);
        m.freeze_delay_words.record(self.later_words, &cause);
        m.freeze_delay_seconds.record(self.delay.as_secs_f64(), &cause);
    }
}

/// A segment was made.
pub struct SegmentMade {
    /// `final`, `partial` or `end`
    pub kind: &'static str,
}

impl SegmentMade {
    /// Records it.
    pub fn emit(self) {
        INSTRUMENTS.segments.add(1, &[KeyValue::new("kind", self.kind)]);
    }
}

/// The Kafka client has trouble and goes on trying.
pub struct ClientProblem<'a> {
    /// the client's word
    pub reason: &'a str,
}

impl ClientProblem<'_> {
    /// Records it.
    pub fn emit(self) {
        INSTRUMENTS.client_problems.add(1, &[]);
        tracing::warn!(reason = self.reason, "the Kafka client reports a problem and goes on trying");
    }
}

/// Partitions came or went.
pub struct Rebalanced<'a> {
    /// `assigned` or `revoked`
    pub what: &'static str,
    /// which
    pub partitions: &'a [i32],
}

impl Rebalanced<'_> {
    /// Records it.
    pub fn emit(self) {
        tracing::info!(partitions = ?self.partitions, "partitions {}", self.what);
    }
}

/// Offsets were committed, or not.
pub struct Committed<'a> {
    /// partitions in it
    pub partitions: usize,
    /// from begin to commit, or to failure
    pub took: Duration,
    /// what the broker said
    pub error: Option<&'a str>,
}

impl Committed<'_> {
    /// Records it.
    pub fn emit(self) {
        let outcome = if self.error.is_some() { "failed" } else { "ok" };
        INSTRUMENTS.commits.add(1, &[KeyValue::new("outcome", outcome)]);
        INSTRUMENTS.commit_seconds.record(self.took.as_secs_f64(), &[]);
        if let Some(error) = self.error {
            tracing::warn!(partitions = self.partitions, error, "commit failed; it is tried again");
        }
    }
}

/// A partition was taken over.
pub struct Restored {
    /// which
    pub partition: i32,
    /// open and lately ended streams
    pub streams: usize,
    /// records read for that
    pub records: u64,
    /// reading them
    pub took: Duration,
}

impl Restored {
    /// Records it.
    pub fn emit(self) {
        INSTRUMENTS.restores.add(1, &[]);
        let ms = self.took.as_millis() as u64;
        tracing::info!(partition = self.partition, streams = self.streams, records = self.records, ms, "partition restored");
    }
}

/// Committed input is gone from the raw topic: its retention was shorter than this group's absence.
pub struct InputLost {
    /// its partition
    pub partition: i32,
    /// where the group would have gone on
    pub committed: i64,
    /// what the topic begins with
    pub oldest: i64,
}

impl InputLost {
    /// Records it.
    pub fn emit(self) {
        let lost = (self.oldest - self.committed).unsigned_abs();
        INSTRUMENTS.input_lost.add(lost, &[]);
        tracing::error!(
            partition = self.partition,
            committed = self.committed,
            oldest = self.oldest,
            lost,
            "raw records expired before they were read; streams go on without them. Raise the raw topic's retention"
        );
    }
}

/// The changelog takes smaller records than a stream's state can be in the worst case.
pub struct ChangelogNarrow {
    /// its `max.message.bytes`
    pub bytes: u64,
    /// what the limits allow a state to be
    pub needed: u64,
}

impl ChangelogNarrow {
    /// Records it.
    pub fn emit(self) {
        tracing::warn!(
            bytes = self.bytes,
            needed = self.needed,
            "max.message.bytes of the changelog is below the largest state that [limits] and decode.max_buffer_words allow: a stream with that much \
             meta and headers could not be committed; raise it, or lower limits.max_meta_bytes and limits.max_header_bytes"
        );
    }
}

/// A record had more words than its tenant or session may say.
pub struct BeyondQuota {
    /// it became a dead letter; else its words are tagged last
    pub refused: bool,
    /// its words
    pub words: usize,
}

impl BeyondQuota {
    /// Records it.
    pub fn emit(self) {
        let outcome = if self.refused { "dead_letter" } else { "delay" };
        INSTRUMENTS.beyond_quota.add(self.words as u64, &[KeyValue::new("outcome", outcome)]);
    }
}

/// A session was forgotten, as ordered.
pub struct Erased {
    /// its partition
    pub partition: i32,
    /// streams that were open
    pub streams: usize,
}

impl Erased {
    /// Records it.
    pub fn emit(self) {
        INSTRUMENTS.erased.add(1, &[]);
        tracing::info!(partition = self.partition, streams = self.streams, "session erased");
    }
}

/// A changelog record cannot be used.
pub struct StateRefused<'a> {
    /// its partition
    pub partition: i32,
    /// expected, got
    pub why: &'a str,
}

impl StateRefused<'_> {
    /// Records it.
    pub fn emit(self) {
        INSTRUMENTS.states_refused.add(1, &[]);
        tracing::error!(
            partition = self.partition,
            why = self.why,
            "a stream cannot be restored; it begins anew with its next record"
        );
    }
}

/// Changed grammars, packs or lists are in use.
pub struct Reloaded {
    /// reading and compiling them
    pub took: Duration,
}

impl Reloaded {
    /// Logs and counts it.
    pub fn emit(self) {
        INSTRUMENTS.reloads.add(1, &[KeyValue::new("result", "used")]);
        tracing::info!(took_ms = self.took.as_millis() as u64, "grammars, packs and lists were changed and are in use");
    }
}

/// Changed grammars, packs or lists are wrong; those from before stay.
pub struct ReloadRefused<'a> {
    /// file, line and what is wrong
    pub why: &'a str,
}

impl ReloadRefused<'_> {
    /// Logs and counts it.
    pub fn emit(self) {
        INSTRUMENTS.reloads.add(1, &[KeyValue::new("result", "refused")]);
        tracing::error!(why = self.why, "changed grammars, packs or lists are refused; those from before stay in use");
    }
}
