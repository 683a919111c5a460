//! Whole workers in a simulated cluster: the real polling thread, partition tasks, commits, transactions and takeovers,
//! under a simulated clock, with a simulated model.
//!
//! ```text
//!  recogniser ─▶ raw log ─▶ worker (real code) ─▶ transaction coordinator ─▶ formatted log ─▶ the properties
//!                             │    ▲                                          changelog ─▶ the next owner
//!                             ▼    │
//!                           simulated model          deaths, cut-off workers, late ends of transactions
//! ```
//!
//! One seed makes one run. [`machine`] draws who runs next and moves the clock; [`cluster`] has the rules of Kafka;
//! [`clients`] are the worker's side of the seam; [`check`] has the properties.
//!
//! | variable | what it does |
//! | --- | --- |
//! | `FAIRCOPY_SIMULATION_SEED` | plays this seed only |
//! | `FAIRCOPY_SIMULATION_SAY` | prints every event |
//! | `FAIRCOPY_SIMULATION_WITH` | switches features of the plan on or off ([`RunPlan::with`]) |
//! | `FAIRCOPY_SIMULATION_RUNS` | runs of the long test |

mod check;
mod clients;
mod cluster;
mod machine;
mod model;
mod tests;
mod turns;

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use tokio::runtime::Runtime;

use super::{Shared, serve};
use crate::config::Settings;
use crate::record::RawRecord;
use crate::system;
use clients::ClusterOf;
use cluster::{SimulatedCluster, Topic};
use machine::{Dice, Machine, MachineStep};
use model::SimulatedTagger;

/// Runners that may run without the clock moving. The worker's loop yields long before.
const MOST_AT_ONCE: u64 = 100_000;
/// Longest time between two polls of a worker that is not cut off, milliseconds: an attempt, its abort, and a drain.
const LONGEST_WITHOUT_POLL_MS: u64 = 40_000;
/// After the last fault everything must be done within so long, milliseconds.
const PATIENCE_MS: u64 = 120_000;
const SESSION_TIMEOUT_MS: u64 = 6_000;
const TRANSACTION_TIMEOUT_MS: u64 = 4_000;
const LATE_TTL_MS: u64 = 3_000;
/// Words that recognisers write, and that stand for several.
const FIGURES: [&str; 3] = ["$1,234,567", "12:30", "1984"];

/// Stages at which a record may end its worker.
const STAGES: [&str; 4] = ["take", "pass", "timer", "release"];

/// What a run is made of. All of it follows from the seed; shrinking takes parts away.
#[derive(Clone, Debug)]
pub struct RunPlan {
    /// the seed
    pub seed: u64,
    /// workers at the start
    pub workers: u64,
    /// partitions of each topic
    pub partitions: i32,
    /// sessions that are spoken
    pub sessions: u64,
    /// records of each channel
    pub records: u64,
    /// how long the sessions are spoken, milliseconds
    pub spoken_ms: u64,
    /// deaths of workers
    pub deaths: u64,
    /// times at which a worker is cut off
    pub cuts: u64,
    /// workers that are stopped in order, and begin anew
    pub stops: u64,
    /// ends of transactions come late, or their answers do not come
    pub unclear_ends: bool,
    /// every membership of a process has the same transactional id
    pub one_transactional_id: bool,
    /// the classic protocol
    pub classic: bool,
    /// the broker verifies that partitions are part of transactions
    pub verifies: bool,
    /// the model fails for one batch in so many; 0: never
    pub model_fails: u64,
    /// the changelog is compacted now and then
    pub compacts: bool,
    /// records are sent twice
    pub repeats: bool,
    /// the recogniser writes figures, which are read back
    pub reformat: bool,
    /// the next owner of a partition cannot read the states that its last owner wrote
    pub upgrades: bool,
    /// sessions in which a secret is asked for on one channel and said on another
    pub banks: u64,
    /// sessions of a tenant whose words are refused beyond a quota
    pub limited: u64,
    /// a session that ends every worker at a stage
    pub poison: Option<&'static str>,
}

