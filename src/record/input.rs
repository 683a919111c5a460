//! Raw segments as recognisers write them: each format's JSON becomes a [`Wire`], which is then checked like our own.
//!
//! To add a format: a struct of what its JSON has, a function from that to a [`Wire`], a line in [`InputFormat`] and in [`wire`], and recorded samples in
//! `tests/golden/input`. docs/FORMATS.md has the table.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::raw::{End, RawSegment, RecordLimits, Wire, WireWord, limit};
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
        InputFormat::Vosk => parse::<Enveloped<Vosk>>(bytes)?.wire(vosk),
        InputFormat::Kaldi => parse::<Enveloped<Kaldi>>(bytes)?.wire(kaldi),
        InputFormat::Deepgram => parse::<Enveloped<Deepgram>>(bytes)?.wire(deepgram),
        InputFormat::AwsTranscribe => parse::<Enveloped<Aws>>(bytes)?.wire(aws),
    }
}

fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Refused> {
    serde_json::from_slice(bytes).map_err(|e| {
        // serde_json quotes an offending string in its message; say the kind and the place only.
        Refused::new("json", format!("not a raw segment: {:?} at line {} column {}", e.classify(), e.line(), e.column()))
    })
}

/// What whoever puts a recogniser's messages on the topic may add beside them: vendors do not say when a call is over, or whose it is.
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
    vocabulary: Option<Vec<WireSpelling>>,
    #[serde(flatten)]
    said: T,
}

impl<T> Enveloped<T> {
    fn wire(self, of: fn(T) -> Result<ParsedMessage, Refused>) -> Result<Wire, Refused> {
        let said = of(self.said)?;
        Ok(Wire {
            session: self.session,
            seq: self.seq,
            channel: said.channel,
            speaker: None,
            is_final: said.is_final || self.end.is_some(),
            words: Some(said.words),
            text: None,
            end: self.end.or(said.end),
            tenant: self.tenant,
            lang: self.lang,
            meta: None,
            vocabulary: self.vocabulary,
        })
    }
}

/// What a message comes to.
#[derive(Default)]
struct ParsedMessage {
    channel: Option<String>,
    is_final: bool,
    words: Vec<WireWord>,
    end: Option<End>,
}

fn word(w: String, s: Option<f64>, e: Option<f64>, c: Option<f64>) -> WireWord {
    WireWord { w, s, e, c, speaker: None }
}

/// Words of a text that comes without their times.
fn untimed(text: &str) -> Vec<WireWord> {
    text.split_whitespace().map(|w| word(w.into(), None, None, None)).collect()
}

#[derive(Deserialize)]
struct Vosk {
    #[serde(default)]
    partial: Option<String>,
    #[serde(default)]
    result: Option<Vec<VoskWord>>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    alternatives: Option<Vec<VoskAlternative>>,
    #[serde(default)]
    channel: Option<String>,
}

#[derive(Deserialize)]
struct VoskAlternative {
    #[serde(default)]
    result: Option<Vec<VoskWord>>,
    text: String,
}

#[derive(Deserialize)]
struct VoskWord {
    word: String,
    #[serde(default)]
    start: Option<f64>,
    #[serde(default)]
    end: Option<f64>,
    #[serde(default)]
    conf: Option<f64>,
}

fn vosk(v: Vosk) -> Result<ParsedMessage, Refused> {
    let channel = v.channel;
    if let Some(partial) = v.partial {
        return Ok(ParsedMessage { channel, words: untimed(&partial), ..ParsedMessage::default() });
    }
    let (result, text) = match v.alternatives.and_then(|a| a.into_iter().next()) {
        Some(best) => (best.result, Some(best.text)),
        None => (v.result, v.text),
    };
    let words = match (result, text) {
        (Some(words), _) => words.into_iter().map(|w| word(w.word, w.start, w.end, w.conf)).collect(),
        (None, text) => untimed(&text.unwrap_or_default()),
    };
    // Vosk gives a result where its endpointer heard a pause.
    Ok(ParsedMessage { channel, is_final: true, end: Some(End::Utterance), words })
}

#[derive(Deserialize)]
struct Kaldi {
    #[serde(default)]
    status: i64,
    #[serde(default)]
    result: Option<KaldiResult>,
    #[serde(default, rename = "segment-start")]
    segment_start: Option<f64>,
}

#[derive(Deserialize)]
struct KaldiResult {
    hypotheses: Vec<KaldiHypothesis>,
    #[serde(default, rename = "final")]
    is_final: bool,
}

#[derive(Deserialize)]
struct KaldiHypothesis {
    transcript: String,
    #[serde(default, rename = "word-alignment")]
    alignment: Option<Vec<KaldiWord>>,
}

#[derive(Deserialize)]
struct KaldiWord {
    word: String,
    start: f64,
    length: f64,
    #[serde(default)]
    confidence: Option<f64>,
}

fn kaldi(k: Kaldi) -> Result<ParsedMessage, Refused> {
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
    Ok(ParsedMessage { is_final: result.is_final, words, end, channel: None })
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Deepgram {
    Results(DeepgramResults),
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
struct DeepgramResults {
    #[serde(default)]
    channel_index: Vec<u32>,
    is_final: bool,
    #[serde(default)]
    speech_final: bool,
    channel: DeepgramChannel,
}

#[derive(Deserialize)]
struct DeepgramChannel {
    alternatives: Vec<DeepgramAlternative>,
}

#[derive(Deserialize)]
struct DeepgramAlternative {
    transcript: String,
    #[serde(default)]
    words: Option<Vec<DeepgramWord>>,
}

#[derive(Deserialize)]
struct DeepgramWord {
    word: String,
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

fn deepgram(d: Deepgram) -> Result<ParsedMessage, Refused> {
    let name = |channel: &[u32]| channel.first().map(u32::to_string);
    Ok(match d {
        Deepgram::SpeechStarted(_) => ParsedMessage { is_final: true, ..ParsedMessage::default() },
        Deepgram::UtteranceEnd { channel } => {
            ParsedMessage { channel: name(&channel), is_final: true, end: Some(End::Utterance), ..ParsedMessage::default() }
        }
        Deepgram::Metadata(_) => ParsedMessage { is_final: true, end: Some(End::Session), ..ParsedMessage::default() },
        Deepgram::Results(r) => {
            let best = r.channel.alternatives.into_iter().next();
            let words = best.map_or(Vec::new(), |a| match a.words.filter(|w| !w.is_empty()) {
                Some(words) => words
                    .into_iter()
                    .map(|w| WireWord { speaker: w.speaker.map(|n| n.to_string()), ..word(w.word, w.start, w.end, w.confidence) })
                    .collect(),
                None => untimed(&a.transcript),
            });
            let end = (r.is_final && r.speech_final).then_some(End::Utterance);
            ParsedMessage { channel: name(&r.channel_index), is_final: r.is_final, words, end }
        }
    })
}

#[derive(Deserialize)]
struct Aws {
    #[serde(default, rename = "Transcript")]
    transcript: Option<AwsTranscript>,
}

#[derive(Deserialize)]
struct AwsTranscript {
    #[serde(default, rename = "Results")]
    results: Vec<AwsResult>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct AwsResult {
    alternatives: Vec<AwsAlternative>,
    is_partial: bool,
    #[serde(default)]
    channel_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct AwsAlternative {
    #[serde(default)]
    transcript: String,
    #[serde(default)]
    items: Vec<AwsItem>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct AwsItem {
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

fn aws(a: Aws) -> Result<ParsedMessage, Refused> {
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
    Ok(ParsedMessage { channel: result.channel_id, is_final, words, end: is_final.then_some(End::Utterance) })
}
