//! What a recogniser says the next words may be. Shown in partials, never frozen, replaced by the channel's next record.

use super::Word;
use crate::tags::Tags;

/// A stream's latest hypothesis and what the model said of it.
#[derive(Debug)]
pub struct Hypothesis {
    words: Vec<Word>,
    tags: Vec<Tags>,
    /// tells an answer to this one from an answer to one before it
    pub revision: u64,
    asked: bool,
}

impl Hypothesis {
    /// The first `limit` of `words`: with the unfrozen words before it, it must fit a row.
    pub fn new(mut words: Vec<Word>, limit: usize, revision: u64) -> Hypothesis {
        words.truncate(limit);
        Hypothesis { words, tags: Vec::new(), revision, asked: false }
    }

    /// Its words, the first time only: one pass is enough.
    pub fn to_request(&mut self) -> Option<&[Word]> {
        (!std::mem::replace(&mut self.asked, true)).then_some(&self.words)
    }

    /// Takes its words' tags, the last of `tags`; gives how many of `tags` come before them.
    pub fn answered(&mut self, tags: &[Tags]) -> usize {
        let before = tags.len().saturating_sub(self.words.len());
        self.tags = tags[before..].to_vec();
        before
    }

    /// Its words with their tags, default ones where the model has not answered or saw only the last words.
    pub fn tagged(&self) -> Vec<(Word, Tags)> {
        let unseen = self.words.len() - self.tags.len();
        let tags = std::iter::repeat_n(Tags::default(), unseen).chain(self.tags.iter().copied());
        self.words.iter().cloned().zip(tags).collect()
    }
}
