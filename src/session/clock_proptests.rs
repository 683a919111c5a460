//! Promise 10, in small: live speech, a backlog and a file decide alike wherever speech's own clock decides.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::simulation::{ChannelOutput, Say, Sim, policy};
use crate::record::{End, Timing};

/// What a channel says, and how late its record comes, milliseconds.
type Heard = (Say, u64);

fn words(seen: BTreeMap<(String, i64), ChannelOutput>) -> Vec<Vec<(u64, String, crate::tags::Tags)>> {
    seen.into_values().map(|out| out.words).collect()
}

/// What comes out of a backlog, which has no timers. `format` takes a file in the same way.
fn backlog(heard: &[Heard]) -> Sim {
    let mut sim = Sim::new(patient(), |_| (0, false));
    heard.iter().for_each(|(say, _)| sim.say(say));
    sim.finish();
    sim
}

/// What comes out live: each record comes once its words are spoken, and so much later.
fn live(heard: &[Heard], takes: u64) -> Sim {
    let mut sim = Sim::new(patient(), move |n| (n * 31 % (takes + 1), false));
    sim.sessions.caught_up(sim.now, 0);
    for (say, late) in heard {
        let spoken = sim.spoken_at(say) + late;
        sim.wait(spoken.saturating_sub(sim.now.0));
        sim.say(say);
    }
    sim.finish();
    sim
}

/// Words wait for nothing but the model, later words and silence.
fn patient() -> super::policy::Policy {
    super::policy::Policy { max_release_ms: u64::MAX, inference_timeout_ms: u64::MAX, ..policy() }
}

/// The passes that silence decides on, by the times of the words of each channel: how many words were known, and
/// whether the utterance had ended. Written for this test, not taken from the program.
fn silences(heard: &[Heard]) -> BTreeMap<String, Vec<Timing>> {
    let mut found: BTreeMap<String, Vec<Timing>> = BTreeMap::new();
    let mut ended: BTreeMap<u8, (Option<f64>, bool, u64)> = BTreeMap::new();
    let sim = backlog(heard);
    for (record, channel) in sim.said().iter().filter(|(record, _)| record.is_final) {
        let (last, over, known) = ended.entry(*channel).or_default();
        for word in &record.words {
            let gap = last.zip(word.start).map(|(end, start)| ((start - end) * 1000.0).round());
            let timing = match gap {
                Some(gap) if *over && gap >= 300.0 => Some(Timing::Utterance([*known, *known])),
                Some(gap) if gap >= 1000.0 => Some(Timing::Timer([*known, *known])),
                _ => None,
            };
            found.entry(channel.to_string()).or_default().extend(timing);
            (*last, *over, *known) = (word.end, false, *known + 1);
        }
        *over |= record.end == Some(End::Utterance);
    }
    found
}

/// Whether the clock of arrivals decided nothing live that speech's clock did not decide.
fn is_speech_alone(sim: &Sim, heard: &[Heard]) -> bool {
    let silences = silences(heard);
    let ends_there = |channel: &String, timing: &Timing| {
        let all = heard.iter().filter(|(say, _)| say.is_final && say.channel.to_string() == *channel);
        let total: u64 = all.map(|(say, _)| say.words.len() as u64).sum();
        matches!(timing, Timing::Timer([known, _]) | Timing::Utterance([known, _]) if *known == total)
    };
    let is_speech = |channel: &String, timing: &Timing| {
        matches!(timing, Timing::Replied(_)) || silences.get(channel).is_some_and(|all| all.contains(timing))
    };
    sim.timing.iter().all(|((channel, _), all)| all.iter().all(|t| is_speech(channel, t) && !ends_there(channel, t)))
}

