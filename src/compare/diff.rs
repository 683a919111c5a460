//! What differs between two ways to format the same words. Pure.
//!
//! Both sides say from which input words each token came. So the sides are laid over each other by input words: the
//! smallest ranges of words that no token of either side reaches out of are compared.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::published::StreamName;
use crate::pipeline::remake::Remade;
use crate::record::{Kind, Segment};

/// How a range of words differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// punctuation signs
    Marks,
    /// capitals
    Case,
    /// numbers and other entities: written otherwise, or only by one side
    Numbers,
    /// other words: removed by one side only, hidden, or spelt otherwise
    Words,
    /// the text is the same, and the class of an entity or of a removed word is not
    Classes,
    /// the segment begins or ends at another word
    Cuts,
    /// the end of the epoch: its cause or counts
    End,
    /// anything else: times, confidences, speakers, `meta`, `degraded`
    Other,
    /// only one side has the segment's words
    Missing,
}

impl Change {
    /// All changes.
    pub const ALL: [Change; 9] = [
        Change::Marks,
        Change::Case,
        Change::Numbers,
        Change::Words,
        Change::Classes,
        Change::Cuts,
        Change::End,
        Change::Other,
        Change::Missing,
    ];

    /// The change's name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Change::Marks => "marks",
            Change::Case => "case",
            Change::Numbers => "numbers",
            Change::Words => "words",
            Change::Classes => "classes",
            Change::Cuts => "cuts",
            Change::End => "end",
            Change::Other => "other",
            Change::Missing => "missing",
        }
    }
}

/// A segment that the second side makes otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// the stream's session
    pub session: String,
    /// the stream's channel
    pub channel: String,
    /// the epoch
    pub epoch: i64,
    /// number of the first side's segment; of the second side's where the first has none
    pub seq: u64,
    /// how it differs
    pub changes: BTreeSet<Change>,
    /// the first side's text
    pub a: String,
    /// what the second side makes of the same words
    pub b: String,
}

/// What was compared and found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Differences {
    /// segments and ends of the first side that were compared
    pub segments: usize,
    /// how many of them are degraded on either side: as spoken since inference failed, so they say nothing about the
    /// other side
    pub degraded: usize,
    /// segments that differ, by kind of change; a segment may have several
    pub changes: BTreeMap<Change, usize>,
    /// the segments that differ
    pub different: Vec<Difference>,
}

/// A token, or removed words, of one side.
#[derive(Clone, Copy, Debug)]
struct Piece<'a> {
    src: [u64; 2],
    text: &'a str,
    /// class of its entity, or of its removal
    class: Option<&'a str>,
    removed: bool,
}

/// The pieces of an epoch, in the order of their input words.
fn pieces<'a>(segments: &[&'a Segment]) -> Vec<Piece<'a>> {
    let mut all = Vec::new();
    for segment in segments {
        for (i, word) in segment.words.iter().enumerate() {
            let entity = segment.entities.iter().find(|e| (e.words[0]..e.words[1]).contains(&i));
            all.push(Piece { src: word.src, text: &word.text, class: entity.map(|e| e.class.as_str()), removed: false });
        }
        for removed in &segment.removed {
            all.push(Piece { src: removed.src, text: &removed.spoken, class: Some(&removed.class), removed: true });
        }
    }
    all.sort_by_key(|piece| piece.src[0]); // stable: tokens of one entity keep their order
    all
}

/// Smallest ranges of input words that no piece of either side reaches out of.
fn blocks(a: &[Piece], b: &[Piece]) -> Vec<[u64; 2]> {
    let mut ranges: Vec<[u64; 2]> = a.iter().chain(b).map(|piece| piece.src).collect();
    ranges.sort_unstable();
    let mut blocks: Vec<[u64; 2]> = Vec::new();
    for [from, to] in ranges {
        match blocks.last_mut() {
            Some(last) if from < last[1] => last[1] = last[1].max(to),
            _ => blocks.push([from, to]),
        }
    }
    blocks
}

/// The pieces within a block. Blocks are asked for in their order.
fn within<'p, 'a>(pieces: &'p [Piece<'a>], block: [u64; 2]) -> &'p [Piece<'a>] {
    let from = pieces.partition_point(|piece| piece.src[0] < block[0]);
    let to = pieces.partition_point(|piece| piece.src[0] < block[1]);
    &pieces[from..to]
}

