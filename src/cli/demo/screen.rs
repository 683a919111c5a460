//! The terminal: released text solid, the tail below it dim where it may still change. Plain lines where output is no
//! terminal.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write, stdout};

use super::tally::Tally;
use crate::record::Segment;

const DIM: &str = "\x1b[2m";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";
const ERASE_LINE_UP: &str = "\x1b[1A\x1b[2K";

/// What is on the screen, and the transcript so far.
pub struct Screen {
    terminal: bool,
    width: usize,
    tails: BTreeMap<String, (String, String)>,
    drawn: usize,
    /// start of the first word, channel, text
    lines: Vec<(f64, String, String)>,
}

impl Screen {
    /// An empty screen.
    pub fn new() -> Screen {
        let width = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok()).unwrap_or(100);
        Screen { terminal: stdout().is_terminal(), width, tails: BTreeMap::new(), drawn: 0, lines: Vec::new() }
    }

    /// Released words: solid for good.
    pub fn release(&mut self, segment: &Segment) {
        self.erase();
        if !segment.text.is_empty() {
            if self.terminal {
                println!("{BOLD}{:>9}{PLAIN}  {}", segment.channel, segment.text);
            } else {
                println!("{:>9}  {}", segment.channel, segment.text);
            }
            let start = segment.words.first().and_then(|w| w.s).unwrap_or(0.0);
            self.lines.push((start, segment.channel.to_string(), segment.text.clone()));
        }
        self.tails.remove(&*segment.channel);
        self.draw();
    }

    /// A tail as it looks now.
    pub fn tail(&mut self, segment: &Segment) {
        let frozen = segment.frozen.unwrap_or(0).min(segment.words.len());
        let text = |words: &[crate::record::WrittenWord]| words.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ");
        self.erase();
        self.tails.insert(segment.channel.to_string(), (text(&segment.words[..frozen]), text(&segment.words[frozen..])));
        self.draw();
    }

    /// A channel ended: it has no tail.
    pub fn end(&mut self, segment: &Segment) {
        self.erase();
        self.tails.remove(&*segment.channel);
        self.draw();
    }

    /// Removes the tails.
    pub fn finish(&mut self) {
        self.erase();
    }

    fn erase(&mut self) {
        for _ in 0..std::mem::take(&mut self.drawn) {
            print!("{ERASE_LINE_UP}");
        }
    }

    fn draw(&mut self) {
        if self.terminal {
            for (channel, (solid, dim)) in self.tails.iter().filter(|(_, (solid, dim))| !(solid.is_empty() && dim.is_empty())) {
                // One line a channel, so that erasing is exact: the end of a long tail is what matters.
                let room = self.width.saturating_sub(14);
                let length = solid.chars().count() + dim.chars().count() + 1;
                let skip = length.saturating_sub(room);
                let solid: String = solid.chars().skip(skip).collect();
                let dim: String = dim.chars().skip(skip.saturating_sub(length - dim.chars().count())).collect();
                println!("{DIM}{channel:>9}{PLAIN}  {solid} {DIM}{dim}{PLAIN}");
                self.drawn += 1;
            }
        }
        let _ = stdout().flush(); // a closed pipe ends the demo at its next line
    }

    /// The whole transcript in the order it was said, turns joined.
    pub fn transcript(&self, tally: &Tally) {
        println!("\n--- transcript ---");
        let mut turn: Option<(&str, String)> = None;
        let mut lines: Vec<_> = self.lines.iter().collect();
        lines.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, channel, text) in lines {
            match &mut turn {
                Some((speaker, said)) if speaker == channel => {
                    said.push(' ');
                    said.push_str(text);
                }
                _ => {
                    if let Some((speaker, said)) = turn.replace((channel, text.clone())) {
                        println!("{speaker:>9}: {said}");
                    }
                }
            }
        }
        if let Some((speaker, said)) = turn {
            println!("{speaker:>9}: {said}");
        }
        println!("--- {} ---", if tally.is_sound() { "nothing lost" } else { "something is wrong" });
    }
}
