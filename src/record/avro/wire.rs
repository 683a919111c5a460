//! The wire format: the number of the writer's schema stands before the datum. And the schema of what this program
//! writes.

/// The schema of segments, for the registry.
pub const SEGMENT_SCHEMA: &str = include_str!("../../../docs/schemas/formatted.avsc");

/// The number of a value's schema, and its datum.
pub(super) fn divided(value: &[u8]) -> Option<(u32, &[u8])> {
    match value {
        [0, a, b, c, d, datum @ ..] => Some((u32::from_be_bytes([*a, *b, *c, *d]), datum)),
        _ => None,
    }
}
