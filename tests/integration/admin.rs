//! The admin port of a running worker: probes, figures and secrets; settings that change while the worker runs; traces.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;

use serde_json::{Value, json};

use crate::kafka::{Sender, Topics, eventually};
use crate::service::{ends, segments};
use crate::worker::Worker;

/// Status and body of a request.
pub fn http(address: &str, request: &str, headers: &str) -> (u16, String) {
    let Ok(mut stream) = TcpStream::connect(address) else { return (0, String::new()) };
    write!(stream, "GET {request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    (status, answer.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_string()))
}

/// The port that a worker says it has taken.
pub fn address(worker: &Worker) -> String {
    let mut found = None;
    eventually("the admin port is open", || {
        let log = worker.log();
        found = log.split("admin port address=\"").nth(1).and_then(|rest| Some(rest.split_once('"')?.0.to_string()));
        found.is_some()
    });
    found.unwrap()
}

#[test]
fn probes_say_how_a_worker_is_and_what_holds_secrets_wants_the_token() {
    let topics = Topics::create("admin", 2);
    let more = "[kafka.properties]\n'sasl.password' = 'hunter2'\n[admin]\ntoken = 'open sesame'\n";
    let worker = Worker::spawn(&topics, "w", more, &[]);
    let address = address(&worker);
    assert_eq!(http(&address, "/livez", "").0, 200, "before the model is loaded");
    eventually("it is ready", || http(&address, "/readyz", "").0 == 200);
    for path in ["/metrics", "/config", "/streams", "/version"] {
        assert_eq!(http(&address, path, "").0, 401, "{path}");
        assert_eq!(http(&address, path, "Authorization: Bearer open\r\n").0, 401, "{path}");
        assert_eq!(http(&address, &format!("{path}?token=open%20sesame"), "").0, 401, "only the page takes it from the query");
        assert_eq!(http(&address, path, "Authorization: Bearer open sesame\r\n").0, 200, "{path}");
    }
    let ask = |path: &str| http(&address, path, "Authorization: Bearer open sesame\r\n").1;
    let config = ask("/config");
    assert!(!config.contains("hunter2") && !config.contains("sesame") && config.contains("(removed)"), "{config}");
    assert_eq!(http(&address, "/page", "Authorization: Bearer open sesame\r\n").0, 404, "off by default");

    let sender = Sender::new();
    for session in ["a", "b", "c"] {
        sender.send(&topics.name("raw"), Some(session.as_bytes()), Some(br#"{"text": "very secret words are said here"}"#), &[]);
    }
    sender.flush();
    let streams = || serde_json::from_str::<Value>(&ask("/streams")).unwrap_or_default();
    eventually("three streams are open", || streams()["streams"] == 3);
    assert_eq!(streams()["partitions"].as_array().unwrap().len(), 2);
    eventually("words are counted", || ask("/metrics").contains("\nfaircopy_words_total 18\n"));
    assert!(!ask("/metrics").contains("secret") && !worker.log().contains("secret words"), "no transcript");
}

#[test]
fn what_is_no_request_is_refused_and_the_port_goes_on() {
    let topics = Topics::create("admin-hostile", 1);
    let worker = Worker::start(&topics, "w", "[admin]\npage = true\n");
    let address = address(&worker);
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    for i in 0..300 {
        let Ok(mut stream) = TcpStream::connect(&address) else { panic!("the port is closed") };
        let mut bytes: Vec<u8> = match i % 4 {
            0 => Vec::new(),
            1 => b"POST /page/format HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n"
                .to_vec(),
            2 => format!("GET /page/events?session={} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", "%ff".repeat(i))
                .into_bytes(),
            _ => b"GET /metrics HTTP/1.1\r\n".to_vec(),
        };
        for _ in 0..64 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            bytes.push((seed >> 33) as u8);
        }
        let _ = stream.write_all(&bytes); // it may hang up before it has read all
    }
    let large = format!("Content-Length: {}\r\n", 1 << 30);
    assert!(matches!(http(&address, "/page/format", &large).0, 400 | 405 | 413));
    eventually("it is ready all the same", || http(&address, "/readyz", "").0 == 200);
    assert_eq!(http(&address, "/page/../config", "").0, 404);
}

#[test]
fn profiles_and_limits_change_between_two_records_and_a_wrong_file_changes_nothing() {
    let topics = Topics::create("admin-reload", 1);
    let worker = Worker::start(&topics, "w", "[format]\nreload_ms = 0\n[profiles.default]\nlanguages = ['en']\n");
    let path = worker.config();
    let before = std::fs::read_to_string(&path).unwrap();
    let sender = Sender::new();
    let say = |session: &str| {
        let record = json!({"text": "meet me at four thirty p m", "end": "session"}).to_string();
        sender.send(&topics.name("raw"), Some(session.as_bytes()), Some(record.as_bytes()), &[]);
        sender.flush();
        let mut text = String::new();
        eventually("it comes out", || {
            let all = segments(&topics);
            let of: Vec<&str> = all.iter().filter(|(_, s)| *s.session == *session).map(|(_, s)| s.text.as_str()).collect();
            text = of.join(" ");
            of.len() >= 2
        });
        text
    };
    assert!(say("one").contains("4:30 PM"));
    std::fs::write(&path, before.replace("[profiles.default]", "[profiles.default]\nkeep = ['four thirty p m']\n")).unwrap();
    worker.signal("HUP");
    eventually("it is taken over", || worker.log().contains("were changed and are in use"));
    let spoken = say("two").to_lowercase();
    assert!(spoken.contains("four thirty p m"), "and without a restart: {spoken}");
    std::fs::write(&path, before.replace("[profiles.default]", "[profiles.default]\npass_words = 0\n")).unwrap();
    worker.signal("HUP");
    eventually("it is refused", || worker.log().contains("are refused") && worker.log().contains("pass_words"));
    assert!(say("three").to_lowercase().contains("four thirty p m"), "what was in force stays");
    let limited = before.replace("[profiles.default]", "[limits]\nmax_words_per_record = 3\n[profiles.default]");
    std::fs::write(&path, limited.replace("group = ", "start = \"latest\"\ngroup = ")).unwrap();
    worker.signal("HUP");
    eventually("what waits for a restart is named", || worker.log().contains("sections=[\"kafka\"]"));
    sender.send(&topics.name("raw"), Some(b"four"), Some(br#"{"text": "four words are here"}"#), &[]);
    sender.flush();
    eventually("the new limit refuses", || topics.read("dead").len() == 1);
    assert_eq!(ends(&topics), 3);
}

/// Takes what is exported and gives the bodies of `/v1/traces`.
fn collector() -> (String, mpsc::Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, bodies) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let sender = sender.clone();
            std::thread::spawn(move || {
                let mut stream = stream;
                let (mut bytes, mut chunk) = (Vec::new(), [0; 65536]);
                while let Ok(n @ 1..) = stream.read(&mut chunk) {
                    bytes.extend_from_slice(&chunk[..n]);
                    let Some(head) = bytes.windows(4).position(|w| w == b"\r\n\r\n").map(|at| at + 4) else { continue };
                    let text = String::from_utf8_lossy(&bytes[..head]).to_lowercase();
                    let length =
                        text.split("content-length:").nth(1).and_then(|v| v.lines().next()?.trim().parse::<usize>().ok());
                    let end = head + length.unwrap_or(0);
                    if bytes.len() >= end {
                        if text.contains("/v1/traces") {
                            let _ = sender.send(bytes[head..end].to_vec());
                        }
                        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                        bytes.drain(..end);
                    }
                }
            });
        }
    });
    (address, bodies)
}

