//! The time a partition lives in.

use std::time::{Duration, Instant};

use crate::session::Time;

/// Milliseconds since a partition's task began: of the wall, or of a replay that lets time pass itself.
#[derive(Debug)]
pub enum Clock {
    /// runs by itself
    Wall {
        /// when it began
        began: Instant,
    },
    /// stands until it is moved
    Simulated {
        /// what it shows
        now: Time,
    },
}

impl Clock {
    /// The wall's, from now on.
    pub fn wall() -> Clock {
        Clock::Wall { began: Instant::now() }
    }

    /// A simulated one, at 0.
    pub fn simulated() -> Clock {
        Clock::Simulated { now: Time(0) }
    }

    /// What it shows.
    pub fn now(&self) -> Time {
        match self {
            Clock::Wall { began } => Time(began.elapsed().as_millis() as u64),
            Clock::Simulated { now } => *now,
        }
    }

    /// When the wall's clock will show as much more as this one has to go until `t`.
    pub fn instant(&self, t: Time) -> Instant {
        match self {
            Clock::Wall { began } => *began + Duration::from_millis(t.0),
            Clock::Simulated { now } => Instant::now() + Duration::from_millis(t.since(*now)),
        }
    }

    /// Moves a simulated clock on to `t`; the wall's needs nobody for that.
    pub fn move_to(&mut self, t: Time) {
        if let Clock::Simulated { now } = self {
            *now = (*now).max(t);
        }
    }
}
