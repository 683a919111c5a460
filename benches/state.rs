//! The cost of streams while nobody speaks: memory, changelog, and the time to take them over from a worker that is
//! gone.
//!
//! ```sh
//! make kafka &
//! cargo bench --bench state -- 10000 [host:port]
//! ```

mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use common::broker::{Bench, PARTITIONS, without_model};
use common::{ALLOCATOR, record};
use faircopy::consume::changelog::{ChangelogReader, TakeoverReader};
use faircopy::health::Health;
use faircopy::pipeline::clock::Clock;
use faircopy::pipeline::partition::Partition;
use faircopy::record::RawRecord;
use stats_alloc::Region;
use tokio::runtime::Runtime;

/// A caller's first words, of which the last few are not released.
const SAID: &str =
    "good morning my name is anna schmidt and i am calling about the invoice of march the third that came to us twice";

fn main() {
    let mut args = std::env::args().skip(1).filter(|a| !a.starts_with("--"));
    let Some(sessions) = args.next().and_then(|n| n.parse::<usize>().ok()) else {
        return println!("nothing to measure: give a number of sessions, and the broker's host:port if it is not localhost:9092");
    };
    let brokers = args.next().unwrap_or("localhost:9092".into());
    let bench = Bench { runtime: Runtime::new().expect("a runtime"), brokers };
    let mut settings = bench.topics("state");
    let profile = settings.profiles.get_mut("default").expect("it is shipped");
    (profile.max_delay_ms, profile.max_release_ms) = (600_000, 600_000);
    let input: Vec<RawRecord> = (0..sessions).map(|i| record(0, &format!("call-{i}"), SAID, false)).collect();
    bench.send(&settings.topics.raw, &input, None);

    let shared = without_model(settings.clone());
    bench.serving(shared.clone(), || {
        // Without the model no sentence ends, so all words stay in the streams.
        while shared.health.partitions().values().map(|p| p.streams as usize).sum::<usize>() < sessions {
            std::thread::sleep(Duration::from_millis(50));
        }
        std::thread::sleep(Duration::from_secs(2)); // the last commits
    });

    let region = Region::new(ALLOCATOR);
    let began = Instant::now();
    let mut taken = Vec::new();
    let changelog = ChangelogReader::new(&settings);
    std::thread::scope(|scope| {
        let restoring: Vec<_> = (0..PARTITIONS)
            .map(|number| {
                let (shared, changelog) = (shared.clone(), &changelog);
                scope.spawn(move || {
                    let left = changelog.read(number).expect("the broker serves");
                    let bytes: usize = left.states.iter().map(|(k, v)| k.len() + v.len()).sum();
                    let reporter = Arc::new(Arc::<Health>::default().assigned(number));
                    (Partition::restored(Arc::clone(&shared), number, Clock::wall(), reporter, &left).0, left.states.len(), bytes)
                })
            })
            .collect();
        taken.extend(restoring.into_iter().map(|r| r.join().expect("no panic")));
    });
    let took = began.elapsed();
    let (streams, bytes) = taken.iter().fold((0, 0), |(n, b), (_, streams, bytes)| (n + streams, b + bytes));
    let held = region.change();
    println!(
        "{streams} open streams, {PARTITIONS} partitions side by side: restored in {:.2} s\n{:.0} bytes of memory and {:.0} bytes of changelog a stream",
        took.as_secs_f64(),
        (held.bytes_allocated as f64 - held.bytes_deallocated as f64) / streams as f64,
        bytes as f64 / streams as f64,
    );
}
