//! Answers in words: passwords, user names, answers to security questions, e-mail addresses that a cue announces.
//!
//! Any word may be part of a password. So everything is hidden from the announcement to the end of the answer, and the
//! end needs a sign: another speaker, the end of a sentence that the recogniser wrote, thanks, or words with which a new
//! sentence begins ("and i want").

use super::answer::Answers;
use super::cues::CUES;
use super::kinds::{WordSet, is_code, is_common};
use super::{Marks, Part, inside};

macro_rules! words {
    ($words:expr) => {
        WordSet::new(|| $words.split_whitespace().collect())
    };
}

/// Largest number of words of such an answer. Letters and digits are not counted.
const ANSWER_WORDS: usize = 10;

/// Parts after a question in which words that are not common may be its answer, wherever they stand.
const LATE_WORDS: usize = 16;

/// Parts after a password in which another one may be announced.
const AGAIN: usize = 6;

/// Words between the cue and the word that announces the answer: "my password, i think, is".
static LEADS: WordSet =
    words!("i we had ever called named it its used um so set just now still would i think believe for this that");
/// Words that announce an answer.
static ANNOUNCES: WordSet = words!("isn't wasn't is was be to at on are");
/// Words after "password" that make another thing of it.
static NO_PASSWORDS: WordSet = words!(
    "reset resets manager policy protected protection hint recovery link page field screen changed prompt length rules has doesn't needs must should didn't"
);
/// Words that come before an answer that somebody asked for.
static BEFORE_ANSWERS: WordSet = words!(
    "box yes yeah yep sure okay ok um so well of course it its is let me see think check hold hang on one second moment sec please right alright my the \
     password passphrase answer name username would be that was just a minute oh hmm email address login got"
);
/// Words after "is" that show that no answer follows: "my password is not …".
static NO_ANSWERS: WordSet = words!(
    "accepted recognised recognized letting not wrong expired locked incorrect working blocked invalid correct right weak secure required needed too being going supposed about gone \
     something what that very really also always never reset protected"
);
static THANKS: WordSet = words!("thanks thank bye goodbye");
static CONJUNCTIONS: WordSet = words!("and but so because then which if okay ok please or");
/// Words that end a question after what it asks for: "what password did you set up for us".
static QUESTION_ENDS: WordSet = words!(
    "did do does you we have has use used choose chose pick picked set up give gave given us on file for with me please there registered put down \
     create created then"
);
static PRONOUNS: WordSet = words!("i you we it that this they he she");
static CONTRACTIONS: WordSet = words!("i'm i'd i'll i've you're you'll we're we'll it's that's they're");
static AUXILIARIES: WordSet = words!("can could do does did is are was will would should have");
static VERBS: WordSet = words!(
    "want wanted need needed have had can can't cannot could couldn't would will was am is isn't are think thought don't do did didn't tried try know just also \
     still get got keep guess said see forgot forget changed called never won't wonder should always really"
);
static ASKING: WordSet = words!("what how why when where");

fn among(list: &WordSet, text: &str) -> bool {
    list.contains(text)
}

/// Whether a word often comes before an answer in words: "yes", "sure", "it is".
pub(super) fn comes_before(text: &str) -> bool {
    among(&BEFORE_ANSWERS, text)
}

/// Whether these words answer a question by no secret: "i don't know", "what do you mean", "can you".
pub(super) fn evades(parts: &[Part], at: usize) -> bool {
    !among(&CONJUNCTIONS, parts[at].text) && ends_answer(parts, at)
}

/// Whether a new sentence begins at a part, and the answer before it is over.
fn ends_answer(parts: &[Part], at: usize) -> bool {
    let text = |at: usize| parts.get(at).map_or("", |p| p.text);
    let (one, two, three) = (text(at), text(at + 1), text(at + 2));
    among(&THANKS, one)
        || among(&CONJUNCTIONS, one)
            && (among(&CONTRACTIONS, two)
                || among(&PRONOUNS, two) && among(&VERBS, three)
                || among(&AUXILIARIES, two) && among(&PRONOUNS, three))
        || among(&AUXILIARIES, one) && among(&PRONOUNS, two)
        || among(&PRONOUNS, one) && among(&VERBS, two)
        || among(&CONTRACTIONS, one) && (two == "not" || among(&VERBS, two))
        || among(&ASKING, one) && among(&AUXILIARIES, two)
}

/// The end of the answer that begins at `from`.
pub(super) fn answer_from(parts: &[Part], from: usize, email: bool) -> usize {
    let (mut at, mut count) = (from, 0);
    while at < parts.len() && count < ANSWER_WORDS {
        let site_ends = || email && at > from + 1 && parts[at - 2].text == "dot" && parts[at].text != "dot" && at > from + 2;
        if at > from && (parts[at].turn || parts[at - 1].ends || ends_answer(parts, at) || site_ends()) {
            break;
        }
        count += usize::from(!is_code(&parts[at]) && parts[at].text != "capital");
        at += 1;
    }
    at
}

