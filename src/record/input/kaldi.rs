//! Kaldi GStreamer server: <https://github.com/alumae/kaldi-gstreamer-server>.

use serde::Deserialize;

use super::{ParsedMessage, untimed, word};
use crate::record::raw::End;
use crate::record::refused::Refused;

#[derive(Deserialize)]
pub(super) struct Message {
    #[serde(default)]
    status: i64,
    #[serde(default)]
    result: Option<Recognised>,
    #[serde(default, rename = "segment-start")]
    segment_start: Option<f64>,
}

#[derive(Deserialize)]
struct Recognised {
    hypotheses: Vec<Hypothesis>,
    #[serde(default, rename = "final")]
    is_final: bool,
}

#[derive(Deserialize)]
struct Hypothesis {
    transcript: String,
    #[serde(default, rename = "word-alignment")]
    alignment: Option<Vec<Word>>,
}

#[derive(Deserialize)]
struct Word {
    word: String,
    start: f64,
    length: f64,
    #[serde(default)]
    confidence: Option<f64>,
}

pub(super) fn parse(k: Message) -> Result<ParsedMessage, Refused> {
    if k.status != 0 {
        return Err(Refused::new("contract", format!("the recogniser reports status {}: expected 0, a result", k.status)));
    }
    let Some(result) = k.result else { return Ok(ParsedMessage { is_final: true, ..ParsedMessage::default() }) };
    let Some(best) = result.hypotheses.into_iter().next() else { return Ok(ParsedMessage::default()) };
    // Times of an alignment count from the segment's start.
    let base = k.segment_start.unwrap_or(0.0);
    let words = match best.alignment {
        Some(words) => {
            words.into_iter().map(|w| word(w.word, Some(base + w.start), Some(base + w.start + w.length), w.confidence)).collect()
        }
        None => untimed(&best.transcript),
    };
    let end = result.is_final.then_some(End::Utterance);
    Ok(ParsedMessage { is_final: result.is_final, words, end, ..ParsedMessage::default() })
}
