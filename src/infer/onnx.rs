//! The tagger in ONNX Runtime. The only module that names `ort`.
//!
//! The library is loaded at run time, so that one build serves CPU and CUDA; the execution provider asked for must be
//! there, or loading fails.

use std::path::{Path, PathBuf};

use ort::ep;
use ort::session::{Session, builder::GraphOptimizationLevel};
use ort::value::Tensor;
use serde::{Deserialize, Serialize};

use super::{ModelError, Row, Tagger};
use crate::tags::{Labels, Tags, best};

/// Word number of padding tokens: further ahead than any lookahead, so that nothing attends to them.
const PAD_WORD: i64 = 1 << 30;
/// A lookahead longer than any row.
const UNLIMITED: i64 = 1 << 20;

/// Where the model runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Device {
    /// ONNX Runtime's CPU kernels
    Cpu,
    /// CUDA, from the GPU build of ONNX Runtime; no falling back
    Cuda,
}

/// Why a model or its runtime cannot be loaded; says expected, got and remedy.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LoadError(pub String);

/// A model directory: `tagger.onnx`, `tokenizer.json`, `labels.json`, `lexicon.tsv`.
#[derive(Clone, Debug)]
pub struct ModelFiles {
    /// the directory
    pub dir: PathBuf,
    /// checked labels
    pub labels: Labels,
}

impl ModelFiles {
    /// Reads and checks `labels.json`, and looks for the other files.
    pub fn open(dir: &Path) -> Result<ModelFiles, LoadError> {
        for name in ["tagger.onnx", "tokenizer.json", "labels.json", "lexicon.tsv"] {
            if !dir.join(name).is_file() {
                return Err(LoadError(format!(
                    "infer.model_dir = {}: expected a model directory with {name} in it, found none; \
                     set infer.model_dir to the shipped models/en or to an exported model",
                    dir.display()
                )));
            }
        }
        let path = dir.join("labels.json");
        let text = std::fs::read_to_string(&path).map_err(|e| LoadError(format!("{}: {e}", path.display())))?;
        let wrong = |e: String| LoadError(format!("{}: {e}; export the model again with this version's labels", path.display()));
        let labels: Labels = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
        labels.check().map_err(wrong)?;
        Ok(ModelFiles { dir: dir.to_path_buf(), labels })
    }
}

/// Loads the ONNX Runtime library. The first call of a process decides; further ones do nothing.
///
/// # Errors
/// The library is absent, is no ONNX Runtime, or is too old.
pub fn init_runtime(library: &Path) -> Result<(), LoadError> {
    let builder = ort::init_from(library).map_err(|e| {
        LoadError(format!(
            "infer.runtime = {}: {e}; expected libonnxruntime.so 1.{} or newer (make runtime puts one into target/)",
            library.display(),
            ort::MINOR_VERSION
        ))
    })?;
    builder.with_telemetry(false).commit();
    Ok(())
}

/// One session of the tagger.
pub struct OnnxTagger {
    session: Session,
}

impl OnnxTagger {
    /// Loads `tagger.onnx` and runs one word through it, so that the first request is not the slow one.
    pub fn load(files: &ModelFiles, device: Device, threads: usize) -> Result<OnnxTagger, LoadError> {
        let path = files.dir.join("tagger.onnx");
        let fail = |what: &str, e: String| LoadError(format!("{}: {what}: {e}", path.display()));
        let cpu = |e: String| fail("cannot set up ONNX Runtime", e);
        let mut builder = Session::builder()
            .map_err(|e| cpu(e.to_string()))?
            .with_optimization_level(GraphOptimizationLevel::All)
            .map_err(|e| cpu(e.to_string()))?
            .with_intra_threads(threads)
            .map_err(|e| cpu(e.to_string()))?;
        if device == Device::Cuda {
            builder = builder.with_execution_providers([ep::CUDA::default().build().error_on_failure()]).map_err(|e| {
                fail(
                    "infer.device = \"cuda\", but this ONNX Runtime cannot use it",
                    format!(
                        "{e}; expected the GPU build (libonnxruntime_providers_cuda.so beside it, CUDA and cuDNN); \
                             point infer.runtime at it or set infer.device = \"cpu\""
                    ),
                )
            })?;
        }
        let session = builder.commit_from_file(&path).map_err(|e| fail("expected an ONNX tagger", e.to_string()))?;
        let inputs: Vec<&str> = session.inputs().iter().map(|i| i.name()).collect();
        if inputs != ["tokens", "words", "lookahead"] {
            return Err(fail("expected inputs tokens, words, lookahead", format!("got {inputs:?}")));
        }
        let mut tagger = OnnxTagger { session };
        let warm = Row::pack(&[&[super::row::CLS]], 0, Some(0), false);
        tagger.tag(&[&warm]).map_err(|e| fail("the model does not run", e.to_string()))?;
        Ok(tagger)
    }

    /// Logits of a batch as the model gives them: `[rows, longest row, Labels::WIDTH]`, and the longest row.
    pub fn logits(&mut self, rows: &[&Row]) -> Result<(Vec<f32>, usize), ModelError> {
        let (count, width) = (rows.len(), rows.iter().map(|r| r.tokens.len()).max().unwrap_or(0));
        let mut tokens = vec![0i64; count * width];
        let mut words = vec![PAD_WORD; count * width];
        let mut lookahead = Vec::with_capacity(count);
        for (r, row) in rows.iter().enumerate() {
            for (i, (&token, &word)) in row.tokens.iter().zip(&row.words).enumerate() {
                tokens[r * width + i] = i64::from(token);
                words[r * width + i] = i64::from(word);
            }
            lookahead.push(row.lookahead.map_or(UNLIMITED, i64::from));
        }
        let tensor = |shape: Vec<usize>, data: Vec<i64>| Tensor::from_array((shape, data)).map_err(|e| ModelError(e.to_string()));
        let inputs = ort::inputs![
            "tokens" => tensor(vec![count, width], tokens)?,
            "words" => tensor(vec![count, width], words)?,
            "lookahead" => tensor(vec![count], lookahead)?,
        ];
        let outputs = self.session.run(inputs).map_err(|e| ModelError(e.to_string()))?;
        let (shape, data) = outputs[0].try_extract_tensor::<f32>().map_err(|e| ModelError(e.to_string()))?;
        let want = [count as i64, width as i64, Labels::WIDTH as i64];
        if shape[..] != want[..] {
            return Err(ModelError(format!("expected logits of shape {want:?}, got {shape:?}")));
        }
        Ok((data.to_vec(), width))
    }
}

impl Tagger for OnnxTagger {
    fn tag(&mut self, rows: &[&Row]) -> Result<Vec<Vec<Tags>>, ModelError> {
        let (logits, width) = self.logits(rows)?;
        let at = |r: usize, first: u32| (r * width + first as usize) * Labels::WIDTH;
        Ok(rows
            .iter()
            .enumerate()
            .map(|(r, row)| row.first.iter().map(|&f| best(&logits[at(r, f)..at(r, f) + Labels::WIDTH])).collect())
            .collect())
    }
}
