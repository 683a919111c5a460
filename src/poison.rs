//! For the tests: a debug build panics at a word, as a bug that no check foresees would.

use std::sync::LazyLock;

/// The word that poisons, without its stage: what the environment names, and in unit tests always the same.
static WORD: LazyLock<Option<String>> =
    LazyLock::new(|| if cfg!(test) { Some("poisonous".into()) } else { std::env::var("FAIRCOPY_PANIC_ON").ok() });

/// Panics in a debug build if one of `words` is the poisonous one of this stage: with `FAIRCOPY_PANIC_ON=poisonous`, `poisonous-writing` is that of the stage
/// `writing`.
#[track_caller]
pub fn strike<'a>(stage: &str, mut words: impl Iterator<Item = &'a str>) {
    if !cfg!(debug_assertions) {
        return;
    }
    let Some(word) = WORD.as_deref() else { return };
    if let Some(found) = words.find(|w| w.strip_prefix(word).and_then(|rest| rest.strip_prefix('-')) == Some(stage)) {
        panic!("poisoned by {found:?}"); // with the word, as the message of a bug may have it
    }
}
