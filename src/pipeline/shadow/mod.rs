//! The shadow: a profile's challenger runs beside the profile, on live speech and after everybody else's work. Counts
//! of differences leave and, where the settings want them, samples without anything that either profile redacts.
//!
//! ```text
//!  partition task ──what was said, what was made──▶ inbox (bounded) ──▶ shadow task: streams of the challenger, pairs
//!   never waits                                     full: all is dropped                │
//!                                                                                       ▼
//!                                                                      counts of words and differences (metrics), samples
//! ```
//!
//! The shadow has streams, kept states and a lane of its own, so nothing of it can change what is published, committed
//! or charged to a quota. Its states are not in the changelog: after a takeover it begins with new streams. Whatever it
//! cannot follow (a full inbox, answers that come too late, a reload) it drops and counts. An order to erase a session
//! erases the session here, too.

mod feed;
mod pair;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use feed::{Heard, Numbered};
pub use feed::{ShadowFeed, ShadowInbox, feed};
use pair::{Comparison, Pair};

use super::Shared;
use super::active_settings::ActiveSettings;
use super::clock::{Clock, sleep_until};
use super::panics;
use super::partition::intake::{Speech, record_of};
use crate::config::Profile;
use crate::events;
use crate::infer::queue::Lane;
use crate::infer::second::SpanRequest;
use crate::infer::{Answer, Outcome, Request};
use crate::record::{End, Segment, ShadowSample};
use crate::session::Time;
use crate::session::map::{Sessions, StreamLimits};
use crate::session::output::{RequestBody, StreamEvent, StreamKey, StreamOutput};
use crate::session::policy::Policy;

/// Open streams of a partition's shadow at most. Further streams have no shadow.
const MAX_STREAMS: usize = 1_000;
/// Words that wait for the model at most. With more the shadow is behind and drops everything.
const MAX_PENDING_WORDS: u64 = 5_000;
/// Requests under way at most.
const MAX_IN_FLIGHT: usize = 8;
/// Samples of one comparison at most, so that they are of many calls.
const SAMPLES_AT_ONCE: usize = 3;
/// How long an answer is waited for. Everybody else's work comes first.
const PATIENCE_MS: u64 = 60_000;

/// Why a shadow dropped what it had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dropped {
    /// it could not keep up
    Behind,
    /// settings were reloaded
    Reload,
    /// some words were published or decoded as spoken, so they say nothing of the challenger
    Degraded,
    /// the program panicked over it
    Panic,
    /// as many streams as may have a shadow have one
    Full,
}

impl Dropped {
    fn name(self) -> &'static str {
        match self {
            Dropped::Behind => "behind",
            Dropped::Reload => "reload",
            Dropped::Degraded => "degraded",
            Dropped::Panic => "panic",
            Dropped::Full => "full",
        }
    }
}

/// Takes a sample, to be sent.
pub type OnSample = Box<dyn Fn(ShadowSample) + Send>;

/// Follows a partition until its task has ended. `on_sample` takes samples, as many as `shadow.samples_per_minute`
/// allows.
pub async fn run(shared: Arc<Shared>, mut inbox: ShadowInbox, on_sample: OnSample) {
    let mut shadow = Shadow::new(shared, Clock::wall(), on_sample);
    loop {
        let wake = shadow.sessions.next_due().map(|due| shadow.clock.instant(due));
        tokio::select! {
            heard = inbox.heard.recv() => match heard {
                Some(heard) => shadow.guarded(|shadow| shadow.take(heard, &inbox)),
                None => return,
            },
            answer = shadow.answers.recv() => shadow.guarded(|shadow| answer.into_iter().for_each(|a| shadow.answered(a))),
            () = sleep_until(wake) => shadow.guarded(Shadow::tick),
        }
    }
}

/// The shadow of one partition.
struct Shadow {
    shared: Arc<Shared>,
    clock: Clock,
    sessions: Sessions,
    /// the name under which its streams keep states
    owner: u64,
    pairs: HashMap<(StreamKey, i64), Pair>,
    answers: UnboundedReceiver<Answer>,
    reply: UnboundedSender<Answer>,
    settings: Arc<ActiveSettings>,
    /// number of the next input
    next: u64,
    on_sample: OnSample,
    /// what it has counted, for tests
    #[cfg(test)]
    log: tests::Log,
}

fn no_sessions(shared: &Shared, now: Time) -> Sessions {
    let d = &shared.settings.decode;
    // A stream more than there may be, because the table would end its oldest stream to make room.
    let limits = StreamLimits { max_streams: MAX_STREAMS + 1, session_ttl_ms: d.session_ttl_ms, late_ttl_ms: d.late_ttl_ms };
    let mut sessions = Sessions::new(limits);
    sessions.caught_up(now, 0); // it hears live speech only
    sessions
}

