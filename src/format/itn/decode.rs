//! Decoding: the cheapest reading of some words by a network, and the cheapest division of a sentence into spans and
//! words left as spoken. A language's grammars lend a decoder to each thread that needs one.

use std::ops::Range;
use std::sync::Mutex;

use super::MAX_SPAN_WORDS;
use super::automaton::{Automaton, Reader, Taken, Workspace};
use super::network::{Cost, Network, Pool};

/// The automata of a language's networks, as far as words have asked for them, and memory to work in.
#[derive(Default)]
pub struct Decoder {
    /// of each class, by number
    classes: Vec<Automaton>,
    /// of all recipes
    pub recipes: Automaton,
    /// of all classes for sentences
    pub sentences: Automaton,
    /// memory for new sets of states
    pub workspace: Workspace,
    /// the steps of the path that was read last
    pub taken: Vec<Taken>,
    /// spans that could be read
    pub candidates: Vec<Candidate>,
}

impl Decoder {
    /// Reads words by the network of class number `class`.
    pub fn class<'a>(&'a mut self, class: usize, network: &'a Network, pool: &'a Pool) -> (Reader<'a>, &'a mut Vec<Taken>) {
        if self.classes.len() <= class {
            self.classes.resize_with(class + 1, Automaton::default);
        }
        let automaton = &mut self.classes[class];
        (Reader { network, pool, automaton, workspace: &mut self.workspace }, &mut self.taken)
    }
}

/// Decoders that no thread uses at present. There are as many as threads that ever decoded at the same time.
#[derive(Default)]
pub struct Decoders(Mutex<Vec<Decoder>>);

impl Decoders {
    /// Lends a decoder.
    pub fn lend<T>(&self, work: impl FnOnce(&mut Decoder) -> T) -> T {
        let idle = self.0.lock().expect("no one panics while holding it").pop();
        let mut decoder = idle.unwrap_or_default();
        let done = work(&mut decoder);
        self.0.lock().expect("no one panics while holding it").push(decoder);
        done
    }
}

/// What comes before a span.
#[derive(Clone, Copy, PartialEq)]
enum After {
    /// a word left as spoken, or nothing
    Plain,
    /// another span
    Span,
}

/// Costs of a sentence's words outside grammars.
#[derive(Clone, Copy, Debug)]
pub struct Costs<'a> {
    /// cost of each word left as spoken
    pub plain: &'a [Cost],
    /// cost of half a number left as spoken beside its other half
    pub left: Cost,
    /// cost of two halves of a number in two spans
    pub split: Cost,
}

/// The best span that ends at some place.
#[derive(Clone, Copy)]
struct Ending {
    /// cost of all words up to there
    cost: Cost,
    /// the span's first word
    start: usize,
    /// what is best before it
    after: After,
}

/// Words that a network can read as one span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// first word
    pub start: usize,
    /// one past the last
    pub end: usize,
    /// cost of the cheapest reading
    pub cost: Cost,
}

/// Spans that begin at one of `starts` and that the network can read, in order. From each word the words that follow are
/// read as far as any path goes, at most [`MAX_SPAN_WORDS`].
pub fn candidates(reader: &mut Reader, labels: &[u32], starts: Range<usize>, found: &mut Vec<Candidate>) {
    for start in starts {
        let mut walk = reader.walk();
        for (end, label) in (start + 1..).zip(labels[start..].iter().take(MAX_SPAN_WORDS)) {
            let Some(next) = reader.take(walk, *label) else { break };
            walk = next;
            found.extend(reader.end(walk).map(|cost| Candidate { start, end, cost }));
        }
    }
}

/// The cheapest reading of a sentence, in which every word is part of a span or left as spoken: its spans, half-open and
/// in order. `candidates` are in order of their first words. `joined[w]`: the words `w - 1` and `w` belong to one number.
/// A span that ends or begins between them contains half of that number. That costs `left` if the other half stays as
/// spoken, and `split` if the other half is in another span. Of spans with the same end that cost the same, the longest
/// wins.
pub fn divide(candidates: &[Candidate], joined: &[bool], costs: Costs) -> Vec<[usize; 2]> {
    let words = joined.len();
    // The best ends of the words so far: with a word left as spoken, and with a span.
    let mut plain: Vec<Cost> = Vec::with_capacity(words + 1);
    plain.push(0);
    let mut endings: Vec<Option<Ending>> = vec![None; words + 1];
    let mut candidates = candidates.iter().peekable();
    for start in 0..words {
        let torn = |cost| if joined[start] { cost } else { 0 };
        let after_plain = plain[start] + torn(costs.left);
        let (so_far, after) = match endings[start].map(|ending| ending.cost + torn(costs.split)) {
            Some(cost) if cost < after_plain => (cost, After::Span),
            _ => (after_plain, After::Plain),
        };
        while let Some(candidate) = candidates.next_if(|candidate| candidate.start == start) {
            let (cost, ending) = (so_far + candidate.cost, &mut endings[candidate.end]);
            if ending.is_none_or(|best| cost < best.cost) {
                *ending = Some(Ending { cost, start, after });
            }
        }
        let left = endings[start].map_or(Cost::MAX, |ending| ending.cost + torn(costs.left));
        plain.push(plain[start].min(left) + costs.plain[start]);
    }
    let mut spans = Vec::new();
    let mut at = words;
    let best = |at: usize, torn: Cost| match endings[at] {
        Some(ending) if ending.cost + torn < plain[at] => After::Span,
        _ => After::Plain,
    };
    let mut after = best(at, 0);
    while at > 0 {
        match (after, endings[at]) {
            (After::Span, Some(ending)) => {
                spans.push([ending.start, at]);
                (at, after) = (ending.start, ending.after);
            }
            _ => {
                at -= 1;
                after = best(at, if joined[at] { costs.left } else { 0 });
            }
        }
    }
    spans.reverse();
    spans
}
