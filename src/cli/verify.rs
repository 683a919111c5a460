//! `faircopy verify`: are published segments what this program makes of the raw records?

use std::process::ExitCode;
use std::sync::Arc;

use serde_json::json;

use super::{Cli, Failure, print, start_log, stretch};
use crate::compare::verify::{Finding, Findings, Verdict, verify as verify_partition};
use crate::pipeline::Shared;

/// Exit code where nothing is wrong, and not everything could be made again.
const NOT_PROVEN: u8 = 7;

/// Arguments of `verify`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: stretch::StretchArgs,
    /// Show so many of the segments that are not the same
    #[arg(long, default_value_t = 20)]
    sample: usize,
    /// Show the published values of these, and the values made again: transcripts
    #[arg(long)]
    show: bool,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// Verifies. Exit code 0: all bytes are the same; 1: some differ; 7: none differ, and not all could be made again.
pub fn verify(cli: &Cli, args: &Args) -> Result<ExitCode, Failure> {
    let mut settings = args.which.offline(cli.settings()?);
    settings.output.origin = true; // to be compared with the segments' own
    start_log(&settings)?;
    if args.which.file.is_some() && args.which.formatted.is_none() {
        let message = "--file without --formatted: expected the file of published segments as well".into();
        return Err(Failure { message, code: 2 });
    }
    let stretch = args.which.read(&settings)?;
    let shared = Arc::new(Shared::load(settings)?);
    let mut found = Findings::default();
    for part in &stretch.partitions {
        let made = part.remake(&shared, &part.timing(&stretch.published), None)?;
        found.add(verify_partition(part, &stretch.published, &made));
    }
    print(&report(&found, args))?;
    Ok(if found.is_wrong() {
        ExitCode::from(1)
    } else if found.is_proven() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(NOT_PROVEN)
    })
}

fn report(found: &Findings, args: &Args) -> String {
    let shown = &found.findings[..args.sample.min(found.findings.len())];
    let total: usize = found.verdicts.values().sum();
    if args.json {
        let finding = |finding: &Finding| {
            let mut value = serde_json::to_value(finding).expect("findings are JSON");
            if args.show {
                (value["published"], value["made"]) = (finding.published.as_str().into(), finding.made.as_str().into());
            }
            value
        };
        return json!({
            "segments": total,
            "verdicts": found.verdicts,
            "without_origin": found.without_origin,
            "degraded": found.degraded,
            "sample": shown.iter().map(finding).collect::<Vec<_>>(),
        })
        .to_string()
            + "\n";
    }
    let mut text = format!("{total} segments, {} with the same bytes\n", found.count(Verdict::Same));
    for (verdict, count) in found.verdicts.iter().filter(|(verdict, _)| **verdict != Verdict::Same) {
        text += &format!("  {count} {}\n", verdict.name());
    }
    if found.without_origin > 0 {
        text += &format!("{} carry no origin (output.origin): with what they were made is not known\n", found.without_origin);
    }
    if found.degraded > 0 {
        text += &format!("{} are degraded: some of their words went out as spoken\n", found.degraded);
    }
    for finding in shown {
        let Finding { session, channel, epoch, seq, verdict, first_byte, fields, origins, published, made } = finding;
        text += &format!("{session} {channel:?} epoch {epoch} segment {seq}: {}", verdict.name());
        text += &first_byte.map_or(String::new(), |at| format!(", from byte {at} on ({})", fields.join(", ")));
        text += &origins.as_ref().map_or(String::new(), |[theirs, ours]| format!(", made with {theirs}; loaded is {ours}"));
        text.push('\n');
        if args.show {
            text += &format!("  published: {published}\n  made:      {made}\n");
        }
    }
    if shown.len() < found.findings.len() {
        text += &format!("{} more; --sample shows more of them\n", found.findings.len() - shown.len());
    }
    text
}
