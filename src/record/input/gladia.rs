//! Gladia, live messages: <https://docs.gladia.io/api-reference/v2/live/websocket>. Its words carry their case, their
//! marks and the space before them.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{ParsedMessage, TimedWord, ended, nothing, timed, untimed};
use crate::record::raw::End;
use crate::record::refused::Refused;

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Message {
    Transcript { data: Transcript },
    SpeechStart(IgnoredAny),
    SpeechEnd { data: Event },
    StartSession(IgnoredAny),
    StartRecording(IgnoredAny),
    EndRecording(IgnoredAny),
    EndSession(IgnoredAny),
    AudioChunk(IgnoredAny),
    StopRecording(IgnoredAny),
}

#[derive(Deserialize)]
pub(super) struct Event {
    #[serde(default)]
    channel: Option<u32>,
}

#[derive(Deserialize)]
pub(super) struct Transcript {
    is_final: bool,
    utterance: Utterance,
}

#[derive(Deserialize)]
struct Utterance {
    #[serde(default)]
    text: String,
    #[serde(default)]
    channel: Option<u32>,
    /// with diarisation
    #[serde(default)]
    speaker: Option<u32>,
    #[serde(default)]
    language: Option<String>,
    #[serde(default)]
    words: Vec<TimedWord>,
}

pub(super) fn parse(message: Message) -> Result<ParsedMessage, Refused> {
    let name = |channel: Option<u32>| channel.map(|c| c.to_string());
    Ok(match message {
        Message::Transcript { data: Transcript { is_final, utterance } } => {
            let words = match utterance.words.is_empty() {
                true => untimed(&utterance.text),
                false => timed(&utterance.words),
            };
            let end = is_final.then_some(End::Utterance);
            ParsedMessage {
                channel: name(utterance.channel),
                speaker: name(utterance.speaker),
                lang: utterance.language,
                is_final,
                words,
                end,
            }
        }
        Message::SpeechEnd { data } => ParsedMessage { channel: name(data.channel), ..ended(End::Utterance) },
        Message::EndSession(_) => ended(End::Session),
        _ => nothing(),
    })
}