impl RunPlan {
    /// What follows from a seed.
    pub fn of(seed: u64) -> RunPlan {
        let mut dice = Dice::new(seed ^ 0xfa17_c0b1);
        RunPlan {
            seed,
            workers: 1 + dice.roll(3),
            partitions: 1 + dice.roll(3) as i32,
            sessions: 1 + dice.roll(5),
            records: 2 + dice.roll(10),
            spoken_ms: 500 + dice.roll(12_000),
            deaths: dice.roll(4),
            cuts: dice.roll(3),
            stops: dice.roll(2),
            unclear_ends: dice.once_in(2),
            one_transactional_id: true,
            classic: dice.once_in(3),
            verifies: !dice.once_in(3),
            model_fails: if dice.once_in(3) { 10 } else { 0 },
            compacts: dice.once_in(2),
            repeats: dice.once_in(3),
            reformat: dice.once_in(3),
            upgrades: dice.once_in(3),
            banks: dice.roll(2),
            limited: dice.roll(2),
            // Crash isolation may convict an innocent record, so `FAIRCOPY_SIMULATION_WITH` alone switches poison on.
            poison: None,
        }
        .with(&std::env::var("FAIRCOPY_SIMULATION_WITH").unwrap_or_default())
    }

    /// With features that the environment names, for experiments: `unclear`, `no-unclear`, `new-ids`, `reformat`,
    /// `upgrades`, `bank`, `limited`, `no-poison`, or a stage of poison.
    fn with(mut self, features: &str) -> RunPlan {
        for feature in features.split(',').filter(|f| !f.is_empty()) {
            match feature {
                "unclear" => self.unclear_ends = true,
                "no-unclear" => self.unclear_ends = false,
                "new-ids" => self.one_transactional_id = false,
                "reformat" => self.reformat = true,
                "no-reformat" => self.reformat = false,
                "upgrades" => self.upgrades = true,
                "no-upgrades" => self.upgrades = false,
                "bank" => self.banks = 1,
                "limited" => self.limited = 1,
                "no-poison" => self.poison = None,
                stage => self.poison = STAGES.iter().find(|known| **known == stage).copied(),
            }
        }
        self
    }

    /// Smaller plans, the smallest first.
    fn smaller(&self) -> Vec<RunPlan> {
        let half = |n: u64, least: u64| (n / 2).max(least);
        let mut all = vec![
            RunPlan { deaths: 0, ..self.clone() },
            RunPlan { cuts: 0, ..self.clone() },
            RunPlan { stops: 0, ..self.clone() },
            RunPlan { unclear_ends: false, ..self.clone() },
            RunPlan { model_fails: 0, ..self.clone() },
            RunPlan { compacts: false, ..self.clone() },
            RunPlan { repeats: false, ..self.clone() },
            RunPlan { reformat: false, ..self.clone() },
            RunPlan { upgrades: false, ..self.clone() },
            RunPlan { banks: 0, ..self.clone() },
            RunPlan { limited: 0, ..self.clone() },
            RunPlan { poison: None, ..self.clone() },
            RunPlan { classic: false, ..self.clone() },
            RunPlan { verifies: true, ..self.clone() },
            RunPlan { workers: half(self.workers, 1), ..self.clone() },
            RunPlan { partitions: (self.partitions / 2).max(1), ..self.clone() },
            RunPlan { sessions: half(self.sessions, 1), ..self.clone() },
            RunPlan { records: half(self.records, 1), ..self.clone() },
            RunPlan { spoken_ms: half(self.spoken_ms, 100), ..self.clone() },
            RunPlan { deaths: half(self.deaths, 0), ..self.clone() },
            RunPlan { cuts: half(self.cuts, 0), ..self.clone() },
        ];
        all.retain(|plan| format!("{plan:?}") != format!("{self:?}"));
        all
    }
}

/// A final record: partition, offset and words.
pub type SaidRecord = (i32, i64, Vec<String>);

/// What was said, and what the readers must get.
#[derive(Default)]
pub struct Said {
    /// final records of each session and channel, in order
    pub records: BTreeMap<(String, String), Vec<SaidRecord>>,
}

