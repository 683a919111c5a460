//! Values in Avro, in the wire format of Confluent's serialisers: a zero byte, the number of the writer's schema, the
//! datum.
//!
//! A raw value becomes the JSON that the same fields would be, and is then read as its format says. A segment is
//! written by one schema, docs/schemas/formatted.avsc. Schemas and data are untrusted: no schema may go round in a circle
//! (`shape`), and a few bytes must not become gigabytes, so the JSON is bounded while it is written (`json`).

#[cfg_attr(not(feature = "avro"), path = "absent.rs")]
mod codec;
#[cfg(feature = "avro")]
mod json;
#[cfg(test)]
#[cfg(feature = "avro")]
mod proptests;
mod schemas;
#[cfg(feature = "avro")]
mod shape;
#[cfg(test)]
#[cfg(feature = "avro")]
mod tests;
mod wire;

use std::sync::LazyLock;

use super::conversation::ConversationTurn;
use super::formatted::Segment;
pub use codec::{WriterSchema, encode, encode_turn};
pub use schemas::Schemas;
use wire::divided;
pub use wire::{SEGMENT_SCHEMA, TURN_SCHEMA};

/// Largest JSON of a segment. The records that this program writes are not larger (`Settings::largest_record_bytes`).
const MAX_SEGMENT_BYTES: usize = 64 << 20;

/// A segment that this program has written; its `meta` is a string.
pub fn segment(value: &[u8]) -> Option<Segment> {
    serde_json::from_slice(&ours()?.to_json(divided(value)?.1, MAX_SEGMENT_BYTES).ok()?).ok()
}

/// A turn that this program has written.
pub fn turn(value: &[u8]) -> Option<ConversationTurn> {
    static OURS: LazyLock<Option<WriterSchema>> = LazyLock::new(|| WriterSchema::parse(TURN_SCHEMA).ok());
    serde_json::from_slice(&OURS.as_ref()?.to_json(divided(value)?.1, MAX_SEGMENT_BYTES).ok()?).ok()
}

/// A datum of the schema that segments are written with, as JSON text.
pub fn datum_json(datum: &[u8]) -> Option<String> {
    String::from_utf8(ours()?.to_json(datum, MAX_SEGMENT_BYTES).ok()?).ok()
}

/// The schema that segments are written with. None without the feature `avro`.
fn ours() -> Option<&'static WriterSchema> {
    static OURS: LazyLock<Option<WriterSchema>> = LazyLock::new(|| WriterSchema::parse(SEGMENT_SCHEMA).ok());
    OURS.as_ref()
}
