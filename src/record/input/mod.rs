//! Raw segments as recognisers write them: each format's JSON becomes a [`Wire`], which is then checked like our own.
//!
//! Each recogniser has a file: the types of its messages, and a function that turns a message into a [`ParsedMessage`].
//! To add a recogniser, write such a file, add a line to [`InputFormat`], [`InputFormat::ALL`] and [`wire`], and put
//! samples into `tests/golden/input`. docs/FORMATS.md has the table.

mod assemblyai;
mod aws_transcribe;
mod azure;
mod deepgram;
mod gladia;
mod google;
mod kaldi;
mod speechmatics;
mod vosk;
mod whisper;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::expect::WireExpect;
use super::raw::{End, RawSegment, RecordLimits, Wire, WireLabel, WireWord, limit};
use super::refused::Refused;
use super::vocabulary::WireSpelling;

/// What stands before a record's value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Framing {
    /// nothing
    #[default]
    None,
    /// the number of its schema, as Confluent's serialisers write it
    Confluent,
    /// the same, and the value is not JSON but Avro
    Avro,
}

/// What the values of the raw topic are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputFormat {
    /// our own contract
    #[default]
    Faircopy,
    /// Vosk: `partial`, or `result` and `text`, with or without `alternatives`
    Vosk,
    /// the Kaldi GStreamer server
    Kaldi,
    /// Deepgram's streaming messages
    Deepgram,
    /// Amazon Transcribe's streaming transcript events
    AwsTranscribe,
    /// AssemblyAI's streaming messages; a turn is final where it ends unformatted
    Assemblyai,
    /// the same, for models that format every turn; a turn is final where it ends formatted
    AssemblyaiFormatted,
    /// Azure Speech: hypotheses and phrases, detailed or simple
    Azure,
    /// Google Cloud Speech-to-Text v2, streaming responses
    Google,
    /// Speechmatics, real-time messages
    Speechmatics,
    /// Whisper's `verbose_json`, of OpenAI and of servers that write the same
    Whisper,
    /// Gladia, live messages
    Gladia,
}

impl InputFormat {
    /// Every format.
    pub const ALL: [InputFormat; 12] = [
        InputFormat::Faircopy,
        InputFormat::Vosk,
        InputFormat::Kaldi,
        InputFormat::Deepgram,
        InputFormat::AwsTranscribe,
        InputFormat::Assemblyai,
        InputFormat::AssemblyaiFormatted,
        InputFormat::Azure,
        InputFormat::Google,
        InputFormat::Speechmatics,
        InputFormat::Whisper,
        InputFormat::Gladia,
    ];

    /// The format that a record's header [`FORMAT`](super::FORMAT) names.
    ///
    /// # Errors
    /// `contract`: no format has this name.
    pub fn named(name: &[u8]) -> Result<InputFormat, Refused> {
        let text = std::str::from_utf8(name).unwrap_or_default();
        let format: Result<InputFormat, serde::de::value::Error> =
            InputFormat::deserialize(serde::de::value::StrDeserializer::new(text));
        format.map_err(|_| {
            let names: Vec<String> =
                InputFormat::ALL.iter().filter_map(|f| Some(serde_json::to_value(f).ok()?.as_str()?.into())).collect();
            Refused::new(
                "contract",
                format!("the header {} names no format; expected one of {}", super::FORMAT, names.join(", ")),
            )
        })
    }
}

impl RawSegment {
    /// Decodes and checks one record's value. Unknown keys are ignored: recognisers add their own.
    ///
    /// The inline `session` of JSON Lines files is returned beside the segment; a Kafka record's session is its key.
    ///
    /// # Errors
    /// `json` (not JSON, wrong types, invalid UTF-8), `contract` (impossible values), `limit` (too much of something).
    pub fn decode(bytes: &[u8], limits: &RecordLimits, format: InputFormat) -> Result<(RawSegment, Option<String>), Refused> {
        if bytes.len() > limits.max_record_bytes {
            return Err(limit("max_record_bytes", limits.max_record_bytes, bytes.len()));
        }
        // serde would read an array as a struct's fields in order; nobody means that.
        if bytes.iter().find(|b| !b.is_ascii_whitespace()) != Some(&b'{') {
            return Err(Refused::new("json", "not a raw segment: expected a JSON object"));
        }
        RawSegment::check(wire(bytes, format)?, limits)
    }
}

/// Reads one value.
///
/// # Errors
/// `json` (not of that format's types), `contract` (a result that no segment can be made of).
fn wire(bytes: &[u8], format: InputFormat) -> Result<Wire, Refused> {
    match format {
        InputFormat::Faircopy => parse(bytes),
        InputFormat::Vosk => message(bytes, vosk::parse),
        InputFormat::Kaldi => message(bytes, kaldi::parse),
        InputFormat::Deepgram => message(bytes, deepgram::parse),
        InputFormat::AwsTranscribe => message(bytes, aws_transcribe::parse),
        InputFormat::Assemblyai => message(bytes, |m| assemblyai::parse(m, assemblyai::Final::Unformatted)),
        InputFormat::AssemblyaiFormatted => message(bytes, |m| assemblyai::parse(m, assemblyai::Final::Formatted)),
        InputFormat::Azure => message(bytes, azure::parse),
        InputFormat::Google => message(bytes, google::parse),
        InputFormat::Speechmatics => message(bytes, speechmatics::parse),
        InputFormat::Whisper => message(bytes, whisper::parse),
        InputFormat::Gladia => message(bytes, gladia::parse),
    }
}

fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Refused> {
    serde_json::from_slice(bytes).map_err(|e| {
        // serde_json quotes an offending string in its message; say the kind and the place only.
        Refused::new("json", format!("not a raw segment: {:?} at line {} column {}", e.classify(), e.line(), e.column()))
    })
}

/// What whoever puts a recogniser's messages on the topic may add beside them: vendors do not say when a call is over,
/// or whose it is.
#[derive(Deserialize)]
struct Enveloped<T> {
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    seq: Option<u64>,
    #[serde(default)]
    tenant: Option<String>,
    #[serde(default)]
    lang: Option<String>,
    #[serde(default)]
    end: Option<End>,
    #[serde(default)]
    meta: Option<Box<RawValue>>,
    #[serde(default)]
    vocabulary: Option<Vec<WireSpelling>>,
    #[serde(default)]
    expect: Option<WireExpect>,
    #[serde(default)]
    late_labels: Option<Vec<WireLabel>>,
    #[serde(flatten)]
    message: T,
}

/// Reads a recogniser's message, with what was put beside its fields.
fn message<'a, T: Deserialize<'a>>(
    bytes: &'a [u8],
    of: impl FnOnce(T) -> Result<ParsedMessage, Refused>,
) -> Result<Wire, Refused> {
    let envelope: Enveloped<T> = parse(bytes)?;
    let parsed = of(envelope.message)?;
    Ok(Wire {
        session: envelope.session,
        seq: envelope.seq,
        channel: parsed.channel,
        speaker: parsed.speaker,
        is_final: parsed.is_final || envelope.end.is_some(),
        words: Some(parsed.words),
        text: None,
        end: envelope.end.or(parsed.end),
        tenant: envelope.tenant,
        lang: envelope.lang.or(parsed.lang),
        meta: envelope.meta,
        vocabulary: envelope.vocabulary,
        expect: envelope.expect,
        late_labels: envelope.late_labels,
    })
}

/// What a message comes to.
#[derive(Default)]
struct ParsedMessage {
    channel: Option<String>,
    /// who says the words that name no speaker of their own
    speaker: Option<String>,
    /// the language of the words that name none of their own
    lang: Option<String>,
    is_final: bool,
    words: Vec<WireWord>,
    end: Option<End>,
}

fn word(w: String, s: Option<f64>, e: Option<f64>, c: Option<f64>) -> WireWord {
    WireWord { w, s, e, c, speaker: None, lang: None }
}

/// A word with its times, as Vosk, Whisper and Gladia write it. Each has a name of its own for the confidence.
#[derive(Deserialize)]
struct TimedWord {
    word: String,
    #[serde(default)]
    start: Option<f64>,
    #[serde(default)]
    end: Option<f64>,
    /// Gladia's
    #[serde(default)]
    confidence: Option<f64>,
    /// Vosk's
    #[serde(default)]
    conf: Option<f64>,
    /// Whisper's
    #[serde(default)]
    probability: Option<f64>,
}

/// The words of a list of such words.
fn timed(words: &[TimedWord]) -> Vec<WireWord> {
    let confidence = |w: &TimedWord| w.confidence.or(w.conf).or(w.probability);
    words.iter().flat_map(|w| words_of(&w.word, w.start, w.end, confidence(w))).collect()
}

/// A recogniser's token that may hold several words, or a space before it. Several words share the token's time in
/// equal parts.
fn words_of(token: &str, s: Option<f64>, e: Option<f64>, c: Option<f64>) -> Vec<WireWord> {
    let words: Vec<&str> = token.split_whitespace().collect();
    let part = s.zip(e).map(|(s, e)| (s, (e - s) / words.len().max(1) as f64));
    let timed = |(n, w): (usize, &&str)| match part {
        Some((s, part)) if words.len() > 1 => word((*w).into(), Some(s + part * n as f64), Some(s + part * (n + 1) as f64), c),
        _ => word((*w).into(), s, e, c),
    };
    words.iter().enumerate().map(timed).collect()
}

/// A message that says nothing of words.
fn nothing() -> ParsedMessage {
    ParsedMessage { is_final: true, ..ParsedMessage::default() }
}

/// A message that says that something has ended, and no words.
fn ended(end: End) -> ParsedMessage {
    ParsedMessage { end: Some(end), ..nothing() }
}

/// Words of a text that comes without their times.
fn untimed(text: &str) -> Vec<WireWord> {
    text.split_whitespace().map(|w| word(w.into(), None, None, None)).collect()
}
