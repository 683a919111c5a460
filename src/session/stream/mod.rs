//! One stream's decoder.
//!
//! ```text
//!          words, timers                 end record, step back of seq, expiry
//!  ┌──────────────────────────────┐
//!  ▼                              │
//!  OPEN ──────────────────────────┴──────────▶ ENDING ──────── all words released ──▶ CLOSED
//!   at most one request in flight;              takes no record: later ones wait         sends `end`
//!   further passes wait in the plan             outside (map.rs)
//! ```
//!
//! The plan ([`super::plan`]) decides the order of the passes.

mod handover;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::boundary::{self, LastWord};
use super::buffer::{Buffer, BufferedWord, FreezeCause};
use super::hypothesis::Hypothesis;
use super::output::{EndCause, InferenceRequest, Release, StreamOutput, Tail};
use super::plan::{Pass, Plan};
use super::policy::{Policy, ReleaseRule};
use super::settle::Settled;
use super::{Record, Source, Time, Word, WordKind, release};
use crate::infer::{Outcome, Row, RowWord};
use crate::record::{Counts, End};
use crate::redact::{ChannelContext, Redaction, add_around};
use crate::tags::Tags;

/// Number of words after a segment that redaction sees. A redacted range at the segment's end may go on in them, or
/// they may show that it has ended.
const MAX_AFTER: u64 = 24;

#[derive(Debug)]
enum RequestKind {
    Pass(Pass),
    /// a settling pass that is run again because its states are gone, and how far it settles words
    Again(Settled),
    /// a pass for a hypothesis: the final words known when it was asked, and the hypothesis
    Hypothesis {
        known: u64,
        revision: u64,
    },
}

#[derive(Debug)]
struct InFlight {
    id: u64,
    kind: RequestKind,
    due: Time,
}

/// The progress of a stream, besides its words and its plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamProgress {
    epoch: i64,
    seq: u64,
    /// number of words that the latest answered pass saw
    seen: u64,
    counts: Counts,
    last: Option<(Option<u64>, u64)>,
    last_was_final: bool,
    sentence_start: bool,
    /// what the next word's boundary is measured from
    last_word: Option<LastWord>,
    /// what redaction must know of its words after they have left
    channel_context: ChannelContext,
    ending: Option<EndCause>,
}

impl StreamProgress {
    /// Epoch, segments sent, counts, and whether the next word begins a sentence.
    pub(super) fn outline(&self) -> (i64, u64, Counts, bool) {
        (self.epoch, self.seq, self.counts, self.sentence_start)
    }
}

/// One channel's decoder for one epoch.
#[derive(Debug)]
pub struct Stream {
    progress: StreamProgress,
    policy: Arc<Policy>,
    buffer: Buffer,
    settled: Settled,
    /// how far states have been made again for the plan's next pass, if they are being made again
    again: Option<Option<Settled>>,
    plan: Plan,
    in_flight: Option<InFlight>,
    next_id: u64,
    hypothesis: Option<Hypothesis>,
    revision: u64,
    utterance_due: Option<Time>,
    last_record_at: Time,
    /// input words of the epoch before this one have left already: the stream is made anew from its input
    known: u64,
}

impl Stream {
    /// A stream that the record at offset `epoch` opens, with this context.
    pub fn new(epoch: i64, policy: Arc<Policy>, channel_context: ChannelContext, now: Time) -> Stream {
        let progress = StreamProgress {
            epoch,
            seq: 0,
            seen: 0,
            counts: Counts::default(),
            last: None,
            last_was_final: false,
            sentence_start: true,
            last_word: None,
            channel_context,
            ending: None,
        };
        Stream::at(progress, policy, Buffer::default(), Settled::default(), Plan::default(), now)
    }

    fn at(progress: StreamProgress, policy: Arc<Policy>, buffer: Buffer, settled: Settled, plan: Plan, now: Time) -> Stream {
        Stream {
            progress,
            policy,
            buffer,
            settled,
            again: None,
            plan,
            in_flight: None,
            next_id: 0,
            hypothesis: None,
            revision: 0,
            utterance_due: None,
            last_record_at: now,
            known: 0,
        }
    }

