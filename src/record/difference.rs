//! How two written forms of the same words differ.
//!
//! Tokens of both forms name the input words that they came from (`src`). Tokens that share a word, in either form,
//! stand or fall together: they are one *place*. Each place is compared as text.

use std::collections::BTreeSet;

use super::WrittenWord;

/// A kind of difference. A place may differ in several kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DifferenceKind {
    /// other punctuation after a word
    Marks,
    /// the same letters in other case
    Case,
    /// other figures, or figures in one form and words in the other
    Numbers,
    /// other words: one form leaves words out, or spells them in another way
    Words,
}

impl DifferenceKind {
    /// All of them.
    pub const ALL: [DifferenceKind; 4] =
        [DifferenceKind::Marks, DifferenceKind::Case, DifferenceKind::Numbers, DifferenceKind::Words];

    /// Its name in metrics.
    pub fn name(self) -> &'static str {
        match self {
            DifferenceKind::Marks => "marks",
            DifferenceKind::Case => "case",
            DifferenceKind::Numbers => "numbers",
            DifferenceKind::Words => "words",
        }
    }
}

/// A place at which two forms differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// the input words, half-open
    pub src: [u64; 2],
    /// in what; never empty
    pub kinds: BTreeSet<DifferenceKind>,
    /// the first form; empty where it leaves the words out
    pub ours: String,
    /// the second form; empty where it leaves the words out
    pub theirs: String,
}

/// The places at which two forms of the same input words differ, in the order of the words.
pub fn differences(ours: &[WrittenWord], theirs: &[WrittenWord]) -> Vec<Difference> {
    let mut tokens: Vec<(&WrittenWord, bool)> =
        ours.iter().map(|token| (token, true)).chain(theirs.iter().map(|token| (token, false))).collect();
    // Tokens of one form that have the same words stay in their order, because the sort is stable.
    tokens.sort_by_key(|(token, _)| token.src);
    let mut found = Vec::new();
    let mut place: Option<([u64; 2], Vec<&str>, Vec<&str>)> = None;
    for (token, is_ours) in tokens {
        if place.as_ref().is_none_or(|(src, ..)| token.src[0] >= src[1]) {
            found.extend(place.replace((token.src, Vec::new(), Vec::new())).and_then(difference));
        }
        let (src, first, second) = place.as_mut().expect("just made");
        src[1] = src[1].max(token.src[1]);
        if is_ours { first } else { second }.push(&token.text);
    }
    found.extend(place.and_then(difference));
    found
}

fn difference((src, ours, theirs): ([u64; 2], Vec<&str>, Vec<&str>)) -> Option<Difference> {
    let kinds = kinds(&ours, &theirs);
    (!kinds.is_empty()).then(|| Difference { src, kinds, ours: ours.join(" "), theirs: theirs.join(" ") })
}

const MARKS: [char; 6] = ['.', ',', '?', '!', ';', ':'];

/// A token without the marks after it, and those marks.
fn parted(token: &str) -> (&str, &str) {
    token.split_at(token.trim_end_matches(MARKS).len())
}

fn kinds(ours: &[&str], theirs: &[&str]) -> BTreeSet<DifferenceKind> {
    let mut kinds = BTreeSet::new();
    if ours == theirs {
        return kinds;
    }
    let bare = |tokens: &[&str]| tokens.iter().map(|token| parted(token).0).collect::<Vec<_>>().join(" ");
    let (first, second) = (bare(ours), bare(theirs));
    if first.to_lowercase() == second.to_lowercase() {
        let marks = |tokens: &[&str]| tokens.iter().map(|token| parted(token).1.to_string()).collect::<Vec<_>>();
        kinds.extend((first != second).then_some(DifferenceKind::Case));
        kinds.extend((marks(ours) != marks(theirs)).then_some(DifferenceKind::Marks));
        return kinds;
    }
    let has_figures = [&first, &second].into_iter().any(|text| text.chars().any(char::is_numeric));
    kinds.insert(if has_figures { DifferenceKind::Numbers } else { DifferenceKind::Words });
    if let (Some(last), Some(other)) = (ours.last(), theirs.last()) {
        kinds.extend((parted(last).1 != parted(other).1).then_some(DifferenceKind::Marks));
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;
    use DifferenceKind::{Case, Marks, Numbers, Words};

    fn written(tokens: &[(&str, u64, u64)]) -> Vec<WrittenWord> {
        let token = |(text, from, to): &(&str, u64, u64)| {
            serde_json::from_value(serde_json::json!({"text": text, "src": [from, to]})).unwrap()
        };
        tokens.iter().map(token).collect()
    }

    fn of(ours: &[(&str, u64, u64)], theirs: &[(&str, u64, u64)]) -> Vec<([u64; 2], Vec<DifferenceKind>)> {
        let found = differences(&written(ours), &written(theirs));
        found.into_iter().map(|d| (d.src, d.kinds.into_iter().collect())).collect()
    }

    #[test]
    fn the_same_tokens_do_not_differ() {
        let tokens = [("Yes,", 0, 1), ("12", 1, 3), ("p.m.", 3, 5)];
        assert_eq!(of(&tokens, &tokens), []);
        assert_eq!(of(&[], &[]), []);
    }

    #[test]
    fn each_place_says_in_what_it_differs() {
        let ours = [("yes", 0, 1), ("we", 1, 2), ("Paid.", 2, 3), ("$20,", 3, 5), ("to", 5, 6), ("him.", 7, 8)];
        let theirs = [
            ("Yes,", 0, 1),
            ("we", 1, 2),
            ("paid", 2, 3),
            ("twenty", 3, 4),
            ("dollars", 4, 5),
            ("to", 5, 6),
            ("uh", 6, 7),
            ("them.", 7, 8),
        ];
        let all = [
            ([0, 1], vec![Marks, Case]),
            ([2, 3], vec![Marks, Case]),
            ([3, 5], vec![Marks, Numbers]),
            ([6, 7], vec![Words]),
            ([7, 8], vec![Words]),
        ];
        assert_eq!(of(&ours, &theirs), all);
        let found = differences(&written(&ours), &written(&theirs));
        assert_eq!((&*found[2].ours, &*found[2].theirs), ("$20,", "twenty dollars"));
        assert_eq!((&*found[3].ours, &*found[3].theirs), ("", "uh"));
    }

    #[test]
    fn tokens_that_share_words_are_one_place_and_it_is_symmetric() {
        let ours = [("10", 0, 4), ("12", 0, 4), ("then", 4, 5)];
        let theirs = [("ten", 0, 1), ("twelve", 1, 2), ("or", 2, 3), ("so", 3, 4), ("then", 4, 5)];
        assert_eq!(of(&ours, &theirs), [([0, 4], vec![Numbers])]);
        assert_eq!(of(&theirs, &ours), [([0, 4], vec![Numbers])]);
    }
}
