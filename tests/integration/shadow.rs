//! A challenger that runs beside a profile, on Kafka: what is published stays the same to the byte, and samples of what
//! differs show nothing that either profile redacts.

use faircopy::record::ShadowSample;
use serde_json::json;

use crate::admin::{address, http};
use crate::again::command;
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

/// A card that only the profile redacts, a name that only the challenger redacts, and fillers, which only the
/// challenger shows.
const SECRETS: [&str; 4] = [
    "good morning um thank you for calling how can i help you",
    "uh my card is four nine two seven four nine two seven four nine two seven four nine two seven um okay",
    "yes um please ask uh for priya um after lunch",
    "that is um all thank you very much goodbye",
];
/// Words of the card and of the name.
const SECRET: [&str; 5] = ["four", "nine", "two", "seven", "priya"];

#[test]
fn samples_of_what_a_challenger_writes_otherwise_show_no_word_that_either_profile_redacts() {
    let topics = Topics::create("shadow-samples", 1);
    let names = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(names.path(), "priya\n").unwrap();
    let more = format!(
        "[shadow]\nsamples_per_minute = 1000\n[tenants]\nacme = \"calls\"\n[profiles.default]\nredaction = \"none\"\n{PATIENT}\
         [profiles.calls]\nshadow = \"new\"\n[profiles.calls.redact]\ncard = \"drop\"\n\
         [profiles.new]\nverbatim = true\nredact_names = {:?}\n[profiles.new.redact]\nname = \"tag\"\n[log]\nlevel = \"debug\"\n",
        names.path()
    );
    let samples_topic = topics.name("shadow");
    let of_samples = [("FAIRCOPY__TOPICS__SHADOW", samples_topic.as_str())];
    let refused = command(&topics, &more, &["run"], &of_samples);
    let says = String::from_utf8_lossy(&refused.stderr).into_owned() + &String::from_utf8_lossy(&refused.stdout);
    assert!(refused.status.code() == Some(5) && says.contains(&samples_topic), "the topic is not there yet: {says}");
    let created = command(&topics, &more, &["topics", "create", "--partitions", "1"], &of_samples);
    assert!(created.status.success() && String::from_utf8_lossy(&created.stdout).contains(&format!("{samples_topic}: created")));

    let mut worker = Worker::start_with(&topics, "w", &more, &of_samples);
    let address = address(&worker);
    eventually("it is ready", || http(&address, "/readyz", "").0 == 200);
    let sender = Sender::new();
    for (seq, text) in SECRETS.iter().enumerate() {
        for call in 0..CALLS {
            let end = (seq + 1 == SECRETS.len()).then_some("session");
            let value = json!({"seq": seq, "text": text, "end": end, "tenant": "acme"}).to_string();
            sender.send(&topics.name("raw"), Some(format!("call-{call}").as_bytes()), Some(value.as_bytes()), &[]);
        }
        sender.flush();
    }
    eventually("all calls end", || ends(&topics) == CALLS);
    let words = SECRETS.iter().map(|text| text.split(' ').count() as u64).sum::<u64>() * CALLS as u64;
    let followed = || counter(&address, "faircopy_shadow_words_total", "challenger=\"new\"");
    eventually("the shadow has followed", || followed() == words);
    let sent = || counter(&address, "faircopy_shadow_samples_total", "challenger=\"new\"");
    eventually("samples arrive", || sent() > 0 && topics.read("shadow").len() as u64 == sent());
    assert!(worker.terminate().success());

    let records = topics.read("shadow");
    let mut hidden = 0;
    for record in &records {
        let sample: ShadowSample = serde_json::from_slice(record.payload.as_deref().unwrap()).unwrap();
        assert_eq!((&*sample.profile, &*sample.challenger), ("calls", "new"));
        assert_eq!(record.key.as_deref(), Some(sample.session.as_bytes()));
        assert!(sample.place.published != sample.place.instead && !sample.place.kinds.is_empty());
        let value = String::from_utf8(record.payload.clone().unwrap()).unwrap();
        for form in [&sample.place.published, &sample.place.instead] {
            let form = form.to_lowercase();
            let shown: Vec<&str> = form.split(|c: char| !c.is_alphanumeric()).collect();
            assert!(SECRET.iter().all(|word| !shown.contains(word)), "{value}");
            assert!(!form.contains(|c: char| c.is_ascii_digit()), "{value}");
        }
        hidden += usize::from(value.contains("[REDACTED]"));
    }
    assert!(hidden > 0, "some samples are of words beside what is hidden: {}", records.len());
    // What is looked for is there: the profile shows what the challenger redacts, and the other way round.
    let published = published(&topics).concat().concat().to_lowercase();
    assert!(published.contains("priya") && !published.contains("4927"), "the profile redacts the card alone: {published}");
    let compared = command(&topics, &more, &["compare", "--json", "--b", "new", "--sample", "1000"], &of_samples);
    let challenger = String::from_utf8_lossy(&compared.stdout).into_owned();
    assert!(challenger.contains("4927") && challenger.contains("[NAME]"), "the challenger redacts the name alone: {challenger}");
    assert!(!worker.log().contains("lunch"), "nothing that was said is logged");
}
