//! Questions: what was asked for on any channel of a session, and what must be known of a stream after its words have
//! left.

use serde::{Deserialize, Serialize};

use super::lists::List;
use super::speakers::NamedSpeakers;
use super::{Redaction, RedactionWords, cues};

/// How long after a question words with the shape of an answer count as the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerWindow {
    /// words of the channel that answers
    pub words: u32,
    /// seconds in which the channel that answers speaks, by its words' times. Silence does not count: somebody who has
    /// to look for a card still answers. Words without times have no seconds
    pub seconds: u32,
}

/// The set of classes that had been asked for when a word was said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedClasses(u32);

impl AskedClasses {
    /// Whether the set has class `bit`.
    pub(super) fn has(self, bit: u8) -> bool {
        self.0 >> bit & 1 == 1
    }
}

/// When something was said: in seconds of the session, and in milliseconds since 1970 by its record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpeechTime {
    /// by the words' times
    pub said: Option<f64>,
    /// by the broker's time
    pub appended_ms: Option<i64>,
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
    /// words that were said since on the channel that answers
    words: u32,
    /// seconds in which that channel has spoken since
    speech_s: f64,
}

/// Largest number of comparable parts that are kept of words that have left: as many as a cue reaches, and a spelled
/// answer ("b as in bravo").
const MAX_BEFORE: usize = 96;
/// The same if the profile redacts nothing yet: after a reload the profile may redact.
const MAX_BEFORE_UNGUARDED: usize = 24;
/// Seconds of one record that count as speech at most.
const MAX_RECORD_SECONDS: f64 = 60.0;
/// Number of the latest comparable parts in which a question may begin.
const MAX_LATELY: usize = 12;

/// What is known of a channel after its words have left: the last words, and what was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChannelContext {
    /// comparable parts of the last words that left, separated by spaces
    pub before: Box<str>,
    /// comparable parts of the last words that came
    lately: Box<str>,
    questions: Vec<Question>,
    /// who has spoken
    pub speakers: NamedSpeakers,
}

fn last(parts: &str, more: &str, most: usize) -> Box<str> {
    let all: Vec<&str> = parts.split(' ').chain(more.split(' ')).filter(|p| !p.is_empty()).collect();
    all[all.len().saturating_sub(most)..].join(" ").into()
}

impl ChannelContext {
    /// The last comparable parts that came, separated by spaces: by the order of records alone. None where nothing is
    /// redacted.
    pub fn lately(&self) -> &str {
        &self.lately
    }

    /// Whether the context is empty.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.lately.is_empty() && self.questions.is_empty() && self.speakers.is_empty()
    }

    /// Notes words that have left, in the form of [`super::RedactionWord::add_to`].
    pub fn left(&mut self, parts: &str, guarded: bool) {
        self.before = last(&self.before, parts, if guarded { MAX_BEFORE } else { MAX_BEFORE_UNGUARDED });
    }

    /// The classes that had been asked for when the `n`th word of a record comes.
    pub fn asked(&self, redaction: &Redaction, n: u32) -> AskedClasses {
        let Some(AnswerWindow { words, seconds }) = redaction.asked_for else { return AskedClasses::default() };
        let waits = |q: &&Question| q.words.saturating_add(n) < words && q.speech_s < f64::from(seconds);
        AskedClasses(self.questions.iter().filter(waits).fold(0, |all, q| all | 1 << q.bit))
    }

    /// Notes words that have come on this channel, spoken in so many seconds: questions are so much older. Returns the
    /// classes for which the words ask.
    pub fn came(&mut self, redaction: &Redaction, parts: &str, (words, speech_s): (u32, f64), is_final: bool) -> Vec<u8> {
        let asks = if redaction.asked_for.is_some() { redaction.questions(&self.lately, parts, is_final) } else { Vec::new() };
        if is_final {
            self.lately = last(&self.lately, parts, MAX_LATELY);
            for question in &mut self.questions {
                question.words = question.words.saturating_add(words);
                question.speech_s += speech_s.clamp(0.0, MAX_RECORD_SECONDS);
            }
        }
        asks
    }

    /// Notes that somebody in the session asked for these classes.
    pub fn was_asked(&mut self, classes: &[u8], at: SpeechTime) {
        for &bit in classes {
            self.questions.retain(|q| q.bit != bit);
            self.questions.push(Question { bit, at, words: 0, speech_s: 0.0 });
        }
    }

    /// A channel that begins, or begins again, takes over the questions that were asked on another channel of its
    /// session.
    pub fn learn(&mut self, other: &ChannelContext) {
        for question in &other.questions {
            let new = Question { words: 0, speech_s: 0.0, ..*question };
            match self.questions.iter_mut().find(|q| q.bit == question.bit) {
                Some(known) if question.at.is_after(known.at) => *known = new,
                Some(_) => {}
                None => self.questions.push(new),
            }
        }
    }

    /// Notes that the channel or session ends with this record.
    pub fn over(&mut self) {
        self.lately = "".into();
        self.questions.clear();
    }

    /// The context for the channel's next epoch. `goes_on`: this epoch has broken off.
    pub fn of_next_epoch(&self, goes_on: bool) -> ChannelContext {
        ChannelContext { before: if goes_on { self.before.clone() } else { "".into() }, ..self.clone() }
    }
}