/// The text without marks at its ends, and the marks.
fn apart(text: &str) -> (&str, (&str, &str)) {
    let is_mark = |c: char| ".,?!;:…".contains(c);
    let head = text.len() - text.trim_start_matches(is_mark).len();
    let body = text[head..].trim_end_matches(is_mark);
    (body, (&text[..head], &text[head + body.len()..]))
}

fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.collect::<Vec<_>>().join(" ")
}

/// How two sides differ in one block.
fn changes(a: &[Piece], b: &[Piece]) -> BTreeSet<Change> {
    let mut found = BTreeSet::new();
    let kept = |side: &[Piece]| side.iter().filter(|p| !p.removed).map(|p| p.text.to_string()).collect::<Vec<_>>();
    let (texts_a, texts_b) = (kept(a), kept(b));
    if texts_a != texts_b {
        let bodies = |texts: &[String]| joined(texts.iter().map(|text| apart(text).0).filter(|body| !body.is_empty()));
        let marks =
            |texts: &[String]| texts.iter().map(|t| (apart(t).1.0.to_string(), apart(t).1.1.to_string())).collect::<Vec<_>>();
        let (body_a, body_b) = (bodies(&texts_a), bodies(&texts_b));
        let is_number = |side: &[Piece]| {
            side.iter().any(|p| !p.removed && (p.class.is_some() || p.text.contains(|c: char| c.is_ascii_digit())))
        };
        if body_a == body_b {
            // Tokens that are divided otherwise have other marks inside.
            found.insert(Change::Marks);
        } else {
            if body_a.to_lowercase() == body_b.to_lowercase() {
                found.insert(Change::Case);
            } else if is_number(a) || is_number(b) {
                found.insert(Change::Numbers);
            } else {
                found.insert(Change::Words);
            }
            let outer = |marks: &[(String, String)]| (marks.first().map(|m| m.0.clone()), marks.last().map(|m| m.1.clone()));
            let (marks_a, marks_b) = (marks(&texts_a), marks(&texts_b));
            if !texts_a.is_empty() && !texts_b.is_empty() && outer(&marks_a) != outer(&marks_b) {
                found.insert(Change::Marks);
            }
        }
    } else {
        let classes = |side: &[Piece]| side.iter().map(|p| (p.src, p.removed, p.class.map(String::from))).collect::<Vec<_>>();
        if classes(a) != classes(b) {
            found.insert(Change::Classes);
        }
    }
    found
}

/// The input words of a segment; none of a segment without words.
fn range(segment: &Segment) -> Option<[u64; 2]> {
    let src = || segment.words.iter().map(|w| w.src).chain(segment.removed.iter().map(|r| r.src));
    Some([src().map(|s| s[0]).min()?, src().map(|s| s[1]).max()?])
}

/// Whether two segments are the same but for what names their maker.
fn same(a: &Segment, b: &Segment) -> bool {
    let plain = |segment: &Segment| {
        let own = Segment {
            seq: 0, // an earlier cut shifts the numbers of all later segments
            model: "".into(),
            profile: "".into(),
            origin: None,
            timing: Vec::new(),
            ..segment.clone()
        };
        serde_json::to_string(&own).expect("segments are JSON")
    };
    plain(a) == plain(b)
}

/// Segments by stream and epoch, in the order of their numbers.
fn by_epoch(made: &[Remade]) -> BTreeMap<(StreamName, i64), Vec<&Remade>> {
    let mut epochs: BTreeMap<(StreamName, i64), Vec<&Remade>> = BTreeMap::new();
    for remade in made {
        let s = &remade.segment;
        epochs.entry(((s.session.to_string(), s.channel.to_string()), s.epoch)).or_default().push(remade);
    }
    epochs.values_mut().for_each(|all| all.sort_by_key(|remade| remade.segment.seq));
    epochs
}

