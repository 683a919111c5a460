//! Books of words: what was said on the raw topic, and what became of each word on the formatted one.

use std::collections::BTreeMap;

use faircopy::record::{Kind, Segment};
use serde_json::Value;

use crate::kafka::Topics;

/// How often each word of a (session, channel) came out.
pub type Account = BTreeMap<(String, String), Vec<u32>>;

pub struct Ledger {
    /// first word of each raw record: (session, channel, offset) to index
    starts: BTreeMap<(String, String, i64), usize>,
    said: BTreeMap<(String, String), usize>,
}

impl Ledger {
    /// Reads the raw topic. Records that the service refuses must not be on it.
    pub fn of(topics: &Topics) -> Ledger {
        let (mut starts, mut said) = (BTreeMap::new(), BTreeMap::new());
        for record in topics.read("raw") {
            let session = String::from_utf8(record.key.unwrap()).unwrap();
            let v: Value = serde_json::from_slice(&record.payload.unwrap()).unwrap();
            let channel = v["channel"].as_str().unwrap_or("").to_string();
            let words: &mut usize = said.entry((session.clone(), channel.clone())).or_default();
            starts.insert((session, channel, record.offset), *words);
            if v["final"].as_bool().unwrap_or(true) {
                *words += v["words"].as_array().map_or(0, Vec::len);
            }
        }
        Ledger { starts, said }
    }

    pub fn words(&self) -> usize {
        self.said.values().sum()
    }

    /// How often each word came out, as text, in an entity or under `removed`. An epoch's words count from its opening record.
    pub fn account(&self, topics: &Topics) -> Account {
        let mut account: Account = self.said.iter().map(|(k, n)| (k.clone(), vec![0; *n])).collect();
        for record in topics.read("formatted") {
            let segment: Segment = serde_json::from_slice(&record.payload.unwrap()).unwrap();
            assert_eq!(record.key.as_deref(), Some(segment.session.as_bytes()), "keyed by session");
            if segment.kind != Kind::Final {
                continue;
            }
            let key = (segment.session.to_string(), segment.channel.to_string());
            let base = self.starts[&(key.0.clone(), key.1.clone(), segment.epoch)];
            let ranges = segment.words.iter().map(|w| w.src).chain(segment.removed.iter().map(|r| r.src));
            let mut indices: Vec<u64> = ranges.flat_map(|[from, to]| from..to).collect();
            indices.sort_unstable();
            indices.dedup();
            let counts = account.get_mut(&key).expect("a stream that was said");
            for i in indices {
                counts[base + i as usize] += 1;
            }
        }
        account
    }
}

/// Words that did not come out at all.
pub fn lost(account: &Account) -> usize {
    account.values().flatten().filter(|&&n| n == 0).count()
}

/// Words that came out more than once.
pub fn doubled(account: &Account) -> usize {
    account.values().flatten().filter(|&&n| n > 1).count()
}
