//! The clients of a simulated worker: the other side of the seam to Kafka.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode};
use rdkafka::message::Headers;
use tokio::runtime::Handle;

use super::World;
use super::cluster::{BrokerRefusal, Topic};
use super::machine::pause;
use crate::config::Topics;
use crate::consume::changelog::{ChangelogRecords, ChangelogState, RestoreError, StartingPoint, TakeoverReader};
use crate::consume::group::{RebalanceListener, StartError};
use crate::consume::poll::{Polled, RawConsumer};
use crate::kafka::crash_mark::Position;
use crate::kafka::membership::{Membership, Proof};
use crate::kafka::sign_in::{Credentials, SignedIn};
use crate::pipeline::cluster::{Clients, Cluster};
use crate::pipeline::{RunError, Shared};
use crate::produce::plain::PartialProducer;
use crate::produce::producer::{CallError, CallFailure, Failed, Producer};
use crate::produce::serializer::{ProducerRecord, SchemaIds};
use crate::record::RawRecord;
use crate::session::snapshot;
use crate::system;

/// How often a worker that is cut off looks whether it is still so.
const LOOK: Duration = Duration::from_millis(50);

/// The cluster, as a process sees it.
pub struct ClusterOf {
    /// the world
    pub world: Arc<World>,
    /// the process
    pub process: u64,
    /// memberships so far
    pub memberships: Mutex<u64>,
}

struct Anybody;

impl SignedIn for Anybody {
    fn give(&self, _: &Credentials) -> KafkaResult<()> {
        Ok(())
    }
}

impl Cluster for ClusterOf {
    fn clients(&self, shared: &Shared, _: &Handle) -> Result<Clients, RunError> {
        let membership = {
            let mut memberships = self.memberships.lock().unwrap();
            *memberships += 1;
            *memberships
        };
        pause(&self.world.machine, 50);
        let id = if self.world.plan.one_transactional_id {
            format!("worker-{}", self.process)
        } else {
            format!("worker-{}-{membership}", self.process)
        };
        let (_, epoch) = self.world.cluster().init_producer(&id);
        let link = Link { world: self.world.clone(), process: self.process };
        let consumer = SimulatedConsumer {
            link: link.clone(),
            state: RefCell::default(),
            listener: RefCell::default(),
            member: SimulatedMember { link: link.clone(), known: RefCell::default() },
        };
        let producer = SimulatedProducer {
            link: link.clone(),
            topics: shared.settings.topics.clone(),
            id,
            epoch,
            transactional: shared.settings.delivery.guarantee == crate::config::Guarantee::ExactlyOnce,
            sent: Mutex::default(),
        };
        Ok(Clients {
            consumer: Box::new(consumer),
            producer: Box::new(producer),
            partials: Box::new(SimulatedPartials { link: link.clone(), topics: shared.settings.topics.clone() }),
            takeovers: Arc::new(SimulatedTakeovers { link, shared_settings: shared.settings.clone() }),
            schemas: SchemaIds::default(),
        })
    }
}

/// A process's way to the cluster.
#[derive(Clone)]
struct Link {
    world: Arc<World>,
    process: u64,
}

impl Link {
    fn is_cut_off(&self) -> bool {
        self.world.cluster().cut_off.contains(&self.process)
    }

    /// Waits until the cluster can be reached; `false` if it cannot by then.
    fn reaches(&self, deadline: Instant) -> bool {
        let latency = if self.world.machine.once_in(40) { 300 } else { 3 };
        pause(&self.world.machine, latency);
        while self.is_cut_off() {
            if system::now() >= deadline {
                return false;
            }
            system::sleep_thread(LOOK);
        }
        true
    }
}

fn topic_of(topics: &Topics, name: &str) -> Topic {
    match name {
        _ if name == topics.raw => Topic::Raw,
        _ if name == topics.formatted => Topic::Formatted,
        _ if name == topics.partial => Topic::Partial,
        _ if name == topics.dead_letter => Topic::DeadLetter,
        _ if name == topics.changelog => Topic::Changelog,
        _ if name == topics.conversation => Topic::Conversation,
        _ => Topic::Shadow,
    }
}

fn owned_record(made: ProducerRecord<'_>) -> RawRecord {
    RawRecord {
        timestamp_ms: made.timestamp_ms,
        key: made.key.map(<[u8]>::to_vec),
        payload: made.payload,
        headers: made.headers.iter().map(|h| (h.key.to_string(), h.value.map(<[u8]>::to_vec))).collect(),
        ..RawRecord::default()
    }
}