    /// Offset of the record that opened the stream.
    pub fn epoch(&self) -> i64 {
        self.progress.epoch
    }

    /// Whether `record` repeats the last one: same counter, same content.
    pub fn repeats(&self, record: &Record) -> bool {
        record.seq.is_some() && self.progress.last == Some((record.seq, record.hash))
    }

    /// Whether `record`'s counter steps back, so that it belongs to a new epoch.
    pub fn steps_back(&self, record: &Record) -> bool {
        match (self.progress.last, record.seq) {
            // Many recognisers count results, so a hypothesis and the final that replaces it share a number.
            (Some((Some(last), _)), Some(seq)) => seq < last || (seq == last && self.progress.last_was_final),
            _ => false,
        }
    }

    /// Last counter and content hash seen.
    pub fn last(&self) -> Option<(Option<u64>, u64)> {
        self.progress.last
    }

    /// The channel's context for redaction.
    pub fn channel_context(&self) -> &ChannelContext {
        &self.progress.channel_context
    }

    /// Like [`Stream::channel_context`], to note words that came.
    pub fn channel_context_mut(&mut self) -> &mut ChannelContext {
        &mut self.progress.channel_context
    }

    /// The context for the channel's next epoch. If the channel or session has ended, open questions and numbers have
    /// ended too. If the recogniser restarted or fell silent, they go on.
    pub fn left_context(&self) -> ChannelContext {
        self.progress.channel_context.of_next_epoch(!self.ends_for_good())
    }

    fn ends_for_good(&self) -> bool {
        self.progress.ending.is_some_and(|cause| matches!(cause, EndCause::Channel | EndCause::Session))
    }

    /// From now on the stream redacts this.
    pub fn set_redaction(&mut self, redaction: Option<Arc<Redaction>>) {
        self.policy = Arc::new(Policy { redaction, ..(*self.policy).clone() });
    }

    /// Whether the stream takes no further record.
    pub fn is_ending(&self) -> bool {
        self.progress.ending.is_some()
    }

    /// Takes a record. The caller has checked that the record neither repeats nor steps back, and that the stream is
    /// open.
    pub fn push(&mut self, record: Record, now: Time) {
        debug_assert!(!self.is_ending());
        self.last_record_at = now;
        if record.seq.is_some() {
            self.progress.last = Some((record.seq, record.hash));
            self.progress.last_was_final = record.is_final;
        }
        if !record.words.is_empty() {
            self.utterance_due = None; // speech goes on
        }
        self.hypothesis = None;
        let (taken, came) = (self.progress.counts.words, record.input_words());
        let placed = record.words.into_iter().map(|word| Word { src: word.src.map(|n| n + taken), ..word });
        if record.is_final {
            self.progress.counts.words += came;
            for mut word in placed {
                boundary::measure(&mut self.progress.last_word, &mut word);
                // Where figures are read back otherwise than they were, some may come twice. None is lost.
                if word.src[1] <= self.known {
                    // It is not known any more whether the word stayed in the text. Redaction, which looks back for
                    // numbers and names, takes the word as kept.
                    let mut left = String::new();
                    add_around(&mut left, &word.parts, true);
                    self.progress.channel_context.left(&left, self.policy.redaction.is_some());
                    self.buffer.push_released(word, self.policy.history_words);
                    self.plan.cover(self.buffer.total());
                    self.settled = Settled::none_before(self.buffer.total());
                } else {
                    self.buffer.push(word, now);
                    self.plan.word(self.buffer.total(), &self.policy);
                }
            }
        } else if came > 0 && self.policy.partials {
            self.revision += 1;
            let limit = self.policy.max_buffer_words as usize;
            let (mut words, mut last_word) = (placed.collect::<Vec<_>>(), self.progress.last_word.clone());
            words.iter_mut().for_each(|word| boundary::measure(&mut last_word, word));
            self.hypothesis = Some(Hypothesis::new(words, limit, self.revision));
        }
        match record.end {
            None => {}
            // A hypothesis ends nothing. If passes are planned for all words, there is nothing to wait for.
            Some(End::Utterance) if !record.is_final || self.plan.covered() == self.buffer.total() => {}
            Some(End::Utterance) => self.utterance_due = Some(now.plus(self.policy.utterance_delay_ms)),
            Some(End::Channel) => self.end(EndCause::Channel),
            Some(End::Session) => self.end(EndCause::Session),
        }
    }