/// Compares what two sides made of the same records. Only segments whose last word came with a record of the
/// `stretch`, half-open in offsets, count.
pub fn differences(a: &[Remade], b: &[Remade], stretch: [i64; 2]) -> Differences {
    let mut found = Differences::default();
    let (a, b) = (by_epoch(a), by_epoch(b));
    let keys: BTreeSet<&(StreamName, i64)> = a.keys().chain(b.keys()).collect();
    for key in keys {
        let (of_a, of_b) = (a.get(key).map(Vec::as_slice), b.get(key).map(Vec::as_slice));
        epoch(key, of_a.unwrap_or_default(), of_b.unwrap_or_default(), stretch, &mut found);
    }
    found
}

fn epoch(key: &(StreamName, i64), a: &[&Remade], b: &[&Remade], stretch: [i64; 2], found: &mut Differences) {
    let ((session, channel), epoch) = key;
    let counts = |remade: &&&Remade| (stretch[0]..stretch[1]).contains(&remade.offset.unwrap_or(*epoch));
    let finals = |side: &[&Remade]| -> Vec<Segment> {
        side.iter().filter(|r| r.segment.kind == Kind::Final).map(|r| r.segment.clone()).collect()
    };
    let (all_a, all_b) = (finals(a), finals(b));
    let (pieces_a, pieces_b) = (pieces(&all_a.iter().collect::<Vec<_>>()), pieces(&all_b.iter().collect::<Vec<_>>()));
    let blocks = blocks(&pieces_a, &pieces_b);
    let text = |side: &[Piece], blocks: &[[u64; 2]]| {
        joined(blocks.iter().flat_map(|block| within(side, *block)).filter(|p| !p.removed).map(|p| p.text))
    };
    let overlapping = |[from, to]: [u64; 2]| {
        let first = blocks.partition_point(|block| block[1] <= from);
        let last = blocks.partition_point(|block| block[0] < to);
        &blocks[first..last.max(first)]
    };
    let mut note = |seq: u64, changes: BTreeSet<Change>, a: String, b: String| {
        changes.iter().for_each(|change| *found.changes.entry(*change).or_default() += 1);
        let (session, channel) = (session.clone(), channel.clone());
        found.different.push(Difference { session, channel, epoch: *epoch, seq, changes, a, b });
    };
    let mut compared = 0;
    let mut degraded = 0;
    for remade in a.iter().filter(counts) {
        let segment = &remade.segment;
        compared += 1;
        if segment.kind == Kind::End {
            let other = b.iter().find(|r| r.segment.kind == Kind::End).map(|r| &r.segment);
            let sums = |s: &Segment| (s.cause.clone(), s.counts.map(|c| (c.words, c.degraded)));
            let said = |s: &Segment| s.cause.clone().unwrap_or_default();
            match other {
                None => note(segment.seq, [Change::Missing].into(), said(segment), String::new()),
                Some(other) if sums(other) != sums(segment) => {
                    note(segment.seq, [Change::End].into(), said(segment), said(other))
                }
                Some(_) => {}
            }
            continue;
        }
        let Some(range_a) = range(segment) else { continue };
        let near = overlapping(range_a);
        let of_b: Vec<&Piece> = near.iter().flat_map(|block| within(&pieces_b, *block)).collect();
        let twin = all_b.iter().find(|other| range(other) == Some(range_a));
        let parts_b = all_b.iter().filter(|other| range(other).is_some_and(|r| r[0] < range_a[1] && range_a[0] < r[1]));
        let is_degraded = segment.degraded || parts_b.clone().any(|other| other.degraded);
        degraded += usize::from(is_degraded);
        if of_b.is_empty() {
            note(segment.seq, [Change::Missing].into(), segment.text.clone(), String::new());
            continue;
        }
        let mut all: BTreeSet<Change> =
            near.iter().flat_map(|block| changes(within(&pieces_a, *block), within(&pieces_b, *block))).collect();
        match twin {
            None => _ = all.insert(Change::Cuts),
            Some(twin) if all.is_empty() && !same(segment, twin) => _ = all.insert(Change::Other),
            Some(_) => {}
        }
        if !all.is_empty() {
            note(segment.seq, all, segment.text.clone(), text(&pieces_b, near));
        }
    }
    // Words that only the second side has.
    for remade in b.iter().filter(counts) {
        let segment = &remade.segment;
        let known = match segment.kind {
            Kind::End => a.iter().any(|r| r.segment.kind == Kind::End),
            _ => range(segment).is_none_or(|r| overlapping(r).iter().any(|block| !within(&pieces_a, *block).is_empty())),
        };
        if !known {
            note(segment.seq, [Change::Missing].into(), String::new(), segment.text.clone());
        }
    }
    found.segments += compared;
    found.degraded += degraded;
}

