//! Decoding buffers: which words a pass sees, when a word freezes, when frozen words are released.
//!
//! Pure: no I/O, no clock of its own, no knowledge of the broker, the model or the output format. [`map::Sessions`] owns
//! all streams of one partition; [`stream::Stream`] is one channel's decoder (CT-Transformer, arXiv 2003.01309,
//! Algorithm 1, made a service), [`plan::Plan`] the order of its inferences; [`release`] chooses where a segment ends.

pub mod buffer;
pub mod ended;
pub mod hypothesis;
pub mod map;
pub mod output;
pub mod plan;
pub mod policy;
pub mod release;
pub mod stream;

#[cfg(test)]
mod proptests;
#[cfg(any(test, feature = "simulation"))]
pub mod script;
#[cfg(any(test, feature = "simulation"))]
pub mod simulation;

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::record::{RawSegment, RawWord};

/// Milliseconds on the task's own clock. Time is injected: nothing here reads a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// `ms` later.
    pub fn plus(self, ms: u64) -> Time {
        Time(self.0.saturating_add(ms))
    }

    /// Milliseconds since `earlier`, 0 if that is later.
    pub fn since(self, earlier: Time) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// The input record words came with: where it stands and what passes through.
#[derive(Debug)]
pub struct Source {
    /// offset in the input partition (or line number, in `faircopy format`)
    pub offset: i64,
    /// the record's `meta`
    pub meta: Option<Box<RawValue>>,
    /// the record's headers, name and value
    pub headers: Vec<(String, Option<Vec<u8>>)>,
}

/// How a word takes part in formatting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WordKind {
    /// tagged by the model
    Speech,
    /// tagged by the model for its neighbours' sake, but goes out as spoken: its language is not served
    Plain,
    /// recogniser markup for a filled pause (`%HESITATION`); removed as a filler
    Filler,
    /// recogniser markup for no word at all (`[noise]`); removed as a token
    Markup,
}

/// One final spoken word in a stream's buffer.
#[derive(Clone, Debug)]
pub struct Word {
    /// as the recogniser said it
    pub spoken: Box<str>,
    /// start, seconds
    pub start: Option<f64>,
    /// end, seconds
    pub end: Option<f64>,
    /// 0 to 1
    pub confidence: Option<f32>,
    /// the model's sub-tokens, at least one
    pub tokens: Arc<[u32]>,
    /// its part in formatting
    pub kind: WordKind,
    /// the record it came with
    pub source: Arc<Source>,
}

/// A checked, tokenised record on its way into a stream.
#[derive(Clone, Debug)]
pub struct Record {
    /// the recogniser's counter
    pub seq: Option<u64>,
    /// hash of the record's content, to tell a repeat from a restart
    pub hash: u64,
    /// final words, or a hypothesis
    pub is_final: bool,
    /// its words
    pub words: Vec<Word>,
    /// what ends with it
    pub end: Option<crate::record::End>,
    /// how its stream decodes, if it opens one
    pub policy: Arc<policy::Policy>,
    /// where it stands
    pub source: Arc<Source>,
}

impl Record {
    /// Makes the words of a checked raw segment ready: `tokens` gives a spoken word's sub-tokens.
    pub fn new(
        raw: RawSegment,
        hash: u64,
        source: Arc<Source>,
        policy: Arc<policy::Policy>,
        plain: bool,
        mut tokens: impl FnMut(&str) -> Arc<[u32]>,
    ) -> Record {
        let word = |w: RawWord| {
            let kind = match kind_of(&w.spoken) {
                WordKind::Speech if plain => WordKind::Plain,
                kind => kind,
            };
            // The model knows a pause from a filler's place, not from a recogniser's name for it.
            let heard = if matches!(kind, WordKind::Filler | WordKind::Markup) { "uh" } else { &*w.spoken };
            Word {
                tokens: tokens(heard),
                kind,
                start: w.start,
                end: w.end,
                confidence: w.confidence,
                spoken: w.spoken,
                source: source.clone(),
            }
        };
        Record {
            seq: raw.seq,
            hash,
            is_final: raw.is_final,
            words: raw.words.into_iter().map(word).collect(),
            end: raw.end,
            policy,
            source: source.clone(),
        }
    }
}

/// Recogniser markup: `%HESITATION` and its like are fillers; `[noise]`, `<eps>`, `{laugh}` are no words. `<unk>` is a word
/// that was said and not understood, and stays.
pub fn kind_of(spoken: &str) -> WordKind {
    let bytes = spoken.as_bytes();
    // A name in brackets: anything else, HTML for one, is what was said, for all we know.
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || b"_-.".contains(b);
    let inner = |open: u8, close: u8| match bytes {
        [first, name @ .., last] => (*first, *last) == (open, close) && !name.is_empty() && name.iter().all(is_name),
        _ => false,
    };
    if spoken.eq_ignore_ascii_case("%hesitation") || spoken.eq_ignore_ascii_case("[hesitation]") {
        WordKind::Filler
    } else if spoken.eq_ignore_ascii_case("<unk>") || spoken.eq_ignore_ascii_case("[unk]") {
        WordKind::Speech
    } else if inner(b'[', b']')
        || inner(b'<', b'>')
        || inner(b'{', b'}')
        || (bytes[0] == b'%' && bytes.len() > 1 && bytes[1].is_ascii_alphabetic())
    {
        WordKind::Markup
    } else {
        WordKind::Speech
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recogniser_tokens_are_told_from_words() {
        for (word, kind) in [
            ("%HESITATION", WordKind::Filler),
            ("[noise]", WordKind::Markup),
            ("<eps>", WordKind::Markup),
            ("%BREATH", WordKind::Markup),
            ("<unk>", WordKind::Speech),
            ("%", WordKind::Speech),
            ("hello", WordKind::Speech),
            ("[]", WordKind::Speech),
            ("<b>bold</b>", WordKind::Speech),
            ("[background_noise]", WordKind::Markup),
        ] {
            assert_eq!(kind_of(word), kind, "{word}");
        }
    }
}
