//! Values in Avro, in the wire format of Confluent's serialisers: a zero byte, the number of the writer's schema, the datum.
//!
//! A raw value becomes the JSON that the same fields would be, and is then read as its format says. A segment is written by one schema, docs/schemas/formatted.avsc.
//! Schemas and data are untrusted: a few bytes must not become gigabytes, and no schema may go round in a circle.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use super::{Refused, Segment};

/// The schema of segments, for the registry.
pub const SEGMENT_SCHEMA: &str = include_str!("../../docs/schemas/formatted.avsc");

/// Schemas that are remembered; the one that was learnt first is forgotten for another.
const MAX_SCHEMAS: usize = 1000;
/// That the registry does not know a schema is believed for so long.
const UNKNOWN_FOR: Duration = Duration::from_secs(30);

/// What the registry said of a schema: the schema, or why values that name it cannot be read.
type Answer = Result<Arc<WriterSchema>, String>;

#[derive(Default)]
struct Known {
    by_id: HashMap<u32, (Answer, Instant)>,
    learnt: VecDeque<u32>,
}

/// The schemas of raw values, as far as they are known. Asking the registry is the caller's.
#[derive(Default)]
pub struct Schemas(Mutex<Known>);

impl Schemas {
    /// The number of the schema that must be [learnt](Schemas::learn) before a value can be read.
    pub fn missing(&self, value: &[u8], now: Instant) -> Option<u32> {
        let (id, _) = divided(value)?;
        let fits = |(answer, since): &(Answer, Instant)| answer.is_ok() || now.duration_since(*since) < UNKNOWN_FOR;
        let known = self.0.lock().expect("no holder panics");
        (!known.by_id.get(&id).is_some_and(fits)).then_some(id)
    }

    /// Takes what the registry says: a schema as text, or why there is none.
    pub fn learn(&self, id: u32, said: Result<&str, String>, now: Instant) {
        let answer = said.and_then(|text| WriterSchema::parse(text).map(Arc::new).map_err(|why| format!("schema {id}: {why}")));
        let mut known = self.0.lock().expect("no holder panics");
        if known.by_id.insert(id, (answer, now)).is_none() {
            known.learnt.push_back(id);
        }
        if known.learnt.len() > MAX_SCHEMAS
            && let Some(oldest) = known.learnt.pop_front()
        {
            known.by_id.remove(&oldest);
        }
    }

    /// A value as JSON.
    ///
    /// # Errors
    /// `avro`: there is no frame, the schema is unknown or unfit, or the datum is not of its schema.
    pub fn to_json(&self, value: &[u8]) -> Result<Vec<u8>, Refused> {
        let refused = |why: String| Refused::new("avro", why);
        let Some((id, datum)) = divided(value) else {
            return Err(refused(
                "expected a value in the wire format of a schema registry (a zero byte and the schema's number before Avro), as input.framing = \"avro\" says; set it \
                 to \"none\" where producers send plain JSON, to \"confluent\" where they send framed JSON"
                    .into(),
            ));
        };
        let known = self.0.lock().expect("no holder panics").by_id.get(&id).map(|(answer, _)| answer.clone());
        let schema = known.unwrap_or_else(|| Err(format!("schema {id} was not asked for"))).map_err(refused)?;
        schema.to_json(datum).map_err(|why| refused(format!("expected a datum of schema {id}: {why}")))
    }
}

/// A segment that this program has written; its `meta` is a string.
pub fn segment(value: &[u8]) -> Option<Segment> {
    static OURS: LazyLock<Option<WriterSchema>> = LazyLock::new(|| WriterSchema::parse(SEGMENT_SCHEMA).ok());
    serde_json::from_slice(&OURS.as_ref()?.to_json(divided(value)?.1).ok()?).ok()
}

fn divided(value: &[u8]) -> Option<(u32, &[u8])> {
    match value {
        [0, a, b, c, d, datum @ ..] => Some((u32::from_be_bytes([*a, *b, *c, *d]), datum)),
        _ => None,
    }
}

#[cfg(feature = "avro")]
pub use codec::{WriterSchema, encode};

#[cfg(not(feature = "avro"))]
mod absent {
    use super::*;

    /// There is none without the feature `avro`.
    pub enum WriterSchema {}

