//! A partition with a shadow, without Kafka: the clock is moved by hand, and taggers answer at once.

use std::collections::BTreeMap;
use std::io::Write;

use tokio::runtime::{Builder, Runtime};

use super::*;
use crate::config::Settings;
use crate::consume::changelog::ChangelogState;
use crate::health::Health;
use crate::infer::{ModelFiles, Row, WordTokenizer};
use crate::kafka::crash_mark::CrashMark;
use crate::pipeline::partition::Partition;
use crate::produce::Outgoing;
use crate::record::difference::Change;
use crate::record::{ERASE, RawRecord};
use crate::tags::{Disfluency, Tags};

/// The challenger keeps what the profile removes.
const SETTINGS: &str = "[profiles.default]\nmodel = \"en-fast\"\nshadow = \"new\"\n[profiles.new]\nverbatim = true\n";

fn shared(text: &str) -> Arc<Shared> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let settings = Settings::load(Some(file.path())).unwrap();
    let files = ModelFiles::open(&settings.infer.model_dir.join("en-fast")).unwrap();
    let tokenizer = WordTokenizer::load(&files.dir.join("tokenizer.json"), &files.labels.tokens).unwrap();
    let fillers = ["um", "uh"].map(|word| tokenizer.tokens(word)[0]);
    // Fillers are tagged as such, and all other words are plain.
    let tagger = move |row: &Row| {
        let is_filler = |&first: &u32| fillers.contains(&row.tokens[first as usize]);
        let tags = |first| match is_filler(first) {
            true => Tags { disfluency: Disfluency::F, ..Tags::default() },
            false => Tags::default(),
        };
        row.first.iter().map(tags).collect::<Vec<Tags>>()
    };
    Arc::new(Shared::with_taggers(settings, move |_| Ok(vec![Box::new(tagger)])).unwrap())
}

/// What a shadow has counted.
#[derive(Default)]
pub struct Log {
    pub compared: Vec<Comparison>,
    pub dropped: Vec<&'static str>,
}

fn no_samples() -> OnSample {
    Box::new(|_| panic!("samples are off"))
}

struct Desk {
    shared: Arc<Shared>,
    partition: Partition,
    shadow: Option<(Shadow, ShadowInbox)>,
    runtime: Runtime,
    offset: i64,
}

impl Desk {
    fn new(with_shadow: bool) -> Desk {
        let shared = shared(SETTINGS);
        let reporter = Arc::new(Arc::<Health>::default().assigned(0));
        let left = ChangelogState {
            states: BTreeMap::new(),
            next_offset: 0,
            mark: CrashMark::Clean,
            end: 0,
            owned: true,
            refused: BTreeMap::new(),
            conversations: BTreeMap::new(),
        };
        let (mut partition, _) = Partition::restored(shared.clone(), 0, Clock::simulated(), reporter, &left);
        partition.caught_up();
        let shadow = with_shadow.then(|| {
            let (feed, inbox) = feed();
            partition.shadowed(feed);
            (Shadow::new(shared.clone(), Clock::simulated(), no_samples()), inbox)
        });
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        Desk { shared, partition, shadow, runtime, offset: 0 }
    }

    fn take(&mut self, session: &str, value: &str, headers: Vec<(String, Option<Vec<u8>>)>) {
        let (key, payload) = (session.as_bytes().to_vec(), value.as_bytes().to_vec());
        let record = RawRecord { offset: self.offset, key: Some(key), payload: Some(payload), headers, ..RawRecord::default() };
        self.offset += 1;
        self.partition.take(record);
        self.partition.submit_requests();
    }

    fn say(&mut self, session: &str, text: &str, end: bool) {
        let value = serde_json::json!({"text": text, "end": end.then_some("session")}).to_string();
        self.take(session, &value, Vec::new());
    }

    /// The partition's output, as bytes.
    fn out(&mut self) -> Vec<String> {
        while self.partition.has_request_in_flight() {
            let answer = self.runtime.block_on(self.partition.answer());
            self.partition.answered(answer);
            self.partition.submit_requests();
        }
        let bytes = |out: Outgoing| match out {
            Outgoing::Formatted(segment, _) => serde_json::to_string(&*segment).unwrap(),
            Outgoing::Turn(..) => panic!("no topic is named"),
            Outgoing::DeadLetter(_) => panic!("nothing is refused"),
        };
        self.partition.drain().into_iter().map(bytes).collect()
    }

