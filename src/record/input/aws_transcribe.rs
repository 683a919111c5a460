//! Amazon Transcribe, streaming: <https://docs.aws.amazon.com/transcribe/latest/dg/streaming.html>.

use serde::Deserialize;

use super::{ParsedMessage, untimed, word};
use crate::record::raw::{End, WireWord};
use crate::record::refused::Refused;

#[derive(Deserialize)]
pub(super) struct Message {
    #[serde(default, rename = "Transcript")]
    transcript: Option<Transcript>,
}

#[derive(Deserialize)]
struct Transcript {
    #[serde(default, rename = "Results")]
    results: Vec<Recognised>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Recognised {
    alternatives: Vec<Alternative>,
    is_partial: bool,
    #[serde(default)]
    channel_id: Option<String>,
    #[serde(default)]
    language_code: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Alternative {
    #[serde(default)]
    transcript: String,
    #[serde(default)]
    items: Vec<Item>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Item {
    content: String,
    /// with speaker partitioning
    #[serde(default)]
    speaker: Option<String>,
    #[serde(default)]
    start_time: Option<f64>,
    #[serde(default)]
    end_time: Option<f64>,
    #[serde(default)]
    confidence: Option<f64>,
    #[serde(default)]
    r#type: Option<String>,
}

pub(super) fn parse(a: Message) -> Result<ParsedMessage, Refused> {
    let mut results = a.transcript.map_or(Vec::new(), |t| t.results);
    let Some(result) = results.pop() else { return Ok(ParsedMessage { is_final: true, ..ParsedMessage::default() }) };
    if !results.is_empty() {
        return Err(Refused::new("contract", "expected an event of one result, got several; send each as a record of its own"));
    }
    let words = result.alternatives.into_iter().next().map_or(Vec::new(), |best| {
        if best.items.is_empty() {
            return untimed(&best.transcript);
        }
        // Its marks are items of their own; where they go is ours to say.
        let spoken = best.items.into_iter().filter(|i| i.r#type.as_deref() != Some("punctuation"));
        spoken.map(|i| WireWord { speaker: i.speaker, ..word(i.content, i.start_time, i.end_time, i.confidence) }).collect()
    });
    let is_final = !result.is_partial;
    Ok(ParsedMessage {
        channel: result.channel_id,
        lang: result.language_code,
        is_final,
        words,
        end: is_final.then_some(End::Utterance),
        ..ParsedMessage::default()
    })
}
