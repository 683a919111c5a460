//! What an untrusted schema may make of a few bytes: no circle, no array of nothing, no type that is used without end.

use apache_avro::Schema;
use apache_avro::schema::{Name, ResolvedSchema};

/// Parts of a schema, each as often as it is used.
const MAX_PARTS: usize = 10_000;

/// Refuses a schema whose data could become much larger than their bytes.
///
/// # Errors
/// Says what in the schema has no bound.
pub(super) fn check(schema: &Schema) -> Result<(), String> {
    let names = ResolvedSchema::try_from(schema).map_err(|e| e.to_string())?;
    Walk { names: &names, open: Vec::new(), parts: 0 }.may_be_empty(schema).map(|_| ())
}

struct Walk<'a> {
    names: &'a ResolvedSchema<'a>,
    /// named types that enclose this part
    open: Vec<Name>,
    parts: usize,
}

impl Walk<'_> {
    /// Gives whether a datum of this part may take no bytes at all.
    fn may_be_empty(&mut self, schema: &Schema) -> Result<bool, String> {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return Err(format!("it has more than {MAX_PARTS} parts, each counted as often as it is used"));
        }
        match schema {
            Schema::Null => Ok(true),
            Schema::Fixed(fixed) => Ok(fixed.size == 0),
            Schema::Array(array) => {
                if self.may_be_empty(&array.items)? {
                    return Err("items of an array take no bytes, so a few bytes could hold any number of them".into());
                }
                Ok(false)
            }
            Schema::Map(map) => self.may_be_empty(&map.types).map(|_| false),
            Schema::Union(union) => {
                for variant in union.variants() {
                    self.may_be_empty(variant)?;
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
                    empty &= self.may_be_empty(&field.schema)?;
                }
                self.open.pop();
                Ok(empty)
            }
            Schema::Ref { name } => {
                if self.open.contains(name) {
                    return Err(format!("record {name} contains itself"));
                }
                match self.names.get_names().get(name) {
                    Some(named) => self.may_be_empty(named),
                    None => Err(format!("type {name} is not in it")),
                }
            }
            _ => Ok(false),
        }
    }
}
