//! The one table of what may stand inside a number, a code or an answer without ending it.
//!
//! People correct themselves, count groups off, and are encouraged by the other side while they read a number. None of
//! these words is part of the secret, and none of them ends it.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Why a word may stand inside an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// a sign that is said: "dash"
    Sign,
    /// the speaker begins again: "no wait"
    Correction,
    /// leads to the next group: "and then it's"
    Lead,
    /// the other side says that it listens: "got it", "go ahead"
    BackChannel,
}

const INSIDE: [(Why, &str); 4] = [
    (Why::Sign, "dash hyphen slash space point dot comma period plus"),
    (Why::Correction, "sorry no not wait i mean oops correction rather actually scratch strike"),
    (
        Why::Lead,
        "and then it is that so let me see a the next last like you know well hold on hang now just was followed by unk again finally lastly pause",
    ),
    (Why::BackChannel, "okay ok yeah yes yep right alright sure got perfect go ahead rest carry keep going continue"),
];

static WHY: LazyLock<HashMap<&str, Why>> =
    LazyLock::new(|| INSIDE.iter().flat_map(|(why, words)| words.split(' ').map(|word| (word, *why))).collect());

/// Whether a part may stand between digits of one number.
pub(super) fn joins(part: &str) -> bool {
    WHY.contains_key(part)
}

/// Whether a part says that what came before it was wrong.
pub(super) fn corrects(part: &str) -> bool {
    WHY.get(part) == Some(&Why::Correction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_that_may_stand_inside_has_one_reason() {
        let words: Vec<&str> = INSIDE.iter().flat_map(|(_, words)| words.split(' ')).collect();
        assert_eq!(words.len(), WHY.len());
        assert!(joins("ahead") && corrects("not") && !corrects("ahead") && !joins("cat"));
    }
}
