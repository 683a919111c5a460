//! The clock of a partition.

use std::time::{Duration, Instant};

use crate::session::Time;
use crate::system;

/// Milliseconds since a partition's task began: by the wall clock, or by a simulated clock that is moved by hand.
#[derive(Debug)]
pub enum Clock {
    /// the wall clock
    Wall {
        /// when it began
        began: Instant,
    },
    /// a simulated clock, which stands until it is moved
    Simulated {
        /// the present time
        now: Time,
    },
}

impl Clock {
    /// A wall clock that begins now.
    pub fn wall() -> Clock {
        Clock::Wall { began: system::now() }
    }

    /// A simulated clock at 0.
    pub fn simulated() -> Clock {
        Clock::Simulated { now: Time(0) }
    }

    /// The present time.
    pub fn now(&self) -> Time {
        match self {
            Clock::Wall { began } => Time(system::now().duration_since(*began).as_millis() as u64),
            Clock::Simulated { now } => *now,
        }
    }

    /// The wall clock's time at which this clock will show `t`.
    pub fn instant(&self, t: Time) -> Instant {
        match self {
            Clock::Wall { began } => *began + Duration::from_millis(t.0),
            Clock::Simulated { now } => system::now() + Duration::from_millis(t.since(*now)),
        }
    }

    /// Moves a simulated clock on to `t`. Does nothing to the wall clock.
    pub fn move_to(&mut self, t: Time) {
        if let Clock::Simulated { now } = self {
            *now = (*now).max(t);
        }
    }
}

/// Waits until then; for ever if nothing is due.
pub async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(at) => system::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
