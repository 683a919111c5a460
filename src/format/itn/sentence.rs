//! Spans that no tagger found: recipes, and spans of whole sentences. One pass over the words, in which a span may
//! begin anywhere. A span is written if that costs less than its words left as spoken.

use std::ops::Range;

use super::ast::PLAIN_COST;
use super::automaton::{Reader, Taken};
use super::decode::{self, Candidate, Costs, Decoder};
use super::network::{Cost, Out, cost};
use super::stems::Said;
use super::{Itn, Written, write};
use crate::format::numbers::PLAIN_NUMBERS;

/// Label of the class of idioms, whose spans stay as spoken although other classes would take some of their words.
pub(super) const KEEP: &str = "KEEP";
/// Label of the class that says which two words are of one number.
pub(super) const WHOLE: &str = "WHOLE";
/// Classes that write nothing. They say which words belong together.
pub(super) const SAYINGS: [&str; 6] = [WHOLE, "LIKE-BEFORE", "LIKE-AFTER", "BARE-HOUR", "COMMON", super::BACKWARDS];
/// Cost of half a number left as spoken beside its other half, in thousandths. About as much as a lone digit costs more
/// when it is written than when it is left as spoken.
const LEFT_COST: u32 = 1000;
/// Cost of a word that a tagger put into a span and that is left as spoken.
pub(super) const TAGGED_COST: u32 = 3000;
/// Cost of two halves of a number that are written apart.
const SPLIT_COST: u32 = 1000;

