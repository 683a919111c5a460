//! Rate limits, by governor.

use std::num::NonZeroU32;
use std::sync::Arc;

use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

/// At most so many partials a second and session. What comes too early is not lost: its stream stays marked and is tried again.
pub struct PartialLimit {
    inner: DefaultKeyedRateLimiter<Arc<str>>,
}

impl PartialLimit {
    /// `per_second` partials a session.
    pub fn new(per_second: NonZeroU32) -> PartialLimit {
        PartialLimit { inner: RateLimiter::keyed(Quota::per_second(per_second)) }
    }

    /// Whether the session may send one now; counts it if so.
    pub fn allows(&self, session: &Arc<str>) -> bool {
        self.inner.check_key(session).is_ok()
    }

    /// Forgets sessions that have not sent lately, so that the table stays as small as the sessions that are alive.
    pub fn forget_idle(&self) {
        self.inner.retain_recent();
        self.inner.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_limited_one_by_one() {
        let limit = PartialLimit::new(NonZeroU32::new(2).unwrap());
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        assert_eq!([limit.allows(&a), limit.allows(&a), limit.allows(&a), limit.allows(&b)], [true, true, false, true]);
    }
}
