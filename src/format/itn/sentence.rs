//! Spans that no tagger found: recipes, and spans of whole sentences. One pass over the words, in which a span may
//! begin anywhere. A span is written if that costs less than its words left as spoken.

use super::ast::PLAIN_COST;
use super::decode::Costs;
use super::network::{Cost, Network, Out, cost};
use super::{Itn, SCRATCH, Written, write};
use crate::format::numbers::PLAIN_NUMBERS;

/// Label of the class of idioms, whose spans stay as spoken although other classes would take some of their words.
pub(super) const KEEP: &str = "KEEP";
/// Label of the class that says which two words are of one number.
const WHOLE: &str = "WHOLE";
/// Classes that write nothing. They say which words belong together.
pub(super) const SAYINGS: [&str; 6] = [WHOLE, "LIKE-BEFORE", "LIKE-AFTER", "BARE-HOUR", "COMMON", super::BACKWARDS];
/// Cost of half a number left as spoken beside its other half, in thousandths. About as much as a lone digit costs more
/// when it is written than when it is left as spoken.
const LEFT_COST: u32 = 1000;
/// Cost of a word that a tagger put into a span and that is left as spoken.
pub(super) const TAGGED_COST: u32 = 3000;
/// Cost of two halves of a number that are written apart.
const SPLIT_COST: u32 = 1000;
/// Largest number of words in a sentence. A longer sentence is read in pieces.
const MAX_SENTENCE_WORDS: usize = 2000;

/// A span of a sentence that a class wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// label of its class
    pub class: &'a str,
    /// words, half-open
    pub words: [usize; 2],
    /// its written form, with words counted from the span's first word
    pub written: Written,
}

impl Itn {
    /// Recipes in `words`. Where recipes overlap, the one that takes more words wins. Recipes that are not `allowed`
    /// are left out. Words in lower case.
    pub fn recipes(&self, words: &[&str], allowed: &dyn Fn(&str) -> bool) -> Vec<Part<'_>> {
        self.recipes.as_ref().map_or(Vec::new(), |network| self.find(network, words, true, allowed, &|_| PLAIN_COST))
    }

    /// Spans of a sentence without tags: where writing a span costs less than leaving its words as spoken. Words in
    /// lower case.
    ///
    /// # Panics
    /// Without [`Itn::with_sentences`].
    pub fn sentence(&self, words: &[&str], allowed: &dyn Fn(&str) -> bool) -> Vec<Part<'_>> {
        self.find(self.sentences.as_ref().expect("made for sentences"), words, false, allowed, &|_| PLAIN_COST)
    }

    /// Reads a span that a tagger found, together with the words beside it. Like [`Itn::sentence`], but a word for
    /// which `tagged` holds becomes part of a span if any reading allows it. `None` without [`Itn::with_sentences`].
    pub fn lattice(
        &self,
        words: &[&str],
        tagged: &dyn Fn(usize) -> bool,
        allowed: &dyn Fn(&str) -> bool,
    ) -> Option<Vec<Part<'_>>> {
        let network = self.sentences.as_ref()?;
        Some(self.find(network, words, false, allowed, &|word| if tagged(word) { TAGGED_COST } else { PLAIN_COST }))
    }

    /// The cheapest class that reads all of `words`, which are less than [`super::MAX_SPAN_WORDS`].
    pub fn whole(&self, words: &[&str], allowed: &dyn Fn(&str) -> bool) -> Option<(&str, Written)> {
        self.instead(usize::MAX, words, false, allowed)
    }

    /// For each word, whether it belongs to one number with the word before.
    pub(super) fn joined(&self, labels: &[u32]) -> Vec<bool> {
        let Some((_, network)) = self.language.classes.iter().find(|(label, _)| label == WHOLE) else {
            return vec![false; labels.len()];
        };
        let pool = &self.language.pool;
        let says = |from: usize, word: usize| SCRATCH.with_borrow_mut(|s| s.whole(network, pool, &labels[from..=word]).is_some());
        (0..labels.len()).map(|word| word > 0 && says(word - 1, word) || word > 1 && says(word - 2, word)).collect()
    }

    /// Whether the last of some words belongs to one number with the word before it. The last three words are enough.
    /// In lower case.
    pub fn joins(&self, words: &[&str]) -> bool {
        let labels: Vec<u32> = words.iter().map(|w| self.language.pool.label(w)).collect();
        self.joined(&labels).last().copied().unwrap_or(false)
    }

    fn find(
        &self,
        network: &Network,
        words: &[&str],
        recipe: bool,
        allowed: &dyn Fn(&str) -> bool,
        plain: &dyn Fn(usize) -> u32,
    ) -> Vec<Part<'_>> {
        let mut parts: Vec<Part> = Vec::new();
        for (piece, base) in words.chunks(MAX_SENTENCE_WORDS).zip((0..).step_by(MAX_SENTENCE_WORDS)) {
            let labels: Vec<u32> = piece.iter().map(|w| self.language.pool.label(w)).collect();
            let joined = self.joined(&labels);
            let plain: Vec<Cost> = (0..piece.len()).map(|word| cost(plain(base + word), 0)).collect();
            let costs = Costs { plain: &plain, left: cost(LEFT_COST, 0), split: cost(SPLIT_COST, 0) };
            let spans = SCRATCH.with_borrow_mut(|s| s.sentence(network, &self.language.pool, &labels, &joined, costs));
            for span in spans {
                let class = self.language.pool.outs_of(span.taken[0].outs).iter().find_map(|o| match o {
                    Out::Class(i) => Some(*i as usize),
                    _ => None,
                });
                let class = class.expect("a union marks its classes");
                let words = [base + span.start, base + span.end];
                let text = write::write(&self.language, &span.taken, span.last, piece, |_, _, _| {});
                let label = self.language.classes[class].0.as_str();
                let part = match text.filter(|t| allowed(label) && !t.text.is_empty()) {
                    Some(text) => Some(Part { class: label, words, written: text.written(span.start, span.end - span.start) }),
                    // A number that should stay a word must not be written as a code instead.
                    None if !allowed(label) && PLAIN_NUMBERS.contains(&label) => None,
                    None => self.instead(class, &piece[span.start..span.end], recipe, allowed).map(|(class, written)| Part {
                        class,
                        words,
                        written,
                    }),
                };
                parts.extend(part.filter(|p| p.class != KEEP));
            }
        }
        parts
    }

    /// The cheapest other class for words whose cheapest class was refused, if it costs less than leaving the words as
    /// spoken.
    fn instead(&self, refused: usize, words: &[&str], recipe: bool, allowed: &dyn Fn(&str) -> bool) -> Option<(&str, Written)> {
        let others =
            self.language.names.classes.iter().enumerate().filter(|(i, c)| {
                *i != refused && c.recipe == recipe && !SAYINGS.contains(&c.label.as_str()) && allowed(&c.label)
            });
        let readings = others.filter_map(|(i, c)| {
            let written = self.read(i, words, |_, _, _| {})?;
            Some((written.cost + cost(c.cost, i), c.label.as_str(), written))
        });
        let (cheapest, class, written) = readings.min_by_key(|(cost, _, _)| *cost)?;
        (cheapest < cost(PLAIN_COST * words.len() as u32, 0)).then_some((class, written))
    }
}