    /// Ends the epoch: everything is frozen and released, then `end` is sent.
    pub fn end(&mut self, cause: EndCause) {
        if self.progress.ending.is_some() {
            return;
        }
        self.progress.ending = Some(cause);
        self.hypothesis = None;
        self.utterance_due = None;
        let total = self.buffer.total();
        if self.plan.covered() < total {
            self.plan.push(total, total, FreezeCause::End);
        }
    }

    /// When something is due by the clock. `running`: whether delays count yet (the partition has caught up).
    pub fn next_due(&self, running: bool, ttl_ms: u64) -> Option<Time> {
        let answer = self.in_flight.as_ref().map(|f| f.due);
        if !running {
            return answer;
        }
        let freeze = (self.plan.covered() < self.buffer.total())
            .then(|| self.buffer.get(self.plan.covered()).arrived.plus(self.policy.max_delay_ms));
        let release = self.oldest_frozen().map(|at| at.plus(self.policy.max_release_ms));
        let expiry = (!self.is_ending()).then(|| self.last_record_at.plus(ttl_ms));
        [answer, freeze, self.utterance_due, release, expiry].into_iter().flatten().min()
    }

    fn oldest_frozen(&self) -> Option<Time> {
        (self.buffer.released() < self.buffer.frozen())
            .then(|| self.buffer.get(self.buffer.released()).freeze.map(|f| f.at))
            .flatten()
    }

    /// Lets time pass: late answers, delays, forced releases, expiry. `running` as in [`Stream::next_due`].
    pub fn tick(&mut self, now: Time, running: bool, ttl_ms: u64, out: &mut Vec<StreamOutput>) {
        if self.in_flight.as_ref().is_some_and(|f| f.due <= now) {
            let late = self.in_flight.take().expect("just seen");
            self.answered(late.kind, None, now, out);
        }
        if running {
            self.delays(now, ttl_ms, out);
        }
        self.settle(out);
    }

    fn delays(&mut self, now: Time, ttl_ms: u64, out: &mut Vec<StreamOutput>) {
        let total = self.buffer.total();
        let waited = |e: &BufferedWord| e.arrived.plus(self.policy.max_delay_ms) <= now;
        let due = self.plan.covered() + self.buffer.range(self.plan.covered(), total).take_while(|e| waited(e)).count() as u64;
        if due > self.plan.covered() {
            self.plan.push(total, due, FreezeCause::Timer);
        }
        if self.utterance_due.is_some_and(|t| t <= now) {
            self.utterance_due = None;
            if self.plan.covered() < total {
                self.plan.push(total, total, FreezeCause::Utterance);
            }
        }
        while self.oldest_frozen().is_some_and(|at| at.plus(self.policy.max_release_ms) <= now) {
            let Some(cut) = release::forced(&self.buffer, &self.policy, &self.progress.channel_context.before) else { break };
            self.release(cut, self.buffer.frozen(), self.buffer.frozen(), out);
        }
        if !self.is_ending() && self.last_record_at.plus(ttl_ms) <= now {
            self.end(EndCause::Expired);
        }
    }

    /// From now on delays count, for words that waited as for new ones.
    pub fn restart_clocks(&mut self, now: Time) {
        self.buffer.restart_clocks(now);
        self.last_record_at = self.last_record_at.max(now);
        if let Some(due) = &mut self.utterance_due {
            *due = (*due).max(now.plus(self.policy.utterance_delay_ms));
        }
    }

    /// Whether the pass that is under way, or comes next, sees only words of a backlog. `live_from`: offset of the
    /// first live record; `None` while the partition is behind.
    pub fn is_behind(&self, live_from: Option<i64>) -> bool {
        let kind = self.in_flight.as_ref().and_then(|f| if let RequestKind::Pass(pass) = f.kind { Some(pass) } else { None });
        kind.or_else(|| self.plan.passes().next()).is_some_and(|pass| self.is_backlog(pass, live_from))
    }

