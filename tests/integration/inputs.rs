//! Recognisers' own messages, written after their vendors' documentation, and what becomes of each; and documents that are made from the types.

use std::process::Command;

use faircopy::config::Settings;
use faircopy::record::{InputFormat, RawSegment, Refused, Segment};
use serde_json::json;

use crate::kafka::root;

/// One line: channel, final or hypothesis, what ends, words with their times (`@`) and speakers (`#`).
fn say(decoded: Result<(RawSegment, Option<String>), Refused>) -> String {
    let segment = match decoded {
        Ok((segment, _)) => segment,
        Err(refused) => return format!("refused {}", refused.reason),
    };
    let name = |n: &str| if n.is_empty() { "-".to_string() } else { n.to_string() };
    let end = segment.end.map_or("-".into(), |e| serde_json::to_string(&e).unwrap().replace('"', ""));
    let kind = if segment.is_final { "final" } else { "hypothesis" };
    let mut line = format!("{} {kind} {end} |", name(&segment.channel));
    for w in &segment.words {
        line += &format!(" {}", w.spoken);
        if let (Some(s), Some(e)) = (w.start, w.end) {
            line += &format!("@{s}-{e}");
        }
        if let Some(speaker) = &w.speaker {
            line += &format!("#{speaker}");
        }
    }
    line
}

#[test]
fn messages_of_each_recogniser_become_the_segments_that_the_golden_file_says() {
    let limits = Settings::load(None).unwrap().limits;
    for format in InputFormat::ALL.into_iter().filter(|f| *f != InputFormat::Faircopy) {
        let name = serde_json::to_value(format).unwrap();
        let name = name.as_str().unwrap();
        let read = |end: &str| std::fs::read_to_string(root().join(format!("tests/golden/input/{name}.{end}"))).unwrap();
        let got: Vec<String> = read("jsonl").lines().map(|l| say(RawSegment::decode(l.as_bytes(), &limits, format))).collect();
        let wanted: Vec<String> = read("txt").lines().map(str::to_string).collect();
        assert_eq!(got, wanted, "{name}");
        let wrong =
            r#"{"Transcript": 3, "type": [], "message": [], "partial": [], "status": "x", "Text": 1, "results": 1, "text": []}"#;
        for nonsense in ["", "[]", "null", "{", wrong] {
            let said = say(RawSegment::decode(nonsense.as_bytes(), &limits, format));
            assert_eq!(said, "refused json", "{name}: {nonsense}");
        }
    }
}

#[test]
fn a_call_in_a_recognisers_own_format_is_formatted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("call.jsonl");
    let line = |words: &[&str]| {
        let words: Vec<_> = words.iter().map(|w| json!({"word": w, "conf": 0.9})).collect();
        json!({"session": "call-1", "result": words, "text": ""}).to_string()
    };
    let call = [
        line(&["good", "morning"]),
        line(&["see", "you", "at", "four", "thirty", "p", "m"]),
        r#"{"session": "call-1", "end": "session"}"#.into(),
    ];
    std::fs::write(&path, call.join("\n")).unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_faircopy"))
        .args(["format", "--as", "text", path.to_str().unwrap()])
        .current_dir(root())
        .env("FAIRCOPY__INPUT__FORMAT", "vosk")
        .env(crate::worker::FAST.0, crate::worker::FAST.1)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(
        run.status.success() && text.contains("Good morning.") && text.contains("4:30 PM"),
        "{text} {}",
        String::from_utf8_lossy(&run.stderr)
    );
}

/// What a recogniser of each format says of these words, each with its times, as its vendor's messages have them.
fn written_by(format: &str, words: &[&str]) -> String {
    let timed: Vec<_> = words.iter().enumerate().map(|(i, w)| (*w, i as f64, i as f64 + 0.9)).collect();
    let each = |of: fn(&str, f64, f64) -> serde_json::Value| timed.iter().map(|(w, s, e)| of(w, *s, *e)).collect::<Vec<_>>();
    let mut message = match format {
        "faircopy" => json!({"words": each(|w, s, e| json!({"w": w, "s": s, "e": e, "c": 0.9}))}),
        "vosk" => json!({"result": each(|w, s, e| json!({"word": w, "start": s, "end": e, "conf": 0.9})), "text": ""}),
        "kaldi" => {
            let words = each(|w, s, e| json!({"word": w, "start": s, "length": e - s, "confidence": 0.9}));
            json!({"status": 0, "segment-start": 0.0, "result": {"final": true, "hypotheses": [{"transcript": "", "word-alignment": words}]}})
        }
        "deepgram" => {
            let words = each(|w, s, e| json!({"word": w, "start": s, "end": e, "confidence": 0.9}));
            json!({"type": "Results", "is_final": true, "channel": {"alternatives": [{"transcript": "", "words": words}]}})
        }
        "aws_transcribe" => {
            let items =
                each(|w, s, e| json!({"Content": w, "StartTime": s, "EndTime": e, "Confidence": 0.9, "Type": "pronunciation"}));
            json!({"Transcript": {"Results": [{"Alternatives": [{"Items": items}], "IsPartial": false}]}})
        }
        other => panic!("{other}"),
    };
    message["session"] = "call-1".into();
    message.to_string()
}

