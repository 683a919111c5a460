//! The simulated cluster: logs, a consumer group and a transaction coordinator.
//!
//! It keeps the rules that a worker relies on, and no more: offsets, the last stable offset, compaction, epochs of
//! producers and members, and what a transaction coordinator answers to an end of a transaction that comes late or
//! twice.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use crate::kafka::crash_mark::Position;
use crate::record::RawRecord;

/// Between two looks of the coordinator for overdue transactions: Kafka's
/// `transaction.abort.timed.out.transaction.cleanup.interval.ms`.
const SWEEP_MS: u64 = 10_000;

/// The topics of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// the input
    Raw,
    /// segments
    Formatted,
    /// partials
    Partial,
    /// refused records
    DeadLetter,
    /// states
    Changelog,
    /// turns
    Conversation,
    /// samples
    Shadow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// in an open transaction of this producer
    Open(u64),
    Committed,
    Aborted,
}

#[derive(Clone, Debug)]
struct Entry {
    record: RawRecord,
    status: Status,
    /// the end of a transaction: it has an offset and is no record
    marker: bool,
}

/// A partition of a topic.
#[derive(Default)]
pub struct Log {
    entries: BTreeMap<i64, Entry>,
    low: i64,
    next: i64,
}

impl Log {
    fn append(&mut self, partition: i32, mut record: RawRecord, status: Status, marker: bool) -> i64 {
        let offset = self.next;
        (record.partition, record.offset) = (partition, offset);
        self.entries.insert(offset, Entry { record, status, marker });
        self.next += 1;
        offset
    }

    /// Before this offset every record is committed or aborted.
    pub fn stable(&self) -> i64 {
        let open = self.entries.iter().find(|(_, e)| matches!(e.status, Status::Open(_)));
        open.map_or(self.next, |(offset, _)| *offset)
    }

    /// The first offset that the log still has, and the one after its last.
    pub fn bounds(&self) -> (i64, i64) {
        (self.low, self.next)
    }

    /// The records that a `read_committed` reader sees from this offset on.
    pub fn committed(&self, from: i64) -> impl Iterator<Item = &RawRecord> {
        let stable = self.stable();
        self.entries
            .range(from..)
            .take_while(move |(offset, _)| **offset < stable)
            .filter(|(_, e)| e.status == Status::Committed && !e.marker)
            .map(|(_, e)| &e.record)
    }

    /// Removes records of which a later one with the same key is stable.
    fn compact(&mut self) {
        let stable = self.stable();
        let mut latest: BTreeMap<Vec<u8>, i64> = BTreeMap::new();
        for (offset, e) in self.entries.range(..stable).filter(|(_, e)| e.status == Status::Committed && !e.marker) {
            latest.insert(e.record.key.clone().unwrap_or_default(), *offset);
        }
        self.entries.retain(|offset, e| {
            let key = e.record.key.clone().unwrap_or_default();
            *offset >= stable
                || e.status == Status::Committed && !e.marker && latest[&key] == *offset && e.record.payload.is_some()
        });
    }

    fn end_transaction(&mut self, partition: i32, producer: u64, commit: bool) {
        let status = if commit { Status::Committed } else { Status::Aborted };
        for entry in self.entries.values_mut().filter(|e| e.status == Status::Open(producer)) {
            entry.status = status;
        }
        self.append(partition, RawRecord::default(), status, true);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Empty,
    Ongoing,
    Committed,
    Aborted,
}

/// What the transaction coordinator knows of a transactional id.
struct Transactional {
    producer: u64,
    epoch: u64,
    phase: Phase,
    began_ms: u64,
    partitions: BTreeSet<(Topic, i32)>,
    offsets: BTreeMap<i32, Position>,
}

/// Why the broker refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokerRefusal {
    /// a newer producer, or the coordinator, has taken over
    Fenced,
    /// the transaction is not open
    NotOpen,
    /// the member's epoch, or the group's generation, is another one
    StaleMember,
}

/// A member of the group, as the coordinator sees it.
struct Member {
    process: u64,
    epoch: u64,
    heard_ms: u64,
    target: BTreeSet<i32>,
}

fn text(bytes: &Option<Vec<u8>>) -> String {
    String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned()
}

/// What a member hears of its assignment.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Assigned {
    /// the coordinator has given the member up: everything is lost
    pub lost: bool,
    /// partitions that the member must give up
    pub revoked: Vec<i32>,
    /// partitions that it owns from now on
    pub assigned: Vec<i32>,
    /// its epoch, or the generation
    pub epoch: u64,
}

