//! A stream as bytes: everything that the next owner of its partition needs to go on as if nothing had happened.
//!
//! Snapshots are taken between records. A snapshot is a function of the input so far and of where timers fired. It
//! leaves out what can be made again: hypotheses (the next record replaces them), requests under way (their passes are
//! planned again) and tokens of unreleased words (they follow from the words). It holds no clock: after a restore,
//! delays count from the moment at which the partition has caught up.
//!
//! A changelog value is a [`Header`], a version byte and a zstd frame of postcard. Every version of the program can
//! read the header, whatever version wrote the rest. The header says where the stream's input begins, so that a stream
//! whose state cannot be read is made anew from the raw topic. Everything in a value is checked when it is read, like
//! any input.

mod header;

use std::collections::VecDeque;
use std::io::Read;
use std::sync::Arc;

pub use header::{Header, StoredSnapshot, StreamOutline, applied, of_another_version, without_body};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::buffer::{BufferParts, BufferedWord, Freeze, FreezeCause, Past};
use super::output::{EndCause, StreamKey};
use super::plan::Pass;
use super::policy::Policy;
use super::settle::Settled;
use super::stream::StreamProgress;
use super::vocabulary::Vocabulary;
use super::{Record, Source, Time, Word, WordKind};
use crate::infer::prosody::Prosody;
use crate::infer::row::MAX_TOKENS_PER_WORD;
use crate::record::End;
use crate::record::vocabulary::Spelling;
use crate::redact::{AskedClasses, ChannelContext};
use crate::tags::{Itn, Tags};

/// The version byte after the header. Another byte is refused, because a program cannot know what another version
/// wrote.
const VERSION: u8 = 3;
/// The version byte of a value without a state, because the state would be too large.
const NO_STATE: u8 = 0;
/// Largest snapshot, bytes, unpacked.
const MAX_BYTES: u64 = 64 << 20;
/// Input words of an epoch: beyond it no call goes, and counting on might overflow.
const MAX_INPUT_WORDS: u64 = 1 << 48;
/// Compression level. A snapshot is mostly short words, and higher levels cost more than they save.
const LEVEL: i32 = 1;

/// Why a changelog record cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SnapshotError(String);

impl SnapshotError {
    pub(super) fn new(what: &str) -> SnapshotError {
        SnapshotError(what.to_string())
    }

    /// The program panicked over it. The panic's message is left out, because it may quote the state.
    pub fn panicked() -> SnapshotError {
        SnapshotError::new("restoring it panicked; it is damaged, or there is a bug: report the place that the log names")
    }
}

fn wrong(what: impl std::fmt::Display) -> SnapshotError {
    SnapshotError(what.to_string())
}

/// A stream's record in the changelog.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Snapshot {
    /// the stream goes on
    Open(Box<OpenStream>),
    /// the stream has ended, with this counter and content hash
    Ended {
        /// as in [`super::ended::LastRecord`]
        last: (Option<u64>, u64),
        /// the context for its channel's next epoch
        channel_context: ChannelContext,
    },
}

