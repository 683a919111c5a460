//! Google Cloud Speech-to-Text v2, streaming responses as JSON:
//! <https://cloud.google.com/speech-to-text/v2/docs/reference/rpc/google.cloud.speech.v2>. A response has at most one final result; results that are not
//! final are consecutive parts of one hypothesis.

use serde::Deserialize;

use super::{ParsedMessage, untimed, words_of};
use crate::record::raw::{End, WireWord};
use crate::record::refused::Refused;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Message {
    #[serde(default)]
    results: Vec<Recognised>,
    #[serde(default)]
    speech_event_type: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Recognised {
    #[serde(default)]
    alternatives: Vec<Alternative>,
    #[serde(default)]
    is_final: bool,
    #[serde(default)]
    channel_tag: Option<u32>,
    #[serde(default)]
    language_code: Option<String>,
}

#[derive(Deserialize)]
struct Alternative {
    #[serde(default)]
    transcript: String,
    #[serde(default)]
    words: Vec<Word>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Word {
    word: String,
    #[serde(default)]
    start_offset: Option<String>,
    #[serde(default)]
    end_offset: Option<String>,
    #[serde(default)]
    speaker_label: Option<String>,
    #[serde(default)]
    confidence: Option<f64>,
}

/// Seconds of a duration as protocol buffers write it in JSON, such as `1.200s`.
fn seconds(duration: Option<&str>) -> Result<Option<f64>, Refused> {
    let read = |text: &str| text.strip_suffix('s')?.parse().ok();
    match duration {
        None => Ok(None),
        Some(text) => read(text).map(Some).ok_or_else(|| {
            Refused::new("contract", "expected a word's offset as seconds with an s, such as \"1.200s\", got another text")
        }),
    }
}

fn words(result: Recognised) -> Result<Vec<WireWord>, Refused> {
    let Some(best) = result.alternatives.into_iter().next() else { return Ok(Vec::new()) };
    if best.words.is_empty() {
        return Ok(untimed(&best.transcript));
    }
    let mut out = Vec::new();
    for w in &best.words {
        // A zero may stand for a confidence that is not set.
        let confidence = w.confidence.filter(|&c| c > 0.0);
        let spoken = words_of(&w.word, seconds(w.start_offset.as_deref())?, seconds(w.end_offset.as_deref())?, confidence);
        let speaker = w.speaker_label.as_ref().filter(|name| !name.is_empty());
        out.extend(spoken.into_iter().map(|word| WireWord { speaker: speaker.cloned(), ..word }));
    }
    Ok(out)
}

pub(super) fn parse(m: Message) -> Result<ParsedMessage, Refused> {
    let ends = matches!(m.speech_event_type.as_deref(), Some("SPEECH_ACTIVITY_END" | "END_OF_SINGLE_UTTERANCE"));
    let channel = m.results.first().and_then(|r| r.channel_tag).map(|c| c.to_string());
    if m.results.iter().any(|r| r.channel_tag.map(|c| c.to_string()) != channel) {
        return Err(Refused::new(
            "contract",
            "expected the results of one channel, got several; send each channel as a record of its own",
        ));
    }
    let is_final = m.results.is_empty() || m.results.iter().any(|r| r.is_final);
    let mut said = Vec::new();
    let mut lang = None;
    for mut result in m.results.into_iter().filter(|r| r.is_final == is_final) {
        let of_result = result.language_code.take();
        lang = lang.or_else(|| of_result.clone());
        // Parts of a hypothesis may be in several languages. The first one's is the record's.
        let other = of_result.filter(|code| lang.as_ref() != Some(code));
        said.extend(words(result)?.into_iter().map(|word| WireWord { lang: other.clone(), ..word }));
    }
    let end = (is_final && (ends || !said.is_empty())).then_some(End::Utterance);
    Ok(ParsedMessage { channel, lang, is_final, words: said, end, ..ParsedMessage::default() })
}