/// Where the answer begins that a cue announces, which ends at `end`: after its "is". `None`: nothing announces it, or
/// the words say that none follows.
pub(super) fn announced(parts: &[Part], end: usize) -> Option<usize> {
    let leads = parts[end..].iter().take_while(|p| among(&LEADS, p.text) || among(&ANNOUNCES, p.text)).count();
    // "The password on our website" announces none, "email me on" does.
    let is_place = |at: usize| {
        matches!(parts[at].text, "on" | "at")
            && parts.get(at + 1).is_some_and(|p| matches!(p.text, "our" | "your" | "the" | "my" | "this" | "that" | "a"))
            && at.checked_sub(1).is_some_and(|before| parts[before].text.starts_with("pass"))
    };
    let says = |at: &usize| among(&ANNOUNCES, parts[*at].text) && !is_place(*at);
    let from = (end.saturating_sub(1)..end + leads).find(says)? + 1;
    (from < parts.len() && !denies(parts, from)).then_some(from)
}

/// Where the words begin that an announcement after a cue leads to, whatever they are. `None`: nothing announces any.
pub(super) fn after_announcement(parts: &[Part], end: usize) -> Option<usize> {
    let leads = parts[end..].iter().take_while(|p| among(&LEADS, p.text) || among(&ANNOUNCES, p.text)).count();
    (end.saturating_sub(1)..end + leads).find(|at| among(&ANNOUNCES, parts[*at].text)).map(|at| at + 1)
}

/// Whether the words after an announcement say that no answer follows: "not working", but not "correct horse".
fn denies(parts: &[Part], at: usize) -> bool {
    let is_plain =
        |p: &Part| is_common(p.text) || inside::joins(p.text) || among(&NO_PASSWORDS, p.text) || among(&NO_ANSWERS, p.text);
    // "Correct and then horse" goes on behind its joints.
    let next = parts[at + 1..].iter().find(|p| !inside::joins(p.text));
    if among(&NO_PASSWORDS, parts[at].text) {
        return true;
    }
    among(&NO_ANSWERS, parts[at].text) && next.is_none_or(is_plain)
}

/// Marks the answers in words of one cue.
pub(super) fn find(parts: &[Part], more: bool, answers: &mut Answers, bit: u8, marks: &mut Marks) {
    let class = CUES[usize::from(bit)].class;
    let email = class == "email";
    let mark = |from: usize, marks: &mut Marks| {
        let to = answer_from(parts, from, email);
        let is_address = |p: &Part| !is_common(p.text) || matches!(p.text, "at" | "dot") || p.text.contains('@');
        if from < to && (!email || parts[from..to].iter().any(is_address)) {
            marks.mark(from..to, class, more && to == parts.len());
        }
        to.max(from + 1)
    };
    // After a cue that says "is", any words may be the answer.
    for end in answers.cues.iter().filter(|c| c.bit == bit).map(|c| c.end) {
        let bare = || {
            let word =
                parts.get(end).filter(|p| matches!(class, "password" | "id") && !is_common(p.text) && !inside::joins(p.text));
            word.filter(|p| !among(&NO_PASSWORDS, p.text)).map(|_| end)
        };
        if let Some(from) = announced(parts, end).or_else(bare) {
            let to = mark(from, marks);
            // "It used to be crinkle, but now it's crankshaft."
            let next = &parts[to.min(parts.len())..parts.len().min(to + AGAIN)];
            let again = next
                .windows(2)
                .position(|two| matches!(two[0].text, "it" | "now" | "its") && matches!(two[1].text, "is" | "was"));
            if let Some(again) =
                again.filter(|again| class == "password" && to + again + 2 < parts.len() && !denies(parts, to + again + 2))
            {
                mark(to + again + 2, marks);
            }
        }
    }
    // What follows a question is its answer: from its first word on that is no "yes, sure, it is".
    let mut at = 0;
    while at < parts.len() {
        let begins = answers.begins(parts, at, bit);
        let announces = answers.was_asked(at, bit) && at > 0 && matches!(parts[at - 1].text, "is" | "was");
        if !begins && !announces {
            at += 1;
            continue;
        }
        // "What passphrase did you choose": nobody may tell the answer's speaker from the question's.
        let tail = parts[at..].iter().take_while(|p| !p.turn && among(&QUESTION_ENDS, p.text)).count();
        let is_tail = begins && tail > 1 && at > 0 && at + tail < parts.len() && !parts[at].turn;
        let at_end = at + tail;
        if is_tail && answers.was_asked(at_end, bit) && !denies(parts, at_end) && !evades(parts, at_end) {
            at = mark(at_end, marks).max(at_end + 1);
            continue;
        }
        let turn = parts[at + 1..].iter().position(|p| p.turn).map_or(parts.len(), |next| at + 1 + next);
        let from = at + parts[at..turn].iter().take_while(|p| among(&BEFORE_ANSWERS, p.text)).count();
        let is_answer = from < parts.len()
            && answers.was_asked(from, bit)
            && !denies(parts, from)
            && !among(&CONTRACTIONS, parts[from].text)
            && !evades(parts, from);
        // "Yes minister": any word may begin a password.
        let first = if matches!(class, "password" | "answer") { at } else { from };
        at = if is_answer { mark(first, marks).max(from) } else { from.max(at + 1) };
    }
    // Later words of the window that are not common may be the answer too.
    let mut is_denied = false;
    for at in 0..parts.len() {
        let since = answers.since_asked(at, bit);
        // "The password reset"
        is_denied = since > 0 && !parts[at].turn && (is_denied || since == 1 && among(&NO_PASSWORDS, parts[at].text));
        if is_denied {
            continue;
        }
        if (1..=LATE_WORDS).contains(&since)
            && marks.class[at].is_none()
            && (!is_common(parts[at].text) || parts[at].text == "capital")
            && !inside::joins(parts[at].text)
        {
            marks.mark(at..at + 1, class, more && at + 1 == parts.len());
        }
    }
}
