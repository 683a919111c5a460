//! Stands in for the codec in a program that was built without the cargo feature `avro`.

use super::wire::NoJson;
use crate::record::conversation::ConversationTurn;
use crate::record::formatted::Segment;

/// There is none without the feature `avro`.
pub enum WriterSchema {}

impl WriterSchema {
    pub(super) fn parse(_: &str) -> Result<WriterSchema, String> {
        Err("this program was built without the cargo feature \"avro\"".into())
    }

    pub(super) fn to_json(&self, _: &[u8], _: usize) -> Result<Vec<u8>, NoJson> {
        match *self {}
    }
}

/// The settings are refused without the feature.
pub fn encode_turn(_: &ConversationTurn, _: &mut Vec<u8>) {
    unreachable!("output.framing = \"avro\" is refused without the feature");
}

/// The settings are refused without the feature.
pub fn encode(_: &Segment, _: &mut Vec<u8>) {
    unreachable!("output.framing = \"avro\" is refused without the feature");
}
