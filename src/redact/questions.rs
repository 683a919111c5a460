//! What was asked for, on any channel of a session, and what of a stream must be known after its words have left.

use serde::{Deserialize, Serialize};

use super::Redaction;

/// For so long after somebody has asked for something, what has the shape of an answer is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerWindow {
    /// words of the channel that answers
    pub words: u32,
    /// seconds, by the words' times where they have them, else by those of their records
    pub seconds: u32,
}

/// Classes that had been asked for when a word was said: a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedClasses(u16);

impl AskedClasses {
    /// Whether class `bit` is among them.
    pub(super) fn has(self, bit: u8) -> bool {
        self.0 >> bit & 1 == 1
    }
}

/// When something was said: seconds of the session, and milliseconds since 1970 of its record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpeechTime {
    /// by the words
    pub said: Option<f64>,
    /// by the broker
    pub appended_ms: Option<i64>,
}

impl SpeechTime {
    /// Whether this is more than so many seconds after `before`, as far as anybody can tell.
    fn is_later(self, before: SpeechTime, seconds: u32) -> bool {
        match (self.said.zip(before.said), self.appended_ms.zip(before.appended_ms)) {
            (Some((now, then)), _) => now - then > f64::from(seconds),
            (None, Some((now, then))) => now - then > 1000 * i64::from(seconds),
            (None, None) => false,
        }
    }
}

impl SpeechTime {
    fn is_after(self, other: SpeechTime) -> bool {
        match (self.appended_ms.zip(other.appended_ms), self.said.zip(other.said)) {
            (Some((a, b)), Some((c, d))) if a == b => c > d,
            (Some((a, b)), _) => a > b,
            (None, Some((c, d))) => c > d,
            (None, None) => false,
        }
    }
}

/// A question that is waiting for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Question {
    bit: u8,
    at: SpeechTime,
    /// words that have been said since, on the channel that has it
    words: u32,
}

/// Comparable parts that are kept of what has left, at most: as far as a cue reaches, and an answer that is spelled ("b as in bravo").
const MAX_BEFORE: usize = 96;
/// The same where nothing is redacted, yet: a profile may redact from a reload on.
const MAX_BEFORE_UNGUARDED: usize = 24;
/// Comparable parts of what came last that a question may begin in.
const MAX_LATELY: usize = 8;

/// What is known of a channel once its words have left: the last of them, and what was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChannelContext {
    /// comparable parts of the last words that left, separated by spaces
    pub before: Box<str>,
    /// comparable parts of the last words that came
    lately: Box<str>,
    questions: Vec<Question>,
}

fn last(parts: &str, more: &str, most: usize) -> Box<str> {
    let all: Vec<&str> = parts.split(' ').chain(more.split(' ')).filter(|p| !p.is_empty()).collect();
    all[all.len().saturating_sub(most)..].join(" ").into()
}

impl ChannelContext {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.lately.is_empty() && self.questions.is_empty()
    }

    /// Words have left, with what [`super::add_around`] writes down of them.
    pub fn left(&mut self, parts: &str, guarded: bool) {
        self.before = last(&self.before, parts, if guarded { MAX_BEFORE } else { MAX_BEFORE_UNGUARDED });
    }

    /// What had been asked for when a word comes that is the `n`th of its record.
    pub fn asked(&self, redaction: &Redaction, n: u32, now: SpeechTime) -> AskedClasses {
        let Some(AnswerWindow { words, seconds }) = redaction.asked_for else { return AskedClasses::default() };
        let waits = |q: &&Question| q.words.saturating_add(n) < words && !now.is_later(q.at, seconds);
        AskedClasses(self.questions.iter().filter(waits).fold(0, |all, q| all | 1 << q.bit))
    }

    /// Words have come on this channel: questions are so many words older. Gives the classes they ask for.
    pub fn came(&mut self, redaction: &Redaction, parts: &str, words: u32, is_final: bool) -> Vec<u8> {
        if redaction.asked_for.is_none() {
            return Vec::new();
        }
        let asks = redaction.questions(&self.lately, parts);
        if is_final {
            self.lately = last(&self.lately, parts, MAX_LATELY);
            self.questions.iter_mut().for_each(|q| q.words = q.words.saturating_add(words));
        }
        asks
    }

    /// Somebody in the session asked for these.
    pub fn was_asked(&mut self, classes: &[u8], at: SpeechTime) {
        for &bit in classes {
            self.questions.retain(|q| q.bit != bit);
            self.questions.push(Question { bit, at, words: 0 });
        }
    }

    /// A channel that begins, or begins again, learns what was asked on another one of its session meanwhile.
    pub fn learn(&mut self, other: &ChannelContext) {
        for question in &other.questions {
            let new = Question { words: 0, ..*question };
            match self.questions.iter_mut().find(|q| q.bit == question.bit) {
                Some(known) if question.at.is_after(known.at) => *known = new,
                Some(_) => {}
                None => self.questions.push(new),
            }
        }
    }

    /// The channel or session ends with a record that came.
    pub fn over(&mut self) {
        self.lately = "".into();
        self.questions.clear();
    }

    /// What the channel's next epoch must know. `goes_on`: this one has broken off.
    pub fn of_next_epoch(&self, goes_on: bool) -> ChannelContext {
        ChannelContext { before: if goes_on { self.before.clone() } else { "".into() }, ..self.clone() }
    }
}

impl Redaction {
    /// Classes, by their place among cues, that something said asks for, whose asking may have begun `before`.
    fn questions(&self, before: &str, parts: &str) -> Vec<u8> {
        let split = |text: &'_ str| text.split(' ').filter(|p| !p.is_empty()).count();
        let known = split(before);
        let parts: Vec<&str> = before.split(' ').chain(parts.split(' ')).filter(|p| !p.is_empty()).collect();
        let new =
            |at: usize| self.cues.at(&parts[at..]).filter(move |(n, _)| at + n > known).map(|(_, bit)| bit).collect::<Vec<_>>();
        let mut found: Vec<u8> = (0..parts.len()).flat_map(new).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}
