//! How one stream decodes: the part of a profile that this module needs, with its limits.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::buffer::FreezeCause;
use super::plan::Pass;
use crate::infer::row::RowTemplate;
use crate::redact::Redaction;

/// How many later words a word's tags may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookahead {
    /// at most so many
    Words(u32),
    /// as many as the buffer holds: for archives
    Unlimited,
}

/// What a pass lets a word see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mask {
    /// everything in the window; words freeze once `L` later words are known (*windowed*)
    Open,
    /// never more than `L` later words (CT-Transformer, equation 3)
    Lookahead,
}

/// When frozen words leave the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseRule {
    /// at a frozen end-of-sentence mark
    Frozen,
    /// when so many words follow the first predicted end-of-sentence mark; releasing freezes (Algorithm 1)
    Predicted {
        /// `T`, words
        trailing: u32,
    },
    /// every frozen word outside an open entity or disfluency
    Flow,
}

/// How states are kept between passes. What is written down with a stream: states that were made by other rules are of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settling {
    /// `S`: passes at multiples of so many words settle words; a multiple of `F`
    pub words: u64,
    /// `G`: so many words after a key pass comes the next one; a multiple of `S`
    pub key_words: u64,
    /// `L`: later words that a settled word has
    pub lookahead: u64,
    /// whether the model's mask is set to that
    pub masked: bool,
    /// tokens whose states a pass sees
    pub slots: u32,
    /// the model's style
    pub style: u32,
}

impl Settling {
    /// Whether a pass settles words. No other changes states.
    pub fn is_by(&self, pass: &Pass) -> bool {
        pass.cause == FreezeCause::Lookahead && pass.upto.is_multiple_of(self.words) && self.settled_by(pass.upto) > 0
    }

    /// Words before this one are settled by the pass that sees those before `upto`.
    pub fn settled_by(&self, upto: u64) -> u64 {
        upto.saturating_sub(self.lookahead)
    }
}

/// One stream's decoding rules. Checked by `config`: `lookahead` fits the buffer, the window fits the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// the model, and what it is told of every row
    pub template: RowTemplate,
    /// `L`
    pub lookahead: Lookahead,
    /// what the model's mask is set to
    pub mask: Mask,
    /// when segments end
    pub rule: ReleaseRule,
    /// `F`: a pass at every so many words of the epoch
    pub pass_words: u64,
    /// words before the first unfrozen one (unsettled, where states are kept) that a row which starts afresh still sees
    pub history_words: u64,
    /// how states are kept between passes; `None`: every row starts afresh
    pub settling: Option<Settling>,
    /// unreleased words at which the best available cut is taken
    pub max_buffer_words: u64,
    /// a word freezes so long after it arrived
    pub max_delay_ms: u64,
    /// all words freeze so long after an utterance end that nothing followed
    pub utterance_delay_ms: u64,
    /// a frozen word is released so long after it froze
    pub max_release_ms: u64,
    /// an answer of the model for live words is waited for so long
    pub inference_timeout_ms: u64,
    /// an answer for words of a backlog is waited for so long
    pub backlog_timeout_ms: u64,
    /// whether disfluent words and recogniser markup stay in the text
    pub verbatim: bool,
    /// what may not be released in halves, since it is redacted
    pub redaction: Option<Arc<Redaction>>,
    /// whether partials are made, and so whether hypotheses are worth a pass
    pub partials: bool,
}

impl Policy {
    /// `L` as the buffer can honour it.
    pub fn freeze_after(&self) -> u64 {
        let room = self.max_buffer_words.saturating_sub(self.pass_words);
        match self.lookahead {
            Lookahead::Words(n) => u64::from(n).min(room),
            Lookahead::Unlimited => room,
        }
    }

    /// The lookahead the model's mask is given; `None` is open.
    pub fn mask_words(&self) -> Option<u32> {
        match (self.mask, self.lookahead) {
            (Mask::Lookahead, Lookahead::Words(n)) => Some(n),
            _ => None,
        }
    }
}