/// The networks of several classes together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Union {
    /// all recipes
    Recipes,
    /// all other classes that write
    Sentences,
}

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
        if self.recipes.is_none() {
            return Vec::new();
        }
        self.find(Union::Recipes, words, allowed, &|_| PLAIN_COST)
    }

    /// Spans of a sentence without tags: where writing a span costs less than leaving its words as spoken. Words in
    /// lower case.
    ///
    /// # Panics
    /// Without [`Itn::with_sentences`].
    pub fn sentence(&self, words: &[&str], allowed: &dyn Fn(&str) -> bool) -> Vec<Part<'_>> {
        assert!(self.sentences.is_some(), "made for sentences");
        self.find(Union::Sentences, words, allowed, &|_| PLAIN_COST)
    }

    /// Reads a span that a tagger found, together with the words beside it. Like [`Itn::sentence`], but a word for
    /// which `tagged` holds becomes part of a span if any reading allows it. `None` without [`Itn::with_sentences`].
    pub fn lattice(
        &self,
        words: &[&str],
        tagged: &dyn Fn(usize) -> bool,
        allowed: &dyn Fn(&str) -> bool,
    ) -> Option<Vec<Part<'_>>> {
        self.sentences.as_ref()?;
        Some(self.find(Union::Sentences, words, allowed, &|word| if tagged(word) { TAGGED_COST } else { PLAIN_COST }))
    }

    /// The cheapest class that reads all of `words`, which are less than [`super::MAX_SPAN_WORDS`].
    pub fn whole(&self, words: &[&str], allowed: &dyn Fn(&str) -> bool) -> Option<(&str, Written)> {
        let said = self.said(words);
        self.decoders.lend(|decoder| self.instead(decoder, usize::MAX, &said, [0, said.stems.len()], false, allowed))
    }

    /// For each stem, whether it belongs to one number with the stem before.
    fn joined(&self, decoder: &mut Decoder, labels: &[u32]) -> Vec<bool> {
        let mut joined = vec![false; labels.len()];
        let Some(class) = self.whole else { return joined };
        let (mut reader, _) = decoder.class(class, &self.language.classes[class].1, &self.language.pool);
        for first in 0..labels.len() {
            let mut walk = reader.walk();
            for word in first..labels.len().min(first + 3) {
                let Some(next) = reader.take(walk, labels[word]) else { break };
                walk = next;
                joined[word] |= word > first && reader.end(walk).is_some();
            }
        }
        joined
    }

    /// For each word, whether it belongs to one number with the word before. In lower case.
    pub fn joined_words(&self, words: &[&str]) -> Vec<bool> {
        let said = self.said(words);
        let joined = self.decoders.lend(|decoder| self.joined(decoder, &said.labels));
        (0..words.len()).map(|word| joined[said.stems_of([word, word + 1])[0]]).collect()
    }

    /// Whether the last of some words belongs to one number with the word before it. The last three words are enough.
    /// In lower case.
    pub fn joins(&self, words: &[&str]) -> bool {
        self.joined_words(words).last().copied().unwrap_or(false)
    }

    fn find(&self, union: Union, words: &[&str], allowed: &dyn Fn(&str) -> bool, plain: &dyn Fn(usize) -> u32) -> Vec<Part<'_>> {
        let said = self.said(words);
        self.decoders.lend(|decoder| {
            let spans = self.divided(decoder, union, &said, plain);
            spans.into_iter().filter_map(|span| self.part(decoder, union, &said, span, allowed)).collect()
        })
    }

    /// Where spans of the cheapest reading begin and end, in stems. `plain` is the cost of a word that is left as spoken.
    fn divided(&self, decoder: &mut Decoder, union: Union, said: &Said, plain: &dyn Fn(usize) -> u32) -> Vec<[usize; 2]> {
        decoder.candidates.clear();
        self.candidates(decoder, union, said, 0..said.stems.len());
        self.divide(decoder, said, plain)
    }

    /// Adds the spans that begin at one of these stems and can be read.
    pub(super) fn candidates(&self, decoder: &mut Decoder, union: Union, said: &Said, starts: Range<usize>) {
        let mut found = std::mem::take(&mut decoder.candidates);
        let before = found.len();
        decode::candidates(&mut self.reader(decoder, union).0, &said.labels, starts, &mut found);
        if said.has_compounds() {
            let kept = |span: &Candidate| said.is_between_words(span.start) && said.is_between_words(span.end);
            let whole: Vec<Candidate> = found.drain(before..).filter(kept).collect();
            found.extend(whole);
        }
        decoder.candidates = found;
    }

    /// Which of all candidates the cheapest reading has, in stems.
    pub(super) fn divide(&self, decoder: &mut Decoder, said: &Said, plain: &dyn Fn(usize) -> u32) -> Vec<[usize; 2]> {
        let joined = self.joined(decoder, &said.labels);
        // The first stem of a word has the word's cost.
        let of_stem = |stem| if said.is_between_words(stem) { plain(said.words_of([stem, stem])[0]) } else { 0 };
        let plain: Vec<Cost> = (0..said.stems.len()).map(|stem| cost(of_stem(stem), 0)).collect();
        let costs = Costs { plain: &plain, left: cost(LEFT_COST, 0), split: cost(SPLIT_COST, 0) };
        decode::divide(&decoder.candidates, &joined, costs)
    }

    /// What is written of one of these spans of stems.
    pub(super) fn part(
        &self,
        decoder: &mut Decoder,
        union: Union,
        said: &Said,
        span: [usize; 2],
        allowed: &dyn Fn(&str) -> bool,
    ) -> Option<Part<'_>> {
        let ([start, end], words) = (span, said.words_of(span));
        let (mut reader, taken) = self.reader(decoder, union);
        let (last, _) = reader.whole(&said.labels[start..end], start, taken).expect("its words were divided so");
        let class = self.language.pool.outs_of(taken[0].outs).iter().find_map(|out| match out {
            Out::Class(class) => Some(*class as usize),
            _ => None,
        });
        let class = class.expect("a union marks its classes");
        let label = self.language.classes[class].0.as_str();
        let text = allowed(label).then(|| write::write(&self.language, taken, last, &said.stems, |_, _, _| {})).flatten();
        let part = match text.filter(|text| !text.text.is_empty()) {
            Some(text) => Some(Part { class: label, words, written: said.written(start, text.written(start, end - start)) }),
            // A number that should stay a word must not be written as a code instead.
            None if !allowed(label) && PLAIN_NUMBERS.contains(&label) => None,
            None => {
                let instead = self.instead(decoder, class, said, span, union == Union::Recipes, allowed);
                instead.map(|(class, written)| Part { class, words, written })
            }
        };
        part.filter(|part| part.class != KEEP)
    }

    fn reader<'a>(&'a self, decoder: &'a mut Decoder, union: Union) -> (Reader<'a>, &'a mut Vec<Taken>) {
        let (network, automaton) = match union {
            Union::Recipes => (&self.recipes, &mut decoder.recipes),
            Union::Sentences => (&self.sentences, &mut decoder.sentences),
        };
        let network = network.as_ref().expect("it was made");
        (Reader { network, pool: &self.language.pool, automaton, workspace: &mut decoder.workspace }, &mut decoder.taken)
    }

    /// The cheapest other class for words whose cheapest class was refused, if it costs less than leaving the words as
    /// spoken.
    fn instead(
        &self,
        decoder: &mut Decoder,
        refused: usize,
        said: &Said,
        span: [usize; 2],
        recipe: bool,
        allowed: &dyn Fn(&str) -> bool,
    ) -> Option<(&str, Written)> {
        let others =
            self.language.names.classes.iter().enumerate().filter(|(i, c)| {
                *i != refused && c.recipe == recipe && !SAYINGS.contains(&c.label.as_str()) && allowed(&c.label)
            });
        let readings = others.filter_map(|(i, c)| {
            let written = self.read_with(decoder, i, said, span, |_, _, _| {})?;
            Some((written.cost + cost(c.cost, i), c.label.as_str(), written))
        });
        let (cheapest, class, written) = readings.min_by_key(|(cost, _, _)| *cost)?;
        let [from, to] = said.words_of(span);
        (cheapest < cost(PLAIN_COST * (to - from) as u32, 0)).then_some((class, written))
    }
}
