//! Aligns two sequences of tokens with the fewest edits (Levenshtein).

use std::collections::HashMap;
use std::hash::Hash;

/// The alignment of a reference with a hypothesis.
#[derive(Debug, PartialEq, Eq)]
pub struct Alignment {
    /// for each reference token, the hypothesis token it stands against, if any
    pub partner: Vec<Option<usize>>,
    /// hypothesis tokens inserted before each reference token, and after the last
    pub inserted: Vec<usize>,
}

/// Tokens as numbers, so that comparing them is cheap and they can be hashed by position.
fn numbers<T: Eq + Hash>(reference: &[T], hypothesis: &[T]) -> (Vec<u64>, Vec<u64>) {
    let mut known: HashMap<&T, u64> = HashMap::new();
    let both = reference.iter().chain(hypothesis);
    let mut numbers: Vec<u64> = Vec::with_capacity(reference.len() + hypothesis.len());
    for token in both {
        let next = known.len() as u64;
        numbers.push(*known.entry(token).or_insert(next));
    }
    let hypothesis = numbers.split_off(reference.len());
    (numbers, hypothesis)
}

/// Least number of insertions, deletions and substitutions.
pub fn distance<T: Eq + Hash>(reference: &[T], hypothesis: &[T]) -> u64 {
    let (r, h) = numbers(reference, hypothesis);
    rapidfuzz::distance::levenshtein::distance(r, h) as u64
}

/// The alignment with the fewest edits; among those, a match or substitution before a deletion before an insertion,
/// read from the end. Takes memory and time in the product of the lengths.
pub fn align<T: Eq>(reference: &[T], hypothesis: &[T]) -> Alignment {
    #[derive(Clone, Copy)]
    enum Step {
        Both,
        Deletion,
        Insertion,
    }
    let (n, m) = (reference.len(), hypothesis.len());
    let mut steps = vec![Step::Insertion; (n + 1) * (m + 1)];
    let mut row: Vec<u32> = (0..=m as u32).collect();
    for i in 1..=n {
        let mut diagonal = row[0];
        row[0] = i as u32;
        steps[i * (m + 1)] = Step::Deletion;
        for j in 1..=m {
            let both = diagonal + u32::from(reference[i - 1] != hypothesis[j - 1]);
            let (deletion, insertion) = (row[j] + 1, row[j - 1] + 1);
            let best = both.min(deletion).min(insertion);
            steps[i * (m + 1) + j] = match best {
                b if b == both => Step::Both,
                b if b == deletion => Step::Deletion,
                _ => Step::Insertion,
            };
            diagonal = row[j];
            row[j] = best;
        }
    }
    let mut out = Alignment { partner: vec![None; n], inserted: vec![0; n + 1] };
    let (mut i, mut j) = (n, m);
    while i > 0 || j > 0 {
        match steps[i * (m + 1) + j] {
            Step::Both => {
                (i, j) = (i - 1, j - 1);
                out.partner[i] = Some(j);
            }
            Step::Deletion => i -= 1,
            Step::Insertion => {
                j -= 1;
                out.inserted[i] += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_alignment_by_hand() {
        let reference = ["it", "costs", "$5", "today"];
        let hypothesis = ["it", "costs", "five", "dollars", "today"];
        let a = align(&reference, &hypothesis);
        assert_eq!(a.partner, [Some(0), Some(1), Some(3), Some(4)]);
        assert_eq!(a.inserted, [0, 0, 1, 0, 0]);
        assert_eq!(align(&["a", "b"], &["b"]).partner, [None, Some(0)]);
        assert_eq!(align(&[] as &[&str], &["b"]).inserted, [1]);
    }

    proptest! {
        #[test]
        fn an_alignments_edits_are_the_distance(r in prop::collection::vec(0u8..4, 0..12), h in prop::collection::vec(0u8..4, 0..12)) {
            let a = align(&r, &h);
            let wrong = a.partner.iter().enumerate().filter(|(i, p)| p.is_none_or(|p| r[*i] != h[p])).count();
            prop_assert_eq!((wrong + a.inserted.iter().sum::<usize>()) as u64, distance(&r, &h));
            let partners: Vec<usize> = a.partner.iter().flatten().copied().collect();
            prop_assert!(partners.is_sorted_by(|a, b| a < b));
        }
    }
}
