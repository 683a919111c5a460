//! A sample of what a profile and its challenger write otherwise. Pure.
//!
//! The profile and the challenger may redact different things, so either form may show what the other one hides. A
//! sample shows no word that either form hides: a place with something redacted in it is shown as [`HIDDEN`] in both
//! forms, and is no sample itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::difference::{Change, FormPlace, text};

/// What a sample shows of a place at which something is redacted.
pub const HIDDEN: &str = "[REDACTED]";
/// Places shown before and after the one that differs.
const AROUND: usize = 6;

/// One record of the shadow topic. Its Kafka key is `session`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
pub struct ShadowSample {
    /// the raw record's key
    #[cfg_attr(feature = "docs", schemars(with = "String"))]
    pub session: Arc<str>,
    /// speaker track
    #[cfg_attr(feature = "docs", schemars(with = "String"))]
    pub channel: Arc<str>,
    /// offset of the raw record that opened the stream's run
    pub epoch: i64,
    /// the published profile
    #[cfg_attr(feature = "docs", schemars(with = "String"))]
    pub profile: Arc<str>,
    /// the profile in its shadow
    #[cfg_attr(feature = "docs", schemars(with = "String"))]
    pub challenger: Arc<str>,
    /// what differs, and where
    #[serde(flatten)]
    pub place: SampledPlace,
}

/// The place that a sample shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
pub struct SampledPlace {
    /// input words of the epoch, half-open: those that are written otherwise
    pub src: [u64; 2],
    /// in what they differ
    pub kinds: BTreeSet<Change>,
    /// what the profile published, with some words before and after
    pub published: String,
    /// what the challenger makes of the same words
    pub instead: String,
}

/// Shows the places that differ, up to `most` of them. Places with something redacted in either form are left out, and
/// so are those whose text is the same.
pub fn sampled(places: &[FormPlace], most: usize) -> Vec<SampledPlace> {
    let shown = |at: usize| {
        let place = &places[at];
        let kinds = place.changes();
        if kinds.is_empty() || is_hidden(place) {
            return None;
        }
        let near = &places[at.saturating_sub(AROUND)..places.len().min(at + AROUND + 1)];
        let [published, instead] = [form(near, |place| place.a), form(near, |place| place.b)];
        (published != instead).then_some(SampledPlace { src: place.src, kinds, published, instead })
    };
    (0..places.len()).filter_map(shown).take(most).collect()
}

/// Whether either form hides something of the place. The tokens of the other form that share words with what is hidden
/// are all of the same place.
fn is_hidden(place: &FormPlace) -> bool {
    place.a.iter().chain(place.b).any(|piece| piece.redacted)
}