    fn is_backlog(&self, pass: Pass, live_from: Option<i64>) -> bool {
        live_from.is_none_or(|from| self.buffer.offset_before(pass.upto).is_some_and(|offset| offset < from))
    }

    /// The next request for the model, if none is in flight and one is wanted. `live_from` as in [`Stream::is_behind`].
    pub fn next_request(&mut self, now: Time, live_from: Option<i64>) -> Option<InferenceRequest> {
        if self.in_flight.is_some() {
            return None;
        }
        let (kind, row, hypothesis) = if let Some((row, settled)) = self.next_again() {
            (RequestKind::Again(settled), row.tagging_last(0, None), false)
        } else if let Some(pass) = self.plan.next(self.buffer.frozen(), &self.policy) {
            (RequestKind::Pass(pass), self.row(pass), false)
        } else {
            let (known, hypothesis) = (self.buffer.total(), self.hypothesis.as_mut()?);
            let kind = RequestKind::Hypothesis { known, revision: hypothesis.revision };
            let more: Vec<RowWord> = hypothesis.to_request()?.iter().map(|w| w.in_row()).collect();
            (kind, open_row(&self.settled, known, &more, false, &self.buffer, &self.policy), true)
        };
        let id = self.next_id;
        self.next_id += 1;
        let backlog = if let RequestKind::Pass(pass) = kind { self.is_backlog(pass, live_from) } else { false };
        // Only live words have the short deadline. A backlog is formatted like live speech, however long it waits for
        // its turn.
        let due = now.plus(if backlog { self.policy.backlog_timeout_ms } else { self.policy.inference_timeout_ms });
        self.in_flight = Some(InFlight { id, kind, due });
        Some(InferenceRequest { id, row, hypothesis, backlog, due })
    }

    /// The settling pass to run again, if the plan's next pass waits for its states.
    fn next_again(&mut self) -> Option<(Row, Settled)> {
        let next = self.settled.again(self.again?, &self.buffer, &self.policy);
        if next.is_none() {
            self.again = None;
        }
        next
    }

    /// The row of a pass, and the words whose tags it asks for.
    fn row(&self, pass: Pass) -> Row {
        let stopped = matches!(pass.cause, FreezeCause::Utterance | FreezeCause::End);
        match self.policy.settling.filter(|settling| settling.is_by(&pass)) {
            Some(rules) => {
                let (row, _) = self.settled.step(pass.upto, false, &rules, &self.buffer, &self.policy);
                row.tagging_last((pass.upto - self.buffer.frozen()) as usize, self.buffer.label())
            }
            None => open_row(&self.settled, pass.upto, &[], stopped, &self.buffer, &self.policy),
        }
    }

    /// Whether the stream's states are being made again.
    pub fn is_making_states_again(&self) -> bool {
        self.again.is_some()
    }

    /// The oldest planned words go out as spoken, because more words wait for the model than the stream's share.
    pub fn give_up(&mut self, now: Time, out: &mut Vec<StreamOutput>) {
        let kind = match self.in_flight.take() {
            Some(InFlight { kind, .. }) => Some(kind),
            None if self.again.is_some() => Some(RequestKind::Again(self.settled)),
            None => self.plan.next(self.buffer.frozen(), &self.policy).map(RequestKind::Pass),
        };
        if let Some(kind) = kind {
            self.answered(kind, None, now, out);
            self.settle(out);
        }
    }

    /// Takes the answer to request `id`. An answer to a request that is no longer in flight changes nothing.
    pub fn answer(&mut self, id: u64, outcome: &Outcome, now: Time, out: &mut Vec<StreamOutput>) {
        if self.in_flight.as_ref().is_none_or(|f| f.id != id) {
            return;
        }
        let kind = self.in_flight.take().expect("just seen").kind;
        match (outcome, kind) {
            (Outcome::StatesGone, RequestKind::Pass(pass)) => {
                self.plan.put_back(pass);
                self.again = Some(None);
            }
            (Outcome::StatesGone, RequestKind::Again(_)) => self.again = Some(None),
            // States are not made again for a hypothesis. The hypothesis is shown as spoken, and final words will
            // follow.
            (Outcome::StatesGone | Outcome::Failed, kind) => self.answered(kind, None, now, out),
            (Outcome::Tags(tags), kind) => self.answered(kind, Some(tags), now, out),
        }
        self.settle(out);
    }

