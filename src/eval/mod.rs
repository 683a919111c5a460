//! How good it is: gold words through the product's own decoder and formatter, as a stream, and what came out against what should have.
//!
//! ```text
//!  gold.rs ──words, one record each──▶ run.rs (Replay: decoder, model, formatter) ──tags, tokens, freezes──▶ score
//!  .jsonl, .tsv                        one stream per setting of sweep.rs                                     │
//!                                                                          report.rs, table.rs ◀──────────┘
//! ```
//!
//! Every definition names its source: 000 is Four-in-One (arXiv 2210.15063), 001 CT-Transformer (arXiv 2003.01309), 002 Universal-2-TF
//! (arXiv 2501.05948), 004 NASA's hybrid for air-traffic telecons.

pub mod align;
pub mod delay;
pub mod gold;
pub mod report;
pub mod run;
pub mod spans;
pub mod sweep;
pub mod table;
pub mod text;
pub mod words;
