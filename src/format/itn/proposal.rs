//! A tagger's span is a proposal. The grammars read it with the words beside it, and the costs decide whether it is
//! written as the tagger says, or as another class, or with words beside it.
//!
//! Both ways of reading the same words are priced alike: what a class and its reading cost, and one for each word that
//! is left as spoken. The tagger counts for its own way: each end that the other way moves costs [`MOVED_COST`], and
//! another class costs by its place in the label's list of classes, or [`OTHER_CLASS_COST`] where it is not in the
//! list.

use super::ast::PLAIN_COST;
use super::decode::Decoder;
use super::network::{Cost, cost};
use super::sentence::{TAGGED_COST, Union};
use super::stems::Said;
use super::{Itn, Part, Written};
use crate::tags::ItnClass;

/// Cost of an end of the span that is moved, thousandths.
const MOVED_COST: u32 = 300;
/// Cost of a class for each place that it stands later in the label's list, thousandths.
const LATER_COST: u32 = 100;
/// Cost of a class that the label does not name, thousandths.
const OTHER_CLASS_COST: u32 = 2500;
/// Cost of a span of the class that the tagger says, whatever the class costs in a sentence without a tagger.
const SPAN_COST: u32 = 500;

impl Itn {
    /// What is written of a span that a tagger found: `span` of `words`, which are the span's words and up to a few on
    /// each side. Parts are in order, and each has words of the span. None where all stays as spoken. Words in lower
    /// case.
    pub fn propose(&self, words: &[&str], span: [usize; 2], label: ItnClass, allowed: &dyn Fn(&str) -> bool) -> Vec<Part<'_>> {
        let said = self.said(words);
        self.decoders.lend(|decoder| self.proposed(decoder, words, &said, span, label, allowed))
    }

    fn proposed(
        &self,
        decoder: &mut Decoder,
        words: &[&str],
        said: &Said,
        span: [usize; 2],
        label: ItnClass,
        allowed: &dyn Fn(&str) -> bool,
    ) -> Vec<Part<'_>> {
        let [from, to] = span;
        let grows = |[start, end]: [usize; 2]| start < from || to < end;
        let own = self.write_with(decoder, label, said, said.stems_of(span), allowed);
        let spans = match self.sentences {
            Some(_) => self.spans_beside(decoder, said, span, own.is_some()),
            None => Vec::new(),
        };
        let part = |span| self.part(decoder, Union::Sentences, said, span, allowed);
        let other: Vec<Part> = spans.into_iter().filter_map(part).collect();
        match own {
            Some((class, written)) => {
                let own = Part { class, words: span, written };
                // Where both ways write the same, the tagger's tokens come from fewer words.
                let keeps_own = !other.iter().any(|part| grows(part.words))
                    || text(words, std::slice::from_ref(&own)) == text(words, &other)
                    || self.own_cost(&own, words, label) <= self.other_cost(decoder, &other, said, span, label);
                if keeps_own { vec![own] } else { other }
            }
            None => other,
        }
    }

    /// Spans of the cheapest reading of all words that have words of `span`, in stems. Of the same words the tagger says which
    /// class they are. So if the tagger's way of writing is `known`, there are none unless one of them has a word beside
    /// the span.
    fn spans_beside(&self, decoder: &mut Decoder, said: &Said, span: [usize; 2], known: bool) -> Vec<[usize; 2]> {
        let [from, to] = said.stems_of(span);
        let grows = |start: usize, end: usize| start < to && from < end && (start < from || to < end);
        decoder.candidates.clear();
        self.candidates(decoder, Union::Sentences, said, 0..to);
        if known && !decoder.candidates.iter().any(|candidate| grows(candidate.start, candidate.end)) {
            return Vec::new(); // No word beside the span can be read with a word of it.
        }
        self.candidates(decoder, Union::Sentences, said, to..said.stems.len());
        let plain = |word: usize| if (span[0]..span[1]).contains(&word) { TAGGED_COST } else { PLAIN_COST };
        let mut spans = self.divide(decoder, said, &plain);
        spans.retain(|[start, end]| *start < to && from < *end);
        if known && !spans.iter().any(|[start, end]| grows(*start, *end)) {
            spans.clear();
        }
        spans
    }

    fn own_cost(&self, own: &Part, words: &[&str], label: ItnClass) -> Cost {
        let beside = words.len() - (own.words[1] - own.words[0]);
        cost(SPAN_COST + self.class_cost(label, own.class) + beside as u32 * PLAIN_COST, 0) + own.written.cost
    }

    fn other_cost(&self, decoder: &mut Decoder, parts: &[Part], said: &Said, span: [usize; 2], label: ItnClass) -> Cost {
        let within = |word: usize| parts.iter().any(|part| (part.words[0]..part.words[1]).contains(&word));
        let plain = |word: usize| if (span[0]..span[1]).contains(&word) { TAGGED_COST } else { PLAIN_COST };
        let left: u32 = (0..said.words()).filter(|word| !within(*word)).map(plain).sum();
        let mut of_part = |part: &Part| {
            let moved = (0..2).filter(|end| part.words[*end] != span[*end]).count() as u32;
            let index = self.language.names.classes.iter().position(|class| class.label == part.class).expect("it was read");
            let reading = self.read_with(decoder, index, said, said.stems_of(part.words), |_, _, _| {});
            let reading = reading.map_or(0, |Written { cost, .. }| cost);
            let class = self.language.names.classes[index].cost + self.class_cost(label, part.class);
            reading + cost(class + moved * MOVED_COST, 0)
        };
        cost(left, 0) + parts.iter().map(&mut of_part).sum::<Cost>()
    }

    /// What a class costs more for spans with this label than the first class of the label's list, thousandths.
    fn class_cost(&self, label: ItnClass, class: &str) -> u32 {
        let classes = self.by_label.get(&label).map_or(&[][..], Vec::as_slice);
        let place = classes.iter().position(|&known| self.language.classes[known].0 == class);
        place.map_or(OTHER_CLASS_COST, |place| place as u32 * LATER_COST)
    }
}

/// The words with these parts written.
fn text(words: &[&str], parts: &[Part]) -> String {
    let mut texts: Vec<&str> = Vec::new();
    let mut at = 0;
    for part in parts {
        texts.extend(&words[at..part.words[0]]);
        texts.push(&part.written.text);
        at = part.words[1];
    }
    texts.extend(&words[at..]);
    texts.join(" ")
}