#[test]
fn a_trace_goes_through_from_the_raw_record_to_the_segment_of_its_last_word() {
    let topics = Topics::create("traces", 1);
    let (address, bodies) = collector();
    let more = format!("[telemetry]\notlp = {address:?}\nsampled = 0.0\n");
    let mut worker = Worker::start(&topics, "w", &more);
    let sender = Sender::new();
    let raw = topics.name("raw");
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let parent = format!("00-{trace}-00f067aa0ba902b7-01");
    let record = json!({"text": "thank you for calling", "end": "session"}).to_string();
    sender.send(&raw, Some(b"traced"), Some(record.as_bytes()), &[("traceparent", &parent), ("mine", "kept")]);
    sender.send(&raw, Some(b"other"), Some(record.as_bytes()), &[]);
    sender.flush();
    eventually("both end", || ends(&topics) == 2);
    for (record, segment) in segments(&topics) {
        let carried = record.header("traceparent");
        if *segment.session == *"other" {
            assert_eq!(carried, None, "the sender has not decided, and nobody is sampled");
            continue;
        }
        let carried = carried.unwrap();
        assert!(carried.contains(trace) && carried != parent, "the trace goes on, from a span of ours: {carried}");
        assert_eq!(
            (record.header("mine").as_deref(), record.headers.iter().filter(|(k, _)| k == "traceparent").count()),
            (Some("kept"), 1)
        );
    }
    assert!(worker.terminate().success());
    let sent: Vec<u8> = bodies.try_iter().flatten().collect();
    let has = |what: &[u8]| sent.windows(what.len()).any(|w| w == what);
    for span in [
        format!("process {raw}"),
        "buffer".into(),
        "format".into(),
        "infer".into(),
        format!("publish {}", topics.name("formatted")),
    ] {
        assert!(has(span.as_bytes()), "no span {span:?}");
    }
    let id: Vec<u8> = (0..16).map(|i| u8::from_str_radix(&trace[2 * i..2 * i + 2], 16).unwrap()).collect();
    assert!(has(&id) && !has(b"thank you"), "of that trace, and without its words");
}
