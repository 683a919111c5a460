//! The topic of the conversation, on Kafka: what a call and a meeting become, live, as a backlog, and through a killed
//! worker.

use std::collections::BTreeMap;

use faircopy::record::{ConversationTurn, Kind};
use serde_json::{Value, json};

use crate::again::{command, json_of};
use crate::kafka::{Sender, Topics, eventually};
use crate::service::{ends, segments};
use crate::worker::Worker;

/// The clock decides nothing here: a machine under load may need long for a record.
const PATIENT: &str = "[conversation]\nwait_ms = 120000\n[profiles.default]\nmax_delay_ms = 120000\nutterance_delay_ms = 120000\nmax_release_ms = 120000\n";

fn said(channel: &str, start: f64, text: &str) -> Value {
    let word = |(at, w): (usize, &str)| {
        let from = start + 0.25 * at as f64;
        json!({ "w": w, "s": from, "e": from + 0.2 })
    };
    json!({ "channel": channel, "words": text.split(' ').enumerate().map(word).collect::<Vec<_>>() })
}

/// A call on two channels, a meeting on one, and their ends.
fn records() -> Vec<(&'static str, Value)> {
    let call = [
        said("agent", 0.0, "good morning this is the help desk what can i do for you today"),
        said("caller", 4.6, "hello i have lost the key to my house and nobody can open it for me"),
        said("agent", 6.0, "okay"),
        said("caller", 9.2, "so i came to you because they said that you may know somebody who does"),
        said("agent", 15.0, "we do and he can be with you within the hour it is twelve dollars and fifty cents"),
        said("caller", 13.1, "if that is right"),
        said("caller", 20.9, "that would be very kind of him"),
        said("agent", 24.0, "is there anything else that i can do for you"),
        said("caller", 27.4, "no thank you"),
    ];
    let meeting = (0..9).map(|at| {
        let mut record = said("room", 4.0 * f64::from(at), "we talk about the plan for the next year and who does what");
        record["speaker"] = json!(["ann", "bob", "ann", "cid"][at as usize / 2 % 4]);
        record
    });
    let mut all: Vec<(&str, Value)> = Vec::new();
    for (call, meeting) in call.into_iter().zip(meeting) {
        all.extend([("call", call), ("meeting", meeting)]);
    }
    let end = |session| (session, json!({ "channel": "agent", "end": "session" }));
    all.extend([end("call"), ("meeting", json!({ "channel": "room", "end": "session" }))]);
    all
}

fn send(sender: &Sender, topics: &Topics, records: &[(&str, Value)]) {
    for (session, value) in records {
        sender.send(&topics.name("raw"), Some(session.as_bytes()), Some(value.to_string().as_bytes()), &[]);
    }
    sender.flush();
}

fn worker(topics: &Topics, name: &str) -> Worker {
    let topic = topics.name("conversation");
    Worker::start_with(topics, name, PATIENT, &[("FAIRCOPY__TOPICS__CONVERSATION", &topic)])
}

/// The turns of each session, after a look at whether they are whole: every token of every final segment is in exactly
/// one turn, numbers have no holes, and the order goes back nowhere.
fn turns(topics: &Topics) -> BTreeMap<String, Vec<ConversationTurn>> {
    let mut turns: BTreeMap<String, Vec<ConversationTurn>> = BTreeMap::new();
    let mut seen: Vec<(String, String, i64, u64, usize)> = Vec::new();
    for record in topics.read("conversation") {
        let turn: ConversationTurn = serde_json::from_slice(record.payload.as_deref().unwrap()).unwrap();
        assert_eq!(record.key.as_deref(), Some(turn.session.as_bytes()));
        let inside = turn.inside.iter().flat_map(|guest| guest.segments.iter().map(|part| (&guest.channel, part)));
        for (channel, part) in turn.segments.iter().map(|part| (&turn.channel, part)).chain(inside) {
            let of = |word| (turn.session.to_string(), channel.to_string(), part.epoch, part.seq, word);
            seen.extend((part.words[0]..part.words[1]).map(of));
        }
        turns.entry(turn.session.to_string()).or_default().push(turn);
    }
    let mut tokens = Vec::new();
    for (_, segment) in segments(topics).iter().filter(|(_, segment)| segment.kind == Kind::Final) {
        let of = |word| (segment.session.to_string(), segment.channel.to_string(), segment.epoch, segment.seq, word);
        tokens.extend((0..segment.words.len()).map(of));
    }
    seen.sort();
    tokens.sort();
    assert_eq!(seen, tokens);
    for all in turns.values() {
        assert!(all.iter().zip(0..).all(|(turn, number)| turn.number == number && !turn.late), "{all:#?}");
        assert!(all.windows(2).all(|two| two[0].from <= two[1].from), "{all:#?}");
    }
    turns
}

