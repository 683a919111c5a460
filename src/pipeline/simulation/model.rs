//! The simulated model and the words that are said.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::machine::Dice;
use crate::infer::states::StateSizes;
use crate::infer::{ModelError, Row, RowTags, States, Tagger};
use crate::tags::{Case, Disfluency, Itn, ItnClass, Punct, Tags};

/// Sizes of the simulated states: one value a token.
const SIZES: StateSizes = StateSizes { slabs: 1, heads: 1, size: 1, slots: 64 };

/// Tags that depend on everything that a row shows, and on the kept states.
pub struct SimulatedTagger {
    /// one batch in so many fails; 0: none
    pub fails: u64,
    /// draws them
    pub dice: Dice,
}

impl Tagger for SimulatedTagger {
    fn tag(&mut self, rows: &[&Row], states: &mut [States]) -> Result<Vec<RowTags>, ModelError> {
        if self.dice.once_in(self.fails) {
            return Err(ModelError("the simulated device fails".into()));
        }
        let turn = |row: &Row| row.closed.then(|| turn_after(row.tokens[row.tokens.len() - 2]));
        let tag = |(row, states): (&&Row, &mut States)| RowTags { tags: tag(row, states), turn: turn(row) };
        Ok(rows.iter().zip(states).map(tag).collect())
    }
}

/// How likely a complete turn is after a word, by its last token alone.
fn turn_after(token: u32) -> f32 {
    (token.wrapping_mul(0x9e37_79b9) >> 8 & 0xff) as f32 / 255.0
}

fn tag(row: &Row, states: &mut States) -> Vec<Tags> {
    let mut seen = DefaultHasher::new();
    (states.kept, &states.positions).hash(&mut seen);
    if states.kept > 0 {
        states.by_head(SIZES).for_each(|values| values.hash(&mut seen));
    }
    let seen = seen.finish();
    let tags = row.first.iter().map(|first| {
        let mut h = DefaultHasher::new();
        (seen, first, row.before, &row.tokens).hash(&mut h);
        let h = h.finish();
        Tags {
            punct: Punct::ALL[if h.is_multiple_of(5) { (h >> 8) as usize % 4 } else { 0 }],
            case: Case::ALL[(h >> 16) as usize % 4],
            itn: match (h >> 24) % 8 {
                0 => Itn::B(ItnClass::Time),
                1 | 2 => Itn::I(ItnClass::Time),
                _ => Itn::O,
            },
            disfluency: Disfluency::ALL[if (h >> 32).is_multiple_of(6) { (h >> 40) as usize % Disfluency::ALL.len() } else { 0 }],
        }
    });
    let tags = tags.collect();
    for token in row.tokens.iter().take(row.keep.map_or(0, |keep| keep.tokens as usize)) {
        states.push(&[*token as i8], &[1.0], SIZES);
    }
    tags
}

const SOUNDS: [&str; 12] = ["ba", "ko", "lu", "mi", "ne", "po", "ra", "si", "tu", "ve", "wo", "za"];

/// A word that no grammar knows: four syllables, so that words hardly ever repeat.
pub fn word(dice: &mut Dice) -> String {
    (0..4).map(|_| SOUNDS[dice.roll(SOUNDS.len() as u64) as usize]).collect()
}
