//! A challenger that runs beside a profile, on Kafka: what is published stays the same to the byte.

use serde_json::json;

use crate::admin::{address, http};
use crate::kafka::{Sender, Topics, eventually};
use crate::service::ends;
use crate::worker::Worker;

/// No timer decides anything, so the output is a function of the words.
const PATIENT: &str = "max_delay_ms = 600000\nutterance_delay_ms = 600000\nmax_release_ms = 600000\n";
const CALLS: usize = 4;
const SAID: [&str; 4] = [
    "good morning thank you for calling how can i help you today",
    "yes um i uh paid twenty dollars and fifty cents on the third of may",
    "okay let me look at that for you one moment please",
    "that is all um thank you very much goodbye",
];

/// Says all calls by turns, and waits for their ends.
fn say(topics: &Topics) {
    let sender = Sender::new();
    for (seq, text) in SAID.iter().enumerate() {
        for call in 0..CALLS {
            let end = (seq + 1 == SAID.len()).then_some("session");
            let value = json!({"seq": seq, "text": text, "end": end}).to_string();
            sender.send(&topics.name("raw"), Some(format!("call-{call}").as_bytes()), Some(value.as_bytes()), &[]);
        }
        sender.flush();
    }
    eventually("all calls end", || ends(topics) == CALLS);
}

/// Values of the formatted topic, call by call.
fn published(topics: &Topics) -> Vec<Vec<String>> {
    let of = |call: usize| {
        let key = format!("call-{call}");
        let all = topics.read("formatted");
        let own = all.iter().filter(|r| r.key.as_deref() == Some(key.as_bytes()));
        own.map(|r| String::from_utf8(r.payload.clone().unwrap()).unwrap()).collect()
    };
    (0..CALLS).map(of).collect()
}

/// The sum of a counter's lines that have this in their labels.
fn counter(address: &str, name: &str, label: &str) -> u64 {
    let metrics = http(address, "/metrics", "").1;
    let lines = metrics.lines().filter(|line| line.starts_with(name) && line.contains(label));
    lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum::<f64>() as u64
}

#[test]
fn a_shadow_changes_no_byte_of_what_is_published_and_counts_how_its_challenger_differs() {
    let plain = Topics::create("shadow-without", 1);
    let mut worker = Worker::start(&plain, "a", &format!("[profiles.default]\n{PATIENT}"));
    say(&plain);
    assert!(worker.terminate().success());

    let shadowed = Topics::create("shadow-with", 1);
    let more = format!("[profiles.default]\nshadow = \"new\"\n{PATIENT}[profiles.new]\nverbatim = true\n{PATIENT}");
    let mut worker = Worker::start(&shadowed, "b", &more);
    let address = address(&worker);
    eventually("it is ready", || http(&address, "/readyz", "").0 == 200);
    say(&shadowed);
    let words = SAID.iter().map(|text| text.split(' ').count() as u64).sum::<u64>() * CALLS as u64;
    let followed = || counter(&address, "faircopy_shadow_words_total", "challenger=\"new\"");
    let dropped = || counter(&address, "faircopy_shadow_dropped_total", "why");
    eventually("the shadow has followed", || followed() == words || dropped() > 0);
    assert_eq!((followed(), dropped()), (words, 0));
    let fillers = counter(&address, "faircopy_shadow_differences_total", "kind=\"words\"");
    assert!(fillers >= 3 * CALLS as u64, "each call has three fillers that only the challenger keeps: {fillers}");
    assert!(counter(&address, "faircopy_shadow_segments_total", "profile=\"default\"") >= CALLS as u64);
    assert!(worker.terminate().success());
    assert!(!worker.log().contains("dollars"), "nothing that was said is logged");
    assert_eq!(published(&plain), published(&shadowed));
}
