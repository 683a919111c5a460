//! `faircopy sessions erase KEY`

use std::process::ExitCode;

use super::{Cli, Failure, runtime};
use crate::produce::raw::RawSender;
use crate::produce::topics;
use crate::record::ERASE;

/// Arguments of `sessions`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Forget a session: its open words are not formatted, and its state leaves the changelog. Says what it cannot reach
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
    let runtime = runtime();
    runtime.block_on(sender.send(&settings.topics.raw, Some(key.as_bytes()), None, &headers))?;
    eprintln!("{}: the order is given; its worker logs \"session erased\"", settings.topics.raw);
    eprintln!("It reaches the session's unreleased words and state. It does not reach what is written already:");
    for (topic, kept) in runtime.block_on(topics::retention(&settings)) {
        eprintln!("  {topic}: {}", left(kept));
    }
    eprintln!("  {}: old states, until the broker compacts it", settings.topics.changelog);
    eprintln!("  copies, mirrors and backups of these topics, and what their readers have stored");
    Ok(ExitCode::SUCCESS)
}

/// How long a topic's records stay.
fn left(retention_ms: Option<i64>) -> String {
    match retention_ms {
        None => "its records stay as long as the topic keeps them; the broker did not say how long".into(),
        Some(..0) => "its records stay for ever: retention.ms is -1".into(),
        Some(ms) => format!("its records stay {:.1} hours, and until their segment is closed", ms as f64 / 3_600_000.0),
    }
}
