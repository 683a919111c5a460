//! A conversation as bytes, for the next owner of its partition.
//!
//! A value is a version byte, the offset of the first raw record that is not in the state, and a zstd frame of JSON. JSON
//! because a later version that adds a field can still read it: unlike a stream, a conversation cannot be made again
//! from raw records alone.

use std::io::Read;

use super::Conversation;

/// The version byte. No state of a stream begins with it.
const VERSION: u8 = b'c';
/// Largest state, bytes, unpacked. What a conversation may hold open is far less.
const MAX_BYTES: u64 = 16 << 20;
/// Compression level.
const LEVEL: i32 = 1;

/// Why a state cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the state of a conversation: {0}")]
pub struct StateError(String);

impl Conversation {
    /// The state as a changelog value. `applied`: offset of the first raw record that is not in it.
    pub fn to_bytes(&self, applied: i64) -> Vec<u8> {
        let plain = serde_json::to_vec(self).expect("a conversation is JSON");
        let mut bytes = vec![VERSION];
        bytes.extend(applied.to_be_bytes());
        bytes.extend(zstd::bulk::compress(&plain, LEVEL).expect("memory can be written to"));
        bytes
    }

    /// Reads a changelog value of the session.
    ///
    /// # Errors
    /// Another version wrote it, it is damaged, or it is of another session.
    pub fn from_bytes(session: &str, bytes: &[u8]) -> Result<Conversation, StateError> {
        let wrong = |what: String| StateError(what);
        let [VERSION, _, _, _, _, _, _, _, _, packed @ ..] = bytes else {
            return Err(wrong(format!("expected version {VERSION}, got {:?}", bytes.first())));
        };
        let mut plain = Vec::new();
        let decoder = zstd::stream::read::Decoder::new(packed).map_err(|e| wrong(e.to_string()))?;
        decoder.take(MAX_BYTES + 1).read_to_end(&mut plain).map_err(|e| wrong(e.to_string()))?;
        if plain.len() as u64 > MAX_BYTES {
            return Err(wrong(format!("expected at most {MAX_BYTES} bytes")));
        }
        // The error's own text may quote what was said.
        let conversation: Conversation = serde_json::from_slice(&plain)
            .map_err(|e| wrong(format!("it is damaged at line {} column {}", e.line(), e.column())))?;
        let is_sound = *conversation.session == *session && conversation.has_no_empty_turn();
        if is_sound { Ok(conversation) } else { Err(wrong("it contradicts itself".into())) }
    }
}

/// The offset of the first raw record that is not in a state.
pub fn applied(bytes: &[u8]) -> Option<i64> {
    match bytes {
        [_, offset @ ..] if offset.len() >= 8 => Some(i64::from_be_bytes(offset[..8].try_into().expect("eight bytes"))),
        _ => None,
    }
}
