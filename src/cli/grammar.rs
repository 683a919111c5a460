//! `faircopy grammar`: help for people who write grammars.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{Cli, Failure, print};
use crate::format::itn::ast::GrammarError;
use crate::format::itn::network::units;
use crate::format::itn::source::read_dir;
use crate::format::itn::{Itn, openfst};
use crate::tags::ItnClass;

/// Arguments of `grammar`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
    /// Directory of .itn files; format.grammar_dir if none
    #[arg(long, global = true)]
    pub dir: Option<PathBuf>,
}

/// What to do with grammars.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Compile them and say how large they are, or what is wrong where
    Check,
    /// Write the spans of a file and compare: lines of class, spoken, written, separated by tabs; "-" for a span that stays as spoken
    Test {
        /// the file
        cases: PathBuf,
    },
    /// Show which classes accept some words, what they write, and which rules fired
    Explain {
        /// the words, such as "four thirty p m"
        words: String,
        /// this class only
        #[arg(long)]
        class: Option<String>,
    },
    /// Ways to say something written, one a line: what this class writes so
    Verbalize {
        /// label of the class
        class: String,
        /// written form, such as "4:30 PM"
        text: String,
        /// so many of them at most, chosen by --seed
        #[arg(long)]
        sample: Option<usize>,
        /// another seed chooses others
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Write a class's transducer as a file of OpenFst
    Export {
        /// label of the class
        class: String,
        /// the file
        file: PathBuf,
    },
}

impl From<GrammarError> for Failure {
    fn from(e: GrammarError) -> Failure {
        Failure { message: e.to_string(), code: 2 }
    }
}

/// Runs a subcommand. Exit code 1 where cases are written differently, or no class accepts the words; 2 for a grammar that is wrong.
pub fn grammar(cli: &Cli, args: &Args) -> Result<ExitCode, Failure> {
    let dir = match &args.dir {
        Some(dir) => dir.clone(),
        None => cli.settings()?.format.grammar_dir,
    };
    let began = Instant::now();
    match &args.command {
        Command::Check => {
            let itn = Itn::load(&dir)?;
            let (states, transitions) = itn.size();
            let classes: Vec<&str> = itn.classes().collect();
            print(&format!(
                "{}: {} classes ({}), {states} states, {transitions} transitions, compiled in {} ms\n",
                dir.display(),
                classes.len(),
                classes.join(" "),
                began.elapsed().as_millis()
            ))?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Test { cases } => test(&Itn::load(&dir)?, cases),
        Command::Explain { words, class } => {
            let lower = words.to_lowercase();
            let words: Vec<&str> = lower.split_whitespace().collect();
            let itn = Itn::compile(read_dir(&dir)?, true)?;
            let mut readings = itn.explain(&words);
            readings.retain(|r| class.as_ref().is_none_or(|c| r.class.eq_ignore_ascii_case(c)));
            let mut out = String::new();
            for reading in &readings {
                let cost = units(reading.written.cost);
                out.push_str(&format!("{}  {:?}  cost {cost:.3}\n", reading.class, reading.written.text));
                for f in &reading.fired {
                    let (said, wrote) = (&f.said, &f.wrote);
                    out.push_str(&format!("    {said:?} -> {wrote:?}  by {} at {}, cost {}\n", f.rule, f.place, f.cost));
                }
            }
            if readings.is_empty() {
                out = format!("no class accepts {lower:?}: it stays as spoken\n");
            }
            print(&out)?;
            Ok(ExitCode::from(u8::from(readings.is_empty())))
        }
        Command::Verbalize { class, text, sample, seed } => {
            let itn = Itn::load(&dir)?;
            let mut readings = itn.verbalise(class, text, usize::MAX).ok_or_else(|| no_class(&itn, class))?;
            if let Some(most) = sample {
                readings.sort_by_key(|r| xxh3_64_with_seed(r.join(" ").as_bytes(), *seed));
                readings.truncate(*most);
            }
            print(&readings.iter().map(|r| r.join(" ") + "\n").collect::<String>())?;
            if readings.is_empty() {
                eprintln!("{class} writes nothing as {text:?}");
            }
            Ok(ExitCode::from(u8::from(readings.is_empty())))
        }
        Command::Export { class, file } => {
            let itn = Itn::load(&dir)?;
            let fst = itn.export(class).ok_or_else(|| no_class(&itn, class))?;
            openfst::save(&fst, file).map_err(|e| Failure { message: format!("{}: {e}", file.display()), code: 1 })?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn no_class(itn: &Itn, class: &str) -> Failure {
    let known: Vec<&str> = itn.classes().collect();
    Failure { message: format!("class {class:?}: expected one of {}", known.join(", ")), code: 2 }
}

fn test(itn: &Itn, cases: &PathBuf) -> Result<ExitCode, Failure> {
    let fail = |message: String| Failure { message: format!("{}{message}", cases.display()), code: 2 };
    let text = std::fs::read_to_string(cases).map_err(|e| fail(format!(": {e}")))?;
    let (mut right, mut wrong, mut out) = (0, 0, String::new());
    for (i, line) in text.lines().enumerate().filter(|(_, l)| !l.is_empty() && !l.starts_with('#')) {
        let [label, spoken, expected] = line.split('\t').collect::<Vec<_>>()[..] else {
            return Err(fail(format!(":{}: expected class, spoken and written form, separated by tabs", i + 1)));
        };
        let class = ItnClass::ALL.into_iter().find(|c| c.label() == label);
        let class = class.ok_or_else(|| {
            let known: Vec<&str> = ItnClass::ALL.iter().map(|c| c.label()).collect();
            fail(format!(":{}: class {label:?}, expected one of {}", i + 1, known.join(", ")))
        })?;
        let words: Vec<&str> = spoken.split_whitespace().collect();
        let got = itn.write(class, &words).map_or("-".into(), |w| w.text);
        if got == expected {
            right += 1;
        } else {
            wrong += 1;
            out.push_str(&format!("{}:{}: {spoken:?} as {label}: expected {expected:?}, got {got:?}\n", cases.display(), i + 1));
        }
    }
    print(&format!("{out}{right} right, {wrong} wrong\n"))?;
    Ok(ExitCode::from(u8::from(wrong > 0)))
}
