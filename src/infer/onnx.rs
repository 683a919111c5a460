//! The tagger in ONNX Runtime. The only module that names `ort`.
//!
//! The library is loaded at run time, so that one build serves CPU and CUDA; the execution provider asked for must be
//! there, or loading fails.

use std::path::Path;

use ort::ep;
use ort::session::{Session, builder::GraphOptimizationLevel};
use ort::value::Tensor;
use serde::{Deserialize, Serialize};

use super::model::{LoadError, ModelFiles};
use super::path::Follows;
use super::row::Frame;
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
    follows: Follows,
}

impl OnnxTagger {
    /// Loads the tagger and runs one word through it, so that the first request is not the slow one.
    pub fn load(files: &ModelFiles, device: Device, threads: usize) -> Result<OnnxTagger, LoadError> {
        let path = files.tagger();
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
        let session = builder.commit_from_memory(&files.unpack()?).map_err(|e| fail("expected an ONNX tagger", e.to_string()))?;
        let inputs: Vec<&str> = session.inputs().iter().map(|i| i.name()).collect();
        if inputs != ["tokens", "words", "lookahead", "style"] {
            return Err(fail("expected inputs tokens, words, lookahead, style", format!("got {inputs:?}")));
        }
        let mut tagger = OnnxTagger { session, follows: files.follows.clone() };
        let tokens = &files.labels.tokens;
        let last_style = files.labels.styles.len() as u32 - 1;
        let frame = Frame { cls: tokens.cls, sep: tokens.sep, style: last_style, ..Frame::default() };
        let warm = Row::pack(frame, &[&[tokens.cls]], 0, Some(0), false);
        tagger.tag(&[&warm]).map_err(|e| fail("the model does not run", e.to_string()))?;
        Ok(tagger)
    }

    /// Logits of a batch as the model gives them: `[rows, longest row, Labels::WIDTH]`, and the longest row.
    pub fn logits(&mut self, rows: &[&Row]) -> Result<(Vec<f32>, usize), ModelError> {
        let (count, width) = (rows.len(), rows.iter().map(|r| r.tokens.len()).max().unwrap_or(0));
        let mut tokens = vec![0i64; count * width];
        let mut words = vec![PAD_WORD; count * width];
        let (mut lookahead, mut style) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for (r, row) in rows.iter().enumerate() {
            for (i, (&token, &word)) in row.tokens.iter().zip(&row.words).enumerate() {
                tokens[r * width + i] = i64::from(token);
                words[r * width + i] = i64::from(word);
            }
            lookahead.push(row.lookahead.map_or(UNLIMITED, i64::from));
            style.push(i64::from(row.frame.style));
        }
        let tensor = |shape: Vec<usize>, data: Vec<i64>| Tensor::from_array((shape, data)).map_err(|e| ModelError(e.to_string()));
        let inputs = ort::inputs![
            "tokens" => tensor(vec![count, width], tokens)?,
            "words" => tensor(vec![count, width], words)?,
            "lookahead" => tensor(vec![count], lookahead)?,
            "style" => tensor(vec![count], style)?,
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
        let tags_of = |(r, row): (usize, &&Row)| {
            let at = |first: u32| (r * width + first as usize) * Labels::WIDTH;
            let words: Vec<&[f32]> = row.first.iter().map(|&f| &logits[at(f)..at(f) + Labels::WIDTH]).collect();
            let itn: Vec<&[f32]> = words.iter().map(|w| &w[Labels::ITN]).collect();
            let path = self.follows.path(&itn, row.lookahead.is_some());
            words.iter().zip(path).map(|(w, itn)| Tags { itn, ..best(w, row.frame.tilt) }).collect()
        };
        Ok(rows.iter().enumerate().map(tags_of).collect())
    }
}
