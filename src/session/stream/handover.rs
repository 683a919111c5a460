//! A stream's state for its next owner: writing it, restoring it, and making it anew from the raw topic where it cannot be read.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Asked, Stream};
use crate::session::Time;
use crate::session::buffer::Buffer;
use crate::session::plan::{Pass, Plan};
use crate::session::policy::Policy;
use crate::session::snapshot::{OpenStream, Opened, SnapshotError, Surroundings, Waiting};

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
            self.buffer.parts(),
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
        let sound = |p: &Pass| p.freeze_to <= p.upto && p.upto <= total;
        let covered = state.passes.iter().map(|p| p.freeze_to).fold(frozen, u64::max);
        if !state.passes.iter().all(sound) || state.covered != covered {
            return Err(SnapshotError::new("passes over words that are not there"));
        }
        let plan = Plan::restored(state.passes.iter().copied().collect(), state.covered);
        let mut stream = Stream::at(state.course.clone(), policy, buffer, plan, now);
        if state.utterance_ended {
            stream.utterance_due = Some(now.plus(stream.policy.utterance_delay_ms));
        }
        Ok((stream, waiting))
    }

    /// A stream whose state cannot be read, before it takes its words again. `missing` of its first words are not on the raw topic any more. Of the others
    /// those that have left stay left; those that had not are decoded anew.
    pub fn reopened(outline: &Opened, missing: u64, policy: Arc<Policy>, now: Time) -> Stream {
        let mut stream = Stream::new(outline.epoch, policy, now);
        stream.buffer = Buffer::after(missing);
        stream.plan.cover(missing);
        stream.known = outline.released.saturating_sub(missing);
        let course = &mut stream.course;
        (course.seq, course.seen, course.sentence_start) = (outline.segments, missing, outline.sentence_start);
        course.counts.words = missing;
        (course.counts.segments, course.counts.removed, course.counts.degraded) =
            (outline.segments, outline.removed, outline.degraded);
        // What was released may have ended inside a number: where numbers are guarded, its rest is guarded too.
        course.number_open = outline.released > 0 && stream.policy.guards_digits;
        stream
    }
}
