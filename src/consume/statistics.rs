//! The statistics that librdkafka reports every second, as far as [`crate::health`] needs them.

use std::collections::HashMap;

use serde::Deserialize;

use crate::health::Health;

/// Of the consumer.
#[derive(Debug, Deserialize)]
pub struct Statistics {
    #[serde(default)]
    cgrp: Option<Group>,
    #[serde(default)]
    topics: HashMap<String, Topic>,
}

#[derive(Debug, Deserialize)]
struct Group {
    state: String,
    join_state: String,
}

#[derive(Debug, Deserialize)]
struct Topic {
    partitions: HashMap<String, Partition>,
}

#[derive(Debug, Deserialize)]
struct Partition {
    partition: i32,
    /// the last stable offset: what a `read_committed` reader can see
    #[serde(default = "unknown")]
    ls_offset: i64,
}

fn unknown() -> i64 {
    -1
}

impl Statistics {
    /// Tells the health board whether the group is steady, and where the partitions end.
    pub fn report(&self, topic: &str, health: &Health) {
        health.waits_for(match &self.cgrp {
            Some(g) if g.state == "up" && g.join_state == "steady" => None,
            Some(g) if g.state == "up" => Some("the group rebalances"),
            _ => Some("the group's broker does not answer"),
        });
        for p in self.topics.get(topic).into_iter().flat_map(|t| t.partitions.values()) {
            if p.partition >= 0 && p.ls_offset >= 0 {
                health.end_of(p.partition, p.ls_offset);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_steady_group_is_ready_and_partitions_end_where_readers_of_commits_can_see() {
        let health = Arc::new(Health::default());
        let say = |state: &str, join: &str| {
            let text = format!(
                r#"{{"cgrp": {{"state": "{state}", "join_state": "{join}"}}, "topics": {{"asr.raw": {{"partitions": {{
                "-1": {{"partition": -1, "ls_offset": -1001}}, "2": {{"partition": 2, "hi_offset": 12, "ls_offset": 10}}}}}}}}}}"#
            );
            serde_json::from_str::<Statistics>(&text).unwrap().report("asr.raw", &health);
            health.ready()
        };
        assert!(say("up", "wait-assign-call").unwrap_err().contains("rebalances"));
        assert!(say("wait-broker", "init").unwrap_err().contains("broker"));
        assert_eq!(say("up", "steady"), Ok(()));
        let reporter = health.assigned(2);
        reporter.restored(4);
        assert_eq!(health.partitions()[&2].lag, 6);
    }
}
