//! Deepgram, streaming: <https://developers.deepgram.com/reference/speech-to-text/listen-streaming>.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{ParsedMessage, untimed, word};
use crate::record::raw::{End, WireWord};
use crate::record::refused::Refused;

#[derive(Deserialize)]
#[serde(tag = "type")]
pub(super) enum Message {
    Results(Results),
    /// with the `vad_events` option
    SpeechStarted(IgnoredAny),
    /// nothing was said for `utterance_end_ms`
    UtteranceEnd {
        #[serde(default)]
        channel: Vec<u32>,
    },
    /// the connection is closed
    Metadata(IgnoredAny),
}

#[derive(Deserialize)]
pub(super) struct Results {
    #[serde(default)]
    channel_index: Vec<u32>,
    is_final: bool,
    #[serde(default)]
    speech_final: bool,
    channel: Channel,
}

#[derive(Deserialize)]
struct Channel {
    alternatives: Vec<Alternative>,
}

#[derive(Deserialize)]
struct Alternative {
    transcript: String,
    #[serde(default)]
    words: Option<Vec<Word>>,
}

#[derive(Deserialize)]
struct Word {
    word: String,
    /// with the option `language=multi`
    #[serde(default)]
    language: Option<String>,
    /// with the `diarize` option
    #[serde(default)]
    speaker: Option<u32>,
    #[serde(default)]
    start: Option<f64>,
    #[serde(default)]
    end: Option<f64>,
    #[serde(default)]
    confidence: Option<f64>,
}

pub(super) fn parse(d: Message) -> Result<ParsedMessage, Refused> {
    let name = |channel: &[u32]| channel.first().map(u32::to_string);
    Ok(match d {
        Message::SpeechStarted(_) => ParsedMessage { is_final: true, ..ParsedMessage::default() },
        Message::UtteranceEnd { channel } => {
            ParsedMessage { channel: name(&channel), is_final: true, end: Some(End::Utterance), ..ParsedMessage::default() }
        }
        Message::Metadata(_) => ParsedMessage { is_final: true, end: Some(End::Session), ..ParsedMessage::default() },
        Message::Results(r) => {
            let best = r.channel.alternatives.into_iter().next();
            let words = best.map_or(Vec::new(), |a| match a.words.filter(|w| !w.is_empty()) {
                Some(words) => words
                    .into_iter()
                    .map(|w| WireWord {
                        speaker: w.speaker.map(|n| n.to_string()),
                        lang: w.language,
                        ..word(w.word, w.start, w.end, w.confidence)
                    })
                    .collect(),
                None => untimed(&a.transcript),
            });
            let end = (r.is_final && r.speech_final).then_some(End::Utterance);
            ParsedMessage { channel: name(&r.channel_index), is_final: r.is_final, words, end, ..ParsedMessage::default() }
        }
    })
}
