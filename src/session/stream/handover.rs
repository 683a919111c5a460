//! A stream as it is written down for its next owner, and as that makes it of it.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Asked, Stream};
use crate::session::Time;
use crate::session::buffer::Buffer;
use crate::session::plan::{Pass, Plan};
use crate::session::policy::Policy;
use crate::session::snapshot::{OpenStream, SnapshotError, Surroundings, Waiting};

impl Stream {
    /// What its next owner needs of it. `waiting`: what is held until it has closed.
    pub fn snapshot(&self, profile: &str, model: &str, waiting: &VecDeque<Waiting>) -> OpenStream {
        // A request under way is asked again: its pass comes first in the plan.
        let asked = self.in_flight.iter().filter_map(|f| if let Asked::Pass(pass) = f.asked { Some(pass) } else { None });
        OpenStream::new(
            profile,
            model,
            self.course.clone(),
            self.utterance_due.is_some(),
            (self.plan.covered(), asked.chain(self.plan.passes()).collect()),
            (self.buffer.parts(), self.settled),
            waiting,
        )
    }

    /// The stream that a snapshot is of, and what was held until it has closed.
    ///
    /// # Errors
    /// The snapshot contradicts itself.
    pub fn restored(
        state: &OpenStream,
        policy: Arc<Policy>,
        around: &impl Surroundings,
        now: Time,
    ) -> Result<(Stream, VecDeque<Waiting>), SnapshotError> {
        let (parts, waiting) = state.words(&policy, around, now)?;
        let buffer = Buffer::restored(parts).ok_or_else(|| SnapshotError::new("words that are not in order"))?;
        let (total, frozen) = (buffer.total(), buffer.frozen());
        let same_model = *state.model == *around.model(&policy);
        let settled = state.settled.restored(same_model, &buffer, &policy);
        let settled = settled.ok_or_else(|| SnapshotError::new("states of words that are not there"))?;
        let before = settled.number().max(frozen);
        let sound = |p: &Pass| p.freeze_to <= p.upto && before <= p.upto && p.upto <= total;
        let covered = state.passes.iter().map(|p| p.freeze_to).fold(frozen, u64::max);
        if !state.passes.iter().all(sound) || !state.passes.is_sorted_by_key(|p| p.upto) || state.covered != covered {
            return Err(SnapshotError::new("passes over words that are not there"));
        }
        let plan = Plan::restored(state.passes.iter().copied().collect(), state.covered);
        let mut stream = Stream::at(state.course.clone(), policy, buffer, settled, plan, now);
        if state.utterance_ended {
            stream.utterance_due = Some(now.plus(stream.policy.utterance_delay_ms));
        }
        Ok((stream, waiting))
    }
}
