//! Rate limits, by governor.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use serde::{Deserialize, Serialize};

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

/// Seconds' worth of words that may come at once: a recogniser sends them by utterances.
const BURST_SECONDS: u32 = 10;

/// What becomes of words beyond a quota.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Beyond {
    /// they are tagged after everybody else's, and go out as spoken where more of them wait than a buffer holds
    #[default]
    Delay,
    /// their record is refused
    DeadLetter,
}

/// `[profiles.NAME.quota]`: words a second, on this worker; 0 is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WordQuota {
    /// of all sessions of a tenant
    pub tenant_words_per_second: u32,
    /// of one session
    pub session_words_per_second: u32,
    /// and beyond
    pub beyond: Beyond,
}

type Keyed = DefaultKeyedRateLimiter<Arc<str>>;

/// The quotas of all profiles.
pub struct WordQuotas {
    /// by profile: of tenants, of sessions
    by_profile: HashMap<Arc<str>, (Option<Keyed>, Option<Keyed>)>,
}

impl WordQuotas {
    /// One for each profile that has any.
    pub fn new<'a>(profiles: impl Iterator<Item = (&'a Arc<str>, WordQuota)>) -> WordQuotas {
        let limiter = |per_second: u32| {
            let rate = NonZeroU32::new(per_second)?;
            let burst = NonZeroU32::new(per_second.saturating_mul(BURST_SECONDS)).unwrap_or(rate);
            Some(RateLimiter::keyed(Quota::per_second(rate).allow_burst(burst)))
        };
        let of = |quota: WordQuota| (limiter(quota.tenant_words_per_second), limiter(quota.session_words_per_second));
        WordQuotas { by_profile: profiles.map(|(name, quota)| (name.clone(), of(quota))).collect() }
    }

    /// Whether so many more words are within both quotas; counts them if so.
    pub fn allows(&self, profile: &Arc<str>, tenant: &Arc<str>, session: &Arc<str>, words: usize) -> bool {
        let Some(words) = u32::try_from(words).ok().and_then(NonZeroU32::new) else { return words == 0 };
        let Some((tenants, sessions)) = self.by_profile.get(profile) else { return true };
        let within =
            |limit: &Option<Keyed>, key| limit.as_ref().is_none_or(|limit| matches!(limit.check_key_n(key, words), Ok(Ok(()))));
        within(tenants, tenant) && within(sessions, session)
    }

    /// Forgets who has said nothing lately.
    pub fn forget_idle(&self) {
        for limit in self.by_profile.values().flat_map(|(a, b)| [a, b]).flatten() {
            limit.retain_recent();
            limit.shrink_to_fit();
        }
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

    #[test]
    fn a_quota_counts_words_of_a_tenant_and_of_a_session_and_leaves_other_profiles_alone() {
        let names: [Arc<str>; 4] = ["metered", "free", "acme", "s1"].map(Into::into);
        let [metered, free, acme, session] = &names;
        let quota = WordQuota { tenant_words_per_second: 3, session_words_per_second: 2, beyond: Beyond::Delay };
        let quotas = WordQuotas::new([(metered, quota), (free, WordQuota::default())].into_iter());
        let other: Arc<str> = "s2".into();
        assert!(quotas.allows(metered, acme, session, 20), "ten seconds of a session");
        assert!(!quotas.allows(metered, acme, session, 1), "and no more");
        assert!(
            quotas.allows(metered, acme, &other, 9) && !quotas.allows(metered, acme, &other, 9),
            "thirty words of the tenant"
        );
        assert!(!quotas.allows(metered, &"b".into(), session, 1000), "more than could ever be allowed");
        assert!(quotas.allows(free, acme, session, 1_000_000) && quotas.allows(metered, acme, session, 0));
    }
}