    fn answered(&mut self, kind: RequestKind, tags: Option<&[Tags]>, now: Time, out: &mut Vec<StreamOutput>) {
        match kind {
            RequestKind::Again(settled) if tags.is_some() => self.again = Some(Some(settled)),
            // The pass that waits for the states runs without them.
            RequestKind::Again(_) => {
                self.again = None;
                if let Some(pass) = self.plan.next(self.buffer.frozen(), &self.policy) {
                    self.answered(RequestKind::Pass(pass), None, now, out);
                }
            }
            RequestKind::Pass(pass) => {
                if let Some(rules) = self.policy.settling.filter(|settling| settling.is_by(&pass)) {
                    // Whether the pass was answered or not, the states that it settles can be made again.
                    (_, self.settled) = self.settled.step(pass.upto, false, &rules, &self.buffer, &self.policy);
                }
                self.progress.seen = pass.upto;
                if let Some(tags) = tags {
                    self.buffer.predict(pass.upto, tags);
                }
                let before = self.buffer.frozen();
                self.buffer.freeze(pass.freeze_to, pass.upto, now, pass.cause, tags.is_none());
                if tags.is_none() {
                    self.progress.counts.degraded += self.buffer.input_words(before, self.buffer.frozen());
                }
                if let (ReleaseRule::Predicted { trailing }, Some(_)) = (self.policy.rule, tags) {
                    while let Some(cut) =
                        release::predicted(&self.buffer, &self.policy, &self.progress.channel_context.before, trailing, pass.upto)
                    {
                        self.buffer.freeze(cut, pass.upto, now, FreezeCause::Released, false);
                        self.plan.cover(cut);
                        self.release(cut, self.buffer.frozen(), pass.upto, out);
                    }
                }
                // The release rule is not told that the stream has ended, even if it has, because that depends on when
                // the device answered. `settle` handles the end.
                while let Some(cut) = release::by_rule(&self.buffer, &self.policy, &self.progress.channel_context.before, false) {
                    self.release(cut, self.buffer.frozen(), self.buffer.frozen(), out);
                }
                while self.buffer.frozen() - self.buffer.released() > self.policy.max_buffer_words
                    // Words of one figure that is not all frozen yet wait for the rest of it.
                    && let Some(cut) = release::forced(&self.buffer, &self.policy, &self.progress.channel_context.before)
                {
                    self.release(cut, self.buffer.frozen(), self.buffer.frozen(), out);
                }
            }
            RequestKind::Hypothesis { known, revision } => {
                let Some(tags) = tags else { return };
                if let Some(h) = self.hypothesis.as_mut().filter(|h| h.revision == revision) {
                    let before = h.answered(tags);
                    if known == self.buffer.total() {
                        self.buffer.predict(known, &tags[..before]);
                    }
                }
            }
        }
    }

    fn all_frozen_and_ending(&self) -> bool {
        self.is_ending() && self.buffer.frozen() == self.buffer.total()
    }

    /// Closes the epoch once all its words are frozen.
    fn settle(&mut self, out: &mut Vec<StreamOutput>) {
        if !self.all_frozen_and_ending() {
            return;
        }
        while let Some(cut) = release::by_rule(&self.buffer, &self.policy, &self.progress.channel_context.before, true) {
            self.release(cut, self.buffer.total(), self.buffer.total(), out);
        }
        if self.buffer.released() < self.buffer.total() {
            self.release(self.buffer.total(), self.buffer.total(), self.buffer.total(), out);
        }
        let cause = self.progress.ending.expect("it is ending");
        out.push(StreamOutput::Closed { seq: self.progress.seq, counts: self.progress.counts, cause });
    }

    /// Lets an ended stream without open words close. Call once after `push` or `end`.
    pub fn close_if_done(&mut self, out: &mut Vec<StreamOutput>) {
        self.settle(out);
    }