impl Differences {
    /// Adds what was found in another partition.
    pub fn add(&mut self, other: Differences) {
        self.segments += other.segments;
        self.degraded += other.degraded;
        for (change, count) in other.changes {
            *self.changes.entry(change).or_default() += count;
        }
        self.different.extend(other.different);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Counts, Entity, Removed, WrittenWord};
    use proptest::prelude::*;

    /// A segment of words that begin at input word `from`, one input word each.
    fn segment(seq: u64, from: u64, words: &[&str]) -> Segment {
        let word = |(i, text): (usize, &&str)| WrittenWord {
            text: text.to_string(),
            s: None,
            e: None,
            c: None,
            speaker: None,
            src: [from + i as u64, from + i as u64 + 1],
        };
        let value = serde_json::json!({
            "session": "s", "channel": "c", "epoch": 7, "seq": seq, "kind": "final", "text": words.join(" "),
            "words": words.iter().enumerate().map(word).collect::<Vec<_>>(), "model": "m", "profile": "p",
        });
        serde_json::from_value(value).unwrap()
    }

    fn made(segments: Vec<Segment>) -> Vec<Remade> {
        segments.into_iter().map(|segment| Remade { offset: Some(9), segment }).collect()
    }

    fn found(a: Vec<Segment>, b: Vec<Segment>) -> Differences {
        differences(&made(a), &made(b), [0, 100])
    }

    fn kinds(a: Vec<Segment>, b: Vec<Segment>) -> Vec<Change> {
        found(a, b).changes.into_keys().collect()
    }

    #[test]
    fn each_kind_of_change_is_named() {
        let a = || vec![segment(0, 0, &["We", "met", "on", "march", "third."])];
        for (words, kind) in [
            (["We", "met,", "on", "march", "third."], Change::Marks),
            (["We", "met", "on", "March", "third."], Change::Case),
            (["We", "met", "on", "march", "3."], Change::Numbers),
            (["We", "got", "on", "march", "third."], Change::Words),
        ] {
            assert_eq!(kinds(a(), vec![segment(0, 0, &words)]), [kind]);
        }
        let both = segment(0, 0, &["We", "met", "on", "March,", "third."]);
        assert_eq!(kinds(a(), vec![both]), [Change::Marks, Change::Case]);
        let cut = vec![segment(0, 0, &["We", "met"]), segment(1, 2, &["on", "march", "third."])];
        assert_eq!(kinds(a(), cut.clone()), [Change::Cuts]);
        assert_eq!(found(cut, a()).different.len(), 2, "both halves");
        let mut short = segment(0, 0, &["We", "met", "on", "march", "third."]);
        short.words.remove(1);
        short.removed.push(Removed { class: "filler".into(), spoken: "met".into(), src: [1, 2] });
        assert_eq!(kinds(a(), vec![short.clone()]), [Change::Words]);
        let mut other = short.clone();
        other.removed[0].class = "edit".into();
        assert_eq!(kinds(vec![short], vec![other]), [Change::Classes]);
        let mut timed = segment(0, 0, &["We", "met", "on", "march", "third."]);
        timed.words[0].s = Some(1.0);
        assert_eq!(kinds(a(), vec![timed]), [Change::Other]);
    }

    #[test]
    fn an_entity_that_only_one_side_writes_is_a_number_over_all_its_words() {
        let a = vec![segment(0, 0, &["for", "twelve", "dollars,", "please"])];
        let mut b = segment(0, 0, &["for", "$12,", "please"]);
        (b.words[1].src, b.words[2].src) = ([1, 3], [3, 4]);
        let stage = crate::record::Stage::Grammar;
        let entity =
            Entity { class: "money".into(), written: "$12".into(), spoken: "".into(), words: [1, 2], src: [1, 3], stage };
        b.entities.push(entity);
        let found = found(a, vec![b]);
        assert_eq!(found.changes, [(Change::Numbers, 1)].into());
        assert_eq!((&*found.different[0].a, &*found.different[0].b), ("for twelve dollars, please", "for $12, please"));
    }

