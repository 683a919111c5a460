//! A stream's published segments beside those of its profile's challenger. Both have the same input words, and end
//! their segments at different words. They are compared as far as both have come.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::record::difference::{Change, FormPiece, FormPlace, pieces, places};
use crate::record::sample::{SampledPlace, sampled};
use crate::record::{Kind, Segment};

/// Tokens and removed words of a side that wait for the other side at most. A side that is so far ahead means that the
/// other one has stopped.
const MAX_PIECES: usize = 5_000;

/// What was compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// segments that the profile published
    pub segments: u64,
    /// input words
    pub words: u64,
    /// places that differ, by kind
    pub differences: BTreeMap<Change, u64>,
    /// some of those places, where samples are wanted
    pub samples: Vec<SampledPlace>,
}

/// One side of a pair.
#[derive(Debug, Default)]
struct Side {
    /// what is not compared yet, in the order of the words
    pieces: Vec<FormPiece>,
    /// it has all input words before this one
    upto: u64,
    ended: bool,
}

impl Side {
    fn take(&mut self, segment: &Segment) {
        self.ended |= segment.kind == Kind::End;
        let mut more = pieces(segment);
        more.sort_by_key(|piece| piece.src[0]); // stable: tokens of one entity keep their order
        self.upto = more.iter().map(|piece| piece.src[1]).fold(self.upto, u64::max);
        self.pieces.extend(more);
    }

    /// Pieces of words before `cut`.
    fn before(&mut self, cut: u64) -> Vec<FormPiece> {
        let (before, after) = std::mem::take(&mut self.pieces).into_iter().partition(|piece| piece.src[1] <= cut);
        self.pieces = after;
        before
    }

    /// The last place at or before `at` at which no piece is cut in two.
    fn whole_before(&self, at: u64) -> u64 {
        let cut_in_two = self.pieces.iter().filter(|piece| piece.src[0] < at && at < piece.src[1]);
        cut_in_two.map(|piece| piece.src[0]).min().unwrap_or(at)
    }
}

/// An epoch of a stream on both sides.
#[derive(Debug)]
pub struct Pair {
    /// the stream's profile
    pub profile: Arc<str>,
    /// the profile's challenger
    pub challenger: Arc<str>,
    /// samples of each comparison, at most
    samples: usize,
    ours: Side,
    theirs: Side,
    compared: u64,
    segments: u64,
}

impl Pair {
    /// Of an epoch of which nothing has been published yet. `samples`: of each comparison, at most.
    pub fn new(profile: Arc<str>, challenger: Arc<str>, samples: usize) -> Pair {
        Pair { profile, challenger, samples, ours: Side::default(), theirs: Side::default(), compared: 0, segments: 0 }
    }

    /// Takes a segment that the profile made.
    pub fn made(&mut self, segment: &Segment) -> Comparison {
        self.segments += u64::from(segment.kind == Kind::Final);
        self.ours.take(segment);
        self.compare()
    }

    /// Takes a segment that the challenger made.
    pub fn challenger_made(&mut self, segment: &Segment) -> Comparison {
        self.theirs.take(segment);
        self.compare()
    }

    /// Whether both sides have ended.
    pub fn is_over(&self) -> bool {
        self.ours.ended && self.theirs.ended
    }

    /// Whether one side is so far ahead that the other one must have stopped.
    pub fn is_stuck(&self) -> bool {
        self.ours.pieces.len().max(self.theirs.pieces.len()) > MAX_PIECES
    }

    fn compare(&mut self) -> Comparison {
        let mut cut = if self.is_over() { self.ours.upto.max(self.theirs.upto) } else { self.ours.upto.min(self.theirs.upto) };
        loop {
            let whole = self.theirs.whole_before(self.ours.whole_before(cut));
            if whole == cut {
                break;
            }
            cut = whole;
        }
        if cut <= self.compared {
            return Comparison::default();
        }
        let words = cut - std::mem::replace(&mut self.compared, cut);
        let mut counts = BTreeMap::new();
        let (ours, theirs) = (self.ours.before(cut), self.theirs.before(cut));
        let places = places(&ours, &theirs);
        for change in places.iter().flat_map(FormPlace::changes) {
            *counts.entry(change).or_default() += 1;
        }
        Comparison {
            segments: std::mem::take(&mut self.segments),
            words,
            differences: counts,
            samples: sampled(&places, self.samples),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(kind: &str, words: &[(&str, u64, u64)], removed: &[(u64, u64)]) -> Segment {
        let words: Vec<_> = words.iter().map(|(t, from, to)| serde_json::json!({"text": t, "src": [from, to]})).collect();
        let removed: Vec<_> =
            removed.iter().map(|(from, to)| serde_json::json!({"class": "filler", "spoken": "uh", "src": [from, to]})).collect();
        serde_json::from_value(serde_json::json!({
            "session": "s", "channel": "", "epoch": 0, "seq": 0, "kind": kind, "text": "", "words": words,
            "removed": removed, "model": "m", "profile": "p",
        }))
        .unwrap()
    }

    #[test]
    fn sides_are_compared_as_far_as_both_have_come_and_no_token_is_cut_in_two() {
        let mut pair = Pair::new("p".into(), "q".into(), 1);
        let none = Comparison::default();
        assert_eq!(pair.made(&segment("final", &[("It", 0, 1), ("costs", 1, 2), ("twenty", 2, 3)], &[])), none);
        let both = pair.challenger_made(&segment("final", &[("It", 0, 1), ("costs", 1, 2), ("$20.", 2, 4)], &[(4, 5)]));
        assert_eq!((both.words, both.differences.len()), (2, 0), "the third word goes on to the fourth");
        let rest = pair.made(&segment("final", &[("dollars.", 3, 4), ("uh", 4, 5)], &[]));
        assert_eq!((rest.words, rest.segments), (3, 1), "the first segment counted with its first words");
        assert_eq!(rest.differences, BTreeMap::from([(Change::Numbers, 1), (Change::Words, 1)]));
        let shown: Vec<_> = rest.samples.iter().map(|s| (s.src, &*s.published, &*s.instead)).collect();
        assert_eq!(shown, [([2, 4], "twenty dollars. uh", "$20.")]);
        assert_eq!(pair.made(&segment("end", &[], &[])), none);
        assert!(!pair.is_over());
        pair.challenger_made(&segment("end", &[], &[]));
        assert!(pair.is_over() && !pair.is_stuck());
    }
}