/// What all runners of a run share.
pub struct World {
    /// the machine
    pub machine: Arc<Machine>,
    cluster: Mutex<SimulatedCluster>,
    /// the plan
    pub plan: RunPlan,
    said: Mutex<Said>,
    /// when each process polled last
    polled: Mutex<BTreeMap<u64, u64>>,
    /// processes that end in order
    stopping: Mutex<BTreeMap<u64, Arc<AtomicBool>>>,
    /// why a process ended of its own
    ended: Mutex<Vec<(u64, String)>>,
}

impl World {
    /// The cluster.
    pub fn cluster(&self) -> MutexGuard<'_, SimulatedCluster> {
        self.cluster.lock().expect("no holder panics")
    }

    /// A process polls.
    pub fn polled(&self, process: u64) {
        let (now, cut_off) = (self.machine.ms(), self.cluster().cut_off.contains(&process));
        let before = self.polled.lock().unwrap().insert(process, now);
        if let Some(before) = before
            && !cut_off
            && now > before + LONGEST_WITHOUT_POLL_MS
        {
            self.cluster().violations.push(format!("worker {process} did not poll for {} ms", now - before));
        }
    }
}

/// What loads once: models, grammars and settings.
fn loaded(reformat: bool) -> &'static Shared {
    static LOADED: [OnceLock<Shared>; 2] = [const { OnceLock::new() }; 2];
    LOADED[usize::from(reformat)].get_or_init(|| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let text = format!(
            "[kafka]\nsession_timeout_ms = {SESSION_TIMEOUT_MS}\n\
             [topics]\nconversation = \"turns\"\n\
             [input]\nreformat = {:?}\n\
             [delivery]\ntransaction_timeout_ms = {TRANSACTION_TIMEOUT_MS}\ndrain_deadline_ms = 3000\n\
             [decode]\nlate_ttl_ms = {LATE_TTL_MS}\n\
             [profiles.default]\nmodel = \"en-fast\"\nmax_delay_ms = 2000\nmax_release_ms = 3000\nredaction = \"none\"\n\
             [profiles.bank]\nredact_asked = {{ words = 30, seconds = 60 }}\n[profiles.bank.redact]\npin = {{ action = \"mask\" }}\n\
             [profiles.limited.quota]\nsession_words_per_second = 2\nbeyond = \"dead_letter\"\n\
             [tenants]\nbank = \"bank\"\nlimited = \"limited\"\n",
            if reformat { "all" } else { "off" }
        );
        file.write_all(text.as_bytes()).unwrap();
        Shared::with_taggers(Settings::load(Some(file.path())).unwrap(), |_| Ok(Vec::new())).unwrap()
    })
}

fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    // Nothing runs on it: tasks of the simulation are the machine's.
    RUNTIME.get_or_init(|| tokio::runtime::Builder::new_current_thread().build().unwrap())
}

/// Starts a worker process.
fn start(world: &Arc<World>, process: u64) {
    let (of_process, stop) = (world.clone(), Arc::new(AtomicBool::new(false)));
    world.stopping.lock().unwrap().insert(process, stop.clone());
    world.machine.start_thread(process, move || {
        let handle = runtime().handle().clone();
        let _entered = handle.enter();
        let shared = Arc::new(loaded(of_process.plan.reformat).restarted());
        let cluster = ClusterOf { world: of_process.clone(), process, memberships: Mutex::new(0) };
        let why = match serve(&shared, &cluster, &handle, &stop) {
            Ok(()) => return,
            Err(error) => error.to_string(),
        };
        of_process.ended.lock().unwrap().push((process, why));
    });
}

/// Plays a plan.
///
/// # Errors
/// What must never happen, and did.
pub fn play(plan: RunPlan) -> Result<u64, String> {
    // The models are shared, so one run is played at a time.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let machine = Machine::new(plan.seed);
    let mut cluster = SimulatedCluster::new(plan.partitions, SESSION_TIMEOUT_MS, TRANSACTION_TIMEOUT_MS);
    (cluster.classic, cluster.verifies) = (plan.classic, plan.verifies);
    cluster.says = std::env::var_os("FAIRCOPY_SIMULATION_SAY").is_some();
    let world = Arc::new(World {
        machine: machine.clone(),
        cluster: Mutex::new(cluster),
        plan: plan.clone(),
        said: Mutex::default(),
        polled: Mutex::default(),
        stopping: Mutex::default(),
        ended: Mutex::default(),
    });
    let _entered = runtime().enter();
    let done = Arc::new(AtomicBool::new(false));
    let mut next_process = 0;
    for _ in 0..plan.workers {
        next_process += 1;
        start(&world, next_process);
    }
    spawn_recogniser(&world, done.clone());
    spawn_device(&world);
    let mut chaos = Chaos::of(&plan);
    let result = run(&world, &mut chaos, &mut next_process, &done);
    for process in 0..=next_process {
        machine.kill(process);
    }
    result?;
    Ok(world.cluster().traced())
}