impl Shadow {
    fn new(shared: Arc<Shared>, clock: Clock, on_sample: OnSample) -> Shadow {
        let (reply, answers) = unbounded_channel();
        Shadow {
            sessions: no_sessions(&shared, clock.now()),
            owner: shared.shadow_states.owner(),
            settings: shared.active_settings(),
            pairs: HashMap::new(),
            next: 0,
            on_sample,
            #[cfg(test)]
            log: tests::Log::default(),
            clock,
            answers,
            reply,
            shared,
        }
    }

    /// Does a step. A panic costs the shadow what it has, and nothing else.
    fn guarded(&mut self, step: impl FnOnce(&mut Shadow)) {
        let done = panics::caught(|| {
            step(self);
            self.gather();
            self.submit_requests();
        });
        if done.is_none() {
            self.drop_all(Dropped::Panic);
        }
    }

    /// Forgets everything. Streams that open later have a shadow again.
    fn drop_all(&mut self, why: Dropped) {
        self.count_dropped(self.pairs.len(), why);
        self.pairs.clear();
        self.sessions = no_sessions(&self.shared, self.clock.now());
        self.shared.shadow_states.forget_all(self.owner);
        // Streams are numbered anew: answers to the old ones must not reach the new ones.
        (self.reply, self.answers) = unbounded_channel();
        self.owner = self.shared.shadow_states.owner();
    }

    fn count_dropped(&mut self, streams: usize, why: Dropped) {
        if streams > 0 {
            #[cfg(test)]
            self.log.dropped.push(why.name());
            events::ShadowDropped { streams, why: why.name() }.emit();
        }
    }

    /// Forgets a session.
    fn forget(&mut self, session: &Arc<str>, why: Option<Dropped>) {
        let ids = self.sessions.erase(session, i64::MAX).unwrap_or_default();
        ids.into_iter().for_each(|id| self.shared.shadow_states.forget(self.owner, id));
        let before = self.pairs.len();
        self.pairs.retain(|(key, _), _| key.session != *session);
        why.into_iter().for_each(|why| self.count_dropped(before - self.pairs.len(), why));
    }

    fn take(&mut self, heard: Numbered, inbox: &ShadowInbox) {
        if inbox.overflowed.swap(false, Ordering::Relaxed) {
            self.drop_all(Dropped::Behind);
        }
        // What did not fit into the inbox is missing here.
        if heard.number != self.next {
            self.drop_all(Dropped::Behind);
        }
        self.next = heard.number + 1;
        let settings = self.shared.active_settings();
        if !Arc::ptr_eq(&settings, &self.settings) {
            self.settings = settings;
            self.drop_all(Dropped::Reload);
        }
        match heard.heard {
            Heard::Said { speech, challenger, opens } => self.said(*speech, &challenger, opens),
            Heard::Made(segment) => self.made(&segment),
            Heard::Erased(session) => self.forget(&session, None),
        }
    }

    /// Takes what was said in a stream. `opens`: it opened the stream.
    fn said(&mut self, speech: Speech, challenger: &str, opens: bool) {
        let (session, channel) = (speech.session.clone(), speech.segment.channel.clone());
        let key = StreamKey { session: session.clone(), channel: (&*channel).into() };
        let open = self.sessions.profile_of(&session, &channel);
        let mut speech = speech;
        if open.is_none() && !opens {
            // It has not heard how this stream began. The end of a session ends the session's other streams.
            if speech.segment.end != Some(End::Session) || !self.pairs.keys().any(|(key, _)| key.session == session) {
                return;
            }
            speech.segment.words.clear();
        }
        if open.is_none() && opens && self.sessions.len() >= MAX_STREAMS {
            return self.count_dropped(1, Dropped::Full);
        }
        let profile = speech.profile.name.clone();
        speech.profile = self.settings.profiles.named(challenger).clone();
        let (name, policy) = open.unwrap_or_else(|| (speech.profile.name.clone(), Arc::new(shadow_policy(&speech.profile))));
        let (offset, now) = (speech.record.offset, self.clock.now());
        if opens {
            let samples = if self.shared.sample_limit.is_on() { SAMPLES_AT_ONCE } else { 0 };
            self.pairs.insert((key, offset), Pair::new(profile, name.clone(), samples));
        }
        let record = record_of(&self.shared, speech, policy, None);
        self.sessions.accept(&session, &channel, &name, record, now);
        if self.sessions.pending_words() > MAX_PENDING_WORDS {
            self.drop_all(Dropped::Behind);
        }
    }

