//! Events. Each event is one type, which writes its log line and counts its metric.
//!
//! No event carries transcript text, session keys or secrets. Events carry counts, times, offsets and reasons only.
//! Metrics go to OpenTelemetry's global meter, and cost next to nothing until a provider is installed. docs/METRICS.md
//! lists all metrics.

mod instruments;
mod record;
mod tenants;
mod worker;

pub use instruments::{name_group, observe};
pub use record::*;
pub use tenants::{ModelTimeShared, RowOfTenant, TenantNames};
pub use worker::*;