/// The cluster.
pub struct SimulatedCluster {
    /// partitions of each topic
    pub partitions: i32,
    logs: BTreeMap<(Topic, i32), Log>,
    transactions: BTreeMap<String, Transactional>,
    producers: u64,
    /// committed positions of the group
    pub positions: BTreeMap<i32, Position>,
    members: BTreeMap<u64, Member>,
    owners: BTreeMap<i32, u64>,
    generation: u64,
    /// the classic protocol: one generation for all members
    pub classic: bool,
    next_member: u64,
    session_timeout_ms: u64,
    transaction_timeout_ms: u64,
    /// when overdue transactions were looked for
    swept_ms: u64,
    /// processes whose heartbeats do not arrive
    pub cut_off: BTreeSet<u64>,
    /// the coordinator checks that a partition is part of the transaction (Kafka 3.6 and later)
    pub verifies: bool,
    /// a hash of all that happened
    pub trace: DefaultHasher,
    /// every event is printed
    pub says: bool,
    /// what must never happen, and did
    pub violations: Vec<String>,
}

impl SimulatedCluster {
    /// Without a record.
    pub fn new(partitions: i32, session_timeout_ms: u64, transaction_timeout_ms: u64) -> SimulatedCluster {
        SimulatedCluster {
            partitions,
            logs: BTreeMap::new(),
            transactions: BTreeMap::new(),
            producers: 0,
            positions: BTreeMap::new(),
            members: BTreeMap::new(),
            owners: BTreeMap::new(),
            generation: 0,
            classic: false,
            next_member: 0,
            session_timeout_ms,
            transaction_timeout_ms,
            swept_ms: 0,
            cut_off: BTreeSet::new(),
            verifies: true,
            trace: DefaultHasher::new(),
            says: false,
            violations: Vec::new(),
        }
    }

    fn log_mut(&mut self, topic: Topic, partition: i32) -> &mut Log {
        self.logs.entry((topic, partition)).or_default()
    }

    /// A partition's log.
    pub fn log(&mut self, topic: Topic, partition: i32) -> &Log {
        self.log_mut(topic, partition)
    }