    /// Releases the words before `cut`. Redaction may look at those before `known`; the latest pass saw those before `seen`, or more.
    fn release(&mut self, cut: u64, known: u64, seen: u64, out: &mut Vec<StreamOutput>) {
        let from = self.buffer.released();
        let turn_ends = cut < seen && self.buffer.get(cut).word.begins_turn();
        let more = !(self.all_frozen_and_ending() && self.ends_for_good());
        let before = self.progress.channel_context.before.clone();
        let around = |from: u64, to: u64| {
            let mut around = String::new();
            let entries = self.buffer.range(from, to);
            entries.for_each(|e| add_around(&mut around, &e.word.parts, release::is_kept(e, &self.policy)));
            around
        };
        let after = around(cut, known.min(cut + MAX_AFTER)).into();
        let left = around(from, cut);
        self.progress.channel_context.left(&left, self.policy.redaction.is_some());
        let mut base = self.buffer.frozen().saturating_sub(self.policy.history_words);
        if self.policy.settling.is_some() {
            base = base.min(self.settled.needs_from(&self.policy));
        }
        let entries = self.buffer.release(cut, base);
        let sentence_start = self.progress.sentence_start;
        for entry in &entries {
            let tags = entry.tags.unwrap_or_default();
            let leaves = entry.word.removal(tags.disfluency, self.policy.verbatim).is_some();
            self.progress.counts.removed += if leaves { entry.word.src[1] - entry.word.src[0] } else { 0 };
            // A removed word's end mark moves to the kept word before it. A mark on a word that goes out as spoken is
            // not written.
            let ends = tags.punct.ends_sentence() && entry.word.kind != WordKind::Plain;
            self.progress.sentence_start = ends || ((self.progress.sentence_start || entry.word.begins_turn()) && leaves);
        }
        self.progress.sentence_start |= turn_ends;
        out.push(StreamOutput::Release(Release {
            seq: self.progress.seq,
            from,
            sentence_start,
            turn_ends,
            before,
            after,
            more,
            entries,
        }));
        self.progress.seq += 1;
        self.progress.counts.segments += 1;
    }

    /// The source of the last word, for an end record's `meta`.
    pub fn last_source(&self) -> Option<Arc<Source>> {
        self.buffer.last_source().cloned()
    }

    /// Words not frozen yet.
    pub fn unfrozen(&self) -> u64 {
        self.buffer.total() - self.buffer.frozen()
    }

    /// Words that planned passes will freeze. Other open words wait for later words or a timer, not for the model.
    pub fn pending(&self) -> u64 {
        self.plan.covered().saturating_sub(self.buffer.frozen())
    }

    /// The unreleased tail as it looks now.
    pub fn tail(&self) -> Tail {
        let (from, total) = (self.buffer.released(), self.buffer.total());
        Tail {
            from,
            sentence_start: self.progress.sentence_start,
            before: self.progress.channel_context.before.clone(),
            entries: self.buffer.range(from, total).cloned().collect(),
            hypothesis: self.hypothesis.as_ref().map_or(Vec::new(), Hypothesis::tagged),
            frozen: (self.buffer.frozen() - from) as usize,
            seq: self.progress.seq,
            seen: self.progress.seen,
        }
    }

    /// Whether a request of the stream is under way.
    pub fn has_request_in_flight(&self) -> bool {
        self.in_flight.is_some()
    }

    /// The stream's policy.
    pub fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// When its last record came.
    pub fn last_record_at(&self) -> Time {
        self.last_record_at
    }
}

/// The row of a pass that settles nothing: the unsettled words, after kept states; if there are no states, some history
/// as well. The row asks for the tags of the open words.
fn open_row(settled: &Settled, upto: u64, more: &[RowWord], stopped: bool, buffer: &Buffer, policy: &Policy) -> Row {
    let row = settled.row(upto, more, stopped, buffer, policy).unwrap_or_else(|| buffer.row(upto, more, stopped, policy));
    row.tagging_last((upto - buffer.frozen()) as usize + more.len(), buffer.label())
}
