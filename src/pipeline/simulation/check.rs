//! The properties of a run.

use std::collections::{BTreeMap, BTreeSet};

use super::cluster::{SimulatedCluster, Topic};
use super::{FIGURES, World};
use crate::kafka::notes::PartitionNote;
use crate::record::{Kind, RawRecord, Segment};

/// Words that a bank's session says as a secret, and nothing else says in it.
const SECRET: [&str; 4] = ["four", "seven", "one", "nine"];
/// What may stand for any word: a figure, or something redacted.
const ANY: &str = "*";

/// Whether a `read_committed` reader has all that was said, once and in order.
///
/// # Errors
/// What is missing, or doubled, or otherwise than it was said.
pub fn published(world: &World) -> Result<(), String> {
    let partitions = world.plan.partitions;
    let mut cluster = world.cluster();
    for partition in 0..partitions {
        let (_, end) = cluster.log(Topic::Raw, partition).bounds();
        let (at, _) = cluster.position(partition).unwrap_or_default();
        if at < end {
            return Err(format!("partition {partition} is committed up to {at} of {end}"));
        }
    }
    let said = world.said.lock().unwrap();
    let refused = refused(&mut cluster, partitions)?;
    let mut segments: BTreeMap<(String, String), Vec<Segment>> = BTreeMap::new();
    for segment in all_segments(&mut cluster, partitions, Topic::Formatted)? {
        segments.entry((segment.session.to_string(), segment.channel.to_string())).or_default().push(segment);
    }
    for (stream, records) in said.records.iter().filter(|((session, _), _)| !session.starts_with("poison")) {
        let taken = records.iter().filter(|(partition, offset, _)| !refused.contains(&(*partition, *offset)));
        let words: Vec<String> = taken.flat_map(|(.., words)| words).cloned().collect();
        let got = segments.remove(stream).unwrap_or_default();
        let got = spoken(&got, &words).map_err(|why| format!("{stream:?}: {why}"))?;
        let same = |a: &String, b: &String| a == ANY || a == b;
        if got.len() != words.len() || !got.iter().zip(&words).all(|(a, b)| same(a, b)) {
            let at = got.iter().zip(&words).take_while(|(a, b)| same(a, b)).count();
            return Err(format!(
                "{stream:?}: {} words were said and {} came; from word {at} on {:?} instead of {:?}",
                words.len(),
                got.len(),
                &got[at..got.len().min(at + 4)],
                &words[at..words.len().min(at + 4)]
            ));
        }
    }
    segments.retain(|(session, _), all| !session.starts_with("poison") && all.iter().any(|s| s.kind == Kind::Final));
    if let Some((stream, _)) = segments.into_iter().next() {
        return Err(format!("{stream:?} said nothing and has segments"));
    }
    states_are_gone(&mut cluster, partitions)
}

/// What must hold at every moment.
///
/// # Errors
/// A secret is shown.
pub fn holds(world: &World) -> Result<(), String> {
    let mut cluster = world.cluster();
    for topic in [Topic::Formatted, Topic::Partial] {
        for segment in all_segments(&mut cluster, world.plan.partitions, topic)? {
            if segment.session.starts_with("bank") {
                shows_no_secret(&segment)?;
            }
        }
    }
    Ok(())
}

fn all_segments(cluster: &mut SimulatedCluster, partitions: i32, topic: Topic) -> Result<Vec<Segment>, String> {
    let mut all = Vec::new();
    for partition in 0..partitions {
        for record in cluster.log(topic, partition).committed(0) {
            let segment = serde_json::from_slice(record.payload.as_deref().unwrap_or_default());
            all.push(segment.map_err(|e| format!("a record of {topic:?} is no segment: {e}"))?);
        }
    }
    Ok(all)
}

fn shows_no_secret(segment: &Segment) -> Result<(), String> {
    let texts = segment.words.iter().map(|w| w.text.as_str()).chain(segment.removed.iter().map(|r| r.spoken.as_str()));
    let texts = texts.chain(segment.entities.iter().flat_map(|e| [e.written.as_str(), e.spoken.as_str()]));
    for text in texts.chain([segment.text.as_str()]) {
        let shown = text
            .split(|c: char| !c.is_alphanumeric())
            .map(str::to_lowercase)
            .find(|word| SECRET.contains(&word.as_str()) || word.contains(|c: char| c.is_ascii_digit()));
        if let Some(word) = shown {
            return Err(format!("{:?} of {:?} shows {word:?} of what is redacted", segment.kind, segment.session));
        }
    }
    Ok(())
}