fn refused(refusal: BrokerRefusal) -> CallError {
    let code = match refusal {
        BrokerRefusal::Fenced => RDKafkaErrorCode::ProducerFenced,
        BrokerRefusal::NotOpen => RDKafkaErrorCode::InvalidTransactionalState,
        BrokerRefusal::StaleMember => RDKafkaErrorCode::IllegalGeneration,
    };
    KafkaError::MessageProduction(code).into()
}

fn timed_out(failure: CallFailure) -> CallError {
    CallError { failure, error: KafkaError::Global(RDKafkaErrorCode::OperationTimedOut) }
}

// ---- the consumer ----

#[derive(Default)]
struct Fetching {
    /// next offset of each partition
    at: BTreeMap<i32, i64>,
    paused: BTreeSet<i32>,
    /// partitions whose end was told since their last record
    ended: BTreeSet<i32>,
}

struct SimulatedConsumer {
    link: Link,
    state: RefCell<Fetching>,
    listener: RefCell<Option<Arc<dyn RebalanceListener>>>,
    member: SimulatedMember,
}

struct SimulatedMember {
    link: Link,
    /// member and epoch, as the client knows them
    known: RefCell<Option<(u64, u64)>>,
}

impl Membership for SimulatedMember {
    fn proof(&self) -> Option<Proof> {
        self.known.borrow().map(|(member, epoch)| Proof::Simulated { member, epoch })
    }

    fn commit(&self, _: &str, positions: &[(i32, Position)]) -> KafkaResult<()> {
        let timed_out = KafkaError::ConsumerCommit(RDKafkaErrorCode::OperationTimedOut);
        if !self.link.reaches(system::now() + Duration::from_secs(5)) {
            return Err(timed_out);
        }
        let Some(known) = *self.known.borrow() else { return Err(timed_out) };
        let done = self.link.world.cluster().commit_positions(known, positions);
        done.map_err(|_| KafkaError::ConsumerCommit(RDKafkaErrorCode::IllegalGeneration))
    }
}

impl RawConsumer for SimulatedConsumer {
    fn subscribe(&self, listener: Arc<dyn RebalanceListener>) -> Result<(), StartError> {
        *self.listener.borrow_mut() = Some(listener);
        Ok(())
    }

    fn poll(&self, timeout: Duration) -> Polled {
        let world = &self.link.world;
        self.link.world.polled(self.link.process);
        if self.link.is_cut_off() {
            system::sleep_thread(timeout.max(Duration::from_millis(1)));
            return Polled::Nothing;
        }
        let known = *self.member.known.borrow();
        let Some((member, _)) = known else {
            let member = world.cluster().join(self.link.process, world.machine.ms());
            *self.member.known.borrow_mut() = Some((member, 0));
            return Polled::Nothing;
        };
        if self.rebalanced(member) {
            return Polled::Nothing;
        }
        if let Some(next) = self.next() {
            if world.machine.once_in(20) {
                pause(&world.machine, 1);
            }
            return next;
        }
        if !timeout.is_zero() {
            system::sleep_thread(timeout);
        }
        Polled::Nothing
    }

    fn pause(&self, partition: i32) {
        self.state.borrow_mut().paused.insert(partition);
    }

    fn resume(&self, partitions: &[i32]) {
        self.state.borrow_mut().paused.retain(|p| !partitions.contains(p));
    }

    fn signed_in(&self) -> &dyn SignedIn {
        &Anybody
    }

    fn member(&self) -> &dyn Membership {
        &self.member
    }
}

impl SimulatedConsumer {
    /// Hears of its assignment; whether something changed.
    fn rebalanced(&self, member: u64) -> bool {
        let world = &self.link.world;
        let listener = self.listener.borrow().clone().expect("it has subscribed");
        let owned: BTreeSet<i32> = self.state.borrow().at.keys().copied().collect();
        let heard = world.cluster().hear(member, &owned);
        if heard.lost {
            let all: Vec<i32> = owned.into_iter().collect();
            listener.revoked(&all, true, &self.member);
            *self.state.borrow_mut() = Fetching::default();
            *self.member.known.borrow_mut() = None;
            return true;
        }
        if !heard.revoked.is_empty() {
            listener.revoked(&heard.revoked, false, &self.member);
            for partition in &heard.revoked {
                self.forget(*partition);
            }
            world.cluster().given_up(member, &heard.revoked);
            return true;
        }
        *self.member.known.borrow_mut() = Some((member, heard.epoch));
        for &partition in &heard.assigned {
            let mut cluster = world.cluster();
            let low = cluster.log(Topic::Raw, partition).bounds().0;
            let from = cluster.position(partition).map_or(low, |(at, _)| at.max(low));
            self.state.borrow_mut().at.insert(partition, from);
        }
        if !heard.assigned.is_empty() {
            listener.assigned(&heard.assigned);
        }
        !heard.assigned.is_empty()
    }

