//! `faircopy sessions erase KEY`

use std::process::ExitCode;

use super::{Cli, Failure, runtime};
use crate::consume::reader::Reader;
use crate::produce::raw::RawSender;
use crate::record::ERASE;

/// Arguments of `sessions`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Forget a session: its open words are not formatted, and its state leaves the changelog. What was published stays
    Erase {
        /// The session: the key of its records
        key: String,
    },
}

/// Puts the order on every partition, so that it is obeyed between two records of the session by whoever owns them: which partition that is only their sender
/// knows.
pub fn sessions(cli: &Cli, args: &Args) -> Result<ExitCode, Failure> {
    let Verb::Erase { key } = &args.command;
    let settings = cli.settings()?;
    let sender = RawSender::new(&settings)?;
    let headers = [(ERASE.to_string(), Some(Vec::new()))];
    let raw = &settings.topics.raw;
    let partitions = Reader::new(&settings, "read_committed")?.partitions(raw)?;
    let runtime = runtime();
    for &partition in &partitions {
        runtime.block_on(sender.send(raw, Some(partition), Some(key.as_bytes()), None, &headers))?;
    }
    eprintln!("{raw}: the order is given on all {} partitions; the session's worker logs \"session erased\"", partitions.len());
    Ok(ExitCode::SUCCESS)
}
