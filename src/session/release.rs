//! Where a segment may end. Pure functions of the buffer; every answer is a cut: words before it leave.

use super::buffer::{Buffer, FreezeCause};
use super::policy::{Policy, Rule};
use crate::tags::{Disfluency, Punct, Tags};

fn tags(buffer: &Buffer, i: u64) -> Tags {
    buffer.get(i).tags.unwrap_or_default()
}

/// Whether a segment may end before word `cut`: no entity reaches over it, as far as frozen words tell. While the next word
/// is open, an entity before it is too, unless its speaker has stopped: what comes after a silence is another number.
fn outside_entity(buffer: &Buffer, cut: u64, ended: bool) -> bool {
    let last = tags(buffer, cut - 1).itn;
    if last.class().is_none() {
        return true;
    }
    let stopped = || buffer.get(cut - 1).freeze.is_some_and(|f| f.cause == FreezeCause::Utterance);
    if cut < buffer.frozen() { !tags(buffer, cut).itn.continues(last) } else { ended || stopped() }
}

fn outside_disfluency(buffer: &Buffer, cut: u64, ended: bool) -> bool {
    tags(buffer, cut - 1).disfluency == Disfluency::O
        || if cut < buffer.frozen() { tags(buffer, cut).disfluency == Disfluency::O } else { ended }
}

/// The next cut that `policy`'s rule allows among frozen words. `ended`: no word will follow the buffer's last.
pub fn by_rule(buffer: &Buffer, policy: &Policy, ended: bool) -> Option<u64> {
    let cuts = buffer.released() + 1..=buffer.frozen();
    match policy.rule {
        Rule::Frozen | Rule::Predicted { .. } => {
            cuts.into_iter().find(|&cut| tags(buffer, cut - 1).punct.ends_sentence() && outside_entity(buffer, cut, ended))
        }
        Rule::Flow => {
            cuts.into_iter().rev().find(|&cut| outside_entity(buffer, cut, ended) && outside_disfluency(buffer, cut, ended))
        }
    }
}

/// Algorithm 1: the cut after the first predicted end-of-sentence mark, if `trailing` of the `known` words follow it.
/// Words before it need not be frozen yet; releasing freezes them.
pub fn predicted(buffer: &Buffer, trailing: u32, known: u64) -> Option<u64> {
    let mark = (buffer.released()..known).find(|&i| tags(buffer, i).punct.ends_sentence())?;
    (known - (mark + 1) >= u64::from(trailing)).then_some(mark + 1)
}

/// The best cut when something must leave: the last frozen sentence end, else comma, else word; inside an
/// entity only where nothing else is left.
pub fn forced(buffer: &Buffer) -> Option<u64> {
    let (first, last) = (buffer.released() + 1, buffer.frozen());
    if first > last {
        return None;
    }
    let best = |want: &dyn Fn(Punct) -> bool| {
        (first..=last).rev().find(|&cut| want(tags(buffer, cut - 1).punct) && outside_entity(buffer, cut, false))
    };
    best(&Punct::ends_sentence).or_else(|| best(&|p| p == Punct::Comma)).or_else(|| best(&|_| true)).or(Some(last))
}
