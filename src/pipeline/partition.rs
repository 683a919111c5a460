//! One partition without Kafka: records in, segments out, the model between. The service and `faircopy format` both run it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use xxhash_rust::xxh3::xxh3_64;

use super::clock::Clock;
use super::in_force::InForce;
use super::{OnRelease, Shared};
use crate::config::Profile;
use crate::consume::changelog::Left;
use crate::events;
use crate::health::Reporter;
use crate::infer::{Answer, Request};
use crate::limit::Beyond;
use crate::produce::mark::Mark;
use crate::produce::{Cut, DeadLetter, Outgoing};
use crate::record::decode;
use crate::record::{ERASE, REPLAYED, RawRecord, RawSegment, Refused, Segment};
use crate::session::map::{Accepted, Limits, Sessions};
use crate::session::output::{Event, Output, StreamId, StreamRef, Tail};
use crate::session::policy::Policy;
use crate::session::snapshot::{Snapshot, Surroundings, key_from_bytes, key_to_bytes};
use crate::session::{Record, Source, Time};
use crate::trace::Way;

/// A partition's streams, its requests under way, and the formatter's end of the path.
pub struct Partition {
    shared: Arc<Shared>,
    number: i32,
    sessions: Sessions,
    /// the name under which its streams keep states
    owner: u64,
    /// the task's time
    pub(super) clock: Clock,
    answers: UnboundedReceiver<Answer>,
    reply: UnboundedSender<Answer>,
    next_offset: i64,
    dirty: BTreeSet<StreamId>,
    /// made and not handed on
    out: Vec<Outgoing>,
    /// whether the clock counts: a backlog comes faster than anybody speaks
    running: bool,
    /// its line on the board
    reporter: Reporter,
    /// for all records, whatever their tenant
    profile: Option<String>,
    /// who looks on, beside whom all partitions have in common
    on_release: Option<OnRelease>,
    /// sessions beyond their quota
    beyond: HashSet<Arc<str>>,
    /// requests of theirs that are under way, and until when
    late: HashMap<StreamId, Time>,
}

impl Partition {
    /// An empty partition.
    pub fn new(shared: Arc<Shared>, number: i32, clock: Clock, reporter: Reporter) -> Partition {
        let d = &shared.settings.decode;
        let limits =
            Limits { max_streams: d.max_streams_per_partition, session_ttl_ms: d.session_ttl_ms, late_ttl_ms: d.late_ttl_ms };
        let (reply, answers) = unbounded_channel();
        Partition {
            sessions: Sessions::new(limits),
            owner: shared.models.kept.owner(),
            shared,
            number,
            clock,
            answers,
            reply,
            next_offset: 0,
            dirty: BTreeSet::new(),
            out: Vec::new(),
            running: false,
            reporter,
            profile: None,
            on_release: None,
            beyond: HashSet::new(),
            late: HashMap::new(),
        }
    }

    /// A partition as its last owner left it. A state that cannot be used is an event, and its stream begins anew.
    pub fn restored(shared: Arc<Shared>, number: i32, clock: Clock, reporter: Reporter, left: &Left) -> Partition {
        let mut partition = Partition::new(shared.clone(), number, clock, reporter);
        partition.next_offset = left.resume_at;
        let now = partition.now();
        for (key, value) in &left.states {
            let restored = key_from_bytes(key)
                .and_then(|key| Ok((key, Snapshot::from_bytes(value)?)))
                .and_then(|(key, snapshot)| partition.sessions.restore(key, &snapshot, &*shared, now));
            if let Err(why) = restored {
                events::StateRefused { partition: number, why: &why.to_string() }.emit();
            }
        }
        partition.reporter.restored(left.resume_at);
        partition
    }

    /// Takes every record as of this profile, and tells of every release.
    pub fn try_out(&mut self, profile: &str, on_release: OnRelease) {
        (self.profile, self.on_release) = (Some(profile.to_string()), Some(on_release));
    }

    /// Offset of the next record; what is before it is done with.
    pub fn resume_at(&self) -> i64 {
        self.next_offset
    }

    /// What its clock shows.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Takes the partition's next record; what cannot be taken becomes a dead letter.
    pub fn take(&mut self, record: RawRecord) {
        self.next_offset = record.offset + 1;
        self.reporter.took(self.next_offset, record.timestamp_ms);
        if record.has(ERASE) {
            return self.erase(record);
        }
        match decode::decode(&record, &self.shared.in_force().limits, self.shared.settings.input.format) {
            Ok((session, segment)) => self.accept(&session, segment, record),
            Err(refused) => self.refuse("decode", refused, record),
        }
    }

    /// Leaves out a record that has ended its worker whenever it was taken.
    pub fn isolate(&mut self, record: RawRecord) {
        self.next_offset = record.offset + 1;
        let detail =
            "it ended its worker twice while no other record was under way; report it, and replay it once that is mended";
        self.refuse("crash", Refused::new("crash", detail), record);
    }

