//! The whole service on a real broker: words a second over 200 streams, delay from append to append at half of that load, and a passthrough
//! with the same client as the ceiling.
//!
//! ```sh
//! make kafka &
//! cargo bench --bench kafka -- words.tsv [host:port]
//! ```
//! Broker, sender and service share the machine's cores.

mod common;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{files, record, service};
use faircopy::config::Settings;
use faircopy::eval::gold;
use faircopy::record::{Kind, RawRecord, Segment};
use faircopy::{pipeline, produce};
use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions, AlterConfig, ResourceSpecifier};
use rdkafka::client::DefaultClientContext;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::Message;
use rdkafka::producer::{BaseRecord, DefaultProducerContext, Producer, ThreadedProducer};
use tokio::runtime::Runtime;

const STREAMS: usize = 200;
const PARTITIONS: i32 = 4;
const RECORD_WORDS: usize = 4;
/// Words of each stream.
const STREAM_WORDS: usize = 120;

fn main() {
    let args = files("a .tsv file of words and marks, and the broker's host:port if it is not localhost:9092");
    let brokers = args.get(1).map_or("localhost:9092".into(), |b| b.to_string_lossy().into_owned());
    let rows = gold::read(&args[0], STREAMS * STREAM_WORDS).unwrap_or_else(|e| panic!("{e}"));
    let words: Vec<&str> = rows.iter().flat_map(|r| r.words.iter().map(String::as_str)).collect();
    let bench = Bench { runtime: Runtime::new().expect("a runtime"), brokers };
    let input = input(&words);
    let said = (STREAMS * STREAM_WORDS) as f64;

    let ceiling = bench.passthrough(&input);
    let (whole, _) = bench.formatted(&input, None);
    let rate = said / whole.as_secs_f64();
    println!("passthrough, same client   {:>8.0} words/s", said / ceiling.as_secs_f64());
    println!("{STREAMS} streams, as fast as it goes {rate:>8.0} words/s");
    let (_, mut delays) = bench.formatted(&input, Some(rate / 2.0));
    delays.sort_unstable();
    let at = |share: f64| delays[((delays.len() - 1) as f64 * share) as usize];
    println!(
        "at {:.0} words/s, from the append of the raw record that froze a segment's last word to the segment's append:\n\
         p50 {} ms, p90 {} ms, p99 {} ms, max {} ms ({} segments)",
        rate / 2.0,
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0),
        delays.len()
    );
}

/// Records of all streams, in turn.
fn input(words: &[&str]) -> Vec<RawRecord> {
    let mut out = Vec::new();
    for at in (0..STREAM_WORDS).step_by(RECORD_WORDS) {
        for stream in 0..STREAMS {
            let from = stream * STREAM_WORDS + at;
            let said = words[from..from + RECORD_WORDS].join(" ");
            out.push(record(0, &format!("call-{stream}"), &said, at + RECORD_WORDS == STREAM_WORDS));
        }
    }
    out
}

struct Bench {
    runtime: Runtime,
    brokers: String,
}

impl Bench {
    /// Topics of one run, which stamp records when they are appended.
    fn topics(&self, run: &str) -> Settings {
        let mut settings = common::settings();
        settings.kafka.brokers = self.brokers.clone();
        let stamp = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("after 1970").as_millis();
        settings.kafka.group = format!("bench-{stamp}-{run}");
        let t = &mut settings.topics;
        for topic in [&mut t.raw, &mut t.formatted, &mut t.partial, &mut t.dead_letter] {
            *topic = format!("bench-{stamp}-{run}.{topic}");
        }
        self.runtime
            .block_on(produce::topics::create(&settings, PARTITIONS, 1))
            .unwrap_or_else(|e| panic!("{e}; make kafka starts a broker"));
        let admin: AdminClient<DefaultClientContext> = self.client().create().expect("a client");
        let t = &settings.topics;
        let change = [&t.raw, &t.formatted]
            .map(|topic| AlterConfig::new(ResourceSpecifier::Topic(topic)).set("message.timestamp.type", "LogAppendTime"));
        self.runtime.block_on(admin.alter_configs(&change, &AdminOptions::new())).expect("the broker answers");
        settings
    }

    fn client(&self) -> ClientConfig {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", &self.brokers).set("auto.offset.reset", "earliest").set("linger.ms", "1");
        config
    }

    fn producer(&self) -> ThreadedProducer<DefaultProducerContext> {
        self.client().set("partitioner", "murmur2_random").create().expect("a client")
    }

    fn follow(&self, topic: &str) -> BaseConsumer {
        let consumer: BaseConsumer = self.client().set("group.id", format!("{topic}-reader")).create().expect("a client");
        consumer.subscribe(&[topic]).expect("a topic");
        consumer
    }