/// One form of some places, as it may be shown.
fn form<'a>(places: &[FormPlace<'a>], side: impl Fn(&FormPlace<'a>) -> &'a [super::difference::FormPiece]) -> String {
    let mut shown: Vec<String> = Vec::new();
    for place in places {
        let words = if is_hidden(place) { HIDDEN.to_string() } else { text(side(place)) };
        let again = words == HIDDEN && shown.last().is_some_and(|last| last == HIDDEN);
        if !words.is_empty() && !again {
            shown.push(words);
        }
    }
    shown.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::difference::{FormPiece, pieces, places};
    use crate::record::{Entity, Removed, Segment, Stage, WrittenWord};
    use proptest::prelude::*;

    /// How a form treats some input words.
    #[derive(Clone, Debug)]
    enum Treated {
        /// one token a word
        Spoken,
        /// one token of an entity
        Entity,
        /// a mask or a name, as redaction leaves them
        Masked,
        /// redacted, and gone
        Dropped,
        /// a filler, as said
        Removed,
        /// a filler inside something redacted
        RemovedAndHidden,
    }

    fn treated() -> impl Strategy<Value = Treated> {
        prop_oneof![
            4 => Just(Treated::Spoken),
            1 => Just(Treated::Entity),
            1 => Just(Treated::Masked),
            1 => Just(Treated::Dropped),
            1 => Just(Treated::Removed),
            1 => Just(Treated::RemovedAndHidden),
        ]
    }

    /// A form of the input words `w0 w1 …`: runs of them, each treated in one way.
    fn form_of(runs: &[(usize, Treated, bool)]) -> (Segment, BTreeSet<u64>) {
        let value = serde_json::json!({
            "session": "s", "channel": "", "epoch": 0, "seq": 0, "kind": "final", "text": "", "model": "m", "profile": "p",
        });
        let mut segment: Segment = serde_json::from_value(value).unwrap();
        let (mut at, mut hidden) = (0, BTreeSet::new());
        for (length, treated, upper) in runs {
            let src = [at, at + *length as u64];
            at = src[1];
            let spoken = (src[0]..src[1]).map(|n| format!("w{n}x")).collect::<Vec<_>>();
            let token = |text: String, src| WrittenWord { text, s: None, e: None, c: None, speaker: None, lang: None, src };
            let mut entity = |text: &str, spoken: &str| {
                segment.words.push(token(text.to_string(), src));
                let words = [segment.words.len() - 1, segment.words.len()];
                let class = "pin".to_string();
                let (written, spoken) = (text.to_string(), spoken.to_string());
                segment.entities.push(Entity { class, written, spoken, words, src, stage: Stage::Grammar, valid: None });
            };
            match treated {
                Treated::Spoken => segment.words.extend((src[0]..src[1]).map(|n| {
                    let text = format!("{}{n}x", if *upper { 'W' } else { 'w' });
                    token(text, [n, n + 1])
                })),
                Treated::Entity => entity(&spoken.join("-"), &spoken.join(" ")),
                Treated::Masked => entity("*****", "[PIN]"),
                Treated::Dropped => {
                    segment.removed.push(Removed { class: "redacted".into(), spoken: "[PIN]".into(), src });
                }
                Treated::Removed => {
                    segment.removed.push(Removed { class: "filler".into(), spoken: spoken.join(" "), src });
                }
                Treated::RemovedAndHidden => {
                    segment.removed.push(Removed { class: "filler".into(), spoken: "uh [PIN]".into(), src });
                }
            }
            if matches!(treated, Treated::Masked | Treated::Dropped | Treated::RemovedAndHidden) {
                hidden.extend(src[0]..src[1]);
            }
        }
        (segment, hidden)
    }

    fn in_order(segment: &Segment) -> Vec<FormPiece> {
        let mut all = pieces(segment);
        all.sort_by_key(|piece| piece.src[0]);
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn no_word_that_either_form_hides_is_in_a_sample(
            a in prop::collection::vec((1usize..5, treated(), any::<bool>()), 1..20),
            b in prop::collection::vec((1usize..5, treated(), any::<bool>()), 1..20),
        ) {
            let ((first, hidden), (second, more)) = (form_of(&a), form_of(&b));
            let (first, second) = (in_order(&first), in_order(&second));
            for sample in sampled(&places(&first, &second), usize::MAX) {
                let shown = format!("{} {}", sample.published, sample.instead).to_lowercase();
                for word in hidden.union(&more) {
                    prop_assert!(!shown.contains(&format!("w{word}x")), "w{} in {}", word, shown);
                }
                prop_assert!(sample.published != sample.instead && !sample.kinds.is_empty());
            }
        }
    }

    #[test]
    fn a_sample_shows_both_forms_with_some_words_around_and_hides_what_either_redacts() {
        let spoken = |upper| (1, Treated::Spoken, upper);
        let mut a: Vec<_> = (0..20).map(|_| spoken(false)).collect();
        let mut b = a.clone();
        b[10] = spoken(true);
        (a[12].1, b[7].1) = (Treated::Masked, Treated::Dropped);
        b[13] = spoken(true);
        let ((first, _), (second, _)) = (form_of(&a), form_of(&b));
        let (first, second) = (in_order(&first), in_order(&second));
        let all = places(&first, &second);
        let found = sampled(&all, 9);
        assert_eq!(found.len(), 2, "the two that are redacted are no samples");
        assert_eq!((found[0].src, &found[0].kinds), ([10, 11], &BTreeSet::from([Change::Case])));
        assert_eq!(found[0].published, "w4x w5x w6x [REDACTED] w8x w9x w10x w11x [REDACTED] w13x w14x w15x w16x");
        assert_eq!(found[0].instead, "w4x w5x w6x [REDACTED] w8x w9x W10x w11x [REDACTED] W13x w14x w15x w16x");
        assert_eq!(sampled(&all, 1).len(), 1);
    }
}