/// Runs until all is said and published.
fn run(world: &Arc<World>, chaos: &mut Chaos, next_process: &mut u64, said: &AtomicBool) -> Result<(), String> {
    let machine = &world.machine;
    let (mut ticked, mut checked) = (0, 0);
    let mut deadline = None;
    loop {
        match machine.step() {
            MachineStep::Ran if machine.ran_at_once() > MOST_AT_ONCE => {
                return Err("something runs again and again while the clock stands".into());
            }
            MachineStep::Stands => return Err("nobody runs, and nobody waits for a time".into()),
            MachineStep::Ran => {}
            MachineStep::Waited => {}
        }
        for process in machine.take_aborts() {
            world.cluster().trace(("aborts", process, machine.ms()));
            machine.kill(process);
        }
        if let Some((process, why)) = machine.take_panics().pop() {
            return Err(format!("worker {process} panicked: {why}"));
        }
        // A producer that fails for good ends its process, and so does one that is fenced, or whose end is unclear,
        // while its worker stops.
        if let Some((process, why)) = world.ended.lock().unwrap().pop()
            && !why.contains("failed for good")
            && !why.contains("fenced")
            && !why.contains("unclear")
        {
            return Err(format!("worker {process} ended: {why}"));
        }
        let now = machine.ms();
        if now < ticked + 20 {
            continue;
        }
        ticked = now;
        world.cluster().tick(now, |process| machine.lives(process));
        if let Some(violation) = world.cluster().violations.pop() {
            return Err(violation);
        }
        chaos.act(world, now);
        while chaos.due_start(world, now) {
            *next_process += 1;
            start(world, *next_process);
        }
        if world.plan.compacts && machine.once_in(50) {
            world.cluster().compact();
        }
        if !said.load(Ordering::Relaxed) || !chaos.is_over(now) || now < checked + 500 {
            continue;
        }
        checked = now;
        let until = *deadline.get_or_insert(now + PATIENCE_MS);
        match check::published(world).and_then(|()| turns::whole(world)) {
            Ok(()) => return check::holds(world),
            Err(missing) if now > until => {
                return check::holds(world).and(Err(format!("it is not done within {PATIENCE_MS} ms: {missing}")));
            }
            Err(_) => {}
        }
    }
}

/// Deaths, cuts and restarts, at their times.
struct Chaos {
    deaths: Vec<u64>,
    cuts: Vec<u64>,
    stops: Vec<u64>,
    heal: Vec<(u64, u64)>,
    starts: Vec<u64>,
    last: u64,
}

impl Chaos {
    fn of(plan: &RunPlan) -> Chaos {
        let mut dice = Dice::new(plan.seed ^ 0xc4a0_5000);
        let span = plan.spoken_ms + 4000;
        let mut times = |n: u64| {
            let mut all: Vec<u64> = (0..n).map(|_| 100 + dice.roll(span)).collect();
            all.sort_unstable_by(|a, b| b.cmp(a));
            all
        };
        let (deaths, cuts, stops) = (times(plan.deaths), times(plan.cuts), times(plan.stops));
        let last = deaths.iter().chain(&cuts).chain(&stops).copied().max().unwrap_or(0);
        Chaos { deaths, cuts, stops, heal: Vec::new(), starts: Vec::new(), last }
    }

    fn is_over(&self, now: u64) -> bool {
        now > self.last && self.heal.is_empty()
    }