    impl WriterSchema {
        pub(super) fn parse(_: &str) -> Result<WriterSchema, String> {
            Err("this program was built without the cargo feature \"avro\"".into())
        }

        pub(super) fn to_json(&self, _: &[u8]) -> Result<Vec<u8>, String> {
            match *self {}
        }
    }

    /// The settings are refused without the feature.
    pub fn encode(_: &Segment, _: &mut Vec<u8>) {
        unreachable!("output.framing = \"avro\" is refused without the feature");
    }
}
#[cfg(not(feature = "avro"))]
pub use absent::{WriterSchema, encode};

#[cfg(feature = "avro")]
mod codec {
    use std::io::{self, Read};
    use std::sync::LazyLock;

    use apache_avro::schema::{Name, ResolvedSchema};
    use apache_avro::types::Value;
    use apache_avro::util::max_allocation_bytes;
    use apache_avro::{Schema, reader::datum::GenericDatumReader, writer::datum::GenericDatumWriter};
    use serde_json::Value as Json;

    use super::{SEGMENT_SCHEMA, Segment};

    /// What a length in a datum may ask for, bytes. The datum itself is as large as a Kafka record at most.
    const MAX_ALLOCATION_BYTES: usize = 64 << 20;
    /// Parts of a schema, each as often as it is used.
    const MAX_PARTS: usize = 10_000;

    /// The schema that a value was written with.
    pub struct WriterSchema(Schema);

    impl WriterSchema {
        /// Reads a schema and checks that it bounds what its data become.
        pub(super) fn parse(text: &str) -> Result<WriterSchema, String> {
            max_allocation_bytes(MAX_ALLOCATION_BYTES); // the first call in a process counts
            let schema = Schema::parse_str(text).map_err(|e| format!("it is not an Avro schema: {e}"))?;
            let names = ResolvedSchema::try_from(&schema).map_err(|e| e.to_string())?;
            Walk { names: &names, open: Vec::new(), parts: 0 }.check(&schema)?;
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

    struct Walk<'a> {
        names: &'a ResolvedSchema<'a>,
        /// named types that enclose this part
        open: Vec<Name>,
        parts: usize,
    }

    impl Walk<'_> {
        /// Gives whether a datum of this part may take no bytes at all.
        fn check(&mut self, schema: &Schema) -> Result<bool, String> {
            self.parts += 1;
            if self.parts > MAX_PARTS {
                return Err(format!("it has more than {MAX_PARTS} parts, each counted as often as it is used"));
            }
            match schema {
                Schema::Null => Ok(true),
                Schema::Fixed(fixed) => Ok(fixed.size == 0),
                Schema::Array(array) => {
                    if self.check(&array.items)? {
                        return Err("items of an array take no bytes, so a few bytes could hold any number of them".into());
                    }
                    Ok(false)
                }
                Schema::Map(map) => self.check(&map.types).map(|_| false),
                Schema::Union(union) => {
                    for variant in union.variants() {
                        self.check(variant)?;
                    }
                    Ok(false)
                }
                Schema::Record(record) => {
                    if self.open.contains(&record.name) {
                        return Err(format!("record {} contains itself", record.name));
                    }
                    self.open.push(record.name.clone());
                    let mut empty = true;
                    for field in &record.fields {
                        empty &= self.check(&field.schema)?;
                    }
                    self.open.pop();
                    Ok(empty)
                }
                Schema::Ref { name } => {
                    if self.open.contains(name) {
                        return Err(format!("record {name} contains itself"));
                    }
                    match self.names.get_names().get(name) {
                        Some(named) => self.check(named),
                        None => Err(format!("type {name} is not in it")),
                    }
                }
                _ => Ok(false),
            }
        }
    }

    /// A value that can be resolved to a schema. Integers are whole numbers that an Avro long holds, as all of a segment's are.
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
}

