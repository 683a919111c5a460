//! The shipped model: same tags as PyTorch, and no influence of what must have none.
//!
//! `FAIRCOPY_MODEL_DIR` points these tests at another exported model.

use std::path::PathBuf;
use std::sync::{LazyLock, Mutex};

use faircopy::config::Settings;
use faircopy::infer::onnx::{Device, OnnxTagger, init_runtime};
use faircopy::infer::row::{Frame, Row};
use faircopy::infer::{ModelFiles, Tagger, WordTokenizer};
use faircopy::tags::{Itn, Labels, Tags, Tilt, best};
use serde::Deserialize;

use crate::kafka::{needs, root};

struct Model {
    files: ModelFiles,
    tokenizer: WordTokenizer,
    tagger: Mutex<OnnxTagger>,
}

/// The tokenizer of the default profile's model.
pub static TOKENIZER: LazyLock<WordTokenizer> = LazyLock::new(|| {
    let settings = Settings::load(None).unwrap();
    let profiles = settings.profiles().unwrap();
    tokenizer(&ModelFiles::open(&needs("models").join(&profiles.of(None).model)).unwrap())
});

fn tokenizer(files: &ModelFiles) -> WordTokenizer {
    WordTokenizer::load(&files.dir.join("tokenizer.json"), &files.labels.tokens).unwrap()
}

/// Every shipped model, or the one that is asked for.
fn models() -> Vec<Model> {
    init_runtime(&needs("target/onnxruntime/libonnxruntime.so")).unwrap();
    let dirs = match std::env::var_os("FAIRCOPY_MODEL_DIR") {
        Some(dir) => vec![PathBuf::from(dir)],
        None => {
            let entries = std::fs::read_dir(root().join("models")).unwrap().map(|e| e.unwrap().path());
            entries.filter(|dir| dir.join("labels.json").is_file()).collect()
        }
    };
    let load = |dir: PathBuf| {
        let files = ModelFiles::open(&dir).unwrap();
        let tagger = Mutex::new(OnnxTagger::load(&files, Device::Cpu, 1).unwrap());
        Model { tokenizer: tokenizer(&files), files, tagger }
    };
    let models: Vec<Model> = dirs.into_iter().map(load).collect();
    assert!(!models.is_empty());
    models
}

#[derive(Deserialize)]
struct Parity {
    words: Vec<String>,
    lookahead: Option<u32>,
    stopped: bool,
    tags: Vec<[String; 4]>,
    /// by how much each tag's logit beats the next one's
    margins: Vec<[f32; 4]>,
    /// An activation that lies between two of its 255 steps may be rounded either way, for the two add up in another order: how far that moves
    /// logits. Only a closer tie may be decided differently.
    tie: f32,
}

