//! From tagged words to what people read: disfluencies, ITN, case, marks, alignment.
//!
//! Pure and deterministic, once [`style`] has read its files. [`apply`] is the order of design: [`units`] says what is written together, by
//! grammars ([`itn`]) and by [`dictionary`]; [`redact`] what must not leave. [`Formatter`] makes records of it.

pub mod apply;
pub mod casing;
pub mod dictionary;
pub mod itn;
pub mod numbers;
pub mod redact;
pub mod style;
pub mod units;
pub mod whole;

use std::sync::{Arc, RwLock};

use serde_json::value::RawValue;

use crate::record::{Counts, Kind, Segment};
use crate::session::Word;
use crate::session::output::{EndCause, Release, StreamRef, Tail};
use crate::tags::Tags;

pub use apply::{Formatted, Noted, Passage};
pub use casing::Lexicon;
use redact::Edges;
pub use style::{Style, Styles};

/// Makes segments of released words. One per process, shared by all partitions.
pub struct Formatter {
    styles: RwLock<Arc<Styles>>,
}

impl Formatter {
    /// Of the profiles' formatting.
    pub fn new(styles: Styles) -> Formatter {
        Formatter { styles: RwLock::new(Arc::new(styles)) }
    }

    /// From the next segment on, formats so.
    pub fn replace(&self, styles: Styles) {
        *self.styles.write().expect("no one panics while holding it") = Arc::new(styles);
    }

    fn style(&self, profile: &str) -> Arc<Style> {
        self.styles.read().expect("no one panics while holding it").of(profile).clone()
    }

    fn empty(&self, stream: &StreamRef, seq: u64, kind: Kind) -> Segment {
        let meta: Option<Box<RawValue>> = stream.source.as_ref().and_then(|s| s.meta.clone());
        Segment {
            session: stream.key.session.clone(),
            channel: stream.key.channel.clone(),
            epoch: stream.epoch,
            seq,
            kind,
            text: String::new(),
            words: Vec::new(),
            entities: Vec::new(),
            removed: Vec::new(),
            frozen: None,
            degraded: false,
            replayed: false,
            counts: None,
            cause: None,
            model: self.style(&stream.profile).model.clone(),
            profile: stream.profile.clone(),
            meta,
        }
    }

    fn fill(&self, segment: &mut Segment, passage: Passage) -> Noted {
        let done = apply::apply(passage, &self.style(&segment.profile));
        segment.text = done.text;
        segment.words = done.words;
        segment.entities = done.entities;
        segment.removed = done.removed;
        done.noted
    }

    /// The final segment of released words, and what is to be counted of it. Its `meta` is that of the record of its last word.
    pub fn segment(&self, stream: &StreamRef, release: &Release) -> (Segment, Noted) {
        let mut segment = self.empty(stream, release.seq, Kind::Final);
        let words: Vec<(&Word, Tags)> = release.entries.iter().map(|e| (&e.word, e.tags.unwrap_or_default())).collect();
        let edges = Edges { before: release.number_before, after: release.number_after };
        let Release { from, sentence_start, .. } = *release;
        let noted = self.fill(&mut segment, Passage { words: &words, from, sentence_start, edges });
        segment.degraded = release.entries.iter().any(|e| e.freeze.is_some_and(|f| f.degraded));
        segment.replayed = release.entries.iter().any(|e| e.word.source.is_replayed());
        segment.meta = release.entries.last().and_then(|e| e.word.source.meta.clone());
        (segment, noted)
    }

    /// The partial of an unreleased tail.
    pub fn partial(&self, stream: &StreamRef, tail: &Tail) -> Segment {
        let mut segment = self.empty(stream, tail.seq, Kind::Partial);
        let words: Vec<(&Word, Tags)> = tail
            .entries
            .iter()
            .map(|e| (&e.word, e.tags.unwrap_or_default()))
            .chain(tail.hypothesis.iter().map(|(w, t)| (w, *t)))
            .collect();
        // More may come, so a number at its end is open.
        let edges = Edges { before: tail.number_before, after: true };
        let Tail { from, sentence_start, .. } = *tail;
        self.fill(&mut segment, Passage { words: &words, from, sentence_start, edges });
        let boundary = tail.from + tail.frozen as u64;
        let settled = segment.words.iter().take_while(|w| w.src[1] <= boundary).count();
        // The last one may still be joined by the entity, or get the mark, of a word that is not frozen.
        segment.frozen = Some(if tail.frozen == words.len() { settled } else { settled.saturating_sub(1) });
        segment
    }

    /// The record that closes an epoch.
    pub fn end(&self, stream: &StreamRef, seq: u64, counts: Counts, cause: EndCause) -> Segment {
        let mut segment = self.empty(stream, seq, Kind::End);
        segment.counts = Some(counts);
        segment.cause = Some(cause.name().to_string());
        segment
    }
}
