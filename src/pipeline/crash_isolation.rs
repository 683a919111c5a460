//! Finds a record that ends its worker whenever it is taken, so that the record is left out and does not end workers
//! for ever. [`crash_mark`](crate::kafka::crash_mark) draws the steps.

use crate::kafka::crash_mark::CrashMark;

/// Number of records that are taken one by one after a worker died. If the record that ends workers stands further on,
/// the next worker begins after these records, and so comes nearer to it with each death.
const ALONE: usize = 512;

/// The state of the search: what is known of the records that come next.
#[derive(Debug)]
pub struct CrashIsolation {
    /// the crash mark for the next commit
    mark: CrashMark,
    /// number of records still to be taken one by one
    alone: usize,
    /// no record is taken until this commit is durable
    awaited: Option<(i64, CrashMark)>,
    /// the first record from this offset on has ended its worker twice, alone. (The offset itself may belong to a
    /// transaction marker, which is no record.)
    poison_from: Option<i64>,
}

impl CrashIsolation {
    /// Begins a partition that goes on at `next_offset`, where the last commit left this mark.
    pub fn begin(left: CrashMark, next_offset: i64) -> CrashIsolation {
        let (mark, alone) = match left {
            CrashMark::Clean => (CrashMark::Begun, 0),
            CrashMark::Begun => (CrashMark::Alone, ALONE),
            CrashMark::Alone | CrashMark::Twice => (CrashMark::Twice, ALONE),
        };
        let poison_from = (left == CrashMark::Twice).then_some(next_offset);
        CrashIsolation { mark, alone, awaited: Some((next_offset, mark)), poison_from }
    }

    /// The mark for a commit that is made now.
    pub fn mark(&self) -> CrashMark {
        self.mark
    }

    /// Whether a commit must be durable before the next record is taken.
    pub fn waits(&self) -> bool {
        self.awaited.is_some()
    }

    /// Notes that a commit is durable.
    pub fn committed(&mut self, at: i64, mark: CrashMark) {
        if self.awaited.is_some_and(|(offset, awaited)| awaited == mark && offset <= at) {
            self.awaited = None;
            if self.alone == 0 {
                self.mark = CrashMark::Clean;
            }
        }
    }

    /// Whether the next record, at this offset, must be refused without being processed.
    pub fn is_poison(&self, offset: i64) -> bool {
        self.poison_from.is_some_and(|from| from <= offset)
    }

    /// Notes that a record was taken, and that the partition goes on after it. Returns whether this must be committed
    /// at once.
    pub fn took(&mut self, next_offset: i64) -> bool {
        if self.alone == 0 {
            return false;
        }
        self.poison_from = None;
        self.alone -= 1;
        self.mark = if self.alone == 0 { CrashMark::Clean } else { CrashMark::Alone };
        self.awaited = Some((next_offset, self.mark));
        true
    }

    /// The backlog is processed: no record of it ended the worker.
    pub fn caught_up(&mut self) {
        if self.alone > 0 && !self.waits() {
            self.alone = 0;
            self.mark = CrashMark::Clean;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays the owners of a log until one of them survives. Each owner takes records up to the poison record and dies
    /// there.
    fn deaths_until_it_is_left_out(poison: i64, committed: i64) -> (u32, Vec<i64>) {
        let (mut log, mut deaths, mut refused) = ((committed, CrashMark::Clean), 0, Vec::new());
        'owner: loop {
            let mut isolation = CrashIsolation::begin(log.1, log.0);
            let mut at = log.0;
            log = (at, isolation.mark());
            isolation.committed(log.0, log.1);
            while at < poison + 5 {
                assert!(!isolation.waits());
                if isolation.is_poison(at) {
                    refused.push(at);
                } else if at == poison {
                    deaths += 1;
                    continue 'owner;
                }
                at += 1;
                if isolation.took(at) {
                    log = (at, isolation.mark());
                    isolation.committed(log.0, log.1);
                }
            }
            return (deaths, refused);
        }
    }

    #[test]
    fn a_record_that_ends_its_worker_is_refused_after_one_death_among_others_and_two_alone() {
        for before in [0, 1, 7, 300] {
            assert_eq!(deaths_until_it_is_left_out(100 + before, 100), (3, vec![100 + before]), "{before} records before it");
        }
    }

    /// Like [`deaths_until_it_is_left_out`], for a log of a transactional sender: after every `each` records there is a
    /// marker, which has an offset and is no record.
    fn deaths_among_markers(poison: usize, each: usize) -> (u32, Vec<i64>) {
        let offsets: Vec<i64> = (0..poison + 5).map(|n| (n + n / each) as i64).collect();
        let (mut log, mut deaths, mut refused) = ((0, CrashMark::Clean), 0, Vec::new());
        'owner: while deaths < 20 {
            let mut isolation = CrashIsolation::begin(log.1, log.0);
            log = (log.0, isolation.mark());
            isolation.committed(log.0, log.1);
            let begin = log.0;
            for &at in offsets.iter().filter(|at| **at >= begin) {
                if isolation.is_poison(at) {
                    refused.push(at);
                } else if at == offsets[poison] {
                    deaths += 1;
                    continue 'owner;
                }
                if isolation.took(at + 1) {
                    log = (at + 1, isolation.mark());
                    isolation.committed(log.0, log.1);
                }
            }
            break;
        }
        (deaths, refused)
    }

    #[test]
    fn a_record_behind_a_transaction_marker_is_convicted_as_any_other_and_no_other_is() {
        for (poison, each) in [(1, 1), (3, 1), (4, 2), (8, 4), (300, 7)] {
            let at = (poison + poison / each) as i64;
            assert_eq!(deaths_among_markers(poison, each), (3, vec![at]), "record {poison}, a marker behind every {each}");
        }
    }

    #[test]
    fn a_partition_that_was_handed_over_or_goes_on_is_under_no_suspicion() {
        let mut isolation = CrashIsolation::begin(CrashMark::Clean, 5);
        assert!(isolation.waits(), "nothing is taken before the commit says so");
        isolation.committed(5, CrashMark::Clean); // a commit of the previous owner
        assert!(isolation.waits());
        isolation.committed(5, CrashMark::Begun);
        assert!(!isolation.waits() && !isolation.took(6) && isolation.mark() == CrashMark::Clean);
        for left in [CrashMark::Begun, CrashMark::Alone] {
            let mut isolation = CrashIsolation::begin(left, 5);
            isolation.committed(5, isolation.mark());
            for at in 0..ALONE as i64 {
                assert!(isolation.took(6 + at), "each is committed");
                isolation.committed(6 + at, isolation.mark());
            }
            assert!(!isolation.took(2000) && isolation.mark() == CrashMark::Clean);
        }
    }

    #[test]
    fn marks_come_back_from_metadata_and_foreign_metadata_is_clean() {
        for mark in [CrashMark::Clean, CrashMark::Begun, CrashMark::Alone, CrashMark::Twice] {
            assert_eq!(CrashMark::from_metadata(mark.to_metadata()), mark);
        }
        assert_eq!(CrashMark::from_metadata("somebody's"), CrashMark::Clean);
    }
}
