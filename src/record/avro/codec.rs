//! Data by their schema: Avro to JSON for raw values, a segment to Avro.

use std::sync::{Arc, LazyLock};

use apache_avro::types::Value;
use apache_avro::{Schema, writer::datum::GenericDatumWriter};
use serde_json::Value as Json;

use super::json;
use super::shape::Shape;
use super::wire::{NoJson, SEGMENT_SCHEMA, TURN_SCHEMA};
use crate::record::conversation::ConversationTurn;
use crate::record::formatted::Segment;

/// The schema that a value was written with.
pub struct WriterSchema(Arc<Shape>);

impl WriterSchema {
    /// Reads a schema and checks that it bounds what its data cost.
    pub(super) fn parse(text: &str) -> Result<WriterSchema, String> {
        let schema = Schema::parse_str(text).map_err(|e| format!("it is not an Avro schema: {e}"))?;
        Shape::of(&schema).map(WriterSchema)
    }

    /// A datum as JSON text of at most `max_bytes`.
    pub(super) fn to_json(&self, datum: &[u8], max_bytes: usize) -> Result<Vec<u8>, NoJson> {
        json::text(&self.0, datum, max_bytes)
    }
}

/// A value that can be resolved to a schema. Integers are whole numbers that an Avro long holds, as all of a segment's
/// are.
pub(super) fn avro(json: Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Boolean(value),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Value::Long(whole),
            None => Value::Double(number.as_f64().unwrap_or_default()),
        },
        Json::String(text) => Value::String(text),
        Json::Array(items) => Value::Array(items.into_iter().map(avro).collect()),
        Json::Object(fields) => Value::Map(fields.into_iter().map(|(name, value)| (name, avro(value))).collect()),
    }
}

static SEGMENT: LazyLock<Schema> = LazyLock::new(|| Schema::parse_str(SEGMENT_SCHEMA).expect("the shipped schema is one"));
static TURN: LazyLock<Schema> = LazyLock::new(|| Schema::parse_str(TURN_SCHEMA).expect("the shipped schema is one"));

/// Appends a segment's datum.
pub fn encode(segment: &Segment, to: &mut Vec<u8>) {
    let mut json = serde_json::to_value(segment).expect("segments are JSON");
    if let Some(meta) = &segment.meta {
        json["meta"] = meta.get().into(); // Avro has no type for any JSON
    }
    write(json, &SEGMENT, to);
}

/// Appends a turn's datum.
pub fn encode_turn(turn: &ConversationTurn, to: &mut Vec<u8>) {
    write(serde_json::to_value(turn).expect("turns are JSON"), &TURN, to);
}

fn write(json: Json, schema: &Schema, to: &mut Vec<u8>) {
    let value = avro(json).resolve(schema).expect("the schema has every field of what this program writes");
    let writer = GenericDatumWriter::builder(schema).build().expect("the shipped schema names what it has");
    writer.write_value(to, value).expect("a resolved value is of its schema");
}
