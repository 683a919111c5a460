//! A stretch of words that is written as one.

use super::itn::Token;

/// A stretch of words and how it is written.
#[derive(Clone, Debug, PartialEq)]
pub enum Unit {
    /// a word that stays as spoken, but for its case
    Spoken(usize),
    /// an entity
    Entity {
        /// label of its class, in lower case
        class: String,
        /// words, half-open
        words: [usize; 2],
        /// text
        text: String,
        /// its tokens; their words count from the unit's first
        tokens: Vec<Token>,
        /// whether a pack's recipe wrote it: its letters stand as the pack has them
        by_pack: bool,
    },
    /// a dictionary's entry
    Entry {
        /// words, half-open
        words: [usize; 2],
        /// text
        text: String,
        /// whether its letters stand as they are; otherwise they follow the words' case
        cased: bool,
    },
}

impl Unit {
    /// The same unit of a longer list, before whose words stand so many others.
    pub fn later(self, by: usize) -> Unit {
        match self {
            Unit::Spoken(word) => Unit::Spoken(word + by),
            Unit::Entity { class, words, text, tokens, by_pack } => {
                Unit::Entity { class, words: words.map(|word| word + by), text, tokens, by_pack }
            }
            Unit::Entry { words, text, cased } => Unit::Entry { words: words.map(|word| word + by), text, cased },
        }
    }

    /// Its words, half-open.
    pub fn words(&self) -> [usize; 2] {
        match self {
            Unit::Spoken(word) => [*word, word + 1],
            Unit::Entity { words, .. } | Unit::Entry { words, .. } => *words,
        }
    }
}
