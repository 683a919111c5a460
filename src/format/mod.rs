//! From tagged words to what people read: disfluencies, ITN, case, marks, alignment.
//!
//! Pure and deterministic. [`apply`] is the order of design; [`itn`] writes spans; [`Formatter`] makes records of it.

pub mod apply;
pub mod casing;
pub mod itn;

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::record::{Counts, Kind, Segment};
use crate::session::Word;
use crate::session::output::{EndCause, Release, StreamRef, Tail};
use crate::tags::Tags;

pub use apply::{Formatted, Style};
pub use casing::Lexicon;

/// Makes segments of released words. One per process, shared by all partitions.
pub struct Formatter {
    /// the model's MIXED dictionary
    pub lexicon: Lexicon,
    /// grammars of spans
    pub itn: itn::Itn,
    /// name of the model, for `model`
    pub model: Arc<str>,
}

impl Formatter {
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
            counts: None,
            cause: None,
            model: self.model.clone(),
            profile: stream.profile.clone(),
            meta,
        }
    }

    fn fill(&self, segment: &mut Segment, words: &[(&Word, Tags)], from: u64, sentence_start: bool, style: &Style) {
        let done = apply::apply(words, from, sentence_start, style, &self.lexicon, &self.itn);
        segment.text = done.text;
        segment.words = done.words;
        segment.entities = done.entities;
        segment.removed = done.removed;
    }

    /// The final segment of released words. Its `meta` is that of the record of its last word.
    pub fn segment(&self, stream: &StreamRef, release: &Release, style: &Style) -> Segment {
        let mut segment = self.empty(stream, release.seq, Kind::Final);
        let words: Vec<(&Word, Tags)> = release.entries.iter().map(|e| (&e.word, e.tags.unwrap_or_default())).collect();
        self.fill(&mut segment, &words, release.from, release.sentence_start, style);
        segment.degraded = release.entries.iter().any(|e| e.freeze.is_some_and(|f| f.degraded));
        segment.meta = release.entries.last().and_then(|e| e.word.source.meta.clone());
        segment
    }

    /// The partial of an unreleased tail.
    pub fn partial(&self, stream: &StreamRef, tail: &Tail, style: &Style) -> Segment {
        let mut segment = self.empty(stream, tail.seq, Kind::Partial);
        let words: Vec<(&Word, Tags)> = tail
            .entries
            .iter()
            .map(|e| (&e.word, e.tags.unwrap_or_default()))
            .chain(tail.hypothesis.iter().map(|(w, t)| (w, *t)))
            .collect();
        self.fill(&mut segment, &words, tail.from, tail.sentence_start, style);
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
