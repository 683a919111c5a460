//! Words a second of `faircopy format`'s path over a file of raw segments, with one inference worker and with two, in one run.
//!
//! ```sh
//! cargo bench --bench throughput -- calls.jsonl
//! ```
//! By hand only. Ratios are worth more than figures: both runs share the machine and the minute.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use faircopy::config::Settings;
use faircopy::pipeline::Shared;
use faircopy::pipeline::worker::Worker;
use faircopy::produce::Outgoing;
use faircopy::record::{Kind, RawRecord};
use serde_json::Value;

fn main() -> ExitCode {
    let Some(path) = std::env::args().skip(1).find(|a| !a.starts_with('-')) else {
        println!("throughput: no file of raw segments given, nothing to measure");
        return ExitCode::SUCCESS;
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) => {
            eprintln!("error: {path}: {e}; expected raw segments, one JSON object a line");
            return ExitCode::FAILURE;
        }
    };
    let mut first = None;
    for workers in [1, 2] {
        let (words, seconds) = run(&text, workers);
        let rate = words as f64 / seconds;
        println!(
            "{workers} workers: {words} words in {seconds:.1} s, {rate:.0} words/s, ×{:.2}",
            rate / *first.get_or_insert(rate)
        );
    }
    ExitCode::SUCCESS
}

fn run(text: &str, workers: usize) -> (u64, f64) {
    let mut settings = Settings::load(None).expect("shipped settings are sound");
    settings.infer.workers = workers;
    settings.infer.timeout_ms = 3_600_000;
    settings.partials.enabled = false;
    let shared = Arc::new(Shared::load(settings).expect("make runtime, and run from the repository"));
    let mut worker = Worker::new(shared, 0);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let began = Instant::now();
    for (i, line) in text.lines().enumerate() {
        let session = serde_json::from_str::<Value>(line).ok().and_then(|v| v["session"].as_str().map(str::to_string));
        worker.take(RawRecord {
            offset: i as i64,
            key: Some(session.unwrap_or_else(|| "-".into()).into_bytes()),
            payload: Some(line.as_bytes().to_vec()),
            ..RawRecord::default()
        });
    }
    worker.end_all();
    worker.ask();
    while worker.is_asking() {
        let answer = runtime.block_on(worker.answer());
        worker.answered(answer);
        worker.ask();
    }
    let ended = worker.drain().into_iter().filter_map(|out| match out {
        Outgoing::Formatted(segment, _) if segment.kind == Kind::End => segment.counts,
        _ => None,
    });
    (ended.map(|c| c.words).sum(), began.elapsed().as_secs_f64())
}
