//! `faircopy sessions erase KEY`

use std::process::ExitCode;

use super::{Cli, Failure, runtime};
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

/// Puts the order where the session's records are, so that it is obeyed between two of them by whoever owns the partition.
pub fn sessions(cli: &Cli, args: &Args) -> Result<ExitCode, Failure> {
    let Verb::Erase { key } = &args.command;
    let settings = cli.settings()?;
    let sender = RawSender::new(&settings)?;
    let headers = [(ERASE.to_string(), Some(Vec::new()))];
    runtime().block_on(sender.send(&settings.topics.raw, Some(key.as_bytes()), None, &headers))?;
    eprintln!("{}: the order is given; its worker logs \"session erased\"", settings.topics.raw);
    Ok(ExitCode::SUCCESS)
}
