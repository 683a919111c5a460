//! Whisper, `verbose_json`: <https://platform.openai.com/docs/api-reference/audio/verbose-json-object>. Servers that
//! write the same put words into the segments. One message holds a whole piece of audio.

use serde::Deserialize;

use super::{ParsedMessage, TimedWord, ended, timed, untimed};
use crate::record::raw::End;
use crate::record::refused::Refused;

#[derive(Deserialize)]
pub(super) struct Message {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    segments: Option<Vec<Segment>>,
    #[serde(default)]
    words: Option<Vec<TimedWord>>,
    #[serde(default)]
    channel: Option<String>,
}

#[derive(Deserialize)]
struct Segment {
    #[serde(default)]
    text: String,
    #[serde(default)]
    words: Option<Vec<TimedWord>>,
}

pub(super) fn parse(m: Message) -> Result<ParsedMessage, Refused> {
    let segment = |s: Segment| match s.words {
        Some(words) if !words.is_empty() => timed(&words),
        _ => untimed(&s.text),
    };
    let words = match (m.words, m.segments) {
        (Some(words), _) if !words.is_empty() => timed(&words),
        (_, Some(segments)) if !segments.is_empty() => segments.into_iter().flat_map(segment).collect(),
        _ => untimed(&m.text.unwrap_or_default()),
    };
    Ok(ParsedMessage { channel: m.channel, words, ..ended(End::Utterance) })
}
