//! Holds the glossary of ARCHITECTURE.md to the code: each word has one meaning, and the names beside a word exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::kafka::root;

/// Rows of the tables below the heading "Words of the code": cells without their spaces.
fn rows() -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let section = text.split("\n## ").find(|s| s.starts_with("Words of the code")).expect("the glossary's heading");
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect::<Vec<_>>();
    let all: Vec<Vec<String>> = section.lines().filter(|line| line.starts_with('|')).map(cells).collect();
    let is_head = |row: &Vec<String>| row[0].starts_with("---") || row[0].starts_with("word");
    all.into_iter().filter(|row| !is_head(row)).collect()
}

fn sources(dir: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()) {
        if entry.is_dir() {
            sources(&entry, found);
        } else if entry.extension().is_some_and(|e| e == "rs") {
            let name = entry.strip_prefix(root().join("src")).unwrap().to_str().unwrap().to_string();
            found.push((name, std::fs::read_to_string(&entry).unwrap()));
        }
    }
}

fn code() -> Vec<(String, String)> {
    let mut found = Vec::new();
    sources(&root().join("src"), &mut found);
    found
}

/// Identifiers of some code, comments and texts included.
fn identifiers(code: &str) -> BTreeSet<&str> {
    code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|name| !name.is_empty()).collect()
}

#[test]
fn each_word_of_the_glossary_has_one_meaning() {
    let rows = rows();
    assert!(rows.len() > 40, "{} words", rows.len());
    let mut meanings: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in &rows {
        for word in row[0].split(", ") {
            meanings.entry(word).or_default().push(&row[1]);
        }
    }
    let twice: Vec<_> = meanings.iter().filter(|(_, all)| all.len() > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

#[test]
fn each_name_that_the_glossary_gives_is_in_the_code() {
    let code = code();
    let known: BTreeSet<&str> = code.iter().flat_map(|(_, text)| identifiers(text)).collect();
    let mut missing = Vec::new();
    for row in rows() {
        let Some(names) = row.get(2) else { continue };
        for name in names.split('`').skip(1).step_by(2).filter(|name| !name.starts_with("faircopy ")) {
            missing.extend(name.split("::").filter(|part| !known.contains(part)).map(|part| format!("{}: {part}", row[0])));
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

/// Types that may share a name: each is known by its module, and no other module uses both.
const SHARED: [&str; 14] = [
    "Admin",
    "Args",
    "Clock",
    "Command",
    "Dictionary",
    "Difference",
    "Itn",
    "Language",
    "Log",
    "Outcome",
    "Pair",
    "Row",
    "Source",
    "WriterSchema",
];

#[test]
fn a_public_type_has_a_name_of_its_own() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, text) in code() {
        for line in text.lines().map(str::trim_start) {
            let Some(rest) = ["pub struct ", "pub enum ", "pub trait ", "pub type "].iter().find_map(|k| line.strip_prefix(k))
            else {
                continue;
            };
            let name = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap();
            places.entry(name.to_string()).or_default().push(file.clone());
        }
    }
    let twice: Vec<_> = places.iter().filter(|(name, all)| all.len() > 1 && !SHARED.contains(&name.as_str())).collect();
    assert!(twice.is_empty(), "give one of them a telling name: {twice:#?}");
}