#[cfg(test)]
#[cfg(feature = "avro")]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    const RAW: &str = r#"{"type":"record","name":"Raw","fields":[
        {"name":"seq","type":["null","long"],"default":null},
        {"name":"channel","type":"string"},
        {"name":"final","type":["null","boolean"],"default":null},
        {"name":"words","type":{"type":"array","items":{"type":"record","name":"Word","fields":[
            {"name":"w","type":"string"},{"name":"s","type":["null","double"]},{"name":"c","type":["null","float"]}]}}},
        {"name":"meta","type":{"type":"map","values":"string"}}]}"#;

    fn write(schema: &str, value: Json) -> Vec<u8> {
        use apache_avro::{Schema, writer::datum::GenericDatumWriter};
        let schema = Schema::parse_str(schema).unwrap();
        let value = codec::avro(value).resolve(&schema).unwrap();
        GenericDatumWriter::builder(&schema).build().unwrap().write_value_to_vec(value).unwrap()
    }

    fn framed(id: u32, datum: &[u8]) -> Vec<u8> {
        [&super::super::decode::frame(id)[..], datum].concat()
    }

    fn raw() -> Json {
        json!({"seq": 4, "channel": "agent", "final": null, "words": [{"w": "good", "s": 0.5, "c": null}], "meta": {"call": "x"}})
    }

    #[test]
    fn a_raw_value_becomes_the_json_of_its_fields_and_null_fields_are_absent() {
        let schemas = Schemas::default();
        let value = framed(7, &write(RAW, raw()));
        assert_eq!(schemas.missing(&value, Instant::now()), Some(7));
        assert!(schemas.to_json(&value).unwrap_err().detail.contains("schema 7 was not asked for"));
        schemas.learn(7, Ok(RAW), Instant::now());
        assert_eq!(schemas.missing(&value, Instant::now()), None);
        let json: Json = serde_json::from_slice(&schemas.to_json(&value).unwrap()).unwrap();
        assert_eq!(json, json!({"seq": 4, "channel": "agent", "words": [{"w": "good", "s": 0.5}], "meta": {"call": "x"}}));
    }

    #[test]
    fn a_value_that_breaks_off_or_goes_on_or_has_no_frame_is_refused() {
        let schemas = Schemas::default();
        schemas.learn(7, Ok(RAW), Instant::now());
        let whole = framed(7, &write(RAW, raw()));
        for end in 0..whole.len() {
            assert_eq!(schemas.to_json(&whole[..end]).unwrap_err().reason, "avro", "{end}");
        }
        let longer = [whole.as_slice(), b"x"].concat();
        assert!(schemas.to_json(&longer).unwrap_err().detail.contains("1 bytes are left over"));
        assert!(schemas.to_json(br#"{"text":"good"}"#).unwrap_err().detail.contains("input.framing"));
        let nan = r#"{"type":"record","name":"R","fields":[{"name":"s","type":"double"}]}"#;
        schemas.learn(8, Ok(nan), Instant::now());
        assert!(schemas.to_json(&framed(8, &f64::NAN.to_le_bytes())).unwrap_err().detail.contains("not finite"));
    }

    #[test]
    fn a_schema_by_which_a_few_bytes_could_become_much_is_refused() {
        let schemas = Schemas::default();
        let record = |fields: &str| format!(r#"{{"type":"record","name":"R","fields":[{fields}]}}"#);
        let circle = record(r#"{"name":"next","type":["null","R"]}"#);
        let nulls = record(r#"{"name":"n","type":{"type":"array","items":"null"}}"#);
        let empty = record(r#"{"name":"n","type":{"type":"array","items":{"type":"record","name":"E","fields":[]}}}"#);
        let mut doubled = r#"{"type":"record","name":"D0","fields":[]}"#.to_string();
        for depth in 1..20 {
            doubled = format!(
                r#"{{"type":"record","name":"D{depth}","fields":[{{"name":"a","type":{doubled}}},{{"name":"b","type":"D{}"}}]}}"#,
                depth - 1
            );
        }
        for (id, (schema, why)) in [
            (circle, "contains itself"),
            (nulls, "take no bytes"),
            (empty, "take no bytes"),
            (doubled, "parts"),
            ("{".into(), "not an Avro schema"),
        ]
        .into_iter()
        .enumerate()
        {
            schemas.learn(id as u32, Ok(&schema), Instant::now());
            let refused = schemas.to_json(&framed(id as u32, b"")).unwrap_err();
            assert!(refused.detail.contains(why), "{why}: {}", refused.detail);
        }
        // A length that no record has is not given the memory that it asks for.
        schemas.learn(9, Ok(r#"{"type":"record","name":"R","fields":[{"name":"text","type":"string"}]}"#), Instant::now());
        assert_eq!(schemas.to_json(&framed(9, &[0xfe, 0xff, 0xff, 0xff, 0xff, 0x0f])).unwrap_err().reason, "avro");
    }

    #[test]
    fn what_the_registry_does_not_know_is_said_and_the_oldest_of_many_schemas_is_forgotten() {
        let schemas = Schemas::default();
        schemas.learn(1, Err("the registry has no schema 1".into()), Instant::now());
        assert!(schemas.missing(&framed(1, b""), Instant::now()).is_none(), "it is not asked for again at once");
        assert_eq!(schemas.missing(&framed(1, b""), Instant::now() + UNKNOWN_FOR), Some(1), "later it is");
        assert!(schemas.to_json(&framed(1, b"")).unwrap_err().detail.contains("no schema 1"));
        for id in 2..=MAX_SCHEMAS as u32 + 1 {
            schemas.learn(id, Ok(r#""string""#), Instant::now());
        }
        assert_eq!(schemas.missing(&framed(1, b""), Instant::now()), Some(1));
        assert_eq!(schemas.missing(&framed(2, b""), Instant::now()), None);
    }

    /// Field names by record, of the JSON Schema and of the Avro schema.
    #[test]
    fn a_segment_in_avro_has_every_field_that_it_has_in_json() {
        let json = Segment::json_schema();
        let avro: Json = serde_json::from_str(SEGMENT_SCHEMA).unwrap();
        let mut records = Vec::new();
        fn gather<'a>(schema: &'a Json, records: &mut Vec<&'a Json>) {
            if schema["type"] == "record" {
                records.push(schema);
            }
            match schema {
                Json::Object(parts) => parts.values().for_each(|part| gather(part, records)),
                Json::Array(parts) => parts.iter().for_each(|part| gather(part, records)),
                _ => {}
            }
        }
        gather(&avro, &mut records);
        assert_eq!(records.len(), 5);
        for record in records {
            let name = record["name"].as_str().unwrap();
            let of_json = if name == "Segment" { &json["properties"] } else { &json["$defs"][name]["properties"] };
            let mut expected: Vec<&str> = of_json.as_object().unwrap().keys().map(String::as_str).collect();
            let mut fields: Vec<&str> =
                record["fields"].as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap()).collect();
            expected.sort();
            fields.sort();
            assert_eq!(fields, expected, "{name}");
        }
    }

    #[test]
    fn a_segment_is_read_back_as_it_was_written() {
        let segment = json!({
            "session": "call", "channel": "agent", "epoch": 7, "seq": 3, "kind": "final", "text": "Good $5.",
            "words": [{"text": "Good", "s": 0.5, "e": 1.0, "c": 0.5, "speaker": "a", "src": [0, 1]}, {"text": "$5.", "src": [1, 3]}],
            "entities": [{"class": "money", "written": "$5", "spoken": "five dollars", "words": [1, 2], "src": [1, 3]}],
            "removed": [{"class": "filler", "spoken": "um", "src": [3, 4]}],
            "degraded": true, "timing": [{"timer": [5, 2]}, {"expired": 9}], "model": "m", "profile": "p", "origin": "a-b", "meta": {"a": [1, null]}
        });
        let end = json!({"session": "call", "channel": "agent", "epoch": 7, "seq": 4, "kind": "end", "text": "", "model": "m", "profile": "p",
            "counts": {"words": 4, "segments": 1, "removed": 1, "degraded": 0}, "cause": "session", "frozen": null});
        let schemas = Schemas::default();
        schemas.learn(3, Ok(SEGMENT_SCHEMA), Instant::now());
        for one in [segment, end] {
            let typed: Segment = serde_json::from_value(one).unwrap();
            let mut value = super::super::decode::frame(3).to_vec();
            encode(&typed, &mut value);
            assert_eq!(super::segment(&value).map(|s| s.text), Some(typed.text.clone()));
            let mut read: Json = serde_json::from_slice(&schemas.to_json(&value).unwrap()).unwrap();
            if let Some(meta) = read["meta"].as_str() {
                read["meta"] = serde_json::from_str(meta).unwrap();
            } else {
                read.as_object_mut().unwrap().remove("meta");
            }
            let back: Segment = serde_json::from_value(read).unwrap();
            assert_eq!(serde_json::to_value(&back).unwrap(), serde_json::to_value(&typed).unwrap());
        }
    }
}