    fn act(&mut self, world: &Arc<World>, now: u64) {
        let due = |times: &mut Vec<u64>| times.pop_if(|at| *at <= now).is_some();
        let machine = &world.machine;
        let alive: Vec<u64> = world.stopping.lock().unwrap().keys().copied().filter(|process| machine.lives(*process)).collect();
        let one = |machine: &Machine| (!alive.is_empty()).then(|| alive[machine.roll(alive.len() as u64) as usize]);
        if due(&mut self.deaths)
            && let Some(process) = one(machine)
        {
            world.cluster().trace(("dies", process, now));
            machine.kill(process);
            world.stopping.lock().unwrap().remove(&process);
            self.starts.push(now + machine.roll(3000));
        }
        if due(&mut self.cuts)
            && let Some(process) = one(machine)
        {
            world.cluster().trace(("is cut off", process, now));
            world.cluster().cut_off.insert(process);
            self.heal.push((now + 200 + machine.roll(2 * SESSION_TIMEOUT_MS), process));
        }
        if due(&mut self.stops)
            && let Some(process) = one(machine)
        {
            world.stopping.lock().unwrap()[&process].store(true, Ordering::Relaxed);
            self.starts.push(now + machine.roll(3000));
        }
        for (_, process) in self.heal.extract_if(.., |(at, _)| *at <= now) {
            world.cluster().cut_off.remove(&process);
        }
        // A worker that ends of its own is started anew, as a cluster's scheduler does.
        let gone: Vec<u64> = world.stopping.lock().unwrap().keys().copied().filter(|p| !machine.lives(*p)).collect();
        for process in gone {
            let stop = world.stopping.lock().unwrap().remove(&process).expect("just seen");
            world.polled.lock().unwrap().remove(&process);
            if !stop.load(Ordering::Relaxed) {
                self.starts.push(now + 500);
            }
        }
    }

    fn due_start(&mut self, _: &Arc<World>, now: u64) -> bool {
        self.starts.extract_if(.., |at| *at <= now).next().is_some()
    }
}

