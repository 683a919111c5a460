//! What happens, said once: each event is one type that is both a log line and a metric.
//!
//! No event carries transcript text, keys of people or secrets: counts, times, offsets and reasons only. Metrics go to
//! OpenTelemetry's global meter; until a provider is installed they cost next to nothing. docs/METRICS.md lists them all.

mod instruments;
mod record;
mod worker;

pub use instruments::observe;
pub use record::*;
pub use worker::*;