#[test]
fn recognisers_that_write_are_formatted_and_redacted_alike_whatever_their_format_and_none_of_their_words_is_lost() {
    let words = "It's $12.50 at 4:30 PM on March 3rd. Call Dr. Lee — 25% off! My card is 4111 1111 1111 1111, thank you.";
    let words: Vec<&str> = words.split(' ').collect();
    let mut outputs = Vec::new();
    for format in ["faircopy", "vosk", "kaldi", "deepgram", "aws_transcribe"] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("call.jsonl");
        std::fs::write(&path, written_by(format, &words)).unwrap();
        let run = Command::new(env!("CARGO_BIN_EXE_faircopy"))
            .args(["format", path.to_str().unwrap()])
            .current_dir(root())
            .env("FAIRCOPY__INPUT__FORMAT", format)
            .env("FAIRCOPY__INPUT__REFORMAT", "true")
            .env("FAIRCOPY__PROFILES__DEFAULT__REDACT__CARD", "tag")
            .env(crate::worker::FAST.0, crate::worker::FAST.1)
            .output()
            .unwrap();
        assert!(run.status.success(), "{format}: {}", String::from_utf8_lossy(&run.stderr));
        let segments: Vec<Segment> =
            String::from_utf8(run.stdout).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        let mut came = vec![false; words.len()];
        let mut before = [0, 0];
        for word in segments.iter().flat_map(|s| &s.words) {
            assert!(before[0] <= word.src[0] && before[1] <= word.src[1], "{format}: {:?} after {before:?}", word.src);
            before = word.src;
            (word.src[0]..word.src[1]).for_each(|i| came[i as usize] = true);
            let (first, last) = (word.src[0] as f64, word.src[1] as f64);
            assert!(word.s.is_some_and(|s| first <= s + 0.001) && word.e.is_some_and(|e| e <= last), "{format}: {word:?}");
        }
        segments.iter().flat_map(|s| &s.removed).for_each(|r| (r.src[0]..r.src[1]).for_each(|i| came[i as usize] = true));
        assert!(came.iter().all(|came| *came), "{format}: {came:?}");
        let counts = segments.last().and_then(|s| s.counts).expect("the input's end ends the call");
        assert_eq!(counts.words, words.len() as u64, "{format}: what is counted is what the recogniser said");
        let text = segments.iter().map(|s| s.text.as_str()).collect::<Vec<_>>().join(" ");
        let all = segments.iter().map(|s| serde_json::to_string(s).unwrap()).collect::<String>();
        assert!(!all.contains("1111") && text.contains("[CARD]"), "{format}: {text}");
        assert!(["$12.50", "4:30 PM", "25%", "Dr. Lee"].iter().all(|figure| text.contains(figure)), "{format}: {text}");
        outputs.push((format, text));
    }
    assert!(outputs.windows(2).all(|two| two[0].1 == two[1].1), "{outputs:#?}");
}

#[test]
fn a_session_spells_as_its_records_say_from_then_on_on_all_channels_and_wrong_spellings_are_dead_letters() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("call.jsonl");
    let line = |channel: &str, seq: u64, more: serde_json::Value| {
        let mut line = json!({"session": "call-1", "channel": channel, "seq": seq});
        more.as_object().unwrap().iter().for_each(|(k, v)| line[k] = v.clone());
        line.to_string()
    };
    let call = [
        line("agent", 0, json!({"text": "we run cube cuddle every day"})),
        line("customer", 0, json!({"vocabulary": ["Kubernetes", {"written": "kubectl", "said": ["cube cuddle"]}]})),
        line("agent", 1, json!({"text": "and then we run cube cuddle on kubernetes again"})),
        line("customer", 1, json!({"text": "so cube cuddle is what i need", "end": "session"})),
        line("customer", 2, json!({"vocabulary": [""]})),
    ];
    std::fs::write(&path, call.join("\n")).unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_faircopy"))
        .args(["format", path.to_str().unwrap()])
        .current_dir(root())
        .env(crate::worker::FAST.0, crate::worker::FAST.1)
        .output()
        .unwrap();
    let segments: Vec<serde_json::Value> =
        String::from_utf8(run.stdout).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let said = |channel: &str| {
        let own = segments.iter().filter(|s| s["channel"] == channel).filter_map(|s| s["text"].as_str());
        own.collect::<Vec<_>>().join(" ")
    };
    let (agent, customer) = (said("agent"), said("customer"));
    assert_eq!(agent.to_lowercase().matches("cube cuddle").count(), 1, "what came before keeps its spelling: {agent}");
    assert!(agent.contains("run kubectl on Kubernetes"), "{agent}");
    assert!(customer.contains("kubectl") && !customer.to_lowercase().contains("cuddle"), "{customer}");
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(errors.contains("contract"), "the last record is refused: {errors}");
}

#[test]
fn documents_made_from_the_types_are_those_that_are_checked_in() {
    for (what, path) in [
        ("raw", "docs/schemas/raw.json"),
        ("formatted", "docs/schemas/formatted.json"),
        ("asyncapi", "docs/asyncapi.json"),
        ("settings", "docs/CONFIGURATION.md"),
    ] {
        let made = Command::new(env!("CARGO_BIN_EXE_faircopy")).args(["docs", what]).output().unwrap();
        assert!(made.status.success());
        let kept = std::fs::read_to_string(root().join(path)).unwrap_or_default();
        assert!(kept == String::from_utf8(made.stdout).unwrap(), "{path} is out of date: faircopy docs {what} > {path}");
    }
}
