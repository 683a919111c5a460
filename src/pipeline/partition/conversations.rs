//! The conversations of a partition's sessions: what they hear, when they wait, and when they are forgotten.
//!
//! A [`Conversation`] is pure. This file gives it the segments, the ends, how far the session's words have left, and the
//! clock. Everything happens where segments are made, so a checkpoint has a segment, its turns and the conversation's
//! state together, or none of them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::config::Settings;
use crate::conversation::{Conversation, LabelCounts, ListeningWords, MadeTurn, StateError, TokenPlace, TurnLimits, TurnRules};
use crate::events;
use crate::kafka::notes::PartitionNote;
use crate::record::{End, LateLabel, Segment, Timing};
use crate::session::Time;
use crate::session::buffer::BufferedWord;
use crate::session::map::Sessions;
use crate::session::output::StreamRef;

/// A state to pack: its session, and the conversation if there still is one.
pub type ChangedConversation = (Arc<str>, Option<Conversation>);

struct Held {
    conversation: Conversation,
    /// when the session was last heard, or something of it left
    active: Time,
    /// when the clock has waited for long enough
    due: Option<Time>,
    /// when it is forgotten, because all its channels have ended
    over: Option<Time>,
}

/// The conversations of a partition; see the module. Without a topic there are none.
pub struct Conversations {
    rules: Option<TurnRules>,
    late_ttl_ms: u64,
    /// most ended conversations that are remembered
    limit: usize,
    of: HashMap<Arc<str>, Held>,
    due: BTreeSet<(Time, Arc<str>)>,
    over: BTreeSet<(Time, Arc<str>)>,
    /// sessions of which something came or left since turns were last asked for
    touched: BTreeSet<Arc<str>>,
    /// sessions whose states the changelog does not have yet
    changed: BTreeSet<Arc<str>>,
    /// whether delays count
    running: bool,
}

impl Conversations {
    /// None yet. There will be none where the settings name no topic for them. `listening`: of the languages in use.
    pub fn new(settings: &Settings, listening: Arc<ListeningWords>) -> Conversations {
        let c = &settings.conversation;
        let rules = TurnRules {
            wait_ms: c.wait_ms,
            silence_ms: c.silence_ms,
            max_turn_words: c.max_turn_words,
            label_window_ms: c.label_window_ms,
            listening,
            limits: TurnLimits::default(),
        };
        Conversations {
            rules: settings.has_conversation().then_some(rules),
            late_ttl_ms: settings.decode.late_ttl_ms,
            limit: settings.decode.max_streams_per_partition,
            of: HashMap::new(),
            due: BTreeSet::new(),
            over: BTreeSet::new(),
            touched: BTreeSet::new(),
            changed: BTreeSet::new(),
            running: false,
        }
    }

    fn held(&mut self, session: &Arc<str>, offset: i64, now: Time) -> &mut Held {
        self.touched.insert(session.clone());
        self.changed.insert(session.clone());
        let new = || Held { conversation: Conversation::new(session.clone(), offset), active: now, due: None, over: None };
        self.of.entry(session.clone()).or_insert_with(new)
    }

    /// A record of the session was taken. `end`: what ends with it.
    pub fn heard(&mut self, session: &Arc<str>, channel: &Arc<str>, (offset, end): (i64, Option<End>), now: Time) {
        if self.rules.is_none() {
            return;
        }
        let held = self.held(session, offset, now);
        held.active = now;
        match end {
            Some(End::Channel) => held.conversation.ends(offset, Some(channel)),
            Some(End::Session) => held.conversation.ends(offset, None),
            Some(End::Utterance) | None => {}
        }
    }

    /// A final segment of a language was made of these words, with what shows in the languages in use that somebody
    /// listens. `shown`: what readers get of a speaker's label.
    pub fn made(
        &mut self,
        (segment, (language, listening)): (&Segment, (Arc<str>, Arc<ListeningWords>)),
        words: &[BufferedWord],
        shown: impl Fn(&Arc<str>) -> Option<Arc<str>>,
        now: Time,
    ) {
        let Some(rules) = &mut self.rules else { return };
        rules.listening = listening;
        let place = |src: u64| {
            let at = words.partition_point(|entry| entry.word.src[1] <= src).min(words.len().saturating_sub(1));
            let source = words.get(at).map(|entry| &entry.word.source);
            let offset = source.map_or(segment.epoch, |source| source.offset);
            let counted = words.get(at).and_then(|entry| entry.word.counted.as_ref()?.label.as_ref());
            let speaker = counted.and_then(&shown);
            let voice = counted.filter(|label| speaker.as_ref() != Some(label)).cloned();
            TokenPlace { offset, appended_ms: source.and_then(|source| source.timestamp_ms), speaker, voice }
        };
        let held = self.held(&segment.session, segment.epoch, now);
        held.active = now;
        held.conversation.said((segment, &language), place, now.0);
    }

    /// The record at `offset` says who spoke in a channel. A session that is not held has no turns that could change.
    pub fn labelled(&mut self, session: &Arc<str>, channel: &Arc<str>, offset: i64, labels: Vec<LateLabel>) {
        match self.of.get_mut(session) {
            Some(held) => {
                held.conversation.labelled(offset, channel, labels);
                self.touched.insert(session.clone());
                self.changed.insert(session.clone());
            }
            None => events::LateLabels { applied: 0, missed: labels.len() as u64 }.emit(),
        }
    }

    /// A stream has ended with these decisions of the clock.
    pub fn closed(&mut self, stream: &StreamRef, timing: &[Timing], now: Time) {
        if self.rules.is_none() || !self.of.contains_key(&stream.key.session) {
            return;
        }
        let expired = timing.iter().find_map(|decision| if let Timing::Expired(at) = decision { Some(*at) } else { None });
        let held = self.held(&stream.key.session, stream.epoch, now);
        if let Some(at) = expired {
            held.conversation.ends(at - 1, Some(&stream.key.channel));
        }
    }

