//! Data by their schema: Avro to JSON for raw values, a segment to Avro.

use std::io::{self, Read};
use std::sync::LazyLock;

use apache_avro::types::Value;
use apache_avro::util::max_allocation_bytes;
use apache_avro::{Schema, reader::datum::GenericDatumReader, writer::datum::GenericDatumWriter};
use serde_json::Value as Json;

use super::bounds;
use super::wire::SEGMENT_SCHEMA;
use crate::record::formatted::Segment;

/// What a length in a datum may ask for, bytes. The datum itself is as large as a Kafka record at most.
const MAX_ALLOCATION_BYTES: usize = 64 << 20;

/// The schema that a value was written with.
pub struct WriterSchema(Schema);

impl WriterSchema {
    /// Reads a schema and checks that it bounds what its data become.
    pub(super) fn parse(text: &str) -> Result<WriterSchema, String> {
        max_allocation_bytes(MAX_ALLOCATION_BYTES); // the first call in a process counts
        let schema = Schema::parse_str(text).map_err(|e| format!("it is not an Avro schema: {e}"))?;
        bounds::check(&schema)?;
        Ok(WriterSchema(schema))
    }

    pub(super) fn to_json(&self, datum: &[u8]) -> Result<Vec<u8>, String> {
        let reader = GenericDatumReader::builder(&self.0).build().map_err(|e| e.to_string())?;
        let mut rest = Datum(datum);
        // The crate's errors may quote the value, so only what kind of failure it was is said.
        let value = reader.read_value(&mut rest).map_err(|_| "its bytes are not of this schema".to_string())?;
        if !rest.0.is_empty() {
            return Err(format!("{} bytes are left over", rest.0.len()));
        }
        let json = json(value)?;
        serde_json::to_vec(&json).map_err(|e| e.to_string())
    }
}

/// Where bytes run out, the crate takes what is missing for null. A value that breaks off must be refused.
struct Datum<'a>(&'a [u8]);

impl Read for Datum<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() && !buffer.is_empty() {
            return Err(io::Error::other("the value breaks off"));
        }
        self.0.read(buffer)
    }
}

/// Null fields are left out: a field that may be null is how Avro has one that may be absent.
fn json(value: Value) -> Result<Json, String> {
    Ok(match value {
        Value::Union(_, value) => json(*value)?,
        Value::Array(items) => Json::Array(items.into_iter().map(json).collect::<Result<_, _>>()?),
        Value::Map(fields) => {
            Json::Object(fields.into_iter().map(|(name, value)| Ok((name, json(value)?))).collect::<Result<_, String>>()?)
        }
        Value::Record(fields) => {
            let mut object = serde_json::Map::new();
            for (name, value) in fields {
                let value = json(value)?;
                if !value.is_null() {
                    object.insert(name, value);
                }
            }
            Json::Object(object)
        }
        leaf => Json::try_from(leaf).map_err(|_| "a number is not finite".to_string())?,
    })
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

/// Appends a segment's datum.
pub fn encode(segment: &Segment, to: &mut Vec<u8>) {
    let mut json = serde_json::to_value(segment).expect("segments are JSON");
    if let Some(meta) = &segment.meta {
        json["meta"] = meta.get().into(); // Avro has no type for any JSON
    }
    let value = avro(json).resolve(&SEGMENT).expect("the schema has every field of a segment");
    let writer = GenericDatumWriter::builder(&SEGMENT).build().expect("the shipped schema names what it has");
    writer.write_value(to, value).expect("a resolved value is of its schema");
}