/// Partition and offset of all records that were refused.
fn refused(cluster: &mut SimulatedCluster, partitions: i32) -> Result<BTreeSet<(i32, i64)>, String> {
    let header = |record: &RawRecord, name: &str| String::from_utf8_lossy(record.header(name).unwrap_or_default()).into_owned();
    let mut refused = BTreeSet::new();
    for partition in 0..partitions {
        for letter in cluster.log(Topic::DeadLetter, partition).committed(0) {
            let place = [header(letter, "faircopy-source-partition"), header(letter, "faircopy-source-offset")];
            let at = (place[0].parse().unwrap_or(-1), place[1].parse().unwrap_or(-1));
            let (stage, key) =
                (header(letter, "faircopy-stage"), String::from_utf8_lossy(letter.key.as_deref().unwrap_or_default()));
            // Where some profile redacts, a dead letter has coordinates only.
            if !["quota", "crash"].contains(&&*stage) {
                return Err(format!("the record at {at:?} was refused at the stage {stage:?} {key}"));
            }
            if !refused.insert(at) {
                return Err(format!("the record at {at:?} was refused twice"));
            }
        }
    }
    Ok(refused)
}

/// Whether every state of the changelog has gone with its stream.
fn states_are_gone(cluster: &mut SimulatedCluster, partitions: i32) -> Result<(), String> {
    for partition in 0..partitions {
        let mut latest: BTreeMap<Vec<u8>, bool> = BTreeMap::new();
        for record in cluster.log(Topic::Changelog, partition).committed(0) {
            latest.insert(record.key.clone().unwrap_or_default(), record.payload.is_some());
        }
        let left = latest
            .into_iter()
            .find(|(key, is_there)| *is_there && !PartitionNote::is_key(key) && !String::from_utf8_lossy(key).contains("poison"));
        if let Some((key, _)) = left {
            return Err(format!("partition {partition} keeps the state of {:?}", String::from_utf8_lossy(&key)));
        }
    }
    Ok(())
}

/// The words of a stream's segments, as they were said. Each epoch must have each segment and each word once. `said`:
/// what was said, to know which words are figures.
fn spoken(segments: &[Segment], said: &[String]) -> Result<Vec<String>, String> {
    let mut epochs: Vec<i64> = Vec::new();
    let (mut next_seq, mut next_word, mut ended) = (0, 0, false);
    let mut all: Vec<String> = Vec::new();
    let mut base = 0;
    for segment in segments {
        if epochs.last() != Some(&segment.epoch) {
            if epochs.contains(&segment.epoch) {
                return Err(format!("epoch {} goes on after a later one", segment.epoch));
            }
            if !epochs.is_empty() && !ended {
                return Err(format!("epoch {} begins before the one before it has ended", segment.epoch));
            }
            epochs.push(segment.epoch);
            (next_seq, next_word, ended, base) = (0, 0, false, all.len() as u64);
        }
        if segment.seq != next_seq || ended {
            return Err(format!("epoch {}: segment {} came where {next_seq} was expected", segment.epoch, segment.seq));
        }
        next_seq += 1;
        if segment.kind == Kind::End {
            ended = true;
            continue;
        }
        let mut words: BTreeMap<u64, String> = BTreeMap::new();
        let plain = segment.words.iter().map(|w| (w.src, w.text.as_str()));
        let removed = segment.removed.iter().map(|r| (r.src, r.spoken.as_str()));
        for (src, text) in plain.chain(removed) {
            let is_figure = |n: u64| said.get((base + n) as usize).is_some_and(|w| FIGURES.contains(&w.as_str()));
            let parts: Vec<&str> = text.split_whitespace().collect();
            // Tokens of one figure share its word, and so may the words beside it that are written with it.
            if (src[0]..src[1]).any(is_figure) || text.contains('*') || segment.session.starts_with("bank") {
                words.extend((src[0]..src[1]).map(|n| (n, ANY.to_string())));
                continue;
            }
            if parts.len() as u64 != src[1] - src[0] {
                return Err(format!("{text:?} stands for the words {src:?}"));
            }
            for (n, part) in (src[0]..src[1]).zip(parts) {
                let word = part.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
                if words.insert(n, word).is_some_and(|other| other != ANY) {
                    return Err(format!("epoch {}: word {n} came twice", segment.epoch));
                }
            }
        }
        for (n, word) in words {
            if n != next_word {
                return Err(format!("epoch {}: word {n} came where {next_word} was expected", segment.epoch));
            }
            next_word += 1;
            all.push(word);
        }
    }
    if !epochs.is_empty() && !ended {
        return Err("its end has not come".into());
    }
    Ok(all)
}