    #[test]
    fn names_of_the_maker_and_shifted_numbers_are_no_change_and_only_the_stretch_counts() {
        let mut b = segment(3, 0, &["Hello."]);
        (b.model, b.profile, b.origin) = ("n".into(), "q".into(), Some("x-y".into()));
        assert!(found(vec![segment(0, 0, &["Hello."])], vec![b]).different.is_empty());
        let (a, b) = (made(vec![segment(0, 0, &["Hello."])]), made(vec![segment(0, 0, &["hello"])]));
        assert_eq!(differences(&a, &b, [0, 9]), Differences::default());
        assert_eq!(differences(&a, &b, [9, 10]).different.len(), 1);
    }

    #[test]
    fn what_only_one_side_has_is_missing_and_ends_are_compared_by_cause_and_words() {
        let one = || vec![segment(0, 0, &["Hello."])];
        assert_eq!(kinds(one(), vec![]), [Change::Missing]);
        assert_eq!(kinds(vec![], one()), [Change::Missing]);
        let end = |words, cause: &str| {
            let counts = Some(Counts { words, segments: words, ..Counts::default() });
            vec![Segment { kind: Kind::End, counts, cause: Some(cause.into()), ..segment(1, 0, &[]) }]
        };
        assert_eq!(kinds(end(4, "session"), end(4, "session")), []);
        assert_eq!(kinds(end(4, "session"), end(5, "session")), [Change::End]);
        assert_eq!(kinds(end(4, "session"), end(4, "expired")), [Change::End]);
    }

    prop_compose! {
        /// An epoch of words in segments of any lengths; some words are removed.
        fn epochs()(words in prop::collection::vec(("[a-c]{1,3}[.,]?", any::<bool>()), 1..40), cuts in prop::collection::vec(1usize..9, 40)) -> Vec<Segment> {
            let mut segments = Vec::new();
            let (mut at, mut cuts) = (0, cuts.into_iter());
            while at < words.len() {
                let to = (at + cuts.next().unwrap_or(9)).min(words.len());
                let texts: Vec<&str> = words[at..to].iter().map(|(text, _)| text.as_str()).collect();
                let mut made = segment(segments.len() as u64, at as u64, &texts);
                for gone in (0..to - at).rev().filter(|i| words[at + i].1 && i % 3 == 1) {
                    let word = made.words.remove(gone);
                    made.removed.push(Removed { class: "filler".into(), spoken: word.text, src: word.src });
                }
                made.text = made.words.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ");
                segments.push(made);
                at = to;
            }
            segments
        }
    }

    proptest! {
        #[test]
        fn a_thing_compared_with_itself_has_no_difference(epoch in epochs()) {
            let same = found(epoch.clone(), epoch.clone());
            prop_assert_eq!((same.segments, same.different.len()), (epoch.len(), 0));
        }

        #[test]
        fn one_changed_word_is_one_changed_segment_of_the_right_kind(epoch in epochs(), at in any::<prop::sample::Index>(), kind in 0usize..4) {
            let mut other = epoch.clone();
            let i = at.index(other.len());
            let Some(word) = other[i].words.last_mut() else { return Ok(()) };
            let change = match kind {
                0 => { word.text = format!("{}?", word.text.trim_end_matches(['.', ','])); Change::Marks }
                1 => { word.text = word.text.to_uppercase(); Change::Case }
                2 => { word.text = "15".into(); Change::Numbers }
                _ => { word.text = "zzz".into(); Change::Words }
            };
            let found = found(epoch.clone(), other);
            prop_assert_eq!(found.different.len(), 1);
            prop_assert_eq!(found.different[0].seq, i as u64);
            prop_assert!(found.different[0].changes.contains(&change), "{:?}", found.different[0]);
        }

        #[test]
        fn every_difference_in_any_field_of_any_segment_is_found(a in epochs(), b in epochs()) {
            let same = a.iter().map(|s| serde_json::to_string(s).unwrap()).eq(b.iter().map(|s| serde_json::to_string(s).unwrap()));
            prop_assert_eq!(found(a, b).different.is_empty(), same);
        }
    }
}