    fn refuse(&mut self, stage: &'static str, refused: Refused, record: RawRecord) {
        let letter = DeadLetter { stage, refused, record };
        letter.emit();
        self.out.push(Outgoing::DeadLetter(Box::new(letter)));
    }

    fn erase(&mut self, record: RawRecord) {
        match decode::session(record.key.as_deref().unwrap_or_default(), &self.shared.in_force().limits) {
            Ok(session) => {
                let streams = self.sessions.erase(&session);
                streams.iter().for_each(|&stream| self.shared.models.kept.forget(self.owner, stream));
                events::Erased { partition: self.number, streams: streams.len() }.emit();
            }
            Err(refused) => self.refuse("decode", refused, record),
        }
    }

    fn accept(&mut self, session: &Arc<str>, mut segment: RawSegment, record: RawRecord) {
        if record.has(REPLAYED) {
            segment.seq = None; // its number is long past
        }
        let in_force = self.shared.in_force();
        let profile = match &self.profile {
            Some(name) => in_force.profiles.named(name),
            None => in_force.profiles.of(segment.tenant.as_deref()),
        };
        if self.is_beyond(&in_force, profile, session, &segment) {
            if profile.quota.beyond == Beyond::DeadLetter {
                let detail = "more words than profiles.*.quota allows; raise it, or replay this later";
                return self.refuse("quota", Refused::new("quota", detail), record);
            }
            self.beyond.insert(session.clone());
        } else {
            self.beyond.remove(session);
        }
        let hash = xxh3_64(record.payload.as_deref().unwrap_or_default());
        events::Taken { words: if segment.is_final { segment.words.len() as u64 } else { 0 } }.emit();
        let way = Way::begin(&self.shared.settings.topics.raw, self.number, record.offset, &record.headers);
        let source = Arc::new(Source {
            offset: record.offset,
            meta: segment.meta.take(),
            headers: record.headers,
            timestamp_ms: record.timestamp_ms,
            way,
        });
        let channel = segment.channel.clone();
        let plain = !profile.serves(segment.lang.as_deref());
        // An open stream keeps the profile it began with, and so its model: tokens of another one would mean nothing to that.
        let (name, policy) =
            self.sessions.profile_of(session, &channel).unwrap_or((profile.name.clone(), profile.policy.clone()));
        let tokenizer = &self.shared.models.of(policy.frame).tokenizer;
        let made = Record::new(segment, hash, source, policy, plain, |w| tokenizer.tokens(w));
        let now = self.now();
        if self.sessions.accept(session, &channel, &name, made, now) == Accepted::Repeat {
            events::Repeat { partition: self.number, offset: record.offset }.emit();
        }
        if self.beyond.contains(session) {
            self.sessions.relieve(session, &channel, now);
        }
    }

    /// Whether a record's words are more than its tenant or its session may say now.
    fn is_beyond(&self, in_force: &InForce, profile: &Profile, session: &Arc<str>, segment: &RawSegment) -> bool {
        let tenant: Arc<str> = segment.tenant.as_deref().unwrap_or_default().into();
        let over =
            self.running && segment.is_final && !in_force.quotas.allows(&profile.name, &tenant, session, segment.words.len());
        if over {
            events::BeyondQuota { refused: profile.quota.beyond == Beyond::DeadLetter, words: segment.words.len() }.emit();
        }
        over
    }

    /// From now on delays count.
    pub fn caught_up(&mut self) {
        let now = self.now();
        self.running = true;
        self.sessions.caught_up(now);
    }

    /// Ends all streams: the input has.
    pub fn end_all(&mut self) {
        let now = self.now();
        self.sessions.end_all(now);
    }

    /// Hands requests to the model, as many as may be under way.
    pub fn ask(&mut self) {
        let now = self.now();
        self.late.retain(|_, due| *due > now);
        // Requests that come last must not take the places of those that do not.
        while self.sessions.in_flight() - self.late.len().min(self.sessions.in_flight())
            < self.shared.settings.infer.max_in_flight_per_partition
        {
            let Some((stream, ask)) = self.sessions.next_ask(now) else { break };
            let late = !self.beyond.is_empty() && self.sessions.session_of(stream).is_some_and(|s| self.beyond.contains(s));
            if late {
                self.late.insert(stream, ask.due);
            }
            self.shared.models.of(ask.row.frame).infer.submit(Request {
                owner: self.owner,
                stream,
                ask: ask.id,
                trace: self.sessions.source_of(stream).and_then(|s| Some(s.way.as_ref()?.link())),
                row: ask.row,
                later: ask.hypothesis || late,
                due: self.clock.instant(ask.due),
                reply: self.reply.clone(),
            });
        }
    }

    /// Waits for an answer of the model. Cancel-safe.
    pub async fn answer(&mut self) -> Answer {
        self.answers.recv().await.expect("this partition holds a sender")
    }

    /// Takes an answer.
    pub fn answered(&mut self, answer: Answer) {
        let now = self.now();
        self.late.remove(&answer.stream);
        self.reporter.progressed();
        self.sessions.answer(answer.stream, answer.ask, &answer.outcome, now);
    }

