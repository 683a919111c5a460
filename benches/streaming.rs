//! What streaming costs: CPU time of formatting a stream that comes word by word, over that of tagging the same words in one pass, for
//! passes at every 1, 3, 6 and 10 words, with short and long history, masked and windowed.
//!
//! ```sh
//! cargo bench --bench streaming -- words.tsv
//! ```
//! The file holds a word and a mark on each line, as for `faircopy eval`.

mod common;

use std::time::Duration;

use common::{cpu, files, files_of, record, service, settings, tagger};
use faircopy::config::profile::MaskSetting;
use faircopy::eval::gold;
use faircopy::infer::row::Frame;
use faircopy::infer::{Row, States, Tagger, WordTokenizer};
use faircopy::pipeline::replay::Replay;

const WORDS: usize = 3000;
/// Words of a row of the one pass: what fits the model's positions with room for long words.
const ROW_WORDS: usize = 200;

fn main() {
    let path = &files("a .tsv file of words and marks")[0];
    let rows = gold::read(path, WORDS).unwrap_or_else(|e| panic!("{e}"));
    let words: Vec<&str> = rows.iter().flat_map(|r| r.words.iter().map(String::as_str)).collect();
    let once = one_pass(&words);
    println!(
        "one pass over {} words, rows of {ROW_WORDS}: {:.2} ms a word",
        words.len(),
        once.as_secs_f64() * 1e3 / words.len() as f64
    );
    println!(
        "\n{:>3} {:>8} {:>9} {:>10} {:>10} {:>7} {:>12}",
        "F", "history", "mask", "ms a word", "tokens/row", "cost", "model of CPU"
    );
    for (history, mask) in
        [(48, MaskSetting::Open), (48, MaskSetting::Lookahead), (24, MaskSetting::Open), (12, MaskSetting::Open)]
    {
        for pass_words in [1, 3, 6, 10] {
            let mut settings = settings();
            settings.infer.workers = 1;
            let profile = settings.profiles.get_mut("default").expect("it is shipped");
            (profile.pass_words, profile.history_words, profile.mask) = (Some(pass_words), Some(history), Some(mask));
            let (shared, meter) = service(settings);
            let mut replay = Replay::paced(shared);
            let began = cpu();
            for (i, word) in words.iter().enumerate() {
                replay.take(record(i as i64, "s", word, i + 1 == words.len()));
                replay.settle();
            }
            let took = cpu() - began;
            println!(
                "{pass_words:>3} {history:>8} {:>9} {:>10.2} {:>10.0} {:>6.1}× {:>10.1} %",
                if mask == MaskSetting::Open { "open" } else { "lookahead" },
                took.as_secs_f64() * 1e3 / words.len() as f64,
                meter.tokens_a_row(),
                took.as_secs_f64() / once.as_secs_f64(),
                100.0 * meter.model().as_secs_f64() / took.as_secs_f64()
            );
        }
    }
}

/// CPU time of tagging each word once.
fn one_pass(words: &[&str]) -> Duration {
    let settings = settings();
    let files = files_of(&settings);
    let special = &files.labels.tokens;
    let tokenizer = WordTokenizer::load(&files.dir.join("tokenizer.json"), special).expect("the shipped tokenizer loads");
    let frame = Frame { cls: special.cls, sep: special.sep, ..Frame::default() };
    let mut tagger = tagger(&settings, &files);
    let began = cpu();
    for words in words.chunks(ROW_WORDS) {
        let tokens: Vec<_> = words.iter().map(|w| tokenizer.tokens(w)).collect();
        let tokens: Vec<&[u32]> = tokens.iter().map(|t| &**t).collect();
        tagger.tag(&[&Row::pack(frame, &tokens, 0, None, true)], &mut [States::default()]).expect("the model answers");
    }
    cpu() - began
}
