//! Lists, read from TOML or from the text of an environment variable.

use std::fmt;
use std::path::PathBuf;

use serde::de::{Deserializer, Error, SeqAccess, Visitor};

/// A list of strings: a TOML array or, from the environment, its items with commas between them; empty text is an empty
/// list.
pub fn list<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    struct ListVisitor;

    impl<'de> Visitor<'de> for ListVisitor {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("a list of strings, or text with commas between its items")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            Ok(text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(String::from).collect())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            let mut all = Vec::new();
            while let Some(item) = items.next_element()? {
                all.push(item);
            }
            Ok(all)
        }
    }

    from.deserialize_any(ListVisitor)
}

/// A list of paths, as [`list`] reads strings.
pub fn paths<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
    Ok(list(from)?.into_iter().map(PathBuf::from).collect())
}
