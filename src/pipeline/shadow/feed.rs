//! The way from a partition to its shadow. The partition never waits: what does not fit is missing, and the shadow
//! drops everything that it has.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::pipeline::partition::intake::Speech;
use crate::record::Segment;

/// Inputs that wait for the shadow at most.
const MAX_WAITING: usize = 256;

/// What a shadow hears of its partition.
pub(super) enum Heard {
    /// a record was taken, by a profile with this challenger. `opens`: it opened its stream
    Said { speech: Box<Speech>, challenger: Arc<str>, opens: bool },
    /// a segment was made
    Made(Box<Segment>),
    /// a session was erased
    Erased(Arc<str>),
}

/// What a shadow hears, with its number. A gap in the numbers means that something did not fit.
pub struct Numbered {
    pub(super) number: u64,
    pub(super) heard: Heard,
}

/// The partition's end.
pub struct ShadowFeed {
    inbox: Sender<Numbered>,
    overflowed: Arc<AtomicBool>,
    next: u64,
}

/// The shadow's end.
pub struct ShadowInbox {
    pub(super) heard: Receiver<Numbered>,
    /// set where something did not fit, and cleared by the shadow
    pub(super) overflowed: Arc<AtomicBool>,
}

/// Both ends.
pub fn feed() -> (ShadowFeed, ShadowInbox) {
    let (inbox, heard) = channel(MAX_WAITING);
    let overflowed = Arc::new(AtomicBool::new(false));
    (ShadowFeed { inbox, overflowed: overflowed.clone(), next: 0 }, ShadowInbox { heard, overflowed })
}

impl ShadowFeed {
    fn tell(&mut self, heard: Heard) {
        let number = self.next;
        self.next += 1;
        if self.inbox.try_send(Numbered { number, heard }).is_err() {
            self.overflowed.store(true, Ordering::Relaxed);
        }
    }

    /// A record was taken, by a profile with this challenger. `opens`: it opened its stream.
    pub fn said(&mut self, speech: Box<Speech>, challenger: Arc<str>, opens: bool) {
        self.tell(Heard::Said { speech, challenger, opens });
    }

    /// A segment was made.
    pub fn made(&mut self, segment: &Segment) {
        self.tell(Heard::Made(Box::new(segment.clone())));
    }

    /// A session was erased.
    pub fn erased(&mut self, session: &Arc<str>) {
        self.tell(Heard::Erased(session.clone()));
    }
}
