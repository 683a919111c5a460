//! AssemblyAI, streaming: <https://www.assemblyai.com/docs/streaming/message-sequence>. A message repeats the whole
//! turn so far. With `format_turns` a turn ends twice, first as it was said and then formatted. A message by itself
//! does not tell whether the other one comes, so the setting says which of the two is final.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{ParsedMessage, ended, nothing, untimed, words_of};
use crate::record::raw::End;
use crate::record::refused::Refused;

/// Which end of a turn is final.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Final {
    /// the words as they were said; a formatted copy is left out
    Unformatted,
    /// the formatted words; the unformatted end is a hypothesis
    Formatted,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
pub(super) enum Message {
    Turn(Turn),
    Begin(IgnoredAny),
    SpeechStarted(IgnoredAny),
    /// the connection is closed
    Termination(IgnoredAny),
}

#[derive(Deserialize)]
pub(super) struct Turn {
    end_of_turn: bool,
    turn_is_formatted: bool,
    #[serde(default)]
    transcript: String,
    /// with the option `language_detection`
    #[serde(default)]
    language_code: Option<String>,
    #[serde(default)]
    words: Vec<Word>,
}

#[derive(Deserialize)]
struct Word {
    text: String,
    /// milliseconds
    #[serde(default)]
    start: Option<f64>,
    /// milliseconds
    #[serde(default)]
    end: Option<f64>,
    #[serde(default)]
    confidence: Option<f64>,
}

pub(super) fn parse(message: Message, taken: Final) -> Result<ParsedMessage, Refused> {
    let turn = match message {
        Message::Turn(turn) => turn,
        Message::Termination(_) => return Ok(ended(End::Session)),
        Message::Begin(_) | Message::SpeechStarted(_) => return Ok(nothing()),
    };
    let is_final = turn.end_of_turn && turn.turn_is_formatted == (taken == Final::Formatted);
    if taken == Final::Unformatted && turn.turn_is_formatted {
        return Ok(nothing());
    }
    let seconds = |ms: Option<f64>| ms.map(|ms| ms / 1000.0);
    let words = match turn.words.is_empty() {
        true => untimed(&turn.transcript),
        false => turn.words.iter().flat_map(|w| words_of(&w.text, seconds(w.start), seconds(w.end), w.confidence)).collect(),
    };
    let lang = turn.language_code;
    Ok(ParsedMessage { lang, is_final, words, end: is_final.then_some(End::Utterance), ..ParsedMessage::default() })
}