    fn forget(&self, partition: i32) {
        let mut state = self.state.borrow_mut();
        state.at.remove(&partition);
        state.paused.remove(&partition);
        state.ended.remove(&partition);
    }

    /// The next record of a partition that is fetched, or the end of one.
    fn next(&self) -> Option<Polled> {
        let mut state = self.state.borrow_mut();
        let fetched: Vec<(i32, i64)> =
            state.at.iter().filter(|(p, _)| !state.paused.contains(p)).map(|(p, at)| (*p, *at)).collect();
        if fetched.is_empty() {
            return None;
        }
        let first = self.link.world.machine.roll(fetched.len() as u64) as usize;
        let mut cluster = self.link.world.cluster();
        for (partition, at) in fetched.iter().cycle().skip(first).take(fetched.len()).copied() {
            let log = cluster.log(Topic::Raw, partition);
            if let Some(record) = log.committed(at).next() {
                state.at.insert(partition, record.offset + 1);
                state.ended.remove(&partition);
                return Some(Polled::Record(record.clone()));
            }
            if state.ended.insert(partition) {
                return Some(Polled::End(partition));
            }
        }
        None
    }
}

impl Drop for SimulatedConsumer {
    fn drop(&mut self) {
        // A process that dies does not leave the group.
        if let Some((member, _)) = *self.member.known.borrow()
            && !std::thread::panicking()
            && !self.link.is_cut_off()
        {
            self.link.world.cluster().leave(member);
        }
    }
}

// ---- the producer ----

#[derive(Default)]
struct Sent {
    /// handed to the client and not yet at the broker
    queue: Vec<(usize, Topic, i32, RawRecord)>,
    /// partitions that the client has added to its transaction
    added: BTreeSet<(Topic, i32)>,
    failed: Option<CallError>,
}

struct SimulatedProducer {
    link: Link,
    topics: Topics,
    id: String,
    epoch: u64,
    transactional: bool,
    sent: Mutex<Sent>,
}

impl SimulatedProducer {
    /// What the client has goes to the broker.
    fn flush(&self) -> Result<(), CallError> {
        let mut sent = self.sent.lock().unwrap();
        let (mut cluster, now) = (self.link.world.cluster(), self.link.world.machine.ms());
        for (_, topic, partition, record) in std::mem::take(&mut sent.queue) {
            if !self.transactional {
                cluster.append(topic, partition, record);
                continue;
            }
            let at = (topic, partition);
            if sent.added.insert(at) {
                cluster.add_partition(&self.id, self.epoch, at, now).map_err(refused)?;
            }
            cluster.produce(&self.id, self.epoch, at, record).map_err(refused)?;
        }
        Ok(())
    }

    /// Asks the coordinator to end the transaction. The request or its answer may come late, or twice.
    fn end(&self, commit: bool, timeout: Duration) -> Result<(), CallError> {
        let deadline = system::now() + timeout;
        let world = &self.link.world;
        let given_up = || {
            system::sleep_thread(deadline.saturating_duration_since(system::now()));
            Err(timed_out(CallFailure::Retriable))
        };
        if !self.link.reaches(deadline) {
            return given_up();
        }
        if world.plan.unclear_ends && world.machine.once_in(60) {
            // The request is on its way for longer than anybody waits for its answer.
            let (world, id, epoch) = (world.clone(), self.id.clone(), self.epoch);
            let late = Duration::from_millis(timeout.as_millis() as u64 + world.machine.roll(3000));
            let machine = world.machine.clone();
            machine.spawn(0, async move {
                system::sleep(late).await;
                // It may come in the midst of the next transaction.
                let most = world.machine.roll(3000);
                for _ in 0..most {
                    if world.cluster().is_open(&id) {
                        break;
                    }
                    system::sleep(Duration::from_millis(1)).await;
                }
                world.cluster().trace(("a late end", &id, commit));
                let _ = world.cluster().end_transaction(&id, epoch, commit);
            });
            return given_up();
        }
        let done = world.cluster().end_transaction(&self.id, self.epoch, commit);
        if world.plan.unclear_ends && world.machine.once_in(60) {
            return given_up(); // the answer is lost
        }
        pause(&world.machine, 2);
        done.map_err(refused)
    }
}

impl Producer for SimulatedProducer {
    fn begin_attempt(&self) {
        *self.sent.lock().unwrap() = Sent::default();
    }

    fn begin(&mut self) -> Result<(), CallError> {
        Ok(())
    }