/// Speaks: sessions begin and end at drawn times, and their records come in order.
fn spawn_recogniser(world: &Arc<World>, done: Arc<AtomicBool>) {
    let (of_task, plan) = (world.clone(), world.plan.clone());
    world.machine.spawn(0, async move {
        let world = of_task;
        let mut dice = Dice::new(plan.seed ^ 0x5bea_4e75);
        let mut records: Vec<(u64, u64, String, serde_json::Value)> = Vec::new();
        let mut keys: Vec<(String, Option<&str>)> = (0..plan.sessions).map(|n| (format!("call-{n}"), None)).collect();
        keys.extend((0..plan.limited).map(|n| (format!("limited-{n}"), Some("limited"))));
        for (key, tenant) in keys {
            let mut ends_at = 0;
            for channel in 0..1 + dice.roll(2) {
                let mut at = dice.roll(plan.spoken_ms / 2 + 1);
                for seq in 0..plan.records {
                    let word = |dice: &mut Dice| match plan.reformat && dice.once_in(8) {
                        true => FIGURES[dice.roll(FIGURES.len() as u64) as usize].to_string(),
                        false => model::word(dice),
                    };
                    let words: Vec<String> = (0..1 + dice.roll(9)).map(|_| word(&mut dice)).collect();
                    let is_final = !dice.once_in(5);
                    records.push((at, records.len() as u64, key.clone(), said(seq, channel, &words, is_final, tenant)));
                    at += dice.roll(2 * plan.spoken_ms / plan.records + 1);
                }
                ends_at = ends_at.max(at);
            }
            records.push((ends_at, records.len() as u64, key, serde_json::json!({"end": "session"})));
        }
        if let Some(stage) = plan.poison {
            // One record, so that a search for it ends soon.
            let words: Vec<String> = (0..9).map(|_| model::word(&mut dice)).collect();
            let at = dice.roll(plan.spoken_ms + 1);
            records.push((at, records.len() as u64, format!("poison-{stage}"), said(0, 0, &words, true, None)));
        }
        for n in 0..plan.banks {
            let key = format!("bank-{n}");
            let mut at = dice.roll(plan.spoken_ms / 2 + 1);
            let mut seqs = [0, 0];
            let mut say = |channel: usize, words: Vec<String>, dice: &mut Dice| {
                let value = said(seqs[channel], channel as u64, &words, true, Some("bank"));
                records.push((at, records.len() as u64, key.clone(), value));
                seqs[channel] += 1;
                at += dice.roll(plan.spoken_ms / 4 + 1);
            };
            let text = |words: &str| words.split(' ').map(String::from).collect::<Vec<_>>();
            for _ in 0..dice.roll(3) {
                let words = (0..1 + dice.roll(6)).map(|_| model::word(&mut dice)).collect();
                say(dice.roll(2) as usize, words, &mut dice);
            }
            say(0, text("thank you so what is your pin"), &mut dice);
            say(1, text("yes sure hold on it is four"), &mut dice);
            say(1, text("seven one nine thank you"), &mut dice);
            for _ in 0..dice.roll(4) {
                let words = (0..1 + dice.roll(6)).map(|_| model::word(&mut dice)).collect();
                say(dice.roll(2) as usize, words, &mut dice);
            }
            records.push((at, records.len() as u64, key, serde_json::json!({"end": "session"})));
        }
        records.sort_by_key(|(at, number, ..)| (*at, *number));
        let mut now = 0;
        for (at, _, key, value) in records {
            system::sleep(Duration::from_millis(at - now)).await;
            now = at;
            let twice = plan.repeats && value.get("seq").is_some() && dice.once_in(6);
            let mut cluster = world.cluster();
            let partition = cluster.partition_of(Some(key.as_bytes()));
            let record = RawRecord {
                key: Some(key.clone().into_bytes()),
                payload: Some(value.to_string().into_bytes()),
                timestamp_ms: Some(1_700_000_000_000 + at as i64),
                ..RawRecord::default()
            };
            if twice {
                cluster.append(Topic::Raw, partition, record.clone());
            }
            let offset = cluster.append(Topic::Raw, partition, record) - i64::from(twice);
            drop(cluster);
            if value["final"] == true {
                let words = value["words"].as_array().unwrap().iter().map(|w| w["w"].as_str().unwrap().to_string());
                let channel = value["channel"].as_str().unwrap().to_string();
                let mut said = world.said.lock().unwrap();
                said.records.entry((key, channel)).or_default().push((partition, offset, words.collect()));
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

fn said(seq: u64, channel: u64, words: &[String], is_final: bool, tenant: Option<&str>) -> serde_json::Value {
    let words: Vec<serde_json::Value> = words.iter().map(|w| serde_json::json!({"w": w})).collect();
    let mut value = serde_json::json!({"seq": seq, "channel": channel.to_string(), "words": words, "final": is_final});
    if let Some(tenant) = tenant {
        value["tenant"] = tenant.into();
    }
    value
}

/// The model's device: it takes a batch now and then.
fn spawn_device(world: &Arc<World>) {
    let of_task = world.clone();
    world.machine.spawn(0, async move {
        let world = of_task;
        let mut tagger = SimulatedTagger { fails: world.plan.model_fails, dice: Dice::new(world.plan.seed ^ 0xdef1ce) };
        loop {
            let slow = if world.machine.once_in(100) { 500 } else { 4 };
            system::sleep(Duration::from_millis(1 + world.machine.roll(slow))).await;
            for model in loaded(world.plan.reformat).models.all() {
                model.infer.answer_batch(&mut tagger);
            }
        }
    });
}

/// Plays a seed. Where it fails, the plan is shrunk as long as it still fails.
///
/// # Errors
/// What failed, and the smallest plan that still fails.
pub fn play_seed(seed: u64) -> Result<u64, String> {
    let plan = RunPlan::of(seed);
    let mut why = match play(plan.clone()) {
        Ok(trace) => return Ok(trace),
        Err(why) => why,
    };
    let mut smallest = plan;
    'again: loop {
        for smaller in smallest.smaller() {
            if let Err(still) = play(smaller.clone()) {
                (smallest, why) = (smaller, still);
                continue 'again;
            }
        }
        return Err(format!("seed {seed}: {why}\nthe smallest plan that fails: {smallest:?}"));
    }
}
