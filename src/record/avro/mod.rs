//! Values in Avro, in the wire format of Confluent's serialisers: a zero byte, the number of the writer's schema, the
//! datum.
//!
//! A raw value becomes the JSON that the same fields would be, and is then read as its format says. A segment is
//! written by one schema, docs/schemas/formatted.avsc. Schemas and data are untrusted: a few bytes must not become
//! gigabytes, and no schema may go round in a circle.

#[cfg(feature = "avro")]
mod bounds;
#[cfg_attr(not(feature = "avro"), path = "absent.rs")]
mod codec;
mod schemas;
#[cfg(test)]
#[cfg(feature = "avro")]
mod tests;
mod wire;

use std::sync::LazyLock;

use super::formatted::Segment;
pub use codec::{WriterSchema, encode};
pub use schemas::Schemas;
pub use wire::SEGMENT_SCHEMA;
use wire::divided;

/// A segment that this program has written; its `meta` is a string.
pub fn segment(value: &[u8]) -> Option<Segment> {
    serde_json::from_slice(&ours()?.to_json(divided(value)?.1).ok()?).ok()
}

/// A datum of the schema that segments are written with, as JSON text.
pub fn datum_json(datum: &[u8]) -> Option<String> {
    String::from_utf8(ours()?.to_json(datum).ok()?).ok()
}

/// The schema that segments are written with. None without the feature `avro`.
fn ours() -> Option<&'static WriterSchema> {
    static OURS: LazyLock<Option<WriterSchema>> = LazyLock::new(|| WriterSchema::parse(SEGMENT_SCHEMA).ok());
    OURS.as_ref()
}