fn heard() -> impl Strategy<Value = Vec<Heard>> {
    // Of the simulated words some come after 300 to 3000 ms of silence. Those after 70 s would let the session expire.
    let word = (0u8..=255).prop_filter("a pause of a minute", |w| w % 11 != 10);
    let end = prop_oneof![2 => Just(None), 3 => Just(Some(End::Utterance))];
    let say = (0u8..2, prop::collection::vec(word, 1..9), end).prop_map(|(channel, words, end)| Say {
        channel,
        words,
        is_final: true,
        end,
    });
    prop::collection::vec((say, prop_oneof![3 => 0u64..40, 1 => 0u64..900]), 1..25)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn live_speech_and_a_backlog_say_the_same_wherever_speechs_clock_decides(heard in heard(), takes in 0u64..100) {
        let live = live(&heard, takes);
        // Where the clock of arrivals decided, its decisions stand in the segments.
        prop_assert_eq!(live.again(), live.out.clone());
        if is_speech_alone(&live, &heard) {
            prop_assert_eq!(words(live.out), words(backlog(&heard).out));
        }
    }

    #[test]
    fn what_a_backlog_says_is_no_matter_of_its_bursts_and_of_the_moment_of_a_handover(
        heard in heard(), takes in 0u64..400, handed_over in prop::collection::vec(any::<bool>(), 25),
    ) {
        let mut sim = Sim::new(patient(), move |n| (n * 31 % (takes + 1), false));
        for (i, (say, wait)) in heard.iter().enumerate() {
            sim.say(say);
            sim.wait(*wait);
            if handed_over[i] {
                sim.hand_over(false);
            }
        }
        sim.finish();
        prop_assert_eq!(sim.out, backlog(&heard).out);
    }
}

/// Three words that follow each other at once, and one after 3000 ms of silence.
const CALLER: [u8; 4] = [0, 0, 0, 9];

fn says(channel: u8, words: &[u8], end: Option<End>) -> Heard {
    (Say { channel, words: words.to_vec(), is_final: true, end }, 20)
}

#[test]
fn a_silence_in_a_backlog_freezes_what_the_timer_freezes_live() {
    let heard = [says(0, &CALLER[..3], Some(End::Utterance)), says(0, &CALLER[3..], None), says(0, &[0, 0], None)];
    let (live, late) = (live(&heard, 0), backlog(&heard));
    let timing = &live.timing[&("0".to_string(), 0)];
    assert_eq!(timing.first(), Some(&Timing::Utterance([3, 3])), "live the timer fires");
    assert_eq!(late.timing[&("0".to_string(), 0)], [], "a backlog has none");
    assert_eq!(late.out[&("0".to_string(), 0)].words, live.out[&("0".to_string(), 0)].words);
    // Without the silence the words see each other, so their tags are others.
    let at_once = backlog(&[says(0, &[0, 0, 0], Some(End::Utterance)), says(0, &[11], None), says(0, &[0, 0], None)]);
    let tags = |sim: &Sim| sim.out[&("0".to_string(), 0)].words.iter().map(|w| w.2).take(3).collect::<Vec<_>>();
    assert_ne!(tags(&at_once), tags(&late));
}

#[test]
fn a_turn_of_another_channel_ends_the_sentence_before_it_and_a_murmur_does_not() {
    let run = |between: &[u8]| {
        let heard = [says(0, &[0, 0], None), says(1, between, None), says(0, &[6, 0], None)];
        backlog(&heard)
    };
    let timing = |sim: &Sim| sim.timing[&("0".to_string(), 0)].clone();
    // The other channel's clock begins at 0 like the first one's: word 6 comes after half a second of silence.
    assert_eq!(timing(&run(&[6, 0, 0])), [], "the reply went on when the first one spoke again");
    let heard = [says(0, &[0, 0], None), says(1, &[4, 0, 0], None), says(0, &[9, 0], None), says(0, &[0, 0, 0], None)];
    let replied = backlog(&heard);
    assert_eq!(timing(&replied), [Timing::Replied([2, 2])]);
    assert_eq!(replied.again(), replied.out);
    let murmur = [says(0, &[0, 0], None), says(1, &[4, 0], None), says(0, &[9, 0], None), says(0, &[0, 0, 0], None)];
    assert_eq!(timing(&backlog(&murmur)), []);
}
