//! `faircopy itn`: inverse text normalisation of lines of text, without a model.

use std::io::{BufRead, Write};
use std::process::ExitCode;

use super::{Cli, Failure};
use crate::format::itn::Itn;

/// Longest line, bytes.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Arguments of `itn`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// After each line, its entities: class, words from and to, written form
    #[arg(long)]
    pub entities: bool,
}

/// Reads lines of spoken words from standard input and writes each as it is read.
pub fn itn(cli: &Cli, args: &Args) -> Result<ExitCode, Failure> {
    let itn = Itn::load(&cli.settings()?.format.grammar_dir)?.with_sentences();
    let io = |e: std::io::Error| Failure { message: format!("cannot go on reading or writing: {e}"), code: 1 };
    let (mut input, mut out) = (std::io::stdin().lock(), std::io::BufWriter::new(std::io::stdout().lock()));
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if std::io::Read::take(&mut input, MAX_LINE_BYTES as u64 + 1).read_until(b'\n', &mut line).map_err(io)? == 0 {
            break;
        }
        let fail = |what: &str| Failure { message: format!("line {number}: {what}"), code: 1 };
        if line.len() > MAX_LINE_BYTES {
            return Err(fail(&format!("expected at most {MAX_LINE_BYTES} bytes; break it")));
        }
        let text = std::str::from_utf8(&line).map_err(|_| fail("expected UTF-8"))?.to_lowercase();
        let words: Vec<&str> = text.split_whitespace().collect();
        let parts = itn.sentence(&words);
        let written: Vec<&str> = parts.iter().map(|p| p.text.as_str()).collect();
        writeln!(out, "{}", written.join(" ")).map_err(io)?;
        for part in parts.iter().filter(|_| args.entities) {
            if let Some(class) = &part.class {
                writeln!(out, "\t{class}\t{}\t{}\t{}", part.words[0], part.words[1], part.text).map_err(io)?;
            }
        }
        out.flush().map_err(io)?;
    }
    Ok(ExitCode::SUCCESS)
}