/// `verify` finds nothing wrong with the turns of a topic, and names what somebody has changed.
fn verified(topics: &Topics) {
    let verify = |topic: &str| {
        let topic = topics.name(topic);
        json_of(&command(topics, PATIENT, &["verify", "--json"], &[("FAIRCOPY__TOPICS__CONVERSATION", &topic)]))
    };
    let records = topics.read("conversation");
    let (code, proven) = verify("conversation");
    let audited = &proven["conversation"];
    assert_eq!(code, Some(0), "{proven}");
    assert_eq!((audited["turns"].as_u64(), audited["waiting"].as_u64()), (Some(records.len() as u64), Some(0)), "{audited}");
    topics.create_one("forged", 1);
    let sender = Sender::new();
    let calls = records.iter().filter(|record| record.key.as_deref() == Some(b"call"));
    for (at, record) in calls.enumerate().filter(|(at, _)| *at != 2) {
        let value = String::from_utf8(record.payload.clone().unwrap()).unwrap();
        let value = if at == 3 { value.replacen("very kind", "very unkind", 1) } else { value };
        sender.send(&topics.name("forged"), record.key.as_deref(), Some(value.as_bytes()), &[]);
    }
    sender.flush();
    let (code, found) = verify("forged");
    let audited = &found["conversation"];
    assert_eq!((code, audited["without_turns"].as_u64()), (Some(1), Some(1)), "{found}");
    let faults = audited["sample"].as_array().unwrap();
    let is_named =
        |what: &str| faults.iter().any(|fault| fault["session"] == "call" && fault["fault"].as_str().unwrap().contains(what));
    assert!(is_named("turn 2 is not there") && is_named("is in no turn") && is_named("turn 3 has another text"), "{audited}");
}

#[test]
fn a_call_and_a_meeting_are_the_same_conversation_as_a_backlog_and_live_through_a_killed_worker() {
    let records = records();
    let backlog = Topics::create("turns-backlog", 1);
    backlog.create_one("conversation", 1);
    let sender = Sender::new();
    send(&sender, &backlog, &records);
    let _a = worker(&backlog, "a");
    eventually("the backlog ends", || ends(&backlog) == 3);

    let live = Topics::create("turns-live", 1);
    live.create_one("conversation", 1);
    let mut first = worker(&live, "a");
    send(&sender, &live, &records[..12]);
    eventually("something is published", || !live.read("formatted").is_empty());
    first.kill();
    let _second = worker(&live, "b");
    for record in &records[12..] {
        send(&sender, &live, std::slice::from_ref(record));
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    eventually("the call and the meeting end", || ends(&live) == 3);

    verified(&live);
    let (backlog, live) = (turns(&backlog), turns(&live));
    let text = |turns: &[ConversationTurn]| serde_json::to_string_pretty(turns).unwrap();
    for (session, turns) in &backlog {
        assert_eq!(text(turns), text(&live[session]), "{session}");
    }
    let begin =
        |turn: &ConversationTurn| format!("{}: {}", turn.channel, turn.text.split([' ', ',']).next().unwrap().to_lowercase());
    let begins: Vec<String> = backlog["call"].iter().map(begin).collect();
    let expected = ["agent: good", "caller: hello", "agent: we", "caller: that", "agent: is", "caller: no"];
    assert_eq!(begins, expected, "{:#?}", backlog["call"]);
    assert_eq!(backlog["call"][1].inside.len(), 1, "the agent's okay");
    assert!(backlog["call"][2].entities.iter().any(|entity| entity.written.starts_with("$12.50")), "{:#?}", backlog["call"][2]);
    let speakers: Vec<&str> = backlog["meeting"].iter().filter_map(|turn| turn.speaker.as_deref()).collect();
    assert_eq!(speakers, ["ann", "bob", "ann", "cid", "ann"]);
}