    /// Lets the shadow do all that it can do now.
    fn follow(&mut self) {
        let (shadow, inbox) = self.shadow.as_mut().unwrap();
        while let Ok(heard) = inbox.heard.try_recv() {
            shadow.guarded(|shadow| shadow.take(heard, inbox));
        }
        while shadow.sessions.in_flight() > 0 {
            let answer = self.runtime.block_on(shadow.answers.recv()).unwrap();
            shadow.guarded(|shadow| shadow.answered(answer));
        }
    }

    fn shadow(&self) -> &Shadow {
        &self.shadow.as_ref().unwrap().0
    }

    fn compared(&self) -> (u64, BTreeMap<Change, u64>, Vec<&'static str>) {
        let all = &self.shadow().log;
        let mut differences = BTreeMap::new();
        all.compared.iter().flat_map(|c| &c.differences).for_each(|(k, n)| *differences.entry(*k).or_default() += n);
        (all.compared.iter().map(|c| c.words).sum(), differences, all.dropped.clone())
    }
}

const SAID: [&str; 3] = ["good morning um thank you for calling", "i uh paid twenty dollars", "that is all um thanks"];

#[test]
fn what_is_published_is_the_same_to_the_byte_and_the_shadow_counts_what_would_differ() {
    let run = |with_shadow: bool| {
        let mut desk = Desk::new(with_shadow);
        let mut out = Vec::new();
        for (n, text) in SAID.iter().enumerate() {
            desk.say("call", text, n == 2);
            desk.say("other", text, n == 2);
            out.extend(desk.out());
            if with_shadow {
                desk.follow();
            }
        }
        (out, desk)
    };
    let ((without, _), (with, mut desk)) = (run(false), run(true));
    assert!(without.len() >= 4 && without.iter().any(|s| s.contains("\"kind\":\"end\"")));
    assert_eq!(without, with);
    desk.follow();
    let words = 2 * SAID.iter().map(|text| text.split(' ').count() as u64).sum::<u64>();
    assert_eq!(desk.compared(), (words, BTreeMap::from([(Change::Words, 6)]), vec![]), "six fillers");
    assert!(desk.shadow().pairs.is_empty() && desk.shadow().sessions.is_empty(), "ended calls leave nothing");
    assert_eq!(desk.shared.shadow_states.bytes(), 0);
}

#[test]
fn an_order_to_erase_erases_the_session_in_the_shadow() {
    let mut desk = Desk::new(true);
    desk.say("call", SAID[0], false);
    desk.say("other", SAID[0], false);
    desk.out();
    desk.follow();
    assert_eq!((desk.shadow().pairs.len(), desk.shadow().sessions.len()), (2, 2));
    desk.take("call", "", vec![(ERASE.to_string(), None)]);
    desk.follow();
    assert_eq!((desk.shadow().pairs.len(), desk.shadow().sessions.len()), (1, 1));
    assert_eq!(desk.compared().2, Vec::<&str>::new(), "erased is not dropped");
    desk.say("other", SAID[1], true);
    desk.out();
    desk.follow();
    assert_eq!(desk.compared().0, 12, "the other call goes on");
}

#[test]
fn a_shadow_that_is_behind_drops_what_it_has_and_begins_with_new_calls() {
    let mut desk = Desk::new(true);
    desk.say("early", SAID[0], false);
    desk.out();
    desk.follow();
    for n in 0..400 {
        desk.say(&format!("call-{n}"), "yes", true); // nobody follows
    }
    let published = desk.out().len();
    assert!(published >= 800, "whatever the shadow does");
    desk.follow();
    desk.say("early", SAID[1], true);
    desk.say("new", SAID[1], true);
    desk.out();
    desk.follow();
    let (words, _, dropped) = desk.compared();
    assert!(dropped.contains(&"behind"), "{dropped:?}");
    assert!(words >= 5 && desk.shadow().pairs.is_empty(), "the new call is compared: {words}");
}

#[test]
fn a_call_whose_beginning_the_shadow_has_not_heard_is_not_compared() {
    let mut desk = Desk::new(false);
    desk.say("call", SAID[0], false);
    let (feed, inbox) = feed();
    desk.partition.shadowed(feed); // as after a takeover
    desk.shadow = Some((Shadow::new(desk.shared.clone(), Clock::simulated(), no_samples()), inbox));
    desk.say("call", SAID[1], true);
    desk.out();
    desk.follow();
    assert_eq!(desk.compared(), (0, BTreeMap::new(), vec![]));
    assert!(desk.shadow().sessions.is_empty());
}
