//! Who says a line on which channel, and in what pieces a recogniser sends it.

use super::corpus::{Heard, Line, Piece};
use crate::playing::{Layout, Said, Step};

/// In what pieces the words come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pace {
    /// every turn grows word by word as a hypothesis before it is final
    Live,
    /// every turn is one final record
    Turns,
    /// one to three final words at a time, with a moment between them
    Words,
}

pub const PACES: [Pace; 3] = [Pace::Live, Pace::Turns, Pace::Words];

pub fn layouts(line: &Line) -> &'static [Layout] {
    if line.has_two_sides() { &[Layout::Mono, Layout::Diarised, Layout::TwoChannels] } else { &[Layout::Mono] }
}

/// A line on its channels.
pub struct Staged {
    pub steps: Vec<Step>,
    /// the words of each channel, in the order in which `src` counts them
    pub channels: [Vec<Heard>; 2],
}

pub fn stage(line: &Line, layout: Layout, pace: Pace) -> Staged {
    let mut staged = Staged { steps: Vec::new(), channels: [Vec::new(), Vec::new()] };
    for turn in &line.turns {
        let (channel, speaker) = layout.place(turn.by_agent);
        let mut run: Vec<Heard> = Vec::new();
        for piece in &turn.pieces {
            match piece {
                Piece::Word(heard) => run.push(heard.clone()),
                Piece::Silence(ms) => {
                    staged.say(channel, speaker, pace, std::mem::take(&mut run));
                    staged.steps.push(Step::Pause(*ms));
                }
            }
        }
        staged.say(channel, speaker, pace, run);
        staged.steps.push(Step::Pause(400));
    }
    staged.steps.push(Step::Say { channel: 0, speaker: None, words: Vec::new(), is_final: true, end: Some("session") });
    staged
}

impl Staged {
    fn say(&mut self, channel: usize, speaker: Option<&'static str>, pace: Pace, run: Vec<Heard>) {
        let said = |heard: &Heard| Said { word: heard.word.clone(), secret: heard.class };
        let words: Vec<Said> = run.iter().map(said).collect();
        let mut step = |words: &[Said], is_final| {
            if !words.is_empty() {
                self.steps.push(Step::Say { channel, speaker, words: words.to_vec(), is_final, end: None });
            }
        };
        match pace {
            Pace::Live => {
                (1..=words.len()).for_each(|n| step(&words[..n], false));
                step(&words, true);
            }
            Pace::Turns => step(&words, true),
            Pace::Words => {
                let mut at = 0;
                for n in [1, 3, 2].into_iter().cycle() {
                    let until = (at + n).min(words.len());
                    step(&words[at..until], true);
                    at = until;
                    if at == words.len() {
                        break;
                    }
                }
            }
        }
        self.channels[channel].extend(run);
    }
}