    /// Sends `input`, at so many words a second if that is given.
    fn send(&self, topic: &str, input: &[RawRecord], rate: Option<f64>) {
        let producer = self.producer();
        let began = Instant::now();
        for (i, record) in input.iter().enumerate() {
            if let Some(rate) = rate {
                let due = Duration::from_secs_f64((i * RECORD_WORDS) as f64 / rate);
                std::thread::sleep(due.saturating_sub(began.elapsed()));
            }
            let (key, payload) = (record.key.as_deref().unwrap_or_default(), record.payload.as_deref().unwrap_or_default());
            producer.send(BaseRecord::to(topic).key(key).payload(payload)).map_err(|(e, _)| e).expect("room in the queue");
        }
        producer.flush(Duration::from_secs(60)).expect("the broker acknowledges");
    }

    /// Time from the first raw record's append to the last copy's.
    fn passthrough(&self, input: &[RawRecord]) -> Duration {
        let settings = self.topics("pass");
        self.send(&settings.topics.raw, input, None);
        let (consumer, producer) = (self.follow(&settings.topics.raw), self.producer());
        let mut began = None;
        for _ in 0..input.len() {
            let message = loop {
                if let Some(message) = consumer.poll(Duration::from_secs(1)) {
                    break message.expect("the broker serves");
                }
            };
            began.get_or_insert_with(Instant::now);
            let (key, payload) = (message.key().unwrap_or_default(), message.payload().unwrap_or_default());
            producer
                .send(BaseRecord::to(&settings.topics.formatted).key(key).payload(payload))
                .map_err(|(e, _)| e)
                .expect("room");
        }
        producer.flush(Duration::from_secs(60)).expect("the broker acknowledges");
        began.expect("records came").elapsed()
    }

    /// Runs the service over `input`. The time from when it begins to consume to its last output, and for each segment the milliseconds beyond
    /// what `L` and `F` ask for.
    fn formatted(&self, input: &[RawRecord], rate: Option<f64>) -> (Duration, Vec<i64>) {
        let mut settings = self.topics(if rate.is_some() { "paced" } else { "fast" });
        let profile = settings.profiles.get_mut("default").expect("it is shipped");
        // A stream here is slower than speech: only words may freeze words, or timers would be what is measured.
        (profile.max_delay_ms, profile.max_release_ms) = (Some(600_000), Some(600_000));
        let policy = settings.profiles().expect("sound").of(None).policy.clone();
        let (lookahead, pass_words) = (policy.freeze_after(), policy.pass_words);
        let (shared, _) = service(settings.clone());
        if rate.is_none() {
            self.send(&settings.topics.raw, input, None);
        }
        let stop = Arc::new(AtomicBool::new(false));
        let running = std::thread::spawn({
            let (handle, stop) = (self.runtime.handle().clone(), stop.clone());
            move || pipeline::run(shared, &handle, stop)
        });
        let mut raw_at: HashMap<String, Vec<i64>> = HashMap::new();
        let mut segments: Vec<(Segment, i64)> = Vec::new();
        std::thread::scope(|scope| {
            if rate.is_some() {
                scope.spawn(|| {
                    std::thread::sleep(Duration::from_secs(3)); // until the service has joined its group
                    self.send(&settings.topics.raw, input, rate);
                });
            }
            let formatted = self.follow(&settings.topics.formatted);
            let mut ended = 0;
            while ended < STREAMS {
                let Some(message) = formatted.poll(Duration::from_secs(1)) else { continue };
                let message = message.expect("the broker serves");
                let segment: Segment = serde_json::from_slice(message.payload().unwrap_or_default()).expect("a segment");
                ended += usize::from(segment.kind == Kind::End);
                segments.push((segment, message.timestamp().to_millis().expect("stamped")));
            }
        });
        stop.store(true, Ordering::Relaxed);
        running.join().expect("no panic").expect("the service stops well");
        let raw = self.follow(&settings.topics.raw);
        for _ in 0..input.len() {
            let message = loop {
                if let Some(message) = raw.poll(Duration::from_secs(1)) {
                    break message.expect("the broker serves");
                }
            };
            let key = String::from_utf8_lossy(message.key().unwrap_or_default()).into_owned();
            let at = message.timestamp().to_millis().expect("stamped");
            raw_at.entry(key).or_default().extend([at; RECORD_WORDS]);
        }
        let first = segments.iter().map(|(_, at)| *at).min().expect("segments came");
        let last = segments.iter().map(|(_, at)| *at).max().expect("segments came");
        let delays = segments.iter().filter(|(s, _)| s.kind == Kind::Final).map(|(segment, at)| {
            let words = &raw_at[&*segment.session];
            let end =
                segment.words.iter().map(|w| w.src[1]).chain(segment.removed.iter().map(|r| r.src[1])).max().expect("words");
            let enough = (end + lookahead).next_multiple_of(pass_words).min(words.len() as u64);
            at - words[enough as usize - 1]
        });
        (Duration::from_millis((last - first) as u64), delays.collect())
    }
}
