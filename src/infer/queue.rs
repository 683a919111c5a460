//! The order of work for the model. Pure: no threads, no clock.
//!
//! Work stands in three lanes, oldest first: live words; words of a backlog; and work that may wait (hypotheses, and
//! words beyond a quota). The oldest item of a lane leads a batch. The batch is filled lane by lane with items that need
//! little padding: those nearest to the leader in length first, while padded tokens and items stay within limits. The
//! leading item always fits.
//!
//! A lane leads if the lanes before it are empty. Otherwise its oldest item leads once it was passed over often enough:
//! a backlog leads one batch of four, and work that may wait leads one batch of eight, however many items there are. So
//! live words that wait lead at least five of any eight batches, and no lane starves.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Items are in a batch with an item that is longer or shorter by so many tokens at most.
const MAX_DIFFERENCE_TOKENS: usize = 16;

/// The kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// words of a partition that has caught up
    Live,
    /// words of a partition that has not caught up
    Backlog,
    /// a hypothesis, or words beyond a quota
    Later,
}

impl Lane {
    /// In the order of work.
    pub const ALL: [Lane; 3] = [Lane::Live, Lane::Backlog, Lane::Later];

    /// While lanes before this one are not empty, its oldest item leads one batch of so many.
    pub fn one_of(self) -> u32 {
        match self {
            Lane::Live => 1,
            Lane::Backlog => 4,
            Lane::Later => 8,
        }
    }
}

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
struct QueuedItem<T> {
    tokens: usize,
    payload: T,
}

#[derive(Debug)]
struct LaneQueue<T> {
    items: VecDeque<QueuedItem<T>>,
    /// number of batches in a row that passed over the lane's oldest item
    passed_over: u32,
}

/// Work that waits, with its length in tokens.
#[derive(Debug)]
pub struct Queue<T> {
    /// as in [`Lane::ALL`]
    lanes: [LaneQueue<T>; 3],
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Queue { lanes: Lane::ALL.map(|_| LaneQueue { items: VecDeque::new(), passed_over: 0 }) }
    }
}

impl<T> Queue<T> {
    /// Adds work of so many tokens.
    pub fn push(&mut self, payload: T, tokens: usize, lane: Lane) {
        self.lanes[lane as usize].items.push_back(QueuedItem { tokens, payload });
    }

