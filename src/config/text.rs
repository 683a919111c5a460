//! Settings that TOML and environment variables write in different ways.

use std::fmt;
use std::path::PathBuf;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};

use super::profile::{LookaheadSetting, RedactSetting, Unlimited};

/// A list of strings: a TOML array or, from the environment, its items with commas between them; empty text is an empty list.
pub fn list<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    struct List;

    impl<'de> Visitor<'de> for List {
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

    from.deserialize_any(List).map(Some)
}

/// A list of paths, as [`list`] reads strings.
pub fn paths<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
    Ok(list(from)?.unwrap_or_default().into_iter().map(PathBuf::from).collect())
}

impl<'de> Deserialize<'de> for LookaheadSetting {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<LookaheadSetting, D::Error> {
        struct Words;

        impl Visitor<'_> for Words {
            type Value = LookaheadSetting;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number of words or \"unlimited\"")
            }

            fn visit_u64<E: Error>(self, words: u64) -> Result<LookaheadSetting, E> {
                u32::try_from(words)
                    .map(LookaheadSetting::Words)
                    .map_err(|_| E::invalid_value(Unexpected::Unsigned(words), &self))
            }

            fn visit_i64<E: Error>(self, words: i64) -> Result<LookaheadSetting, E> {
                u32::try_from(words).map(LookaheadSetting::Words).map_err(|_| E::invalid_value(Unexpected::Signed(words), &self))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<LookaheadSetting, E> {
                match text {
                    "unlimited" => Ok(LookaheadSetting::Unlimited(Unlimited::Unlimited)),
                    _ => text.parse().map(LookaheadSetting::Words).map_err(|_| E::invalid_value(Unexpected::Str(text), &self)),
                }
            }
        }

        from.deserialize_any(Words)
    }
}

impl<'de> Deserialize<'de> for RedactSetting {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<RedactSetting, D::Error> {
        struct Rule;

        impl<'de> Visitor<'de> for Rule {
            type Value = RedactSetting;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("\"mask\", \"tag\", \"drop\" or { action = \"mask\", keep_last = 4 }")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<RedactSetting, E> {
                let action = Deserialize::deserialize(StrDeserializer::<E>::new(text));
                action.map(RedactSetting::Action).map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RedactSetting, A::Error> {
                Deserialize::deserialize(MapAccessDeserializer::new(map)).map(RedactSetting::Rule)
            }
        }

        from.deserialize_any(Rule)
    }
}
