//! The program `faircopy`. `faircopy help` lists the commands; the library's documentation says how they work.

use std::process::ExitCode;

use clap::Parser;
use faircopy::cli::{Cli, Command, config, dead_letters, demo, docs, eval, format, grammar, itn, run, sessions, topics};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match &cli.command {
        Command::Run => run::run(&cli),
        Command::Format(args) => format::format(&cli, args),
        Command::Eval(args) => eval::eval(&cli, args),
        Command::Grammar(args) => grammar::grammar(&cli, args),
        Command::Itn(args) => itn::itn(&cli, args),
        Command::Demo(args) => demo::demo(&cli, args),
        Command::Topics(args) => topics::topics(&cli, args),
        Command::DeadLetters(args) => dead_letters::dead_letters(&cli, args),
        Command::Sessions(args) => sessions::sessions(&cli, args),
        Command::Config(args) => config::config(&cli, args),
        Command::Docs(args) => docs::docs(&cli, args),
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("error: {}", failure.message);
            ExitCode::from(failure.code)
        }
    }
}
