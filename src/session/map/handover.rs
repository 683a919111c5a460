//! What a partition's table gives to whoever takes the partition over, and takes from whoever had it.

use std::sync::Arc;

use super::{Sessions, Slot, replace};
use crate::session::Time;
use crate::session::output::{StreamId, StreamKey};
use crate::session::policy::Policy;
use crate::session::snapshot::{Snapshot, SnapshotContext, SnapshotError};
use crate::session::stream::Stream;

impl Sessions {
    /// Snapshots of the streams that changed since the last call, and `None` for those of which nothing need be known any more. `model`: the name of a
    /// stream's model.
    pub fn take_snapshots(&mut self, model: impl Fn(&Policy) -> Arc<str>) -> Vec<(StreamKey, Option<Snapshot>)> {
        self.changed.extend(self.ended.take_forgotten());
        let changed = std::mem::take(&mut self.changed);
        let snapshot = |key: &StreamKey| match self.by_key.get(key) {
            Some(id) => {
                let slot = &self.slots[id];
                let model = model(slot.stream.policy());
                Some(Snapshot::Open(Box::new(slot.stream.snapshot(&slot.profile, &model, &slot.waiting))))
            }
            None => self
                .ended
                .of(key)
                .map(|(last, channel_context)| Snapshot::Ended { last, channel_context: channel_context.clone() }),
        };
        changed.into_iter().map(|key| (snapshot(&key), key)).map(|(snapshot, key)| (key, snapshot)).collect()
    }

    /// Forgets a session: its streams are gone without an end, what they hold is not formatted, and nothing of them stays in the changelog. `offset`: where
    /// the order stands; a stream whose state was made after it is not what the order means. Gives the streams that were open; `None` where nothing was known
    /// of it.
    pub fn erase(&mut self, session: &Arc<str>, offset: i64) -> Option<Vec<StreamId>> {
        self.ahead.reached(offset);
        let keys: Vec<StreamKey> = self.channels(session).filter(|key| !self.ahead.holds(key, offset)).cloned().collect();
        let mut erased = Vec::with_capacity(keys.len());
        for key in &keys {
            let id = self.by_key.remove(key).expect("just listed");
            let mut slot = self.slots.remove(&id).expect("by_key names open slots");
            replace(&mut self.due, &mut slot.due, None, id);
            self.pending_words -= slot.pending;
            self.in_flight -= usize::from(slot.asking); // its answer finds nobody
            self.dirty.remove(&id);
            self.changed.insert(key.clone());
            erased.push(id);
        }
        let had_ended = self.ended.erase(session);
        self.events.retain(|e| e.stream.key.session != *session);
        (had_ended || !erased.is_empty()).then_some(erased)
    }

    /// Takes a stream over from its last owner. For a partition of which nothing has been consumed yet.
    ///
    /// # Errors
    /// The snapshot contradicts itself.
    pub fn restore(
        &mut self,
        key: StreamKey,
        snapshot: &Snapshot,
        context: &impl SnapshotContext,
        now: Time,
    ) -> Result<(), SnapshotError> {
        let state = match snapshot {
            Snapshot::Ended { last, channel_context } => {
                self.ended.remember(key, *last, channel_context.clone(), now);
                return Ok(());
            }
            Snapshot::Open(state) => state,
        };
        let (profile, policy) = context.profile(&state.profile);
        let (stream, waiting) = Stream::restored(state, policy, context, now)?;
        // All that the tables will ask of it, before they know of it: a panic over a damaged state must leave nothing behind.
        let _ = (stream.pending(), stream.is_behind(None), stream.next_due(true, self.limits.session_ttl_ms));
        let id = self.next_id;
        self.next_id += 1;
        self.by_key.insert(key.clone(), id);
        self.slots.insert(id, Slot { waiting, ..Slot::new(key.clone(), profile, stream) });
        self.after(id, Vec::new(), now);
        self.changed.remove(&key); // it is as its snapshot says
        Ok(())
    }
}
