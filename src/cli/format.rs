//! `faircopy format`: JSON Lines in, JSON Lines out, through the service's own decoder.
//!
//! The input is read as a backlog: no delay by the clock, full context, and the same output for the same input whatever the
//! machine does. Lines are taken in windows; within one, segments come out in the order of the lines that completed them.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use super::{Cli, Failure, runtime, start_log};
use crate::pipeline::Shared;
use crate::pipeline::worker::Worker;
use crate::produce::Outgoing;
use crate::record::RawRecord;

/// Lines read before the model's answers to them are waited for.
const WINDOW_LINES: usize = 512;
/// An answer is waited for so long: this command has no deadline to keep.
const PATIENCE_MS: u64 = 3_600_000;

/// Arguments of `format`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Raw segments, one JSON object a line with its "session" inline; standard input if none
    pub input: Option<PathBuf>,
}

/// Formats until the input ends. Exit code 1 if some line was refused.
pub fn format(cli: &Cli, args: &Args) -> Result<ExitCode, Failure> {
    let mut settings = cli.settings()?;
    settings.infer.timeout_ms = PATIENCE_MS;
    settings.partials.enabled = false;
    start_log(&settings)?;
    let max_line_bytes = settings.limits.max_record_bytes + settings.limits.max_key_bytes;
    let input: Box<dyn Read> = match &args.input {
        None => Box::new(std::io::stdin()),
        Some(path) => Box::new(File::open(path).map_err(|e| Failure {
            message: format!("{}: {e}; expected a file of raw segments, one JSON object a line", path.display()),
            code: 1,
        })?),
    };
    let shared = Arc::new(Shared::load(settings)?);
    let io = |e: std::io::Error| Failure { message: format!("cannot go on reading or writing: {e}"), code: 1 };
    let mut lines = Lines { input: BufReader::new(input), number: 0, max_line_bytes };
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut worker = Worker::new(shared, 0);
    let runtime = runtime();
    let mut refused = 0;
    loop {
        let mut ended = false;
        for _ in 0..WINDOW_LINES {
            match lines.next().map_err(io)? {
                Some(record) => worker.take(record),
                None => {
                    worker.end_all();
                    ended = true;
                    break;
                }
            }
        }
        runtime.block_on(settle(&mut worker));
        refused += write(&mut worker, &mut out).map_err(io)?;
        if ended {
            break;
        }
    }
    out.flush().map_err(io)?;
    if refused > 0 {
        eprintln!("error: {refused} lines were refused; the others are formatted");
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}

async fn settle(worker: &mut Worker) {
    worker.ask();
    while worker.is_asking() {
        let answer = worker.answer().await;
        worker.answered(answer);
        worker.ask();
    }
}

/// Writes what is ready; gives the number of refused lines.
fn write(worker: &mut Worker, out: &mut impl Write) -> std::io::Result<usize> {
    let mut segments = Vec::new();
    let mut refused = 0;
    for outgoing in worker.drain() {
        match outgoing {
            Outgoing::Formatted(segment, source) => segments.push((source.map_or(0, |s| s.offset), segment)),
            Outgoing::DeadLetter(letter) => {
                eprintln!("error: line {}: {}", letter.record.offset + 1, letter.refused);
                refused += 1;
            }
        }
    }
    segments
        .sort_by(|(a, x), (b, y)| (a, &x.session, &x.channel, x.epoch, x.seq).cmp(&(b, &y.session, &y.channel, y.epoch, y.seq)));
    for (_, segment) in segments {
        serde_json::to_writer(&mut *out, &segment)?;
        out.write_all(b"\n")?;
    }
    Ok(refused)
}

struct Lines {
    input: BufReader<Box<dyn Read>>,
    number: i64,
    max_line_bytes: usize,
}

impl Lines {
    /// The next line that is not blank, as a record keyed by its inline session. A line beyond the limit is cut there, so that
    /// the limit refuses it without holding it.
    fn next(&mut self) -> std::io::Result<Option<RawRecord>> {
        loop {
            let mut line = Vec::new();
            let read = (&mut self.input).take(self.max_line_bytes as u64 + 1).read_until(b'\n', &mut line)?;
            if read == 0 {
                return Ok(None);
            }
            if line.len() > self.max_line_bytes && !line.ends_with(b"\n") {
                self.input.skip_until(b'\n')?;
            }
            self.number += 1;
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            #[derive(serde::Deserialize)]
            struct Key {
                session: Option<String>,
            }
            let key = serde_json::from_slice::<Key>(&line).ok().and_then(|k| k.session).map(String::into_bytes);
            // What is not JSON is refused for that, not for the key it could not show.
            let key = key.or_else(|| serde_json::from_slice::<serde::de::IgnoredAny>(&line).is_err().then(|| b"-".to_vec()));
            return Ok(Some(RawRecord { offset: self.number - 1, key, payload: Some(line), ..RawRecord::default() }));
        }
    }
}
