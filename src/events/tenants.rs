//! Words by tenant, for those who charge tenants. Tenants come with records, so there is a bound on how many have a series of their own.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use opentelemetry::KeyValue;

use super::instruments::INSTRUMENTS;

/// What all tenants beyond the bound are called together.
const OTHERS: &str = "(others)";

/// The tenants that have a series of their own: the first to come.
pub struct TenantNames {
    known: Mutex<BTreeSet<Arc<str>>>,
    at_most: usize,
}

impl TenantNames {
    /// With a bound; 0: nothing is counted by tenant.
    pub fn new(at_most: usize) -> TenantNames {
        TenantNames { known: Mutex::default(), at_most }
    }

    /// What a tenant's words are counted under; `None` where nothing is counted by tenant.
    fn name(&self, tenant: &str) -> Option<Arc<str>> {
        let mut known = self.known.lock().expect("no holder panics");
        if let Some(name) = known.get(tenant) {
            return Some(name.clone());
        }
        match self.at_most {
            0 => None,
            at_most if known.len() < at_most => {
                let name: Arc<str> = tenant.into();
                known.insert(name.clone());
                Some(name)
            }
            _ => Some(OTHERS.into()),
        }
    }

    /// Counts a tenant's final words.
    pub fn said(&self, tenant: &str, words: u64) {
        if let Some(name) = self.name(tenant) {
            INSTRUMENTS.tenant_words.add(words, &[KeyValue::new("tenant", name)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenants_beyond_the_bound_share_a_name_and_none_has_one_where_nobody_asked() {
        let names = TenantNames::new(2);
        let of = |tenant: &str| names.name(tenant).unwrap().to_string();
        assert_eq!(["a", "b", "c", "d", "a"].map(of), ["a", "b", OTHERS, OTHERS, "a"]);
        assert_eq!(TenantNames::new(0).name("a"), None);
    }
}
