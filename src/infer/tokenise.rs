//! Words to the model's sub-tokens.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, RwLock};

use tokenizers::Tokenizer;

use super::row::MAX_TOKENS_PER_WORD;
use crate::tags::SpecialTokens;

/// Number of words whose tokens are remembered. Frequent words come first, so they are among them. Other words are
/// tokenised each time.
const MAX_KNOWN: usize = 100_000;

/// The tokenizer of a model directory, for single words. It remembers words. All partitions share it.
pub struct WordTokenizer {
    inner: Tokenizer,
    unknown: u32,
    known: RwLock<HashMap<Box<str>, Arc<[u32]>>>,
}

impl WordTokenizer {
    /// Reads `tokenizer.json`. The message says what is wrong with which file.
    pub fn load(path: &Path, special: &SpecialTokens) -> Result<WordTokenizer, String> {
        let say = |e: String| format!("{}: expected a tokenizer.json of the shipped model, got: {e}", path.display());
        let bytes = std::fs::read(path).map_err(|e| say(e.to_string()))?;
        let mut inner = Tokenizer::from_bytes(bytes).map_err(|e| say(e.to_string()))?;
        inner.with_padding(None);
        inner.with_truncation(None).map_err(|e| say(e.to_string()))?;
        let name = &special.unknown;
        let unknown = inner.token_to_id(name).ok_or_else(|| say(format!("no token {name:?}, which labels.json names")))?;
        Ok(WordTokenizer { inner, unknown, known: RwLock::default() })
    }

    /// Sub-tokens of one word, in lower case: one to [`MAX_TOKENS_PER_WORD`].
    pub fn tokens(&self, word: &str) -> Arc<[u32]> {
        if let Some(ids) = self.known.read().expect("no holder panics").get(word) {
            return ids.clone();
        }
        let ids: Arc<[u32]> = match self.inner.encode_fast(word.to_lowercase(), false) {
            Ok(encoding) if !encoding.get_ids().is_empty() => {
                encoding.get_ids().iter().copied().take(MAX_TOKENS_PER_WORD).collect()
            }
            _ => Arc::new([self.unknown]),
        };
        let mut known = self.known.write().expect("no holder panics");
        if known.len() < MAX_KNOWN && word.len() <= 32 {
            known.insert(word.into(), ids.clone());
        }
        ids
    }
}