    /// When something is due by the clock.
    pub fn next_due(&self) -> Option<Time> {
        self.sessions.next_due()
    }

    /// When the wall's clock will show that.
    pub fn instant(&self, t: Time) -> Instant {
        self.clock.instant(t)
    }

    /// Lets time pass.
    pub fn tick(&mut self) {
        let now = self.now();
        self.sessions.tick(now);
    }

    /// Whether so many words wait for the model, or so many segments for a commit, that no further record should be taken.
    pub fn is_full(&self) -> bool {
        self.sessions.pending_words() >= self.shared.settings.decode.max_pending_words_per_partition
            || self.out.len() >= self.shared.settings.delivery.max_uncommitted
    }

    /// Whether a request is under way.
    pub fn is_asking(&self) -> bool {
        self.sessions.in_flight() > 0
    }

    /// Whether so much was made since the last cut that it should be committed now.
    pub fn has_much(&mut self) -> bool {
        self.gather();
        self.out.len() >= self.shared.settings.delivery.max_uncommitted
    }

    /// What was made since the last cut, what its streams have become, and tails that may be shown once that is durable.
    pub fn cut(&mut self) -> Cut {
        let out = self.drain();
        let shared = self.shared.clone();
        let model = |policy: &Policy| shared.model(policy);
        let states = self.sessions.take_snapshots(model).into_iter();
        let changelog = states.map(|(key, state)| (key_to_bytes(&key), state.map(|s| s.to_bytes()))).collect();
        Cut { resume_at: self.next_offset, mark: Mark::Clean, out, changelog, partials: self.partials() }
    }

    /// Writes what it holds on the board.
    pub fn report(&self) {
        self.reporter.holds(self.sessions.len(), self.sessions.pending_words(), self.sessions.in_flight());
    }

    fn gather(&mut self) {
        self.dirty.extend(self.sessions.take_dirty());
        for event in self.sessions.take_events() {
            let outgoing = self.outgoing(event);
            self.out.push(outgoing);
        }
    }

    /// What is to be sent now, in order.
    pub fn drain(&mut self) -> Vec<Outgoing> {
        self.gather();
        std::mem::take(&mut self.out)
    }

    fn outgoing(&mut self, event: Event) -> Outgoing {
        let shared = self.shared.clone();
        let stream = event.stream;
        match event.output {
            Output::Release(release) => {
                for observe in [&shared.on_release, &self.on_release].into_iter().flatten() {
                    observe(&stream, &release);
                }
                for freeze in release.entries.iter().filter_map(|e| e.freeze) {
                    events::Frozen {
                        cause: freeze.cause.name(),
                        later_words: freeze.later_words,
                        delay: Duration::from_millis(freeze.delay_ms),
                    }
                    .emit();
                }
                let source = release.entries.last().map(|e| e.word.source.clone());
                let way = source.as_ref().and_then(|s| s.way.as_ref());
                way.inspect(|w| w.released());
                let began = SystemTime::now();
                let (segment, noted) = shared.formatter.segment(&stream, &release);
                way.inspect(|w| w.formatted(began));
                let degraded = release.entries.iter().filter(|e| e.freeze.is_some_and(|f| f.degraded)).count() as u64;
                events::SegmentMade { kind: "final", degraded }.emit();
                noted.redacted.iter().for_each(|class| events::Redacted { class }.emit());
                noted.rejected.iter().for_each(|class| events::ItnRejected { class }.emit());
                Outgoing::Formatted(Box::new(segment), source)
            }
            Output::Closed { seq, counts, cause } => {
                self.dirty.remove(&stream.id);
                shared.models.kept.forget(self.owner, stream.id);
                self.beyond.remove(&stream.key.session);
                let segment = shared.formatter.end(&stream, seq, counts, cause);
                events::SegmentMade { kind: "end", degraded: 0 }.emit();
                Outgoing::Formatted(Box::new(segment), stream.source)
            }
        }
    }

    /// Tails that changed, of sessions that are `wanted` now. The others stay marked.
    pub fn changed_tails(&mut self, wanted: impl Fn(&Arc<str>) -> bool) -> Vec<(StreamRef, Tail)> {
        let mut out = Vec::new();
        self.dirty.retain(|&id| {
            let Some((stream, tail)) = self.sessions.tail(id) else { return false };
            let take = wanted(&stream.key.session);
            if take {
                out.push((stream, tail));
            }
            !take
        });
        out
    }

    /// Tails that changed, of sessions that may send one now, as partials.
    pub fn partials(&mut self) -> Vec<Segment> {
        let shared = self.shared.clone();
        let partial = |(stream, tail): (StreamRef, Tail)| {
            events::SegmentMade { kind: "partial", degraded: 0 }.emit();
            shared.formatter.partial(&stream, &tail)
        };
        self.changed_tails(|session| shared.partial_limit.allows(session)).into_iter().map(partial).collect()
    }
}

/// States encode what was said: they go with the partition.
impl Drop for Partition {
    fn drop(&mut self) {
        self.shared.models.kept.forget_all(self.owner);
    }
}