    fn send(&self, record: ProducerRecord<'_>, number: usize) -> Result<(), Failed> {
        let topic = topic_of(&self.topics, record.topic);
        let partition = record.partition.unwrap_or_else(|| self.link.world.cluster().partition_of(record.key));
        self.sent.lock().unwrap().queue.push((number, topic, partition, owned_record(record)));
        Ok(())
    }

    fn all_delivered(&self, deadline: Instant) -> Result<(), Failed> {
        if !self.link.reaches(deadline) {
            return Err((None, timed_out(CallFailure::Abortable)));
        }
        if let Some(error) = self.sent.lock().unwrap().failed.take() {
            return Err((None, error));
        }
        self.flush().map_err(|error| (None, error))
    }

    fn send_offsets(&self, _: &str, positions: &[(i32, Position)], proof: &Proof, timeout: Duration) -> Result<(), CallError> {
        if !self.link.reaches(system::now() + timeout) {
            return Err(timed_out(CallFailure::Retriable));
        }
        let world = &self.link.world;
        if world.machine.once_in(2) {
            // Some records arrive before the offsets, and some after them.
            let failed = self.flush().err();
            self.sent.lock().unwrap().failed = failed;
        }
        let Proof::Simulated { member, epoch } = proof else { unreachable!("the proof is the simulated consumer's") };
        let done = world.cluster().add_offsets((&self.id, self.epoch), (*member, *epoch), positions, world.machine.ms());
        pause(&world.machine, 2);
        done.map_err(refused)
    }

    fn commit(&self, timeout: Duration) -> Result<(), CallError> {
        self.end(true, timeout)
    }

    fn abort(&self, timeout: Duration) -> Result<(), CallError> {
        {
            // The client knows whether it has said anything of the transaction to the broker.
            let mut sent = self.sent.lock().unwrap();
            sent.queue.clear();
            if sent.added.is_empty() {
                return Ok(());
            }
        }
        self.end(false, timeout)
    }

    fn lacking_rights(&self) -> Vec<String> {
        Vec::new()
    }

    fn signed_in(&self) -> &dyn SignedIn {
        &Anybody
    }
}

struct SimulatedPartials {
    link: Link,
    topics: Topics,
}

impl PartialProducer for SimulatedPartials {
    fn send_and_forget(&self, made: ProducerRecord<'_>) {
        if !self.link.is_cut_off() {
            let topic = topic_of(&self.topics, made.topic);
            let mut cluster = self.link.world.cluster();
            let partition = cluster.partition_of(made.key);
            cluster.append(topic, partition, owned_record(made));
        }
    }

    fn signed_in(&self) -> &dyn SignedIn {
        &Anybody
    }
}

// ---- takeovers ----

struct SimulatedTakeovers {
    link: Link,
    shared_settings: crate::config::Settings,
}

impl TakeoverReader for SimulatedTakeovers {
    fn read(&self, partition: i32) -> Result<ChangelogState, RestoreError> {
        let topic = self.shared_settings.topics.changelog.clone();
        let held = || RestoreError::Held { topic: topic.clone(), partition, waited: Duration::ZERO };
        if self.link.is_cut_off() {
            return Err(held());
        }
        let mut cluster = self.link.world.cluster();
        let log = cluster.log(Topic::Changelog, partition);
        let is_open = log.stable() < log.bounds().1;
        if is_open || cluster.has_pending_offsets(partition) {
            return Err(held());
        }
        let upgraded = self.link.world.plan.upgrades && self.link.world.machine.once_in(2);
        if upgraded {
            cluster.trace(("another version", partition));
        }
        let mut records = ChangelogRecords::default();
        for record in cluster.log(Topic::Changelog, partition).committed(0) {
            let mut record = record.clone();
            if let Some(other) = record.payload.as_deref().filter(|_| upgraded).and_then(snapshot::of_another_version) {
                record.payload = Some(other);
            }
            records.take(record);
        }
        let bounds = cluster.log(Topic::Raw, partition).bounds();
        let start = StartingPoint::of(&self.shared_settings, partition, cluster.position(partition), bounds)?;
        records.left(&self.shared_settings, start)
    }

    fn read_raw(&self, partition: i32, (from, to): (i64, i64), each: &mut dyn FnMut(RawRecord)) -> Result<i64, RestoreError> {
        let (low, records) = {
            let mut cluster = self.link.world.cluster();
            let log = cluster.log(Topic::Raw, partition);
            (log.bounds().0, log.committed(from).take_while(|r| r.offset < to).cloned().collect::<Vec<_>>())
        };
        records.into_iter().for_each(each);
        Ok(low)
    }
}
