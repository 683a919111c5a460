//! The order of work for the model. Pure: no threads, no clock.
//!
//! Final words go before what may wait (hypotheses, and words beyond a quota), oldest first. A batch is the item whose turn it is plus whatever pads it little: items of its
//! length bucket, then shorter ones, while padded tokens and items stay within limits. The first item always fits.
//! Nothing starves: the head of finals is in every batch, and what may wait goes first once it was passed over [`PATIENCE`] times.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Batches that what may wait lets pass before it goes ahead of finals.
pub const PATIENCE: u32 = 8;
/// Tokens of a length bucket.
const BUCKET: usize = 32;

/// Largest batch.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct BatchLimits {
    /// padded tokens: rows × longest row
    pub max_batch_tokens: usize,
    /// rows
    pub max_batch_items: usize,
}

#[derive(Debug)]
struct Item<T> {
    tokens: usize,
    passed_over: u32,
    payload: T,
}

/// Work that waits, with its length in tokens.
#[derive(Debug)]
pub struct Queue<T> {
    finals: VecDeque<Item<T>>,
    later: VecDeque<Item<T>>,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Queue { finals: VecDeque::new(), later: VecDeque::new() }
    }
}

impl<T> Queue<T> {
    /// Adds work of so many tokens.
    pub fn push(&mut self, payload: T, tokens: usize, later: bool) {
        let item = Item { tokens, passed_over: 0, payload };
        if later { self.later.push_back(item) } else { self.finals.push_back(item) }
    }

    /// Items that wait.
    pub fn len(&self) -> usize {
        self.finals.len() + self.later.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Drops what is `abandoned`.
    pub fn purge(&mut self, mut abandoned: impl FnMut(&T) -> bool) {
        self.finals.retain(|i| !abandoned(&i.payload));
        self.later.retain(|i| !abandoned(&i.payload));
    }

    /// Takes the next batch, its longest item's bucket first. Items that are `abandoned` are dropped on the way.
    pub fn take(&mut self, limits: BatchLimits, mut abandoned: impl FnMut(&T) -> bool) -> Vec<T> {
        self.purge(&mut abandoned);
        let impatient = self.later.front().is_some_and(|h| h.passed_over >= PATIENCE);
        let head = if impatient || self.finals.is_empty() { self.later.pop_front() } else { self.finals.pop_front() };
        let Some(head) = head else { return Vec::new() };
        let bucket = head.tokens.div_ceil(BUCKET);
        let width = bucket * BUCKET;
        let mut longest = head.tokens;
        let mut batch = vec![head.payload];
        for (lane, same) in [(0, true), (1, true), (0, false), (1, false)] {
            let queue = if lane == 0 { &mut self.finals } else { &mut self.later };
            let mut i = 0;
            while i < queue.len() && batch.len() < limits.max_batch_items {
                let tokens = queue[i].tokens;
                let padded = longest.max(tokens) * (batch.len() + 1);
                let fits = tokens <= width && (tokens.div_ceil(BUCKET) == bucket) == same && padded <= limits.max_batch_tokens;
                if fits {
                    longest = longest.max(tokens);
                    batch.push(queue.remove(i).expect("i is in range").payload);
                } else {
                    i += 1;
                }
            }
        }
        for item in &mut self.later {
            item.passed_over += 1;
        }
        batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: BatchLimits = BatchLimits { max_batch_tokens: 256, max_batch_items: 4 };

    #[test]
    fn the_first_item_always_fits() {
        let mut q = Queue::default();
        q.push("long", 10_000, false);
        assert_eq!(q.take(LIMITS, |_| false), ["long"]);
    }

    #[test]
    fn finals_go_before_later_and_fill_up_with_them() {
        let mut q = Queue::default();
        q.push("h", 30, true);
        q.push("f", 30, false);
        assert_eq!(q.take(LIMITS, |_| false), ["f", "h"]);
    }

    #[test]
    fn a_batch_prefers_items_of_its_own_length() {
        let mut q = Queue::default();
        for (name, tokens) in [("a", 60), ("short", 5), ("b", 62), ("c", 40), ("d", 64)] {
            q.push(name, tokens, false);
        }
        assert_eq!(q.take(LIMITS, |_| false), ["a", "b", "c", "d"]);
        assert_eq!(q.take(LIMITS, |_| false), ["short"]);
    }

    #[test]
    fn abandoned_work_is_skipped() {
        let mut q = Queue::default();
        q.push(1, 5, false);
        q.push(2, 5, false);
        assert_eq!(q.take(LIMITS, |n| *n == 1), [2]);
    }

    proptest! {
        #[test]
        fn order_never_starves_and_limits_hold(
            arrivals in prop::collection::vec(prop::collection::vec((1usize..400, any::<bool>()), 0..6), 1..60),
            max_batch_tokens in 1usize..600,
            max_batch_items in 1usize..6,
        ) {
            let limits = BatchLimits { max_batch_tokens, max_batch_items };
            let mut q = Queue::default();
            let mut waiting: Vec<(usize, usize, bool, u32)> = Vec::new(); // id, tokens, hypothesis, batches seen
            let (mut next, mut pushed, mut taken) = (0, 0, 0);
            let mut rounds: Vec<_> = arrivals;
            rounds.resize(rounds.len() + 400, Vec::new());
            for round in rounds {
                for (tokens, hypothesis) in round {
                    q.push(next, tokens, hypothesis);
                    waiting.push((next, tokens, hypothesis, 0));
                    next += 1;
                    pushed += 1;
                }
                let oldest_final = waiting.iter().find(|w| !w.2).map(|w| w.0);
                let impatient = waiting.iter().find(|w| w.2 && w.3 >= PATIENCE).map(|w| w.0);
                let batch = q.take(limits, |_| false);
                if let Some(head) = impatient.or(oldest_final) {
                    prop_assert!(batch.contains(&head), "the one whose turn it is must be in the batch");
                }
                let longest = batch.iter().map(|id| waiting.iter().find(|w| w.0 == *id).unwrap().1).max().unwrap_or(0);
                prop_assert!(batch.len() <= 1 || (batch.len() <= max_batch_items && longest * batch.len() <= max_batch_tokens));
                taken += batch.len();
                waiting.retain(|w| !batch.contains(&w.0));
                for w in &mut waiting {
                    w.3 += 1;
                }
            }
            prop_assert_eq!(pushed, taken);
        }
    }
}
