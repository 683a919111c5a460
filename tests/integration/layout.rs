//! Checks the rules of ARCHITECTURE.md: what modules must not contain, and that modules form no circle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::kafka::root;

/// Source files by their path below `src/`, without tests and comments.
fn sources() -> BTreeMap<String, String> {
    fn walk(dir: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else {
                found.push(path);
            }
        }
    }
    let (src, mut files) = (root().join("src"), Vec::new());
    walk(&src, &mut files);
    let code = |path: &Path| {
        let text = std::fs::read_to_string(path).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap().to_string();
        text.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
    };
    files.iter().map(|p| (p.strip_prefix(&src).unwrap().display().to_string(), code(p))).collect()
}

/// Whether `code` names `library`, and not something that ends alike.
fn names(code: &str, library: &str) -> bool {
    let boundary = |at: usize| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    code.match_indices(library).any(|(at, _)| boundary(at))
}

/// Files that are only there for tests and fuzzing.
const TESTS: [&str; 6] = [
    "session/proptests.rs",
    "session/simulation.rs",
    "session/script.rs",
    "pipeline/oracle.rs",
    "pipeline/scenarios.rs",
    "produce/interleavings.rs",
];

#[test]
fn each_client_library_is_named_where_it_belongs_and_nowhere_else() {
    for (library, homes) in [
        ("rdkafka", &["consume/", "produce/", "kafka/"][..]),
        ("ort::", &["infer/onnx.rs"]),
        ("rustfst", &["format/itn/openfst.rs"]),
        ("tokenizers::", &["infer/tokenise.rs"]),
        ("governor::", &["rate_limit.rs"]),
        ("opentelemetry", &["events/", "telemetry.rs", "trace.rs"]),
        ("rapidfuzz", &["eval/align.rs"]),
    ] {
        let using: Vec<String> = sources().into_iter().filter(|(_, code)| names(code, library)).map(|(path, _)| path).collect();
        assert!(!using.is_empty(), "{library} is used");
        for path in using {
            assert!(homes.iter().any(|home| path.starts_with(home)), "{path} names {library}, which belongs to {homes:?}");
        }
    }
}

#[test]
fn pure_modules_have_no_clock_no_files_no_threads_and_no_tasks() {
    let pure = [
        "session/",
        "redact/",
        "infer/queue.rs",
        "infer/row.rs",
        "infer/states.rs",
        "infer/weights.rs",
        "produce/commits.rs",
        "format/apply.rs",
        "format/units.rs",
        "format/spoken.rs",
        "format/mod.rs",
        "record/",
        "tags.rs",
    ];
    let pure_itn =
        ["format/itn/check.rs", "format/itn/compile.rs", "format/itn/network.rs", "format/itn/decode.rs", "format/itn/write.rs"];
    let absent = ["Instant::now", "SystemTime", "std::fs", "std::net", "std::thread", "tokio", "println!", "std::env"];
    for (path, code) in sources() {
        if !pure.iter().chain(&pure_itn).any(|p| path.starts_with(p)) || TESTS.contains(&path.as_str()) {
            continue;
        }
        for what in absent {
            assert!(!code.contains(what), "{path} holds {what}");
        }
    }
}

#[test]
fn modules_form_no_circle() {
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, code) in sources() {
        let module = path.split(['/', '.']).next().unwrap().to_string();
        if ["lib", "main"].contains(&module.as_str()) || TESTS.contains(&path.as_str()) {
            continue;
        }
        for named in code.split("crate::").skip(1) {
            let other: String = named.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if other != module {
                uses.entry(module.clone()).or_default().insert(other);
            }
        }
        uses.entry(module).or_default();
    }
    // Removes, again and again, modules that use no module that is left. Modules that remain at the end form a circle.
    let mut left: BTreeSet<String> = uses.keys().cloned().collect();
    assert!(left.len() >= 12, "{left:?}");
    loop {
        let free: Vec<String> = left.iter().filter(|m| uses[*m].iter().all(|u| !left.contains(u))).cloned().collect();
        if free.is_empty() {
            break;
        }
        left.retain(|m| !free.contains(m));
    }
    assert!(left.is_empty(), "in a circle, or used by one: {left:?}");
}
