//! Model directories, and the models that a process serves.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::path::LabelTransitions;
use super::queue::BatchLimits;
use super::row::RowTemplate;
use super::second::SecondStageService;
use super::{InferenceService, KeptStates, Tagger, WordTokenizer};
use crate::tags::{Labels, Tilt};

/// Why a model or its runtime cannot be loaded: expected, got and remedy.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LoadError(pub String);

/// The files of a model directory.
const FILES: [&str; 4] = ["tagger.onnx.zst", "tokenizer.json", "labels.json", "lexicon.tsv"];
/// Largest tagger, bytes, unpacked.
const MAX_TAGGER_BYTES: u64 = 2 << 30;
/// Largest `labels.json`, bytes.
const MAX_LABELS_BYTES: u64 = 1 << 16;

/// A model directory: `tagger.onnx.zst`, `tokenizer.json`, `labels.json`, `lexicon.tsv`.
#[derive(Clone, Debug)]
pub struct ModelFiles {
    /// the directory
    pub dir: PathBuf,
    /// checked labels
    pub labels: Labels,
    /// which ITN label may follow which
    pub follows: LabelTransitions,
}

impl ModelFiles {
    /// Reads and checks `labels.json`, and looks for the other files.
    pub fn open(dir: &Path) -> Result<ModelFiles, LoadError> {
        for name in FILES {
            if !dir.join(name).is_file() {
                return Err(LoadError(format!(
                    "{}: expected a model directory with {name} in it, found none; set infer.model_dir to the shipped models/ and a profile's \
                     model to one of its directories",
                    dir.display()
                )));
            }
        }
        let path = dir.join("labels.json");
        let wrong = |e: String| LoadError(format!("{}: {e}; export the model again with this version's labels", path.display()));
        let mut text = String::new();
        let file = std::fs::File::open(&path).map_err(|e| LoadError(format!("{}: {e}", path.display())))?;
        file.take(MAX_LABELS_BYTES).read_to_string(&mut text).map_err(|e| wrong(e.to_string()))?;
        let labels: Labels = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
        labels.check().map_err(wrong)?;
        let follows = LabelTransitions::new(labels.itn.len(), &labels.itn_follows).map_err(wrong)?;
        Ok(ModelFiles { dir: dir.to_path_buf(), labels, follows })
    }

    /// The names and contents of its files, for a hash.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn contents(&self) -> Result<Vec<(&'static str, Vec<u8>)>, LoadError> {
        let read = |name: &'static str| {
            let path = self.dir.join(name);
            let bytes = std::fs::read(&path).map_err(|e| LoadError(format!("{}: {e}", path.display())))?;
            Ok((name, bytes))
        };
        FILES.into_iter().map(read).collect()
    }

    /// The path of the packed tagger.
    pub fn tagger(&self) -> PathBuf {
        self.dir.join("tagger.onnx.zst")
    }

    /// The tagger, unpacked. Its weights have few distinct values, and the frequent ones are near zero, so the packed
    /// file has half the size.
    pub fn unpack(&self) -> Result<Vec<u8>, LoadError> {
        let path = self.tagger();
        let wrong = |e: String| LoadError(format!("{}: expected an ONNX tagger packed by zstd, got: {e}", path.display()));
        let file = std::fs::File::open(&path).map_err(|e| wrong(e.to_string()))?;
        let mut bytes = Vec::new();
        let packed = zstd::stream::read::Decoder::new(file).map_err(|e| wrong(e.to_string()))?;
        packed.take(MAX_TAGGER_BYTES + 1).read_to_end(&mut bytes).map_err(|e| wrong(e.to_string()))?;
        if bytes.len() as u64 > MAX_TAGGER_BYTES {
            return Err(wrong(format!("more than {MAX_TAGGER_BYTES} bytes")));
        }
        Ok(bytes)
    }
}

/// A model that this process serves, with its queue and workers.
pub struct Model {
    /// its name in profiles: its directory in `infer.model_dir`
    pub key: String,
    /// its files
    pub files: ModelFiles,
    /// its tokenizer
    pub tokenizer: WordTokenizer,
    /// its queue
    pub infer: InferenceService,
}

impl Model {
    /// Starts a worker for each tagger.
    pub fn start(
        key: &str,
        files: ModelFiles,
        taggers: Vec<Box<dyn Tagger>>,
        limits: BatchLimits,
        max_wait: Duration,
        kept: KeptStates,
    ) -> Result<Model, LoadError> {
        let tokenizer = WordTokenizer::load(&files.dir.join("tokenizer.json"), &files.labels.tokens).map_err(LoadError)?;
        Ok(Model { key: key.to_string(), files, tokenizer, infer: InferenceService::start(taggers, limits, max_wait, kept) })
    }
}

/// All models of a process, each once, whichever profiles use it.
pub struct Models {
    models: Vec<Model>,
    /// the second stage, where some profile asks it
    pub second: Option<SecondStageService>,
    /// the states that their streams keep
    pub kept: KeptStates,
}

impl Models {
    /// The models for which profiles ask. All of them keep states in `kept`.
    pub fn new(models: Vec<Model>, kept: KeptStates) -> Models {
        Models { models, second: None, kept }
    }

    /// The model that a row is for.
    pub fn of(&self, template: RowTemplate) -> &Model {
        &self.models[template.model]
    }

    /// The directories of those that are loaded.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.models.iter().map(|m| m.key.as_str())
    }

    /// The names that segments carry.
    pub fn names(&self) -> Vec<&str> {
        self.models.iter().map(|m| m.files.labels.model.as_str()).collect()
    }

    /// The template of a profile's rows, the model's name and its files.
    ///
    /// # Errors
    /// A style that the model does not know. The message lists the styles that it knows.
    pub fn template(&self, key: &str, style: &str, tilt: Tilt) -> Result<(RowTemplate, Arc<str>, &ModelFiles), String> {
        let at = self.models.iter().position(|m| m.key == key).expect("every profile's model is loaded");
        let files = &self.models[at].files;
        let Labels { model, styles, tokens, .. } = &files.labels;
        let style = styles
            .iter()
            .position(|s| s == style)
            .ok_or_else(|| format!("style = {style:?}: expected one of {styles:?}, which model {key:?} knows"))?;
        let template = RowTemplate { model: at, cls: tokens.cls, sep: tokens.sep, style: style as u32, tilt };
        Ok((template, model.as_str().into(), files))
    }
}
