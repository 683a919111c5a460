//! What the channels of a session hear of each other: whether somebody else spoke a whole turn before a record's words.
//! That goes by the order of records and by their times. When the model answers must not matter.

use super::Sessions;
use crate::session::Record;
use crate::session::output::StreamKey;
use crate::session::speech_clock::{OtherSpeech, SaidAt};

/// What a channel has heard once a record is taken; `None` if the record changes nothing.
pub(super) type Spoken = Option<OtherSpeech>;

impl Sessions {
    /// Notes in a record whether another channel spoke a whole turn before its words. Returns what its channel has heard
    /// afterwards.
    pub(super) fn note_replies(&self, key: &StreamKey, record: &mut Record) -> Spoken {
        if !record.is_final || record.words.is_empty() {
            return None;
        }
        let mut others = self.by_key.get(key).map(|id| self.slots[id].others).unwrap_or_default();
        record.replied = others.is_turn_before(&record.words);
        others.spoke(&record.words);
        Some(others)
    }

    /// The record that [`Sessions::note_replies`] has seen was taken.
    pub(super) fn spoke(&mut self, key: &StreamKey, spoken: Spoken) {
        if let Some(others) = spoken
            && let Some(slot) = self.by_key.get(key).and_then(|id| self.slots.get_mut(id))
        {
            slot.others = others;
        }
    }

    /// The other channels of the session hear what a channel said in the record at `offset`.
    pub(super) fn heard_by_others(&mut self, key: &StreamKey, offset: i64, said: &[SaidAt]) {
        if said.is_empty() {
            return;
        }
        let others = self.channels(&key.session).filter(|other| *other != key && !self.ahead.holds(other, offset));
        let others: Vec<StreamKey> = others.cloned().collect();
        for other in others {
            let slot = self.slots.get_mut(&self.by_key[&other]).expect("by_key names open slots");
            if slot.others.hear(said) {
                self.changed.insert(other);
            }
        }
    }

    /// A stream that is made anew hears again what another channel said.
    pub(super) fn hear_again(&mut self, key: &StreamKey, said: &[SaidAt]) {
        if let Some(slot) = self.by_key.get(key).and_then(|id| self.slots.get_mut(id)) {
            slot.others.hear(said);
        }
    }
}
