//! What must hold of the topic of the conversation at the end of a run: every token that was published is in exactly one
//! turn, numbers have no holes, order never goes back but where a turn says so, and no state outlives its session.

use std::collections::{BTreeMap, BTreeSet};

use super::World;
use super::cluster::{SimulatedCluster, Topic};
use crate::kafka::notes::PartitionNote;
use crate::record::{ConversationTurn, Kind, Segment};

/// Session, channel, epoch, number of the segment, and the token's place in the segment.
type Token = (String, String, i64, u64, usize);

/// Whether a `read_committed` reader of the conversation has all that readers of segments have, once and in order.
///
/// # Errors
/// What is missing, or doubled, or out of order.
pub fn whole(world: &World) -> Result<(), String> {
    // Turns come again with at_least_once, words of a log that is cut are in no turn, and small tables end sessions early.
    if world.plan.at_least_once || world.plan.tight {
        return Ok(());
    }
    let (partitions, mut cluster) = (world.plan.partitions, world.cluster());
    let mut published: BTreeSet<Token> = BTreeSet::new();
    for segment in all::<Segment>(&mut cluster, partitions, Topic::Formatted)? {
        if segment.kind == Kind::Final {
            let of = |word| (segment.session.to_string(), segment.channel.to_string(), segment.epoch, segment.seq, word);
            published.extend((0..segment.words.len()).map(of));
        }
    }
    let mut next: BTreeMap<(String, i64), (u64, Option<f64>)> = BTreeMap::new();
    for turn in all::<ConversationTurn>(&mut cluster, partitions, Topic::Conversation)? {
        let name = (turn.session.to_string(), turn.conversation);
        let (number, latest) = next.entry(name.clone()).or_default();
        if turn.number != *number {
            return Err(format!("{name:?}: turn {} came where {number} was expected", turn.number));
        }
        *number += 1;
        if turn.order.is_none() {
            if !turn.late && latest.zip(turn.from).is_some_and(|(latest, from)| from < latest) {
                return Err(format!("{name:?}: turn {} goes back to {:?} and is not late", turn.number, turn.from));
            }
            *latest = if *latest > turn.from { *latest } else { turn.from };
        }
        let inside = turn.inside.iter().flat_map(|guest| guest.segments.iter().map(|part| (&guest.channel, part)));
        for (channel, part) in turn.segments.iter().map(|part| (&turn.channel, part)).chain(inside) {
            for word in part.words[0]..part.words[1] {
                let token = (turn.session.to_string(), channel.to_string(), part.epoch, part.seq, word);
                if !published.remove(&token) {
                    return Err(format!(
                        "{name:?}: turn {} has {token:?}, which is in another turn or in no segment",
                        turn.number
                    ));
                }
            }
        }
    }
    if let Some(token) = published.iter().find(|token| !token.0.starts_with("poison")) {
        return Err(format!("{} tokens are in no turn, such as {token:?}", published.len()));
    }
    states_are_gone(&mut cluster, partitions)
}

fn all<T: serde::de::DeserializeOwned>(cluster: &mut SimulatedCluster, partitions: i32, topic: Topic) -> Result<Vec<T>, String> {
    let mut all = Vec::new();
    for partition in 0..partitions {
        for record in cluster.log(topic, partition).committed(0) {
            let read = serde_json::from_slice(record.payload.as_deref().unwrap_or_default());
            all.push(read.map_err(|e| format!("a record of {topic:?} cannot be read: {e}"))?);
        }
    }
    Ok(all)
}

fn states_are_gone(cluster: &mut SimulatedCluster, partitions: i32) -> Result<(), String> {
    for partition in 0..partitions {
        let mut latest: BTreeMap<Vec<u8>, bool> = BTreeMap::new();
        for record in cluster.log(Topic::Changelog, partition).committed(0) {
            latest.insert(record.key.clone().unwrap_or_default(), record.payload.is_some());
        }
        let session = |key: &[u8]| PartitionNote::conversation_of(key).map(String::from);
        let mut left = latest.iter().filter(|(_, is_there)| **is_there).filter_map(|(key, _)| session(key));
        if let Some(session) = left.find(|session| !session.starts_with("poison")) {
            return Err(format!("partition {partition} keeps the conversation of {session:?}"));
        }
    }
    Ok(())
}