fn parity(m: &Model) -> Vec<Parity> {
    let text = std::fs::read_to_string(m.files.dir.join("parity.jsonl")).unwrap();
    text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

fn row(m: &Model, words: &[String], lookahead: Option<u32>, stopped: bool) -> Row {
    let tokens: Vec<_> = words.iter().map(|w| m.tokenizer.tokens(w)).collect();
    let tokens: Vec<&[u32]> = tokens.iter().map(|t| &**t).collect();
    let special = &m.files.labels.tokens;
    let frame = Frame { cls: special.cls, sep: special.sep, ..Frame::default() };
    Row::pack(frame, &tokens, 0, lookahead, stopped)
}

fn names(labels: &Labels, tags: Tags) -> [String; 4] {
    let itn = (0..Itn::COUNT).find(|&n| Itn::from_index(n) == Some(tags.itn)).unwrap();
    [
        labels.punct[tags.punct as usize].clone(),
        labels.case[tags.case as usize].clone(),
        labels.itn[itn].clone(),
        labels.disfluency[tags.disfluency as usize].clone(),
    ]
}

#[test]
fn pytorch_and_onnx_runtime_give_the_same_tags() {
    models().iter().for_each(same_tags);
}

fn same_tags(m: &Model) {
    let cases = parity(m);
    assert!(cases.len() >= 40, "the parity file has cases");
    // How far rounding carries was tried a few times a row; the farthest of all rows says more than a row's own.
    let tie = cases.iter().map(|c| c.tie).fold(0.0, f32::max);
    let (mut judged, mut all) = (0, 0);
    for case in cases {
        let row = row(m, &case.words, case.lookahead, case.stopped);
        // Each word's own best labels: what a path makes of them is the program's.
        let (logits, _) = m.tagger.lock().unwrap().logits(&[&row]).unwrap();
        let at = |first: u32| first as usize * Labels::WIDTH;
        let alone: Vec<Tags> = row.first.iter().map(|&f| best(&logits[at(f)..at(f) + Labels::WIDTH], Tilt::default())).collect();
        let fitted = m.tagger.lock().unwrap().tag(&[&row]).unwrap().remove(0);
        assert!(fitted.iter().zip(&alone).all(|(path, word)| Tags { itn: word.itn, ..*path } == *word));
        assert!(fitted.windows(2).all(|w| !matches!(w[1].itn, Itn::I(_)) || w[1].itn.continues(w[0].itn)), "{fitted:?}");
        let ours: Vec<_> = alone.into_iter().map(|t| names(&m.files.labels, t)).collect();
        assert_eq!((ours.len(), case.margins.len()), (case.tags.len(), case.tags.len()));
        for (i, (ours, theirs)) in ours.iter().zip(&case.tags).enumerate() {
            for head in (0..4).filter(|&h| case.margins[i][h] > tie) {
                assert_eq!(
                    ours[head],
                    theirs[head],
                    "{:?} in {:?} with {:?}",
                    case.words[i],
                    case.words.join(" "),
                    case.lookahead
                );
                judged += 1;
            }
            all += 4;
        }
    }
    assert!(judged * 4 >= all, "enough tags are no ties: {judged} of {all}");
}

/// The logits of a row's words, as bits.
fn bits(m: &Model, rows: &[&Row], of: usize) -> Vec<Vec<u32>> {
    let (logits, width) = m.tagger.lock().unwrap().logits(rows).unwrap();
    let at = |first: u32| (of * width + first as usize) * Labels::WIDTH;
    rows[of].first.iter().map(|&f| logits[at(f)..at(f) + Labels::WIDTH].iter().map(|x| x.to_bits()).collect()).collect()
}

#[test]
fn batch_mates_and_padding_change_no_bit() {
    models().iter().for_each(batch_mates_change_nothing);
}

fn batch_mates_change_nothing(m: &Model) {
    let cases = parity(m);
    for lookahead in [Some(0), Some(9), None] {
        let rows: Vec<Row> = cases.iter().map(|c| row(m, &c.words, lookahead, false)).collect();
        for (i, alone) in rows.iter().enumerate().step_by(4) {
            let want = bits(m, &[alone], 0);
            for mate in [(i + 5) % rows.len(), (i + 13) % rows.len()] {
                assert_eq!(bits(m, &[&rows[mate], alone, &rows[(mate + 3) % rows.len()]], 1), want);
            }
        }
    }
}

#[test]
fn words_beyond_the_lookahead_change_no_bit_and_words_within_do() {
    models().iter().for_each(words_beyond_change_nothing);
}

fn words_beyond_change_nothing(m: &Model) {
    let sentence: Vec<String> = "we placed it on march third for two hundred dollars and the man said it would be here by friday"
        .split(' ')
        .map(Into::into)
        .collect();
    for lookahead in [0u32, 2, 4, 9] {
        let base = bits(m, &[&row(m, &sentence, Some(lookahead), false)], 0);
        for changed in [10, 14, 18] {
            let mut other = sentence.clone();
            other[changed] = "antidisestablishmentarianism".into();
            let moved = bits(m, &[&row(m, &other, Some(lookahead), false)], 0);
            let reach = changed - lookahead as usize;
            assert_eq!(moved[..reach], base[..reach], "word {changed} at lookahead {lookahead}");
            assert_ne!(moved[reach], base[reach], "the first word that may see it does");
        }
        for kept in [12, 16] {
            let short = bits(m, &[&row(m, &sentence[..kept], Some(lookahead), false)], 0);
            let whole = kept - lookahead as usize;
            assert_eq!(short[..whole], base[..whole], "words that have not come yet are words beyond the lookahead");
        }
    }
}
