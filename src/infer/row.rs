//! One row of a batch: the words of one pass as the model's input.

use crate::tags::Tilt;

/// Tokens of a row at most: the encoder's positions.
pub const MAX_TOKENS: usize = 512;
/// Words of a window at most: with two sub-tokens each they fit the model's positions.
pub const MAX_WINDOW_WORDS: u64 = (MAX_TOKENS as u64 - 2) / 2;
/// Sub-tokens kept of a word; training does the same.
pub const MAX_TOKENS_PER_WORD: usize = 8;

/// What all rows of a profile have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Frame {
    /// which of the process's models
    pub model: usize,
    /// first token of every row; belongs to word -1, so that every word may attend to it
    pub cls: u32,
    /// last token of a row whose speaker has stopped; belongs to the word after the last, so that the mask holds for it. Other
    /// rows have none: it would tell a word where the text ends beyond its lookahead
    pub sep: u32,
    /// the kind of speech, of the model's styles
    pub style: u32,
    /// towards more marks and disfluencies, or fewer
    pub tilt: Tilt,
}

/// Model input for one stream's window.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// what it has in common with others
    pub frame: Frame,
    /// token ids, `cls` first
    pub tokens: Vec<u32>,
    /// each token's word, counted from the row's first word; -1 for `cls`
    pub words: Vec<i32>,
    /// position of each word's first token: where its tags are read
    pub first: Vec<u32>,
    /// later words a word may attend to; `None` is all
    pub lookahead: Option<u32>,
}

impl Row {
    /// Packs words into a row. Where they need more than [`MAX_TOKENS`], the oldest of the first `history` words are left
    /// out, then every word keeps fewer sub-tokens. The row's words are the last of `words`. `stopped`: the recogniser said that
    /// speech ended with the last word, and nothing followed.
    ///
    /// # Panics
    /// If `words` without history are more than fit with one token each; `config` checks the limits that exclude it.
    pub fn pack(frame: Frame, words: &[&[u32]], history: usize, lookahead: Option<u32>, stopped: bool) -> Row {
        let room = MAX_TOKENS - 2;
        let mut keep = MAX_TOKENS_PER_WORD;
        let cost = |words: &[&[u32]], keep: usize| words.iter().map(|w| w.len().min(keep)).sum::<usize>();
        let mut total = cost(words, keep);
        let mut skipped = 0;
        while total > room && skipped < history {
            total -= words[skipped].len().min(keep);
            skipped += 1;
        }
        let words = &words[skipped..];
        assert!(words.len() <= room, "a window of {} words cannot fit {MAX_TOKENS} tokens", words.len());
        while cost(words, keep) > room {
            keep -= 1;
        }
        let mut row = Row { frame, tokens: vec![frame.cls], words: vec![-1], first: Vec::with_capacity(words.len()), lookahead };
        for (i, word) in words.iter().enumerate() {
            row.first.push(row.tokens.len() as u32);
            for &token in word.iter().take(keep) {
                row.tokens.push(token);
                row.words.push(i as i32);
            }
        }
        if stopped {
            row.tokens.push(frame.sep);
            row.words.push(words.len() as i32);
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame =
        Frame { model: 0, cls: 101, sep: 102, style: 0, tilt: Tilt { comma: 0.0, period: 0.0, question: 0.0, disfluency: 0.0 } };

    #[test]
    fn a_row_points_at_each_words_first_token() {
        let row = Row::pack(FRAME, &[&[7], &[8, 9], &[10]], 0, Some(9), true);
        assert_eq!(row.tokens, [101, 7, 8, 9, 10, 102]);
        assert_eq!(row.words, [-1, 0, 1, 1, 2, 3]);
        assert_eq!(row.first, [1, 2, 4]);
    }

    #[test]
    fn a_full_row_gives_up_history_first_and_then_sub_tokens() {
        let word: &[u32] = &[1, 2, 3, 4];
        let row = Row::pack(FRAME, &vec![word; 150], 48, None, false);
        assert_eq!(row.first.len(), 127, "150 words less the 23 oldest");
        let row = Row::pack(FRAME, &vec![word; 250], 48, None, false);
        assert_eq!(row.first.len(), 202, "no history left");
        assert_eq!(row.tokens.len(), 1 + 202 * 2);
    }
}