    /// The input has ended before the record at `next_offset`: so have all sessions.
    pub fn end_all(&mut self, next_offset: i64, now: Time) {
        let sessions: Vec<Arc<str>> = self.of.keys().cloned().collect();
        for session in sessions {
            self.held(&session, next_offset, now).conversation.ends(next_offset - 1, None);
        }
    }

    /// The turns that go now. `next_offset`: of the partition's next record.
    pub fn turns(&mut self, sessions: &Sessions, next_offset: i64, now: Time) -> Vec<MadeTurn> {
        let Some(rules) = self.rules.clone() else { return Vec::new() };
        let mut out = Vec::new();
        for session in std::mem::take(&mut self.touched) {
            let Some(held) = self.of.get_mut(&session) else { continue };
            let upto = sessions.oldest_open(&session).map_or(next_offset, |open| open.min(next_offset));
            out.extend(held.conversation.advance(upto, &rules));
            let LabelCounts { applied, missed } = held.conversation.take_label_counts();
            events::LateLabels { applied, missed }.emit();
            self.plan(&session, sessions.has_open(&session), now);
        }
        out
    }

    /// Decides when the clock looks at a conversation again.
    fn plan(&mut self, session: &Arc<str>, is_open: bool, now: Time) {
        let (Some(rules), Some(held)) = (&self.rules, self.of.get_mut(session)) else { return };
        let due = (self.running && held.conversation.has_open_words()).then(|| held.active.plus(rules.wait_ms));
        let is_over = held.conversation.is_empty() && !is_open;
        let over = is_over.then(|| held.over.unwrap_or(now.plus(self.late_ttl_ms)));
        move_to(&mut self.due, &mut held.due, due, session);
        move_to(&mut self.over, &mut held.over, over, session);
        if self.over.len() > self.limit
            && let Some((_, oldest)) = self.over.first().cloned()
        {
            self.forget(&oldest);
        }
    }

    /// From now on delays count.
    pub fn caught_up(&mut self, sessions: &Sessions, now: Time) {
        self.running = true;
        let all: Vec<Arc<str>> = self.of.keys().cloned().collect();
        for session in all {
            self.of.get_mut(&session).expect("just listed").active = now;
            self.plan(&session, sessions.has_open(&session), now);
        }
    }

    /// When the clock is to look next.
    pub fn next_due(&self) -> Option<Time> {
        self.due.first().into_iter().chain(self.over.first()).map(|(at, _)| *at).min()
    }

    /// Lets time pass. Gives the turns for which the clock has waited for long enough.
    pub fn tick(&mut self, sessions: &Sessions, next_offset: i64, now: Time) -> Vec<MadeTurn> {
        let Some(rules) = self.rules.clone() else { return Vec::new() };
        let mut out = Vec::new();
        while let Some((_, session)) = self.due.first().filter(|(at, _)| *at <= now).cloned() {
            let held = self.of.get_mut(&session).expect("due names conversations that are held");
            // Open words have bounds of their own; the clock waits again once they have left.
            if held.conversation.is_behind() || sessions.oldest_open(&session).is_some() {
                held.active = now;
            } else {
                out.extend(held.conversation.waited(next_offset, &rules));
                self.changed.insert(session.clone());
            }
            self.plan(&session, sessions.has_open(&session), now);
        }
        while let Some((_, session)) = self.over.first().filter(|(at, _)| *at <= now).cloned() {
            self.forget(&session);
        }
        out
    }

    /// Forgets a conversation, and what the changelog knows of it.
    pub fn forget(&mut self, session: &Arc<str>) {
        let Some(mut held) = self.of.remove(session) else { return };
        move_to(&mut self.due, &mut held.due, None, session);
        move_to(&mut self.over, &mut held.over, None, session);
        self.touched.remove(session);
        self.changed.insert(session.clone());
    }

    /// Takes a conversation over from the last owner. Where there are none any more, its state leaves the changelog.
    ///
    /// # Errors
    /// The state cannot be used. The conversation begins anew, and what waited in it is missing from its turns.
    pub fn restore(&mut self, session: &str, value: &[u8], is_open: bool, now: Time) -> Result<(), StateError> {
        let session: Arc<str> = session.into();
        if self.rules.is_none() {
            self.changed.insert(session);
            return Ok(());
        }
        let conversation = Conversation::from_bytes(&session, value).inspect_err(|_| _ = self.changed.insert(session.clone()))?;
        self.of.insert(session.clone(), Held { conversation, active: now, due: None, over: None });
        self.plan(&session, is_open, now);
        Ok(())
    }

    /// The states that have changed since the last call.
    pub fn take_changed(&mut self) -> Vec<ChangedConversation> {
        let changed = std::mem::take(&mut self.changed).into_iter();
        changed.map(|session| (session.clone(), self.of.get(&session).map(|held| held.conversation.clone()))).collect()
    }
}

/// The changelog's record of a state.
pub fn to_record((session, conversation): ChangedConversation, applied: i64) -> (Vec<u8>, Option<Vec<u8>>) {
    (PartitionNote::conversation_key(&session), conversation.map(|conversation| conversation.to_bytes(applied)))
}

/// Moves a session to its new place in an index.
fn move_to(index: &mut BTreeSet<(Time, Arc<str>)>, current: &mut Option<Time>, new: Option<Time>, session: &Arc<str>) {
    if let Some(old) = current.take() {
        index.remove(&(old, session.clone()));
    }
    if let Some(new) = new {
        index.insert((new, session.clone()));
    }
    *current = new;
}
