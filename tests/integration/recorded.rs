//! Whole recorded calls through Kafka, with every final word accounted for: the demo's call always, and the files of
//! `FAIRCOPY_STREAMS` (a directory of `.jsonl` files with `session` inline), where it is set.

use std::path::Path;

use faircopy::cli::demo::call;
use serde_json::Value;

use crate::kafka::{PATIENCE, Sender, Topics, within};
use crate::ledger::{Ledger, doubled, lost};
use crate::service::segments;
use crate::worker::Worker;

/// Sends lines of (session, record), waits until every word is out, and balances the books.
fn passes(name: &str, lines: &[(String, String)]) {
    let topics = Topics::create(&format!("recorded-{name}"), 3);
    let mut worker = Worker::start(&topics, "a", "");
    let sender = Sender::new();
    for (session, record) in lines {
        sender.send(&topics.name("raw"), Some(session.as_bytes()), Some(record.as_bytes()), &[]);
    }
    sender.flush();
    let ledger = Ledger::of(&topics);
    within(PATIENCE * 10, "every word comes out", || lost(&ledger.account(&topics)) == 0);
    assert!(worker.terminate().success(), "{}", worker.log());
    let account = ledger.account(&topics);
    assert!(ledger.words() > 0);
    assert_eq!((lost(&account), doubled(&account)), (0, 0), "of {} words", ledger.words());
    assert!(topics.read("dead").is_empty(), "no record was refused");
    let degraded: u64 = segments(&topics).iter().filter_map(|(_, s)| s.counts).map(|c| c.degraded).sum();
    assert_eq!(degraded, 0);
    println!("{name}: {} records, {} final words, lost 0, doubled 0", lines.len(), ledger.words());
}

#[test]
fn the_demos_call_passes_with_every_word_accounted_for() {
    let lines: Vec<_> = call::records(call::Call::En).iter().map(|r| ("call".to_string(), r.json())).collect();
    passes("demo", &lines);
}

#[test]
fn recorded_streams_pass_with_every_word_accounted_for() {
    let Some(dir) = std::env::var_os("FAIRCOPY_STREAMS") else { return };
    let mut files: Vec<_> = std::fs::read_dir(Path::new(&dir)).unwrap().map(|f| f.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "jsonl"));
    files.sort();
    assert!(!files.is_empty(), "no .jsonl file in {dir:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let line = |l: &str| {
            let record: Value = serde_json::from_str(l).unwrap();
            (record["session"].as_str().expect("an inline session").to_string(), l.to_string())
        };
        passes(&file.file_stem().unwrap().to_string_lossy(), &text.lines().map(line).collect::<Vec<_>>());
    }
}