    /// The partition of a key.
    pub fn partition_of(&self, key: Option<&[u8]>) -> i32 {
        let sum: u64 = key.unwrap_or_default().iter().fold(7, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
        (sum % self.partitions as u64) as i32
    }

    /// Appends a record outside any transaction.
    pub fn append(&mut self, topic: Topic, partition: i32, record: RawRecord) -> i64 {
        if topic != Topic::Partial {
            // Partials go by a rate limit that has a clock of its own.
            self.trace(("append", topic, partition, text(&record.key), text(&record.payload)));
        }
        self.log_mut(topic, partition).append(partition, record, Status::Committed, false)
    }

    /// Notes an event.
    pub fn trace(&mut self, what: impl Hash + std::fmt::Debug) {
        if self.says {
            let said = format!("{what:?}");
            println!("{}", said.chars().take(300).collect::<String>());
        }
        what.hash(&mut self.trace);
    }

    // ---- transactions ----

    /// A producer begins: whoever had the transactional id is fenced, and its open transaction aborted. Gives producer
    /// and epoch.
    pub fn init_producer(&mut self, id: &str) -> (u64, u64) {
        self.producers += 1;
        let number = self.producers;
        if self.transactions.contains_key(id) {
            self.end_open(id, false);
            let known = self.transactions.get_mut(id).expect("just seen");
            known.epoch += 1;
            known.phase = Phase::Empty;
            return (known.producer, known.epoch);
        }
        let new = Transactional {
            producer: number,
            epoch: 0,
            phase: Phase::Empty,
            began_ms: 0,
            partitions: BTreeSet::new(),
            offsets: BTreeMap::new(),
        };
        self.transactions.insert(id.to_string(), new);
        (number, 0)
    }

    fn open(&mut self, id: &str, epoch: u64) -> Result<&mut Transactional, BrokerRefusal> {
        let transaction = self.transactions.get_mut(id).ok_or(BrokerRefusal::Fenced)?;
        if transaction.epoch == epoch { Ok(transaction) } else { Err(BrokerRefusal::Fenced) }
    }

    /// Adds a partition to the transaction, and so begins it.
    ///
    /// # Errors
    /// The epoch is old.
    pub fn add_partition(&mut self, id: &str, epoch: u64, at: (Topic, i32), now_ms: u64) -> Result<(), BrokerRefusal> {
        let transaction = self.open(id, epoch)?;
        if transaction.phase != Phase::Ongoing {
            (transaction.phase, transaction.began_ms) = (Phase::Ongoing, now_ms);
        }
        transaction.partitions.insert(at);
        Ok(())
    }

    /// Appends a record of a transaction.
    ///
    /// # Errors
    /// The epoch is old, or the broker verifies that the partition is part of the transaction, and it is not.
    pub fn produce(&mut self, id: &str, epoch: u64, at: (Topic, i32), record: RawRecord) -> Result<(), BrokerRefusal> {
        let verifies = self.verifies;
        let transaction = self.open(id, epoch)?;
        if verifies && !(transaction.phase == Phase::Ongoing && transaction.partitions.contains(&at)) {
            return Err(BrokerRefusal::NotOpen);
        }
        let producer = transaction.producer;
        self.trace(("produce", at, text(&record.key), text(&record.payload)));
        self.log_mut(at.0, at.1).append(at.1, record, Status::Open(producer), false);
        Ok(())
    }

    /// Adds positions to the transaction.
    ///
    /// # Errors
    /// The epoch is old, or the member's.
    pub fn add_offsets(
        &mut self,
        (id, epoch): (&str, u64),
        (member, member_epoch): (u64, u64),
        positions: &[(i32, Position)],
        now_ms: u64,
    ) -> Result<(), BrokerRefusal> {
        self.check_member(member, member_epoch)?;
        let transaction = self.open(id, epoch)?;
        if transaction.phase != Phase::Ongoing {
            (transaction.phase, transaction.began_ms) = (Phase::Ongoing, now_ms);
        }
        transaction.offsets.extend(positions.iter().copied());
        Ok(())
    }

    /// Commits positions outside any transaction.
    ///
    /// # Errors
    /// The member's epoch is old.
    pub fn commit_positions(&mut self, (member, epoch): (u64, u64), positions: &[(i32, Position)]) -> Result<(), BrokerRefusal> {
        self.check_member(member, epoch)?;
        self.advance(positions.iter().copied().collect());
        Ok(())
    }

    fn advance(&mut self, positions: BTreeMap<i32, Position>) {
        for (partition, (offset, mark)) in positions {
            if let Some((before, _)) = self.positions.get(&partition)
                && *before > offset
            {
                self.violations
                    .push(format!("the committed offset of partition {partition} went back from {before} to {offset}"));
            }
            self.trace(("offset", partition, offset, mark.to_metadata()));
            self.positions.insert(partition, (offset, mark));
        }
    }

    fn check_member(&self, member: u64, epoch: u64) -> Result<(), BrokerRefusal> {
        let known = self.members.get(&member).ok_or(BrokerRefusal::StaleMember)?;
        let present = if self.classic { self.generation } else { known.epoch };
        if present == epoch { Ok(()) } else { Err(BrokerRefusal::StaleMember) }
    }

    /// Ends a transaction, as the coordinator does when the request comes, however late: a second end of the same kind
    /// is answered as the first one was.
    ///
    /// # Errors
    /// The epoch is old, or another end came before.
    pub fn end_transaction(&mut self, id: &str, epoch: u64, commit: bool) -> Result<(), BrokerRefusal> {
        match (self.open(id, epoch)?.phase, commit) {
            (Phase::Ongoing, _) => {
                self.end_open(id, commit);
                Ok(())
            }
            (Phase::Committed, true) | (Phase::Aborted, false) => Ok(()),
            (Phase::Committed, false) | (Phase::Aborted, true) | (Phase::Empty, _) => Err(BrokerRefusal::NotOpen),
        }
    }

    fn end_open(&mut self, id: &str, commit: bool) {
        let Some(transaction) = self.transactions.get_mut(id).filter(|t| t.phase == Phase::Ongoing) else { return };
        transaction.phase = if commit { Phase::Committed } else { Phase::Aborted };
        let producer = transaction.producer;
        let (partitions, offsets) = (std::mem::take(&mut transaction.partitions), std::mem::take(&mut transaction.offsets));
        self.trace(("end", id, commit));
        for (topic, partition) in partitions {
            self.log_mut(topic, partition).end_transaction(partition, producer, commit);
        }
        if commit {
            self.advance(offsets);
        }
    }

    /// Whether a transaction is open.
    pub fn is_open(&self, id: &str) -> bool {
        self.transactions.get(id).is_some_and(|t| t.phase == Phase::Ongoing)
    }

    /// Whether offsets of a partition are part of an open transaction.
    pub fn has_pending_offsets(&self, partition: i32) -> bool {
        self.transactions.values().any(|t| t.phase == Phase::Ongoing && t.offsets.contains_key(&partition))
    }

    // ---- the group ----

    /// A member joins. Gives its number.
    pub fn join(&mut self, process: u64, now_ms: u64) -> u64 {
        self.next_member += 1;
        let number = self.next_member;
        self.members.insert(number, Member { process, epoch: 0, heard_ms: now_ms, target: BTreeSet::new() });
        self.rebalance();
        number
    }

    /// A member leaves.
    pub fn leave(&mut self, member: u64) {
        if self.members.remove(&member).is_some() {
            self.owners.retain(|_, owner| *owner != member);
            self.rebalance();
        }
    }

    /// Shares the partitions out anew. Members keep what they have as far as it is their share.
    fn rebalance(&mut self) {
        self.generation += 1;
        let members: Vec<u64> = self.members.keys().copied().collect();
        for member in self.members.values_mut() {
            member.target.clear();
        }
        if members.is_empty() {
            return;
        }
        let most = (self.partitions as usize).div_ceil(members.len());
        for partition in 0..self.partitions {
            let kept = self.owners.get(&partition).filter(|owner| self.members.get(owner).is_some_and(|m| m.target.len() < most));
            let to = kept
                .copied()
                .unwrap_or_else(|| *members.iter().min_by_key(|m| self.members[m].target.len()).expect("there are members"));
            self.members.get_mut(&to).expect("a member").target.insert(partition);
        }
        self.trace(("rebalance", self.generation));
    }

    /// What a member hears now. `owned`: what it has. Partitions in `revoked` are its own until it says
    /// [`SimulatedCluster::given_up`].
    pub fn hear(&mut self, member: u64, owned: &BTreeSet<i32>) -> Assigned {
        let Some(known) = self.members.get(&member) else { return Assigned { lost: true, ..Assigned::default() } };
        let revoked: Vec<i32> = owned.difference(&known.target).copied().collect();
        let free = |p: &i32| !owned.contains(p) && self.owners.get(p).is_none_or(|owner| *owner == member);
        let assigned: Vec<i32> = known.target.iter().copied().filter(free).collect();
        for partition in &assigned {
            self.owners.insert(*partition, member);
        }
        let generation = self.generation;
        let known = self.members.get_mut(&member).expect("just seen");
        if revoked.is_empty() && known.epoch != generation {
            known.epoch = generation;
        }
        let epoch = if self.classic { generation } else { known.epoch };
        if !assigned.is_empty() {
            self.trace(("assigned", member, &assigned));
        }
        Assigned { lost: false, revoked, assigned, epoch }
    }

    /// A member has given partitions up.
    pub fn given_up(&mut self, member: u64, partitions: &[i32]) {
        self.trace(("given up", member, partitions));
        for partition in partitions {
            if self.owners.get(partition) == Some(&member) {
                self.owners.remove(partition);
            }
        }
    }

    /// What the cluster does by itself: members that are silent lose their partitions, and transactions that stay open
    /// are aborted.
    pub fn tick(&mut self, now_ms: u64, lives: impl Fn(u64) -> bool) {
        let mut silent = Vec::new();
        for (number, member) in &mut self.members {
            if lives(member.process) && !self.cut_off.contains(&member.process) {
                member.heard_ms = now_ms;
            } else if now_ms > member.heard_ms + self.session_timeout_ms {
                silent.push(*number);
            }
        }
        for member in silent {
            self.trace(("silent", member));
            self.leave(member);
        }
        if now_ms < self.swept_ms + SWEEP_MS {
            return;
        }
        self.swept_ms = now_ms;
        let timeout = self.transaction_timeout_ms;
        let overdue = |t: &Transactional| t.phase == Phase::Ongoing && now_ms > t.began_ms + timeout;
        let overdue: Vec<String> = self.transactions.iter().filter(|(_, t)| overdue(t)).map(|(id, _)| id.clone()).collect();
        for id in overdue {
            self.end_open(&id, false);
            self.transactions.get_mut(&id).expect("just seen").epoch += 1;
        }
    }

    /// Compacts the changelog.
    pub fn compact(&mut self) {
        for partition in 0..self.partitions {
            self.log_mut(Topic::Changelog, partition).compact();
        }
    }

    /// The committed position of a partition.
    pub fn position(&self, partition: i32) -> Option<Position> {
        self.positions.get(&partition).copied()
    }

    /// A hash of all that happened so far.
    pub fn traced(&self) -> u64 {
        self.trace.finish()
    }
}
