//! Recognisers' own messages, written after their vendors' documentation, and what becomes of each; and documents that are made from the types.

use std::process::Command;

use faircopy::config::Settings;
use faircopy::record::{InputFormat, RawSegment, Refused};

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
    for (name, format) in [
        ("vosk", InputFormat::Vosk),
        ("kaldi", InputFormat::Kaldi),
        ("deepgram", InputFormat::Deepgram),
        ("aws_transcribe", InputFormat::AwsTranscribe),
    ] {
        assert_eq!(serde_json::to_value(format).unwrap(), name, "the file is called as the setting says");
        let read = |end: &str| std::fs::read_to_string(root().join(format!("tests/golden/input/{name}.{end}"))).unwrap();
        let got: Vec<String> = read("jsonl").lines().map(|l| say(RawSegment::decode(l.as_bytes(), &limits, format))).collect();
        let wanted: Vec<String> = read("txt").lines().map(str::to_string).collect();
        assert_eq!(got, wanted, "{name}");
        for nonsense in ["", "[]", "null", "{", "{\"Transcript\": 3, \"type\": 4, \"partial\": [], \"status\": \"x\"}"] {
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
        let words: Vec<_> = words.iter().map(|w| serde_json::json!({"word": w, "conf": 0.9})).collect();
        serde_json::json!({"session": "call-1", "result": words, "text": ""}).to_string()
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
