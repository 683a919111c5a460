//! Where a segment may end. Pure functions of the buffer; every answer is a cut: words before it leave.

use super::buffer::{Buffer, FreezeCause};
use super::digits::{Role, is_closed_by, is_open, role_in};
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

/// Whether the words before `cut` end inside a number, as far as the frozen words after it tell. `before`: whether what was released before
/// them did.
pub fn inside_number(buffer: &Buffer, cut: u64, before: bool) -> bool {
    let role = |i: u64| -> Role {
        let entry = buffer.get(i);
        role_in(&entry.word.spoken, entry.word.kind, tags(buffer, i))
    };
    is_open((buffer.released()..cut).rev().map(role), before) && !is_closed_by((cut..buffer.frozen()).map(role))
}

/// The next cut that `policy`'s rule allows among frozen words. `number`: what was released ended inside a number. `ended`: no
/// word will follow the buffer's last.
pub fn by_rule(buffer: &Buffer, policy: &Policy, number: bool, ended: bool) -> Option<u64> {
    let complete = |cut: u64| ended && cut == buffer.total();
    let whole = |cut: &u64| !policy.guards_digits || complete(*cut) || !inside_number(buffer, *cut, number);
    let mut cuts = (buffer.released() + 1..=buffer.frozen()).filter(whole);
    match policy.rule {
        Rule::Frozen | Rule::Predicted { .. } => {
            cuts.find(|&cut| tags(buffer, cut - 1).punct.ends_sentence() && outside_entity(buffer, cut, ended))
        }
        Rule::Flow => cuts.rev().find(|&cut| outside_entity(buffer, cut, ended) && outside_disfluency(buffer, cut, ended)),
    }
}

/// Algorithm 1: the cut after the first predicted end-of-sentence mark, if `trailing` of the `known` words follow it.
/// Words before it need not be frozen yet; releasing freezes them.
pub fn predicted(buffer: &Buffer, policy: &Policy, number: bool, trailing: u32, known: u64) -> Option<u64> {
    let mark = (buffer.released()..known).find(|&i| tags(buffer, i).punct.ends_sentence())?;
    // A guarded number waits until frozen words show that it has ended; then it goes by the rule for frozen marks.
    let whole = !policy.guards_digits || !inside_number(buffer, mark + 1, number);
    (known - (mark + 1) >= u64::from(trailing) && whole).then_some(mark + 1)
}

/// The best cut when something must leave: the last frozen sentence end, else comma, else word; inside an
/// entity, or a number that is guarded, only where nothing else is left.
pub fn forced(buffer: &Buffer, policy: &Policy, number: bool) -> Option<u64> {
    let (first, last) = (buffer.released() + 1, buffer.frozen());
    if first > last {
        return None;
    }
    let best = |want: &dyn Fn(Punct) -> bool| {
        (first..=last).rev().find(|&cut| {
            want(tags(buffer, cut - 1).punct)
                && outside_entity(buffer, cut, false)
                && !(policy.guards_digits && inside_number(buffer, cut, number))
        })
    };
    best(&Punct::ends_sentence).or_else(|| best(&|p| p == Punct::Comma)).or_else(|| best(&|_| true)).or(Some(last))
}