/// Words after a question without an asking word: "mother's maiden name madam".
const MAX_AFTER_QUESTION: usize = 1;
/// Parts after "the name" that may say whose: "of the other patient".
const MAX_OF_PERSON: usize = 4;
/// Parts before a cue in which the asking word may stand.
const MAX_ASKING_BEFORE: usize = 6;

/// Whether a cue asks for an answer in words: an asking word stands before it or in it, or it is the end of what was
/// said ("and the surname?").
fn asks(language: &RedactionWords, parts: &[&str], cue: &cues::FoundCue, all: &[cues::FoundCue], is_final: bool) -> bool {
    let is = |part: &str, list: List| language.has(part, list);
    let start = cue.end - cue.count;
    let cued = &parts[start..cue.end];
    let lead = &parts[start.saturating_sub(MAX_ASKING_BEFORE)..start];
    // "And you are?" asks for a name; "and you are right" does not.
    if cued.last().is_some_and(|last| is(last, List::QuestionYouAre)) {
        return is_final && cue.end == parts.len();
    }
    let denies = lead.iter().chain(cued).any(|part| is(part, List::QuestionNotAsking));
    // Talk about a security question is one.
    let is_answer = cues::CUES[usize::from(cue.bit)].class == "answer";
    let is_any = lead.last().is_some_and(|part| is(part, List::QuestionAny));
    let tells = denies || lead.iter().rev().take(2).chain(cued).any(|part| is(part, List::QuestionTelling));
    // "Full name and date of birth please": what else is asked for stands between the cue and the end.
    let is_cue = |at: usize| all.iter().any(|c| (c.end - c.count..c.end).contains(&at));
    let tail: Vec<&str> = (cue.end..parts.len()).filter(|at| !is_cue(*at)).map(|at| parts[at]).collect();
    let asks = lead.iter().chain(cued).any(|part| is(part, List::QuestionAsking))
        || tail.iter().take(3).any(|part| is(part, List::QuestionPlease));
    let content = tail.iter().filter(|part| !is(part, List::QuestionLinks)).count();
    let announces = tail.iter().take(tail.len().saturating_sub(1)).any(|part| is(part, List::Says));
    let is_end = is_final && content <= MAX_AFTER_QUESTION && (content == 0 || !announces);
    // "The name of that film", but "the name of the patient"
    let of_what = cues::CUES[usize::from(cue.bit)].class == super::NAME
        && parts.get(cue.end).is_some_and(|part| is(part, List::NameOf))
        && !parts[cue.end..].iter().take(MAX_OF_PERSON).any(|part| is(part, List::Persons));
    !of_what && !tells && (asks || is_answer && !announces || is_end && !is_any)
}

impl Redaction {
    /// The classes for which some words ask, by their index among cues. The question may have begun in `before`.
    fn questions(&self, before: &str, parts: &str, is_final: bool) -> Vec<u8> {
        let split = |text: &'_ str| text.split(' ').filter(|p| !p.is_empty()).count();
        let known = split(before);
        let parts: Vec<&str> = before.split(' ').chain(parts.split(' ')).filter(|p| !p.is_empty()).collect();
        let all = self.cues.find(&parts);
        let is = |part: &str, list: List| self.language.has(part, list);
        let is_new = |cue: &cues::FoundCue| {
            let lead = &parts[(cue.end - cue.count).saturating_sub(3)..cue.end];
            let counts = lead.windows(2).any(|two| is(two[0], List::QuestionHow) && is(two[1], List::QuestionMany));
            cue.end > known
                && self.cues.asks(cue.bit)
                && !counts
                && (!cues::needs_question(cue.bit) || asks(&self.language, &parts, cue, &all, is_final))
        };
        let mut found: Vec<u8> = all.iter().filter(|cue| is_new(cue)).map(|cue| cue.bit).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}