    /// Items that wait.
    pub fn len(&self) -> usize {
        self.lanes.iter().map(|lane| lane.items.len()).sum()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Drops what is `abandoned`.
    pub fn purge(&mut self, mut abandoned: impl FnMut(&T) -> bool) {
        for lane in &mut self.lanes {
            lane.items.retain(|i| !abandoned(&i.payload));
        }
    }

    /// The lane whose oldest item leads the next batch.
    fn leads(&self) -> Option<usize> {
        let waits = |lane: &usize| !self.lanes[*lane].items.is_empty();
        let is_due = |lane: &usize| self.lanes[*lane].passed_over + 1 >= Lane::ALL[*lane].one_of();
        let due = [Lane::Later, Lane::Backlog].map(|lane| lane as usize);
        due.into_iter().find(|lane| waits(lane) && is_due(lane)).or_else(|| (0..Lane::ALL.len()).find(waits))
    }

    /// Takes the next batch. The leading item comes first. `abandoned` items are dropped on the way.
    pub fn take(&mut self, limits: BatchLimits, abandoned: impl FnMut(&T) -> bool) -> Vec<T> {
        self.purge(abandoned);
        let Some(leading) = self.leads() else { return Vec::new() };
        let head = self.lanes[leading].items.pop_front().expect("it leads");
        let mut longest = head.tokens;
        let mut batch = vec![head.payload];
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            // Those nearest in length first, and of them the oldest.
            let difference = |(at, item): (usize, &QueuedItem<T>)| (item.tokens.abs_diff(head.tokens), at);
            let mut near: Vec<(usize, usize)> = lane.items.iter().enumerate().map(difference).collect();
            near.retain(|(difference, _)| *difference <= MAX_DIFFERENCE_TOKENS);
            near.sort_unstable();
            let mut chosen = Vec::new();
            for (_, at) in near {
                let padded = longest.max(lane.items[at].tokens) * (batch.len() + chosen.len() + 1);
                if batch.len() + chosen.len() < limits.max_batch_items && padded <= limits.max_batch_tokens {
                    longest = longest.max(lane.items[at].tokens);
                    chosen.push(at);
                }
            }
            chosen.sort_unstable();
            let oldest_went = number == leading || chosen.first() == Some(&0);
            let taken: Vec<T> = chosen.into_iter().rev().map(|at| lane.items.remove(at).expect("it is there").payload).collect();
            batch.extend(taken.into_iter().rev());
            lane.passed_over = if oldest_went || lane.items.is_empty() { 0 } else { lane.passed_over + 1 };
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
        q.push("long", 10_000, Lane::Live);
        assert_eq!(q.take(LIMITS, |_| false), ["long"]);
    }

    #[test]
    fn live_words_go_before_a_backlog_and_that_before_what_may_wait_and_a_batch_is_filled_up_in_that_order() {
        let mut q = Queue::default();
        q.push("hypothesis", 30, Lane::Later);
        q.push("backlog", 30, Lane::Backlog);
        q.push("live", 30, Lane::Live);
        q.push("short", 20, Lane::Live);
        assert_eq!(q.take(BatchLimits { max_batch_items: 3, ..LIMITS }, |_| false), ["live", "short", "backlog"]);
        assert_eq!(q.take(LIMITS, |_| false), ["hypothesis"]);
    }

    #[test]
    fn a_batch_prefers_items_near_in_length_and_has_none_that_need_much_padding() {
        let mut q = Queue::default();
        for (name, tokens) in [("a", 40), ("short", 5), ("b", 45), ("c", 56), ("d", 41), ("e", 42), ("long", 57)] {
            q.push(name, tokens, Lane::Live);
        }
        assert_eq!(q.take(LIMITS, |_| false), ["a", "b", "d", "e"], "the three nearest, the oldest of them first");
        assert_eq!(q.take(LIMITS, |_| false), ["short"]);
        assert_eq!(q.take(LIMITS, |_| false), ["c", "long"]);
    }

    #[test]
    fn abandoned_work_is_skipped() {
        let mut q = Queue::default();
        q.push(1, 5, Lane::Live);
        q.push(2, 5, Lane::Live);
        assert_eq!(q.take(LIMITS, |n| *n == 1), [2]);
    }

    #[test]
    fn however_many_may_wait_all_of_them_together_lead_one_batch_in_eight() {
        let one = BatchLimits { max_batch_tokens: 256, max_batch_items: 1 };
        let mut q = Queue::default();
        for stream in 0..50 {
            q.push((Lane::Later, stream), 30, Lane::Later);
            q.push((Lane::Backlog, stream), 30, Lane::Backlog);
        }
        let mut led = Vec::new();
        for batch in 0..400 {
            q.push((Lane::Live, batch), 30, Lane::Live);
            let taken = q.take(one, |_| false)[0];
            led.push(taken.0);
            if taken.0 != Lane::Live {
                q.push(taken, 30, taken.0); // the item is answered, and its stream asks again
            }
        }
        for eight in led.windows(8) {
            let of = |lane: Lane| eight.iter().filter(|l| **l == lane).count();
            assert!(of(Lane::Later) <= 1 && of(Lane::Backlog) <= 2 && of(Lane::Live) >= 5, "{eight:?}");
        }
        let of = |lane: Lane| led.iter().filter(|l| **l == lane).count();
        assert!(of(Lane::Later) >= 400 / 8 - 1 && of(Lane::Backlog) >= 400 / 5 - 1, "and no fewer");
    }

    /// Largest number of batches in a row that may pass over the oldest item of a lane: the batches before its turn,
    /// and one more if another lane's turn comes first.
    fn longest_wait(lane: Lane) -> u32 {
        match lane {
            Lane::Live => 2,
            Lane::Backlog => Lane::Backlog.one_of(),
            Lane::Later => Lane::Later.one_of() - 1,
        }
    }

    proptest! {
        /// The promises, whatever arrives: every item is in one batch, batches keep their limits, every item gets its
        /// turn, and live words that wait lead, or are in, five of any eight batches.
        #[test]
        fn every_lane_gets_its_share_and_limits_hold(
            arrivals in prop::collection::vec(prop::collection::vec((1usize..400, 0usize..3), 0..6), 1..60),
            max_batch_tokens in 1usize..600,
            max_batch_items in 1usize..6,
        ) {
            let limits = BatchLimits { max_batch_tokens, max_batch_items };
            let mut q = Queue::default();
            let mut waiting: Vec<(usize, usize, Lane, u32)> = Vec::new(); // id, tokens, lane, batches as the oldest of its lane
            let (mut next, mut taken) = (0, 0);
            // For every batch: whether a live item waited, and whether the oldest of them was in it.
            let mut live: Vec<(bool, bool)> = Vec::new();
            let mut rounds: Vec<_> = arrivals;
            rounds.resize(rounds.len() + 400, Vec::new());
            for round in rounds {
                for (tokens, lane) in round {
                    let lane = Lane::ALL[lane];
                    q.push(next, tokens, lane);
                    waiting.push((next, tokens, lane, 0));
                    next += 1;
                }
                let batch = q.take(limits, |_| false);
                let longest = batch.iter().map(|id| waiting.iter().find(|w| w.0 == *id).unwrap().1).max().unwrap_or(0);
                prop_assert!(batch.len() <= 1 || (batch.len() <= max_batch_items && longest * batch.len() <= max_batch_tokens));
                let oldest = |lane: Lane| waiting.iter().find(|w| w.2 == lane).map(|w| w.0);
                live.push((oldest(Lane::Live).is_some(), oldest(Lane::Live).is_some_and(|id| batch.contains(&id))));
                for lane in Lane::ALL {
                    if let Some(oldest) = waiting.iter_mut().find(|w| w.2 == lane).filter(|w| !batch.contains(&w.0)) {
                        oldest.3 += 1;
                        prop_assert!(oldest.3 <= longest_wait(lane), "{lane:?} waits for {} batches", oldest.3);
                    }
                }
                taken += batch.len();
                waiting.retain(|w| !batch.contains(&w.0));
            }
            prop_assert_eq!(next, taken);
            for eight in live.windows(8).filter(|eight| eight.iter().all(|(waited, _)| *waited)) {
                prop_assert!(eight.iter().filter(|(_, went)| *went).count() >= 5);
            }
        }
    }
}
