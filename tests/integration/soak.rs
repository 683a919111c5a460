//! Hours of traffic in little: calls open and close, some recognisers restart, end twice or never, and nothing may grow.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use faircopy::record::Kind;
use serde_json::{Value, json};

use crate::admin::{address, http};
use crate::kafka::{Sender, Topics, within};
use crate::service::segments;
use crate::worker::Worker;

/// Calls a minute and words of each: 300 words a second together.
const CALLS_A_MINUTE: u64 = 167;
const CALL_WORDS: usize = 108;
const RECORD_WORDS: usize = 4;
/// A speaker's pace.
const RECORD_EVERY: Duration = Duration::from_millis(1600);
/// A call that nobody ends is over by itself.
const TTL_MS: u64 = 20_000;
const SPEECH: &str = "so we placed the order on march third and i paid two hundred dollars for it but uh it has not come yet and nobody \
                      could tell me why could you look into that please";

struct Call {
    number: u64,
    said: usize,
    seq: u64,
    due: Instant,
}

/// What is odd about a call, by its number: one in twenty each.
fn odd(number: u64) -> &'static str {
    match number % 20 {
        3 => "restarts",
        7 => "ends twice",
        13 => "never ends",
        _ => "",
    }
}

/// Says the call's next record; gives whether there are more.
fn speak(call: &mut Call, sender: &Sender, raw: &str) -> bool {
    let speech: Vec<&str> = SPEECH.split_whitespace().collect();
    let words: Vec<Value> = (0..RECORD_WORDS).map(|i| json!({"w": speech[(call.said + i) % speech.len()]})).collect();
    call.said += RECORD_WORDS;
    let last = call.said >= CALL_WORDS;
    let what = odd(call.number);
    let end = (last && what != "never ends").then_some("session");
    let record = json!({"seq": call.seq, "words": words, "end": end}).to_string();
    let key = format!("call-{}", call.number);
    for _ in 0..if last && what == "ends twice" { 2 } else { 1 } {
        sender.send(raw, Some(key.as_bytes()), Some(record.as_bytes()), &[]);
    }
    call.seq = if what == "restarts" && call.said == CALL_WORDS / 2 / RECORD_WORDS * RECORD_WORDS { 0 } else { call.seq + 1 };
    call.due += RECORD_EVERY;
    !last
}

#[test]
#[ignore = "long: make soak"]
fn calls_that_open_and_close_for_half_an_hour_leave_memory_and_lag_where_they_were() {
    let minutes: u64 = std::env::var("SOAK_MINUTES").map_or(30, |m| m.parse().expect("SOAK_MINUTES is a number"));
    let topics = Topics::create("soak", 6);
    let more = format!("[decode]\nsession_ttl_ms = {TTL_MS}\nlate_ttl_ms = 5000\n");
    let worker = Worker::start(&topics, "w", &more);
    let address = address(&worker);
    let look = || serde_json::from_str::<Value>(&http(&address, "/streams", "").1).unwrap_or_default();
    let (sender, raw) = (Sender::new(), topics.name("raw"));
    let calls = CALLS_A_MINUTE * minutes;
    let gap = Duration::from_secs(60) / CALLS_A_MINUTE as u32;
    let began = Instant::now();
    let (mut open, mut next) = (Vec::<Call>::new(), 0);
    let (mut samples, mut sampled) = (Vec::new(), Instant::now());
    while next < calls || !open.is_empty() {
        let now = Instant::now();
        while next < calls && began + gap * next as u32 <= now {
            open.push(Call { number: next, said: 0, seq: 0, due: now });
            next += 1;
        }
        open.retain_mut(|call| call.due > now || speak(call, &sender, &raw));
        if sampled.elapsed() > Duration::from_secs(15) {
            sampled = now;
            let state = look();
            let lag = state["partitions"]
                .as_array()
                .map_or(0.0, |p| p.iter().filter_map(|p| p["lag_seconds"].as_f64()).fold(0.0, f64::max));
            let sample = (worker.megabytes(), lag, state["streams"].as_u64().unwrap_or(0), open.len());
            println!(
                "{:>4} s  {:>6.1} MB  {lag:>4.1} s behind  {} streams open, {} calls",
                began.elapsed().as_secs(),
                sample.0,
                sample.2,
                sample.3
            );
            samples.push(sample);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    sender.flush();
    within(Duration::from_secs(180), "every stream is over", || {
        look()["streams"] == 0 && look()["partitions"].as_array().is_some_and(|p| p.iter().all(|p| p["lag_records"] == 0))
    });

    let mut words: BTreeMap<u64, u64> = BTreeMap::new();
    for (_, segment) in segments(&topics).into_iter().filter(|(_, s)| s.kind == Kind::End) {
        let number: u64 = segment.session.strip_prefix("call-").unwrap().parse().unwrap();
        *words.entry(number).or_default() += segment.counts.unwrap().words;
    }
    assert_eq!(words.len() as u64, calls, "every call ends");
    let wrong: Vec<_> = words.iter().filter(|(_, n)| **n != CALL_WORDS as u64).take(5).map(|(c, n)| (c, n, odd(*c))).collect();
    assert!(wrong.is_empty(), "words counted at the end: {wrong:?}");
    // Calls last for three quarters of a minute: from the third minute on as many end as begin.
    let steady = &samples[samples.len().min(8)..];
    let third = steady.len() / 3;
    let highest = |of: &[(f64, f64, u64, usize)]| of.iter().map(|s| s.0).fold(0.0, f64::max);
    let (early, late) = (highest(&steady[..third.max(1)]), highest(&steady[steady.len() - third.max(1)..]));
    println!("highest memory: first third {early:.1} MB, last third {late:.1} MB");
    assert!(late < early * 1.1 + 8.0, "memory grows: {early:.1} to {late:.1} MB");
    let behind = steady.iter().map(|s| s.1).fold(0.0, f64::max);
    assert!(behind < 20.0, "up to {behind:.1} s behind");
}