/// An open stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenStream {
    /// its profile
    pub profile: Box<str>,
    /// name of the model whose tokens `history` has
    pub model: Box<str>,
    pub(super) progress: StreamProgress,
    pub(super) utterance_ended: bool,
    pub(super) covered: u64,
    pub(super) passes: Vec<Pass>,
    released: u64,
    frozen: u64,
    label: Option<u8>,
    pub(super) settled: Settled,
    /// tokens, and [`Prosody::to_byte`]
    history: Vec<(Vec<u32>, u8)>,
    sources: Vec<SourceState>,
    /// number and spellings of each vocabulary that its words or its session have
    vocabularies: Vec<(u64, Vec<Spelling>)>,
    /// the session's
    vocabulary: Option<u32>,
    entries: Vec<EntryState>,
    last_source: Option<u32>,
    waiting: Vec<HeldInputState>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SourceState {
    offset: i64,
    meta: Option<Box<str>>,
    headers: Vec<(String, Option<Vec<u8>>)>,
    timestamp_ms: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct WordState {
    spoken: Box<str>,
    start: Option<f64>,
    end: Option<f64>,
    confidence: Option<f32>,
    speaker: Option<Arc<str>>,
    /// [`Prosody::to_byte`]
    prosody: u8,
    kind: WordKind,
    asked: AskedClasses,
    source: u32,
    src: [u64; 2],
    shared: bool,
    vocabulary: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct EntryState {
    word: WordState,
    tags: Option<[u8; 4]>,
    freeze: Option<FreezeState>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct FreezeState {
    cause: FreezeCause,
    later_words: u64,
    delay_ms: u64,
    degraded: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum HeldInputState {
    Record {
        seq: Option<u64>,
        hash: u64,
        is_final: bool,
        words: Vec<WordState>,
        end: Option<EndState>,
        source: u32,
        profile: Box<str>,
    },
    End(EndCause),
}

/// [`End`] in binary form; its own form is for JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum EndState {
    Utterance,
    Channel,
    Session,
}

/// Input that waits until an epoch has closed.
#[derive(Debug)]
pub enum HeldInput {
    /// a record, with the name of its profile
    Record(Record, Arc<str>),
    /// an end of the whole session
    End(EndCause),
}

/// What a snapshot's words need and the snapshot does not hold.
pub trait SnapshotContext {
    /// The policy of a profile, and the profile's name. If the settings have no such profile any more, another
    /// profile's.
    fn profile(&self, name: &str) -> (Arc<str>, Arc<Policy>);
    /// Name of the model of a policy.
    fn model(&self, policy: &Policy) -> Arc<str>;
    /// Sub-tokens of a spoken word for the model of a policy.
    fn tokens(&self, policy: &Policy, spoken: &str) -> Arc<[u32]>;
}

impl Snapshot {
    /// The snapshot as a changelog value. `applied`: offset of the first raw record that is not in it. A state that is
    /// too large for readers is left out.
    pub fn to_bytes(&self, applied: i64) -> Vec<u8> {
        let header = Header { applied, open: if let Snapshot::Open(state) = self { Some(state.outline()) } else { None } };
        let mut bytes = header.to_bytes();
        let plain = postcard::to_stdvec(self).expect("snapshots are plain data");
        if plain.len() as u64 > MAX_BYTES {
            bytes.push(NO_STATE);
            return bytes;
        }
        bytes.push(VERSION);
        bytes.extend(zstd::bulk::compress(&plain, LEVEL).expect("memory can be written to"));
        bytes
    }

    /// Reads the part of a changelog value after its header.
    fn from_bytes(bytes: &[u8]) -> Result<Snapshot, SnapshotError> {
        match bytes.split_first() {
            Some((&VERSION, packed)) => {
                let mut plain = Vec::new();
                let decoder = zstd::stream::read::Decoder::new(packed).map_err(wrong)?;
                decoder.take(MAX_BYTES + 1).read_to_end(&mut plain).map_err(wrong)?;
                if plain.len() as u64 > MAX_BYTES {
                    return Err(wrong(format!("expected at most {MAX_BYTES} bytes")));
                }
                match postcard::take_from_bytes(&plain) {
                    Ok((snapshot, [])) => Ok(snapshot),
                    Ok((_, rest)) => Err(wrong(format!("{} bytes follow the snapshot", rest.len()))),
                    Err(e) => Err(wrong(e)),
                }
            }
            Some((&NO_STATE, _)) => Err(wrong("the state was too large to be written")),
            Some((version, _)) => {
                Err(wrong(format!("expected version {VERSION}, got {version}; it was written by another version")))
            }
            None => Err(wrong("no bytes")),
        }
    }
}

/// A stream's key as a changelog key: both parts can be told apart whatever they hold.
pub fn key_to_bytes(key: &StreamKey) -> Vec<u8> {
    postcard::to_stdvec(&(&*key.session, &*key.channel)).expect("strings are plain data")
}

/// Reverses [`key_to_bytes`].
pub fn key_from_bytes(bytes: &[u8]) -> Result<StreamKey, SnapshotError> {
    match postcard::take_from_bytes::<(&str, &str)>(bytes) {
        Ok(((session, channel), [])) => Ok(StreamKey { session: session.into(), channel: channel.into() }),
        Ok(_) => Err(wrong("bytes follow the key")),
        Err(e) => Err(wrong(e)),
    }
}

/// Sources and vocabularies, each once.
#[derive(Default)]
struct Sources {
    sources: Vec<Arc<Source>>,
    vocabularies: Vec<Arc<Vocabulary>>,
}

impl Sources {
    fn place(&mut self, source: &Arc<Source>) -> u32 {
        // Words of one record stand together.
        let at = self.sources.iter().rposition(|s| Arc::ptr_eq(s, source)).unwrap_or_else(|| {
            self.sources.push(source.clone());
            self.sources.len() - 1
        });
        at as u32
    }

    fn vocabulary(&mut self, vocabulary: &Arc<Vocabulary>) -> u32 {
        let at = self.vocabularies.iter().rposition(|v| Arc::ptr_eq(v, vocabulary)).unwrap_or_else(|| {
            self.vocabularies.push(vocabulary.clone());
            self.vocabularies.len() - 1
        });
        at as u32
    }

    fn word(&mut self, word: &Word) -> WordState {
        let Word { spoken, start, end, confidence, speaker, prosody, kind, asked, source, src, shared, vocabulary, .. } = word;
        let source = self.place(source);
        let vocabulary = vocabulary.as_ref().map(|vocabulary| self.vocabulary(vocabulary));
        WordState {
            spoken: spoken.clone(),
            start: *start,
            end: *end,
            confidence: *confidence,
            speaker: speaker.clone(),
            prosody: prosody.to_byte(),
            kind: *kind,
            asked: *asked,
            source,
            src: *src,
            shared: *shared,
            vocabulary,
        }
    }
}

impl OpenStream {
    pub(super) fn new(
        profile: &str,
        model: &str,
        progress: StreamProgress,
        utterance_ended: bool,
        (covered, passes): (u64, Vec<Pass>),
        (parts, settled): (BufferParts, Settled),
        (waiting, vocabulary): (&VecDeque<HeldInput>, Option<&Arc<Vocabulary>>),
    ) -> OpenStream {
        let mut sources = Sources::default();
        let vocabulary = vocabulary.map(|vocabulary| sources.vocabulary(vocabulary));
        let entry = |sources: &mut Sources, e: &BufferedWord| EntryState {
            word: sources.word(&e.word),
            tags: e.tags.map(Tags::to_bytes),
            freeze: e.freeze.map(|Freeze { cause, later_words, delay_ms, degraded, at: _ }| FreezeState {
                cause,
                later_words,
                delay_ms,
                degraded,
            }),
        };
        let entries = parts.entries.iter().map(|e| entry(&mut sources, e)).collect();
        let last_source = parts.last_source.as_ref().map(|s| sources.place(s));
        let waiting = waiting.iter().map(|w| match w {
            HeldInput::End(cause) => HeldInputState::End(*cause),
            HeldInput::Record(r, profile) => HeldInputState::Record {
                seq: r.seq,
                hash: r.hash,
                is_final: r.is_final,
                words: r.words.iter().map(|w| sources.word(w)).collect(),
                end: r.end.map(|end| match end {
                    End::Utterance => EndState::Utterance,
                    End::Channel => EndState::Channel,
                    End::Session => EndState::Session,
                }),
                source: sources.place(&r.source),
                profile: (&**profile).into(),
            },
        });
        let waiting = waiting.collect();
        let source = |s: &Arc<Source>| SourceState {
            offset: s.offset,
            meta: s.meta.as_ref().map(|m| m.get().into()),
            headers: s.headers.clone(),
            timestamp_ms: s.timestamp_ms,
        };
        OpenStream {
            profile: profile.into(),
            model: model.into(),
            progress,
            utterance_ended,
            covered,
            passes,
            released: parts.released,
            frozen: parts.frozen,
            label: parts.label.map(|label| label.index() as u8),
            settled,
            history: parts.history.iter().map(|past| (past.tokens.to_vec(), past.prosody.to_byte())).collect(),
            sources: sources.sources.iter().map(source).collect(),
            vocabularies: sources.vocabularies.iter().map(|v| (v.number(), v.spellings().to_vec())).collect(),
            vocabulary,
            entries,
            last_source,
            waiting,
        }
    }

    /// Its vocabularies.
    fn vocabularies(&self) -> Result<Vec<Arc<Vocabulary>>, SnapshotError> {
        let is_sound = |s: &Spelling| !s.said.is_empty() && !s.written.is_empty();
        if !self.vocabularies.iter().all(|(number, all)| *number < u64::MAX && all.iter().all(is_sound)) {
            return Err(wrong("a spelling that says nothing"));
        }
        Ok(self.vocabularies.iter().map(|(number, all)| Arc::new(Vocabulary::new(*number, all.clone()))).collect())
    }

    /// Its session's vocabulary.
    pub(super) fn session_vocabulary(&self) -> Option<Vocabulary> {
        let (number, spellings) = self.vocabularies.get(self.vocabulary? as usize)?;
        Some(Vocabulary::new(*number, spellings.clone()))
    }

    /// The header, which every version can read.
    fn outline(&self) -> StreamOutline {
        let (epoch, segments, counts, sentence_start) = self.progress.outline();
        // In input words: how figures are read back may have changed when the raw topic is read again.
        let taken = counts.words;
        let released = self.entries.first().map_or(taken, |e| e.word.src[0]);
        let (removed, degraded) = (counts.removed, counts.degraded);
        let offset = |w: &HeldInputState| match w {
            HeldInputState::Record { source, .. } => self.sources.get(*source as usize).map(|s| s.offset),
            HeldInputState::End(_) => None,
        };
        let next_epoch = self.waiting.iter().find_map(offset);
        let words = |w: &HeldInputState| match w {
            HeldInputState::Record { is_final: true, words, .. } => words.last().map_or(0, |w| w.src[1]),
            _ => 0,
        };
        let held = self.waiting.iter().map(words).sum();
        StreamOutline {
            profile: self.profile.clone(),
            epoch,
            taken,
            released,
            segments,
            removed,
            degraded,
            sentence_start,
            next_epoch,
            held,
        }
    }

    /// The stream's words, and the records that waited for its end. `policy` is its profile's policy. History in
    /// another model's tokens is left out.
    pub(super) fn words(
        &self,
        policy: &Policy,
        context: &impl SnapshotContext,
        now: Time,
    ) -> Result<(BufferParts, VecDeque<HeldInput>), SnapshotError> {
        let mut sources = Vec::with_capacity(self.sources.len());
        for s in &self.sources {
            let meta = s.meta.as_ref().map(|m| RawValue::from_string(m.to_string())).transpose();
            let meta = meta.map_err(|_| wrong("meta that is no JSON"))?;
            sources.push(Arc::new(Source {
                offset: s.offset,
                meta,
                headers: s.headers.clone(),
                timestamp_ms: s.timestamp_ms,
                attached: None,
            }));
        }
        let source = |at: u32| sources.get(at as usize).cloned().ok_or_else(|| wrong("a word of no record"));
        let prosody = |byte: u8| Prosody::from_byte(byte).ok_or_else(|| wrong("a boundary that there is not"));
        let vocabularies = self.vocabularies()?;
        let vocabulary = |at: Option<u32>| match at {
            None => Ok(None),
            Some(at) => vocabularies.get(at as usize).cloned().map(Some).ok_or_else(|| wrong("a vocabulary that is not there")),
        };
        let word = |w: &WordState, policy: &Policy| {
            if w.spoken.is_empty() {
                return Err(wrong("an empty word"));
            }
            if w.src[0] >= w.src[1] || w.src[1] > MAX_INPUT_WORDS {
                return Err(wrong("a word of no input word"));
            }
            Ok(Word {
                spoken: w.spoken.clone(),
                start: w.start,
                end: w.end,
                confidence: w.confidence,
                speaker: w.speaker.clone(),
                prosody: prosody(w.prosody)?,
                tokens: context.tokens(policy, w.kind.for_model(&w.spoken)),
                parts: w.kind.comparable(&w.spoken),
                asked: w.asked,
                kind: w.kind,
                source: source(w.source)?,
                src: w.src,
                shared: w.shared,
                vocabulary: vocabulary(w.vocabulary)?,
            })
        };
        let mut entries = VecDeque::with_capacity(self.entries.len());
        for e in &self.entries {
            let tags = match e.tags {
                None => None,
                Some(bytes) => Some(Tags::from_bytes(bytes).ok_or_else(|| wrong("tags that name no label"))?),
            };
            let freeze = e.freeze.map(|f| Freeze {
                at: now,
                cause: f.cause,
                later_words: f.later_words,
                delay_ms: f.delay_ms,
                degraded: f.degraded,
            });
            entries.push_back(BufferedWord { word: word(&e.word, policy)?, arrived: now, tags, freeze });
        }
        let mut waiting = VecDeque::new();
        for w in &self.waiting {
            waiting.push_back(match w {
                HeldInputState::End(cause) => HeldInput::End(*cause),
                HeldInputState::Record { seq, hash, is_final, words, end, source: of, profile } => {
                    let (profile, policy) = context.profile(profile);
                    let record = Record {
                        seq: *seq,
                        hash: *hash,
                        is_final: *is_final,
                        words: words.iter().map(|w| word(w, &policy)).collect::<Result<_, _>>()?,
                        end: end.map(|end| match end {
                            EndState::Utterance => End::Utterance,
                            EndState::Channel => End::Channel,
                            EndState::Session => End::Session,
                        }),
                        policy,
                        source: source(*of)?,
                        vocabulary: Vec::new(), // its words have it
                    };
                    HeldInput::Record(record, profile)
                }
            });
        }
        let same_model = *self.model == *context.model(policy);
        let mut history = VecDeque::new();
        for (tokens, byte) in self.history.iter().filter(|_| same_model) {
            if (1..=MAX_TOKENS_PER_WORD).contains(&tokens.len()) {
                history.push_back(Past { tokens: tokens.as_slice().into(), prosody: prosody(*byte)? });
            }
        }
        let last_source = self.last_source.map(source).transpose()?;
        let label = |n: u8| Itn::from_index(usize::from(n)).ok_or_else(|| wrong("an ITN label that there is not"));
        let label = self.label.map(label).transpose()?;
        Ok((BufferParts { history, entries, released: self.released, frozen: self.frozen, label, last_source }, waiting))
    }
}

#[cfg(test)]
mod tests {
    use super::header::{HEADER, header};
    use super::*;
    use proptest::prelude::*;

    /// A value as version 3 writes it, its state unpacked: zstd may pack the same bytes otherwise. Who changes what a snapshot holds counts [`VERSION`] up and
    /// puts new bytes here; what stands before the version byte never changes.
    const GOLDEN: &str = include_str!("../../../tests/golden/snapshot.hex");

    fn unpacked(value: &[u8]) -> String {
        let (_, body) = header(value).unwrap();
        let plain = zstd::bulk::decompress(&body[1..], MAX_BYTES as usize).unwrap();
        let bytes = [&value[..value.len() - body.len() + 1], &plain].concat();
        bytes.chunks(60).map(|line| line.iter().map(|b| format!("{b:02x}")).collect::<String>() + "\n").collect()
    }

    /// A stream in mid-call, with something in every field.
    fn mid_call() -> Snapshot {
        let word = |spoken: &str, kind: &str, src: [u64; 2]| serde_json::json!({"spoken": spoken, "start": 1.5, "end": 1.75, "confidence": 0.5, "speaker": "spk_1", "prosody": 110, "kind": kind, "asked": 4, "source": 0, "src": src, "shared": false, "vocabulary": null});
        let freeze = serde_json::json!({"cause": "Lookahead", "later_words": 6, "delay_ms": 1200, "degraded": false});
        let state = serde_json::json!({
            "profile": "default",
            "model": "en-test-1",
            "progress": {
                "epoch": 41, "seq": 2, "seen": 6, "counts": {"words": 7, "segments": 2, "removed": 1, "degraded": 0}, "last": [3, 99],
                "last_was_final": true, "sentence_start": true, "ending": null,
                "last_word": {"start_ms": 1500, "end_ms": 1750, "letters": 5, "speaker": "spk_1"},
                "channel_context": {
                    "before": "four two", "lately": "your number is", "questions": [{"bit": 3, "at": {"said": 1.5, "appended_ms": 17}, "words": 2}]
                }
            },
            "utterance_ended": true,
            "covered": 6,
            "passes": [{"upto": 7, "freeze_to": 6, "cause": "Timer"}],
            "released": 4,
            "frozen": 5,
            "history": [[[1010], 0], [[1011, 1012], 242]],
            "label": 2,
            "settled": {"words": 4, "chain": {
                "from": 2, "history_to": 3, "key": 4, "after": {"number": 6, "position": 9},
                "rules": {"words": 2, "key_words": 4, "lookahead": 1, "masked": false, "slots": 128, "style": 0}
            }},
            "sources": [{"offset": 43, "meta": "{}", "headers": [["h", [1, 2]]], "timestamp_ms": 1700000000000i64}],
            "vocabularies": [[3, [{"said": ["cube", "cuddle"], "written": "kubectl"}]]],
            "vocabulary": 0,
            "entries": [
                {"word": word("two", "Speech", [4, 5]), "tags": [1, 1, 0, 0], "freeze": freeze},
                {"word": word("uh", "Filler", [5, 6]), "tags": null, "freeze": null},
                {"word": word("three", "Speech", [6, 7]), "tags": null, "freeze": null}
            ],
            "last_source": 0,
            "waiting": [{"End": "Session"}]
        });
        Snapshot::Open(serde_json::from_value(state).unwrap())
    }

    #[test]
    fn the_bytes_of_a_snapshot_are_those_that_its_version_promises() {
        let written = unpacked(&mid_call().to_bytes(77));
        assert_eq!(
            written, GOLDEN,
            "a snapshot is written otherwise: count VERSION up, and put this into tests/golden/snapshot.hex:\n{written}"
        );
        let read = StoredSnapshot::from_bytes(&mid_call().to_bytes(77)).unwrap();
        assert_eq!(read.snapshot, Ok(mid_call()));
    }

    #[test]
    fn what_another_version_wrote_or_what_was_damaged_is_refused_and_its_header_stays_readable() {
        let bytes = mid_call().to_bytes(77);
        let read = |bytes: &[u8]| StoredSnapshot::from_bytes(bytes).unwrap();
        let header = read(&bytes).header;
        assert_eq!((header.applied, header.open.as_ref().unwrap().released), (77, 4));
        let newer = read(&of_another_version(&bytes).unwrap());
        assert!(newer.snapshot.unwrap_err().to_string().contains("expected version 3, got 255"));
        assert_eq!(newer.header, header);
        let short = without_body(&bytes).unwrap();
        assert!(short.len() < 40 && without_body(&short).is_none());
        assert_eq!((read(&short).header, read(&short).snapshot.is_err()), (header, true));
        assert!(read(&bytes[..bytes.len() - 1]).snapshot.is_err());
        assert!(StoredSnapshot::from_bytes(&[]).is_err() && StoredSnapshot::from_bytes(&[HEADER + 1]).is_err());
        let ended = Snapshot::Ended { last: (Some(7), 9), channel_context: ChannelContext::default() }.to_bytes(3);
        assert_eq!(read(&ended).snapshot, Ok(Snapshot::Ended { last: (Some(7), 9), channel_context: ChannelContext::default() }));
        assert_eq!(of_another_version(&ended), None);
        let longer = [&[VERSION], &*zstd::bulk::compress(&[1, 0, 0, 0, 0, 0, 0], 1).unwrap()].concat();
        assert!(Snapshot::from_bytes(&longer).is_err(), "bytes that nobody reads");
    }

    #[test]
    fn a_bomb_is_not_unpacked() {
        let bomb = zstd::bulk::compress(&vec![0; MAX_BYTES as usize + 2], 1).unwrap();
        assert!(Snapshot::from_bytes(&[&[VERSION], &*bomb].concat()).unwrap_err().to_string().contains("at most"));
    }

    proptest! {
        #[test]
        fn keys_come_back_whatever_they_hold(session in ".*", channel in ".*") {
            let key = StreamKey { session: (&*session).into(), channel: (&*channel).into() };
            prop_assert_eq!(key_from_bytes(&key_to_bytes(&key)), Ok(key));
        }

        #[test]
        fn bytes_of_any_kind_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = key_from_bytes(&bytes);
            let _ = StoredSnapshot::from_bytes(&bytes);
            let _ = StoredSnapshot::from_bytes(&[&[HEADER], &*bytes].concat());
            let packed = [&[VERSION], &*zstd::bulk::compress(&bytes, 1).unwrap()].concat();
            let _ = Snapshot::from_bytes(&packed);
        }
    }
}