    /// Takes a segment that the profile made.
    fn made(&mut self, segment: &Segment) {
        self.add(segment, Pair::made);
    }

    fn answered(&mut self, answer: Answer) {
        let now = self.clock.now();
        self.sessions.answer(answer.stream, answer.request_id, &answer.outcome, now);
    }

    fn tick(&mut self) {
        let now = self.clock.now();
        self.sessions.tick(now);
    }

    fn submit_requests(&mut self) {
        let now = self.clock.now();
        while self.sessions.in_flight() < MAX_IN_FLIGHT
            && let Some((stream, request)) = self.sessions.next_request(now, false)
        {
            let (request_id, due, reply) = (request.id, self.clock.instant(request.due), self.reply.clone());
            let (models, lane) = (&self.shared.models, Lane::Shadow);
            match request.asks {
                RequestBody::Tags(row) => models.of(row.template).infer.submit(Request {
                    kept: self.shared.shadow_states.clone(),
                    owner: self.owner,
                    stream,
                    request_id,
                    trace: None,
                    tenant: None, // nobody is charged
                    row,
                    lane,
                    due,
                    reply,
                }),
                RequestBody::Known(tags) => {
                    // The answer comes to this task, which has not gone.
                    let _ = reply.send(Answer { stream, request_id, outcome: Outcome::Tags(tags.into()) });
                }
                RequestBody::Spans(questions) => {
                    let second = models.second.as_ref().expect("streams ask it only where it is loaded");
                    let tenant = None; // nobody is charged
                    second.submit(SpanRequest { stream, request_id, questions, lane, due, tenant, reply });
                }
            }
        }
    }

    /// Compares what the challenger has made.
    fn gather(&mut self) {
        self.sessions.forget_changes();
        for StreamEvent { stream, output } in self.sessions.take_events() {
            let formatter = &self.shared.formatter;
            let segment = match output {
                StreamOutput::Release(release) => {
                    let by_inference = release.entries.iter().any(|e| e.freeze.is_some_and(|f| f.degraded));
                    let (segment, _) = formatter.segment(&stream, &release);
                    Segment { degraded: segment.degraded || by_inference, ..segment }
                }
                StreamOutput::Turn { .. } => continue, // its segment says so, too
                StreamOutput::Closed { seq, counts, cause, timing } => {
                    self.shared.shadow_states.forget(self.owner, stream.id);
                    formatter.end(&stream, seq, counts, cause, timing)
                }
            };
            self.add(&segment, Pair::challenger_made);
        }
    }

    fn add(&mut self, segment: &Segment, side: impl Fn(&mut Pair, &Segment) -> Comparison) {
        let key = StreamKey { session: segment.session.clone(), channel: segment.channel.clone() };
        let key = (key, segment.epoch);
        let Some(pair) = self.pairs.get_mut(&key) else { return };
        if segment.degraded || pair.is_stuck() {
            let why = if segment.degraded { Dropped::Degraded } else { Dropped::Behind };
            return self.forget(&segment.session, Some(why));
        }
        let comparison = side(pair, segment);
        #[cfg(test)]
        self.log.compared.push(comparison.clone());
        let Comparison { segments, words, differences, samples } = comparison;
        if words > 0 {
            let (profile, challenger) = (&*pair.profile, &*pair.challenger);
            events::ShadowCompared { profile, challenger, segments, words }.emit();
            for (kind, places) in differences {
                events::ShadowDiffers { profile, challenger, kind: kind.name(), places }.emit();
            }
            for place in samples {
                if !self.shared.sample_limit.allows() {
                    break;
                }
                let (session, channel) = (segment.session.clone(), segment.channel.clone());
                let (of, against) = (pair.profile.clone(), pair.challenger.clone());
                (self.on_sample)(ShadowSample {
                    session,
                    channel,
                    epoch: segment.epoch,
                    profile: of,
                    challenger: against,
                    place,
                });
                events::ShadowSampled { profile, challenger }.emit();
            }
        }
        if pair.is_over() {
            self.pairs.remove(&key);
        }
    }
}

/// How a challenger decodes in the shadow: as it would in public, but nobody waits for its answers.
fn shadow_policy(challenger: &Profile) -> Policy {
    let policy = &challenger.policy;
    Policy { inference_timeout_ms: PATIENCE_MS, backlog_timeout_ms: PATIENCE_MS, partials: false, ..(**policy).clone() }
}

impl Drop for Shadow {
    fn drop(&mut self) {
        self.shared.shadow_states.forget_all(self.owner);
    }
}
