//! The stream's requests to the model, and what becomes of the answers.
//!
//! At most one request is under way. Passes of the plan come first, in the plan's order. A hypothesis is shown to the
//! model only when no pass waits. If kept states are gone, the settling passes that made them are run again before the
//! pass that needs the states.

use super::Stream;
use crate::infer::{Outcome, Row, RowWord};
use crate::session::buffer::{Buffer, FreezeCause};
use crate::session::output::{InferenceRequest, StreamOutput};
use crate::session::plan::Pass;
use crate::session::policy::{Policy, ReleaseRule};
use crate::session::settle::Settled;
use crate::session::{Time, release};
use crate::tags::Tags;

/// What a request asks for.
#[derive(Debug)]
pub(super) enum RequestKind {
    Pass(Pass),
    /// a settling pass that is run again because its states are gone, and how far it settles words
    Again(Settled),
    /// a pass for a hypothesis: the final words known when it was asked, and the hypothesis
    Hypothesis {
        known: u64,
        revision: u64,
    },
}

/// The request under way.
#[derive(Debug)]
pub(super) struct InFlight {
    id: u64,
    pub(super) kind: RequestKind,
    pub(super) due: Time,
}

impl Stream {
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
            self.close_if_done(out);
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
        self.close_if_done(out);
    }

    /// Takes the answer to a request of this kind; `None`: there is none, and its words go out as spoken.
    pub(super) fn answered(&mut self, kind: RequestKind, tags: Option<&[Tags]>, now: Time, out: &mut Vec<StreamOutput>) {
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
                // the device answered. `close_if_done` handles the end.
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
}

/// The row of a pass that settles nothing: the unsettled words, after kept states; if there are no states, some history
/// as well. The row asks for the tags of the open words.
fn open_row(settled: &Settled, upto: u64, more: &[RowWord], stopped: bool, buffer: &Buffer, policy: &Policy) -> Row {
    let row = settled.row(upto, more, stopped, buffer, policy).unwrap_or_else(|| buffer.row(upto, more, stopped, policy));
    row.tagging_last((upto - buffer.frozen()) as usize + more.len(), buffer.label())
}
